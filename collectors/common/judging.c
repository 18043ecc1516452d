/* What the agent's steps mean for windows: history.h has them all, recorder.h says which are slow, and of the windows
 * that a plan judges only those with slow steps in them are kept, at a bounded cost. */
#include "collectors/common/agent_state.h"
#include "collectors/common/cut.h"
#include "collectors/common/history.h"

#include <stdio.h>

enum { LOOK_NS = 2000000, COST_WHOLE = 1000000, SLOW_AT_FIRST_NS = 200000000 };

static int judges(const struct ids_agent *agent) {
    return ids_plan_judges(&agent->plan);
}

static int64_t step_of(const struct ids_window *window) {
    return window->step_number >= 0 ? window->step_number : window->furthest;
}

int64_t ids_judging_running(const struct ids_agent *agent) {
    int opens_in_a_step = agent->window.opened_by == IDS_BY_SLOW || agent->window.opened_by == IDS_BY_TIME ||
                          (agent->window.opened_by == IDS_BY_TRIGGER && !agent->of_block);
    return opens_in_a_step ? step_of(&agent->window) : -1;
}

int ids_judging_step(struct ids_agent *agent, int64_t now_ns) {
    int64_t number = step_of(&agent->window);
    int64_t median_ns;
    if (judges(agent) && ids_recorder_step(&agent->recorder, now_ns, number, &median_ns)) ids_history_slow(median_ns);
    return ids_history_step(now_ns, number);
}

int ids_judging_stall(struct ids_agent *agent, int64_t from_ns, int64_t to_ns) {
    if (judges(agent)) ids_recorder_stall(&agent->recorder, to_ns - from_ns);
    return ids_history_stall(to_ns - from_ns);
}

/* ---- a step that takes too long ---- */

/* Within the budget, or beyond it. */
static int64_t deadline_of(const struct ids_agent *agent, int is_beyond) {
    int64_t deadline = ids_recorder_deadline(&agent->recorder, is_beyond);
    int64_t earliest = ids_window_earliest(&agent->window, is_beyond);
    if (deadline < 0) return -1;
    int64_t soonest = agent->recorder.begin_ns + LOOK_NS; /* short steps are not looked at one by one */
    if (deadline < soonest) deadline = soonest;
    return deadline < earliest ? earliest : deadline;
}

int64_t ids_judging_deadline(const struct ids_agent *agent) {
    if (!judges(agent) || agent->window.state != IDS_WAITING || agent->standing) return -1;
    int64_t within = deadline_of(agent, 0), beyond = deadline_of(agent, 1);
    return within < 0 || (beyond >= 0 && beyond < within) ? beyond : within;
}

enum ids_window_action ids_judging_time(struct ids_agent *agent, int64_t now_ns) {
    int64_t deadline = ids_judging_deadline(agent);
    if (deadline < 0 || now_ns < deadline) return IDS_NOTHING;
    int is_beyond = now_ns < ids_window_earliest(&agent->window, 0);
    ids_recorder_watch(&agent->recorder, now_ns, is_beyond);
    return ids_window_slow(&agent->window, now_ns, is_beyond);
}

/* ---- a window ---- */

void ids_judging_opened(struct ids_agent *agent) {
    if (judges(agent)) ids_recorder_open(&agent->recorder, agent->decided_ns, ids_monotonic_ns());
}

int ids_judging_keeps(struct ids_agent *agent) {
    const struct ids_window *window = &agent->window;
    int is_asked_for = window->opened_by == IDS_BY_TRIGGER;
    agent->reason[0] = '\0';
    agent->instead = 0;
    agent->slow = (struct ids_slow_step){.number = -1};
    if (!judges(agent)) return 1;
    int is_end = window->closed_by == IDS_BY_EXIT;
    int is_kept =
        ids_recorder_close(&agent->recorder, agent->decided_ns, window->number, is_asked_for, is_end, &agent->instead);
    agent->slow = agent->recorder.worst;
    ids_recorder_text(&agent->slow, agent->reason, sizeof agent->reason);
    if (is_asked_for && !agent->reason[0]) snprintf(agent->reason, sizeof agent->reason, "asked for");
    return is_kept;
}

/* After how much time so much was the share that the plan allows; half of it is for either kind of windows. */
static int64_t time_for(const struct ids_agent *agent, int64_t cost_ns) {
    int64_t time_ns;
    if (cost_ns <= 0 || agent->plan.max_cost <= 0) return 0;
    if (__builtin_mul_overflow(cost_ns, 2 * COST_WHOLE, &time_ns)) return INT64_MAX / 4;
    return time_ns / agent->plan.max_cost;
}

/* The windows of the rhythm come one by one. Those for slow steps are rare: what they have not used is kept for them,
 * and they may begin with some. */
static void pause_windows(struct ids_agent *agent, int64_t cost_ns) {
    struct ids_window *window = &agent->window;
    int is_slow = window->opened_by == IDS_BY_SLOW;
    if (is_slow) agent->slow_cost_ns += cost_ns;
    int64_t until_ns = is_slow ? window->pause_ns : agent->asked_ns + time_for(agent, cost_ns);
    ids_window_pause(window, until_ns, window->born_ns + time_for(agent, agent->slow_cost_ns - SLOW_AT_FIRST_NS));
}

int ids_judging_closed(struct ids_agent *agent, int is_kept) {
    int64_t cost_ns = agent->start_ns + agent->stop_ns;
    char name[IDS_HISTORY_NAME];
    if (judges(agent)) {
        agent->tried++;
        agent->kept += is_kept;
        agent->cost_ns += cost_ns;
        pause_windows(agent, cost_ns);
    }
    if (!is_kept) return 0;
    snprintf(name, sizeof name, "%lld %.80s", (long long)agent->window.number, agent->reason);
    ids_cut_between_characters(name);
    return ids_history_event(IDS_HISTORY_WINDOW, agent->asked_ns + agent->start_ns, ids_monotonic_ns(), name);
}

void ids_judging_say(const struct ids_agent *agent) {
    const struct ids_recorder *recorder = &agent->recorder;
    struct ids_hello line;
    if (!judges(agent)) return;
    ids_hello_begin(&line, "judged");
    ids_hello_number(&line, "tried", agent->tried);
    ids_hello_number(&line, "kept", agent->kept);
    ids_hello_number(&line, "steps", recorder->steps);
    ids_hello_number(&line, "slow", recorder->slow);
    ids_hello_number(&line, "slow_missed", recorder->slow_missed);
    ids_hello_number(&line, "missed_step", recorder->missed_number);
    ids_hello_number(&line, "missed_ns", recorder->missed_ns);
    ids_hello_number(&line, "missed_seen_ns", recorder->missed_seen_ns);
    ids_hello_number(&line, "median_ns", ids_median_of(&recorder->medians[0]));
    ids_hello_number(&line, "cost_ns", agent->cost_ns);
    ids_hello_end(&line, agent->hello);
}
