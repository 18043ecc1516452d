/* run_merge.h - a sort for what comes mostly in order, or as a few ordered runs, as the events of a file do.
 *
 *   IDS_DEFINE_RUN_MERGE(sort_things, struct thing, thing_before)
 *   sort_things(&things, &spare, count);
 *
 * Stable bottom-up merge of natural runs. `at` and `spare` have room for `count` elements each and change places as
 * needed; the result is in `at`. before(a, b) says whether *a must come before *b. */
#ifndef IDS_LIB_BASE_RUN_MERGE_H
#define IDS_LIB_BASE_RUN_MERGE_H

#include <stddef.h>

#define IDS_DEFINE_RUN_MERGE(function, element, before)                                                \
    static void function(element **at, element **spare, size_t count) {                                \
        for (;;) {                                                                                     \
            element *from = *at, *to = *spare;                                                         \
            size_t out = 0, runs = 0;                                                                  \
            for (size_t a = 0; a < count;) {                                                           \
                size_t b = a + 1;                                                                      \
                while (b < count && !before(&from[b], &from[b - 1])) b++;                              \
                size_t c = b < count ? b + 1 : b;                                                      \
                while (c < count && !before(&from[c], &from[c - 1])) c++;                              \
                size_t i = a, j = b;                                                                   \
                while (i < b && j < c) to[out++] = before(&from[j], &from[i]) ? from[j++] : from[i++]; \
                while (i < b) to[out++] = from[i++];                                                   \
                while (j < c) to[out++] = from[j++];                                                   \
                a = c;                                                                                 \
                runs++;                                                                                \
            }                                                                                          \
            *at = to;                                                                                  \
            *spare = from;                                                                             \
            if (runs <= 1) return;                                                                     \
        }                                                                                              \
    }

#endif
