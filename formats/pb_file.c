#include "formats/pb_file.h"

#include "lib/wire/pb_wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* protobuf's own limit: no message is longer. */
#define LENGTH_LIMIT ((uint64_t)INT32_MAX)

static int corrupt(struct ids_error *err, uint64_t offset, const char *what) {
    return ids_fail(err, IDS_CORRUPT, "%s (offset %" PRIu64 ")", what, offset);
}

void ids_pb_file_done(struct ids_pb_file *file) {
    free(file->record);
    file->record = NULL;
    file->record_room = 0;
}

int ids_pb_file_field(struct ids_pb_file *file, uint64_t *at, uint64_t end, struct ids_pb_file_field *ret_field,
                      struct ids_error *err) {
    if (*at >= end || *at >= file->size) return 0;
    enum { HEAD = 20 }; /* two varints */
    const uint8_t *bytes;
    size_t length;
    int code = ids_source_window(file->source, *at, HEAD, &bytes, &length, err);
    if (code) return code;
    bool to_the_end = *at + length >= file->size;
    if (length > end - *at) length = (size_t)(end - *at), to_the_end = false;
    struct ids_pb pb = {bytes, bytes + length};
    uint64_t tag, value = 0;
    int got = ids_pb_varint(&pb, &tag);
    if (got == 1 && (tag >> 3 == 0 || tag >> 3 > 0x1fffffff)) return corrupt(err, *at, "field number out of range");
    if (got == 1) {
        switch (tag & 7) {
        case IDS_PB_VARINT:
        case IDS_PB_BYTES:
            got = ids_pb_varint(&pb, &value);
            break;
        case IDS_PB_FIXED64:
        case IDS_PB_FIXED32: {
            size_t width = (tag & 7) == IDS_PB_FIXED64 ? 8 : 4;
            got = (size_t)(pb.end - pb.at) >= width;
            if (got) pb.at += width;
            break;
        }
        default:
            return corrupt(err, *at, "unknown wire type");
        }
    }
    if (got < 0) return corrupt(err, *at, "varint longer than 64 bits");
    if (got == 0) {
        if (!to_the_end) return corrupt(err, *at, "field runs past the end of its message");
        file->truncated = true;
        file->cut_at = *at;
        return 0;
    }
    ret_field->number = (uint32_t)(tag >> 3);
    ret_field->wire = tag & 7;
    ret_field->value = value;
    uint64_t next = *at + (uint64_t)(pb.at - bytes);
    if (ret_field->wire == IDS_PB_BYTES) {
        if (value > LENGTH_LIMIT) return corrupt(err, *at, "declared length above 2 GiB");
        if (value > end - next) return corrupt(err, *at, "declared length runs past the end of its message");
        ret_field->payload = (struct ids_span_bytes){next, value};
        next += value;
        if (next > file->size) {
            file->truncated = true;
            file->cut_at = *at;
        }
    }
    *at = next;
    return 1;
}

int ids_pb_file_bytes(struct ids_pb_file *file, struct ids_span_bytes span, const uint8_t **ret_bytes,
                      struct ids_error *err) {
    *ret_bytes = NULL;
    if (span.at + span.length > file->size) return 0;
    if (span.length + IDS_PB_SLACK <= IDS_SOURCE_WINDOW) {
        size_t wanted = (size_t)span.length + IDS_PB_SLACK, length;
        int code = ids_source_window(file->source, span.at, wanted, ret_bytes, &length, err);
        if (code || length >= wanted) return code;
        *ret_bytes = NULL; /* it lies at the end of the file */
    }
    if (span.length > IDS_PB_FILE_RECORD) {
        if (!file->left_out++) file->left_out_at = span.at;
        return 0;
    }
    if (!file->record || span.length > file->record_room) {
        free(file->record);
        file->record_room = 0;
        file->record = malloc((size_t)span.length + IDS_PB_SLACK);
        if (!file->record) return ids_no_memory(err);
        file->record_room = (size_t)span.length;
    }
    memset(file->record + span.length, 0, IDS_PB_SLACK);
    int code = ids_source_read(file->source, span.at, file->record, (size_t)span.length, err);
    if (!code) *ret_bytes = file->record;
    return code;
}
