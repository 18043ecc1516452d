/* extract_window.h - the part of a run that --from, --to and --steps name, in the times of each of its files. */
#ifndef IDS_LIB_RUN_EXTRACT_WINDOW_H
#define IDS_LIB_RUN_EXTRACT_WINDOW_H

#include "lib/model/trace.h"

struct ids_extract_window {
    int64_t from_ps, to_ps; /* in the run's times */
    int64_t *shifts_ps;     /* by file: what makes its times the run's */
    size_t shift_count;
};
#define IDS_EXTRACT_WHOLE                        \
    (struct ids_extract_window) {                \
        .from_ps = INT64_MIN, .to_ps = INT64_MAX \
    }

/* `from_ps` and `to_ps` count from the run's first device activity, as in a report: from -1 and to -1 for none.
 * `steps`: "7" or "3-5", or NULL. */
int ids_extract_window_of(const struct ids_trace *trace, int64_t from_ps, int64_t to_ps, const char *steps,
                          struct ids_extract_window *ret_window, struct ids_error *err);
/* The same in the times of one file. */
void ids_extract_window_in(const struct ids_extract_window *window, size_t file, int64_t *ret_from_ps,
                           int64_t *ret_to_ps);
void ids_extract_window_done(struct ids_extract_window *window);

/* "7" or "3-5": 0, or IDS_USAGE. */
int ids_parse_steps(const char *text, int64_t *ret_first, int64_t *ret_last, struct ids_error *err);

#endif
