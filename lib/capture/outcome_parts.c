#include "lib/capture/outcome_parts.h"

#include "lib/capture/collectors.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>

const char *ids_outcome_text(struct ids_outcome_work *outcome, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *printed = ids_arena_vprint(outcome->arena, format, arguments);
    va_end(arguments);
    return printed ? printed : "";
}

void ids_outcome_set(struct ids_outcome_work *outcome, const char *reason, const char *missed, const char *remedy) {
    outcome->out->reason = reason;
    outcome->out->missed = missed;
    outcome->out->remedy = remedy;
}

const char *ids_outcome_failure(struct ids_outcome_work *outcome) {
    const struct ids_child_end *end = outcome->record->end;
    if (end && end->signal) return ids_outcome_text(outcome, " by signal %d (%s)", end->signal, strsignal(end->signal));
    return end && end->code > 0 ? ids_outcome_text(outcome, " with exit code %d", end->code) : NULL;
}

const char *ids_outcome_untold(struct ids_outcome_work *outcome, const struct ids_seen_process *process) {
    const struct ids_child_end *end = outcome->record->end;
    if (!end || end->code < 0 || !process || end->pid != process->pid)
        return "a process was killed, or ended by os._exit,";
    return ids_outcome_text(outcome, "the program ended with exit code %d, of which idsprof was not told (os._exit?),",
                            end->code);
}

const char *ids_outcome_failure_remedy(const struct ids_outcome_work *outcome) {
    const struct ids_child_end *end = outcome->record->end;
    return end && end->signal == SIGKILL ? "dmesg says whether the memory ran out"
                                         : "its own messages say why it ended so early";
}

const char *ids_outcome_by_time(struct ids_outcome_work *outcome) {
    const int64_t ms = 1000000, most_ns = 10000 * ms;
    const struct ids_child_end *end = outcome->record->end;
    int64_t delay_ns = end && end->wall_ns > 0 && end->wall_ns / 4 < most_ns ? end->wall_ns / 4 : most_ns;
    int64_t duration_ns = delay_ns / 2 < 2000 * ms ? delay_ns / 2 : 2000 * ms;
    return ids_outcome_text(outcome, "--delay %.2gs --duration %.2gs", (double)delay_ns / 1e9,
                            (double)duration_ns / 1e9);
}

int ids_outcome_without_collector(struct ids_outcome_work *outcome) {
    const char *home = outcome->record->home;
    char missing[IDS_REASON_BYTES];
    if (!home || !ids_collectors_missing(home, missing, sizeof missing)) return 0;
    ids_outcome_set(outcome, "collector_missing", ids_outcome_text(outcome, "%s", missing), IDS_COLLECTOR_REMEDY);
    return 1;
}
