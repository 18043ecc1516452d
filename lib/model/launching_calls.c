#include "lib/model/launching_calls.h"

#include "lib/model/doings.h"

#include <stdlib.h>
#include <string.h>

/* Calls of the runtime that are not further apart are one launch's or the next one's: an op of a framework makes
 * several of them, a few microseconds apart. */
#define AMONG_PS ((int64_t)20000000)

/* Of the samples of a call so many lie among calls of the runtime: an optimizer prepares lists of all parameters for
 * far longer than it launches. */
enum { LAUNCHING_SHARE = 8 };

/* A call of which fewer samples were taken may have none among its launches by chance. */
enum { FEW_SAMPLES = 16 };

uint32_t ids_sampled_thread(const struct ids_trace *trace, const struct ids_track *sampled) {
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->role == IDS_TRACK_HOST && track->host == sampled->host && track->id == sampled->id &&
            !ids_track_is_told(trace, track) && !ids_track_is_calls(trace, track))
            return t;
    }
    return IDS_NONE;
}

/* --- the runtime's calls ---------------------------------------------------------------------------------------- */

/* Not of what a framework has events of: PjitFunction(f) around its launches says more than any sample. */
static int is_of_runtime(const struct ids_trace *trace, const struct ids_timeline *timeline, size_t i) {
    const struct ids_doing *doing = &trace->doings[timeline->doing[i]];
    if (doing->account != IDS_HOST_DISPATCH) return 0;
    return ids_is_device_call(ids_strings_text(&trace->strings, trace->names[doing->around].text));
}

static int is_among_calls(const struct ids_trace *trace, const struct ids_timeline *timeline, int64_t when_ps) {
    size_t i = ids_timeline_find(timeline, when_ps);
    if (i == SIZE_MAX) return 0;
    if (is_of_runtime(trace, timeline, i)) return 1;
    if (trace->doings[timeline->doing[i]].account != IDS_NO_ACCOUNT || !i || i + 1 >= timeline->count) return 0;
    return timeline->from_ps[i + 1] - timeline->from_ps[i] <= AMONG_PS && is_of_runtime(trace, timeline, i - 1) &&
           is_of_runtime(trace, timeline, i + 1);
}

static int has_runtime(const struct ids_trace *trace, const struct ids_timeline *timeline) {
    size_t i = 0;
    ids_timeline_read(timeline);
    while (i < timeline->count && !is_of_runtime(trace, timeline, i)) i++;
    return i < timeline->count;
}

/* --- the calls of libraries ------------------------------------------------------------------------------------- */

/* A function of the program stands in a call, and waits for nothing. */
static int is_in_call(const struct ids_trace *trace, const struct ids_doing *doing) {
    return doing->account == IDS_HOST_PYTHON && doing->caller != IDS_NONE && doing->called != IDS_NONE &&
           !doing->waits && !doing->in_callback && trace->names[doing->called].is_sampled;
}

static int has_program(const struct ids_trace *trace, const struct ids_timeline *timeline) {
    size_t i = 0;
    ids_timeline_read(timeline);
    while (i < timeline->count && trace->doings[timeline->doing[i]].caller == IDS_NONE) i++;
    return i < timeline->count;
}

/* Frameworks that a program launches with. */
enum { PACKAGES = 16 };

struct finding {
    struct ids_trace *trace;
    uint32_t *thread;      /* by sampled track of the program: its thread's track; IDS_NONE: it is none */
    uint8_t *helps;        /* by track: it launches, and runs no function of the program */
    uint64_t *near, *seen; /* by name of a call: samples */
    uint8_t *has_kernel;   /* by name of a call: a kernel was launched about then */
    struct ids_text packages[PACKAGES];
    size_t package_count;
};

/* "torch" of "$site-packages/torch/optim/optimizer.py:533 wrapper"; length 0: no file of a package. */
static struct ids_text package_of(const struct ids_trace *trace, uint32_t name) {
    static const char folder[] = "-packages/";
    struct ids_text text = ids_strings_text(&trace->strings, trace->names[name].text);
    const char *from = memmem(text.at, text.length, folder, sizeof folder - 1), *end = text.at + text.length;
    if (!from) return (struct ids_text){"", 0};
    from += sizeof folder - 1;
    const char *slash = memchr(from, '/', (size_t)(end - from));
    return slash ? (struct ids_text){from, (uint32_t)(slash - from)} : (struct ids_text){"", 0};
}

/* No more are looked at while a track does one thing, however long: a file may say that it took months. */
enum { TICKS_OF_TURN = 256 };

/* When samples saw a track in one doing, one after another. */
struct ticks {
    const struct ids_track *sampled;
    int64_t period_ps, when_ps;
    uint64_t samples; /* that the tick stands for */
    size_t turn;
};

static int next_tick(const struct ids_trace *trace, struct ticks *ticks) {
    const struct ids_timeline *timeline = &ticks->sampled->timeline;
    const struct ids_sampling *sampling = ids_sampling_of(trace, ticks->sampled);
    if (ticks->period_ps && ticks->when_ps < timeline->from_ps[ticks->turn + 1] - ticks->period_ps) {
        ticks->when_ps += ticks->period_ps;
        return 1;
    }
    if (ticks->period_ps) ticks->turn++;
    if (ticks->turn + 1 >= timeline->count) return 0;
    int64_t length_ps = timeline->from_ps[ticks->turn + 1] - timeline->from_ps[ticks->turn];
    int64_t own_ps = sampling && sampling->period_ps > 0 && sampling->period_ps < length_ps ? sampling->period_ps : 0;
    ticks->period_ps = own_ps > length_ps / TICKS_OF_TURN ? own_ps : own_ps ? length_ps / TICKS_OF_TURN : length_ps + 1;
    ticks->samples = own_ps ? (uint64_t)(ticks->period_ps / own_ps) : 1;
    ticks->when_ps = timeline->from_ps[ticks->turn] + (ticks->period_ps > length_ps ? length_ps : ticks->period_ps) / 2;
    return 1;
}

static int does_nothing(const struct ids_trace *trace, const struct ids_timeline *timeline, int64_t when_ps) {
    size_t i = ids_timeline_find(timeline, when_ps);
    return i == SIZE_MAX || trace->doings[timeline->doing[i]].account == IDS_NO_ACCOUNT;
}

/* Of a thread of the program and one that launches: whether the one launches mostly while the other one stands in a
 * call, of which nothing else was recorded. */
static int works_for(const struct finding *finding, uint32_t sampled, uint32_t helper) {
    const struct ids_trace *trace = finding->trace;
    const struct ids_timeline *own = &trace->tracks[finding->thread[sampled]].timeline;
    struct ticks ticks = {.sampled = &trace->tracks[sampled]};
    uint64_t all = 0, during = 0;
    while (next_tick(trace, &ticks)) {
        if (!is_among_calls(trace, &trace->tracks[helper].timeline, ticks.when_ps)) continue;
        all += ticks.samples;
        if (is_in_call(trace, &trace->doings[ticks.sampled->timeline.doing[ticks.turn]]) &&
            does_nothing(trace, own, ticks.when_ps))
            during += ticks.samples;
    }
    return 2 * during > all;
}

static int is_near(const struct finding *finding, uint32_t sampled, int64_t when_ps) {
    const struct ids_trace *trace = finding->trace;
    if (is_among_calls(trace, &trace->tracks[finding->thread[sampled]].timeline, when_ps)) return 1;
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->works_for == finding->thread[sampled] + 1 && is_among_calls(trace, &track->timeline, when_ps))
            return 1;
    }
    return 0;
}

/* Whether the thread itself launched in that turn of its samples. */
static int launches_in_turn(const struct finding *finding, uint32_t sampled, size_t turn) {
    const struct ids_trace *trace = finding->trace;
    const struct ids_timeline *seen = &trace->tracks[sampled].timeline,
                              *own = &trace->tracks[finding->thread[sampled]].timeline;
    size_t i = ids_timeline_find(own, seen->from_ps[turn]);
    for (i = i == SIZE_MAX ? 0 : i + 1; i < own->count && own->from_ps[i] < seen->from_ps[turn + 1]; i++) {
        if (!is_of_runtime(trace, own, i)) continue;
        uint32_t name = trace->doings[own->doing[i]].name;
        if (ids_text_contains(ids_strings_text(&trace->strings, trace->names[name].text), "Launch")) return 1;
    }
    return 0;
}

static void count(struct finding *finding, uint32_t sampled) {
    struct ticks ticks = {.sampled = &finding->trace->tracks[sampled]};
    while (next_tick(finding->trace, &ticks)) {
        const struct ids_doing *doing = &finding->trace->doings[ticks.sampled->timeline.doing[ticks.turn]];
        if (!is_in_call(finding->trace, doing)) continue;
        finding->has_kernel[doing->called] |= (uint8_t)launches_in_turn(finding, sampled, ticks.turn);
        finding->seen[doing->called] += ticks.samples;
        if (is_near(finding, sampled, ticks.when_ps)) finding->near[doing->called] += ticks.samples;
    }
}

static void find_threads(struct finding *finding) {
    const struct ids_trace *trace = finding->trace;
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        finding->helps[t] = track->role == IDS_TRACK_HOST && has_runtime(trace, &track->timeline);
    }
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        finding->thread[t] = IDS_NONE;
        if (track->role != IDS_TRACK_SAMPLED || !has_program(trace, &track->timeline)) continue;
        finding->thread[t] = ids_sampled_thread(trace, track);
        if (finding->thread[t] == IDS_NONE)
            finding->thread[t] = t;
        else
            finding->helps[finding->thread[t]] = 0;
    }
}

static void find_workers(const struct finding *finding) {
    struct ids_trace *trace = finding->trace;
    for (uint32_t h = 0; h < trace->track_count; h++) {
        for (uint32_t t = 0; t < trace->track_count && finding->helps[h] && !trace->tracks[h].works_for; t++) {
            if (finding->thread[t] != IDS_NONE && trace->tracks[t].host == trace->tracks[h].host &&
                works_for(finding, t, h))
                trace->tracks[h].works_for = finding->thread[t] + 1;
        }
    }
}

static int launches(const struct finding *finding, uint32_t called) {
    return finding->near[called] && finding->near[called] >= finding->seen[called] / LAUNCHING_SHARE;
}

static int is_launching_package(const struct finding *finding, struct ids_text package) {
    for (size_t i = 0; i < finding->package_count; i++) {
        struct ids_text other = finding->packages[i];
        if (other.length == package.length && !memcmp(other.at, package.at, package.length)) return 1;
    }
    return 0;
}

static void find_packages(struct finding *finding) {
    for (uint32_t n = 0; n < finding->trace->name_count && finding->package_count < PACKAGES; n++) {
        if (!launches(finding, n)) continue;
        struct ids_text package = package_of(finding->trace, n);
        if (package.length && !is_launching_package(finding, package))
            finding->packages[finding->package_count++] = package;
    }
}

/* Few samples were taken of it, and other calls of its package launch. */
static int is_alike(const struct finding *finding, uint32_t called) {
    const struct ids_trace *trace = finding->trace;
    struct ids_text package = package_of(trace, called);
    if (!package.length || !finding->has_kernel[called] || finding->seen[called] >= FEW_SAMPLES) return 0;
    return is_launching_package(finding, package);
}

static void mark(struct finding *finding) {
    struct ids_trace *trace = finding->trace;
    find_packages(finding);
    for (size_t d = 0; d < trace->doing_count; d++) {
        struct ids_doing *doing = &trace->doings[d];
        if (is_in_call(trace, doing))
            doing->launches = launches(finding, doing->called) || is_alike(finding, doing->called);
    }
}

int ids_launching_calls_find(struct ids_trace *trace) {
    if (!trace->sampling_count) return 0;
    struct finding finding = {
        .trace = trace,
        .thread = malloc((trace->track_count + 1) * sizeof *finding.thread),
        .helps = calloc(trace->track_count + 1, sizeof *finding.helps),
        .near = calloc(trace->name_count + 1, sizeof *finding.near),
        .seen = calloc(trace->name_count + 1, sizeof *finding.seen),
        .has_kernel = calloc(trace->name_count + 1, sizeof *finding.has_kernel),
    };
    int failed = !finding.thread || !finding.helps || !finding.near || !finding.seen || !finding.has_kernel;
    if (!failed) {
        find_threads(&finding);
        find_workers(&finding);
        for (uint32_t t = 0; t < trace->track_count; t++) {
            if (finding.thread[t] != IDS_NONE) count(&finding, t);
        }
        mark(&finding);
    }
    free(finding.thread);
    free(finding.helps);
    free(finding.near);
    free(finding.seen);
    free(finding.has_kernel);
    return failed ? -1 : 0;
}

/* --- threads of libraries --------------------------------------------------------------------------------------- */

static int64_t doing_for(struct ids_trace *trace, uint32_t own, uint32_t others) {
    const struct ids_doing *call = &trace->doings[others];
    if (trace->doings[own].account == IDS_NO_ACCOUNT || !call->launches || call->account == IDS_HOST_REGION) return own;
    return ids_doing_called_by(trace, own, others);
}

static int join(struct ids_trace *trace, struct ids_timeline *own, const struct ids_timeline *others) {
    struct ids_timeline merged = {0};
    uint32_t did = IDS_NO_DOING, other = IDS_NO_DOING;
    int failed = 0;
    ids_timeline_read(own);
    ids_timeline_read(others);
    for (size_t i = 0, o = 0; (i < own->count || o < others->count) && !failed;) {
        int64_t own_ps = i < own->count ? own->from_ps[i] : INT64_MAX,
                others_ps = o < others->count ? others->from_ps[o] : INT64_MAX;
        if (own_ps <= others_ps) did = own->doing[i++];
        if (others_ps <= own_ps) other = others->doing[o++];
        int64_t doing = doing_for(trace, did, other);
        failed = doing < 0 || ids_timeline_turn(&merged, own_ps < others_ps ? own_ps : others_ps, (uint32_t)doing);
    }
    if (failed) {
        ids_timeline_done(&merged);
        return -1;
    }
    ids_timeline_done(own);
    ids_trace_put_timeline_far(trace, &merged);
    *own = merged;
    return 0;
}

int ids_launching_calls_join(struct ids_trace *trace) {
    for (uint32_t t = 0; t < trace->track_count; t++) {
        uint32_t other = trace->tracks[t].works_for;
        if (other && join(trace, &trace->tracks[t].timeline, &trace->tracks[other - 1].timeline)) return -1;
    }
    return 0;
}
