#include "lib/run/kept_like.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int64_t median_of(const struct ids_missed_step *steps, size_t count) {
    int64_t *times = calloc(count + 1, sizeof *times), median_ns = 0;
    for (size_t i = 0; times && i < count; i++) times[i] = steps[i].took_ns;
    if (times && count) qsort(times, count, sizeof *times, by_value);
    if (times && count) median_ns = times[count / 2];
    free(times);
    return median_ns;
}

/* By its number and, because several processes have steps of this number, by its time, which the history has with less
 * precision. */
static int is_it(const struct ids_kept *kept, const struct ids_missed_step *step) {
    int64_t apart_ns = step->took_ns - kept->took_ns;
    return step->number == kept->step && apart_ns <= kept->took_ns / 100 && apart_ns >= -kept->took_ns / 100;
}

int ids_kept_like_find(const struct ids_kept *kept, const struct ids_missed_step *steps, size_t count,
                       struct ids_kept_like *ret_like) {
    struct ids_kept_like like = {.steps = count};
    int64_t median_ns = median_of(steps, count);
    int is_there = 0;
    for (size_t i = 0; i < count; i++) {
        like.total_ns += (double)steps[i].took_ns;
        is_there |= kept->took_ns > 0 && is_it(kept, &steps[i]);
        if (steps[i].took_ns < kept->took_ns - kept->took_ns / 2) continue;
        like.like++;
        if (steps[i].took_ns > median_ns) like.longer_ns += (double)(steps[i].took_ns - median_ns);
    }
    *ret_like = like;
    return is_there;
}

void ids_kept_like_tell(const struct ids_kept_like *like, struct ids_report *report) {
    char text[IDS_VALUE_ROOM];
    const struct ids_value share = ids_real_value(IDS_UNIT_RATIO, like->longer_ns / like->total_ns);
    const char *lost = ids_value_format(share, text, sizeof text);
    const char *said =
        like->like > 1
            ? ids_report_text(report, "%zu of %zu steps took half as long or longer: they lose %s of the run",
                              like->like, like->steps, lost)
            : ids_report_text(report, "no other of %zu steps took half as long: it loses %s of the run", like->steps,
                              lost);
    ids_report_property(report, "kept_like", ids_text_value(said));
}
