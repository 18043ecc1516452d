/* launchers.h - which lines of the program launch its programs (jitted functions), and in which steps these run. */
#ifndef IDS_ANALYZERS_LAUNCHERS_H
#define IDS_ANALYZERS_LAUNCHERS_H

#include "lib/analysis/context.h"

enum ids_launcher_does { IDS_LAUNCHES, IDS_LAUNCHER_WAITS, IDS_LAUNCHER_MEANWHILE };
struct ids_launcher {
    uint32_t frame; /* whose function launches it: a text of the trace, "$./train.py:12 step"; 0 unknown */
    uint8_t is_one; /* no other line does */
    uint8_t does;   /* enum ids_launcher_does: other than IDS_LAUNCHES where nobody knows who launches it */
    uint32_t steps; /* that run it, on the device where most do; 0 without steps */
    uint32_t first; /* of these: index of ids_steps.at */
};
/* By number of the trace's modules. */
struct ids_launchers {
    struct ids_launcher *at;
    size_t count;
};

/* The sums of ids_gathering. */
int ids_launchers_gather(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums,
                         struct ids_error *err);
void ids_launchers_done(void *sums);

/* NULL: nothing is known of it. */
const struct ids_launcher *ids_launcher_of(const struct ids_launchers *launchers, uint32_t module);

#endif
