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

/* A call's own time above 0.2 ms and 50 times the median of its kind is its first use: modules, contexts, plans, workspaces. */
enum { FIRST_USE_MEDIANS = 50 };
#define FIRST_USE_LEAST_PS ((int64_t)200000000)

/* The threads whose doing is looked at, in that order. */
enum { THREADS = 12 };
struct threads {
    uint32_t at[THREADS];
    int count;
};

struct ids_host_time {
    const struct ids_analysis *analysis;
    uint32_t *program_thread;  /* by host: track, IDS_NONE */
    uint32_t *told_of;         /* by track: the track that tells of its compilations (jax.monitoring); IDS_NONE */
    int64_t *short_ps;         /* by active device */
    int64_t *usual_ps;         /* by name: the median of its dispatching moments, of those that have long ones; 0 */
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
    int64_t *at;
    size_t count, room;
};

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
                } else if (ids_keymap_get(&of_name, (uint64_t)deed->name + 1, &number)) {
                    struct moments *own = &moments[number];
                    int64_t *moment = IDS_PUSH(own->at, own->count, own->room);
                    if (moment) *moment = length_ps;
                    failed = !moment;
                }
            }
        }
    }
    /* A name that was met once or twice has no usual length of its own: that of all of them together is taken. */
    enum { FEW = 3 };
    struct moments all = {0};
    for (size_t n = 0; n < trace->name_count && !failed; n++) {
        uint64_t number;
        if (!ids_keymap_get(&of_name, (uint64_t)n + 1, &number)) continue;
        time->usual_ps[n] = median_of(moments[number].at, moments[number].count);
        if (moments[number].count < FEW) time->usual_ps[n] = -1;
    }
    enum { SAMPLES = 4096 };
    size_t seen = 0, stride = dispatched / SAMPLES + 1; /* of some thousands of moments, all over the run */
    for (size_t t = 0; t < trace->track_count && !failed && count; t++) {
        const struct ids_strand *strand = &trace->tracks[t].strand;
        for (size_t i = 0; i < strand->count && !failed; i++) {
            if (trace->deeds[strand->deed[i]].account != IDS_HOST_DISPATCH || seen++ % stride) continue;
            int64_t *moment = IDS_PUSH(all.at, all.count, all.room);
            if (moment) *moment = length_of(strand, i);
            failed = !moment;
        }
    }
    int64_t usual_ps = failed ? 0 : median_of(all.at, all.count);
    for (size_t n = 0; n < trace->name_count && !failed; n++) {
        if (time->usual_ps[n] < 0) time->usual_ps[n] = usual_ps;
    }
    for (size_t i = 0; i < count; i++) free(moments[i].at);
    free(moments);
    free(all.at);
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
    time->usual_ps = calloc(trace->name_count + 1, sizeof *time->usual_ps);
    time->where = calloc(trace->deed_count + 1, sizeof *time->where);
    int failed = !time->program_thread || !time->told_of || !time->short_ps || !time->usual_ps || !time->where;
    if (!failed) {
        find_program_threads(time);
        find_told(time);
        failed = find_short_gaps(time) || find_usual(time);
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
    free(time->usual_ps);
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
    int (*visit)(void *context, const struct ids_idle_part *part, struct ids_error *err);
    void *context;
};

static void look_at(struct ids_host_time *time, struct threads *threads, uint32_t track) {
    if (track == IDS_NONE) return;
    for (int i = 0; i < threads->count; i++) {
        if (threads->at[i] == track) return;
    }
    if (time->told_of[track] != IDS_NONE && threads->count < THREADS)
        threads->at[threads->count++] = time->told_of[track];
    if (threads->count < THREADS) threads->at[threads->count++] = track;
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
    int64_t usual_ps = division->time->usual_ps[deed->name];
    return usual_ps > 0 && length_ps / FIRST_USE_MEDIANS >= usual_ps;
}

static int tell(const struct division *division, uint32_t name, enum ids_account account, int64_t from_ps,
                int64_t to_ps, struct ids_error *err) {
    const struct ids_idle_part part = {
        .from_ps = from_ps, .to_ps = to_ps, .account = (uint8_t)account, .known = IDS_RECORDED, .name = name};
    return division->visit(division->context, &part, err);
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
    int manner = account == IDS_HOST_RUNTIME ? AS_CALL : AS_IT_IS;
    if (!is_price) return tell(division, name_of_deed(number, manner), account, from_ps, to_ps, err);
    /* The device stands idle because the host waited for it before it launched more. */
    if (division->waited != IDS_NONE)
        return tell(division, name_of_deed(division->waited, AS_IT_IS), IDS_HOST_SYNC, from_ps, to_ps, err);
    return tell(division, name_of_deed(number, AS_IT_IS), IDS_HOST_DISPATCH, from_ps, to_ps, err);
}

static int tell_unknown(const struct division *division, int64_t from_ps, int64_t to_ps, struct ids_error *err) {
    struct ids_idle_part part = {.from_ps = from_ps, .to_ps = to_ps, .account = IDS_HOST_UNKNOWN, .known = IDS_UNKNOWN};
    if (from_ps >= division->launch_ps) { /* inside the launching call, which says itself what is done */
        part.account = IDS_HOST_DISPATCH;
        part.known = IDS_RECORDED;
        part.name = name_of_launch(division->time, division->launch);
        part.event = division->launch;
    }
    return division->visit(division->context, &part, err);
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
        int code = nothing ? sweep_threads(division, place + 1, from_ps, until_ps, err)
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

int ids_host_time_divide(struct ids_host_time *time, const struct ids_busy *busy, const struct ids_stretch *stretch,
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
    part.from_ps = from_ps;
    part.account = IDS_DEVICE_QUEUE;
    part.name = name_of_launch(time, launch);
    part.event = launch;
    return visit(context, &part, err);
}
