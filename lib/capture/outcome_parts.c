#include "lib/capture/outcome_parts.h"

#include "lib/capture/collectors.h"

#include <errno.h>
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

/* The agent says it in words of its own where it has looked before it writes. */
int ids_outcome_says_full(const char *why) {
    return why && (strstr(why, strerror(ENOSPC)) || (strstr(why, "the disk of '") && strstr(why, "' is full")));
}

const char *ids_outcome_remedy_of(const char *why) {
    static const struct {
        int error;
        const char *remedy;
    } remedies[] = {
        {EACCES, "start idsprof capture as the user that the program becomes: the folder is of who started it"},
        {EPERM, "start idsprof capture as the user that the program becomes: the folder is of who started it"},
        {EFBIG, "a larger limit for files (ulimit -f), or fewer --steps"},
        {EROFS, "choose another folder with -o DIR"},
        {EDQUOT, "make room in the quota, or choose another folder with -o DIR"},
        {EMFILE, "a larger limit for open files (ulimit -n)"},
        {ENFILE, "close files: the system has too many open"},
    };
    if (ids_outcome_says_full(why)) return DISK_REMEDY;
    for (size_t i = 0; why && i < sizeof remedies / sizeof *remedies; i++) {
        if (strstr(why, strerror(remedies[i].error))) return remedies[i].remedy;
    }
    return NULL;
}

int ids_outcome_unwritten(struct ids_outcome_work *outcome) {
    const struct ids_seen *seen = outcome->record->seen;
    int why = seen->count ? 0 : seen->unwritten;
    for (size_t i = 0; i < seen->count && !why; i++) {
        if (!seen->processes[i].is_closed) why = seen->processes[i].unwritten;
    }
    if (!why) return 0;
    ids_outcome_set(outcome, "unwritten",
                    ids_outcome_text(outcome,
                                     "what the program did is not known: idsprof's own files could not be "
                                     "written (%s)",
                                     strerror(why)),
                    ids_outcome_remedy_of(strerror(why)));
    return 1;
}
