/* strands.h - many streams of bytes that are written in turns and read one after the other, over one place aside. */
#ifndef IDS_LIB_EXPORT_STRANDS_H
#define IDS_LIB_EXPORT_STRANDS_H

#include "lib/export/out.h"
#include "lib/io/aside.h"

#include <stdint.h>

struct ids_strand_part {
    uint64_t at, length;
};

struct ids_strand {
    struct ids_strand_part *parts; /* where it is aside */
    size_t part_count, part_room;
    uint8_t *tail; /* what is not yet there */
    size_t tail_length, tail_room;
    uint64_t length;
};

struct ids_strands {
    struct ids_aside *aside;
    struct ids_strand *at;
    size_t count, room;
    size_t tails; /* bytes in all tails */
};

int ids_strands_init(struct ids_strands *strands, struct ids_error *err);
void ids_strands_done(struct ids_strands *strands);
/* Its number, count before. */
int ids_strands_add(struct ids_strands *strands, struct ids_error *err);
int ids_strands_append(struct ids_strands *strands, size_t strand, const void *bytes, size_t length,
                       struct ids_error *err);
/* Writes the whole strand out. */
int ids_strands_write(struct ids_strands *strands, size_t strand, struct ids_out *out, struct ids_error *err);

#endif
