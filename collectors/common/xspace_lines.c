#include "collectors/common/xspace_lines.h"

#include "collectors/common/pb_skip.h"
#include "lib/fields/xspace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 64, LONGEST_ENVIRONMENT = 1 << 20, BYTES = 2, VARINT = 0 };

/* A field of a message in the file: where its payload lies, or its value. */
struct place {
    uint32_t number, wire;
    uint64_t value;
    int64_t from, to;
};

static int take_varint(const uint8_t *bytes, size_t size, size_t *at, uint64_t *ret_value) {
    *ret_value = 0;
    for (unsigned shift = 0; *at < size && shift < 64; shift += 7) {
        uint8_t byte = bytes[(*at)++];
        *ret_value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return 0;
    }
    return -1;
}

/* The field at `from`, of a message that ends at `to`. 1, 0 at its end, -1 when it is malformed. */
static int field_at(int file, int64_t from, int64_t to, struct place *place) {
    uint8_t head[HEAD];
    uint64_t tag;
    size_t at = 0;
    if (from >= to) return 0;
    ssize_t size = pread(file, head, sizeof head, (off_t)from);
    if (size <= 0 || take_varint(head, (size_t)size, &at, &tag)) return -1;
    *place = (struct place){.number = (uint32_t)(tag >> 3), .wire = tag & 7};
    uint64_t length = place->wire == 1 ? 8 : 4; /* of numbers without a length */
    if ((place->wire == VARINT || place->wire == BYTES) && take_varint(head, (size_t)size, &at, &place->value))
        return -1;
    if (place->wire == VARINT) length = 0;
    if (place->wire == BYTES) length = place->value;
    place->from = from + (int64_t)at;
    if (length > (uint64_t)(to - place->from)) return -1;
    place->to = place->from + (int64_t)length;
    return 1;
}

static int add_id(struct ids_xspace_lines *lines, uint64_t id) {
    if (lines->count == lines->room) {
        size_t room = lines->room ? 2 * lines->room : 64;
        uint64_t *grown = realloc(lines->ids, room * sizeof *grown);
        if (!grown) return -1;
        lines->ids = grown;
        lines->room = room;
    }
    lines->ids[lines->count++] = id;
    return 0;
}

/* The number of a line, which stands in front of all else in it. */
static int take_line(int file, const struct place *line, struct ids_xspace_lines *lines) {
    struct place field;
    if (field_at(file, line->from, line->to, &field) <= 0) return 0;
    return add_id(lines, field.number == LINE_ID && field.wire == VARINT ? field.value : 0);
}

/* profile_start_time of the plane "Task Environment", whose names stand behind its stats. */
static int64_t start_of(const uint8_t *plane, size_t size) {
    static const char wanted[] = "profile_start_time";
    struct ids_field field, entry, name, stat;
    uint64_t key = 0, value = 0;
    for (const uint8_t *at = plane; ids_field_next(&at, plane + size, &field) > 0;) {
        if (field.number != PLANE_STAT_METADATA || !field.bytes) continue;
        uint64_t id = 0;
        int is_wanted = 0;
        for (const uint8_t *in = field.bytes; ids_field_next(&in, field.bytes + field.size, &entry) > 0;) {
            if (entry.number == ENTRY_KEY) id = entry.value;
            if (entry.number != ENTRY_VALUE || !entry.bytes) continue;
            for (const uint8_t *of = entry.bytes; ids_field_next(&of, entry.bytes + entry.size, &name) > 0;) {
                is_wanted |= name.number == META_NAME && name.bytes && name.size == sizeof wanted - 1 &&
                             !memcmp(name.bytes, wanted, sizeof wanted - 1);
            }
        }
        if (is_wanted) key = id;
    }
    for (const uint8_t *at = plane; key && ids_field_next(&at, plane + size, &field) > 0;) {
        uint64_t id = 0, number = 0;
        if (field.number != PLANE_STATS || !field.bytes) continue;
        for (const uint8_t *in = field.bytes; ids_field_next(&in, field.bytes + field.size, &stat) > 0;) {
            if (stat.number == STAT_METADATA_ID) id = stat.value;
            if (stat.number == STAT_UINT || stat.number == STAT_INT) number = stat.value;
        }
        if (id == key) value = number;
    }
    return (int64_t)value;
}

static void take_environment(int file, const struct place *plane, struct ids_xspace_lines *lines) {
    size_t size = (size_t)(plane->to - plane->from);
    uint8_t *bytes = size <= LONGEST_ENVIRONMENT ? malloc(size + 1) : NULL;
    if (bytes && pread(file, bytes, size, (off_t)plane->from) == (ssize_t)size) lines->zero_ns = start_of(bytes, size);
    free(bytes);
}

static int take_plane(int file, const struct place *plane, struct ids_xspace_lines *lines) {
    struct place field;
    char name[32] = "";
    for (int64_t at = plane->from; field_at(file, at, plane->to, &field) > 0; at = field.to) {
        if (field.number == PLANE_NAME && field.wire == BYTES) {
            size_t size = (size_t)(field.to - field.from);
            if (size >= sizeof name) size = sizeof name - 1;
            if (pread(file, name, size, (off_t)field.from) != (ssize_t)size) return 0;
            name[size] = '\0';
            if (!strcmp(name, "Task Environment")) take_environment(file, plane, lines);
            if (strncmp(name, "/host:", 6) != 0) return 0;
        } else if (field.number == PLANE_LINES && field.wire == BYTES && *name && take_line(file, &field, lines)) {
            return -1;
        } else if (field.number > PLANE_LINES && lines->count) {
            return 0;
        }
    }
    return 0;
}

int ids_xspace_lines_read(const char *path, struct ids_xspace_lines *lines) {
    int file = open(path, O_RDONLY | O_CLOEXEC), failed = 0;
    struct place plane;
    *lines = (struct ids_xspace_lines){0};
    if (file < 0) return -1;
    int64_t end = lseek(file, 0, SEEK_END);
    for (int64_t at = 0; !failed && field_at(file, at, end, &plane) > 0; at = plane.to) {
        if (plane.number == SPACE_PLANES && plane.wire == BYTES) failed = take_plane(file, &plane, lines);
    }
    close(file);
    return failed;
}

void ids_xspace_lines_done(struct ids_xspace_lines *lines) {
    free(lines->ids);
    *lines = (struct ids_xspace_lines){0};
}

int ids_xspace_lines_have(const struct ids_xspace_lines *lines, uint64_t id) {
    for (size_t i = 0; i < lines->count; i++) {
        if (lines->ids[i] == id) return 1;
    }
    return 0;
}
