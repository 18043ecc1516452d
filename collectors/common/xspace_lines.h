/* xspace_lines.h - what must be known of a profile before a plane is put beside the others: from when its times count,
 * and what numbers the lines of its host threads have. Only heads of messages are read, however long the file is. */
#ifndef IDS_COLLECTORS_COMMON_XSPACE_LINES_H
#define IDS_COLLECTORS_COMMON_XSPACE_LINES_H

#include <stddef.h>
#include <stdint.h>

struct ids_xspace_lines {
    int64_t zero_ns; /* CLOCK_REALTIME at time 0 of its lines; 0: they count from 1970, or it does not say */
    uint64_t *ids;   /* of lines of planes "/host:..." */
    size_t count, room;
};

/* 0, or -1 when the file cannot be read. What is not a profile has no lines. */
int ids_xspace_lines_read(const char *path, struct ids_xspace_lines *lines);
void ids_xspace_lines_done(struct ids_xspace_lines *lines);
int ids_xspace_lines_have(const struct ids_xspace_lines *lines, uint64_t id);

#endif
