#include "lib/model/memory_access.h"

#include "lib/base/saturate.h"
#include "lib/wire/pb_wire.h"

/* Field numbers, and the space of the main memory. */
enum { ACCESSES = 1, SPACE = 2, BYTES = 3, MAIN_MEMORY = 1 };

/* One access: 0 in another memory, -1 damaged. */
static int64_t read_access(struct ids_pb_field access) {
    struct ids_pb pb = {access.bytes, access.bytes + access.value};
    struct ids_pb_field field;
    uint64_t space = 0, bytes = 0;
    int more;
    while ((more = ids_pb_next(&pb, &field)) > 0) {
        if (field.wire != IDS_PB_VARINT) continue;
        if (field.number == SPACE) space = field.value;
        if (field.number == BYTES) bytes = field.value;
    }
    if (more < 0 || bytes > INT64_MAX) return -1;
    return space == MAIN_MEMORY ? (int64_t)bytes : 0;
}

int64_t ids_main_memory_access(const void *bytes, size_t length) {
    struct ids_pb pb = {bytes, (const uint8_t *)bytes + length};
    struct ids_pb_field field;
    int64_t sum = 0;
    int more;
    while ((more = ids_pb_next(&pb, &field)) > 0) {
        if (field.number != ACCESSES || field.wire != IDS_PB_BYTES) continue;
        int64_t own = read_access(field);
        if (own < 0) return -1;
        sum = ids_sat_add(sum, own);
    }
    return more < 0 ? -1 : sum;
}
