#include "formats/chrome_pairs.h"

#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* Profilers of this field write whole slices (X); a file of nothing but begins and ends may have five million of
 * them. */
enum { TEXT_LIMIT = 512 << 20 };

void ids_chrome_pairs_done(struct ids_chrome_pairs *pairs) {
    free(pairs->marks);
    free(pairs->text);
    *pairs = (struct ids_chrome_pairs){0};
}

int ids_chrome_pairs_add(struct ids_chrome_pairs *pairs, const struct ids_chrome_mark *mark, const char *text,
                         size_t length, struct ids_error *err) {
    if (length > TEXT_LIMIT - pairs->text_used)
        return ids_fail(err, IDS_LIMIT, "more than %d MiB of begin and end events", TEXT_LIMIT >> 20);
    if (pairs->text_room - pairs->text_used < length) {
        size_t room = pairs->text_used + length + pairs->text_room / 2 + 4096;
        char *grown = realloc(pairs->text, room);
        if (!grown) return ids_no_memory(err);
        pairs->text = grown;
        pairs->text_room = room;
    }
    struct ids_chrome_mark *added = IDS_PUSH(pairs->marks, pairs->count, pairs->room);
    if (!added) return ids_no_memory(err);
    *added = *mark;
    added->text_at = (uint32_t)pairs->text_used;
    added->text_length = (uint32_t)length;
    memcpy(pairs->text + pairs->text_used, text, length);
    pairs->text_used += length;
    return 0;
}

/* By group and time. Events of the same time keep the order of the file, which is the order of their text. */
static int by_group_and_time(const void *a, const void *b) {
    const struct ids_chrome_mark *left = a, *right = b;
    if (left->group != right->group) return left->group < right->group ? -1 : 1;
    if (left->ps != right->ps) return left->ps < right->ps ? -1 : 1;
    return left->text_at < right->text_at ? -1 : left->text_at > right->text_at;
}

struct matching {
    ids_chrome_pair_fn *pair;
    void *context;
    size_t *open; /* indices of begun marks, the innermost last */
    size_t open_count, open_room;
    uint64_t without_begin;
};

static int match_group(const struct ids_chrome_mark *marks, size_t count, struct matching *matching,
                       struct ids_error *err) {
    int code = 0;
    for (size_t i = 0; i < count && !code; i++) {
        const struct ids_chrome_mark *mark = &marks[i];
        if (mark->phase == 'B') {
            size_t *open = IDS_PUSH(matching->open, matching->open_count, matching->open_room);
            if (!open) return ids_no_memory(err);
            *open = i;
        } else if (mark->phase != 'E') {
            code = matching->pair(matching->context, mark, mark, err);
        } else if (matching->open_count) {
            code = matching->pair(matching->context, &marks[matching->open[--matching->open_count]], mark, err);
        } else {
            matching->without_begin++;
        }
    }
    while (matching->open_count && !code)
        code = matching->pair(matching->context, &marks[matching->open[--matching->open_count]], NULL, err);
    matching->open_count = 0;
    return code;
}

int ids_chrome_pairs_match(struct ids_chrome_pairs *pairs, ids_chrome_pair_fn *pair, void *context,
                           uint64_t *ret_without_begin, struct ids_error *err) {
    struct matching matching = {.pair = pair, .context = context};
    int code = 0;
    if (pairs->count) qsort(pairs->marks, pairs->count, sizeof *pairs->marks, by_group_and_time);
    for (size_t from = 0, to; from < pairs->count && !code; from = to) {
        for (to = from + 1; to < pairs->count && pairs->marks[to].group == pairs->marks[from].group;) to++;
        code = match_group(pairs->marks + from, to - from, &matching, err);
    }
    free(matching.open);
    *ret_without_begin = matching.without_begin;
    return code;
}
