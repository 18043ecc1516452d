#include "lib/hlo/replica_groups.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { DIMENSIONS = 8 };

struct layout {
    uint64_t groups, members;    /* [groups,members] */
    uint64_t extent[DIMENSIONS]; /* of what the numbers are laid out as */
    unsigned count;
    unsigned order[DIMENSIONS]; /* which of them is which after transposing */
};

/* The numbers of a list at *at, "[2,4]" or "(1,0)", behind which *at is then. How many, 0 where it is none. */
static unsigned read_list(struct ids_text text, size_t *at, char open, char close, uint64_t ret_numbers[DIMENSIONS]) {
    unsigned count = 0;
    uint64_t number = 0;
    int digits = 0;
    if (*at >= text.length || text.at[*at] != open) return 0;
    for (++*at; *at < text.length; ++*at) {
        char c = text.at[*at];
        if (c >= '0' && c <= '9') {
            number = number * 10 + (uint64_t)(c - '0');
            digits = 1;
            if (number > UINT32_MAX) return 0;
            continue;
        }
        if (!digits || count == DIMENSIONS || (c != ',' && c != close)) return 0;
        ret_numbers[count++] = number;
        number = 0;
        digits = 0;
        if (c == close) {
            ++*at;
            return count;
        }
    }
    return 0;
}

static uint64_t product(const uint64_t *numbers, unsigned count) {
    uint64_t all = 1;
    for (unsigned i = 0; i < count; i++) {
        if (__builtin_mul_overflow(all, numbers[i], &all)) return 0;
    }
    return all;
}

/* 1 where the text is of the second form. */
static int read_layout(struct ids_text text, struct layout *ret_layout) {
    uint64_t shape[DIMENSIONS], order[DIMENSIONS];
    size_t at = 0;
    unsigned seen = 0;
    if (read_list(text, &at, '[', ']', shape) != 2 || at + 2 > text.length || text.at[at] != '<' ||
        text.at[at + 1] != '=')
        return 0;
    at += 2;
    ret_layout->count = read_list(text, &at, '[', ']', ret_layout->extent);
    ret_layout->groups = shape[0];
    ret_layout->members = shape[1];
    uint64_t all = product(shape, 2);
    if (!ret_layout->count || !all || product(ret_layout->extent, ret_layout->count) != all) return 0;
    for (unsigned i = 0; i < ret_layout->count; i++) ret_layout->order[i] = i;
    if (at == text.length || text.at[at] != 'T') return 1;
    at++;
    if (read_list(text, &at, '(', ')', order) != ret_layout->count) return 0;
    for (unsigned i = 0; i < ret_layout->count; i++) {
        if (order[i] >= ret_layout->count || seen & 1u << order[i]) return 0;
        seen |= 1u << order[i];
        ret_layout->order[i] = (unsigned)order[i];
    }
    return 1;
}

static uint64_t group_in_layout(const struct layout *layout, uint64_t device) {
    uint64_t place[DIMENSIONS], at = 0;
    if (device >= layout->groups * layout->members) return 0;
    for (unsigned i = layout->count; i-- > 0; device /= layout->extent[i]) place[i] = device % layout->extent[i];
    for (unsigned i = 0; i < layout->count; i++) at = at * layout->extent[layout->order[i]] + place[layout->order[i]];
    return at / layout->members + 1;
}

/* Walks a list of lists: how many numbers it has, and the number of the group that has `device`. */
static uint64_t walk_lists(struct ids_text text, uint64_t device, uint64_t *ret_group) {
    uint64_t members = 0, group = 0, number = 0;
    int digits = 0;
    *ret_group = 0;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.at[i];
        if (c == '{') group++;
        if (c >= '0' && c <= '9') {
            number = number > UINT32_MAX ? number : number * 10 + (uint64_t)(c - '0');
            digits = 1;
            continue;
        }
        if (digits) {
            members++;
            if (number == device && group > 1) *ret_group = group - 1; /* the first brace is that of the list */
        }
        number = 0;
        digits = 0;
    }
    return members;
}

static int is_lists(struct ids_text text) {
    return ids_text_begins(text, "{{");
}

uint64_t ids_replica_groups_members(struct ids_text groups) {
    struct layout layout;
    uint64_t ignored;
    if (is_lists(groups)) return walk_lists(groups, 0, &ignored);
    return read_layout(groups, &layout) ? layout.groups * layout.members : 0;
}

uint64_t ids_replica_group_of(struct ids_text groups, uint64_t device) {
    struct layout layout;
    uint64_t group;
    if (is_lists(groups)) {
        walk_lists(groups, device, &group);
        return group;
    }
    return read_layout(groups, &layout) ? group_in_layout(&layout, device) : 0;
}

/* The numbers up to the bracket that ends the list. */
static int64_t count_list(const char *at, const char *end) {
    int64_t count = 0, number = -1;
    for (; at < end; at++) {
        if (*at == '.') return 0; /* "..." where the writer cut it */
        if (*at == ']' || *at == '}') return count;
        int digit = *at >= '0' && *at <= '9';
        if (digit && number < 0) count++;
        number = !digit ? -1 : number < 0 ? *at - '0' : number * 10 + (*at - '0');
        if (number > INT32_MAX) return 0; /* no job has as many ranks */
    }
    return 0;
}

int64_t ids_replica_group_size(struct ids_text groups) {
    struct layout layout;
    const char *end = groups.at + groups.length;
    if (is_lists(groups)) return count_list(groups.at + 2, end);
    if (!ids_text_begins(groups, "[")) return 0;
    if (read_layout(groups, &layout)) return (int64_t)layout.members;
    return ids_text_contains(groups, "<=") ? 0 : count_list(groups.at + 1, end);
}

/* ---- writing ---- */

__attribute__((format(printf, 2, 3))) static void add(struct ids_group_text *text, const char *format, ...) {
    size_t room = IDS_GROUP_TEXT_BYTES - text->length;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text->at + text->length, room, format, args);
    va_end(args);
    text->length += (size_t)length < room ? (size_t)length : room - 1;
}

static int is_full(const struct ids_group_text *text) {
    return text->length == IDS_GROUP_TEXT_BYTES - 1;
}

static void add_list(struct ids_group_text *text, const int64_t *numbers, size_t count) {
    for (size_t i = 0; i < count && !is_full(text); i++) add(text, i ? ",%" PRId64 : "%" PRId64, numbers[i]);
}

void ids_group_text_add(struct ids_group_text *text, const int64_t *ranks, size_t count) {
    add(text, text->length ? ",{" : "{{");
    add_list(text, ranks, count);
    add(text, "}");
}

void ids_group_text_set_iota(struct ids_group_text *text, int64_t groups, int64_t members, const int64_t *extent,
                             size_t extent_count, const int32_t *order, size_t order_count) {
    text->length = 0;
    add(text, "[%" PRId64 ",%" PRId64 "]<=[", groups, members);
    add_list(text, extent, extent_count);
    add(text, "]");
    int in_order = 1;
    for (size_t i = 0; i < order_count; i++) in_order &= order[i] == (int32_t)i;
    if (in_order) return;
    add(text, "T(");
    for (size_t i = 0; i < order_count && !is_full(text); i++) add(text, i ? ",%" PRId32 : "%" PRId32, order[i]);
    add(text, ")");
}

struct ids_text ids_group_text_end(struct ids_group_text *text) {
    if (!text->length) return (struct ids_text){"", 0};
    if (text->at[0] == '{') add(text, "}");
    if (is_full(text)) memcpy(text->at + IDS_GROUP_TEXT_BYTES - 4, "...", 3);
    return (struct ids_text){text->at, (uint32_t)text->length};
}
