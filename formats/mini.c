/* mini.c - a profile as a text that a person writes: what tests of analyzers are made of.
 *
 *   idsprof-mini 1
 *   host NAME [start_unix_ns=N] [ranks=N]
 *   plane /device:GPU:0 [KEY=VALUE ...]
 *   meta EVENT-NAME KEY=VALUE ...            stats that all events of that name share
 *   line ID NAME                             a timeline of the plane
 *   START DURATION EVENT-NAME [KEY=VALUE ...]   an event of the line; times as 5us, 1.25ms, 40ns, 7 (ps)
 *   hlo module=M name=I opcode=O [program=N] [op_name=..] [source=..] [groups=..] [bytes=N] [shape=..] [call_target=..]
 *   [waste=KIND [waste_why=..] [waste_is_part=1] [waste_rounds=N]] [split=REASON] [fingerprint=N] [flops=N]
 *   [bytes_accessed=N] [multiplies=bf16 [rows=N columns=N depth=N] [array_bytes=N tiled_bytes=N]] [parameter=1
 *   [donated=1] [sharding=..]] [part=OP-NAME share=R ...] what a fusion covers, in pairs
 *   [order=N runs=KIND [optional=1] [loop_begins=N loop_ends=N]] what an execution runs of it (lib/hlo/flow.h)
 *   keeps module=M [program=N] [peak=I] [arguments=N] [in_place=N] [results=N] [temporaries=N] [constants=N]
 *       what the program keeps in memory; values and arguments that are not donated may follow:
 *   value bytes=N kind=N [name=I] [op_name=..] [source=..] [shape=..] [padding=N] [at_peak=1]
 *   kept name=A bytes=N arrays=N
 *   held bytes=N count=N function=F source=FILE line=N [device=D] [kind=K] [file=F]   what lives, of a memory profile
 *
 * Words are parted by spaces, "in quotes" they may hold some; # begins a comment. A value is an integer, u:INTEGER
 * (unsigned), a decimal number with a point, x:HEX (bytes), or a text.
 */
#include "lib/base/idmap.h"
#include "lib/base/vec.h"
#include "lib/hlo/element.h"
#include "lib/hlo/flow.h"
#include "lib/hlo/waste.h"
#include "lib/io/source.h"
#include "lib/model/format.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char signature[] = "idsprof-mini 1";

enum { WORDS = 64, TEXT_LIMIT = 16 << 20, VALUES = 16, BYTES = 64 };

/* What a program keeps in memory, until the next line that says something else. */
struct keeping {
    bool is_open;
    struct ids_program_memory_info info;
    struct ids_program_value values[VALUES];
    struct ids_kept_argument kept[VALUES];
};

struct mini {
    struct ids_sink *sink;
    uint32_t plane, track;
    bool has_host, has_plane, has_track;
    struct ids_idmap names; /* text -> the sink's name, of the plane */
    struct ids_text words[WORDS];
    size_t word_count;
    struct ids_arg args[WORDS];
    char bytes[BYTES]; /* of x:HEX, of the line */
    size_t byte_count;
    size_t line_number;
    struct keeping keeping;
};

static int wrong(const struct mini *mini, struct ids_error *err, const char *what) {
    return ids_fail(err, IDS_CORRUPT, "line %zu: %s", mini->line_number, what);
}

static int split(struct mini *mini, struct ids_text line, struct ids_error *err) {
    mini->word_count = 0;
    for (size_t at = 0; at < line.length;) {
        if (line.at[at] == ' ' || line.at[at] == '\t') {
            at++;
            continue;
        }
        if (line.at[at] == '#' && (!at || line.at[at - 1] == ' ' || line.at[at - 1] == '\t')) break;
        if (mini->word_count == WORDS) return wrong(mini, err, "more than 64 words");
        bool quoted = line.at[at] == '"';
        size_t end = at + quoted;
        bool inside = quoted;
        while (end < line.length && (inside || (line.at[end] != ' ' && line.at[end] != '\t'))) {
            if (line.at[end] == '"') inside = !inside;
            end++;
        }
        if (inside) return wrong(mini, err, "a quote is not closed");
        size_t from = at + quoted, to = end - (quoted && line.at[end - 1] == '"');
        mini->words[mini->word_count++] = (struct ids_text){line.at + from, (uint32_t)(to - from)};
        at = end;
    }
    return 0;
}

/* "1.25ms" exactly, in picoseconds. */
static bool parse_time(struct ids_text word, int64_t *ret_ps) {
    static const struct {
        const char *unit;
        int64_t ps;
    } units[] = {{"ps", 1}, {"", 1}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000}, {"s", 1000000000000}};
    size_t at = word.length && word.at[0] == '-', begin = at;
    int64_t whole = 0, fraction = 0, scale = 1;
    bool point = false;
    for (; at < word.length && ((word.at[at] >= '0' && word.at[at] <= '9') || (word.at[at] == '.' && !point)); at++) {
        if (word.at[at] == '.') {
            point = true;
            continue;
        }
        int64_t *part = point ? &fraction : &whole;
        if (*part > INT64_MAX / 10 - 9 || scale > INT64_MAX / 10) return false;
        *part = *part * 10 + (word.at[at] - '0');
        if (point) scale *= 10;
    }
    if (at == begin) return false;
    struct ids_text unit = {word.at + at, (uint32_t)(word.length - at)};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!ids_text_is(unit, units[i].unit)) continue;
        /* Powers of ten, so that one divides the other; the fraction is below its scale, and the product below the
         * unit. */
        int64_t unit_ps = units[i].ps, ps;
        int64_t part_ps = scale <= unit_ps ? fraction * (unit_ps / scale) : fraction / (scale / unit_ps);
        if (__builtin_mul_overflow(whole, unit_ps, &ps) || __builtin_add_overflow(ps, part_ps, &ps)) return false;
        *ret_ps = begin ? -ps : ps;
        return true;
    }
    return false;
}

static bool parse_digits(struct ids_text word, uint64_t *ret_value) {
    *ret_value = 0;
    for (size_t i = 0; i < word.length; i++) {
        if (word.at[i] < '0' || word.at[i] > '9') return false;
        *ret_value = *ret_value * 10 + (uint64_t)(word.at[i] - '0');
    }
    return word.length > 0 && word.length < 21;
}

static void parse_value(struct ids_text word, struct ids_arg *arg) {
    uint64_t digits;
    struct ids_text rest = word;
    bool negative = word.length && word.at[0] == '-';
    if (negative) rest = (struct ids_text){word.at + 1, word.length - 1};
    if (parse_digits(rest, &digits)) {
        arg->type = IDS_VALUE_INT;
        arg->u = negative ? 0 - digits : digits;
        return;
    }
    if (word.length > 2 && !memcmp(word.at, "u:", 2) &&
        parse_digits((struct ids_text){word.at + 2, word.length - 2}, &digits)) {
        arg->type = IDS_VALUE_UINT;
        arg->u = digits;
        return;
    }
    const char *point = rest.length ? memchr(rest.at, '.', rest.length) : NULL;
    uint64_t fraction;
    if (point && parse_digits((struct ids_text){rest.at, (uint32_t)(point - rest.at)}, &digits) &&
        parse_digits((struct ids_text){point + 1, (uint32_t)(rest.at + rest.length - point - 1)}, &fraction)) {
        double value = (double)fraction;
        for (const char *c = point + 1; c < rest.at + rest.length; c++) value /= 10;
        arg->type = IDS_VALUE_REAL;
        arg->d = ((double)digits + value) * (negative ? -1 : 1);
        return;
    }
    arg->type = IDS_VALUE_CHARS;
    arg->chars = word.at;
    arg->length = word.length;
}

static int digit_of(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* x:HEX; 0: it is none. */
static bool parse_bytes(struct mini *mini, struct ids_text word, struct ids_arg *arg) {
    size_t first = mini->byte_count, count = first;
    if (word.length < 4 || word.length % 2 || memcmp(word.at, "x:", 2) != 0) return false;
    for (uint32_t i = 2; i < word.length && count < BYTES; i += 2) {
        int high = digit_of(word.at[i]), low = digit_of(word.at[i + 1]);
        if (high < 0 || low < 0) return false;
        mini->bytes[count++] = (char)(high << 4 | low);
    }
    mini->byte_count = count;
    arg->type = IDS_VALUE_BYTES;
    arg->chars = mini->bytes + first;
    arg->length = (uint32_t)(count - first);
    return true;
}

/* The words from `first` on, KEY=VALUE each, into mini->args. */
static int parse_args(struct mini *mini, size_t first, size_t *ret_count, struct ids_error *err) {
    *ret_count = mini->byte_count = 0;
    for (size_t i = first; i < mini->word_count; i++) {
        struct ids_text word = mini->words[i];
        const char *equals = memchr(word.at, '=', word.length);
        if (!equals) return wrong(mini, err, "expected KEY=VALUE");
        struct ids_arg *arg = &mini->args[(*ret_count)++];
        *arg = (struct ids_arg){.key = ids_intern(mini->sink->strings, word.at, (size_t)(equals - word.at))};
        if (arg->key == IDS_NO_TEXT) return ids_no_memory(err);
        struct ids_text value = {equals + 1, (uint32_t)(word.at + word.length - equals - 1)};
        if (value.length > 1 && value.at[0] == '"' && value.at[value.length - 1] == '"') { /* key="a b" is a text */
            arg->type = IDS_VALUE_CHARS;
            arg->chars = value.at + 1;
            arg->length = value.length - 2;
        } else if (!parse_bytes(mini, value, arg)) {
            parse_value(value, arg);
        }
    }
    return 0;
}

static int read_host(struct mini *mini, struct ids_error *err) {
    struct ids_host_info host = {0};
    size_t count = 0;
    if (mini->word_count > 1) {
        host.name = ids_intern(mini->sink->strings, mini->words[1].at, mini->words[1].length);
        int code = parse_args(mini, 2, &count, err);
        if (code) return code;
    }
    for (size_t a = 0; a < count; a++) {
        int is_ranks = !strcmp(ids_strings_z(mini->sink->strings, mini->args[a].key), "ranks");
        *(is_ranks ? &host.ranks : &host.start_unix_ns) = mini->args[a].i;
    }
    mini->has_host = true;
    return mini->sink->ops->host(mini->sink, &host, err);
}

static int end_track(struct mini *mini, struct ids_error *err) {
    if (!mini->has_track) return 0;
    mini->has_track = false;
    return mini->sink->ops->track_end(mini->sink, mini->track, err);
}

static int read_plane(struct mini *mini, struct ids_error *err) {
    size_t count;
    if (mini->word_count < 2) return wrong(mini, err, "expected: plane NAME");
    int code = mini->has_host ? 0 : read_host(&(struct mini){.sink = mini->sink}, err);
    if (!code) code = parse_args(mini, 2, &count, err);
    if (code) return code;
    mini->has_host = mini->has_plane = true;
    struct ids_plane_info plane = {
        .name = ids_intern(mini->sink->strings, mini->words[1].at, mini->words[1].length),
        .args = mini->args,
        .arg_count = count,
    };
    ids_idmap_done(&mini->names);
    return mini->sink->ops->plane(mini->sink, &plane, &mini->plane, err);
}

static int name_of(struct mini *mini, struct ids_text word, size_t arg_count, uint32_t *ret_name,
                   struct ids_error *err) {
    uint32_t text = ids_intern(mini->sink->strings, word.at, word.length);
    if (text == IDS_NO_TEXT) return ids_no_memory(err);
    *ret_name = ids_idmap_get(&mini->names, text);
    if (*ret_name != IDS_IDMAP_NONE) return 0;
    struct ids_name_info name = {.plane = mini->plane, .text = text, .args = mini->args, .arg_count = arg_count};
    int code = mini->sink->ops->name(mini->sink, &name, ret_name, err);
    if (!code && ids_idmap_set(&mini->names, text, *ret_name)) return ids_no_memory(err);
    return code;
}

static int read_meta(struct mini *mini, struct ids_error *err) {
    size_t count;
    uint32_t name;
    if (!mini->has_plane || mini->word_count < 2)
        return wrong(mini, err, "expected: meta NAME KEY=VALUE, after a plane");
    int code = parse_args(mini, 2, &count, err);
    return code ? code : name_of(mini, mini->words[1], count, &name, err);
}

static int read_track(struct mini *mini, struct ids_error *err) {
    struct ids_arg id = {0};
    if (!mini->has_plane || mini->word_count != 3) return wrong(mini, err, "expected: line ID NAME, after a plane");
    parse_value(mini->words[1], &id);
    struct ids_track_info track = {
        .plane = mini->plane,
        .id = id.type == IDS_VALUE_INT ? id.i : 0,
        .name = ids_intern(mini->sink->strings, mini->words[2].at, mini->words[2].length),
    };
    int code = mini->sink->ops->track(mini->sink, &track, &mini->track, err);
    mini->has_track = !code;
    return code;
}

static int read_event(struct mini *mini, struct ids_error *err) {
    struct ids_slice slice = {0};
    size_t count;
    if (!mini->has_track) return wrong(mini, err, "an event before any line");
    if (mini->word_count < 3 || !parse_time(mini->words[0], &slice.start_ps) ||
        !parse_time(mini->words[1], &slice.duration_ps)) {
        return wrong(mini, err, "expected: START DURATION NAME");
    }
    int code = name_of(mini, mini->words[2], 0, &slice.name, err);
    if (!code) code = parse_args(mini, 3, &count, err);
    if (code) return code;
    slice.args = mini->args;
    slice.arg_count = (uint32_t)count;
    return mini->sink->ops->slice(mini->sink, mini->track, &slice, err);
}

/* The sizes of a product, and the scopes that a fusion covers. */
static void read_parts(const struct mini *mini, struct ids_text key, const struct ids_arg *arg,
                       struct ids_instruction_info *hlo) {
    if (ids_text_is(key, "rows")) hlo->product.rows = arg->i;
    if (ids_text_is(key, "columns")) hlo->product.columns = arg->i;
    if (ids_text_is(key, "depth")) hlo->product.depth = arg->i;
    if (ids_text_is(key, "array_bytes")) hlo->product.bytes = arg->i;
    if (ids_text_is(key, "tiled_bytes")) hlo->product.tiled = arg->i;
    if (ids_text_is(key, "part") && arg->type == IDS_VALUE_CHARS && hlo->parts.count < IDS_OP_PARTS)
        hlo->parts.at[hlo->parts.count++].op_name = ids_intern(mini->sink->strings, arg->chars, arg->length);
    if (ids_text_is(key, "share") && hlo->parts.count) hlo->parts.at[hlo->parts.count - 1].share = arg->d;
}

/* What of it only wastes, and why the op that uses it is another one. */
static void read_waste(struct ids_text key, const struct ids_arg *arg, struct ids_instruction_info *hlo) {
    if (ids_text_is(key, "waste_rounds")) hlo->waste_rounds = (uint32_t)arg->u;
    if (ids_text_is(key, "waste_is_part")) hlo->waste_is_part = arg->u != 0;
    if (arg->type != IDS_VALUE_CHARS) return;
    const struct ids_text name = {arg->chars, (uint32_t)arg->length};
    for (int s = 1; s < IDS_SPLIT_COUNT && ids_text_is(key, "split"); s++) {
        if (ids_text_is(name, ids_split_name((enum ids_split)s))) hlo->split = (uint8_t)s;
    }
    for (int w = 1; w < IDS_WASTE_COUNT && ids_text_is(key, "waste"); w++) {
        if (ids_text_is(name, ids_waste_name((enum ids_waste)w))) hlo->waste = (uint8_t)w;
    }
}

/* What an execution runs of it, and when. */
static void read_flow(struct ids_text key, const struct ids_arg *arg, struct ids_instruction_info *hlo) {
    static const char *const runs[IDS_HLO_RUNS_COUNT] = {"nothing", "kernel", "library", "copy", "any", "loop"};
    if (ids_text_is(key, "order")) hlo->order = (uint32_t)arg->u;
    if (ids_text_is(key, "loop_begins")) hlo->loop_begins = (uint32_t)arg->u;
    if (ids_text_is(key, "loop_ends")) hlo->loop_ends = (uint32_t)arg->u;
    if (ids_text_is(key, "optional")) hlo->optional = arg->u != 0;
    if (!ids_text_is(key, "runs") || arg->type != IDS_VALUE_CHARS) return;
    for (int r = 0; r < IDS_HLO_RUNS_COUNT; r++) {
        if (ids_text_is((struct ids_text){arg->chars, (uint32_t)arg->length}, runs[r])) hlo->runs = (uint8_t)r;
    }
}

static int read_hlo(struct mini *mini, struct ids_error *err) {
    struct ids_instruction_info hlo = {.result_bytes = -1, .flops = -1, .bytes = -1, .matrix_flops = -1};
    static const struct {
        const char *key;
        size_t offset;
    } fields[] = {
        {"module", offsetof(struct ids_instruction_info, module)},
        {"name", offsetof(struct ids_instruction_info, name)},
        {"opcode", offsetof(struct ids_instruction_info, opcode)},
        {"op_name", offsetof(struct ids_instruction_info, op_name)},
        {"source", offsetof(struct ids_instruction_info, source)},
        {"call_target", offsetof(struct ids_instruction_info, call_target)},
        {"groups", offsetof(struct ids_instruction_info, groups)},
        {"shape", offsetof(struct ids_instruction_info, shape)},
        {"sharding", offsetof(struct ids_instruction_info, sharding)},
        {"waste_why", offsetof(struct ids_instruction_info, waste_why)},
    };
    size_t count;
    int code = parse_args(mini, 1, &count, err);
    if (code) return code;
    for (size_t i = 0; i < count; i++) {
        struct ids_arg *arg = &mini->args[i];
        struct ids_text key = ids_strings_text(mini->sink->strings, arg->key);
        if (ids_text_is(key, "program")) hlo.program_id = arg->u;
        read_parts(mini, key, arg, &hlo);
        read_waste(key, arg, &hlo);
        read_flow(key, arg, &hlo);
        if (ids_text_is(key, "bytes")) hlo.result_bytes = arg->i;
        if (ids_text_is(key, "flops")) hlo.flops = arg->i;
        if (ids_text_is(key, "matrix_flops")) hlo.matrix_flops = arg->i;
        if (ids_text_is(key, "computed_once")) hlo.computed_once = arg->u != 0;
        if (ids_text_is(key, "bytes_accessed")) hlo.bytes = arg->i;
        if (ids_text_is(key, "multiplies") && arg->type == IDS_VALUE_CHARS)
            hlo.element = (uint8_t)ids_hlo_element_of((struct ids_text){arg->chars, (uint32_t)arg->length});
        if (ids_text_is(key, "fingerprint")) hlo.fingerprint = arg->u;
        if (ids_text_is(key, "parameter")) hlo.is_parameter = arg->u != 0;
        if (ids_text_is(key, "donated")) hlo.is_donated = arg->u != 0;
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
            if (!ids_text_is(key, fields[f].key) || arg->type != IDS_VALUE_CHARS) continue;
            uint32_t text = ids_intern(mini->sink->strings, arg->chars, arg->length);
            memcpy((char *)&hlo + fields[f].offset, &text, sizeof text);
        }
    }
    if (!mini->sink->ops->hlo) return 0;
    return mini->sink->ops->hlo(mini->sink, &hlo, err);
}

/* --- what programs keep in memory ------------------------------------------------------------------------------- */

struct member {
    const char *key;
    size_t offset;
    int is_text; /* an interned text; else a number of 64, 32 or 8 bits */
    size_t size;
};
#define NUMBER(type, field) \
    { #field, offsetof(struct type, field), 0, sizeof(((struct type *)0)->field) }
#define TEXT(type, field) \
    { #field, offsetof(struct type, field), 1, sizeof(uint32_t) }

/* The values of a line into the members that are called so. */
static int read_members(struct mini *mini, const struct member *members, size_t count, void *to,
                        struct ids_error *err) {
    size_t arg_count;
    int code = parse_args(mini, 1, &arg_count, err);
    for (size_t i = 0; i < arg_count && !code; i++) {
        const struct ids_arg *arg = &mini->args[i];
        struct ids_text key = ids_strings_text(mini->sink->strings, arg->key);
        for (size_t m = 0; m < count; m++) {
            if (!ids_text_is(key, members[m].key) || members[m].is_text != (arg->type == IDS_VALUE_CHARS)) continue;
            uint32_t text = members[m].is_text ? ids_intern(mini->sink->strings, arg->chars, arg->length) : 0;
            memcpy((char *)to + members[m].offset, members[m].is_text ? (const void *)&text : &arg->i, members[m].size);
        }
    }
    return code;
}
#define READ_MEMBERS(mini, members, to, err) \
    read_members((mini), (members), sizeof(members) / sizeof *(members), (to), (err))

static int end_keeping(struct mini *mini, struct ids_error *err) {
    struct keeping *keeping = &mini->keeping;
    if (!keeping->is_open) return 0;
    keeping->is_open = false;
    keeping->info.values = keeping->values;
    keeping->info.kept = keeping->kept;
    return mini->sink->ops->memory ? mini->sink->ops->memory(mini->sink, &keeping->info, err) : 0;
}

static int read_keeps(struct mini *mini, struct ids_error *err) {
    static const struct member members[] = {
        {"program", offsetof(struct ids_program_memory_info, program_id), 0, sizeof(uint64_t)},
        TEXT(ids_program_memory_info, module),
        TEXT(ids_program_memory_info, peak),
        NUMBER(ids_program_memory_info, arguments),
        NUMBER(ids_program_memory_info, in_place),
        NUMBER(ids_program_memory_info, results),
        NUMBER(ids_program_memory_info, temporaries),
        NUMBER(ids_program_memory_info, constants),
    };
    mini->keeping = (struct keeping){.is_open = true};
    return READ_MEMBERS(mini, members, &mini->keeping.info, err);
}

static int read_value(struct mini *mini, struct ids_error *err) {
    static const struct member members[] = {
        NUMBER(ids_program_value, bytes), TEXT(ids_program_value, name),      TEXT(ids_program_value, op_name),
        TEXT(ids_program_value, source),  TEXT(ids_program_value, shape),     NUMBER(ids_program_value, padding),
        NUMBER(ids_program_value, kind),  NUMBER(ids_program_value, at_peak),
    };
    struct ids_program_memory_info *info = &mini->keeping.info;
    if (!mini->keeping.is_open || info->value_count == VALUES) return wrong(mini, err, "up to 16 values behind keeps");
    return READ_MEMBERS(mini, members, &mini->keeping.values[info->value_count++], err);
}

static int read_kept(struct mini *mini, struct ids_error *err) {
    static const struct member members[] = {NUMBER(ids_kept_argument, bytes), TEXT(ids_kept_argument, name),
                                            NUMBER(ids_kept_argument, arrays)};
    struct ids_program_memory_info *info = &mini->keeping.info;
    if (!mini->keeping.is_open || info->kept_count == VALUES)
        return wrong(mini, err, "up to 16 arguments behind keeps");
    return READ_MEMBERS(mini, members, &mini->keeping.kept[info->kept_count++], err);
}

struct told_held {
    int64_t bytes, count;
    uint32_t device, kind, file, function, source;
    int32_t line;
};

static int read_held(struct mini *mini, struct ids_error *err) {
    static const struct member members[] = {
        NUMBER(told_held, bytes), NUMBER(told_held, count),  TEXT(told_held, device), TEXT(told_held, kind),
        TEXT(told_held, file),    TEXT(told_held, function), TEXT(told_held, source), NUMBER(told_held, line),
    };
    struct told_held told = {0};
    int code = READ_MEMBERS(mini, members, &told, err);
    const struct ids_held_frame frame = {told.function, told.source, told.line};
    const struct ids_held_info held = {told.file, told.device, told.kind, told.bytes, told.count, &frame, 1};
    return code || !mini->sink->ops->held ? code : mini->sink->ops->held(mini->sink, &held, err);
}

static int read_line(struct mini *mini, struct ids_text line, struct ids_error *err) {
    int code = split(mini, line, err);
    if (code || !mini->word_count) return code;
    struct ids_text first = mini->words[0];
    bool begins_track = ids_text_is(first, "host") || ids_text_is(first, "plane") || ids_text_is(first, "line");
    if (begins_track && (code = end_track(mini, err))) return code;
    if (ids_text_is(first, "value")) return read_value(mini, err);
    if (ids_text_is(first, "kept")) return read_kept(mini, err);
    code = end_keeping(mini, err);
    if (code) return code;
    if (ids_text_is(first, "keeps")) return read_keeps(mini, err);
    if (ids_text_is(first, "held")) return read_held(mini, err);
    if (ids_text_is(first, "host")) return read_host(mini, err);
    if (ids_text_is(first, "plane")) return read_plane(mini, err);
    if (ids_text_is(first, "meta")) return read_meta(mini, err);
    if (ids_text_is(first, "line")) return read_track(mini, err);
    if (ids_text_is(first, "hlo")) return read_hlo(mini, err);
    return read_event(mini, err);
}

static int mini_read(struct ids_source *source, struct ids_sink *sink, struct ids_error *err) {
    uint64_t size = ids_source_size(source);
    if (size > TEXT_LIMIT) return ids_fail(err, IDS_LIMIT, "a mini profile above 16 MiB");
    char *text = malloc((size_t)size + 1);
    if (!text) return ids_no_memory(err);
    struct mini mini = {.sink = sink};
    int code = ids_source_read(source, 0, text, (size_t)size, err);
    for (size_t at = 0; !code && at < size;) {
        const char *end = memchr(text + at, '\n', (size_t)size - at);
        size_t length = end ? (size_t)(end - text) - at : (size_t)size - at;
        mini.line_number++;
        if (mini.line_number > 1) code = read_line(&mini, (struct ids_text){text + at, (uint32_t)length}, err);
        at += length + 1;
    }
    if (!code) code = end_keeping(&mini, err);
    if (!code) code = end_track(&mini, err);
    ids_idmap_done(&mini.names);
    free(text);
    return code;
}

static int mini_bid(const uint8_t *head, size_t length, int *more) {
    (void)more;
    return length >= sizeof signature - 1 && !memcmp(head, signature, sizeof signature - 1) ? 100 : 0;
}

static const char *const suffixes[] = {NULL}; /* named one by one, never looked for in folders */

const struct ids_format ids_mini_format = {
    .name = "mini",
    .title = "idsprof's text form of a profile, for tests",
    .form = "mini",
    .suffixes = suffixes,
    .bid = mini_bid,
    .streams = 0,
    .read = mini_read,
};
