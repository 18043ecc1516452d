/* advise_on_evaluation.c - a model is evaluated in the loop: what that takes lies in several accounts, of which each
 * says another thing to do, and none says that it need not be done in each step. */
#include "analyzers/advise_on.h"
#include "analyzers/callers.h"

/* Of less the pieces say enough; and of what is nearly all of the window it is the loop itself. */
#define LEAST_SHARE 0.25
#define MOST_SHARE 0.95

void ids_advise_on_evaluation(struct ids_adviser *adviser) {
    const struct ids_trace *trace = adviser->analysis->trace;
    struct ids_function_time time;
    if (!adviser->pieces.steps || !trace->stack_count) return;
    if (!ids_callers_longest(trace, ids_is_evaluation, adviser->report, &time)) return;
    if (time.share < LEAST_SHARE || time.share > MOST_SHARE) return;
    int64_t takes_ps = (int64_t)(time.share * (double)ids_adviser_per_step(adviser, adviser->pieces.time_ps));
    ids_adviser_give(adviser,
                     &(struct ids_advice){
                         .saves_ps = -1,
                         .takes_ps = takes_ps,
                         .per_step = 1,
                         .culprit = time.function,
                         .where = time.file,
                         .what = ids_report_text(
                             adviser->report,
                             "The loop evaluates the model for %s of its time: %s (%s) - evaluate every n steps, "
                             "on fewer batches, or in a job of its own; what else is said may be a part of it",
                             ids_say_share(adviser, (int64_t)(time.share * 1e6), 1000000), time.function, time.file),
                         .evidence = ids_report_text(adviser->report, "about %s a step%s%s; by sampled stacks",
                                                     ids_say_time(adviser, takes_ps),
                                                     *time.caller ? "; called by " : "", time.caller),
                         .explain = "steps.mean",
                     });
}
