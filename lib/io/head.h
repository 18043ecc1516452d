/* head.h - the beginning of a file, longer when its reader cannot tell from it what the file is. */
#ifndef IDS_LIB_IO_HEAD_H
#define IDS_LIB_IO_HEAD_H

#include "lib/io/source.h"

/* A writer's own members may stand before what tells (26 kB in real files); what does not tell within this is none. */
enum { IDS_HEAD_BYTES = 4096, IDS_HEAD_MOST_BYTES = 16 << 20 };

struct ids_head {
    uint8_t *bytes;
    size_t length, room; /* length < room: it is the whole file */
};

/* Reads the head of the source: IDS_HEAD_BYTES into a {0}, and 16 times as much each time that it is called again. */
int ids_head_read(struct ids_head *head, struct ids_source *source, struct ids_error *err);
/* 1 when there is more of the file and calling again may give it. */
int ids_head_has_more(const struct ids_head *head);
void ids_head_done(struct ids_head *head);

#endif
