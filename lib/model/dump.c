#include "lib/model/dump.h"

#include "lib/base/vec.h"
#include "lib/model/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { SEPARATOR = 0x1f };

struct dump_name {
    uint32_t text;
};

struct dump_track {
    uint32_t plane_name, name;
    int64_t id;
    uint64_t events;
};

struct ids_dump {
    struct ids_sink sink; /* first, so that the sink is the dump */
    struct ids_strings strings;
    struct ids_dump_totals totals;
    int64_t base_ns;
    uint32_t *planes; /* name of each */
    size_t plane_count, plane_room;
    struct dump_name *names;
    size_t name_count, name_room;
    struct dump_track *tracks;
    size_t track_count, track_room;
    char *item; /* the item being made */
    size_t item_length, item_room;
    int out_of_memory;
};

static struct ids_dump *of(struct ids_sink *sink) {
    return (struct ids_dump *)sink;
}

static void put(struct ids_dump *dump, const void *bytes, size_t length) {
    if (length > dump->item_room - dump->item_length) {
        size_t room = (dump->item_length + length) * 2 + 256;
        char *item = realloc(dump->item, room);
        if (!item) {
            dump->out_of_memory = 1;
            return;
        }
        dump->item = item;
        dump->item_room = room;
    }
    memcpy(dump->item + dump->item_length, bytes, length);
    dump->item_length += length;
}

static void begin(struct ids_dump *dump, char kind) {
    dump->item_length = 0;
    put(dump, &kind, 1);
}

static void put_text(struct ids_dump *dump, uint32_t text) {
    const char separator = SEPARATOR;
    struct ids_text bytes = ids_strings_text(&dump->strings, text);
    put(dump, &separator, 1);
    put(dump, bytes.at, bytes.length);
}

static void put_format(struct ids_dump *dump, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put_format(struct ids_dump *dump, const char *format, ...) {
    char text[64];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put(dump, text, (size_t)length);
}

/* Decimal digits of a 128-bit number: times count from 1970 in some files, which 64 bits of picoseconds do not
 * reach. */
static void put_time(struct ids_dump *dump, __int128 time) {
    char digits[48];
    size_t at = sizeof digits;
    unsigned __int128 rest = time < 0 ? -(unsigned __int128)time : (unsigned __int128)time;
    do {
        digits[--at] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    } while (rest);
    if (time < 0) digits[--at] = '-';
    digits[--at] = SEPARATOR;
    put(dump, digits + at, sizeof digits - at);
}

static void put_value(struct ids_dump *dump, const struct ids_arg *arg) {
    put_format(dump, "%c", SEPARATOR);
    switch (arg->type) {
    case IDS_VALUE_INT:
        put_format(dump, "i:%" PRId64, arg->i);
        break;
    case IDS_VALUE_UINT:
        put_format(dump, "u:%" PRIu64, arg->u);
        break;
    case IDS_VALUE_REAL:
        put_format(dump, "d:%016" PRIx64, arg->u);
        break;
    case IDS_VALUE_TEXT: {
        struct ids_text text = ids_strings_text(&dump->strings, arg->text);
        put(dump, "s:", 2);
        put(dump, text.at, text.length);
        break;
    }
    case IDS_VALUE_CHARS:
        put(dump, "s:", 2);
        put(dump, arg->chars, arg->length);
        break;
    case IDS_VALUE_BYTES:
        put_format(dump, "b:%u:%lu", arg->length, crc32(0, (const unsigned char *)arg->chars, arg->length));
        break;
    case IDS_VALUE_REF:
        put_format(dump, "r:%" PRIu64, arg->u);
        break;
    default:
        put(dump, "n:", 2);
        break;
    }
}

static void finish_item(struct ids_dump *dump) {
    const unsigned char *bytes = (const unsigned char *)dump->item;
    uInt length = (uInt)dump->item_length;
    uint64_t z = (uint64_t)crc32(0, bytes, length) << 32 | adler32(1, bytes, length);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    dump->totals.hash += z ^ z >> 31;
}

static int check(const struct ids_dump *dump, struct ids_error *err) {
    return dump->out_of_memory ? ids_no_memory(err) : 0;
}

static int dump_host(struct ids_sink *sink, const struct ids_host_info *host, struct ids_error *err) {
    of(sink)->base_ns = host->base_ns;
    return check(of(sink), err);
}

static int dump_plane(struct ids_sink *sink, const struct ids_plane_info *plane, uint32_t *ret_plane,
                      struct ids_error *err) {
    struct ids_dump *dump = of(sink);
    *ret_plane = (uint32_t)dump->plane_count;
    uint32_t *name = IDS_PUSH(dump->planes, dump->plane_count, dump->plane_room);
    if (!name) return ids_no_memory(err);
    *name = plane->name;
    dump->totals.planes++;
    for (size_t i = 0; i < plane->arg_count; i++) {
        begin(dump, 'P');
        put_text(dump, plane->name);
        put_text(dump, plane->args[i].key);
        put_value(dump, &plane->args[i]);
        finish_item(dump);
        dump->totals.plane_stats++;
    }
    return check(dump, err);
}

static int dump_name(struct ids_sink *sink, const struct ids_name_info *name, uint32_t *ret_name,
                     struct ids_error *err) {
    struct ids_dump *dump = of(sink);
    *ret_name = (uint32_t)dump->name_count;
    struct dump_name *kept = IDS_PUSH(dump->names, dump->name_count, dump->name_room);
    if (!kept) return ids_no_memory(err);
    kept->text = name->text;
    for (size_t i = 0; i < name->arg_count; i++) {
        begin(dump, 'M');
        put_text(dump, dump->planes[name->plane]);
        put_text(dump, name->text);
        put_text(dump, name->args[i].key);
        put_value(dump, &name->args[i]);
        finish_item(dump);
        dump->totals.metadata_stats++;
    }
    return check(dump, err);
}

static int dump_track(struct ids_sink *sink, const struct ids_track_info *track, uint32_t *ret_track,
                      struct ids_error *err) {
    struct ids_dump *dump = of(sink);
    *ret_track = (uint32_t)dump->track_count;
    struct dump_track *kept = IDS_PUSH(dump->tracks, dump->track_count, dump->track_room);
    if (!kept) return ids_no_memory(err);
    *kept = (struct dump_track){dump->planes[track->plane], track->name, track->id, 0};
    dump->totals.lines++;
    return 0;
}

static void put_track(struct ids_dump *dump, const struct dump_track *track) {
    put_text(dump, track->plane_name);
    put_format(dump, "%c%" PRId64, SEPARATOR, track->id);
    put_text(dump, track->name);
}

static int dump_slice(struct ids_sink *sink, uint32_t track_id, const struct ids_slice *slice, struct ids_error *err) {
    struct ids_dump *dump = of(sink);
    struct dump_track *track = &dump->tracks[track_id];
    track->events++;
    dump->totals.events++;
    begin(dump, 'E');
    put_track(dump, track);
    put_time(dump, (__int128)dump->base_ns * 1000 + slice->start_ps);
    put_time(dump, slice->duration_ps);
    put_text(dump, dump->names[slice->name].text);
    finish_item(dump);
    size_t common = dump->item_length;
    for (uint32_t i = 0; i < slice->arg_count; i++) {
        dump->item[0] = 'S'; /* the event's item, continued */
        dump->item_length = common;
        put_text(dump, slice->args[i].key);
        put_value(dump, &slice->args[i]);
        finish_item(dump);
        dump->totals.event_stats++;
    }
    return check(dump, err);
}

static int dump_track_end(struct ids_sink *sink, uint32_t track_id, struct ids_error *err) {
    struct ids_dump *dump = of(sink);
    begin(dump, 'L');
    put_track(dump, &dump->tracks[track_id]);
    put_format(dump, "%c%" PRIu64, SEPARATOR, dump->tracks[track_id].events);
    finish_item(dump);
    return check(dump, err);
}

static int dump_hlo(struct ids_sink *sink, const struct ids_instruction_info *instruction, struct ids_error *err) {
    (void)instruction;
    return check(of(sink), err);
}

static int dump_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *err) {
    (void)diag;
    return check(of(sink), err);
}

int ids_dump_new(struct ids_dump **ret_dump, struct ids_error *err) {
    static const struct ids_sink_ops ops = {
        .host = dump_host,
        .plane = dump_plane,
        .name = dump_name,
        .track = dump_track,
        .slice = dump_slice,
        .track_end = dump_track_end,
        .hlo = dump_hlo,
        .diag = dump_diag,
    };
    struct ids_dump *dump = calloc(1, sizeof *dump);
    if (!dump) return ids_no_memory(err);
    if (ids_keys_intern(&dump->strings)) {
        ids_dump_free(dump);
        return ids_no_memory(err);
    }
    dump->sink = (struct ids_sink){.ops = &ops, .strings = &dump->strings, .complete = 1};
    *ret_dump = dump;
    return 0;
}

struct ids_sink *ids_dump_sink(struct ids_dump *dump) {
    return &dump->sink;
}

void ids_dump_totals(const struct ids_dump *dump, struct ids_dump_totals *ret_totals) {
    *ret_totals = dump->totals;
}

void ids_dump_free(struct ids_dump *dump) {
    if (!dump) return;
    ids_strings_done(&dump->strings);
    free(dump->planes);
    free(dump->names);
    free(dump->tracks);
    free(dump->item);
    free(dump);
}
