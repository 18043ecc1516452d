/* window_play.h - a plan's window, and steps that are played to it. */
#ifndef IDS_TESTS_SUPPORT_WINDOW_PLAY_H
#define IDS_TESTS_SUPPORT_WINDOW_PLAY_H

#include "collectors/common/window.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { TRAIN = 11, EVAL = 12, SECOND = 1000000000 };

static struct ids_window w;
static int64_t now;
static const struct ids_window_wish any = {-1, -1};

static inline void begin(const char *text) {
    struct ids_plan plan;
    char why[256];
    ck_assert_int_eq(ids_plan_parse(text, &plan, why, sizeof why), 0);
    now = 100 * (int64_t)SECOND;
    ids_window_init(&w, &plan, now);
}

/* What the agent does at once when it is told to. */
static inline enum ids_window_action obey(enum ids_window_action action) {
    if (action == IDS_CLOSE || action == IDS_REOPEN) ids_window_closed(&w, 0);
    if (action == IDS_OPEN || action == IDS_REOPEN) ids_window_opened(&w, now, 1);
    return action;
}

static inline enum ids_window_action annotated(uint64_t key, int64_t number) {
    return obey(ids_window_step(&w, now, IDS_STEP_ANNOTATION, key, number));
}

static inline enum ids_window_action executed(uint64_t key) {
    return obey(ids_window_step(&w, now, IDS_STEP_EXECUTION, key, -1));
}

/* Annotated steps from..to-1: the numbers at which something happened, as "50+ 55-" ("!" the end of a warm-up). */
static inline const char *events(int64_t from, int64_t to) {
    static char text[512];
    size_t used = 0;
    text[0] = '\0';
    for (int64_t i = from; i < to; i++) {
        enum ids_window_action action = annotated(TRAIN, i);
        if (action == IDS_NOTHING) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld%c", used ? " " : "", (long long)i,
                                 " +-!"[action]);
    }
    return text;
}

#endif
