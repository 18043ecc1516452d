/* missed.h - slow steps that take much of a run, and of which a report measures none.
 *
 * They are those that the history of steps calls slow, at least two, and together they take longer than as many usual
 * ones by at least a fifth of the time of all steps, and by 10 ms, or by 100 ms where one step alone loses half of it.
 * Half of that is lost in the slowest of them: one is measured where a step of the report, or of another window, takes
 * at least half as long as the least of these. The first steps, which compile, are not looked at. */
#ifndef IDS_LIB_RUN_MISSED_H
#define IDS_LIB_RUN_MISSED_H

#include "lib/report/report.h"
#include "lib/run/rhythm.h"

#include <stddef.h>
#include <stdint.h>

enum { IDS_MISSED_NAMED = 3 };

struct ids_missed_step {
    int64_t number, took_ns;
    int64_t longer_ns;    /* than the usual one; 0: it is not slow */
    int64_t usual_ns;     /* what usually takes the time in which it lost that: a step, or, of a loop that runs ahead of
                           * its device, all steps for which the program waits in it */
    int64_t garbage_ns;   /* for which Python collected garbage in it */
    int64_t compile_ns;   /* in which functions were compiled again */
    const char *compiled; /* the one that took longest; NULL: none was */
    int is_recorded;      /* the whole of it is in a window */
};

struct ids_missed {
    size_t slow, steps;
    int64_t longer_ns, total_ns;     /* what the slow ones lose together, and the time of all steps */
    int64_t took_ns;                 /* half of longer_ns is lost in steps of this and more */
    int64_t garbage_ns;              /* of longer_ns */
    int64_t compile_ns;              /* likewise */
    const char *compiled;            /* in the step of them that compiled longest */
    int64_t usual_ns;                /* what usually takes the time in which the slow ones lose longer_ns */
    int64_t half_ns, half_usual_ns;  /* what the step of took_ns loses, and that of it alone */
    int64_t first[IDS_MISSED_NAMED]; /* the first of these that have numbers */
    size_t first_count;
    size_t in_rhythm; /* of the slow ones */
    int64_t in_rhythm_ns;
    int is_rhythm;  /* that is at least half of longer_ns, and took_ns is of these alone */
    int is_opening; /* the step that the window opened with, which is in no mean, is as slow as that */
    int is_of_lock; /* they begin to lose at Python's switch interval: see ids_missed_tell */
    /* For which share of the run all cores were busy, and what share of them other processes had then (machine_load.h);
     * the caller's to set, 0: not known. */
    double busy, others;
    size_t of;        /* the steps of the history, with those that are not judged; 0 not known: likewise */
    int is_by_rule;   /* the capture had a rule by which steps are slow (--when), and has none like these: likewise */
    int is_by_device; /* the loop runs ahead of its device, and loses where it waits: that has the rhythm of its waits
                       * whatever it was, likewise */
};

/* 1 and *ret_missed, where there are such steps; else 0. `rhythm` may be NULL. kept_ns: what the step took for which
 * the window was kept, as these did that lose half of the time where it took half as long: then they are measured; 0:
 * it was kept for none. Without memory there are none. */
int ids_missed_find(const struct ids_missed_step *steps, size_t count, const struct ids_rhythm *rhythm, int64_t kept_ns,
                    const struct ids_report *report, struct ids_missed *ret_missed);
/* Puts it before all other advice, with what ids_rhythm_missed says of their rhythm; NULL: they have none. Behind the
 * first piece, where they have none and the machine was so busy that others may have made them slow. Who has a share s
 * of the cores makes others take up to about 1 / (1 - s) times as long, and wait for s / (1 - s) turns of some
 * milliseconds: what is more than twice the first and the second is not theirs, nor what collections of garbage or
 * compilations have at least half of, which is said. Nor is it theirs where of steps of less than a millisecond those
 * that lose more than one begin to lose at 5 ms: nine tenths lose that or more, and a tenth of these no more than one
 * above it. For that long a thread waits for Python's lock before it asks for it, while another one computes; who waits
 * for a core loses one millisecond as often as five. Where they are the program's, sets the property
 * steps.missed_share, by which a comparison knows. Of a loop that runs ahead both are of all that the program waits
 * for, and a rhythm is of its waits. */
void ids_missed_tell(const struct ids_missed *missed, const char *rhythm, struct ids_report *report);
/* The same of steps with which a turn of the loop ends (rhythm->turn), where none is measured; `text` is what
 * ids_rhythm_missed says. They are not slow: another function is called in them. It stands before all other advice
 * where they have half of the run's time, and else behind the first piece. 0: they have less than a fifth of it. */
int ids_missed_tell_turn(const struct ids_missed_step *steps, size_t count, const struct ids_rhythm *rhythm,
                         const char *text, struct ids_report *report);

#endif
