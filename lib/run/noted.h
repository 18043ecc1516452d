/* noted.h - the steps that a process's history has, and which of them were slow. */
#ifndef IDS_LIB_RUN_NOTED_H
#define IDS_LIB_RUN_NOTED_H

#include "lib/capture/history_file.h"
#include "lib/report/report.h"

#include <stddef.h>
#include <stdint.h>

struct ids_noted_step {
    int64_t number, begin_ns, median_ns, collectives;
    int64_t took_ns;      /* without what the program stood still for a window */
    int64_t usual_ns;     /* what the device's work takes in which it was lost (run_ahead.h); else median_ns */
    int64_t compile_ns;   /* in which functions were compiled, at most took_ns */
    const char *compiled; /* the one that took longest; NULL: none was */
    int is_starting;      /* the first compilations of functions have at least half of it: those are of no other step */
    int is_undone;        /* it was launched, and the device had not done it when the history ends: what it took is not
                           * known */
    int is_slow;
};

/* The steps that the report measures. */
struct ids_noted_measured {
    int64_t first, last, left_out; /* -1: it has none; no one is left out */
    int64_t step_ns;               /* the one in the middle; 0: not known */
    const struct ids_table *steps; /* the report's, with what each took; NULL: it has none */
    /* With each so many-th step the program calls another function, at the end of a turn of its loop: those whose
     * number leaves `turn_place`. For that they are not slow, but where one takes twice what they usually take. The
     * caller's to set of each process; turn_every 0: not known. */
    int64_t turn_every, turn_place;
    /* The number of the window that has them: another one of the process may have steps with the same numbers. 0: not
     * known. The caller's likewise. */
    int64_t window;
};

struct ids_noted {
    const struct ids_history_file *file;
    struct ids_noted_step *steps;
    size_t count;
    struct ids_noted_measured measured;
    int64_t slow, longest_ns, median_ns;
    int launches;        /* 1: what is noted of its steps are times of calls */
    int is_by_device;    /* 1: from which those of steps were made (run_ahead.h) */
    int64_t work_ns;     /* then: of the device, in each step */
    int64_t collectives; /* of the usual step; -1: not known */
};

/* What windows have of a step: no part, the whole, or a part, because one opened or closed in it. */
enum ids_noted_recorded { IDS_NOTED_NOT, IDS_NOTED_WHOLE, IDS_NOTED_PARTLY };

struct ids_noted_measured ids_noted_measured(const struct ids_report *report);
/* 0, or -1 where there are too few steps or no memory; the past is the caller's to end, and the file's as long as
 * that. */
int ids_noted_judge(const struct ids_history_file *file, const struct ids_noted_measured *measured,
                    struct ids_noted *ret_noted);
void ids_noted_done(struct ids_noted *noted);

enum ids_noted_recorded ids_noted_recorded(const struct ids_history_file *file, size_t i);
/* Whether the window of that number lies elsewhere, or before all steps of the history; 0 where the history does not
 * have it. */
int ids_noted_is_of_other(const struct ids_history_file *file, size_t i, int64_t window);
int ids_noted_is_later(const struct ids_history_file *file, int64_t window);
/* Not the first steps, nor those that start something, nor those that are not done. */
int ids_noted_is_judged(const struct ids_noted *noted, size_t i);
/* Of the steps that lie in a window; -1: there is none. */
int64_t ids_noted_median_recorded(const struct ids_noted *noted);

#endif
