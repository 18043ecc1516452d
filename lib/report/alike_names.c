#include "lib/report/alike_names.h"

#include "lib/base/intern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The end of a number that may count: "conv2d" has none. */
static const char *number_end(const char *at) {
    const char *end = at;
    while (*end >= '0' && *end <= '9') end++;
    return end == at || isalpha((unsigned char)*end) ? NULL : end;
}

uint64_t ids_hash_without_numbers(const char *text) {
    uint64_t key = 1;
    for (const char *at = text; *at;) {
        const char *end = number_end(at);
        key = (key ^ (unsigned char)(end ? '*' : *at)) * 0x100000001b3u;
        /* The rest of a number that does not count is no number of its own. */
        if (!end && *at >= '0' && *at <= '9') {
            while (at[1] >= '0' && at[1] <= '9') key = (key ^ (unsigned char)*++at) * 0x100000001b3u;
        }
        at = end ? end : at + 1;
    }
    return ids_key_of(key, 1);
}

const char *ids_without_numbers(struct ids_report *report, const char *text) {
    char *copy = malloc(strlen(text) + 1), *to = copy;
    if (!copy) {
        report->out_of_memory = 1;
        return NULL;
    }
    for (const char *at = text; *at;) {
        const char *end = number_end(at);
        if (end) {
            *to++ = '*';
            at = end;
            continue;
        }
        do *to++ = *at++;
        while (at[-1] >= '0' && at[-1] <= '9' && *at >= '0' && *at <= '9');
    }
    *to = '\0';
    const char *kept = ids_report_text(report, "%s", copy);
    free(copy);
    return kept;
}

/* "fusion." of "fusion.12" and "fusion.17": not into a number. */
static size_t same_beginning(const struct ids_alike_names *alike, const char *name) {
    size_t length = 0;
    while (length < alike->same_name && name[length] == alike->name[length]) length++;
    while (length && name[length - 1] >= '0' && name[length - 1] <= '9') length--;
    return length;
}

void ids_alike_add(struct ids_alike_names *alike, const char *name, const char *place) {
    if (!alike->count++) {
        alike->name = name;
        alike->place = place;
        alike->same_name = strlen(name);
        return;
    }
    if (strcmp(alike->name, name) != 0) alike->same_name = same_beginning(alike, name);
    if (!strcmp(alike->place, place)) return;
    alike->places_differ = 1;
    alike->places_unlike |= ids_hash_without_numbers(alike->place) != ids_hash_without_numbers(place);
}

const char *ids_alike_name(struct ids_report *report, const struct ids_alike_names *alike) {
    int differ = alike->same_name && alike->name[alike->same_name]; /* a * alone would say nothing */
    return differ ? ids_report_text(report, "%.*s*", (int)alike->same_name, alike->name) : alike->name;
}

const char *ids_alike_place(struct ids_report *report, const struct ids_alike_names *alike) {
    int numbers = alike->places_differ && !alike->places_unlike;
    return numbers ? ids_without_numbers(report, alike->place) : alike->place;
}

const char *ids_common_scope(struct ids_report *report, const char *one, const char *other) {
    const char *left = ids_without_numbers(report, one), *right = ids_without_numbers(report, other);
    size_t length = 0, whole = 0;
    if (!left || !right) return NULL;
    for (;; length++) {
        int left_ends = !left[length] || left[length] == '/', right_ends = !right[length] || right[length] == '/';
        if (left_ends && right_ends) whole = length;
        if (left[length] != right[length] || !left[length]) break;
    }
    return whole ? ids_report_text(report, "%.*s", (int)whole, left) : NULL;
}
