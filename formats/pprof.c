/* pprof.c - a memory profile of jax.profiler.save_device_memory_profile: what lives on devices, by call stack.
 *
 * Format: profile.proto of github.com/google/pprof, in gzip. A Profile has samples; a sample has a value for each type
 * ("space" in bytes and a count), labels (device, kind) and the addresses of its stack, innermost first, which lead
 * over locations and functions to texts. Any pprof profile that counts bytes is read; others are refused.
 *
 * Texts come last in some files and first in others, so the file is indexed once and read then.
 */
#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/io/source.h"
#include "lib/model/format.h"
#include "lib/wire/pb_wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Profile, ValueType, Sample, Label, Location, Line, Function */
enum { PROFILE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_LOCATION = 4, PROFILE_FUNCTION = 5, PROFILE_TEXT = 6 };
enum { TYPE_NAME = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_TEXT = 2 };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_NUMBER = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_FILE = 4 };

/* Files of this kind have kilobytes; one of a program with a million arrays some megabytes. */
enum { SIZE_LIMIT = 256 << 20, TYPES = 16, STACK = IDS_HELD_STACK };

struct function {
    uint32_t name, file; /* interned */
};

struct location {
    struct ids_pb message;
};

struct reader {
    struct ids_sink *sink;
    struct ids_text *texts;
    struct function *functions;
    struct location *locations;
    size_t text_count, text_room, function_count, function_room, location_count, location_room;
    struct ids_keymap function_by_id, location_by_id; /* id + 1 -> index */
    uint64_t type_names[TYPES], type_units[TYPES];
    size_t type_count;
    int bytes_type, count_type; /* places of values; -1 none */
    uint64_t samples, lost;     /* lost: those without a value of bytes */
    int is_cut;
};

static int corrupt(struct ids_error *err, const char *what) {
    return ids_fail(err, IDS_CORRUPT, "a pprof profile with a malformed %s", what);
}

/* --- the index -------------------------------------------------------------------------------------------------- */

/* The number of each field below `count`, 0 where there is none. -1: malformed. */
static int read_numbers(struct ids_pb message, uint64_t *numbers, uint32_t count) {
    struct ids_pb_field field;
    int more;
    memset(numbers, 0, count * sizeof *numbers);
    while ((more = ids_pb_next(&message, &field)) > 0) {
        if (field.wire == IDS_PB_VARINT && field.number < count) numbers[field.number] = field.value;
    }
    return more;
}

static int index_function(struct reader *reader, struct ids_pb message, struct ids_error *err) {
    uint64_t numbers[FUNCTION_FILE + 1];
    if (read_numbers(message, numbers, FUNCTION_FILE + 1) < 0) return corrupt(err, "function");
    struct function *function = IDS_PUSH(reader->functions, reader->function_count, reader->function_room);
    if (!function || ids_keymap_add(&reader->function_by_id, numbers[FUNCTION_ID] + 1, reader->function_count - 1) < 0)
        return ids_no_memory(err);
    /* Places of texts until these are known. */
    *function = (struct function){(uint32_t)numbers[FUNCTION_NAME], (uint32_t)numbers[FUNCTION_FILE]};
    return 0;
}

static int index_location(struct reader *reader, struct ids_pb message, struct ids_error *err) {
    uint64_t numbers[LOCATION_ID + 1];
    if (read_numbers(message, numbers, LOCATION_ID + 1) < 0) return corrupt(err, "location");
    struct location *location = IDS_PUSH(reader->locations, reader->location_count, reader->location_room);
    if (!location || ids_keymap_add(&reader->location_by_id, numbers[LOCATION_ID] + 1, reader->location_count - 1) < 0)
        return ids_no_memory(err);
    location->message = message;
    return 0;
}

static int index_field(struct reader *reader, const struct ids_pb_field *field, struct ids_error *err) {
    struct ids_pb inside = {field->bytes, field->bytes + field->value};
    uint64_t numbers[TYPE_UNIT + 1];
    switch (field->number) {
    case PROFILE_TYPE:
        if (read_numbers(inside, numbers, TYPE_UNIT + 1) < 0) return corrupt(err, "type of values");
        if (reader->type_count == TYPES) return ids_fail(err, IDS_LIMIT, "a pprof profile with more than 16 types");
        reader->type_names[reader->type_count] = numbers[TYPE_NAME];
        reader->type_units[reader->type_count++] = numbers[TYPE_UNIT];
        return 0;
    case PROFILE_LOCATION:
        return index_location(reader, inside, err);
    case PROFILE_FUNCTION:
        return index_function(reader, inside, err);
    case PROFILE_TEXT: {
        struct ids_text *text = IDS_PUSH(reader->texts, reader->text_count, reader->text_room);
        if (!text) return ids_no_memory(err);
        *text = (struct ids_text){(const char *)field->bytes, (uint32_t)field->value};
        return 0;
    }
    default:
        return 0;
    }
}

static struct ids_text text_at(const struct reader *reader, uint64_t place) {
    return place < reader->text_count ? reader->texts[place] : (struct ids_text){"", 0};
}

static uint32_t intern(const struct reader *reader, uint64_t place) {
    struct ids_text text = text_at(reader, place);
    return text.length ? ids_intern(reader->sink->strings, text.at, text.length) : 0;
}

/* Which values are bytes in use, and which count: of several types of bytes the last, as pprof shows it. */
static int choose_types(struct reader *reader, struct ids_error *err) {
    reader->bytes_type = reader->count_type = -1;
    for (size_t i = 0; i < reader->type_count; i++) {
        if (ids_text_is(text_at(reader, reader->type_units[i]), "bytes")) reader->bytes_type = (int)i;
        if (ids_text_is(text_at(reader, reader->type_units[i]), "count")) reader->count_type = (int)i;
    }
    if (reader->bytes_type >= 0) return 0;
    struct ids_text unit = reader->type_count ? text_at(reader, reader->type_units[reader->type_count - 1])
                                              : (struct ids_text){"nothing", 7};
    ids_fail(err, IDS_UNSUPPORTED, "a pprof profile that counts %.*s, not bytes", (int)unit.length, unit.at);
    return ids_hint(err, "idsprof reads those of jax.profiler.save_device_memory_profile");
}

static int name_functions(struct reader *reader, struct ids_error *err) {
    for (size_t i = 0; i < reader->function_count; i++) {
        struct function *function = &reader->functions[i];
        *function = (struct function){intern(reader, function->name), intern(reader, function->file)};
        if (function->name == IDS_NO_TEXT || function->file == IDS_NO_TEXT) return ids_no_memory(err);
    }
    return 0;
}

/* --- samples ---------------------------------------------------------------------------------------------------- */

/* Numbers that are packed or single: *ret_count of them at most `room`; -1 malformed. */
static int add_numbers(const struct ids_pb_field *field, uint64_t *numbers, size_t room, size_t *count) {
    if (field->wire == IDS_PB_VARINT) {
        if (*count < room) numbers[(*count)++] = field->value;
        return 0;
    }
    if (field->wire != IDS_PB_BYTES) return -1;
    struct ids_pb packed = {field->bytes, field->bytes + field->value};
    uint64_t value;
    while (packed.at < packed.end) {
        if (ids_pb_varint(&packed, &value) != 1) return -1;
        if (*count < room) numbers[(*count)++] = value;
    }
    return 0;
}

/* The frames of a location: several where functions were inlined, the innermost first. */
static void add_frames(const struct reader *reader, uint64_t id, struct ids_held_info *held,
                       struct ids_held_frame *frames) {
    uint64_t index;
    struct ids_pb_field field;
    if (!ids_keymap_get(&reader->location_by_id, id + 1, &index)) return;
    struct ids_pb message = reader->locations[index].message;
    while (held->frame_count < STACK && ids_pb_next(&message, &field) > 0) {
        uint64_t numbers[LINE_NUMBER + 1], function;
        if (field.number != LOCATION_LINE || field.wire != IDS_PB_BYTES) continue;
        if (read_numbers((struct ids_pb){field.bytes, field.bytes + field.value}, numbers, LINE_NUMBER + 1) < 0) return;
        if (!ids_keymap_get(&reader->function_by_id, numbers[LINE_FUNCTION] + 1, &function)) continue;
        const struct function *of = &reader->functions[function];
        int64_t line = (int64_t)numbers[LINE_NUMBER];
        frames[held->frame_count++] =
            (struct ids_held_frame){of->name, of->file, line > 0 && line < INT32_MAX ? (int32_t)line : 0};
    }
}

static int add_label(const struct reader *reader, struct ids_pb message, struct ids_held_info *held) {
    uint64_t numbers[LABEL_TEXT + 1];
    if (read_numbers(message, numbers, LABEL_TEXT + 1) < 0) return -1;
    struct ids_text key = text_at(reader, numbers[LABEL_KEY]);
    if (ids_text_is(key, "device")) held->device = intern(reader, numbers[LABEL_TEXT]);
    if (ids_text_is(key, "kind")) held->kind = intern(reader, numbers[LABEL_TEXT]);
    return 0;
}

static int read_sample(struct reader *reader, struct ids_pb message, struct ids_error *err) {
    struct ids_held_frame frames[STACK];
    uint64_t values[TYPES], stack[STACK];
    size_t value_count = 0, stack_count = 0;
    struct ids_held_info held = {.file = reader->sink->file_name, .frames = frames};
    struct ids_pb_field field;
    int more, bad = 0;
    while (!bad && (more = ids_pb_next(&message, &field)) > 0) {
        if (field.number == SAMPLE_LOCATION) bad = add_numbers(&field, stack, STACK, &stack_count);
        if (field.number == SAMPLE_VALUE) bad = add_numbers(&field, values, TYPES, &value_count);
        if (field.number == SAMPLE_LABEL && field.wire == IDS_PB_BYTES)
            bad = add_label(reader, (struct ids_pb){field.bytes, field.bytes + field.value}, &held);
    }
    if (bad || more < 0) return corrupt(err, "sample");
    if (held.device == IDS_NO_TEXT || held.kind == IDS_NO_TEXT) return ids_no_memory(err);
    if ((size_t)reader->bytes_type >= value_count || (int64_t)values[reader->bytes_type] < 0) {
        reader->lost++;
        return 0;
    }
    held.bytes = (int64_t)values[reader->bytes_type];
    held.count =
        reader->count_type >= 0 && (size_t)reader->count_type < value_count && (int64_t)values[reader->count_type] >= 0
            ? (int64_t)values[reader->count_type]
            : 1;
    for (size_t i = 0; i < stack_count; i++) add_frames(reader, stack[i], &held, frames);
    reader->samples++;
    return reader->sink->ops->held ? reader->sink->ops->held(reader->sink, &held, err) : 0;
}

/* --- the file --------------------------------------------------------------------------------------------------- */

static int read_all(struct reader *reader, struct ids_pb whole, struct ids_error *err) {
    struct ids_pb at = whole;
    struct ids_pb_field field;
    int more, code = 0;
    while (!code && (more = ids_pb_next(&at, &field)) > 0) {
        if (field.wire == IDS_PB_BYTES) code = index_field(reader, &field, err);
    }
    reader->is_cut = !code && more < 0;
    if (!code && !reader->text_count)
        code = ids_fail(err, reader->is_cut ? IDS_TRUNCATED : IDS_CORRUPT, "a pprof profile without its texts%s",
                        reader->is_cut ? ": the file is cut" : "");
    if (!code) code = choose_types(reader, err);
    if (!code) code = name_functions(reader, err);
    for (at = whole; !code && ids_pb_next(&at, &field) > 0;) {
        if (field.number == PROFILE_SAMPLE && field.wire == IDS_PB_BYTES)
            code = read_sample(reader, (struct ids_pb){field.bytes, field.bytes + field.value}, err);
    }
    return code;
}

static int say(struct reader *reader, enum ids_severity severity, const char *id, const char *text, uint64_t count,
               struct ids_error *err) {
    const struct ids_diag diag = {severity, id, text, -1, count};
    return count ? reader->sink->ops->diag(reader->sink, &diag, err) : 0;
}

/* Beside profiles of the same run it is no host of its own. */
static int read_bytes(struct reader *reader, struct ids_pb whole, struct ids_error *err) {
    struct ids_host_info host = {0};
    int code = reader->sink->file_name ? 0 : reader->sink->ops->host(reader->sink, &host, err);
    if (!code) code = read_all(reader, whole, err);
    if (!code)
        code = say(reader, IDS_WARNING, "pprof.sample", "samples without a number of bytes were left out", reader->lost,
                   err);
    if (code || !reader->is_cut) return code;
    reader->sink->complete = 0;
    return say(reader, IDS_DAMAGE, "pprof.truncated", "the file is cut: the samples before its end were kept",
               reader->samples ? reader->samples : 1, err);
}

static int pprof_read(struct ids_source *source, struct ids_sink *sink, struct ids_error *err) {
    uint64_t size = ids_source_size(source);
    if (size > SIZE_LIMIT) return ids_fail(err, IDS_LIMIT, "a pprof profile of more than 256 MiB");
    uint8_t *bytes = malloc((size_t)size + 1);
    if (!bytes) return ids_no_memory(err);
    struct reader reader = {.sink = sink};
    int code = ids_source_read(source, 0, bytes, (size_t)size, err);
    if (!code) code = read_bytes(&reader, (struct ids_pb){bytes, bytes + size}, err);
    free(reader.texts);
    free(reader.functions);
    free(reader.locations);
    ids_keymap_done(&reader.function_by_id);
    ids_keymap_done(&reader.location_by_id);
    free(bytes);
    return code;
}

/* It begins with the types of its values: messages of two numbers each, a name and a unit. No XSpace does: the second
 * field of its planes is a text. */
static int pprof_bid(const uint8_t *head, size_t length, int *more) {
    (void)more;
    struct ids_pb pb = {head, head + length};
    struct ids_pb_field field, part;
    int types = 0;
    while (ids_pb_next(&pb, &field) > 0 && field.number == PROFILE_TYPE) {
        struct ids_pb inside = {field.bytes, field.bytes + field.value};
        int parts = 0, left;
        if (field.wire != IDS_PB_BYTES) return 0;
        while ((left = ids_pb_next(&inside, &part)) > 0) {
            if (part.wire != IDS_PB_VARINT || part.number > TYPE_UNIT) return 0;
            parts |= 1 << part.number;
        }
        if (left < 0 || parts != (1 << TYPE_NAME | 1 << TYPE_UNIT)) return 0;
        types++;
    }
    return types ? 95 : 0;
}

static const char *const suffixes[] = {NULL}; /* named one by one */
static const char *const beside[] = {".memory.prof", NULL};

const struct ids_format ids_pprof_format = {
    .name = "pprof",
    .title = "device memory profile (pprof)",
    .expected = "a device memory profile of JAX, pprof",
    .form = "pprof",
    .suffixes = suffixes,
    .beside_suffixes = beside,
    .bid = pprof_bid,
    .streams = 0,
    .read = pprof_read,
};
