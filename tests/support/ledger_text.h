/* ledger_text.h - an analysis of a text of formats/mini.c, without analyzers, and its ledger and busy times in
 * words. */
#ifndef IDS_TESTS_SUPPORT_LEDGER_TEXT_H
#define IDS_TESTS_SUPPORT_LEDGER_TEXT_H

#include "lib/analysis/analysis.h"
#include "lib/analysis/context.h"
#include "tests/support/mini_trace.h"

#include <check.h>
#include <stdio.h>

static struct ids_trace *trace;
static struct ids_analysis analysis;
static struct ids_error err;

static inline void done(void) {
    ids_analysis_done(&analysis);
    ids_trace_free(trace);
    analysis = (struct ids_analysis){0};
    trace = NULL;
}

/* The ledger's intervals of all devices, "host.input load [1000,1600)" a line, in microseconds where all are whole
 * ones, else picoseconds; those of one account, culprit and step that follow each other are one. */
static struct said {
    int64_t from_ps, to_ps;
    uint32_t busy, step, entry, number; /* number: of the interval */
    uint8_t account, known;
} said[256];
static size_t said_count, visited;
/* What the device of an interval did in it, as it came. */
static struct did {
    int64_t from_ps, to_ps;
    uint32_t busy;
    uint16_t state;
} did[256];

static inline int hear(void *context, const struct ids_ledger_interval *interval, struct ids_error *ignored) {
    (void)context;
    (void)ignored;
    struct said *last = said_count ? &said[said_count - 1] : NULL;
    ck_assert_int_lt(interval->from_ps, interval->to_ps);
    if (last && last->busy == interval->busy) ck_assert_int_eq(last->to_ps, interval->from_ps); /* without a hole */
    int same = last && last->busy == interval->busy && last->entry == interval->entry && last->entry != IDS_NONE &&
               last->step == interval->step && last->known == interval->known;
    if (same) {
        last->to_ps = interval->to_ps;
    } else {
        ck_assert_uint_lt(said_count, sizeof said / sizeof *said);
        said[said_count++] = (struct said){interval->from_ps, interval->to_ps,   interval->busy,    interval->step,
                                           interval->entry,   (uint32_t)visited, interval->account, interval->known};
    }
    ck_assert_uint_lt(visited, sizeof did / sizeof *did);
    did[visited++] = (struct did){interval->from_ps, interval->to_ps, interval->busy, interval->state};
    return 0;
}

static inline void hear_entry(void *context, uint32_t busy, size_t interval, uint32_t entry) {
    (void)context;
    (void)busy;
    for (size_t i = 0; i < said_count; i++) {
        if (said[i].number == interval) said[i].entry = entry;
    }
}

/* What ids_analyze makes before the analyzers run. */
static inline int make_with(const char *text, enum ids_window_mode window, int64_t from_ps, int64_t to_ps) {
    if (trace) done();
    trace = mini_trace(text);
    analysis = (struct ids_analysis){.trace = trace};
    ids_params_default(&analysis.params);
    analysis.params.window = window;
    analysis.params.from_ps = from_ps;
    analysis.params.to_ps = to_ps;
    int code = ids_steps_make(&analysis, &err);
    if (!code) code = ids_busy_make(&analysis, &err);
    if (!code) code = ids_steps_trim(&analysis, &err);
    said_count = visited = 0;
    const struct ids_ledger_visitor visitor = {.interval = hear, .entry = hear_entry};
    if (!code) code = ids_ledger_make(&analysis, &visitor, NULL, &err);
    return code;
}

static inline void make(const char *text) {
    int code = make_with(text, IDS_WINDOW_RUN, 0, INT64_MAX);
    ck_assert_msg(!code, "%s", err.text);
}

/* When the device did one of these in its window, "[1,2) [5,9)" in picoseconds; ids_time_in has the same sum. */
static inline const char *shown(uint32_t busy, unsigned states) {
    static char text[512];
    int64_t end_ps = INT64_MIN, sum_ps = 0;
    text[0] = '\0';
    for (size_t i = 0; i < visited; i++) {
        if (did[i].busy != busy || !(did[i].state & states) || !(did[i].state & IDS_IS_IN_WINDOW)) continue;
        sum_ps += did[i].to_ps - did[i].from_ps;
        if (did[i].from_ps == end_ps) {
            *strrchr(text, ',') = '\0';
            snprintf(text + strlen(text), sizeof text - strlen(text), ",%lld)", (long long)did[i].to_ps);
        } else {
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s[%lld,%lld)", *text ? " " : "",
                     (long long)did[i].from_ps, (long long)did[i].to_ps);
        }
        end_ps = did[i].to_ps;
    }
    ck_assert_int_eq(ids_time_in(&analysis.busy[busy], states), sum_ps);
    return text;
}

/* The ledger of one device between two moments (all of it: 0 and INT64_MAX). */
static inline const char *ledger_of(uint32_t busy, int64_t from_ps, int64_t to_ps) {
    static char text[4096];
    int64_t unit = 1000000;
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < said_count; i++) {
        if (said[i].from_ps % 1000000 || said[i].to_ps % 1000000) unit = 1;
    }
    for (size_t i = 0; i < said_count; i++) {
        if (said[i].busy != busy || said[i].to_ps <= from_ps || said[i].from_ps >= to_ps) continue;
        const struct ids_ledger_entry *entry = &analysis.ledger.entries[said[i].entry];
        ck_assert_uint_eq(entry->account, said[i].account);
        const char *culprit = ids_strings_z(&analysis.ledger.texts, entry->culprit);
        const char *where = ids_strings_z(&analysis.ledger.texts, entry->where);
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s%s%s%s%s%s [%lld,%lld)%s",
                                   length ? "\n" : "", ids_account_id((enum ids_account)said[i].account),
                                   *culprit ? " " : "", culprit, *where ? " (" : "", where, *where ? ")" : "",
                                   (long long)(said[i].from_ps / unit), (long long)(said[i].to_ps / unit),
                                   said[i].known == IDS_INFERRED ? " inferred"
                                   : said[i].known               ? " unknown"
                                                                 : "");
    }
    return text;
}

#endif
