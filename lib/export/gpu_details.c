#include "lib/export/gpu_details.h"

#include "lib/model/classify.h"
#include "lib/model/facts.h"
#include "lib/model/keys.h"
#include "lib/wire/json_put.h"

#include <ctype.h>

int ids_gpu_is_stream_name(struct ids_text name) {
    return ids_text_begins(name, "Stream #");
}

int ids_gpu_stream_number(struct ids_text name, int64_t *ret_number) {
    static const char *const words[] = {"stream ", "thread "};
    const int is_named = ids_gpu_is_stream_name(name);
    size_t at = is_named ? strlen("Stream #") : strlen(words[0]);
    if (!is_named && !ids_text_begins(name, words[0]) && !ids_text_begins(name, words[1])) return 0;
    const int negative = is_named && at < name.length && name.at[at] == '-';
    size_t first = at += (size_t)negative;
    int64_t number = 0;
    for (; at < name.length && name.at[at] >= '0' && name.at[at] <= '9' && number < INT64_MAX / 100; at++)
        number = number * 10 + (name.at[at] - '0');
    if (at == first) return 0;
    while (at < name.length && name.at[at] == ' ') at++;
    *ret_number = negative ? -number : number;
    return at == name.length || (is_named && name.at[at] == '(');
}

/* ---- pieces: "key:value" ---- */

static void put_key(struct ids_buffer *text, const char *key) {
    if (text->length) ids_buffer_byte(text, ' ');
    ids_buffer_put(text, key, strlen(key));
    ids_buffer_byte(text, ':');
}

static void put_number(struct ids_buffer *text, const char *key, int64_t value) {
    put_key(text, key);
    ids_json_put_int(text, value);
}

/* "[8,1,1]" and "[8, 1, 1]" without brackets and spaces. */
static void put_triple(struct ids_buffer *text, const char *key, struct ids_text triple) {
    put_key(text, key);
    for (size_t i = 0; i < triple.length; i++) {
        char c = triple.at[i];
        if ((c >= '0' && c <= '9') || c == ',') ids_buffer_byte(text, c);
    }
}

static struct ids_text chars_of(const struct ids_strings *strings, const struct ids_arg *arg) {
    if (arg->type == IDS_VALUE_TEXT) return ids_strings_text(strings, arg->text);
    if (arg->type == IDS_VALUE_CHARS) return (struct ids_text){arg->chars, arg->length};
    return (struct ids_text){"", 0};
}

static int is_count(const struct ids_arg *arg) {
    return (arg->type == IDS_VALUE_INT || arg->type == IDS_VALUE_UINT) && arg->i >= 0;
}

/* ---- what the event is ---- */

static enum ids_gpu_work work_of(struct ids_text name) {
    switch (ids_direction_of_name(name)) {
    case IDS_MEMSET:
        return IDS_GPU_SET;
    case IDS_H2D:
        return IDS_GPU_H2D;
    case IDS_D2H:
        return IDS_GPU_D2H;
    case IDS_D2D:
        return IDS_GPU_D2D;
    case IDS_P2P:
        return IDS_GPU_P2P;
    case IDS_NO_DIRECTION:
        return ids_text_begins(name, "Memcpy") ? IDS_GPU_OTHER_COPY : IDS_GPU_KERNEL;
    default:
        return IDS_GPU_OTHER_COPY;
    }
}

/* Of "Memcpy HtoD (Pageable -> Device)" the words in brackets, as XLA's tracer spells them. */
static void put_places(struct ids_text name, struct ids_buffer *text) {
    const char *open = name.length ? memchr(name.at, '(', name.length) : NULL;
    const char *arrow = open ? memmem(open, (size_t)(name.at + name.length - open), " -> ", 4) : NULL;
    const char *close = arrow ? memchr(arrow, ')', (size_t)(name.at + name.length - arrow)) : NULL;
    if (!close) return;
    put_key(text, "kind_src");
    for (const char *c = open + 1; c < arrow; c++) ids_buffer_byte(text, (char)tolower((unsigned char)*c));
    put_key(text, "kind_dst");
    for (const char *c = arrow + 4; c < close; c++) ids_buffer_byte(text, (char)tolower((unsigned char)*c));
}

static void put_kernel(const struct ids_strings *strings, const struct ids_arg *arg, struct ids_buffer *text) {
    switch (arg->key) {
    case IDS_KEY_REGISTERS_PER_THREAD:
        if (is_count(arg)) put_number(text, "regs", arg->i);
        break;
    case IDS_KEY_SHARED_MEMORY:
        if (is_count(arg)) put_number(text, "static_shared", arg->i);
        break;
    case IDS_KEY_GRID:
        put_triple(text, "grid", chars_of(strings, arg));
        break;
    case IDS_KEY_BLOCK:
        put_triple(text, "block", chars_of(strings, arg));
        break;
    case IDS_KEY_ACHIEVED_OCCUPANCY:
        if (is_count(arg)) put_number(text, "occ_pct", arg->i);
        break;
    default:
        break;
    }
}

uint32_t ids_gpu_details(const struct ids_strings *strings, struct ids_key_spellings *spellings, struct ids_text name,
                         int64_t stream, const struct ids_slice *slice, struct ids_buffer *text,
                         enum ids_gpu_work *ret_work) {
    enum ids_gpu_work work = *ret_work = work_of(name);
    uint32_t key = work == IDS_GPU_KERNEL ? IDS_KEY_KERNEL_DETAILS
                   : work == IDS_GPU_SET  ? IDS_KEY_MEMSET_DETAILS
                                          : IDS_KEY_MEMCPY_DETAILS;
    text->length = 0;
    if (key == IDS_KEY_MEMCPY_DETAILS) put_places(name, text);
    for (uint32_t i = 0; i < slice->arg_count; i++) {
        struct ids_arg spelt = slice->args[i];
        const struct ids_arg *arg = &spelt;
        spelt.key = ids_key_spelt(spellings, strings, spelt.key);
        if (arg->key == IDS_KEY_KERNEL_DETAILS || arg->key == IDS_KEY_MEMCPY_DETAILS ||
            arg->key == IDS_KEY_MEMSET_DETAILS)
            return 0;
        if (key == IDS_KEY_KERNEL_DETAILS)
            put_kernel(strings, arg, text);
        else if (arg->key == IDS_KEY_BYTES && is_count(arg))
            put_number(text, key == IDS_KEY_MEMSET_DETAILS ? "num_bytes" : "size", arg->i);
    }
    if (!text->length) put_number(text, "stream", stream); /* XProf takes an event without details for no kernel */
    return key;
}

void ids_gpu_stream_name(int64_t stream, unsigned works, struct ids_buffer *text) {
    static const char *const names[] = {"Kernel",    "MemcpyH2D", "MemcpyD2H", "MemcpyD2D",
                                        "MemcpyP2P", "Memcpy",    "Memset"};
    IDS_BUFFER_PUT(text, "Stream #");
    ids_json_put_int(text, stream);
    const char *before = "(";
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(works >> i & 1)) continue;
        ids_buffer_put(text, before, 1);
        ids_buffer_put(text, names[i], strlen(names[i]));
        before = ",";
    }
    if (*before == ',') ids_buffer_byte(text, ')');
}
