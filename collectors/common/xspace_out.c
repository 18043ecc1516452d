#include "collectors/common/xspace_out.h"

#include "lib/fields/hlo.h"
#include "lib/fields/xspace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2 };
/* A length that is not known yet takes five bytes, which hold up to 2^35: a varint may have more bytes than it
 * needs. */
enum { LENGTH_BYTES = 5, VARINT_BYTES = 10, BUFFER_BYTES = 1 << 16, FIRST_SLOTS = 256, STAT_KEYS = 1024 };

/* Texts with ids from 1, in the order in which they came. */
struct names {
    char *texts; /* one after the other */
    size_t length, room;
    uint32_t *ends;  /* of text i + 1 */
    uint32_t *slots; /* open addressing; an id, 0: free */
    size_t count, slot_count, limit;
    uint32_t lost; /* the id of IDS_XSPACE_NO_NAME, 0: none was lost */
};

struct ids_xspace_out {
    int file;
    int failed;      /* errno of the first error */
    int64_t at;      /* in the file, of the buffer's first byte */
    int64_t first;   /* where we began */
    int64_t maximum; /* `at` and what is buffered stay below */
    size_t used;
    int64_t plane, line; /* where the bytes of the open ones begin; 0: none is open */
    int64_t base_ns;
    int event_open;
    size_t event_used;
    struct names event_names, stat_names;
    struct ids_xspace_written written;
    unsigned char event[IDS_XSPACE_EVENT];
    unsigned char buffer[BUFFER_BYTES];
};

/* ---- bytes ---- */

static int64_t position(const struct ids_xspace_out *out) {
    return out->at + (int64_t)out->used;
}

static void fail(struct ids_xspace_out *out, int error) {
    if (!out->failed) out->failed = error ? error : EIO;
}

static void write_at(struct ids_xspace_out *out, const unsigned char *bytes, size_t size, int64_t at) {
    while (size && !out->failed) {
        ssize_t done = pwrite(out->file, bytes, size, (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) {
            fail(out, done < 0 ? errno : ENOSPC);
            return;
        }
        bytes += done;
        size -= (size_t)done;
        at += done;
    }
}

static void flush(struct ids_xspace_out *out) {
    write_at(out, out->buffer, out->used, out->at);
    out->at += (int64_t)out->used;
    out->used = 0;
}

static void put(struct ids_xspace_out *out, const void *bytes, size_t size) {
    if (out->failed || !size) return;
    if (size > BUFFER_BYTES - out->used) flush(out);
    if (size > BUFFER_BYTES) {
        write_at(out, bytes, size, out->at);
        out->at += (int64_t)size;
        return;
    }
    memcpy(out->buffer + out->used, bytes, size);
    out->used += size;
}

static size_t varint(unsigned char *to, uint64_t value) {
    size_t length = 0;
    for (; value >= 0x80; value >>= 7) to[length++] = (unsigned char)(value | 0x80);
    to[length++] = (unsigned char)value;
    return length;
}

static size_t varint_size(uint64_t value) {
    unsigned char bytes[VARINT_BYTES];
    return varint(bytes, value);
}

static void put_varint(struct ids_xspace_out *out, uint64_t value) {
    unsigned char bytes[VARINT_BYTES];
    put(out, bytes, varint(bytes, value));
}

static void put_uint(struct ids_xspace_out *out, uint32_t field, uint64_t value) {
    put_varint(out, (uint64_t)field << 3 | VARINT);
    put_varint(out, value);
}

static void put_head(struct ids_xspace_out *out, uint32_t field, size_t size) {
    put_varint(out, (uint64_t)field << 3 | BYTES);
    put_varint(out, size);
}

static void put_bytes(struct ids_xspace_out *out, uint32_t field, const void *bytes, size_t size) {
    put_head(out, field, size);
    put(out, bytes, size);
}

/* A message whose length is put in by end_message. Returns where its bytes begin. */
static int64_t begin_message(struct ids_xspace_out *out, uint32_t field) {
    static const unsigned char length[LENGTH_BYTES];
    put_varint(out, (uint64_t)field << 3 | BYTES);
    put(out, length, sizeof length);
    return position(out);
}

static void end_message(struct ids_xspace_out *out, int64_t begin) {
    unsigned char length[LENGTH_BYTES];
    uint64_t size = (uint64_t)(position(out) - begin);
    for (int i = 0; i < LENGTH_BYTES; i++) {
        length[i] = (unsigned char)((size >> 7 * i & 0x7f) | (i < LENGTH_BYTES - 1 ? 0x80 : 0));
    }
    int64_t at = begin - LENGTH_BYTES;
    if (out->failed) return;
    if (at < out->at) flush(out);
    if (at >= out->at) {
        memcpy(out->buffer + (at - out->at), length, sizeof length);
    } else {
        write_at(out, length, sizeof length, at);
    }
}

/* Whether there is room for `size` bytes more, what must still follow them (names) kept aside. */
static int has_room(const struct ids_xspace_out *out, int64_t size) {
    int64_t reserve = (int64_t)(out->event_names.length + out->stat_names.length) +
                      32 * (int64_t)(out->event_names.count + out->stat_names.count + 1);
    int64_t end = position(out) + size + reserve;
    if (out->plane && end - out->plane > IDS_XSPACE_PLANE_BYTES) return 0;
    return !out->maximum || end <= out->maximum;
}

/* ---- names ---- */

static void free_names(struct names *names) {
    size_t limit = names->limit;
    free(names->texts);
    free(names->ends);
    free(names->slots);
    memset(names, 0, sizeof *names);
    names->limit = limit;
}

static uint32_t hash_of(const char *text, size_t length) {
    uint32_t hash = 0x811c9dc5u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 0x01000193u;
    return hash;
}

static const char *text_of(const struct names *names, uint32_t id, size_t *ret_length) {
    size_t begin = id > 1 ? names->ends[id - 2] : 0;
    *ret_length = names->ends[id - 1] - begin;
    return names->texts + begin;
}

/* The slot of the text: that of its id, or a free one. */
static uint32_t *slot_of(const struct names *names, const char *text, size_t length) {
    size_t at = hash_of(text, length) & (names->slot_count - 1);
    for (;; at = (at + 1) & (names->slot_count - 1)) {
        size_t other;
        if (!names->slots[at]) return &names->slots[at];
        const char *found = text_of(names, names->slots[at], &other);
        if (other == length && !memcmp(found, text, length)) return &names->slots[at];
    }
}

static int grow_slots(struct names *names) {
    size_t count = names->slot_count ? 2 * names->slot_count : FIRST_SLOTS;
    uint32_t *ends = realloc(names->ends, count / 2 * sizeof *ends);
    if (!ends) return -1;
    names->ends = ends;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots) return -1;
    free(names->slots);
    names->slots = slots;
    names->slot_count = count;
    for (uint32_t id = 1; id <= names->count; id++) {
        size_t length;
        const char *text = text_of(names, id, &length);
        *slot_of(names, text, length) = id;
    }
    return 0;
}

static int grow_texts(struct names *names, size_t length) {
    size_t room = names->room ? names->room : IDS_XSPACE_TEXT;
    while (room < names->length + length) room *= 2;
    if (room == names->room) return 0;
    char *texts = realloc(names->texts, room);
    if (!texts) return -1;
    names->texts = texts;
    names->room = room;
    return 0;
}

/* 0: there is no room or no memory. */
static uint32_t find_or_add(struct names *names, const char *text, size_t length, int anyhow) {
    if (names->count + 1 > names->slot_count / 2 && grow_slots(names)) return 0;
    uint32_t *slot = slot_of(names, text, length);
    uint32_t known = *slot;
    if (known) return known;
    if (!anyhow && (names->count >= names->limit || names->length + length > IDS_XSPACE_NAME_BYTES)) return 0;
    if (grow_texts(names, length)) return 0;
    if (length) memcpy(names->texts + names->length, text, length);
    names->length += length;
    names->ends[names->count++] = (uint32_t)names->length;
    *slot = (uint32_t)names->count;
    return *slot;
}

static uint32_t id_of(struct ids_xspace_out *out, struct names *names, const char *text, size_t length) {
    if (out->failed) return 1;
    if (length > IDS_XSPACE_TEXT) length = IDS_XSPACE_TEXT;
    uint32_t id = find_or_add(names, text, length, 0);
    if (id) return id;
    if (!names->lost) names->lost = find_or_add(names, IDS_XSPACE_NO_NAME, sizeof IDS_XSPACE_NO_NAME - 1, 1);
    if (!names->lost) fail(out, ENOMEM);
    return names->lost ? names->lost : 1;
}

/* An entry of a plane's map from ids to names. */
static void put_name(struct ids_xspace_out *out, uint32_t field, uint32_t id, const char *text, size_t length) {
    size_t value = 1 + varint_size(id) + 1 + varint_size(length) + length;
    put_head(out, field, 1 + varint_size(id) + 1 + varint_size(value) + value);
    put_uint(out, ENTRY_KEY, id);
    put_head(out, ENTRY_VALUE, value);
    put_uint(out, META_ID, id);
    put_bytes(out, META_NAME, text, length);
}

static void put_names(struct ids_xspace_out *out, uint32_t field, struct names *names) {
    for (uint32_t id = 1; id <= names->count && !out->failed; id++) {
        size_t length;
        const char *text = text_of(names, id, &length);
        put_name(out, field, id, text, length);
    }
    free_names(names);
}

int64_t ids_xspace_name_of(struct ids_xspace_out *out, const char *name, size_t length) {
    return out && out->plane ? id_of(out, &out->event_names, name ? name : "", name ? length : 0) : 1;
}

int64_t ids_xspace_name(struct ids_xspace_out *out, const char *name) {
    return ids_xspace_name_of(out, name, name ? strlen(name) : 0);
}

/* ---- planes and lines ---- */

static void put_text(struct ids_xspace_out *out, uint32_t field, const char *text) {
    size_t length = text ? strlen(text) : 0;
    put_bytes(out, field, text, length > IDS_XSPACE_TEXT ? IDS_XSPACE_TEXT : length);
}

void ids_xspace_plane_begin(struct ids_xspace_out *out, int64_t id, const char *name) {
    if (!out) return;
    ids_xspace_plane_end(out);
    out->plane = begin_message(out, SPACE_PLANES);
    put_uint(out, PLANE_ID, (uint64_t)id);
    put_text(out, PLANE_NAME, name);
}

void ids_xspace_plane_end(struct ids_xspace_out *out) {
    if (!out || !out->plane) return;
    ids_xspace_line_end(out);
    put_names(out, PLANE_EVENT_METADATA, &out->event_names);
    put_names(out, PLANE_STAT_METADATA, &out->stat_names);
    end_message(out, out->plane);
    out->plane = 0;
}

void ids_xspace_line_begin(struct ids_xspace_out *out, int64_t id, const char *name, int64_t base_ns) {
    if (!out || !out->plane) return;
    ids_xspace_line_end(out);
    out->line = begin_message(out, PLANE_LINES);
    out->base_ns = base_ns;
    put_uint(out, LINE_ID, (uint64_t)id);
    put_text(out, LINE_NAME, name);
    put_uint(out, LINE_TIMESTAMP_NS, (uint64_t)base_ns);
}

void ids_xspace_line_end(struct ids_xspace_out *out) {
    if (!out || !out->line) return;
    ids_xspace_event_end(out);
    end_message(out, out->line);
    out->line = 0;
}

/* ---- events ---- */

static void event_uint(struct ids_xspace_out *out, uint32_t field, uint64_t value) {
    out->event_used += varint(out->event + out->event_used, (uint64_t)field << 3 | VARINT);
    out->event_used += varint(out->event + out->event_used, value);
}

void ids_xspace_event_begin(struct ids_xspace_out *out, int64_t name, int64_t start_ns, int64_t end_ns) {
    if (!out || !out->line) return;
    ids_xspace_event_end(out);
    out->event_open = 1;
    out->event_used = 0;
    event_uint(out, EVENT_METADATA_ID, (uint64_t)name);
    event_uint(out, EVENT_OFFSET_PS, (uint64_t)(start_ns - out->base_ns) * 1000);
    event_uint(out, EVENT_DURATION_PS, end_ns > start_ns ? (uint64_t)(end_ns - start_ns) * 1000 : 0);
}

void ids_xspace_event_end(struct ids_xspace_out *out) {
    if (!out || !out->event_open) return;
    out->event_open = 0;
    if (!has_room(out, (int64_t)out->event_used + 1 + VARINT_BYTES)) {
        out->written.drops++;
        return;
    }
    put_bytes(out, LINE_EVENTS, out->event, out->event_used);
    out->written.events++;
}

/* ---- stats ---- */

/* A stat is made here, `value` its field and what is in it, then put into the open event or plane. */
static void put_stat(struct ids_xspace_out *out, const char *key, const unsigned char *head, size_t head_size,
                     const void *bytes, size_t size) {
    unsigned char id[1 + VARINT_BYTES];
    size_t id_size = varint(id, STAT_METADATA_ID << 3 | VARINT);
    id_size += varint(id + id_size, id_of(out, &out->stat_names, key, strlen(key)));
    size_t length = id_size + head_size + size;
    if (!out->event_open) {
        if (!has_room(out, (int64_t)length + 1 + VARINT_BYTES)) return;
        put_head(out, PLANE_STATS, length);
        put(out, id, id_size);
        put(out, head, head_size);
        put(out, bytes, size);
        return;
    }
    if (length + 1 + VARINT_BYTES > sizeof out->event - out->event_used) return;
    unsigned char *to = out->event + out->event_used;
    to += varint(to, EVENT_STATS << 3 | BYTES);
    to += varint(to, length);
    memcpy(to, id, id_size);
    memcpy(to + id_size, head, head_size);
    if (size) memcpy(to + id_size + head_size, bytes, size);
    out->event_used = (size_t)(to + length - out->event);
}

static int takes_stat(const struct ids_xspace_out *out) {
    return out && !out->failed && (out->event_open || (out->plane && !out->line));
}

static void put_number(struct ids_xspace_out *out, const char *key, uint32_t field, uint64_t value) {
    unsigned char head[1 + VARINT_BYTES];
    if (!takes_stat(out)) return;
    size_t size = varint(head, (uint64_t)field << 3 | VARINT);
    size += varint(head + size, value);
    put_stat(out, key, head, size, NULL, 0);
}

void ids_xspace_int(struct ids_xspace_out *out, const char *key, int64_t value) {
    put_number(out, key, STAT_INT, (uint64_t)value);
}

void ids_xspace_uint(struct ids_xspace_out *out, const char *key, uint64_t value) {
    put_number(out, key, STAT_UINT, value);
}

void ids_xspace_double(struct ids_xspace_out *out, const char *key, double value) {
    unsigned char head[1 + 8] = {STAT_DOUBLE << 3 | FIXED64};
    uint64_t bits;
    if (!takes_stat(out)) return;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++) head[1 + i] = (unsigned char)(bits >> 8 * i);
    put_stat(out, key, head, sizeof head, NULL, 0);
}

void ids_xspace_text_of(struct ids_xspace_out *out, const char *key, const char *value, size_t length) {
    unsigned char head[1 + VARINT_BYTES];
    if (!takes_stat(out)) return;
    if (!value) length = 0;
    if (length > IDS_XSPACE_TEXT) length = IDS_XSPACE_TEXT;
    size_t size = varint(head, STAT_STR << 3 | BYTES);
    size += varint(head + size, length);
    put_stat(out, key, head, size, value, length);
}

void ids_xspace_text(struct ids_xspace_out *out, const char *key, const char *value) {
    ids_xspace_text_of(out, key, value, value ? strlen(value) : 0);
}

/* ---- programs ---- */

void ids_xspace_program(struct ids_xspace_out *out, uint64_t id, const char *name, const void *module, size_t size) {
    char full[IDS_XSPACE_TEXT];
    static const char key[] = "hlo_proto";
    if (!out || out->failed || !out->plane || out->line) return;
    if (!has_room(out, (int64_t)size + IDS_XSPACE_TEXT + 128)) {
        out->written.drops++;
        return;
    }
    snprintf(full, sizeof full, "%.3000s(%llu)", name, (unsigned long long)id);
    uint32_t key_id = id_of(out, &out->stat_names, key, sizeof key - 1);
    size_t proto = 1 + varint_size(size) + size;
    size_t stat = 1 + varint_size(key_id) + 1 + varint_size(proto) + proto;
    size_t name_size = strlen(full);
    size_t value = 1 + varint_size(id) + 1 + varint_size(name_size) + name_size + 1 + varint_size(stat) + stat;
    put_head(out, PLANE_EVENT_METADATA, 1 + varint_size(id) + 1 + varint_size(value) + value);
    put_uint(out, ENTRY_KEY, id);
    put_head(out, ENTRY_VALUE, value);
    put_uint(out, META_ID, id);
    put_bytes(out, META_NAME, full, name_size);
    put_head(out, META_STATS, stat);
    put_uint(out, STAT_METADATA_ID, key_id);
    put_head(out, STAT_BYTES, proto);
    put_bytes(out, HLO_PROTO_MODULE, module, size);
}

/* ---- the file ---- */

void ids_xspace_raw(struct ids_xspace_out *out, const void *bytes, size_t size) {
    if (!out || out->plane) return;
    put(out, bytes, size);
}

struct ids_xspace_out *ids_xspace_open(const char *path, int64_t max_bytes, char *why, size_t why_size) {
    struct ids_xspace_out *out = calloc(1, sizeof *out);
    if (!out) {
        snprintf(why, why_size, "out of memory");
        return NULL;
    }
    out->file = open(path, O_WRONLY | O_CLOEXEC);
    off_t end = out->file < 0 ? -1 : lseek(out->file, 0, SEEK_END);
    if (end < 0) {
        snprintf(why, why_size, "cannot write '%s': %s", path, strerror(errno));
        if (out->file >= 0) close(out->file);
        free(out);
        return NULL;
    }
    out->at = out->first = end;
    out->maximum = max_bytes > 0 ? end + max_bytes : 0;
    out->event_names.limit = IDS_XSPACE_NAMES;
    out->stat_names.limit = STAT_KEYS;
    return out;
}

int ids_xspace_close(struct ids_xspace_out *out, struct ids_xspace_written *written, char *why, size_t why_size) {
    if (!out) return -1;
    ids_xspace_plane_end(out);
    flush(out);
    out->written.bytes = out->at - out->first;
    if (written) *written = out->written;
    if (close(out->file) && !out->failed) fail(out, errno);
    int failed = out->failed;
    if (failed) snprintf(why, why_size, "cannot write the profile: %s", strerror(failed));
    free_names(&out->event_names);
    free_names(&out->stat_names);
    free(out);
    return failed ? -1 : 0;
}
