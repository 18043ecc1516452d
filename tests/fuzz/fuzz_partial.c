/* fuzz_partial.c - damaged partials, the whole way to a report.
 *
 * An input is a mini trace, a zero byte, and damage: four bytes each, two of them a place. The partial is made of the
 * trace by this program, so that inputs outlive changes of its layout, and then damaged behind its head, as somebody
 * would who packs it again with a good checksum. It is loaded once, and, where the input's length is odd, twice.
 */
#include "lib/model/partial.h"
#include "tests/fuzz/whole_way.h"

extern const struct ids_format ids_mini_format;
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { DAMAGE_BYTES = 4 };

static void damage(struct ids_buffer *partial, const uint8_t *at) {
    const char *line = memchr(partial->at, '\n', partial->length);
    const char *second = line ? memchr(line + 1, '\n', partial->length - (size_t)(line + 1 - partial->at)) : NULL;
    size_t head = second ? (size_t)(second + 1 - partial->at) : 0, rest = partial->length - head;
    if (!rest) return;
    size_t place = head + ((size_t)at[0] << 8 | at[1]) % rest;
    switch (at[2] % 4) {
    case 0:
        partial->at[place] = (char)at[3];
        break;
    case 1:
        partial->at[place] = (char)(partial->at[place] ^ (1 << at[3] % 8));
        break;
    case 2: /* a byte more: what is behind it moves */
        ids_buffer_byte(partial, 0);
        if (partial->failed) return;
        memmove(partial->at + place + 1, partial->at + place, partial->length - place - 1);
        partial->at[place] = (char)at[3];
        break;
    default: /* a byte less */
        memmove(partial->at + place, partial->at + place + 1, partial->length - place - 1);
        partial->length--;
    }
}

static int make(const uint8_t *bytes, size_t length, struct ids_buffer *partial) {
    const struct ids_partial_of of = {.path = "/a/b.mini", .stem = "b", .format = "mini", .bytes = length};
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_builder *builder;
    if (ids_builder_new(&builder, &err)) return -1;
    fuzzed = &ids_mini_format;
    int code = read_into(bytes, length, ids_builder_sink(builder), &err);
    if (!code) code = ids_partial_write(builder, &of, partial, &err);
    ids_builder_free(builder);
    return code;
}

static void load(const struct ids_buffer *partial, int times) {
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_builder *builder;
    struct ids_trace *trace;
    struct ids_params params;
    const char *format;
    int code = ids_builder_new(&builder, &err);
    if (code) return;
    struct ids_sink *sink = ids_builder_sink(builder);
    if (times > 1) sink->file_name = ids_intern_z(sink->strings, "several");
    for (int i = 0; i < times && !code; i++)
        code = ids_partial_load(builder, partial->at, partial->length, &format, &err);
    if (!code) code = ids_builder_finish(builder, &trace, &err);
    if (code) {
        check_error(code, &err);
        ids_builder_free(builder);
        return;
    }
    ids_params_default(&params);
    analyze(trace, &params);
    ids_trace_free(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const uint8_t *zero = memchr(bytes, 0, length);
    size_t trace = zero ? (size_t)(zero - bytes) : length;
    struct ids_buffer partial = {0};
    if (!make(bytes, trace, &partial) && !partial.failed) {
        for (size_t at = trace + 1; at + DAMAGE_BYTES <= length; at += DAMAGE_BYTES) damage(&partial, bytes + at);
        if (!partial.failed) load(&partial, 1 + (int)(length % 2));
    }
    ids_buffer_done(&partial);
    return 0;
}
