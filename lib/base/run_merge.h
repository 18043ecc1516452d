/* run_merge.h - a sort for what comes mostly in order, or as a few ordered runs, as the events of a file do.
 *
 *   IDS_DEFINE_RUN_MERGE(sort_things, struct thing, thing_before)
 *   sort_things(&things, &spare, count);
 *
 * Stable. Elements that come late in what is in order otherwise, as an annotation that is written when it ends, are
 * taken out, put in order by themselves, and merged into the rest; what is not like that is merged bottom-up by its
 * natural runs. `at` and `spare` have room for `count` elements each and change places as needed; the result is in
 * `at`. before(a, b) says whether *a must come before *b. */
#ifndef IDS_LIB_BASE_RUN_MERGE_H
#define IDS_LIB_BASE_RUN_MERGE_H

#include <stddef.h>
#include <string.h>

enum { IDS_FEW_ARE_LATE = 8 }; /* one of so many */

#define IDS_DEFINE_RUN_MERGE(function, element, before)                                                        \
    static void function##_two(const element *a, const element *a_end, const element *b, const element *b_end, \
                               element *to) {                                                                  \
        while (a < a_end && b < b_end) *to++ = before(b, a) ? *b++ : *a++;                                     \
        while (a < a_end) *to++ = *a++;                                                                        \
        while (b < b_end) *to++ = *b++;                                                                        \
    }                                                                                                          \
    static void function##_runs(element **at, element **spare, size_t count) {                                 \
        for (;;) {                                                                                             \
            element *from = *at, *to = *spare;                                                                 \
            size_t runs = 0;                                                                                   \
            for (size_t a = 0; a < count;) {                                                                   \
                size_t b = a + 1;                                                                              \
                while (b < count && !before(&from[b], &from[b - 1])) b++;                                      \
                size_t c = b < count ? b + 1 : b;                                                              \
                while (c < count && !before(&from[c], &from[c - 1])) c++;                                      \
                function##_two(from + a, from + b, from + b, from + c, to + a);                                \
                a = c;                                                                                         \
                runs++;                                                                                        \
            }                                                                                                  \
            *at = to;                                                                                          \
            *spare = from;                                                                                     \
            if (runs <= 1) return;                                                                             \
        }                                                                                                      \
    }                                                                                                          \
    static void function(element **at, element **spare, size_t count) {                                        \
        element *from = *at, *late = *spare;                                                                   \
        size_t kept = 0, lates = 0;                                                                            \
        for (size_t i = 1, last = 0; i < count && lates <= count / IDS_FEW_ARE_LATE; i++) {                    \
            if (before(&from[i], &from[last]))                                                                 \
                lates++;                                                                                       \
            else                                                                                               \
                last = i;                                                                                      \
        }                                                                                                      \
        if (!lates) return;                                                                                    \
        if (lates > count / IDS_FEW_ARE_LATE) {                                                                \
            function##_runs(at, spare, count);                                                                 \
            return;                                                                                            \
        }                                                                                                      \
        lates = 0;                                                                                             \
        for (size_t i = 0; i < count; i++) {                                                                   \
            if (kept && before(&from[i], &from[kept - 1]))                                                     \
                late[lates++] = from[i];                                                                       \
            else                                                                                               \
                from[kept++] = from[i];                                                                        \
        }                                                                                                      \
        element *room = from + kept;                                                                           \
        function##_runs(&late, &room, lates);                                                                  \
        if (late == *spare) memcpy(from + kept, late, lates * sizeof *late);                                   \
        function##_two(from, from + kept, from + kept, from + count, *spare);                                  \
        *at = *spare;                                                                                          \
        *spare = from;                                                                                         \
    }

#endif
