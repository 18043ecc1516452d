#include "lib/redact/redacting.h"

#include "lib/base/idmap.h"
#include "lib/base/vec.h"
#include "lib/model/keys.h"
#include "lib/model/passing.h"
#include "lib/redact/hlo.h"
#include "lib/wire/pb_writer.h"

#include <stdlib.h>

struct ids_redacting {
    struct ids_passing passing; /* first, so that the sink is it */
    struct ids_redactor *redactor;
    struct ids_idmap done;     /* (text, kind) -> what it became */
    struct ids_buffer scratch; /* of one text */
    struct ids_buffer chars;   /* of the texts of one call that are not interned */
    struct ids_arg *args;
    size_t arg_room;
};

static struct ids_redacting *of(struct ids_sink *sink) {
    return (struct ids_redacting *)sink;
}

/* What an interned text becomes; IDS_NO_TEXT when memory ran out. */
static uint32_t redacted(struct ids_redacting *redacting, uint32_t text, enum ids_redacted_kind kind) {
    uint64_t key = (uint64_t)text * IDS_REDACT_KINDS + kind;
    if (!text) return 0;
    uint32_t known = ids_idmap_get(&redacting->done, key);
    if (known != IDS_IDMAP_NONE) return known;
    struct ids_strings *strings = redacting->passing.sink.strings;
    redacting->scratch.length = 0;
    ids_redact(redacting->redactor, ids_strings_text(strings, text), kind, &redacting->scratch);
    if (redacting->scratch.failed) return IDS_NO_TEXT;
    uint32_t result = ids_intern(strings, redacting->scratch.at, redacting->scratch.length);
    if (result == IDS_NO_TEXT || ids_idmap_set(&redacting->done, key, result)) return IDS_NO_TEXT;
    return result;
}

static int redact_id(struct ids_redacting *redacting, uint32_t *text, enum ids_redacted_kind kind) {
    *text = redacted(redacting, *text, kind);
    return -(*text == IDS_NO_TEXT);
}

/* ---- stats ---- */

/* Stats whose text idsprof does not read and that say nothing private. Of others nobody knows what they say: arguments
 * ("Python args"), descriptions, whatever a program adds. */
static int is_harmless(struct ids_text key) {
    static const char *const keys[] = {
        "Call stack",
        "In split size",
        "Input Dims",
        "Input Strides",
        "Input type",
        "Module Hierarchy",
        "Out split size",
        "Trace name",
        "_src",
        "bp",
        "device",
        "device_id",
        "dims",
        "kernel",
        "kernel_name",
        "kind",
        "layout",
        "level 0",
        "process_name",
        "s",
        "source_stack",
        "strides",
        "symbol_type",
        "type",
        "cpu_version",
        "edge_name",
        "func_name",
        "kernel_file",
        "kernel_backend",
        "execution_mode",
        "from",
        "to",
        "Process Group Name",
        "python_version",
        "occupancy_min_grid_size",
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (ids_text_is(key, keys[i])) return 1;
    }
    return 0;
}

static struct ids_text chars_of(const struct ids_redacting *redacting, const struct ids_arg *arg) {
    if (arg->type == IDS_VALUE_TEXT) return ids_strings_text(redacting->passing.sink.strings, arg->text);
    return arg->type == IDS_VALUE_CHARS ? (struct ids_text){arg->chars, arg->length} : (struct ids_text){"", 0};
}

/* Numbers and truth values alone, as the strides of a convolution are: ["","[2, 2]","False"]. */
static int is_plain(struct ids_text text) {
    static const char *const words[] = {"True", "False", "None"};
    for (size_t at = 0; at < text.length;) {
        size_t length = strchr("[]\"\\, .-0123456789", text.at[at]) && text.at[at] ? 1 : 0;
        for (size_t i = 0; !length && i < sizeof words / sizeof *words; i++) {
            size_t word = strlen(words[i]);
            if (text.length - at >= word && !memcmp(text.at + at, words[i], word)) length = word;
        }
        if (!length) return 0;
        at += length;
    }
    return 1;
}

static enum ids_redacted_kind kind_of(struct ids_redacting *redacting, const struct ids_arg *arg) {
    const uint32_t key = arg->key;
    if (key == IDS_KEY_INPUT_VALUES && !is_plain(chars_of(redacting, arg))) return IDS_REDACT_WHOLE;
    if (key >= IDS_KEY_DEVICE_VENDOR && key < IDS_KEY_HLO_PROTO) return IDS_REDACT_TEXT; /* the device, versions */
    if (key == IDS_KEY_SOURCE) return IDS_REDACT_SOURCE;
    if (key == IDS_KEY_INPUT_VALUES) return IDS_REDACT_LIST;
    if (key < IDS_KEY_COUNT || is_harmless(ids_strings_text(redacting->passing.sink.strings, key)))
        return IDS_REDACT_VALUE;
    return IDS_REDACT_WHOLE;
}

/* Of a message that nobody knows here, the numbers. */
static void put_options(const struct ids_arg *arg, struct ids_buffer *out) {
    struct ids_pb bytes = {(const uint8_t *)arg->chars, (const uint8_t *)arg->chars + arg->length};
    struct ids_pb_field field;
    while (ids_pb_next(&bytes, &field) > 0) {
        if (field.wire == IDS_PB_VARINT) ids_pb_put_uint(out, field.number, field.value);
    }
}

/* Appends the bytes of the arg to `chars`; none of those that nobody knows here. */
static void put_chars(struct ids_redacting *redacting, const struct ids_arg *arg) {
    struct ids_buffer *out = &redacting->chars;
    if (arg->type == IDS_VALUE_CHARS)
        ids_redact(redacting->redactor, (struct ids_text){arg->chars, arg->length}, kind_of(redacting, arg), out);
    else if (arg->key == IDS_KEY_HLO_PROTO || arg->key == IDS_KEY_HLO_PROTO_OLD)
        ids_redact_program(redacting->redactor, arg->chars, arg->length, out);
    else if (arg->key == IDS_KEY_PROFILE_OPTIONS)
        put_options(arg, out);
}

static int has_chars(const struct ids_arg *arg) {
    return arg->type == IDS_VALUE_CHARS || arg->type == IDS_VALUE_BYTES;
}

static int redact_arg(struct ids_redacting *redacting, struct ids_arg *arg) {
    size_t before = redacting->chars.length;
    if (has_chars(arg)) put_chars(redacting, arg);
    if (has_chars(arg)) arg->length = (uint32_t)(redacting->chars.length - before);
    if (arg->type == IDS_VALUE_TEXT && redact_id(redacting, &arg->text, kind_of(redacting, arg))) return -1;
    return arg->key < IDS_KEY_COUNT ? 0 : redact_id(redacting, &arg->key, IDS_REDACT_TEXT);
}

/* A copy of the args in redacting->args. */
static int redact_args(struct ids_redacting *redacting, const struct ids_arg *args, size_t count,
                       struct ids_error *err) {
    size_t copied = 0, at = 0;
    redacting->chars.length = 0;
    while (copied < count) {
        struct ids_arg *copy = IDS_PUSH(redacting->args, copied, redacting->arg_room);
        if (!copy) return ids_no_memory(err);
        *copy = args[copied - 1];
        if (redact_arg(redacting, copy)) return ids_no_memory(err);
    }
    if (redacting->chars.failed) return ids_no_memory(err);
    for (size_t i = 0; i < copied; i++) { /* now that `chars` does not move any more */
        struct ids_arg *arg = &redacting->args[i];
        if (!has_chars(arg)) continue;
        arg->chars = arg->length ? redacting->chars.at + at : "";
        at += arg->length;
    }
    return 0;
}

/* ---- the sink ---- */

static int redact_host(struct ids_sink *sink, const struct ids_host_info *host, struct ids_error *err) {
    struct ids_redacting *redacting = of(sink);
    struct ids_host_info passed = *host;
    if (redact_id(redacting, &passed.name, IDS_REDACT_HOST)) return ids_no_memory(err);
    return redacting->passing.next->ops->host(redacting->passing.next, &passed, err);
}

static int redact_plane(struct ids_sink *sink, const struct ids_plane_info *plane, uint32_t *ret_plane,
                        struct ids_error *err) {
    struct ids_redacting *redacting = of(sink);
    struct ids_plane_info passed = *plane;
    int code = redact_args(redacting, plane->args, plane->arg_count, err);
    if (code) return code;
    passed.args = redacting->args;
    if (redact_id(redacting, &passed.name, IDS_REDACT_VALUE)) return ids_no_memory(err);
    return redacting->passing.next->ops->plane(redacting->passing.next, &passed, ret_plane, err);
}

static int redact_name(struct ids_sink *sink, const struct ids_name_info *name, uint32_t *ret_name,
                       struct ids_error *err) {
    struct ids_redacting *redacting = of(sink);
    struct ids_name_info passed = *name;
    int code = redact_args(redacting, name->args, name->arg_count, err);
    if (code) return code;
    passed.args = redacting->args;
    if (redact_id(redacting, &passed.text, IDS_REDACT_NAME) || redact_id(redacting, &passed.display, IDS_REDACT_NAME))
        return ids_no_memory(err);
    return redacting->passing.next->ops->name(redacting->passing.next, &passed, ret_name, err);
}

static int redact_track(struct ids_sink *sink, const struct ids_track_info *track, uint32_t *ret_track,
                        struct ids_error *err) {
    struct ids_redacting *redacting = of(sink);
    struct ids_track_info passed = *track;
    if (redact_id(redacting, &passed.name, IDS_REDACT_NAME)) return ids_no_memory(err);
    return redacting->passing.next->ops->track(redacting->passing.next, &passed, ret_track, err);
}

static int redact_slice(struct ids_sink *sink, uint32_t track, const struct ids_slice *slice, struct ids_error *err) {
    struct ids_redacting *redacting = of(sink);
    struct ids_slice passed = *slice;
    int code = redact_args(redacting, slice->args, slice->arg_count, err);
    if (code) return code;
    passed.args = redacting->args;
    return redacting->passing.next->ops->slice(redacting->passing.next, track, &passed, err);
}

static int redact_hlo(struct ids_sink *sink, const struct ids_instruction_info *instruction, struct ids_error *err) {
    struct ids_redacting *redacting = of(sink);
    struct ids_instruction_info passed = *instruction;
    uint32_t *const names[] = {&passed.module, &passed.name, &passed.op_name, &passed.call_target};
    uint32_t *const texts[] = {&passed.opcode, &passed.groups, &passed.shape, &passed.sharding};
    int failed = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) failed |= redact_id(redacting, names[i], IDS_REDACT_NAME);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) failed |= redact_id(redacting, texts[i], IDS_REDACT_TEXT);
    for (int i = 0; i < passed.parts.count; i++)
        failed |= redact_id(redacting, &passed.parts.at[i].op_name, IDS_REDACT_NAME);
    failed |= redact_id(redacting, &passed.source, IDS_REDACT_SOURCE);
    if (failed || redact_id(redacting, &passed.waste_why, IDS_REDACT_NAME)) return ids_no_memory(err);
    return redacting->passing.next->ops->hlo(redacting->passing.next, &passed, err);
}

/* Its texts are those of the file, and what it was is not known any more. */
static int refuse_partial(struct ids_sink *sink, const void *bytes, size_t length, struct ids_error *err) {
    (void)sink, (void)bytes, (void)length;
    ids_fail(err, IDS_UNSUPPORTED, "a partial cannot be redacted");
    return ids_hint(err, "redact the report of the profile itself");
}

static int redact_values(struct ids_redacting *redacting, const struct ids_program_memory_info *memory,
                         struct ids_program_value *values, struct ids_kept_argument *kept) {
    int failed = 0;
    for (size_t i = 0; i < memory->value_count; i++) {
        values[i] = memory->values[i];
        failed |= redact_id(redacting, &values[i].name, IDS_REDACT_NAME);
        failed |= redact_id(redacting, &values[i].op_name, IDS_REDACT_NAME);
        failed |= redact_id(redacting, &values[i].source, IDS_REDACT_SOURCE);
    }
    for (size_t i = 0; i < memory->kept_count; i++) {
        kept[i] = memory->kept[i];
        failed |= redact_id(redacting, &kept[i].name, IDS_REDACT_NAME);
        failed |= redact_id(redacting, &kept[i].arrays, IDS_REDACT_NAME);
    }
    return failed;
}

static int redact_memory(struct ids_sink *sink, const struct ids_program_memory_info *memory, struct ids_error *err) {
    struct ids_redacting *redacting = of(sink);
    struct ids_program_memory_info passed = *memory;
    struct ids_program_value *values = calloc(memory->value_count + 1, sizeof *values);
    struct ids_kept_argument *kept = calloc(memory->kept_count + 1, sizeof *kept);
    int failed = !values || !kept || redact_values(redacting, memory, values, kept) ||
                 redact_id(redacting, &passed.module, IDS_REDACT_NAME) ||
                 redact_id(redacting, &passed.peak, IDS_REDACT_NAME);
    passed.values = values;
    passed.kept = kept;
    int code =
        failed ? ids_no_memory(err) : redacting->passing.next->ops->memory(redacting->passing.next, &passed, err);
    free(values);
    free(kept);
    return code;
}

static int redact_held(struct ids_sink *sink, const struct ids_held_info *held, struct ids_error *err) {
    struct ids_redacting *redacting = of(sink);
    struct ids_held_info passed = *held;
    struct ids_held_frame frames[IDS_HELD_STACK];
    int failed = redact_id(redacting, &passed.file, IDS_REDACT_HOST);
    if (passed.frame_count > IDS_HELD_STACK) passed.frame_count = IDS_HELD_STACK;
    for (size_t i = 0; i < passed.frame_count; i++) {
        frames[i] = held->frames[i];
        failed |= redact_id(redacting, &frames[i].function, IDS_REDACT_NAME);
        failed |= redact_id(redacting, &frames[i].file, IDS_REDACT_PATH);
    }
    passed.frames = frames;
    if (failed) return ids_no_memory(err);
    return redacting->passing.next->ops->held(redacting->passing.next, &passed, err);
}

static int redact_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *err) {
    struct ids_redacting *redacting = of(sink);
    struct ids_diag passed = *diag;
    redacting->scratch.length = 0;
    if (!strcmp(diag->id, "xplane.profiler_error"))
        IDS_BUFFER_PUT(&redacting->scratch, "the profiler reported an error, whose text is left out");
    else
        ids_redact(redacting->redactor, (struct ids_text){diag->text, (uint32_t)strlen(diag->text)}, IDS_REDACT_TEXT,
                   &redacting->scratch);
    ids_buffer_byte(&redacting->scratch, '\0');
    if (redacting->scratch.failed) return ids_no_memory(err);
    passed.text = redacting->scratch.at;
    return redacting->passing.next->ops->diag(redacting->passing.next, &passed, err);
}

static int redact_program(struct ids_sink *sink, const struct ids_program *program, struct ids_error *err) {
    struct ids_redacting *redacting = of(sink);
    struct ids_program passed = *program;
    redacting->chars.length = 0;
    ids_redact_program(redacting->redactor, program->bytes, program->length, &redacting->chars);
    if (redacting->chars.failed || redact_id(redacting, &passed.name, IDS_REDACT_NAME)) return ids_no_memory(err);
    passed.bytes = redacting->chars.at;
    passed.length = redacting->chars.length;
    return redacting->passing.next->ops->program(redacting->passing.next, &passed, err);
}

static const struct ids_sink_ops redacting_ops = {.host = redact_host,
                                                  .plane = redact_plane,
                                                  .name = redact_name,
                                                  .track = redact_track,
                                                  .slice = redact_slice,
                                                  .hlo = redact_hlo,
                                                  .memory = redact_memory,
                                                  .held = redact_held,
                                                  .diag = redact_diag,
                                                  .program = redact_program,
                                                  .partial = refuse_partial};

int ids_redacting_new(struct ids_sink *next, struct ids_redactor *redactor, struct ids_redacting **ret_redacting,
                      struct ids_error *err) {
    struct ids_redacting *redacting = calloc(1, sizeof *redacting);
    if (!redacting) return ids_no_memory(err);
    ids_passing_init(&redacting->passing, next, &redacting_ops);
    redacting->redactor = redactor;
    *ret_redacting = redacting;
    return 0;
}

struct ids_sink *ids_redacting_sink(struct ids_redacting *redacting) {
    return &redacting->passing.sink;
}

void ids_redacting_free(struct ids_redacting *redacting) {
    if (!redacting) return;
    ids_idmap_done(&redacting->done);
    ids_buffer_done(&redacting->scratch);
    ids_buffer_done(&redacting->chars);
    free(redacting->args);
    free(redacting);
}
