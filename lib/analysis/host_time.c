#include "lib/analysis/host_time.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/deeds.h"
#include "lib/model/python_frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A gap that is not longer than ten launches are apart, or 20 us, is the price of getting to the next launch; above half a millisecond
 * it is none, however rarely a program launches. */
enum { SHORT_GAP_LAUNCHES = 10 };
#define SHORT_GAP_LEAST_PS ((int64_t)20000000)
#define SHORT_GAP_MOST_PS ((int64_t)500000000)

/* A call's own time above 0.2 ms and 50 times the median of its kind is its first use (modules, contexts, plans, workspaces), if it is early, in the
 * first tenth of all calls of its name, or such long ones are rare: at most one in 50. A busy host makes any call long at any time. */
enum { FIRST_USE_MEDIANS = 50 };
#define FIRST_USE_RARE ((size_t)50)
#define FIRST_USE_EARLY ((size_t)10)
#define FIRST_USE_LEAST_PS ((int64_t)200000000)

/* The threads whose doing is looked at, in that order. One that tells of compilations stands before the one that it tells of. */
enum { THREADS = 12 };
struct threads {
    uint32_t at[THREADS];
    uint8_t is_told[THREADS];
    int count;
};

/* A runtime's pool thread puts data on a device for another thread. */
struct staging {
    int64_t from_ps, to_ps;
    uint32_t host, deed;
};

/* From the first to the last event of a host's file: before and after that its profiler was not open. */
struct recorded {
    int64_t from_ps, to_ps;
};

/* How long a call's own moments are. */
struct usual {
    int64_t median_ps, early_ps; /* the median, and until when they are among the first */
    int is_rarely_long;
};

struct ids_host_time {
    const struct ids_analysis *analysis;
    uint32_t *program_thread;  /* by host: track, IDS_NONE */
    uint32_t *told_of;         /* by track: the track that tells of its compilations (jax.monitoring); IDS_NONE */
    int64_t *short_ps;         /* by active device */
    struct usual *usual;       /* by name, of its dispatching moments; all 0 where none is long */
    struct staging *staging;   /* by host, in order of time, one at a time */
    size_t staging_count, staging_room;
    struct recorded *recorded; /* by host */
    struct recorded *frames;   /* by host: from the first to the last Python frame of the program's thread */
    struct ids_arena texts;
    struct ids_text *where;    /* by deed: "train.py:12 step"; at NULL: not asked yet */
    struct threads threads;    /* of `launch` */
    const struct ids_event *launch;
};

static struct ids_text text_of(const struct ids_trace *trace, uint32_t name) {
    return name == IDS_NONE ? (struct ids_text){"", 0} : ids_strings_text(&trace->strings, trace->names[name].text);
}

/* --- what is found once ----------------------------------------------------------------------------------------- */

static void find_program_threads(struct ids_host_time *time) {
    const struct ids_trace *trace = time->analysis->trace;
    for (size_t h = 0; h < trace->host_count; h++) {
        uint64_t best[3] = {0, 0, 0};
        time->program_thread[h] = IDS_NONE;
        for (size_t t = 0; t < trace->track_count; t++) {
            const struct ids_track *track = &trace->tracks[t];
            if (track->host != h || track->role != IDS_TRACK_HOST || ids_track_is_told(trace, track)) continue;
            uint64_t own[3] = {0, 0, track->strand.count}; /* step annotations, calls of jitted functions, changes */
            struct ids_cursor cursor = ids_cursor_over(&track->events);
            for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
                own[0] += event->kind == IDS_KIND_STEP_MARK;
                own[1] += event->kind == IDS_KIND_DISPATCH;
            }
            int better = 0;
            for (int i = 0; i < 3 && !better; i++) {
                if (own[i] < best[i]) break;
                better = own[i] > best[i];
            }
            if (!better) continue;
            memcpy(best, own, sizeof best);
            time->program_thread[h] = (uint32_t)t;
        }
    }
}

static void find_told(struct ids_host_time *time) {
    const struct ids_trace *trace = time->analysis->trace;
    for (size_t t = 0; t < trace->track_count; t++) time->told_of[t] = IDS_NONE;
    for (size_t t = 0; t < trace->track_count; t++) {
        if (!ids_track_is_told(trace, &trace->tracks[t])) continue;
        struct ids_cursor cursor = ids_cursor_over(&trace->tracks[t].events);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (event->launch) time->told_of[event->launch->track] = (uint32_t)t;
        }
    }
}

static void find_recorded(struct ids_host_time *time) {
    const struct ids_trace *trace = time->analysis->trace;
    for (size_t h = 0; h < trace->host_count; h++) time->recorded[h] = (struct recorded){INT64_MAX, INT64_MIN};
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        struct recorded *recorded = &time->recorded[track->host];
        if (track->first_ps < recorded->from_ps) recorded->from_ps = track->first_ps;
        if (track->last_ps > recorded->to_ps) recorded->to_ps = track->last_ps;
    }
}

static void find_frames(struct ids_host_time *time) {
    const struct ids_trace *trace = time->analysis->trace;
    for (size_t h = 0; h < trace->host_count; h++) {
        struct recorded *frames = &time->frames[h];
        *frames = (struct recorded){INT64_MAX, INT64_MIN};
        if (time->program_thread[h] == IDS_NONE) continue;
        const struct ids_strand *strand = &trace->tracks[time->program_thread[h]].strand;
        size_t first = 0, last = strand->count;
        while (first < last && trace->deeds[strand->deed[first]].account != IDS_HOST_PYTHON) first++;
        while (last > first && trace->deeds[strand->deed[last - 1]].account != IDS_HOST_PYTHON) last--;
        if (first < last) *frames = (struct recorded){strand->from_ps[first], strand->from_ps[last - 1]};
    }
}

static int by_host(const void *a, const void *b) {
    const struct staging *left = a, *right = b;
    if (left->host != right->host) return left->host < right->host ? -1 : 1;
    if (left->from_ps != right->from_ps) return left->from_ps < right->from_ps ? -1 : 1;
    return (left->to_ps > right->to_ps) - (left->to_ps < right->to_ps);
}

/* What the thread does that made a pool thread put data; that thread's own deed where it does something else by then. */
static uint32_t deed_of_staging(const struct ids_trace *trace, const struct ids_event *event,
                                const struct ids_event *cause) {
    const struct ids_strand *strand = &trace->tracks[cause->track].strand;
    size_t i = ids_strand_find(strand, cause->start_ps);
    if (i != SIZE_MAX && trace->deeds[strand->deed[i]].account == IDS_HOST_STAGING) return strand->deed[i];
    strand = &trace->tracks[event->track].strand;
    i = ids_strand_find(strand, event->start_ps);
    return i != SIZE_MAX && trace->deeds[strand->deed[i]].account == IDS_HOST_STAGING ? strand->deed[i] : IDS_NONE;
}

static int find_staging(struct ids_host_time *time) {
    const struct ids_trace *trace = time->analysis->trace;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (track->role != IDS_TRACK_HOST) continue;
        struct ids_cursor cursor = ids_cursor_over(&track->events);
        for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
            if (event->kind != IDS_KIND_STAGING) continue;
            const struct ids_event *cause = ids_event_cause(trace, event);
            if (!cause || cause->track == t) continue;
            uint32_t deed = deed_of_staging(trace, event, cause);
            if (deed == IDS_NONE) continue;
            struct staging *staging = IDS_PUSH(time->staging, time->staging_count, time->staging_room);
            if (!staging) return -1;
            *staging = (struct staging){event->start_ps, event->end_ps, track->host, deed};
        }
    }
    if (time->staging_count) qsort(time->staging, time->staging_count, sizeof *time->staging, by_host);
    size_t kept = 0;
    for (size_t i = 0; i < time->staging_count; i++) {
        struct staging staging = time->staging[i];
        if (kept && time->staging[kept - 1].host == staging.host && time->staging[kept - 1].to_ps > staging.from_ps)
            staging.from_ps = time->staging[kept - 1].to_ps;
        if (staging.from_ps < staging.to_ps) time->staging[kept++] = staging;
    }
    time->staging_count = kept;
    return 0;
}

static int shorter(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int64_t median_of(int64_t *at, size_t count) {
    if (!count) return 0;
    qsort(at, count, sizeof *at, shorter);
    return at[count / 2];
}

/* What a device's launches are apart, in the middle: of some thousands of them, all over the run. */
static int find_short_gaps(struct ids_host_time *time) {
    enum { SAMPLES = 4096 };
    const struct ids_analysis *analysis = time->analysis;
    int64_t *apart = malloc(SAMPLES * sizeof *apart);
    if (!apart) return -1;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        const struct ids_events *activity = &analysis->busy[b].device->activity;
        const size_t stride = activity->count / SAMPLES + 1;
        const struct ids_event *last = NULL;
        size_t count = 0, seen = 0;
        for (size_t i = 0; i < activity->count && count < SAMPLES; i++) {
            const struct ids_event *launch = activity->at[i].launch;
            if (!launch || launch == last) continue;
            if (last && launch->start_ps > last->start_ps && seen++ % stride == 0)
                apart[count++] = launch->start_ps - last->start_ps;
            last = launch;
        }
        int64_t median_ps = median_of(apart, count);
        int64_t short_ps = median_ps > SHORT_GAP_MOST_PS ? SHORT_GAP_MOST_PS : median_ps * SHORT_GAP_LAUNCHES;
        if (short_ps < SHORT_GAP_LEAST_PS) short_ps = SHORT_GAP_LEAST_PS;
        time->short_ps[b] = short_ps > SHORT_GAP_MOST_PS ? SHORT_GAP_MOST_PS : short_ps;
    }
    free(apart);
    return 0;
}

/* How long a turn of a strand lasts; the last one has no end. */
static int64_t length_of(const struct ids_strand *strand, size_t i) {
    return i + 1 < strand->count ? strand->from_ps[i + 1] - strand->from_ps[i] : 0;
}

struct moments {
    int64_t *at, *from_ps; /* how long each is, and when it begins */
    size_t count, room;
};

static int add_moment(struct moments *moments, int64_t from_ps, int64_t length_ps) {
    if (moments->count == moments->room) {
        size_t room = moments->room ? moments->room * 2 : 16;
        int64_t *at = realloc(moments->at, room * sizeof *at);
        if (at) moments->at = at;
        int64_t *begins = at ? realloc(moments->from_ps, room * sizeof *begins) : NULL;
        if (!begins) return -1;
        moments->from_ps = begins;
        moments->room = room;
    }
    moments->at[moments->count] = length_ps;
    moments->from_ps[moments->count++] = from_ps;
    return 0;
}

static int is_long(int64_t length_ps, int64_t usual_ps) {
    return usual_ps > 0 && length_ps >= FIRST_USE_LEAST_PS && length_ps / FIRST_USE_MEDIANS >= usual_ps;
}

/* A name that was met once or twice has no usual length of its own: that of all of them together is taken. */
static struct usual usual_of(const struct moments *moments, int64_t of_all_ps) {
    enum { FEW = 3 };
    struct usual usual = {.median_ps = moments->count < FEW ? of_all_ps : median_of(moments->at, moments->count)};
    if (moments->count) {
        qsort(moments->from_ps, moments->count, sizeof *moments->from_ps, shorter);
        usual.early_ps = moments->from_ps[(moments->count - 1) / FIRST_USE_EARLY];
    }
    size_t often = 0;
    for (size_t i = 0; i < moments->count; i++) often += (size_t)is_long(moments->at[i], usual.median_ps);
    usual.is_rarely_long = often * FIRST_USE_RARE <= moments->count;
    return usual;
}

/* Medians of the names that have a long moment of dispatching; the others need none. */
static int find_usual(struct ids_host_time *time) {
    const struct ids_trace *trace = time->analysis->trace;
    struct moments *moments = NULL;
    struct ids_keymap of_name = {0};
    size_t count = 0, room = 0, dispatched = 0;
    int failed = 0;
    for (int pass = 0; pass < 2 && !failed; pass++) {
        for (size_t t = 0; t < trace->track_count && !failed; t++) {
            const struct ids_strand *strand = &trace->tracks[t].strand;
            for (size_t i = 0; i < strand->count && !failed; i++) {
                const struct ids_deed *deed = &trace->deeds[strand->deed[i]];
                int64_t length_ps = length_of(strand, i);
                if (deed->account != IDS_HOST_DISPATCH) continue;
                dispatched += !pass;
                uint64_t number = count;
                if (!pass) {
                    if (length_ps < FIRST_USE_LEAST_PS) continue;
                    int added = ids_keymap_add(&of_name, (uint64_t)deed->name + 1, count);
                    if (added > 0) {
                        struct moments *fresh = IDS_PUSH(moments, count, room);
                        if (fresh) *fresh = (struct moments){0};
                        failed = !fresh;
                    }
                    failed = failed || added < 0;
                } else if (moments && ids_keymap_get(&of_name, (uint64_t)deed->name + 1, &number)) {
                    struct moments *own = &moments[number];
                    failed = add_moment(own, strand->from_ps[i], length_ps);
                }
            }
        }
    }
    struct moments all = {0};
    enum { SAMPLES = 4096 };
    size_t seen = 0, stride = dispatched / SAMPLES + 1; /* of some thousands of moments, all over the run */
    for (size_t t = 0; t < trace->track_count && !failed && count; t++) {
        const struct ids_strand *strand = &trace->tracks[t].strand;
        for (size_t i = 0; i < strand->count && !failed; i++) {
            if (trace->deeds[strand->deed[i]].account != IDS_HOST_DISPATCH || seen++ % stride) continue;
            failed = add_moment(&all, strand->from_ps[i], length_of(strand, i));
        }
    }
    int64_t usual_ps = failed ? 0 : median_of(all.at, all.count);
    for (size_t n = 0; n < trace->name_count && moments && !failed; n++) {
        uint64_t number;
        if (ids_keymap_get(&of_name, (uint64_t)n + 1, &number)) time->usual[n] = usual_of(&moments[number], usual_ps);
    }
    for (size_t i = 0; i < count; i++) {
        free(moments[i].at);
        free(moments[i].from_ps);
    }
    free(moments);
    free(all.at);
    free(all.from_ps);
    ids_keymap_done(&of_name);
    return failed ? -1 : 0;
}

int ids_host_time_new(const struct ids_analysis *analysis, struct ids_host_time **ret_time, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_host_time *time = calloc(1, sizeof *time);
    if (!time) return ids_no_memory(err);
    time->analysis = analysis;
    time->program_thread = malloc((trace->host_count + 1) * sizeof *time->program_thread);
    time->told_of = malloc((trace->track_count + 1) * sizeof *time->told_of);
    time->short_ps = calloc(analysis->busy_count + 1, sizeof *time->short_ps);
    time->usual = calloc(trace->name_count + 1, sizeof *time->usual);
    time->where = calloc(trace->deed_count + 1, sizeof *time->where);
    time->recorded = calloc(trace->host_count + 1, sizeof *time->recorded);
    time->frames = calloc(trace->host_count + 1, sizeof *time->frames);
    int failed = !time->recorded || !time->frames || !time->program_thread || !time->told_of || !time->short_ps || !time->usual || !time->where;
    if (!failed) {
        find_program_threads(time);
        find_told(time);
        find_recorded(time);
        find_frames(time);
        failed = find_short_gaps(time) || find_usual(time) || find_staging(time);
    }
    if (failed) {
        ids_host_time_free(time);
        return ids_no_memory(err);
    }
    *ret_time = time;
    return 0;
}

void ids_host_time_free(struct ids_host_time *time) {
    if (!time) return;
    free(time->program_thread);
    free(time->told_of);
    free(time->short_ps);
    free(time->usual);
    free(time->staging);
    free(time->recorded);
    free(time->frames);
    free(time->where);
    ids_arena_done(&time->texts);
    free(time);
}

/* --- names ------------------------------------------------------------------------------------------------------ */

/* Between the first `open` and the last `close`: the f of PjitFunction(f). */
static struct ids_text between(struct ids_text text, char open, char close) {
    const char *from = memchr(text.at, open, text.length);
    const char *to = from ? memrchr(from, close, (size_t)(text.at + text.length - from)) : NULL;
    return from && to ? (struct ids_text){from + 1, (uint32_t)(to - from - 1)} : text;
}

/* What a host event is called for a person: the function of a jitted call or of a compilation, the range of NVTX, else its name. */
static struct ids_text call_name(struct ids_text name) {
    static const char *const wrappers[] = {"PjitFunction(", "jax.compile(", "jax.trace(", "jax.lower(",
                                           "jax.cache_read("};
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
        if (ids_text_begins(name, wrappers[i])) return between(name, '(', ')');
    }
    struct ids_python_frame frame;
    if (ids_python_frame_of(name, &frame)) return frame.function;
    if (ids_text_begins(name, "NVTX:")) return (struct ids_text){name.at + 5, name.length - 5};
    return name;
}

/* "train.py:12 step" of the program's function around a deed, or what else says where it is; empty where nothing does. */
static struct ids_text where_of(struct ids_host_time *time, uint32_t number) {
    const struct ids_trace *trace = time->analysis->trace;
    struct ids_text *known = &time->where[number];
    if (known->at) return *known;
    *known = (struct ids_text){"", 0};
    const struct ids_deed *deed = &trace->deeds[number];
    struct ids_python_frame frame;
    if (deed->caller == IDS_NONE || !ids_python_frame_of(text_of(trace, deed->caller), &frame)) return *known;
    size_t room = (size_t)frame.file.length + frame.function.length + 32;
    char *text = ids_arena_alloc(&time->texts, room);
    if (!text) return *known;
    int length = snprintf(text, room, "%.*s:%lld", (int)frame.file.length, frame.file.at, (long long)frame.line);
    if (deed->account != IDS_HOST_PYTHON)
        length += snprintf(text + length, room - (size_t)length, " %.*s", (int)frame.function.length, frame.function.at);
    *known = (struct ids_text){text, (uint32_t)length};
    return *known;
}

static struct ids_text function_of(const struct ids_trace *trace, uint32_t name) {
    struct ids_python_frame frame;
    struct ids_text text = text_of(trace, name);
    return ids_python_frame_of(text, &frame) ? frame.function : text;
}

/* Names are numbers: first nobody, then each deed as it is and as the call of a runtime, then programs, then names of events. */
enum { NOBODY, DEEDS };
enum { AS_IT_IS, AS_CALL, MANNERS };

static uint32_t name_of_deed(uint32_t deed, int manner) {
    return DEEDS + deed * MANNERS + (uint32_t)manner;
}

static uint32_t name_of_module(const struct ids_host_time *time, uint32_t module) {
    return name_of_deed((uint32_t)time->analysis->trace->deed_count, 0) + module;
}

static uint32_t name_of_name(const struct ids_host_time *time, uint32_t name) {
    return name_of_module(time, (uint32_t)time->analysis->trace->module_count) + name;
}

size_t ids_host_time_names(const struct ids_host_time *time) {
    return name_of_name(time, (uint32_t)time->analysis->trace->name_count);
}

void ids_host_time_name(struct ids_host_time *time, enum ids_account account, uint32_t name,
                        struct ids_text *ret_culprit, struct ids_text *ret_where) {
    const struct ids_trace *trace = time->analysis->trace;
    *ret_culprit = *ret_where = (struct ids_text){"", 0};
    if (name == NOBODY && account == IDS_PROFILER)
        *ret_culprit = (struct ids_text){IDS_NOT_RECORDING, sizeof IDS_NOT_RECORDING - 1};
    if (name == NOBODY) return;
    if (name >= name_of_name(time, 0)) {
        *ret_culprit = call_name(text_of(trace, name - name_of_name(time, 0)));
    } else if (name >= name_of_module(time, 0)) {
        *ret_culprit = ids_strings_text(&trace->strings, trace->modules[name - name_of_module(time, 0)].name);
    } else {
        uint32_t number = (name - DEEDS) / MANNERS;
        const struct ids_deed *deed = &trace->deeds[number];
        *ret_where = where_of(time, number);
        if (account == IDS_HOST_PYTHON)
            *ret_culprit = function_of(trace, deed->caller == IDS_NONE ? deed->name : deed->caller);
        else /* the outermost of what has the account: the jitted function, the reader, the call that waits */
            *ret_culprit = call_name(text_of(trace, (name - DEEDS) % MANNERS == AS_CALL ? deed->name : deed->around));
    }
}

/* What a launch is part of, in the program's words: the jitted function, the framework's op, else the call. */
static uint32_t name_of_launch(const struct ids_host_time *time, const struct ids_event *launch) {
    const struct ids_trace *trace = time->analysis->trace;
    const struct ids_strand *strand = &trace->tracks[launch->track].strand;
    size_t i = ids_strand_find(strand, launch->start_ps);
    enum ids_account account =
        i == SIZE_MAX ? IDS_NO_ACCOUNT : (enum ids_account)trace->deeds[strand->deed[i]].account;
    int tells = account == IDS_HOST_DISPATCH || account == IDS_HOST_COMPILE;
    return tells ? name_of_deed(strand->deed[i], AS_IT_IS) : name_of_name(time, launch->name);
}

/* --- the division ----------------------------------------------------------------------------------------------- */

struct division {
    struct ids_host_time *time;
    const struct threads *threads;
    int is_short;      /* all that is not compiling, input, waiting or the runtime is dispatch */
    int64_t launch_ps; /* from here on the host launches */
    uint32_t waited;   /* the deed of waiting for a device in which the gap began; IDS_NONE */
    const struct ids_event *launch;
    uint32_t host;
    int (*visit)(void *context, const struct ids_idle_part *part, struct ids_error *err);
    void *context;
};

static void look_at(struct ids_host_time *time, struct threads *threads, uint32_t track) {
    if (track == IDS_NONE) return;
    for (int i = 0; i < threads->count; i++) {
        if (threads->at[i] == track) return;
    }
    int has_teller = time->told_of[track] != IDS_NONE;
    if (threads->count >= THREADS - has_teller) return;
    if (has_teller) {
        threads->is_told[threads->count] = 1;
        threads->at[threads->count++] = time->told_of[track];
    }
    threads->is_told[threads->count] = 0;
    threads->at[threads->count++] = track;
}

static void find_threads(struct ids_host_time *time, const struct ids_event *launch, uint32_t host) {
    enum { HOPS = 8 };
    const struct ids_trace *trace = time->analysis->trace;
    struct threads *threads = &time->threads;
    if (threads->count && time->launch == launch && launch) return;
    time->launch = launch;
    threads->count = 0;
    for (int hop = 0; launch && hop < HOPS; hop++) {
        look_at(time, threads, launch->track);
        launch = ids_event_cause(trace, launch);
    }
    look_at(time, threads, time->program_thread[host]);
}

static int is_first_use(const struct division *division, const struct ids_strand *strand, size_t i) {
    const struct ids_trace *trace = division->time->analysis->trace;
    const struct ids_deed *deed = &trace->deeds[strand->deed[i]];
    int64_t length_ps = length_of(strand, i);
    if (length_ps < FIRST_USE_LEAST_PS || deed->account != IDS_HOST_DISPATCH) return 0;
    const struct usual *usual = &division->time->usual[deed->name];
    if (!is_long(length_ps, usual->median_ps)) return 0;
    return usual->is_rarely_long || strand->from_ps[i] <= usual->early_ps;
}

static int tell(const struct division *division, uint32_t name, enum ids_account account, int64_t from_ps,
                int64_t to_ps, struct ids_error *err) {
    const struct ids_idle_part part = {
        .from_ps = from_ps, .to_ps = to_ps, .account = (uint8_t)account, .known = IDS_RECORDED, .name = name};
    return division->visit(division->context, &part, err);
}

/* Where a pool thread puts data on a device meanwhile, that is what is waited for; the rest is as `rest` says. */
static int tell_beside_staging(const struct division *division, struct ids_idle_part rest, int64_t from_ps,
                               int64_t to_ps, struct ids_error *err) {
    const struct ids_host_time *time = division->time;
    size_t low = 0, high = time->staging_count;
    while (low < high) { /* the first one of the host that ends behind `from` */
        size_t middle = low + (high - low) / 2;
        const struct staging *staging = &time->staging[middle];
        if (staging->host < division->host || (staging->host == division->host && staging->to_ps <= from_ps))
            low = middle + 1;
        else
            high = middle;
    }
    while (from_ps < to_ps) {
        const struct staging *staging =
            low < time->staging_count && time->staging[low].host == division->host ? &time->staging[low] : NULL;
        int is_inside = staging && staging->from_ps <= from_ps;
        int64_t until_ps = !staging ? to_ps : is_inside ? staging->to_ps : staging->from_ps;
        if (until_ps > to_ps) until_ps = to_ps;
        rest.from_ps = from_ps;
        rest.to_ps = until_ps;
        int code = is_inside ? tell(division, name_of_deed(staging->deed, AS_IT_IS), IDS_HOST_STAGING, from_ps, until_ps, err)
                             : division->visit(division->context, &rest, err);
        if (code) return code;
        low += (size_t)is_inside;
        from_ps = until_ps;
    }
    return 0;
}

static int tell_deed(const struct division *division, const struct ids_strand *strand, size_t i, int64_t from_ps,
                     int64_t to_ps, struct ids_error *err) {
    uint32_t number = strand->deed[i];
    enum ids_account account = (enum ids_account)division->time->analysis->trace->deeds[number].account;
    int in_launch = from_ps >= division->launch_ps;
    if (is_first_use(division, strand, i))
        return tell(division, name_of_deed(number, AS_CALL), IDS_HOST_RUNTIME, from_ps, to_ps, err);
    if (in_launch && account == IDS_HOST_SYNC) account = IDS_HOST_DISPATCH; /* a copy that will wait has yet to begin */
    int is_price = account == IDS_HOST_DISPATCH ||
                   (division->is_short && (account == IDS_HOST_PYTHON || account == IDS_HOST_REGION));
    if (account == IDS_HOST_SYNC) {
        struct ids_idle_part waiting = {.account = IDS_HOST_SYNC, .known = IDS_RECORDED, .name = name_of_deed(number, AS_IT_IS)};
        return tell_beside_staging(division, waiting, from_ps, to_ps, err);
    }
    int manner = account == IDS_HOST_RUNTIME ? AS_CALL : AS_IT_IS;
    if (!is_price) return tell(division, name_of_deed(number, manner), account, from_ps, to_ps, err);
    /* The device stands idle because the host waited for it before it launched more. */
    if (division->waited != IDS_NONE)
        return tell(division, name_of_deed(division->waited, AS_IT_IS), IDS_HOST_SYNC, from_ps, to_ps, err);
    return tell(division, name_of_deed(number, AS_IT_IS), IDS_HOST_DISPATCH, from_ps, to_ps, err);
}

/* Whether the program's thread has Python frames before and after that. */
static int is_among_frames(const struct ids_host_time *time, uint32_t host, int64_t from_ps, int64_t to_ps) {
    const struct recorded *frames = &time->frames[host];
    return frames->from_ps <= from_ps && to_ps <= frames->to_ps;
}

/* Nothing recorded covers it. Inside the launching call that call says what is done. Where the program's thread has its Python frames
 * recorded, it runs a function that was called before the recording began: of a short gap that is the price of the next launch, as all
 * else of it, and of a longer one it is Python, though whose is not known. */
static int tell_unknown(const struct division *division, int64_t from_ps, int64_t to_ps, struct ids_error *err) {
    struct ids_idle_part part = {.from_ps = from_ps, .to_ps = to_ps, .account = IDS_HOST_UNKNOWN, .known = IDS_UNKNOWN};
    int in_launch = from_ps >= division->launch_ps;
    int is_traced = is_among_frames(division->time, division->host, from_ps, to_ps);
    if (in_launch || (is_traced && division->is_short && division->launch)) {
        int waited = !in_launch && division->waited != IDS_NONE;
        part.account = waited ? IDS_HOST_SYNC : IDS_HOST_DISPATCH;
        part.known = IDS_RECORDED;
        part.name = waited ? name_of_deed(division->waited, AS_IT_IS) : name_of_launch(division->time, division->launch);
        part.event = division->launch;
    } else if (is_traced) {
        part.account = IDS_HOST_PYTHON;
        part.known = to_ps - from_ps <= SHORT_GAP_LEAST_PS ? IDS_RECORDED : IDS_INFERRED; /* from one call to the next */
    }
    return division->visit(division->context, &part, err);
}

static int is_same_function(const struct ids_trace *trace, uint32_t deed, uint32_t other) {
    struct ids_text name = call_name(text_of(trace, trace->deeds[deed].around));
    struct ids_text other_name = call_name(text_of(trace, trace->deeds[other].around));
    return name.length == other_name.length && !memcmp(name.at, other_name.at, name.length);
}

/* What jax.monitoring told of a thread: where the thread itself shows that it compiles that function, it also shows who called it. */
static int sweep_told(const struct division *division, int place, size_t told, int64_t from_ps, int64_t to_ps,
                      struct ids_error *err) {
    const struct ids_trace *trace = division->time->analysis->trace;
    const struct ids_strand *teller = &trace->tracks[division->threads->at[place]].strand;
    const struct ids_strand *strand = &trace->tracks[division->threads->at[place + 1]].strand;
    size_t i = ids_strand_find(strand, from_ps);
    for (int code; from_ps < to_ps; i++) {
        int64_t until_ps = i + 1 < strand->count && strand->from_ps[i + 1] < to_ps ? strand->from_ps[i + 1] : to_ps;
        int shows = i != SIZE_MAX && trace->deeds[strand->deed[i]].account == IDS_HOST_COMPILE &&
                    is_same_function(trace, strand->deed[i], teller->deed[told]);
        code = shows ? tell_deed(division, strand, i, from_ps, until_ps, err)
                     : tell_deed(division, teller, told, from_ps, until_ps, err);
        if (code) return code;
        from_ps = until_ps;
    }
    return 0;
}

/* [from, to) by what the thread at `place` in the list did, and where it did nothing known by what the next one did. */
static int sweep_threads(const struct division *division, int place, int64_t from_ps, int64_t to_ps,
                         struct ids_error *err) {
    const struct ids_trace *trace = division->time->analysis->trace;
    if (place == division->threads->count) return tell_unknown(division, from_ps, to_ps, err);
    const struct ids_strand *strand = &trace->tracks[division->threads->at[place]].strand;
    size_t i = ids_strand_find(strand, from_ps);
    while (from_ps < to_ps) {
        int64_t until_ps = i + 1 < strand->count && strand->from_ps[i + 1] < to_ps ? strand->from_ps[i + 1] : to_ps;
        int nothing = i == SIZE_MAX || trace->deeds[strand->deed[i]].account == IDS_NO_ACCOUNT;
        int code = nothing                               ? sweep_threads(division, place + 1, from_ps, until_ps, err)
                   : division->threads->is_told[place] ? sweep_told(division, place, i, from_ps, until_ps, err)
                                                         : tell_deed(division, strand, i, from_ps, until_ps, err);
        if (code) return code;
        from_ps = until_ps;
        i++;
    }
    return 0;
}

/* The deed of waiting for a device that covers the moment; IDS_NONE when its threads do something else. */
static uint32_t waiting_at(const struct ids_trace *trace, const struct threads *threads, int64_t when_ps) {
    for (int place = 0; place < threads->count; place++) {
        const struct ids_strand *strand = &trace->tracks[threads->at[place]].strand;
        size_t i = ids_strand_find(strand, when_ps);
        if (i == SIZE_MAX || trace->deeds[strand->deed[i]].account == IDS_NO_ACCOUNT) continue;
        return trace->deeds[strand->deed[i]].account == IDS_HOST_SYNC ? strand->deed[i] : IDS_NONE;
    }
    return IDS_NONE;
}

/* The execution of a program that a launch is part of, NULL when that was not recorded. */
static const struct ids_event *execution_of(const struct ids_trace *trace, const struct ids_event *launch) {
    while (launch && launch->kind != IDS_KIND_EXECUTE) launch = ids_event_outside(trace, launch);
    return launch;
}

static int same_program(const struct ids_trace *trace, const struct ids_event *a, const struct ids_event *b) {
    if (a->run_id && a->run_id == b->run_id) return 1;
    if (!a->launch || !b->launch) return 0;
    if (a->launch == b->launch) return 1;
    const struct ids_event *execution = execution_of(trace, a->launch);
    return execution && execution == execution_of(trace, b->launch);
}

/* The TPU module that the whole gap lies in; NULL in none. */
static const struct ids_event *module_around(const struct ids_device *device, const struct ids_stretch *stretch) {
    struct ids_cursor before = ids_cursor_between(&device->modules, INT64_MIN, stretch->gap_from_ps + 1);
    if (before.at == before.end) return NULL;
    const struct ids_event *module = before.end - 1;
    return module->end_ps >= stretch->gap_to_ps ? module : NULL;
}

static uint32_t name_of_program(const struct ids_host_time *time, const struct ids_event *event) {
    const struct ids_trace *trace = time->analysis->trace;
    if (event->op != IDS_NONE && trace->ops[event->op].module != IDS_NONE)
        return name_of_module(time, trace->ops[event->op].module);
    return event->launch ? name_of_launch(time, event->launch) : name_of_name(time, event->name);
}

static int divide_recorded(struct ids_host_time *time, const struct ids_busy *busy, const struct ids_stretch *stretch,
                           int (*visit)(void *context, const struct ids_idle_part *part, struct ids_error *err),
                           void *context, struct ids_error *err) {
    const struct ids_trace *trace = time->analysis->trace;
    const struct ids_event *next = stretch->next, *launch = next ? next->launch : NULL;
    struct ids_idle_part part = {.from_ps = stretch->from_ps, .to_ps = stretch->to_ps, .known = IDS_RECORDED};
    const struct ids_event *module = module_around(busy->device, stretch);
    int in_program = stretch->previous && next && same_program(trace, stretch->previous, next) &&
                     (!launch || launch->start_ps <= stretch->gap_from_ps);
    if (module || in_program) {
        part.account = IDS_DEVICE_IN_PROGRAM;
        part.name = module ? name_of_name(time, module->name) : name_of_program(time, next);
        part.event = next;
        return visit(context, &part, err);
    }
    if (next && !launch) {
        part.account = IDS_DEVICE_UNKNOWN;
        part.known = IDS_UNKNOWN;
        part.event = next;
        return visit(context, &part, err);
    }
    find_threads(time, launch, busy->device->host);
    /* An op of the CPU client may have no end of its call's own: the call runs it. */
    int64_t launched_ps = launch ? launch->end_ps : INT64_MAX;
    int64_t begin_ps = launch ? launch->start_ps : INT64_MAX;
    struct division division = {
        .time = time,
        .threads = &time->threads,
        .is_short = stretch->gap_to_ps - stretch->gap_from_ps <= time->short_ps[busy - time->analysis->busy],
        .launch_ps = begin_ps,
        .waited = waiting_at(trace, &time->threads, stretch->gap_from_ps),
        .launch = launch,
        .host = busy->device->host,
        .visit = visit,
        .context = context,
    };
    const int64_t cuts[] = {begin_ps, launched_ps};
    int64_t from_ps = stretch->from_ps;
    for (int cut = 0; cut < 2; cut++) {
        int64_t to_ps = cuts[cut] < stretch->to_ps ? cuts[cut] : stretch->to_ps;
        if (to_ps <= from_ps) continue;
        int code = sweep_threads(&division, 0, from_ps, to_ps, err);
        if (code) return code;
        from_ps = to_ps;
    }
    if (from_ps >= stretch->to_ps) return 0;
    part.account = IDS_DEVICE_QUEUE;
    part.name = name_of_launch(time, launch);
    part.event = launch;
    return tell_beside_staging(&division, part, from_ps, stretch->to_ps, err);
}

int ids_host_time_divide(struct ids_host_time *time, const struct ids_busy *busy, const struct ids_stretch *stretch,
                         int (*visit)(void *context, const struct ids_idle_part *part, struct ids_error *err),
                         void *context, struct ids_error *err) {
    const struct recorded *recorded = &time->recorded[busy->device->host];
    int64_t opened_ps = recorded->from_ps < stretch->to_ps ? recorded->from_ps : stretch->to_ps;
    int64_t closed_ps = recorded->to_ps > stretch->from_ps ? recorded->to_ps : stretch->from_ps;
    if (opened_ps <= stretch->from_ps && closed_ps >= stretch->to_ps)
        return divide_recorded(time, busy, stretch, visit, context, err);
    struct ids_stretch inside = *stretch;
    struct ids_idle_part outside = {.account = IDS_PROFILER, .known = IDS_RECORDED, .name = NOBODY};
    int code = 0;
    if (opened_ps > stretch->from_ps) {
        outside.from_ps = stretch->from_ps;
        outside.to_ps = inside.from_ps = opened_ps;
        code = visit(context, &outside, err);
    }
    if (!code && closed_ps < stretch->to_ps) inside.to_ps = closed_ps > inside.from_ps ? closed_ps : inside.from_ps;
    if (!code && inside.from_ps < inside.to_ps) code = divide_recorded(time, busy, &inside, visit, context, err);
    if (code || inside.to_ps == stretch->to_ps) return code;
    outside.from_ps = inside.to_ps;
    outside.to_ps = stretch->to_ps;
    return visit(context, &outside, err);
}
