/* without_stacks.c - windows in which stacks were to be sampled, and no sample was taken, or too few. */
#include "lib/capture/outcome_parts.h"

#include "lib/base/counted.h"
#include "lib/base/saturate.h"

static int has_none(const struct ids_seen_window *window) {
    return window->no_stacks || (window->rate > 0 && (!window->samples || !window->threads));
}

/* One sample is not the place where the time went. */
static int has_few(const struct ids_seen_window *window) {
    enum { FEW = 5 };
    return window->rate > 0 && window->samples < FEW;
}

static const char *why_few(struct ids_outcome_work *outcome, const struct ids_seen_window *window) {
    enum { SHORT_NS = 10000000 };
    int64_t took_ns = ids_sat_sub(window->end_ns, window->begin_ns);
    if (took_ns >= SHORT_NS) return "the thread that takes them had no core";
    return ids_outcome_text(outcome, "the window was over after %.3g ms, and more --steps have more",
                            (double)took_ns / 1e6);
}

static void say_few(struct ids_outcome_work *outcome, const struct ids_seen_window *window) {
    ids_outcome_set(outcome, "few_stacks",
                    ids_outcome_text(outcome, "stacks, too few to name the host's code: %s in window %lld: %s",
                                     IDS_COUNTED(window->samples, "sample"), (long long)window->number,
                                     why_few(outcome, window)),
                    NULL);
}

/* The first sample is taken half a period after the window opened, and the next ones come close behind it. */
static const char *why_none(struct ids_outcome_work *outcome, const struct ids_seen_window *window) {
    enum { SHORT_NS = 1000000 };
    int64_t took_ns = ids_sat_sub(window->end_ns, window->begin_ns);
    if (window->no_stacks) return window->no_stacks;
    if (window->samples) return "no thread ran Python";
    if (took_ns < 0 || took_ns >= SHORT_NS) return "the thread that takes them had no core, or Python had ended";
    return ids_outcome_text(outcome, "the window was over after %lld us", (long long)took_ns / 1000);
}

void ids_outcome_without_stacks(struct ids_outcome_work *outcome) {
    const struct ids_seen *seen = outcome->record->seen;
    const struct ids_seen_window *first = NULL, *first_few = NULL;
    int64_t none = 0, few = 0, all = 0;
    for (size_t i = 0; i < seen->count; i++) {
        for (size_t w = 0; w < seen->processes[i].window_count; w++) {
            const struct ids_seen_window *window = &seen->processes[i].windows[w];
            if (window->fate != IDS_SEEN_WRITTEN) continue;
            all++;
            if (has_none(window)) {
                if (!none++) first = window;
            } else if (has_few(window) && !few++) {
                first_few = window;
            }
        }
    }
    if (few && few == all) say_few(outcome, first_few);
    if (!none) return;
    ids_outcome_set(outcome, "no_stacks",
                    none == all ? ids_outcome_text(outcome, "stacks, not sampled: %s", why_none(outcome, first))
                                : ids_outcome_text(outcome, "stacks, not sampled in %lld of %s: %s", (long long)none,
                                                   IDS_COUNTED(all, "window"), why_none(outcome, first)),
                    NULL);
}
