#include "lib/analysis/host_time.h"

#include "lib/analysis/earlier_work.h"
#include "lib/analysis/graph_work.h"
#include "lib/analysis/host_threads.h"
#include "lib/analysis/idle_names.h"
#include "lib/analysis/lead.h"
#include "lib/analysis/staging.h"
#include "lib/analysis/usual_times.h"
#include "lib/base/saturate.h"
#include "lib/model/doings.h"
#include "lib/model/python_frame.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ids_host_time {
    const struct ids_analysis *analysis;
    struct ids_host_threads threads;
    struct ids_usual_times usual;
    struct ids_stagings stagings;
    struct ids_graph_work graphs;
    struct ids_idle_names names;
    struct ids_lead lead; /* of the program's thread of that device's host */
    struct ids_earlier_work earlier;
    uint8_t *uses_device; /* by name: of a function of the program, see find_users */
    int is_lent;          /* what others found is theirs */
};

/* Which functions of the program launch anywhere in the recording, wait for a device or move data: by what their thread
 * does while they are its innermost one. */
static int find_users(struct ids_host_time *time) {
    const struct ids_trace *trace = time->analysis->trace;
    time->uses_device = calloc(trace->name_count + 1, 1);
    if (!time->uses_device) return -1;
    for (size_t d = 0; d < trace->doing_count; d++) {
        const struct ids_doing *doing = &trace->doings[d];
        int is_of_device = doing->account == IDS_HOST_DISPATCH || doing->account == IDS_HOST_SYNC ||
                           doing->account == IDS_HOST_STAGING || doing->account == IDS_HOST_RUNTIME;
        if (doing->caller != IDS_NONE && is_of_device) time->uses_device[doing->caller] = 1;
    }
    return 0;
}

int ids_host_time_new(const struct ids_analysis *analysis, struct ids_host_time **ret_time, struct ids_error *err) {
    const struct ids_trace *trace = analysis->trace;
    struct ids_host_time *time = calloc(1, sizeof *time);
    if (!time) return ids_no_memory(err);
    time->analysis = analysis;
    if (ids_idle_names_init(&time->names, trace) || ids_host_threads_find(&time->threads, trace) ||
        ids_usual_times_find(&time->usual, analysis) || ids_stagings_find(&time->stagings, trace) ||
        ids_graph_work_find(&time->graphs, trace) || find_users(time)) {
        ids_host_time_free(time);
        return ids_no_memory(err);
    }
    *ret_time = time;
    return 0;
}

int ids_host_time_lend(const struct ids_host_time *time, struct ids_host_time **ret_lent, struct ids_error *err) {
    struct ids_host_time *lent = calloc(1, sizeof *lent);
    if (!lent) return ids_no_memory(err);
    *lent = (struct ids_host_time){.analysis = time->analysis,
                                   .usual = time->usual,
                                   .stagings = time->stagings,
                                   .graphs = time->graphs,
                                   .uses_device = time->uses_device,
                                   .is_lent = 1};
    ids_host_threads_lend(&time->threads, &lent->threads);
    if (ids_idle_names_lend(&time->names, &lent->names)) {
        ids_host_time_free(lent);
        return ids_no_memory(err);
    }
    *ret_lent = lent;
    return 0;
}

void ids_host_time_free(struct ids_host_time *time) {
    if (!time) return;
    ids_host_threads_done(&time->threads);
    if (!time->is_lent) {
        ids_usual_times_done(&time->usual);
        ids_stagings_done(&time->stagings);
        ids_graph_work_done(&time->graphs);
        free(time->uses_device);
    }
    ids_idle_names_done(&time->names);
    ids_earlier_work_done(&time->earlier);
    ids_lead_done(&time->lead);
    free(time);
}

void ids_host_time_begin(struct ids_host_time *time) {
    ids_lead_begin(&time->lead);
    ids_earlier_work_begin(&time->earlier);
}

struct ids_idle_names *ids_host_time_names(struct ids_host_time *time) {
    return &time->names;
}

const struct ids_timeline *ids_host_time_program(const struct ids_host_time *time, const struct ids_busy *busy) {
    uint32_t track = time->threads.program[busy->device->host];
    return track == IDS_NONE ? NULL : &time->analysis->trace->tracks[track].timeline;
}

uint32_t ids_host_time_mostly(const struct ids_host_time *time, const struct ids_busy *busy, int64_t from_ps,
                              int64_t to_ps) {
    enum { KINDS = 64 }; /* what has more than half is mostly met early */
    const struct ids_trace *trace = time->analysis->trace;
    uint32_t track = time->threads.program[busy->device->host], doings[KINDS];
    int64_t times_ps[KINDS], at_ps = from_ps;
    int count = 0, most = -1;
    if (track == IDS_NONE) return IDS_NO_DOING;
    const struct ids_timeline *timeline = &trace->tracks[track].timeline;
    for (size_t i = ids_timeline_find(timeline, from_ps); at_ps < to_ps; i++) {
        int64_t until_ps =
            i + 1 < timeline->count && timeline->from_ps[i + 1] < to_ps ? timeline->from_ps[i + 1] : to_ps;
        const struct ids_doing *doing = i == SIZE_MAX ? NULL : &trace->doings[timeline->doing[i]];
        int k = 0;
        while (k < count && doing &&
               (trace->doings[doings[k]].around != doing->around || trace->doings[doings[k]].account != doing->account))
            k++;
        if (doing && doing->account != IDS_NO_ACCOUNT && k < KINDS) {
            if (k == count) doings[count] = timeline->doing[i], times_ps[count++] = 0;
            times_ps[k] += until_ps - at_ps;
            if (most < 0 || times_ps[k] > times_ps[most]) most = k;
        }
        at_ps = until_ps;
    }
    return most < 0 || times_ps[most] <= (to_ps - from_ps) / 2 ? IDS_NO_DOING : doings[most];
}

struct ids_text ids_host_time_meanwhile(struct ids_host_time *time, const struct ids_busy *busy, int64_t from_ps,
                                        int64_t to_ps) {
    uint32_t most = ids_host_time_mostly(time, busy, from_ps, to_ps);
    if (most == IDS_NO_DOING) return (struct ids_text){"", 0};
    const struct ids_doing *doing = &time->analysis->trace->doings[most];
    struct ids_text culprit, where, recorded;
    ids_idle_name(&time->names, (enum ids_account)doing->account, ids_name_of_doing(most, IDS_AS_IT_IS), &culprit,
                  &where, &recorded);
    const char *account = ids_account_id((enum ids_account)doing->account);
    size_t room = strlen(account) + culprit.length + where.length + 8;
    char *text = ids_arena_alloc(&time->names.texts, room);
    if (!text) return (struct ids_text){"", 0};
    int length = snprintf(text, room, "%s %.*s%s%.*s%s", account, (int)culprit.length, culprit.at,
                          where.length ? " (" : "", (int)where.length, where.at, where.length ? ")" : "");
    return (struct ids_text){text, (uint32_t)length};
}

/* Whether a program is that of a function, by their letters: "jit__lambda" of "<lambda>". */
static int is_program_of(struct ids_text program, struct ids_text function) {
    static const char prefix[] = "jit";
    uint32_t p = ids_text_begins(program, prefix) ? (uint32_t)sizeof prefix - 1 : 0, f = 0;
    for (;; p++, f++) {
        while (p < program.length && !isalnum((unsigned char)program.at[p])) p++;
        while (f < function.length && !isalnum((unsigned char)function.at[f])) f++;
        if (p >= program.length || f >= function.length) return p >= program.length && f >= function.length;
        if (program.at[p] != function.at[f]) return 0;
    }
}

/* The thread had no core as it launched, or another one had Python's lock: that hides what it called. It is what it did
 * before, where that is what is launched. SIZE_MAX: it is not. */
static size_t in_midst_of(const struct ids_trace *trace, const struct ids_timeline *timeline, size_t i,
                          const struct ids_event *launched) {
    while (i != SIZE_MAX && (trace->doings[timeline->doing[i]].waits == IDS_WAITS_FOR_CORE ||
                             trace->doings[timeline->doing[i]].waits == IDS_WAITS_FOR_GIL))
        i = i ? i - 1 : SIZE_MAX;
    uint32_t module = launched->op == IDS_NONE ? IDS_NONE : trace->ops[launched->op].module;
    if (i == SIZE_MAX || module == IDS_NONE) return i;
    uint32_t around = trace->doings[timeline->doing[i]].around;
    return is_program_of(ids_strings_text(&trace->strings, trace->modules[module].name), ids_call_name(trace, around))
               ? i
               : SIZE_MAX;
}

/* What the launch of an event is part of, in the program's words: the jitted function, the framework's op, else the
 * call. */
static uint32_t name_of_launch(const struct ids_host_time *time, const struct ids_event *launched) {
    const struct ids_trace *trace = time->analysis->trace;
    const struct ids_event *launch = launched->launch;
    const uint32_t around = ids_thread_around(trace, launch->track);
    const struct ids_timeline *timeline = &trace->tracks[around == IDS_NONE ? launch->track : around].timeline;
    size_t at = ids_timeline_find(timeline, launch->start_ps), i = at;
    if (at != SIZE_MAX && trace->doings[timeline->doing[at]].waits) i = in_midst_of(trace, timeline, at, launched);
    enum ids_account account =
        i == SIZE_MAX ? IDS_NO_ACCOUNT : (enum ids_account)trace->doings[timeline->doing[i]].account;
    int tells = account == IDS_HOST_DISPATCH || account == IDS_HOST_COMPILE;
    /* A runtime's call is made all over the program: where others of its name were seen says nothing of this one. */
    if (tells && trace->doings[timeline->doing[i]].is_guess)
        tells = trace->doings[timeline->doing[i]].around != launch->name;
    return tells ? ids_name_of_doing(timeline->doing[i], IDS_AS_IT_IS) : ids_name_of_name(&time->names, launch->name);
}

uint32_t ids_host_time_name_of_launch(const struct ids_host_time *time, const struct ids_event *launched) {
    return launched->launch ? name_of_launch(time, launched) : IDS_NAME_OF_NOBODY;
}

/* --- the division ----------------------------------------------------------------------------------------------- */

struct division {
    struct ids_host_time *time;
    const struct ids_asked_threads *threads;
    int is_short;      /* all that is not compiling, input, waiting or the runtime is dispatch */
    int64_t launch_ps; /* from here on the host launches */
    /* The doing of waiting for a device in which the gap began, IDS_NONE: none, and until when what the host does then
     * would have been done by the gap's begin, had it not waited: as long after the wait as that had lasted when the
     * gap began. */
    uint32_t waited;
    enum ids_manner waited_as;
    enum ids_known waited_known; /* inferred of a wait that was over before the gap */
    int64_t waited_until_ps;
    struct ids_lead *lead; /* what the wait takes of gaps is taken from it; NULL: of a CPU, for nobody is ahead of it */
    const struct ids_event *launched, *launch; /* NULL: nothing is */
    uint32_t host;
    int is_cpu;
    int is_gpu;
    int is_unlaunched; /* nobody recorded by which call work begins */
    const struct ids_idle_visitor *visitor;
};

static int hand_on(const struct ids_idle_visitor *visitor, const struct ids_idle_part *part, struct ids_error *err) {
    return visitor->part(visitor->context, part, err);
}

static int tell(const struct division *division, uint32_t name, enum ids_account account, int64_t from_ps,
                int64_t to_ps, struct ids_error *err) {
    const struct ids_idle_part part = {.from_ps = from_ps,
                                       .to_ps = to_ps,
                                       .account = (uint8_t)account,
                                       .known = division->is_unlaunched ? IDS_INFERRED : IDS_RECORDED,
                                       .name = name};
    return hand_on(division->visitor, &part, err);
}

/* Where a pool thread puts data on a device meanwhile, that is what is waited for; the rest is as `rest` says. */
static int tell_beside_staging(const struct division *division, struct ids_idle_part rest, int64_t from_ps,
                               int64_t to_ps, struct ids_error *err) {
    const struct ids_staging *staging = ids_stagings_after(&division->time->stagings, division->host, from_ps);
    while (from_ps < to_ps) {
        int is_inside = staging && staging->from_ps <= from_ps;
        int64_t until_ps = !staging ? to_ps : is_inside ? staging->to_ps : staging->from_ps;
        if (until_ps > to_ps) until_ps = to_ps;
        rest.from_ps = from_ps;
        rest.to_ps = until_ps;
        int code = is_inside ? tell(division, ids_name_of_doing(staging->doing, IDS_AS_IT_IS), IDS_HOST_STAGING,
                                    from_ps, until_ps, err)
                             : hand_on(division->visitor, &rest, err);
        if (code) return code;
        if (is_inside) staging = ids_stagings_after(&division->time->stagings, division->host, until_ps);
        from_ps = until_ps;
    }
    return 0;
}

/* One that sleeps again and again, or reads a socket or a pipe, waits for whoever its waits end with: what merely runs
 * beside it may be anything. The other end of what is read is mostly another process: for a thread of this one much has
 * to speak. */
#define LEAST_OF_POLL 1.0
#define LEAST_OF_READ 4.0

/* What is waited for comes from outside Python, and may come from another thread. */
static int reads(const struct ids_trace *trace, uint32_t number) {
    return trace->doings[number].waits == IDS_WAITS_OUTSIDE && !ids_doing_sleeps(trace, number);
}

/* The thread waits for a lock: the culprit is what another thread of the program does meanwhile. A wait for input
 * stays input, whatever the thread that fills the queue does. If the waiting thread is in a function of the program
 * and the other one is not, the wait itself is all that is known. */
static int tell_awaited(const struct division *division, const struct ids_timeline *own, uint32_t number,
                        int64_t from_ps, int64_t to_ps, struct ids_error *err) {
    struct ids_host_time *time = division->time;
    const struct ids_trace *trace = time->analysis->trace;
    const struct ids_doing *waiting = &trace->doings[number];
    int is_gil = waiting->waits == IDS_WAITS_FOR_GIL;
    /* What it called has ended, or does nothing before it has the lock: a sleep is not to blame. */
    int is_after_call = is_gil && waiting->account == IDS_HOST_PYTHON && waiting->called != IDS_NONE;
    const int polls = !is_gil && ids_doing_sleeps(trace, number), is_read = reads(trace, number);
    enum ids_manner manner = is_gil  ? IDS_AS_HAVING_GIL
                             : polls ? IDS_AS_POLLED
                                     : IDS_AS_AWAITED,
                    alone = is_after_call ? IDS_AS_LACKING_GIL
                            : polls       ? IDS_AS_POLLING
                                          : IDS_AS_IT_IS;
    while (from_ps < to_ps) {
        struct ids_other_doing other;
        if (ids_host_threads_beside(&time->threads, division->host, own, is_gil ? IDS_NO_DOING : number, from_ps, to_ps,
                                    &other))
            return ids_no_memory(err);
        /* Waits of which a sample saw one are spread over gaps like it, where others may be seen elsewhere. */
        int is_usual = is_gil && other.doing == IDS_NO_DOING;
        if (is_usual && ids_host_threads_usual_holder(&time->threads, own, &other.doing)) return ids_no_memory(err);
        int is_better = other.doing != IDS_NO_DOING &&
                        (trace->doings[other.doing].caller != IDS_NONE || waiting->caller == IDS_NONE);
        if (polls) is_better &= other.score >= LEAST_OF_POLL;
        if (is_read) is_better &= other.score >= LEAST_OF_READ;
        struct ids_idle_part part = {
            .from_ps = from_ps,
            .to_ps = other.until_ps,
            .account = waiting->account == IDS_HOST_INPUT || !is_better ? waiting->account
                                                                        : trace->doings[other.doing].account,
            .known = (is_better && (is_usual || is_read || other.count > 1)) || (other.is_unknown && !is_read)
                         ? IDS_INFERRED
                         : IDS_RECORDED,
            .name = is_better ? ids_name_of_doing(other.doing, other.has_gil ? IDS_AS_HAVING_GIL : manner)
                              : ids_name_of_doing(number, alone),
        };
        int code = hand_on(division->visitor, &part, err);
        if (code) return code;
        from_ps = other.until_ps;
    }
    return 0;
}

/* The thread stands in a call that launches, far longer than such a call takes. Where another thread runs the function
 * that has Python's lock whenever samples see the thread wait for it, that is why. */
static int tell_held_up(const struct division *division, const struct ids_timeline *own, uint32_t number,
                        int64_t from_ps, int64_t to_ps, struct ids_error *err) {
    struct ids_host_threads *threads = &division->time->threads;
    uint32_t holder;
    if (ids_host_threads_usual_holder(threads, own, &holder)) return ids_no_memory(err);
    while (from_ps < to_ps) {
        struct ids_other_doing other = {.doing = IDS_NO_DOING, .until_ps = to_ps};
        if (holder != IDS_NO_DOING &&
            ids_host_threads_beside(threads, division->host, own, IDS_NO_DOING, from_ps, to_ps, &other))
            return ids_no_memory(err);
        int is_holder = ids_host_threads_are_of_function(threads, holder, other.doing);
        struct ids_idle_part part = {
            .from_ps = from_ps,
            .to_ps = other.until_ps,
            .account = is_holder ? division->time->analysis->trace->doings[other.doing].account : IDS_HOST_DISPATCH,
            .known = is_holder ? IDS_INFERRED : IDS_RECORDED,
            .name = is_holder ? ids_name_of_doing(other.doing, IDS_AS_HAVING_GIL)
                              : ids_name_of_doing(number, IDS_AS_HELD_UP),
        };
        int code = hand_on(division->visitor, &part, err);
        if (code) return code;
        from_ps = other.until_ps;
    }
    return 0;
}

/* Until when in [from, to) the wait before it is to blame: that much of the lead is told. */
static int64_t end_of_waited(const struct division *division, int64_t from_ps, int64_t to_ps) {
    if (division->waited == IDS_NONE || division->waited_until_ps <= from_ps) return from_ps;
    int64_t until_ps = division->waited_until_ps < to_ps ? division->waited_until_ps : to_ps;
    if (division->lead) division->lead->lost_ps -= until_ps - from_ps;
    return until_ps;
}

/* The runtime does not record each of its waits: numpy takes an array of the CPU client without an event. A sampled
 * call that needs an array's values waits for them where the device works until a gap that is short. */
static int is_sampled_wait(const struct ids_trace *trace, const struct ids_doing *doing) {
    return doing->account == IDS_HOST_PYTHON && !doing->waits && doing->called != IDS_NONE &&
           trace->names[doing->called].is_sampled &&
           ids_python_call_needs_values(ids_strings_text(&trace->strings, trace->names[doing->called].text));
}

/* A call of a library that launches does so all the time, but for what takes ten times as long as a short gap at
 * most. */
#define LAUNCHING_MOST_PS ((int64_t)5000000000)

static int is_launching(const struct ids_doing *doing, int64_t length_ps) {
    return doing->account == IDS_HOST_PYTHON && doing->launches && length_ps <= LAUNCHING_MOST_PS;
}

/* The program is in a function that launches nothing, or inside a call that launches nothing and needs no value of a
 * device: that is no price of the next launch, however short the gap is. Samples show that of calls, too. */
static int is_elsewhere(const struct ids_host_time *time, const struct ids_doing *doing) {
    const struct ids_trace *trace = time->analysis->trace;
    if (doing->waits == IDS_WAITS_FOR_CORE) return 1;
    if (doing->account != IDS_HOST_PYTHON || doing->caller == IDS_NONE) return 0;
    if (!trace->names[doing->caller].is_sampled) return !time->uses_device[doing->caller];
    if (is_sampled_wait(trace, doing)) return 0;
    if (!trace->names[doing->caller].launched) return 1;
    if (doing->called == IDS_NONE) return 0;
    const struct ids_name *called = &trace->names[doing->called];
    return called->is_sampled && !called->launched &&
           !ids_python_frame_launches(ids_strings_text(&trace->strings, called->text));
}

/* A compiler has variants built and tried out by a pool's threads, which do not know of which function they are: the
 * program's thread, which compiles meanwhile, does. */
static uint32_t compiled_for(const struct division *division, uint32_t number, int64_t when_ps) {
    const struct ids_trace *trace = division->time->analysis->trace;
    uint32_t program = division->time->threads.program[division->host];
    if (trace->doings[number].account != IDS_HOST_COMPILE || program == IDS_NONE) return number;
    const uint32_t around = trace->doings[number].around;
    struct ids_text call = ids_call_name(trace, around),
                    name = ids_strings_text(&trace->strings, trace->names[around].text);
    if (call.length != name.length) return number; /* it says a function: jax.compile(f) */
    const struct ids_timeline *timeline = &trace->tracks[program].timeline;
    size_t i = ids_timeline_find(timeline, when_ps);
    if (i == SIZE_MAX || trace->doings[timeline->doing[i]].account != IDS_HOST_COMPILE) return number;
    return timeline->doing[i];
}

static int tell_doing(const struct division *division, const struct ids_timeline *timeline, size_t i, int64_t from_ps,
                      int64_t to_ps, struct ids_error *err) {
    const struct ids_trace *trace = division->time->analysis->trace;
    uint32_t number = compiled_for(division, timeline->doing[i], from_ps);
    const struct ids_doing *doing = &trace->doings[number];
    enum ids_account account = (enum ids_account)doing->account;
    int in_launch = from_ps >= division->launch_ps;
    if (doing->waits == IDS_WAITS_FOR_LOCK || doing->waits == IDS_WAITS_FOR_GIL || reads(trace, number))
        return tell_awaited(division, timeline, number, from_ps, to_ps, err);
    if (account == IDS_HOST_DISPATCH && division->is_gpu &&
        ids_usual_times_computes(&division->time->usual, timeline, i))
        return tell(division, ids_name_of_doing(number, IDS_AS_COMPUTING), IDS_HOST_RUNTIME, from_ps, to_ps, err);
    if (account == IDS_HOST_DISPATCH &&
        ids_usual_times_is_first_use(&division->time->usual, timeline, i, !division->is_cpu)) {
        /* A CPU has no modules to load: the thread itself did not get on. */
        return division->is_cpu
                   ? tell_held_up(division, timeline, number, from_ps, to_ps, err)
                   : tell(division, ids_name_of_doing(number, IDS_AS_CALL), IDS_HOST_RUNTIME, from_ps, to_ps, err);
    }
    if (in_launch && account == IDS_HOST_SYNC) account = IDS_HOST_DISPATCH; /* a copy that will wait has yet to begin */
    int is_small = division->is_short && !is_elsewhere(division->time, doing);
    int is_price = account == IDS_HOST_DISPATCH || is_launching(doing, to_ps - from_ps) ||
                   (is_small && (account == IDS_HOST_PYTHON || account == IDS_HOST_REGION));
    if (account == IDS_HOST_SYNC) {
        struct ids_idle_part waiting = {
            .account = IDS_HOST_SYNC, .known = IDS_RECORDED, .name = ids_name_of_doing(number, IDS_AS_IT_IS)};
        return tell_beside_staging(division, waiting, from_ps, to_ps, err);
    }
    if (!is_price) return tell(division, ids_name_as_it_is(number, doing), account, from_ps, to_ps, err);
    /* The device stands idle because the host waited for it before it launched more. */
    int64_t until_ps = end_of_waited(division, from_ps, to_ps);
    if (until_ps > from_ps) {
        const struct ids_idle_part waited = {.from_ps = from_ps,
                                             .to_ps = until_ps,
                                             .account = IDS_HOST_SYNC,
                                             .known = (uint8_t)division->waited_known,
                                             .name = ids_name_of_doing(division->waited, division->waited_as)};
        int code = hand_on(division->visitor, &waited, err);
        if (code || until_ps == to_ps) return code;
    }
    return tell(division, ids_name_of_doing(number, IDS_AS_IT_IS), IDS_HOST_DISPATCH, until_ps, to_ps, err);
}

/* Nothing recorded covers it. Where the program's thread has its Python frames recorded, it runs a function that was
 * called before the recording began: of a short gap that is the price of the next launch, as all else of it, and of a
 * longer one it is Python, though whose is not known. */
static int tell_unknown(const struct division *division, int64_t from_ps, int64_t to_ps, struct ids_error *err) {
    struct ids_idle_part part = {.from_ps = from_ps, .to_ps = to_ps, .account = IDS_HOST_UNKNOWN, .known = IDS_UNKNOWN};
    int is_traced = ids_host_threads_are_traced(&division->time->threads, division->host, from_ps, to_ps);
    if (is_traced && division->is_short && division->launch) {
        int64_t until_ps = end_of_waited(division, from_ps, to_ps);
        part.known = IDS_RECORDED;
        part.event = division->launch;
        if (until_ps > from_ps) {
            part.account = IDS_HOST_SYNC;
            part.known = (uint8_t)division->waited_known;
            part.name = ids_name_of_doing(division->waited, division->waited_as);
            part.to_ps = until_ps;
            int code = hand_on(division->visitor, &part, err);
            if (code || until_ps == to_ps) return code;
        }
        part.account = IDS_HOST_DISPATCH;
        part.known = IDS_RECORDED;
        part.name = name_of_launch(division->time, division->launched);
        part.from_ps = until_ps;
        part.to_ps = to_ps;
    } else if (is_traced) {
        part.account = IDS_HOST_PYTHON;
        part.known =
            to_ps - from_ps <= IDS_SHORT_GAP_LEAST_PS ? IDS_RECORDED : IDS_INFERRED; /* from one call to the next */
    }
    return hand_on(division->visitor, &part, err);
}

static int is_same_function(const struct ids_trace *trace, uint32_t doing, uint32_t other) {
    struct ids_text name = ids_call_name(trace, trace->doings[doing].around);
    struct ids_text other_name = ids_call_name(trace, trace->doings[other].around);
    return name.length == other_name.length && !memcmp(name.at, other_name.at, name.length);
}

/* What jax.monitoring reported about a thread. If the thread's own events show that compilation, they also show its
 * caller. */
static int sweep_told(const struct division *division, int place, size_t told, int64_t from_ps, int64_t to_ps,
                      struct ids_error *err) {
    const struct ids_trace *trace = division->time->analysis->trace;
    const struct ids_timeline *monitor = &trace->tracks[division->threads->at[place]].timeline;
    const struct ids_timeline *timeline = &trace->tracks[division->threads->at[place + 1]].timeline;
    size_t i = ids_timeline_find(timeline, from_ps);
    for (int code; from_ps < to_ps; i++) {
        int64_t until_ps =
            i + 1 < timeline->count && timeline->from_ps[i + 1] < to_ps ? timeline->from_ps[i + 1] : to_ps;
        int shows = i != SIZE_MAX && trace->doings[timeline->doing[i]].account == IDS_HOST_COMPILE &&
                    is_same_function(trace, timeline->doing[i], monitor->doing[told]);
        code = shows ? tell_doing(division, timeline, i, from_ps, until_ps, err)
                     : tell_doing(division, monitor, told, from_ps, until_ps, err);
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
    const struct ids_timeline *timeline = &trace->tracks[division->threads->at[place]].timeline;
    const struct ids_idle_visitor *visitor = division->visitor;
    size_t i = ids_timeline_find(timeline, from_ps);
    while (from_ps < to_ps) {
        if (i != SIZE_MAX && !division->is_short && !division->threads->is_told[place]) {
            int code = visitor->turns(visitor->context, timeline, &i, from_ps, to_ps, err);
            if (code) return code;
            if (timeline->from_ps[i] > from_ps) from_ps = timeline->from_ps[i];
            if (from_ps == to_ps) break;
        }
        int64_t until_ps =
            i + 1 < timeline->count && timeline->from_ps[i + 1] < to_ps ? timeline->from_ps[i + 1] : to_ps;
        int nothing = i == SIZE_MAX || trace->doings[timeline->doing[i]].account == IDS_NO_ACCOUNT;
        int code = nothing                             ? sweep_threads(division, place + 1, from_ps, until_ps, err)
                   : division->threads->is_told[place] ? sweep_told(division, place, i, from_ps, until_ps, err)
                                                       : tell_doing(division, timeline, i, from_ps, until_ps, err);
        if (code) return code;
        from_ps = until_ps;
        i++;
    }
    return 0;
}

static int waits(const struct ids_trace *trace, const struct ids_timeline *timeline, size_t i, int is_short) {
    if (i >= timeline->count) return 0;
    const struct ids_doing *doing = &trace->doings[timeline->doing[i]];
    return doing->account == IDS_HOST_SYNC || (is_short && is_sampled_wait(trace, doing));
}

/* Whether its threads wait for a device at that moment, and then what the division says of it. */
static void find_waited(const struct ids_trace *trace, const struct ids_asked_threads *threads, int64_t when_ps,
                        struct division *division) {
    division->waited = IDS_NONE;
    for (int place = 0; place < threads->count; place++) {
        const struct ids_timeline *timeline = &trace->tracks[threads->at[place]].timeline;
        size_t i = ids_timeline_find(timeline, when_ps), first, end;
        if (i == SIZE_MAX || trace->doings[timeline->doing[i]].account == IDS_NO_ACCOUNT) continue;
        int is_short = division->is_short;
        if (!waits(trace, timeline, i, is_short)) return;
        for (first = i; first && waits(trace, timeline, first - 1, is_short);) first--;
        for (end = i + 1; waits(trace, timeline, end, is_short);) end++;
        division->waited = timeline->doing[i];
        division->waited_as = trace->doings[division->waited].account == IDS_HOST_SYNC ? IDS_AS_IT_IS : IDS_AS_CALLED;
        if (division->lead && threads->at[place] == division->time->threads.program[division->host])
            ids_lead_take(division->lead, division->waited, first, end);
        division->waited_until_ps =
            end < timeline->count ? ids_sat_add(timeline->from_ps[end], when_ps - timeline->from_ps[first]) : INT64_MAX;
        return;
    }
}

/* The wait that is to blame for the gap's launching: the one in which the gap begins, or one before it. */
static int find_lead(struct ids_host_time *time, int64_t gap_from_ps, struct division *division) {
    const struct ids_trace *trace = time->analysis->trace;
    uint32_t program = time->threads.program[division->host];
    if (!division->is_cpu && program != IDS_NONE) {
        division->lead = &time->lead;
        if (time->lead.gap_from_ps != gap_from_ps &&
            ids_lead_come(&time->lead, trace, &trace->tracks[program].timeline, gap_from_ps))
            return -1;
    }
    find_waited(trace, division->threads, gap_from_ps, division);
    if (division->waited != IDS_NONE || !division->lead || time->lead.lost_ps <= 0) return 0;
    division->waited = time->lead.waited;
    division->waited_as = IDS_AS_IT_IS;
    division->waited_known = IDS_INFERRED;
    division->waited_until_ps = ids_sat_add(gap_from_ps, time->lead.lost_ps);
    return 0;
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
        return ids_name_of_module(&time->names, trace->ops[event->op].module);
    return event->launch ? name_of_launch(time, event) : ids_name_of_name(&time->names, event->name);
}

/* The runtimes of some accelerators record calls of theirs without the work that these give the device: then the
 * program's thread, which was recorded, is who it waits for. */
static int is_never_launched(const struct ids_host_time *time, const struct ids_busy *busy,
                             const struct ids_event *next) {
    return next && !next->launch && busy->device->kind == IDS_DEVICE_CUSTOM &&
           time->threads.program[busy->device->host] != IDS_NONE;
}

/* Nobody is known to have launched what comes next: it may be work from before the recording. */
static int tell_unlaunched(struct ids_host_time *time, const struct ids_busy *busy, struct ids_idle_part part,
                           const struct ids_event *next, const struct ids_idle_visitor *visitor,
                           struct ids_error *err) {
    int is_earlier = ids_earlier_work_is(&time->earlier, time->analysis, busy->device, next);
    if (is_earlier < 0) return ids_no_memory(err);
    part.account = IDS_DEVICE_UNKNOWN;
    part.known = is_earlier ? IDS_INFERRED : IDS_UNKNOWN;
    if (is_earlier) part.name = IDS_NAME_OF_EARLIER_WORK;
    part.event = next;
    return hand_on(visitor, &part, err);
}

/* What was launched does not begin: its stream waits for work from before the recording, or it is in the queue. */
static int tell_queued(struct division *division, const struct ids_busy *busy, struct ids_idle_part part,
                       struct ids_error *err) {
    struct ids_host_time *time = division->time;
    const struct ids_event *next = division->launched;
    uint32_t earlier = division->launch
                           ? ids_earlier_work_wait(time->analysis, busy, division->threads, next, part.from_ps)
                           : IDS_NO_DOING;
    part.event = division->launch;
    if (earlier != IDS_NO_DOING) {
        part.account = IDS_DEVICE_UNKNOWN;
        part.known = IDS_INFERRED;
        part.name = ids_name_of_doing(earlier, IDS_AS_BEHIND_EARLIER);
        return hand_on(division->visitor, &part, err);
    }
    part.account = IDS_DEVICE_QUEUE;
    part.name = name_of_launch(time, next);
    return tell_beside_staging(division, part, part.from_ps, part.to_ps, err);
}

static int divide_known(struct ids_host_time *time, const struct ids_busy *busy, const struct ids_stretch *stretch,
                        const struct ids_idle_visitor *visitor, struct ids_error *err) {
    const struct ids_trace *trace = time->analysis->trace;
    const struct ids_event *next = stretch->next, *launch = next ? next->launch : NULL;
    struct ids_idle_part part = {.from_ps = stretch->from_ps, .to_ps = stretch->to_ps, .known = IDS_RECORDED};
    const struct ids_event *module = module_around(busy->device, stretch);
    int in_program = stretch->previous && next && same_program(trace, stretch->previous, next) &&
                     (!launch || launch->start_ps <= stretch->gap_from_ps);
    if (module || in_program) {
        part.account = IDS_DEVICE_IN_PROGRAM;
        part.name = module ? ids_name_of_name(&time->names, module->name) : name_of_program(time, next);
        part.event = next;
        return hand_on(visitor, &part, err);
    }
    /* Before the first work of a step that was running: what it was launched by lies before the window, and what its
     * thread did meanwhile is what there is to say. */
    int is_running = !stretch->previous && time->analysis->steps.has_running;
    int is_unlaunched = is_never_launched(time, busy, next);
    if (next && !launch && !is_running && !is_unlaunched) return tell_unlaunched(time, busy, part, next, visitor, err);
    /* Behind the last work nothing says who would have launched more: the thread that launched last. */
    const struct ids_event *last = !next && stretch->previous ? stretch->previous->launch : NULL;
    const struct ids_asked_threads *threads =
        ids_host_threads_of(&time->threads, launch ? launch : last, busy->device->host);
    /* An op of the CPU client may have no end of its call's own: the call runs it. */
    int64_t launched_ps = launch ? launch->end_ps : INT64_MAX;
    int64_t begin_ps = launch ? launch->start_ps : INT64_MAX;
    struct division division = {
        .time = time,
        .threads = threads,
        .is_short = stretch->gap_to_ps - stretch->gap_from_ps <= time->usual.short_ps[busy - time->analysis->busy],
        .launch_ps = begin_ps,
        .launched = next,
        .launch = launch,
        .host = busy->device->host,
        .is_cpu = busy->device->kind == IDS_DEVICE_CPU,
        .is_gpu = busy->device->kind == IDS_DEVICE_GPU,
        .is_unlaunched = is_unlaunched,
        .visitor = visitor,
    };
    if (find_lead(time, stretch->gap_from_ps, &division)) return ids_no_memory(err);
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
    return tell_queued(&division, busy, part, err);
}

/* Where a graph may run that the file has nothing of, the device is neither idle nor busy. */
static int divide_recorded(struct ids_host_time *time, const struct ids_busy *busy, const struct ids_stretch *stretch,
                           const struct ids_idle_visitor *visitor, struct ids_error *err) {
    struct ids_stretch known = *stretch;
    int64_t graph_ps = busy->device->kind == IDS_DEVICE_GPU
                           ? ids_graph_work_from(&time->graphs, stretch->previous, stretch->next, stretch->gap_from_ps)
                           : INT64_MAX;
    if (graph_ps >= stretch->to_ps) return divide_known(time, busy, stretch, visitor, err);
    known.to_ps = graph_ps > stretch->from_ps ? graph_ps : stretch->from_ps;
    int code = known.to_ps > known.from_ps ? divide_known(time, busy, &known, visitor, err) : 0;
    struct ids_idle_part unknown = {.from_ps = known.to_ps,
                                    .to_ps = stretch->to_ps,
                                    .account = IDS_DEVICE_UNKNOWN,
                                    .known = IDS_INFERRED,
                                    .name = IDS_NAME_OF_GRAPH_WORK,
                                    .event = stretch->next};
    return code ? code : hand_on(visitor, &unknown, err);
}

int ids_host_time_call_back(struct ids_host_time *time, const struct ids_stretch *stretch,
                            const struct ids_idle_visitor *visitor, struct ids_error *err) {
    const struct ids_trace *trace = time->analysis->trace;
    const struct ids_timeline *timeline = &trace->tracks[stretch->event->track].timeline;
    int64_t from_ps = stretch->from_ps;
    size_t i = ids_timeline_find(timeline, from_ps);
    for (; from_ps < stretch->to_ps; i++) {
        int64_t until_ps = i + 1 < timeline->count && timeline->from_ps[i + 1] < stretch->to_ps
                               ? timeline->from_ps[i + 1]
                               : stretch->to_ps;
        const struct ids_doing *doing = i == SIZE_MAX ? NULL : &trace->doings[timeline->doing[i]];
        /* What runs the compiled program goes on around its callback, and jax's own frames say less than the op.
         * Whatever the callback does, it is the callback that takes the time: one remedy, one account. */
        int tells = doing && doing->account != IDS_NO_ACCOUNT && doing->caller != IDS_NONE &&
                    (doing->account != IDS_HOST_DISPATCH || doing->in_callback);
        struct ids_idle_part part = {
            .from_ps = from_ps,
            .to_ps = until_ps,
            .account = IDS_HOST_PYTHON,
            .known = IDS_RECORDED,
            .name = tells ? ids_name_of_doing(timeline->doing[i], IDS_AS_CALLED_BACK)
                          : ids_name_of_callback(&time->names, stretch->event->op),
            .event = stretch->event,
        };
        int code = hand_on(visitor, &part, err);
        if (code) return code;
        from_ps = until_ps;
    }
    return 0;
}

int ids_host_time_divide(struct ids_host_time *time, const struct ids_busy *busy, const struct ids_stretch *stretch,
                         const struct ids_idle_visitor *visitor, struct ids_error *err) {
    const struct ids_recorded *recorded = &time->threads.events[busy->device->host];
    int64_t opened_ps = recorded->from_ps < stretch->to_ps ? recorded->from_ps : stretch->to_ps;
    int64_t closed_ps = recorded->to_ps > stretch->from_ps ? recorded->to_ps : stretch->from_ps;
    if (opened_ps <= stretch->from_ps && closed_ps >= stretch->to_ps)
        return divide_recorded(time, busy, stretch, visitor, err);
    struct ids_stretch inside = *stretch;
    struct ids_idle_part outside = {.account = IDS_PROFILER, .known = IDS_RECORDED, .name = IDS_NAME_OF_NOBODY};
    int code = 0;
    if (opened_ps > stretch->from_ps) {
        outside.from_ps = stretch->from_ps;
        outside.to_ps = inside.from_ps = opened_ps;
        code = hand_on(visitor, &outside, err);
    }
    if (!code && closed_ps < stretch->to_ps) inside.to_ps = closed_ps > inside.from_ps ? closed_ps : inside.from_ps;
    if (!code && inside.from_ps < inside.to_ps) code = divide_recorded(time, busy, &inside, visitor, err);
    if (code || inside.to_ps == stretch->to_ps) return code;
    outside.from_ps = inside.to_ps;
    outside.to_ps = stretch->to_ps;
    return hand_on(visitor, &outside, err);
}
