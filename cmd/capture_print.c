#include "cmd/capture_print.h"

#include "lib/base/saturate.h"
#include "lib/capture/folder.h"
#include "lib/capture/sidecar.h"
#include "lib/cli/say.h"
#include "lib/report/report.h"
#include "lib/wire/shell_quote.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 6144, PS_PER_NS = 1000 };

static const char *count_text(int64_t count, const char *one, const char *many, char *buffer, size_t size) {
    char number[IDS_VALUE_ROOM];
    ids_value_format(ids_int_value(IDS_UNIT_COUNT, count), number, sizeof number);
    snprintf(buffer, size, "%s %s", number, count == 1 ? one : many);
    return buffer;
}

static const char *time_text(int64_t ns, char *buffer, size_t size) {
    return ids_value_format(ids_int_value(IDS_UNIT_TIME, ids_sat_mul(ns, PS_PER_NS)), buffer, size);
}

static void print_caught(const struct ids_outcome *outcome) {
    char runs[64], processes[64], events[64], drops[64], bytes[IDS_VALUE_ROOM];
    if (!outcome->files) {
        ids_say_wrapped("caught", "nothing");
        return;
    }
    ids_value_format(ids_int_value(IDS_UNIT_BYTES, outcome->bytes), bytes, sizeof bytes);
    count_text(outcome->events, "event, ", "events, ", events, sizeof events);
    count_text(outcome->drops, "event lost by the profiler", "events lost by the profiler", drops, sizeof drops);
    ids_say_wrapped("caught", "%s%s%s of %s: %s%s%s%s", outcome->steps ? outcome->steps : "",
                    outcome->steps ? ", " : "", count_text(outcome->runs, "window", "windows", runs, sizeof runs),
                    count_text(outcome->processes, "process", "processes", processes, sizeof processes),
                    outcome->events >= 0 ? events : "", bytes, outcome->drops > 0 ? "; " : "",
                    outcome->drops > 0 ? drops : "");
}

static void print_stacks(const struct ids_outcome *outcome) {
    char samples[64], threads[64], cost[IDS_VALUE_ROOM];
    int is_said = outcome->reason && !strcmp(outcome->reason, "no_stacks"); /* among what was missed */
    if (is_said && (outcome->samples < 0 || !outcome->threads)) return;
    if (outcome->samples < 0 && outcome->no_stacks) ids_say_wrapped("stacks", "not sampled: %s", outcome->no_stacks);
    if (outcome->samples < 0) return;
    ids_say_wrapped("stacks", "%s of %s, which took %.1f %% of one core, %s a sample",
                    count_text(outcome->samples, "sample", "samples", samples, sizeof samples),
                    count_text(outcome->threads, "Python thread", "Python threads", threads, sizeof threads),
                    outcome->sampled_ns > 0 ? 100.0 * (double)outcome->sampling_ns / (double)outcome->sampled_ns : 0.0,
                    time_text(outcome->samples > 0 ? outcome->sampling_ns / outcome->samples : 0, cost, sizeof cost));
}

/* Of windows that are judged: which are kept, and why. */
static void print_kept(const struct ids_outcome *outcome) {
    char windows[64], cost[IDS_VALUE_ROOM];
    if (outcome->tried >= 0 && outcome->files)
        ids_say_wrapped("kept", "%lld of %s, which cost %s in all", (long long)outcome->kept,
                        count_text(outcome->tried, "window that was recorded", "windows that were recorded", windows,
                                   sizeof windows),
                        time_text(outcome->judged_cost_ns, cost, sizeof cost));
    for (int64_t i = 0; i < outcome->kept && i < IDS_REASONS_SHOWN; i++)
        if (outcome->reasons[i]) ids_say_wrapped(i || outcome->tried >= 0 ? "" : "kept", "%s", outcome->reasons[i]);
    if (outcome->kept > IDS_REASONS_SHOWN)
        ids_say_wrapped("", "and %lld more: idsprof list", (long long)(outcome->kept - IDS_REASONS_SHOWN));
}

static void print_cost(const struct ids_outcome *outcome) {
    char start[IDS_VALUE_ROOM], stop[IDS_VALUE_ROOM];
    const char *between = outcome->cost ? "; " : "", *cost = outcome->cost ? outcome->cost : "";
    if (outcome->start_ns < 0) {
        ids_say_wrapped("cost", "%s", outcome->cost ? outcome->cost : "no window was opened");
    } else if (outcome->stop_ns < 0) {
        ids_say_wrapped("cost", "%s to start%s%s", time_text(outcome->start_ns, start, sizeof start), between, cost);
    } else {
        const char *still = outcome->stood_ns < 0 ? "while the program went on" : "in which the program stood still";
        char waited[IDS_VALUE_ROOM], waits[96];
        int64_t least = outcome->waited_ns >= 0 ? outcome->waited_ns : outcome->stood_ns;
        if (least >= 0 && least < outcome->stop_ns) {
            time_text(least, waited, sizeof waited);
            snprintf(waits, sizeof waits, "for which the program waited no longer than %s", waited);
            still = waits;
        }
        ids_say_wrapped("cost", "%s to start, %s to stop and write, %s%s%s",
                        time_text(outcome->start_ns, start, sizeof start),
                        time_text(outcome->stop_ns, stop, sizeof stop), still, between, cost);
    }
}

/* What to do next: to see what is there, or to get what is not. */
static void print_next(const struct ids_outcome *outcome, const char *shown) {
    char folder[TEXT_BYTES / 2];
    if (outcome->files && shown) {
        ids_shell_quote(shown, folder, sizeof folder);
        ids_say_wrapped("next", outcome->runs > 1 ? "idsprof list %s" : "idsprof report %s", folder);
    } else {
        ids_say_wrapped("next", "%s",
                        outcome->remedy ? outcome->remedy
                        : shown         ? IDS_SIDECAR " in the folder says more"
                                        : "again, with --keep-empty: " IDS_SIDECAR " in the folder says more");
    }
}

void ids_capture_print(const struct ids_outcome *outcome, const char *shown, int quiet) {
    if (quiet && !outcome->missed) return;
    if (!quiet) print_caught(outcome);
    if (outcome->missed && outcome->remedy && outcome->files) {
        ids_say_wrapped("missed", "%s; %s", outcome->missed, outcome->remedy);
    } else {
        ids_say_wrapped("missed", "%s", outcome->missed ? outcome->missed : "nothing");
    }
    if (quiet) return;
    print_kept(outcome);
    print_stacks(outcome);
    print_cost(outcome);
    if (shown) ids_say_wrapped("folder", "%s", shown);
    print_next(outcome, shown);
}
