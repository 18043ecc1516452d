#include "lib/export/strands.h"

#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

enum {
    SPOOL_MEMORY_BYTES = 64 << 20,
    TAIL_FIRST_BYTES = 512,
    TAIL_BYTES = 64 << 10,
    TAILS_BYTES = 32 << 20, /* of all strands together: then all are put aside */
    READ_BYTES = 256 << 10,
};

int ids_strands_init(struct ids_strands *strands, struct ids_error *err) {
    *strands = (struct ids_strands){0};
    return ids_aside_new(SPOOL_MEMORY_BYTES, &strands->aside, err);
}

void ids_strands_done(struct ids_strands *strands) {
    for (size_t i = 0; i < strands->count; i++) {
        free(strands->at[i].parts);
        free(strands->at[i].tail);
    }
    free(strands->at);
    ids_aside_free(strands->aside);
    *strands = (struct ids_strands){0};
}

int ids_strands_add(struct ids_strands *strands, struct ids_error *err) {
    struct ids_strand *strand = IDS_PUSH(strands->at, strands->count, strands->room);
    if (!strand) return ids_no_memory(err);
    *strand = (struct ids_strand){0};
    return 0;
}

/* Puts bytes of a strand aside; a part that ends there grows. */
static int put_part(struct ids_strands *strands, struct ids_strand *strand, const void *bytes, size_t length,
                    struct ids_error *err) {
    uint64_t at = ids_aside_length(strands->aside);
    int code = ids_aside_append(strands->aside, bytes, length, err);
    if (code) return code;
    struct ids_strand_part *last = strand->part_count ? &strand->parts[strand->part_count - 1] : NULL;
    if (last && last->at + last->length == at) {
        last->length += length;
        return 0;
    }
    struct ids_strand_part *part = IDS_PUSH(strand->parts, strand->part_count, strand->part_room);
    if (!part) return ids_no_memory(err);
    *part = (struct ids_strand_part){at, length};
    return 0;
}

static int put_tail(struct ids_strands *strands, struct ids_strand *strand, struct ids_error *err) {
    if (!strand->tail_length) return 0;
    int code = put_part(strands, strand, strand->tail, strand->tail_length, err);
    strands->tails -= strand->tail_length;
    strand->tail_length = 0;
    return code;
}

static int put_all_tails(struct ids_strands *strands, struct ids_error *err) {
    for (size_t i = 0; i < strands->count; i++) {
        int code = put_tail(strands, &strands->at[i], err);
        if (code) return code;
        free(strands->at[i].tail);
        strands->at[i].tail = NULL;
        strands->at[i].tail_room = 0;
    }
    return 0;
}

static int grow_tail(struct ids_strand *strand, size_t length) {
    size_t room = strand->tail_room ? strand->tail_room : TAIL_FIRST_BYTES;
    while (room - strand->tail_length < length && room < TAIL_BYTES) room *= 2;
    uint8_t *tail = realloc(strand->tail, room);
    if (!tail) return -1;
    strand->tail = tail;
    strand->tail_room = room;
    return 0;
}

int ids_strands_append(struct ids_strands *strands, size_t index, const void *bytes, size_t length,
                       struct ids_error *err) {
    struct ids_strand *strand = &strands->at[index];
    int code = 0;
    strand->length += length;
    if (length > strand->tail_room - strand->tail_length) {
        if (strand->tail_length + length > TAIL_BYTES) code = put_tail(strands, strand, err);
        if (!code && length > TAIL_BYTES) return put_part(strands, strand, bytes, length, err);
        if (!code && length > strand->tail_room - strand->tail_length && grow_tail(strand, length))
            return ids_no_memory(err);
        if (code) return code;
    }
    if (length) memcpy(strand->tail + strand->tail_length, bytes, length);
    strand->tail_length += length;
    strands->tails += length;
    return strands->tails > TAILS_BYTES ? put_all_tails(strands, err) : 0;
}

static int write_part(struct ids_strands *strands, struct ids_strand_part part, struct ids_out *out,
                      struct ids_error *err) {
    while (part.length) {
        size_t length = part.length < READ_BYTES ? (size_t)part.length : READ_BYTES;
        const uint8_t *bytes;
        int code = ids_aside_read(strands->aside, part.at, length, &bytes, err);
        if (!code) code = out->write(out, bytes, length, err);
        if (code) return code;
        part.at += length;
        part.length -= length;
    }
    return 0;
}

int ids_strands_write(struct ids_strands *strands, size_t index, struct ids_out *out, struct ids_error *err) {
    const struct ids_strand *strand = &strands->at[index];
    for (size_t i = 0; i < strand->part_count; i++) {
        int code = write_part(strands, strand->parts[i], out, err);
        if (code) return code;
    }
    return strand->tail_length ? out->write(out, strand->tail, strand->tail_length, err) : 0;
}
