/* What happens in a window: collectors are started and stopped, their file is put in its place, and the hello file
 * says so. */
#include "collectors/common/agent_state.h"
#include "collectors/common/cut.h"
#include "collectors/common/history.h"
#include "collectors/common/secrets.h"
#include "collectors/common/stacks.h"
#include "collectors/common/xspace_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOBODY = -1, SAID_BYTES = IDS_HELLO_LINE };

/* ---- the beginning ---- */

int ids_session_begin(struct ids_agent *agent, char *why, size_t why_size) {
    const char *session = getenv("IDSPROF_SESSION"), *plan = getenv("IDSPROF_PLAN");
    if (!session || !plan || session[0] != '/') {
        snprintf(why, why_size, "IDSPROF_SESSION and IDSPROF_PLAN are not set: no capture");
        return -1;
    }
    if (strlen(session) >= sizeof agent->session) {
        snprintf(why, why_size, "the path of the session has more than %zu bytes", sizeof agent->session - 1);
        return -1;
    }
    if (ids_plan_parse(plan, &agent->plan, why, why_size)) return -1;
    memcpy(agent->session, session, strlen(session) + 1);
    ids_process_host(agent->host);
    agent->pid = getpid();
    agent->rank = ids_process_rank();
    agent->owner = -1;
    agent->written_bytes = agent->opened = agent->standing = 0;
    memset(agent->said_steps, 0, sizeof agent->said_steps);
    agent->said_rank = 0;
    agent->said_busy = 0;
    atomic_store(&agent->memory_limit, 0);
    ids_window_init(&agent->window, &agent->plan, ids_monotonic_ns());
    agent->window.counts_calls = agent->counts_calls;
    agent->front_key = 0;
    ids_recorder_init(&agent->recorder, &agent->plan);
    memset(agent->kept_files, 0, sizeof agent->kept_files);
    agent->cost_ns = agent->slow_cost_ns = agent->tried = agent->kept = 0;
    ids_history_begin(agent->session, agent->host, agent->pid, agent->rank, agent->plan.when_ratio,
                      agent->plan.when_ns);
    static struct ids_hello_file hello = {.own = IDS_NO_FILE};
    agent->hello = &hello;
    if (!ids_process_hello(&hello, agent->session, agent->host, agent->pid)) return 0;
    snprintf(why, why_size, "cannot write into '%s/.idsprof': %s", agent->session, strerror(errno));
    return -1;
}

int ids_session_has_rank(struct ids_agent *agent, char *why, size_t why_size) {
    int64_t rank = agent->rank < 0 ? 0 : agent->rank;
    if (ids_ranks_have(agent->plan.ranks, rank)) return 0;
    snprintf(why, why_size, "rank %lld is not among --ranks %s", (long long)rank, agent->plan.ranks);
    struct ids_hello line;
    if (agent->said_rank) return -1;
    agent->said_rank = 1;
    ids_hello_begin(&line, "skipped");
    ids_hello_number(&line, "window", 0);
    ids_hello_text(&line, "why", why);
    ids_hello_end(&line, agent->hello);
    return -1;
}

/* ---- lines of the hello file ---- */

/* `owner` is given by who may look at it: a job, and nobody beside it. */
static void begin_line(const struct ids_agent *agent, int owner, struct ids_hello *line, const char *event) {
    ids_hello_begin(line, event);
    ids_hello_number(line, "window", agent->window.number);
    if (owner >= 0) ids_hello_text(line, "collector", agent->collectors[owner].name);
}

void ids_session_note(const struct ids_agent *agent, const char *what, const char *why) {
    struct ids_hello line;
    char text[2 * IDS_WHY_BYTES];
    snprintf(text, sizeof text, "%s: %s", what, why);
    ids_hello_begin(&line, "note");
    ids_hello_text(&line, "why", text);
    ids_hello_end(&line, agent->hello);
}

void ids_session_say_loaded(const struct ids_agent *agent) {
    struct ids_hello line;
    ids_hello_begin(&line, "loaded");
    ids_hello_text(&line, "agent", IDS_VERSION);
    ids_hello_text(&line, "host", agent->host);
    ids_hello_number(&line, "rank", agent->rank);
    ids_hello_text(&line, "socket", agent->socket);
    ids_process_facts(&line);
    ids_hello_end(&line, agent->hello);
}

void ids_session_say_registered(const struct ids_agent *agent, const struct ids_slot *slot) {
    struct ids_hello line;
    ids_hello_begin(&line, "registered");
    ids_hello_text(&line, "collector", slot->name);
    ids_hello_number(&line, "priority", slot->collector.priority);
    ids_hello_end(&line, agent->hello);
}

void ids_session_say(const struct ids_agent *agent, const struct ids_slot *slot, const char *key, const char *value) {
    struct ids_hello line;
    struct ids_secrets secrets = {0};
    char masked[SAID_BYTES]; /* a value may be that of an environment variable */
    ids_secrets_mask(&secrets, value ? value : "", masked, sizeof masked);
    ids_hello_begin(&line, "said");
    ids_hello_text(&line, "collector", slot->name);
    ids_hello_text(&line, "key", key);
    ids_hello_text(&line, "value", ids_secrets_is_name(key, strlen(key)) ? "***" : masked);
    ids_hello_end(&line, agent->hello);
}

static const char *source_name(int source) {
    return source == IDS_STEP_ANNOTATION ? "annotation" : source == IDS_STEP_NONE ? "none" : "executions";
}

void ids_session_say_steps(struct ids_agent *agent, int source, const char *name, int64_t number) {
    struct ids_hello line;
    if (agent->said_steps[source]) return;
    agent->said_steps[source] = 1;
    ids_hello_begin(&line, "steps");
    ids_hello_text(&line, "source", source_name(source));
    ids_hello_text(&line, "name", name);
    ids_hello_number(&line, "number", number);
    ids_hello_end(&line, agent->hello);
}

void ids_session_name_steps(char to[IDS_STEPS_NAME], const char *name) {
    snprintf(to, IDS_STEPS_NAME, "%s", name ? name : "");
    ids_cut_between_characters(to);
}

void ids_session_say_slow(const struct ids_agent *agent) {
    struct ids_hello line;
    begin_line(agent, NOBODY, &line, "slow");
    ids_hello_number(&line, "waited_ns", agent->plan.stop_timeout_ns);
    ids_hello_end(&line, agent->hello);
}

static void say_lost(const struct ids_agent *agent, int owner, const char *why) {
    struct ids_hello line;
    begin_line(agent, owner, &line, "lost");
    ids_hello_text(&line, "by", ids_window_cause_name(agent->window.closed_by));
    ids_hello_text(&line, "why", why);
    ids_hello_end(&line, agent->hello);
}

void ids_session_say_late(const struct ids_agent *agent) {
    char why[IDS_WHY_BYTES];
    snprintf(why, sizeof why, "the collector did not return within %.3g s, and the program ended",
             (double)agent->plan.stop_timeout_ns / 1e9);
    say_lost(agent, NOBODY, why);
}

void ids_session_say_profile(const struct ids_agent *agent, int begins) {
    struct ids_hello line;
    ids_hello_begin(&line, "profile");
    ids_hello_number(&line, "begins", begins);
    ids_hello_number(&line, "step", agent->window.step_number);
    ids_hello_end(&line, agent->hello);
}

static void say_skipped(const struct ids_agent *agent, const char *collector, const char *why) {
    struct ids_hello line;
    ids_hello_begin(&line, "skipped");
    ids_hello_number(&line, "window", agent->window.number);
    ids_hello_number(&line, "step", agent->window.first);
    if (collector) ids_hello_text(&line, "collector", collector);
    ids_hello_text(&line, "why", why);
    ids_hello_end(&line, agent->hello);
}

void ids_session_say_closed(const struct ids_agent *agent) {
    struct ids_hello line;
    int source = agent->window.annotated    ? IDS_STEP_ANNOTATION
                 : agent->window.front >= 0 ? IDS_STEP_EXECUTION
                                            : IDS_STEP_NONE;
    ids_hello_begin(&line, "closed");
    ids_hello_text(&line, "source", source_name(source));
    ids_hello_number(&line, "reached", ids_window_reached(&agent->window));
    ids_hello_number(&line, "number", agent->window.step_number);
    if (agent->front_key && agent->front_key == ids_window_front(&agent->window))
        ids_hello_text(&line, "of", agent->front_of);
    ids_hello_end(&line, agent->hello);
}

/* ---- a window ---- */

static struct ids_place place_of(const struct ids_agent *agent) {
    return (struct ids_place){.session = agent->session,
                              .run = agent->plan.run[0] ? agent->plan.run : "run",
                              .host = agent->host,
                              .rank = agent->rank,
                              .window = agent->window.number,
                              .pid = agent->pid,
                              .suffix = agent->suffix};
}

/* The next collector to ask: the highest priority below `below`, the earliest registered first. -1: none is left. */
static int next_collector(const struct ids_agent *agent, int after) {
    int best = -1;
    for (int i = 0; i < agent->collector_count; i++) {
        const struct ids_slot *slot = &agent->collectors[i];
        int32_t priority = slot->collector.priority;
        if (!slot->is_alive || !slot->collector.start) continue;
        if (after >= 0) {
            int32_t last = agent->collectors[after].collector.priority;
            if (priority > last || (priority == last && i <= after)) continue;
        }
        if (best < 0 || priority > agent->collectors[best].collector.priority) best = i;
    }
    return best;
}

static void say_opened(const struct ids_agent *agent) {
    struct ids_hello line;
    begin_line(agent, agent->owner, &line, "opened");
    ids_hello_text(&line, "by", ids_window_cause_name(agent->window.opened_by));
    ids_hello_number(&line, "step", agent->window.first);
    ids_hello_number(&line, "warm", agent->window.warm);
    ids_hello_number(&line, "start_ns", agent->start_ns);
    if (agent->of_block && agent->window.opened_by == IDS_BY_TRIGGER) ids_hello_number(&line, "block", 1);
    ids_hello_end(&line, agent->hello);
}

/* Beside whichever collector owns the window. */
static void start_stacks(const struct ids_agent *agent) {
    struct ids_hello line;
    char why[IDS_WHY_BYTES] = "";
    if (agent->plan.stacks <= 0 || ids_stacks_start(agent->plan.stacks, agent->running_step, why, sizeof why) >= 0)
        return;
    ids_hello_begin(&line, "stacks");
    ids_hello_number(&line, "window", agent->window.number);
    ids_hello_text(&line, "why", why);
    ids_hello_end(&line, agent->hello);
}

static void drop_stacks(void) {
    const struct ids_stacks_window none = {.slow_step = -1};
    struct ids_stacks_counts counts;
    char why[IDS_WHY_BYTES];
    if (ids_stacks_stop(&counts)) ids_stacks_write(NULL, &none, why, sizeof why);
}

/* When the step began that ended the window; 0: none did. */
static int64_t next_step(const struct ids_agent *agent) {
    if (agent->window.closed_by != IDS_BY_STEP) return 0;
    return ids_realtime_ns() - (ids_monotonic_ns() - agent->decided_ns);
}

static void write_stacks(const struct ids_agent *agent, const struct ids_stacks_counts *counts, const char *path) {
    struct ids_hello line;
    char why[IDS_WHY_BYTES] = "";
    const struct ids_stacks_window window = {agent->slow.took_ns ? agent->slow.number : -1, next_step(agent)};
    if (ids_stacks_write(path, &window, why, sizeof why)) ids_session_note(agent, "stacks are lost", why);
    if (!path) return;
    ids_hello_begin(&line, "stacks");
    ids_hello_number(&line, "window", agent->window.number);
    ids_hello_number(&line, "rate", counts->rate);
    ids_hello_number(&line, "samples", counts->samples);
    ids_hello_number(&line, "threads", counts->threads);
    ids_hello_number(&line, "late", counts->late);
    ids_hello_number(&line, "dropped", counts->dropped);
    ids_hello_number(&line, "still", counts->still);
    ids_hello_number(&line, "cpu_ns", counts->cpu_ns);
    ids_hello_number(&line, "wall_ns", counts->end_ns - counts->begin_ns);
    ids_hello_end(&line, agent->hello);
}

/* Windows of processes that judge for themselves are not of the same moment: each rank's are runs of their own. */
static void set_suffix(struct ids_agent *agent) {
    char rank[24] = "", name[IDS_WISH_NAME + 1] = "";
    int is_asked_for = agent->window.opened_by == IDS_BY_TRIGGER;
    if (ids_plan_judges(&agent->plan) && !is_asked_for && agent->rank >= 0)
        snprintf(rank, sizeof rank, "_r%lld", (long long)agent->rank);
    if (is_asked_for && agent->wish_name[0]) snprintf(name, sizeof name, "_%s", agent->wish_name);
    snprintf(agent->suffix, sizeof agent->suffix, "%s%s", rank, name);
}

/* Since when a job that began at `before` has cost something: in a thread of ours the program goes on while its
 * callback waits for Python's lock. */
static int64_t costs_since(const struct ids_agent *agent, int64_t before) {
    return agent->is_own_job && agent->entered_ns > before ? agent->entered_ns : before;
}

int ids_session_open(struct ids_agent *agent) {
    char why[IDS_WHY_BYTES] = "";
    agent->asked_ns = ids_monotonic_ns();
    set_suffix(agent);
    struct ids_place place = place_of(agent);
    agent->owner = -1;
    if (ids_publish_begin(&place, agent->part, why, sizeof why)) {
        say_skipped(agent, NULL, why);
        return -1;
    }
    int asked = -1, is_busy = 0;
    while ((asked = next_collector(agent, asked)) >= 0) {
        const struct ids_slot *slot = &agent->collectors[asked];
        int64_t before = ids_monotonic_ns();
        /* In the middle of a slow step a collector may have to wait for what makes it slow: for Python's lock. The
         * stacks need no lock, and show who has it. */
        int is_early = agent->running_step >= 0;
        if (agent->is_own_job) ids_stacks_leave_out((uint64_t)(uintptr_t)pthread_self());
        if (is_early) start_stacks(agent);
        why[0] = '\0';
        int code = slot->collector.start(slot->collector.context, why, sizeof why);
        ids_stacks_leave_out(0);
        if (!code) {
            agent->begin_ns = ids_realtime_ns();
            agent->owner = asked;
            if (!is_early) start_stacks(agent);
            agent->start_ns = ids_monotonic_ns() - costs_since(agent, before);
            if (!ids_plan_judges(&agent->plan)) say_opened(agent); /* else only of windows that are kept */
            return 0;
        }
        if (is_early) drop_stacks();
        is_busy |= code == IDS_BUSY;
        if (code != IDS_BUSY || agent->said_busy != agent->window.number)
            say_skipped(agent, slot->name, why[0] ? why : "it did not start and gave no reason");
    }
    unlink(agent->part);
    if (is_busy) agent->said_busy = agent->window.number;
    return is_busy ? IDS_BUSY : -1;
}

static void contribute(struct ids_agent *agent) {
    struct ids_xspace_lines lines = {0};
    if (ids_xspace_lines_read(agent->part, &lines)) lines.zero_ns = 0; /* whoever writes there says why it cannot */
    for (int i = 0; i < agent->collector_count; i++) {
        const struct ids_slot *slot = &agent->collectors[i];
        char why[IDS_WHY_BYTES] = "";
        if (i == agent->owner || !slot->is_alive || !slot->collector.contribute) continue;
        if (slot->collector.contribute(slot->collector.context, agent->part, lines.zero_ns, agent->begin_ns,
                                       agent->end_ns, why, sizeof why)) {
            ids_session_note(agent, slot->name, why[0] ? why : "contributed nothing and gave no reason");
        }
    }
    ids_xspace_lines_done(&lines);
}

void ids_session_stop(struct ids_agent *agent, int throw_away) {
    const struct ids_slot *slot = &agent->collectors[agent->owner];
    struct ids_stacks_counts counts;
    int64_t before = ids_monotonic_ns();
    int sampled = ids_stacks_stop(&counts);
    agent->why_lost[0] = '\0';
    agent->caught = (struct ids_caught){.events = -1, .drops = -1};
    agent->end_ns = ids_realtime_ns();
    int failed = slot->collector.stop(slot->collector.context, throw_away ? NULL : agent->part, &agent->caught,
                                      agent->why_lost, sizeof agent->why_lost);
    if (failed && !agent->why_lost[0]) {
        snprintf(agent->why_lost, sizeof agent->why_lost, "the collector failed and gave no reason");
    }
    if (!failed) {
        agent->why_lost[0] = '\0';
        if (!throw_away) contribute(agent);
    }
    if (sampled) write_stacks(agent, &counts, failed || throw_away ? NULL : agent->part);
    agent->stop_ns = ids_monotonic_ns() - before;
    if (throw_away) unlink(agent->part);
    if (throw_away && failed && agent->window.warm) ids_session_note(agent, "the end of the warm-up", agent->why_lost);
}

static void put_reason(const struct ids_agent *agent, struct ids_hello *line) {
    ids_hello_text(line, "reason", agent->reason);
    ids_hello_number(line, "slow_step", agent->slow.number);
    ids_hello_number(line, "slow_ns", agent->slow.took_ns);
    ids_hello_number(line, "median_ns", agent->slow.median_ns);
    ids_hello_number(line, "slow_late_ns", agent->slow.late_ns);
}

static void say_written(const struct ids_agent *agent, const char *path, int64_t bytes, int64_t publish_ns) {
    struct ids_hello line;
    const struct ids_window *window = &agent->window;
    begin_line(agent, agent->owner, &line, "written");
    ids_hello_text(&line, "by", ids_window_cause_name(window->closed_by));
    ids_hello_text(&line, "path", path);
    ids_hello_number(&line, "bytes", bytes);
    ids_hello_number(&line, "events", agent->caught.events);
    ids_hello_number(&line, "drops", agent->caught.drops);
    ids_hello_number(&line, "first_step", window->first);
    ids_hello_number(&line, "last_step", window->last);
    ids_hello_number(&line, "steps", window->steps_begun);
    if (window->named) ids_hello_text(&line, "of", agent->steps_of);
    ids_hello_number(&line, "begin_ns", agent->begin_ns);
    ids_hello_number(&line, "end_ns", agent->end_ns);
    ids_hello_number(&line, "stop_ns", agent->stop_ns);
    ids_hello_number(&line, "publish_ns", publish_ns);
    if (agent->reason[0]) put_reason(agent, &line);
    ids_hello_end(&line, agent->hello);
}

/* What a reader of the folder finds beside the profile. */
static void write_reason(const struct ids_agent *agent, const char *path) {
    struct ids_hello line;
    ids_hello_begin(&line, "kept");
    ids_hello_text(&line, "host", agent->host);
    ids_hello_number(&line, "pid", agent->pid);
    ids_hello_number(&line, "window", agent->window.number);
    put_reason(agent, &line);
    memcpy(line.text + line.length, "}\n", 2);
    ids_publish_reason(agent->session, path, line.text, line.length + 2);
}

/* Another window is kept instead: its file goes. */
static void remove_kept(struct ids_agent *agent, int64_t window) {
    for (int i = 0; window && i < IDS_KEPT_MAX; i++) {
        struct ids_kept_file *kept = &agent->kept_files[i];
        if (kept->window != window) continue;
        struct ids_hello line;
        ids_publish_remove(agent->session, kept->path);
        ids_hello_begin(&line, "removed");
        ids_hello_number(&line, "window", window);
        ids_hello_end(&line, agent->hello);
        agent->written_bytes -= kept->bytes;
        kept->window = 0;
    }
}

static void note_kept(struct ids_agent *agent, const char *path, int64_t bytes) {
    for (int i = 0; i < IDS_KEPT_MAX; i++) {
        struct ids_kept_file *kept = &agent->kept_files[i];
        if (kept->window) continue;
        kept->window = agent->window.number;
        kept->bytes = bytes;
        if ((size_t)snprintf(kept->path, sizeof kept->path, "%s", path) >= sizeof kept->path) kept->window = 0;
        return;
    }
}

int ids_session_publish(struct ids_agent *agent) {
    char path[IDS_PUBLISH_PATH];
    int64_t bytes = 0, before = ids_monotonic_ns();
    struct ids_place place = place_of(agent);
    if (agent->window.warm) {
        unlink(agent->part);
        say_lost(agent, agent->owner, "the program ended in the warm-up, before the window");
    } else if (agent->why_lost[0]) {
        unlink(agent->part);
        say_lost(agent, agent->owner, agent->why_lost);
    } else if (ids_publish_end(&place, agent->part, path, &bytes, agent->why_lost, sizeof agent->why_lost)) {
        say_lost(agent, agent->owner, agent->why_lost);
    } else {
        if (ids_plan_judges(&agent->plan)) say_opened(agent);
        say_written(agent, path, bytes, ids_monotonic_ns() - before);
        agent->written_bytes += bytes;
        remove_kept(agent, agent->instead);
        if (agent->reason[0]) write_reason(agent, path);
        if (agent->plan.keep_slowest && agent->slow.took_ns) note_kept(agent, path, bytes);
    }
    agent->owner = -1;
    return agent->plan.max_size > 0 && agent->written_bytes >= agent->plan.max_size;
}

void ids_session_drop(struct ids_agent *agent) {
    agent->owner = NOBODY;
}

/* ---- the control socket ---- */

void ids_session_status(const struct ids_agent *agent, struct ids_hello *line, int refused, int is_start) {
    static const char *const states[] = {"waiting", "opening", "open", "closing", "done"};
    char command[512];
    ids_process_command(command, sizeof command);
    ids_hello_begin(line, "status");
    ids_hello_number(line, "pid", agent->pid);
    ids_hello_number(line, "launcher", agent->plan.launcher);
    ids_hello_number(line, "rank", agent->rank);
    ids_hello_text(line, "session", agent->session);
    ids_hello_text(line, "state", states[agent->window.state]);
    ids_hello_number(line, "window", agent->window.number);
    ids_hello_number(line, "opened", agent->opened);
    ids_hello_number(line, "step", ids_window_reached(&agent->window));
    ids_hello_text(line, "command", command);
    if (refused) {
        const char *why = is_start ? agent->window.over || agent->window.state == IDS_DONE
                                         ? "no further window is opened in it"
                                         : "a window is open already"
                                   : "no window is open";
        ids_hello_text(line, "why", why);
    }
    ids_hello_number(line, "ok", !refused);
    line->text[line->length++] = '}';
    line->text[line->length++] = '\n';
}
