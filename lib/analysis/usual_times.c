#include "lib/analysis/usual_times.h"

#include "lib/base/keymap.h"
#include "lib/base/nth.h"
#include "lib/base/parallel.h"
#include "lib/base/vec.h"
#include "lib/model/account.h"

#include <stdatomic.h>
#include <stdlib.h>

/* A gap that is not longer than ten launches are apart, or 20 us, is the price of getting to the next launch; above
 * half a millisecond it is none, however rarely a program launches. */
enum { SHORT_GAP_LAUNCHES = 10 };
#define SHORT_GAP_MOST_PS ((int64_t)500000000)

/* A call's own time above 0.2 ms and 50 times the median of its kind is its first use (modules, contexts, plans,
 * workspaces), if it is early, in the first tenth of all calls of its name, or such long ones are rare: at most one
 * in 50. A busy host makes any call long at any time. */
enum { FIRST_USE_MEDIANS = 50 };
#define FIRST_USE_RARE ((size_t)50)
#define FIRST_USE_EARLY ((size_t)10)
#define FIRST_USE_LEAST_PS ((int64_t)200000000)

/* Whenever it comes, no launch takes so long by itself: a kernel's code is loaded at its own first launch, which is not
 * the first call. Nor does an op on its way to a launch. */
#define LAUNCH_MOST_PS ((int64_t)1000000000)
#define OP_MOST_PS ((int64_t)10000000000)
/* An op that launches nothing and takes that long computes. */
#define COMPUTES_LEAST_PS ((int64_t)1000000000)

static int64_t median_of(int64_t *at, size_t count) {
    return count ? ids_nth(at, count, count / 2) : 0;
}

/* What a device's launches are apart, in the middle: of some thousands of them, all over the run. */
static int find_short_gap(struct ids_usual_times *usual, const struct ids_analysis *analysis, size_t b) {
    enum { SAMPLES = 4096 };
    int64_t *apart = malloc(SAMPLES * sizeof *apart);
    if (!apart) return -1;
    const struct ids_events *activity = &analysis->busy[b].device->activity;
    ids_events_turn(activity);
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
    if (short_ps < IDS_SHORT_GAP_LEAST_PS) short_ps = IDS_SHORT_GAP_LEAST_PS;
    usual->short_ps[b] = short_ps > SHORT_GAP_MOST_PS ? SHORT_GAP_MOST_PS : short_ps;
    free(apart);
    return 0;
}

/* How long a turn of a timeline lasts; the last one has no end. */
static int64_t length_of(const struct ids_timeline *timeline, size_t i) {
    return i + 1 < timeline->count ? timeline->from_ps[i + 1] - timeline->from_ps[i] : 0;
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

/* A name that occurs only once or twice has no usual length of its own: the usual length of all such names together
 * is used. */
static struct ids_usual usual_of(const struct moments *moments, int64_t of_all_ps) {
    enum { FEW = 3 };
    struct ids_usual usual = {.median_ps = moments->count < FEW ? of_all_ps : median_of(moments->at, moments->count)};
    if (moments->count) {
        usual.early_ps = ids_nth(moments->from_ps, moments->count, (moments->count - 1) / FIRST_USE_EARLY);
    }
    size_t often = 0;
    for (size_t i = 0; i < moments->count; i++) often += (size_t)is_long(moments->at[i], usual.median_ps);
    usual.is_rarely_long = often * FIRST_USE_RARE <= moments->count;
    return usual;
}

/* The names that have a long moment of dispatching, numbered; the others need no usual time. */
static int number_names(const struct ids_trace *trace, struct ids_keymap *numbers, size_t *ret_count,
                        size_t *ret_dispatched) {
    *ret_count = *ret_dispatched = 0;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_timeline *timeline = &trace->tracks[t].timeline;
        ids_timeline_read(timeline);
        for (size_t i = 0; i < timeline->count; i++) {
            const struct ids_doing *doing = &trace->doings[timeline->doing[i]];
            if (doing->account != IDS_HOST_DISPATCH) continue;
            ++*ret_dispatched;
            if (length_of(timeline, i) < FIRST_USE_LEAST_PS) continue;
            int added = ids_keymap_add(numbers, (uint64_t)doing->name + 1, *ret_count);
            if (added < 0) return -1;
            *ret_count += (size_t)added;
        }
    }
    return 0;
}

/* The moments of each of these names, and of all names some thousands, all over the run. */
static int gather(const struct ids_trace *trace, const struct ids_keymap *numbers, size_t dispatched,
                  struct moments *of_name, struct moments *all) {
    enum { SAMPLES = 4096 };
    size_t seen = 0, stride = dispatched / SAMPLES + 1;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_timeline *timeline = &trace->tracks[t].timeline;
        ids_timeline_read(timeline);
        for (size_t i = 0; i < timeline->count; i++) {
            const struct ids_doing *doing = &trace->doings[timeline->doing[i]];
            uint64_t number;
            if (doing->account != IDS_HOST_DISPATCH) continue;
            if (seen++ % stride == 0 && add_moment(all, timeline->from_ps[i], length_of(timeline, i))) return -1;
            if (ids_keymap_get(numbers, (uint64_t)doing->name + 1, &number) &&
                add_moment(&of_name[number], timeline->from_ps[i], length_of(timeline, i)))
                return -1;
        }
    }
    return 0;
}

static void moments_done(struct moments *moments) {
    free(moments->at);
    free(moments->from_ps);
}

static int find_usual(struct ids_usual_times *usual) {
    const struct ids_trace *trace = usual->trace;
    struct ids_keymap numbers = {0};
    struct moments *of_name = NULL, all = {0};
    size_t count, dispatched;
    int failed = number_names(trace, &numbers, &count, &dispatched);
    if (!failed && count) {
        of_name = calloc(count, sizeof *of_name);
        failed = !of_name || gather(trace, &numbers, dispatched, of_name, &all);
    }
    int64_t of_all_ps = failed ? 0 : median_of(all.at, all.count);
    for (size_t n = 0; n < trace->name_count && of_name && !failed; n++) {
        uint64_t number;
        if (ids_keymap_get(&numbers, (uint64_t)n + 1, &number))
            usual->of_name[n] = usual_of(&of_name[number], of_all_ps);
    }
    for (size_t i = 0; of_name && i < count; i++) moments_done(&of_name[i]);
    free(of_name);
    moments_done(&all);
    ids_keymap_done(&numbers);
    return failed ? -1 : 0;
}

struct finding {
    struct ids_usual_times *usual;
    const struct ids_analysis *analysis;
    atomic_int failed;
};

/* The calls of all hosts, and then devices. */
static void find_one(void *context, size_t i) {
    struct finding *finding = context;
    if (i ? find_short_gap(finding->usual, finding->analysis, i - 1) : find_usual(finding->usual)) finding->failed = 1;
}

int ids_usual_times_find(struct ids_usual_times *usual, const struct ids_analysis *analysis) {
    const struct ids_trace *trace = analysis->trace;
    *usual = (struct ids_usual_times){
        .trace = trace,
        .short_ps = calloc(analysis->busy_count + 1, sizeof *usual->short_ps),
        .of_name = calloc(trace->name_count + 1, sizeof *usual->of_name),
    };
    if (!usual->short_ps || !usual->of_name) return -1;
    struct finding finding = {usual, analysis, 0};
    ids_parallel_events(trace->event_count, analysis->busy_count + 1, find_one, &finding);
    return finding.failed ? -1 : 0;
}

void ids_usual_times_done(struct ids_usual_times *usual) {
    free(usual->short_ps);
    free(usual->of_name);
}

static struct ids_text name_of(const struct ids_trace *trace, uint32_t name) {
    return name == IDS_NONE ? (struct ids_text){"", 0} : ids_strings_text(&trace->strings, trace->names[name].text);
}

static int is_launch(struct ids_text name) {
    return ids_is_device_call(name) && ids_text_contains(name, "Launch");
}

int ids_usual_times_is_first_use(const struct ids_usual_times *usual, const struct ids_timeline *timeline, size_t i,
                                 int loads_code) {
    const struct ids_doing *doing = &usual->trace->doings[timeline->doing[i]];
    int64_t length_ps = length_of(timeline, i);
    if (length_ps < FIRST_USE_LEAST_PS) return 0;
    const struct ids_usual *own = &usual->of_name[doing->name];
    if (!is_long(length_ps, own->median_ps)) return 0;
    if (loads_code && length_ps >= (is_launch(name_of(usual->trace, doing->name)) ? LAUNCH_MOST_PS : OP_MOST_PS))
        return 1;
    return own->is_rarely_long || timeline->from_ps[i] <= own->early_ps;
}

/* Tensors without values: that takes memory, which may take as long as it likes. */
static int only_makes_tensors(struct ids_text op) {
    return ids_text_begins(op, "aten::empty") || ids_text_begins(op, "aten::resize");
}

/* Whether the thread gives the device something in that turn, or in those next to it of the same outermost op. */
static int launches_around(const struct ids_trace *trace, const struct ids_timeline *timeline, size_t i) {
    uint32_t around = trace->doings[timeline->doing[i]].around;
    size_t first = i, end = i + 1;
    while (first && trace->doings[timeline->doing[first - 1]].around == around) first--;
    while (end < timeline->count && trace->doings[timeline->doing[end]].around == around) end++;
    first -= first > 0; /* taking memory, or waiting, is apart */
    end += end < timeline->count;
    for (; first < end; first++) {
        if (ids_is_device_call(name_of(trace, trace->doings[timeline->doing[first]].name))) return 1;
    }
    return 0;
}

int ids_usual_times_computes(const struct ids_usual_times *usual, const struct ids_timeline *timeline, size_t i) {
    const struct ids_trace *trace = usual->trace;
    const struct ids_doing *doing = &trace->doings[timeline->doing[i]];
    struct ids_text name = name_of(trace, doing->name);
    return length_of(timeline, i) >= COMPUTES_LEAST_PS && ids_text_begins(name, "aten::") &&
           !only_makes_tensors(name) && !launches_around(trace, timeline, i);
}
