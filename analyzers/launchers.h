/* launchers.h - which lines of the program launch its programs (jitted functions), and in which steps these run. */
#ifndef IDS_ANALYZERS_LAUNCHERS_H
#define IDS_ANALYZERS_LAUNCHERS_H

#include "lib/analysis/context.h"
#include "lib/base/keymap.h"

enum ids_launcher_does { IDS_LAUNCHES, IDS_LAUNCHER_WAITS, IDS_LAUNCHER_MEANWHILE };
struct ids_launcher {
    uint32_t frame; /* whose function launches it: a text of the trace, "$./train.py:12 step"; 0 unknown */
    uint8_t is_one; /* no other line does */
    uint8_t does;   /* enum ids_launcher_does: other than IDS_LAUNCHES where nobody knows who launches it */
    uint32_t steps; /* that run it, on the device where most do; 0 without steps */
    uint32_t first; /* of these: index of ids_steps.at */
};
/* A line of the program that launches. */
struct ids_launching_line {
    uint32_t frame; /* as ids_launcher.frame */
    uint64_t launches;
};
struct ids_launchers {
    struct ids_launcher *at; /* by number of the trace's modules */
    size_t count;
    struct ids_launching_line *lines;
    size_t line_count, line_room;
    uint64_t launches;              /* whose line is known */
    struct ids_keymap line_numbers; /* a frame + 1 -> its index in `lines` + 1 */
};

/* The sums of ids_gathering. */
int ids_launchers_gather(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums,
                         struct ids_error *err);
void ids_launchers_done(void *sums);

/* The line that launches most, where that is more than half of what is known; else NULL. */
const struct ids_launching_line *ids_launching_most(const struct ids_launchers *launchers);
/* NULL: nothing is known of it. */
const struct ids_launcher *ids_launcher_of(const struct ids_launchers *launchers, uint32_t module);

#endif
