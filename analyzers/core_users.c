#include "analyzers/core_users.h"

#include "lib/analysis/idle_names.h"
#include "lib/base/keymap.h"
#include "lib/model/python_frame.h"

enum { THOUSAND = 1000, WORTH = 50 }; /* less than a 20th of a core is not worth a word */

/* --- the program's own threads beside the one that launches ----------------------------------------------------- */

struct own {
    uint64_t function;
    uint32_t doing; /* that it did most */
    int64_t function_ps, doing_ps;
};

/* Samples see what runs: what the thread does without waiting. 0: it is none. */
static uint64_t function_of(const struct ids_trace *trace, uint32_t number) {
    const struct ids_doing *doing = &trace->doings[number];
    if (doing->account != IDS_HOST_PYTHON || doing->waits || doing->caller == IDS_NONE) return 0;
    if (!trace->names[doing->caller].is_sampled) return 0;
    return ids_python_function_key(ids_strings_text(&trace->strings, trace->names[doing->caller].text));
}

static int launches(const struct ids_trace *trace, const struct ids_track *track) {
    for (size_t i = 0; i < track->timeline.count; i++) {
        if (trace->doings[track->timeline.doing[i]].account == IDS_HOST_DISPATCH) return 1;
    }
    return 0;
}

/* Adds up by function, and by doing of the function that has most so far. */
static int sum_thread(const struct ids_trace *trace, const struct ids_timeline *timeline, struct ids_keymap *functions,
                      struct ids_keymap *doings, struct own *own) {
    for (size_t i = 0; i + 1 < timeline->count; i++) {
        int64_t time_ps = timeline->from_ps[i + 1] - timeline->from_ps[i];
        uint64_t function = function_of(trace, timeline->doing[i]);
        if (!function) continue;
        uint64_t *all = ids_keymap_at(functions, function);
        if (!all) return -1;
        *all += (uint64_t)time_ps;
        uint64_t of_function = *all, *of_doing = ids_keymap_at(doings, (uint64_t)timeline->doing[i] + 1);
        if (!of_doing) return -1;
        *of_doing += (uint64_t)time_ps;
        if ((int64_t)of_function <= own->function_ps && function != own->function) continue;
        int is_more = function != own->function || (int64_t)*of_doing > own->doing_ps;
        *own = (struct own){function, is_more ? timeline->doing[i] : own->doing, (int64_t)of_function,
                            is_more ? (int64_t)*of_doing : own->doing_ps};
    }
    return 0;
}

/* From the first sample of the process to the last one. */
static int64_t sampled_ps(const struct ids_trace *trace, uint32_t host) {
    int64_t first_ps = INT64_MAX, last_ps = INT64_MIN;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->host != host || !track->sampling || track->first_ps > track->last_ps) continue;
        if (track->first_ps < first_ps) first_ps = track->first_ps;
        if (track->last_ps > last_ps) last_ps = track->last_ps;
    }
    return last_ps > first_ps ? last_ps - first_ps : 0;
}

static int find_own(const struct ids_trace *trace, uint32_t host, struct own *own) {
    struct ids_keymap functions = {0}, doings = {0};
    int failed = 0;
    for (size_t t = 0; t < trace->track_count && !failed; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->role != IDS_TRACK_HOST || track->host != host || !track->timeline.count) continue;
        ids_timeline_read(&track->timeline);
        if (!launches(trace, track)) failed = sum_thread(trace, &track->timeline, &functions, &doings, own);
    }
    ids_keymap_done(&functions);
    ids_keymap_done(&doings);
    return failed;
}

/* " (beside what launches mostly in mine, train.py:12)". How much it had nobody knows: a sample does not tell whether
 * the thread has a core. */
static const char *say_own(const struct ids_analysis *analysis, struct ids_report *report, uint32_t host) {
    const struct ids_trace *trace = analysis->trace;
    struct own own = {0};
    struct ids_idle_names names;
    struct ids_text culprit, where, recorded;
    int64_t window_ps = sampled_ps(trace, host);
    if (find_own(trace, host, &own) || window_ps <= 0 || own.function_ps < window_ps / THOUSAND * WORTH) return "";
    const char *text = "";
    if (!ids_idle_names_init(&names, trace)) {
        ids_idle_name(&names, IDS_HOST_PYTHON, ids_name_of_doing(own.doing, IDS_AS_IT_IS), &culprit, &where, &recorded);
        text = ids_report_text(report, " (beside what launches mostly in %.*s%s%.*s)", (int)culprit.length, culprit.at,
                               where.length ? ", " : "", (int)where.length, where.at);
    }
    ids_idle_names_done(&names);
    return text;
}

/* --- the processes ---------------------------------------------------------------------------------------------- */

static const char *say_command(struct ids_report *report, const struct ids_trace *trace, uint32_t command) {
    struct ids_text text = ids_strings_text(&trace->strings, command);
    return text.length ? ids_report_text(report, " (%.*s)", (int)text.length, text.at) : "";
}

static const char *say_started(const struct ids_trace *trace, struct ids_report *report,
                               const struct ids_sampling *sampling) {
    if (sampling->started_cores < WORTH) return "";
    return ids_report_text(
        report, ", %s%s that it started%s %.2f",
        sampling->started_processes > 1 ? ids_report_text(report, "%lld ", (long long)sampling->started_processes) : "",
        sampling->started_processes == 1 ? "a process" : "processes",
        say_command(report, trace, sampling->started_command), (double)sampling->started_cores / THOUSAND);
}

/* The process beside which most was taken by others than itself. NULL: nothing is known. */
static const struct ids_sampling *find_most(const struct ids_trace *trace, uint32_t *ret_host) {
    const struct ids_sampling *most = NULL;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        const struct ids_sampling *sampling = track->sampling ? &trace->samplings[track->sampling - 1] : NULL;
        if (!sampling || !sampling->cores) continue;
        if (most && sampling->started_cores + sampling->others_cores <= most->started_cores + most->others_cores)
            continue;
        most = sampling;
        *ret_host = track->host;
    }
    return most;
}

const char *ids_core_users_in_words(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_trace *trace = analysis->trace;
    uint32_t host = 0;
    const struct ids_sampling *most = find_most(trace, &host);
    if (!most) return NULL;
    return ids_report_text(report, "of %lld cores the program had %.2f%s%s, others%s %.2f", (long long)most->cores,
                           (double)most->own_cores / THOUSAND, say_own(analysis, report, host),
                           say_started(trace, report, most),
                           most->others_cores < WORTH ? "" : say_command(report, trace, most->others_command),
                           (double)most->others_cores / THOUSAND);
}

int ids_core_users_are_own(const struct ids_analysis *analysis) {
    uint32_t host = 0;
    const struct ids_sampling *most = find_most(analysis->trace, &host);
    struct own own = {0};
    if (!most || most->others_cores > THOUSAND * most->cores / 2) return 0;
    if (most->started_cores > most->others_cores && most->started_cores >= THOUSAND * most->cores / 4) return 1;
    return !find_own(analysis->trace, host, &own) && own.function_ps > sampled_ps(analysis->trace, host) / 2;
}
