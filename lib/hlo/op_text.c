#include "lib/hlo/op_text.h"

#include "lib/base/keymap.h"
#include "lib/hlo/element.h"

#include <string.h>

/* Where the shape begins, behind "%name = "; 0 when the text is no op. */
static size_t body_of(struct ids_text text) {
    if (!text.length || text.at[0] != '%') return 0;
    const char *equals = memmem(text.at, text.length, " = ", 3);
    return equals ? (size_t)(equals - text.at) + 3 : 0;
}

const char *ids_hlo_text_body(struct ids_text text) {
    size_t at = body_of(text);
    return at ? text.at + at : NULL;
}

/* The place behind the brace that closes the one at `at`, strings passed over. */
static size_t behind_brace(struct ids_text text, size_t at) {
    size_t depth = 0;
    for (int quoted = 0; at < text.length; at++) {
        char c = text.at[at];
        if (c == '"' && text.at[at - 1] != '\\') quoted = !quoted;
        if (quoted) continue;
        depth += c == '{';
        if (c == '}' && !--depth) return at + 1;
    }
    return text.length;
}

/* The parts of the tuple that begins at `at`; 0: it is none. */
static size_t parts_at(struct ids_text text, size_t at) {
    size_t depth = 0, count = text.at[at] == '(';
    for (; count && at < text.length; at++) {
        char c = text.at[at];
        depth += c == '(' || c == '[' || c == '{';
        depth -= c == ')' || c == ']' || c == '}';
        if (!depth) break;
        count += c == ',' && depth == 1;
    }
    return count;
}

size_t ids_hlo_text_shape(struct ids_text text, char shape[IDS_HLO_TEXT_SHAPE]) {
    size_t at = body_of(text), length = 0, depth = 0, begin = at;
    if (!at) return 0;
    while (at < text.length && (depth || text.at[at] != ' ')) {
        char c = text.at[at];
        if (c == '{') {
            at = behind_brace(text, at);
            continue;
        }
        if (length == IDS_HLO_TEXT_SHAPE - 1) {
            shape[length] = '\0';
            ids_hlo_shape_cut(shape, parts_at(text, begin));
            return length;
        }
        depth += c == '(';
        depth -= c == ')' && depth;
        shape[length++] = c;
        at++;
    }
    shape[length] = '\0';
    return length;
}

static int is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
}

/* "metadata={", "backend_config={" and the like, which say how and not what. */
static int is_aside(struct ids_text text, size_t brace) {
    static const char *const words[] = {
        "metadata=", "backend_config=", "control-predecessors=", "frontend_attributes=", "sharding="};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if (brace >= length && !memcmp(text.at + brace - length, words[i], length)) return 1;
    }
    return 0;
}

uint64_t ids_hlo_text_fingerprint(struct ids_text text) {
    size_t at = body_of(text), name = 1;
    if (!at) return 0;
    while (name < at && is_name(text.at[name])) name++;
    while (name > 1 && ((text.at[name - 1] >= '0' && text.at[name - 1] <= '9') || text.at[name - 1] == '.')) name--;
    uint64_t hash = ids_hash_bytes(text.at, name);
    for (size_t from = at; at < text.length;) {
        char c = text.at[at];
        int layout = c == '{' && (text.at[at - 1] == ']' || text.at[at - 1] == ')');
        if (c != '%' && !layout && !(c == '{' && is_aside(text, at)) && at + 1 < text.length) {
            at++;
            continue;
        }
        hash = ids_key_of(hash, ids_hash_bytes(text.at + from, at - from));
        if (c == '{') {
            /* Of a layout only the memory counts: S(5) is the host's, and a copy there is another copy. */
            size_t end = behind_brace(text, at);
            const char *space = layout ? memmem(text.at + at, end - at, "S(", 2) : NULL;
            if (space) hash = ids_key_of(hash, ids_hash_bytes(space, 3));
            at = end;
        } else {
            for (at++; at < text.length && is_name(text.at[at]);) at++;
        }
        from = at;
    }
    return hash;
}

/* ---- shapes with layouts ---- */

int ids_hlo_array_shape(const char **at, const char *end, int64_t *ret_bytes, int *ret_on_host) {
    const char *type = *at;
    while (*at < end && **at != '[') ++*at;
    if (*at == end) return -1;
    int bits = ids_hlo_element_bits_named((struct ids_text){type, (uint32_t)(*at - type)});
    uint64_t count = 1, extent = 0;
    int digits = 0;
    for (++*at; *at < end; ++*at) {
        if (**at >= '0' && **at <= '9') {
            if (extent > INT32_MAX)
                bits = -1; /* no real dimension is that long */
            else
                extent = extent * 10 + (uint64_t)(**at - '0');
            digits = 1;
        } else if (**at == ',' || **at == ']') {
            if (digits && __builtin_mul_overflow(count, extent, &count)) bits = -1;
            extent = 0;
            digits = 0;
            if (**at == ']') break;
        }
    }
    if (*at == end) return -1;
    ++*at;
    *ret_bytes = ids_hlo_element_bytes(count, bits);
    *ret_on_host = 0;
    if (*at < end && **at == '{') {
        const char *layout = *at;
        while (*at < end && **at != '}') ++*at;
        for (const char *c = layout; c + 4 <= *at; c++) *ret_on_host |= !memcmp(c, "S(5)", 4);
        if (*at < end) ++*at;
    }
    return 0;
}
