#include "lib/compare/fail_on.h"

#include "lib/compare/slice.h"

#include <string.h>

static const char *say(struct ids_diff *diff, const char *what, double change_ps) {
    const char *whole = ids_is_slice(&diff->options) ? ids_slice_name(&diff->options, &diff->report)
                        : diff->a->per_step          ? "the step"
                                                     : "the window";
    return ids_report_text(&diff->report, "%s: %+.1f %% of %s before", what,
                           change_ps / diff->waterfall.before_ps * 100, whole);
}

static int is_more_than_spread(enum ids_verdict verdict) {
    return verdict == IDS_VERDICT_COUNTED || verdict == IDS_VERDICT_DIFFERS || verdict == IDS_VERDICT_REGRESSION;
}

/* An interval from step to step says nothing of another recording, whose ops may take a fifth more. */
static int is_certain(const struct ids_diff *diff, const struct ids_cause *cause) {
    double noise = diff->options.noise * diff->waterfall.before_ps;
    if (!diff->a->by_run && !(noise > 0)) return 0;
    return cause->verdict == IDS_VERDICT_REGRESSION && cause->change_ps > noise;
}

const char *ids_diff_fails_on(struct ids_diff *diff, double share) {
    const struct ids_waterfall *waterfall = &diff->waterfall;
    const struct ids_difference *whole = &diff->headline[0];
    double least = share * waterfall->before_ps, change = waterfall->after_ps - waterfall->before_ps;
    if (!(waterfall->before_ps > 0)) return NULL;
    if (diff->headline_count && is_more_than_spread(whole->verdict) && change > 0 && change >= least)
        return say(diff, whole->title, change);
    for (size_t i = 0; i < waterfall->count; i++) {
        const struct ids_cause *cause = &waterfall->at[i];
        change = cause->change_ps;
        if (!is_certain(diff, cause) || !(change > 0) || change < least) continue;
        const char *who = cause->culprit ? cause->culprit : "";
        return say(diff, ids_report_text(&diff->report, "%s%s%s", cause->account, *who ? " " : "", who), change);
    }
    for (size_t i = 0; i < diff->changes.count; i++) {
        const struct ids_change *counted = &diff->changes.at[i];
        if (strcmp(counted->id, "compile.in_steps") != 0 || !counted->known) continue;
        if (counted->change_ps > 0 && counted->change_ps >= least) return say(diff, counted->text, counted->change_ps);
    }
    return NULL;
}
