#include "lib/model/replica_groups.h"

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
