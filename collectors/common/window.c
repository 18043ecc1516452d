#include "collectors/common/window.h"

#include <string.h>

enum { FAILURES_MAX = 3, RETRY_NS = 20000000 };

void ids_window_init(struct ids_window *window, const struct ids_plan *plan, int64_t now_ns) {
    memset(window, 0, sizeof *window);
    window->plan = *plan;
    window->born_ns = now_ns;
    window->next_start = plan->start_step;
    window->leader = window->front = -1;
    window->first = window->last = window->step_number = window->furthest = -1;
}

/* ---- what the plan opens windows by ---- */

static int by_range(const struct ids_window *window) {
    return window->plan.range[0] != '\0';
}

static int by_step(const struct ids_window *window) {
    return !window->plan.trigger && !by_range(window) && window->plan.start_step >= 0;
}

static int by_time(const struct ids_window *window) {
    return !window->plan.trigger && !by_range(window) && window->plan.start_step < 0;
}

static int64_t earliest(const struct ids_window *window, int64_t pause_ns) {
    int64_t from;
    if (__builtin_add_overflow(window->born_ns, window->plan.delay_ns, &from)) from = INT64_MAX;
    if (from < window->retry_ns) from = window->retry_ns;
    return from < pause_ns ? pause_ns : from;
}

int64_t ids_window_earliest(const struct ids_window *window, int is_beyond) {
    return earliest(window, is_beyond ? 0 : window->pause_slow_ns);
}

static int too_early(const struct ids_window *window, int64_t now_ns) {
    if (window->begun_ns && now_ns - window->begun_ns < window->plan.every_ns) return 1;
    return now_ns < earliest(window, window->pause_ns);
}

/* ---- transitions ---- */

static enum ids_window_action open_now(struct ids_window *window, enum ids_window_cause cause, int warm) {
    window->state = IDS_OPENING;
    window->opened_by = cause;
    window->closed_by = IDS_BY_NOBODY;
    window->warm = warm;
    window->dropped = 0;
    window->steps = window->plan.steps;
    window->duration_ns = window->plan.duration_ns;
    window->number++;
    window->steps_begun = 0;
    window->first = window->last = -1;
    window->named = 0;
    return IDS_OPEN;
}

static enum ids_window_action close_now(struct ids_window *window, enum ids_window_cause cause) {
    window->state = IDS_CLOSING;
    window->closed_by = cause;
    return IDS_CLOSE;
}

static int is_done(const struct ids_window *window) {
    if (window->over || (window->plan.max && window->counted >= window->plan.max)) return 1;
    if (window->failed >= FAILURES_MAX && !window->plan.trigger) return 1;
    if (window->plan.every_ns || ids_plan_judges(&window->plan)) return 0;
    if (by_step(window)) return !window->plan.every && window->counted;
    return by_time(window) && window->timed;
}

/* The next start is the first of start_step, + every, ... that the leader has not reached. */
static void next_start(struct ids_window *window) {
    int64_t every = window->plan.every;
    if (window->leader < 0) return;
    if (!every && (window->plan.every_ns || ids_plan_judges(&window->plan))) every = 1;
    if (!every) return;
    int64_t behind = window->feeders[window->leader].position - window->next_start;
    if (behind >= 0 && __builtin_add_overflow(window->next_start, (behind / every + 1) * every, &window->next_start)) {
        window->next_start = INT64_MAX;
    }
}

static void wait_again(struct ids_window *window) {
    window->warm = 0;
    next_start(window);
    window->state = is_done(window) ? IDS_DONE : IDS_WAITING;
}

void ids_window_opened(struct ids_window *window, int64_t now_ns, int ok) {
    if (window->state != IDS_OPENING) return;
    if (ok) {
        window->state = IDS_OPENED;
        window->opened_ns = now_ns;
        window->failed = 0;
        return;
    }
    /* The number is used up, so that messages about it stay unique. A start that is missed is missed; after a warm-up
     * that failed the start itself is tried. */
    if (window->opened_by != IDS_BY_TRIGGER && !window->warm) window->counted++;
    window->failed += !window->warm;
    wait_again(window);
}

void ids_window_busy(struct ids_window *window, int64_t now_ns) {
    if (window->state != IDS_OPENING || window->opened_by == IDS_BY_TRIGGER) {
        ids_window_opened(window, now_ns, 0);
        return;
    }
    window->retry_ns = now_ns + RETRY_NS;
    window->warm = window->timed = 0;
    window->begun_ns = 0;
    if (window->leader >= 0) window->feeders[window->leader].in_window = 0;
    window->number--;
    window->state = IDS_WAITING;
}

void ids_window_free(struct ids_window *window) {
    window->retry_ns = 0;
}

void ids_window_closed(struct ids_window *window, int full) {
    if (window->state != IDS_CLOSING) return;
    if (window->warm && window->closed_by == IDS_BY_STEP && !full) {
        window->warm = 0;
        window->state = IDS_OPENING;
        window->closed_by = IDS_BY_NOBODY;
        return;
    }
    if (window->dropped) {
        window->number--;
        for (int i = 0; i < IDS_FEEDERS; i++) window->feeders[i].in_window = 0;
    } else if (window->opened_by != IDS_BY_TRIGGER || window->plan.trigger) {
        window->counted++;
    }
    window->over |= full;
    wait_again(window);
}

/* ---- steps ---- */

static int find_feeder(struct ids_window *window, uint64_t key) {
    for (int probe = 0; probe < IDS_FEEDERS; probe++) {
        int index = (int)((key + (uint64_t)probe) % IDS_FEEDERS);
        if (window->feeders[index].key == key) return index;
        if (window->feeders[index].key) continue;
        window->feeders[index] = (struct ids_feeder){.key = key, .last = -1, .position = -1};
        return index;
    }
    window->missed++;
    return -1;
}

/* Moves the feeder on; 0 when this is no new step but a part of the one before. */
static int advance(const struct ids_window *window, struct ids_feeder *feeder, int64_t number) {
    int64_t next = feeder->position < INT64_MAX ? feeder->position + 1 : INT64_MAX;
    if (number < 0) {
        feeder->position = next;
        return 1;
    }
    int is_first = feeder->position < 0;
    if (!is_first && number == feeder->last) return 0;
    if (is_first && window->plan.start_step >= 0 && number > window->plan.start_step) feeder->base = -number;
    if (!is_first && number < feeder->last) feeder->base = next - number;
    feeder->last = number;
    if (__builtin_add_overflow(number, feeder->base, &feeder->position)) feeder->position = INT64_MAX;
    return 1;
}

/* The feeder's step belongs to the window. */
static void count_in(struct ids_window *window, struct ids_feeder *feeder, int64_t number) {
    int64_t name = number < 0 ? feeder->position : number;
    if (feeder->in_window != window->number) {
        feeder->in_window = window->number;
        feeder->first = name;
        feeder->begun = 0;
    }
    if (++feeder->begun < window->steps_begun) return;
    window->steps_begun = feeder->begun;
    window->first = feeder->first;
    window->named = feeder->key;
    window->last = name;
}

static enum ids_window_action step_while_open(struct ids_window *window, struct ids_feeder *feeder, int64_t number) {
    if (window->warm) {
        if (feeder->position < window->next_start) return IDS_NOTHING;
        close_now(window, IDS_BY_STEP);
        count_in(window, feeder, number);
        return IDS_REOPEN;
    }
    int was_in = feeder->in_window == window->number;
    if (window->steps && was_in && feeder->begun >= window->steps) return close_now(window, IDS_BY_STEP);
    count_in(window, feeder, number);
    return IDS_NOTHING;
}

static int64_t whole_turns(int64_t steps, int64_t every) {
    return (steps + every - 1) / every * every;
}

static enum ids_window_action step_while_waiting(struct ids_window *window, int64_t now_ns, int index, int64_t number) {
    int64_t position = window->feeders[index].position;
    if (!by_step(window) || too_early(window, now_ns)) return IDS_NOTHING;
    if (position < window->next_start - window->plan.warmup) return IDS_NOTHING;
    int warm = position < window->next_start;
    int64_t every = window->annotated || warm || ids_plan_judges(&window->plan) ? 0 : window->turn_every;
    if (every > 1 && window->turn_place < every) return IDS_NOTHING;
    window->leader = index;
    window->begun_ns = now_ns;
    open_now(window, IDS_BY_STEP, warm);
    /* The first one is in no mean. */
    if (every > 1 && window->steps > 1) window->steps = whole_turns(window->steps - 1, every) + 1;
    if (!warm) count_in(window, &window->feeders[index], number);
    return IDS_OPEN;
}

void ids_window_in_turn(struct ids_window *window, int64_t every, int64_t place) {
    window->turn_every = every;
    window->turn_place = place;
}

/* One window, which a step was to open. */
static int is_for_one(const struct ids_window *window) {
    const struct ids_plan *plan = &window->plan;
    return by_step(window) && plan->max == 1 && !plan->every && !plan->every_ns && !ids_plan_judges(plan);
}

void ids_window_turn(struct ids_window *window, uint64_t key, int64_t number) {
    int index = find_feeder(window, key ? key : 1);
    if (index < 0 || number < 0) return;
    struct ids_feeder *feeder = &window->feeders[index];
    feeder->base = 0;
    feeder->last = feeder->position = window->furthest = number - 1;
    window->turn_every = 0;
    if (!is_for_one(window) || window->over || window->is_again || window->opened_by != IDS_BY_STEP) return;
    window->is_again = 1;
    window->counted = window->state == IDS_DONE ? 0 : -1; /* what is open counts when it ends */
    if (window->state == IDS_DONE) window->state = IDS_WAITING;
}

/* The first annotated step: what was counted of executions is forgotten. */
static void annotations_begin(struct ids_window *window) {
    window->annotated = 1;
    memset(window->feeders, 0, sizeof window->feeders);
    if (window->leader >= 0) window->next_start = window->plan.start_step;
    window->turns += window->front >= 0;
    window->leader = window->front = -1;
    window->furthest = -1;
}

/* Whether an execution counts for nothing yet. */
static int is_held_back(struct ids_window *window, enum ids_step_source source) {
    if (source == IDS_STEP_CALL) window->without_call = 0;
    if (source != IDS_STEP_EXECUTION || !window->counts_calls) return 0;
    if (window->without_call < IDS_WITHOUT_CALL) window->without_call++;
    return window->without_call < IDS_WITHOUT_CALL;
}

/* Whose steps are the program's. */
static void find_front(struct ids_window *window, int index) {
    struct ids_feeder *feeder = &window->feeders[index];
    if (window->front != index) {
        ids_turn_step(&feeder->turn, window->front_steps);
        if (window->front >= 0 && feeder->position <= window->furthest && window->leader != index) return;
        window->turns += window->front >= 0 && ids_turn_takes_over(&feeder->turn, window->furthest);
        window->front = index;
    }
    window->front_steps++;
    window->furthest = feeder->position;
}

enum ids_window_action ids_window_step(struct ids_window *window, int64_t now_ns, enum ids_step_source source,
                                       uint64_t key, int64_t number) {
    if (source != IDS_STEP_ANNOTATION && window->annotated) return IDS_NOTHING;
    if (source == IDS_STEP_ANNOTATION && !window->annotated) annotations_begin(window);
    int index = find_feeder(window, key ? key : 1);
    if (index < 0 || !advance(window, &window->feeders[index], number)) return IDS_NOTHING;
    if (is_held_back(window, source)) return IDS_NOTHING;
    window->step_number = number;
    if (window->leader >= 0 && window->leader != index) return IDS_NOTHING;
    find_front(window, index);
    if (window->state == IDS_WAITING) return step_while_waiting(window, now_ns, index, number);
    if (window->state != IDS_OPENED) return IDS_NOTHING;
    return step_while_open(window, &window->feeders[index], number);
}

/* ---- regions, trigger, time, exit ---- */

enum ids_window_action ids_window_range(struct ids_window *window, int64_t now_ns, int begins) {
    if (!by_range(window)) return IDS_NOTHING;
    if (begins) {
        if (window->ranges++ || window->state != IDS_WAITING || too_early(window, now_ns)) return IDS_NOTHING;
        if (window->plan.start_step > 0 && ids_window_reached(window) < window->plan.start_step) return IDS_NOTHING;
        return open_now(window, IDS_BY_RANGE, 0);
    }
    if (window->ranges > 0) window->ranges--;
    if (window->ranges || window->state != IDS_OPENED || window->opened_by != IDS_BY_RANGE) return IDS_NOTHING;
    return close_now(window, IDS_BY_RANGE);
}

enum ids_window_action ids_window_trigger(struct ids_window *window, const struct ids_window_wish *wish) {
    if (!wish) return window->state == IDS_OPENED ? close_now(window, IDS_BY_TRIGGER) : IDS_NOTHING;
    int may = window->state == IDS_WAITING || (window->state == IDS_DONE && !window->over && !window->plan.trigger);
    if (!may) return IDS_NOTHING;
    open_now(window, IDS_BY_TRIGGER, 0);
    /* Who says one of them says when it ends. Else it holds whole turns, wherever in one it begins: the step that runs
     * now is not in it. */
    if (wish->steps >= 0 || wish->duration_ns >= 0) {
        window->steps = wish->steps >= 0 ? wish->steps : 0;
        window->duration_ns = wish->duration_ns >= 0 ? wish->duration_ns : 0;
    } else if (!window->annotated && window->turn_every > 1) {
        window->steps = whole_turns(window->steps, window->turn_every);
    }
    return IDS_OPEN;
}

enum ids_window_action ids_window_slow(struct ids_window *window, int64_t now_ns, int is_beyond) {
    if (window->state != IDS_WAITING || !by_step(window)) return IDS_NOTHING;
    if (now_ns < ids_window_earliest(window, is_beyond)) return IDS_NOTHING;
    return open_now(window, IDS_BY_SLOW, 0);
}

enum ids_window_action ids_window_waste(struct ids_window *window) {
    return window->state == IDS_OPENED ? close_now(window, IDS_BY_STEP) : IDS_NOTHING;
}

void ids_window_pause(struct ids_window *window, int64_t until_ns, int64_t slow_until_ns) {
    window->pause_ns = until_ns;
    window->pause_slow_ns = slow_until_ns;
}

void ids_window_drop(struct ids_window *window) {
    window->dropped = 1;
}

int64_t ids_window_deadline(const struct ids_window *window) {
    int64_t from = window->opened_ns, after = window->duration_ns, deadline;
    if (window->state == IDS_WAITING && by_time(window)) {
        int again = window->timed && window->begun_ns;
        from = again ? window->begun_ns : window->born_ns;
        after = again ? window->plan.every_ns : window->plan.delay_ns;
    } else if (window->state != IDS_OPENED || window->warm || !after) {
        return -1;
    }
    if (__builtin_add_overflow(from, after, &deadline)) return INT64_MAX;
    return window->state == IDS_WAITING && deadline < window->retry_ns ? window->retry_ns : deadline;
}

enum ids_window_action ids_window_time(struct ids_window *window, int64_t now_ns) {
    int64_t deadline = ids_window_deadline(window);
    if (deadline < 0 || now_ns < deadline) return IDS_NOTHING;
    if (window->state != IDS_WAITING) return close_now(window, IDS_BY_TIME);
    window->timed = 1;
    window->begun_ns = now_ns;
    return open_now(window, IDS_BY_TIME, 0);
}

enum ids_window_action ids_window_give_way(struct ids_window *window) {
    return window->state == IDS_OPENED ? close_now(window, IDS_BY_PROGRAM) : IDS_NOTHING;
}

enum ids_window_action ids_window_full(struct ids_window *window) {
    return window->state == IDS_OPENED ? close_now(window, IDS_BY_SIZE) : IDS_NOTHING;
}

enum ids_window_action ids_window_exec(struct ids_window *window) {
    return window->state == IDS_OPENED ? close_now(window, IDS_BY_EXEC) : IDS_NOTHING;
}

enum ids_window_action ids_window_exit(struct ids_window *window) {
    window->over = 1;
    if (window->state == IDS_OPENED) return close_now(window, IDS_BY_EXIT);
    if (window->state == IDS_WAITING) window->state = IDS_DONE;
    return IDS_NOTHING;
}

/* ---- questions ---- */

int ids_window_passes(const struct ids_window *window, enum ids_step_source source, uint64_t key, int64_t number) {
    if (source == IDS_STEP_ANNOTATION && !window->annotated) return 0;
    if (window->state == IDS_DONE) return 1;
    if (window->state != IDS_WAITING) return 0;
    if (!by_step(window)) return 1;
    for (int i = 0; i < IDS_FEEDERS; i++) {
        struct ids_feeder feeder = window->feeders[i];
        if (feeder.key != key) continue;
        (void)advance(window, &feeder, number);
        return feeder.position < window->next_start - window->plan.warmup;
    }
    return 0;
}

int ids_window_wants(const struct ids_window *window, enum ids_step_source source) {
    if (window->state == IDS_DONE) return 0;
    if (source == IDS_STEP_ANNOTATION) return 1; /* they cost little, and say what a window of another kind held */
    if (window->annotated) return 0;
    if (by_step(window)) return 1;
    if (by_range(window) && window->plan.start_step > 0) return 1;
    return window->plan.steps > 0;
}

uint64_t ids_window_front(const struct ids_window *window) {
    return window->front < 0 ? 0 : window->feeders[window->front].key;
}

int64_t ids_window_reached(const struct ids_window *window) {
    if (window->leader >= 0) return window->feeders[window->leader].position;
    return window->furthest;
}

const char *ids_window_cause_name(enum ids_window_cause cause) {
    static const char *const names[] = {"nobody", "step",    "time", "range", "trigger",
                                        "exit",   "program", "size", "exec",  "slow"};
    return names[cause];
}
