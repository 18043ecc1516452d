/* outcome_parts.h - the inside of outcome.h: reasons that fill files of their own, and how they are said. */
#ifndef IDS_LIB_CAPTURE_OUTCOME_PARTS_H
#define IDS_LIB_CAPTURE_OUTCOME_PARTS_H

#include "lib/capture/outcome.h"

/* How the Python hook says that the profiler is in the program's own use (idsprof_session.py). */
#define IDS_OWN_PROFILE "the program profiles itself"

enum { IDS_REASON_BYTES = 1024 };

struct ids_outcome_work {
    const struct ids_capture_record *record;
    struct ids_arena *arena;
    struct ids_outcome *out;
};

/* A text of the outcome's; "" when memory ran out. */
const char *ids_outcome_text(struct ids_outcome_work *outcome, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ids_outcome_set(struct ids_outcome_work *outcome, const char *reason, const char *missed, const char *remedy);
/* " with exit code 3", " by signal 9 (Killed)"; NULL: the program ended well, or runs. */
const char *ids_outcome_failure(struct ids_outcome_work *outcome);
const char *ids_outcome_failure_remedy(const struct ids_outcome_work *outcome);
/* What a collector that is not there would have caught cannot be known, so its absence is the first thing to mend. 1
 * when that is the reason. */
int ids_outcome_without_collector(struct ids_outcome_work *outcome);

/* never_loaded.c: no process said hello. */
void ids_outcome_never_loaded(struct ids_outcome_work *outcome);
/* short_windows.c: a window that is there, and holds less than was asked for or stands elsewhere. */
void ids_outcome_short_windows(struct ids_outcome_work *outcome);
/* The same file: the program's own profile kept window `number` of the process from being opened. */
void ids_outcome_own_profile(struct ids_outcome_work *outcome, const struct ids_seen_process *process, int64_t number);

/* unmet.c: what else was asked for: a device, functions, as many windows. */
void ids_outcome_unmet(struct ids_outcome_work *outcome);

#endif
