/* The state of the agent: one for a process. What happens in a window is in session.c. */
#include "collectors/common/agent.h"

#include "collectors/common/agent_state.h"
#include "collectors/common/cells.h"
#include "collectors/common/control.h"
#include "collectors/common/history.h"
#include "collectors/common/spells.h"
#include "collectors/common/stacks.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#pragma weak pthread_create /* see glibc.h */

struct ids_agent ids_agent = {.lock = PTHREAD_MUTEX_INITIALIZER,
                              .listener = IDS_NO_FILE,
                              .wake = IDS_NO_BELL,
                              .owner = -1,
                              .write_at_ns = -1,
                              .hot = {0, 1, 1, 1}};
static struct ids_agent *const agent = &ids_agent;

enum { PAUSE_MS = 20, MEMORY_MS = 50, REQUEST_BYTES = 512 };
static const int64_t history_every_ns = 200000000;

/* ---- small things ---- */

static void lock(void) {
    pthread_mutex_lock(&agent->lock);
}

/* For ids_agent_state, which takes no lock. Under the lock. */
static void show(void) {
    atomic_store_explicit(&agent->shown, (int)agent->window.state, memory_order_release);
}

static void unlock(void) {
    show();
    pthread_mutex_unlock(&agent->lock);
}

/* By a futex: the program may close each descriptor of ours. */
static void set_idle(int is_idle) {
    atomic_store(&agent->idle, is_idle);
    if (is_idle) syscall(SYS_futex, &agent->idle, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Until no job runs or the time is over. 0 when none does. */
static int wait_for_idle(int64_t timeout_ns) {
    int64_t end = ids_monotonic_ns() + timeout_ns;
    while (!atomic_load(&agent->idle)) {
        int64_t left_ns = end - ids_monotonic_ns();
        if (left_ns <= 0) return -1;
        struct timespec left = {.tv_sec = left_ns / 1000000000, .tv_nsec = left_ns % 1000000000};
        syscall(SYS_futex, &agent->idle, FUTEX_WAIT_PRIVATE, 0, &left, NULL, 0);
    }
    return 0;
}

/* A thread of our own: detached, and deaf to the program's signals. */
static int start_thread(void *(*run)(void *), void *argument) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    if (!pthread_create || pthread_attr_init(&attributes)) return -1;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* of this thread alone on Linux; pthread_sigmask was in libpthread */
    int failed = pthread_create(&thread, &attributes, run, argument);
    sigprocmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failed ? -1 : 0;
}

/* Under the lock. */
static int any_alive(void) {
    for (int i = 0; i < agent->collector_count; i++) {
        if (agent->collectors[i].is_alive) return 1;
    }
    return 0;
}

/* What the feeding threads look at without a lock: the history wants every step, but of one source alone. Under the
 * lock. */
static void refresh(void) {
    int wants = any_alive();
    atomic_store(&agent->hot[IDS_STEP_ANNOTATION], wants);
    atomic_store(&agent->hot[IDS_STEP_EXECUTION], wants && !agent->window.annotated);
    atomic_store(&agent->hot[IDS_STEP_CALL], wants && !agent->window.annotated);
}

/* The control thread is to write the history, a moment from now. Under the lock. */
static void news(int is_new) {
    if (!is_new) return;
    agent->write_at_ns = ids_monotonic_ns() + history_every_ns;
    ids_bell_ring(&agent->wake);
}

/* ---- jobs: the opening and closing of a window, one at a time, because the window's state lets no second one begin
 * ---- */

/* Under the lock, together with the change of state. */
static void begin_job(enum ids_window_action action) {
    agent->job = action;
    agent->running_step = ids_judging_running(agent);
    agent->decided_ns = ids_monotonic_ns();
    set_idle(0);
}

/* Under the lock, which is given back: rung together with the change of state, or it would end the wait for a later
 * job. Who waits for the job sees what it came to. */
static void end_job(void) {
    refresh();
    show();
    ids_bell_ring(&agent->wake); /* the deadline may be another one */
    set_idle(1);
    unlock();
}

/* A call of the program that is a step, for the collector that waits for its record. */
struct call {
    int *calls;  /* how many there are, NULL: nobody asked */
    int counted; /* this one is among them */
};

/* Under the lock: who ends the window after us sees the call. */
static void count_call(struct call *call) {
    if (!call || !call->calls || call->counted || agent->window.state != IDS_OPENED) return;
    __atomic_fetch_add(call->calls, 1, __ATOMIC_SEQ_CST);
    call->counted = 1;
}

static void open_window(struct call *call) {
    int64_t limit = ids_window_bytes(&agent->plan);
    int code = ids_session_open(agent);
    if (!code && limit > 0) atomic_store(&agent->memory_limit, ids_process_memory() + limit);
    lock();
    if (code == IDS_BUSY) {
        ids_window_busy(&agent->window, ids_monotonic_ns());
    } else {
        ids_window_opened(&agent->window, ids_monotonic_ns(), !code);
    }
    if (!code) {
        agent->opened = agent->window.number;
        ids_judging_opened(agent);
    }
    count_call(call);
    end_job();
}

static void close_window(int throw_away) {
    atomic_store(&agent->memory_limit, 0);
    lock();
    int is_kept = throw_away || agent->window.warm || ids_judging_keeps(agent);
    if (!is_kept) ids_window_drop(&agent->window);
    unlock();
    ids_session_stop(agent, throw_away || !is_kept);
    if (throw_away) {
        lock();
        ids_window_closed(&agent->window, 0);
        unlock();
        return;
    }
    int full = 0;
    if (is_kept) {
        full = ids_session_publish(agent);
    } else {
        ids_session_drop(agent);
    }
    lock();
    news(ids_judging_closed(agent, is_kept));
    ids_window_closed(&agent->window, full);
    end_job();
}

static void run_job(struct call *call) {
    enum ids_window_action job = agent->job; /* the next job may begin when this one ends */
    if (job != IDS_OPEN) close_window(job == IDS_REOPEN);
    if (job != IDS_CLOSE) open_window(call);
}

static void *run_own_job(void *none) {
    (void)none;
    agent->is_own_job = 1;
    run_job(NULL);
    return NULL;
}

/* Does what the window wants. In a feeding thread an opening happens here and a closing is waited for. */
static void do_or_wait(enum ids_window_action action, int feeding, struct call *call) {
    if ((action == IDS_OPEN && feeding) || start_thread(run_own_job, NULL)) {
        agent->is_own_job = 0;
        run_job(call);
        return;
    }
    if (!feeding || !wait_for_idle(agent->plan.stop_timeout_ns)) return;
    lock();
    ids_session_say_slow(agent);
    unlock();
}

static void act(enum ids_window_action action, int feeding, struct call *call) {
    if (action == IDS_NOTHING) return;
    int64_t from_ns = ids_monotonic_ns();
    lock();
    if (!feeding) ids_recorder_doubt(&agent->recorder, from_ns);
    unlock();
    do_or_wait(action, feeding, call);
    if (!feeding) return;
    lock();
    agent->standing--;
    news(ids_judging_stall(agent, from_ns, ids_monotonic_ns()));
    ids_bell_ring(&agent->wake); /* the step that runs may be judged again */
    unlock();
}

/* The end of an entry point: gives the lock back and does what the event came to. */
static void finish(enum ids_window_action action, int feeding, struct call *call) {
    if (action != IDS_NOTHING) begin_job(action);
    agent->standing += feeding && action != IDS_NOTHING;
    refresh();
    unlock();
    act(action, feeding, call);
}

/* ---- the control thread: time, and `idsprof trigger` ---- */

static void answer(int connection, const char *request) {
    struct ids_hello line;
    enum ids_window_action action = IDS_NOTHING;
    struct ids_control_wish asked;
    int is_start = !ids_control_read_wish(request, &asked), is_stop = !strcmp(request, "stop");
    const struct ids_window_wish wish = {asked.steps, asked.duration_ns};
    lock();
    if (is_start || is_stop) action = ids_window_trigger(&agent->window, is_start ? &wish : NULL);
    if (action == IDS_OPEN) {
        memcpy(agent->wish_name, asked.name, sizeof agent->wish_name);
        agent->of_block = asked.is_block;
    }
    int refused = (is_start || is_stop) && action == IDS_NOTHING;
    ids_session_status(agent, &line, refused, is_start);
    finish(action, 0, NULL);
    ids_control_answer(connection, line.text, line.length);
}

static void serve(int listener) {
    char request[REQUEST_BYTES];
    int connection = ids_control_accept(listener, request, sizeof request);
    if (connection >= 0) {
        answer(connection, request);
    } else {
        poll(NULL, 0, PAUSE_MS); /* a listener that cannot accept (no descriptors left) must not keep a core busy */
    }
}

/* -1: never. */
static int64_t sooner(int64_t a, int64_t b) {
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static int poll_timeout(void) {
    lock();
    int64_t deadline = sooner(ids_window_deadline(&agent->window), ids_judging_deadline(agent));
    deadline = sooner(deadline, agent->write_at_ns);
    unlock();
    int64_t most_ms = atomic_load(&agent->memory_limit) ? MEMORY_MS : 1 << 30;
    if (deadline < 0) return most_ms == MEMORY_MS ? MEMORY_MS : -1;
    int64_t left_ms = (deadline - ids_monotonic_ns() + 999999) / 1000000;
    return left_ms < 0 ? 0 : left_ms > most_ms ? (int)most_ms : (int)left_ms;
}

/* Under the lock: what time, or the memory that the window takes, comes to. */
static enum ids_window_action look_at_limits(void) {
    int64_t limit = atomic_load(&agent->memory_limit);
    enum ids_window_action action = ids_window_time(&agent->window, ids_monotonic_ns());
    if (action == IDS_NOTHING && limit && ids_process_memory() > limit) action = ids_window_full(&agent->window);
    if (action == IDS_NOTHING) action = ids_judging_time(agent, ids_monotonic_ns());
    return action;
}

static void write_history(void) {
    lock();
    int is_time = agent->write_at_ns >= 0 && ids_monotonic_ns() >= agent->write_at_ns;
    if (is_time) agent->write_at_ns = -1;
    unlock();
    if (is_time) ids_history_write(lock, unlock);
}

/* What the program closed of the files that this thread waits for. */
static void open_again(void) {
    char why[IDS_WHY_BYTES];
    lock();
    if (!ids_bell_is_there(&agent->wake)) {
        ids_bell_close(&agent->wake);
        ids_bell_make(&agent->wake);
    }
    if (agent->listener.file >= 0 && !ids_own_file_is_there(&agent->listener))
        agent->listener = ids_own_file_of(ids_control_listen(agent->socket, sizeof agent->socket, why, sizeof why));
    unlock();
}

static void *run_control(void *argument) {
    (void)argument;
    for (;;) {
        open_again();
        struct pollfd events[] = {{.fd = agent->wake.heard.file, .events = POLLIN},
                                  {.fd = agent->listener.file, .events = POLLIN}};
        int ready = poll(events, 2, poll_timeout());
        if (ready < 0 && errno != EINTR) return NULL;
        if (ready > 0 && events[0].revents) ids_bell_hush(&agent->wake);
        if (ready > 0 && events[1].revents && ids_own_file_is_there(&agent->listener)) serve(agent->listener.file);
        lock();
        enum ids_window_action action = look_at_limits();
        if (action != IDS_NOTHING) begin_job(action);
        unlock();
        act(action, 0, NULL);
        write_history();
    }
}

/* ---- waking up ---- */

static void before_fork(void) {
    lock();
}

static void parent_after_fork(void) {
    unlock();
}

/* The child has one thread and none of ours. It begins anew when it feeds the agent again: a child that never does
 * costs nothing and leaves no file. */
static void child_after_fork(void) {
    ids_stacks_forked();
    if (agent->hello) ids_own_file_close(&agent->hello->own);
    ids_own_file_close(&agent->listener);
    ids_bell_close(&agent->wake);
    set_idle(0);
    agent->write_at_ns = -1;
    if (agent->awake > 0) {
        agent->awake = 0;
        for (int source = IDS_STEP_ANNOTATION; source < IDS_STEP_SOURCES; source++)
            atomic_store(&agent->hot[source], 1);
    }
    unlock();
}

static void fall_asleep(void) {
    agent->awake = -1;
    for (int source = IDS_STEP_ANNOTATION; source < IDS_STEP_SOURCES; source++) atomic_store(&agent->hot[source], 0);
}

static void start_control(void) {
    char why[IDS_WHY_BYTES] = "no thread can be started";
    agent->listener = ids_own_file_of(ids_control_listen(agent->socket, sizeof agent->socket, why, sizeof why));
    if (agent->listener.file < 0) {
        agent->socket[0] = '\0';
        ids_session_note(agent, "`idsprof trigger` does not reach this process", why);
    }
    if (start_thread(run_control, NULL)) {
        ids_session_note(agent, "neither time nor `idsprof trigger` opens a window here", "no thread can be started");
    }
}

/* Reads the environment and says hello. Under the lock. 0 when there is a capture. */
static int wake(char *why, size_t why_size) {
    static int prepared;
    if (agent->awake) {
        if (agent->awake < 0) snprintf(why, why_size, "%s", agent->why_asleep);
        return agent->awake < 0 ? -1 : 0;
    }
    if (ids_session_begin(agent, why, why_size) || ids_bell_make(&agent->wake)) {
        snprintf(agent->why_asleep, sizeof agent->why_asleep, "%s", why);
        fall_asleep();
        return -1;
    }
    agent->awake = 1;
    if (!prepared && pthread_atfork(before_fork, parent_after_fork, child_after_fork)) {
        ids_session_note(agent, "forked children are not followed", strerror(errno));
    }
    prepared = 1;
    start_control();
    ids_session_say_loaded(agent);
    return 0;
}

/* ---- what collectors call ---- */

int ids_agent_register(const struct ids_collector *collector, char *why, size_t why_size) {
    char unwanted[8];
    if (!why || !why_size) {
        why = unwanted;
        why_size = sizeof unwanted;
    }
    why[0] = '\0';
    int is_other = collector->size < offsetof(struct ids_collector, handle); /* what came later may lack */
    if (is_other || agent->collector_count == IDS_COLLECTORS_MAX) {
        snprintf(why, why_size, "%s",
                 is_other ? "a struct ids_collector of another agent" : "there are too many collectors");
        return 0;
    }
    lock();
    int handle = 0;
    if (!wake(why, why_size) && !ids_session_has_rank(agent, why, why_size)) {
        struct ids_slot *slot = &agent->collectors[agent->collector_count];
        memcpy(&slot->collector, collector, collector->size < sizeof *collector ? collector->size : sizeof *collector);
        snprintf(slot->name, sizeof slot->name, "%s", collector->name);
        slot->is_alive = 1;
        handle = ++agent->collector_count;
        if (slot->collector.handle) *slot->collector.handle = handle;
        ids_session_say_registered(agent, slot);
        refresh();
    }
    unlock();
    return handle;
}

/* FNV-1a: feeders of one source are told apart by the hash of their names. */
static uint64_t feeder_key(int source, const char *name) {
    uint64_t key = 0xcbf29ce484222325u ^ (uint64_t)source;
    for (; name && *name; name++) key = (key ^ (unsigned char)*name) * 0x100000001b3u;
    return key ? key : 1;
}

/* Under the lock. */
static void turn(void) {
    memset(agent->said_steps, 0, sizeof agent->said_steps); /* they have another name */
    ids_history_turn();
    ids_recorder_turn(&agent->recorder);
}

/* Under the lock. */
static enum ids_window_action step(int source, uint64_t key, int64_t number) {
    struct ids_window *window = &agent->window;
    int64_t now = ids_monotonic_ns(), before = window->furthest, turns = window->turns;
    int was_annotated = window->annotated;
    enum ids_window_action action = ids_window_step(window, now, (enum ids_step_source)source, key, number);
    int is_turn = window->turns != turns;
    if (is_turn) turn();
    if (window->furthest > before || window->annotated != was_annotated || is_turn) news(ids_judging_step(agent, now));
    if (action == IDS_NOTHING && window->opened_by == IDS_BY_SLOW && !agent->recorder.worst.took_ns)
        action = ids_window_waste(window);
    return action;
}

/* What the steps of that feeder are called. Calls have no name where they are counted, and get one where they are
 * marked: the one that ends a window must not take it away. Under the lock. */
static void name_steps(uint64_t key, const char *name) {
    int is_known = agent->steps_of_key == key && agent->steps_of_window == agent->window.number;
    if (agent->window.named == key && (name || !is_known)) {
        agent->steps_of_key = key;
        agent->steps_of_window = agent->window.number;
        ids_session_name_steps(agent->steps_of, name);
    }
    if (ids_window_front(&agent->window) != key || (agent->front_key == key && agent->front_of[0])) return;
    agent->front_key = key;
    ids_session_name_steps(agent->front_of, name);
}

void ids_agent_counts_calls(int are_counted) {
    lock();
    agent->counts_calls = agent->window.counts_calls = are_counted;
    unlock();
}

void ids_agent_calls_are_of(const char *name) {
    if (agent->awake <= 0) return;
    uint64_t key = feeder_key(IDS_STEP_CALL, NULL);
    lock();
    agent->front_key = 0; /* it may be another function now */
    name_steps(key, name);
    unlock();
}

void ids_agent_turn(int64_t number) {
    if (agent->awake <= 0) return;
    uint64_t key = feeder_key(IDS_STEP_CALL, NULL);
    lock();
    if (ids_window_front(&agent->window) == key) {
        turn();
        ids_window_turn(&agent->window, key, number);
    }
    unlock();
}

int ids_agent_may_open(void) {
    if (agent->awake <= 0) return 0;
    lock();
    int may = agent->window.state == IDS_WAITING;
    unlock();
    return may;
}

void ids_agent_in_turn(int64_t every, int64_t place) {
    if (agent->awake <= 0) return;
    lock();
    ids_window_in_turn(&agent->window, every, place);
    unlock();
}

void ids_agent_step(int source, const char *name, int64_t number) {
    (void)ids_agent_step_call(source, name, number, NULL);
}

int ids_agent_step_call(int source, const char *name, int64_t number, int *calls) {
    char why[IDS_WHY_BYTES];
    struct call call = {.calls = calls};
    if (source < IDS_STEP_ANNOTATION || source >= IDS_STEP_SOURCES) return 0;
    if (!atomic_load_explicit(&agent->hot[source], memory_order_relaxed)) return 0;
    uint64_t key = feeder_key(source, name);
    lock();
    if (!agent->collector_count || wake(why, sizeof why)) {
        unlock();
        return 0;
    }
    enum ids_window_action action = step(source, key, number);
    if (ids_window_front(&agent->window) == key) ids_session_say_steps(agent, source, name, number);
    name_steps(key, name);
    count_call(&call);
    finish(action, 1, &call);
    return call.counted;
}

int ids_agent_can_sample(char *why, size_t why_size) {
    return ids_stacks_can(why, why_size);
}

int ids_agent_pass(int source, const char *name, int64_t number) {
    if (source < IDS_STEP_ANNOTATION || source >= IDS_STEP_SOURCES || agent->awake <= 0) return 0;
    if (!atomic_load_explicit(&agent->hot[source], memory_order_relaxed)) return 0;
    uint64_t key = feeder_key(source, name);
    lock();
    uint64_t front = ids_window_front(&agent->window);
    int is_said = agent->said_steps[source] || (front && front != key);
    int is_passed = is_said && ids_window_passes(&agent->window, (enum ids_step_source)source, key, number);
    if (is_passed) (void)step(source, key, number);
    unlock();
    return is_passed;
}

void ids_agent_compiled(const char *name, int64_t took_ns) {
    if (agent->awake <= 0) return;
    int64_t now = ids_monotonic_ns();
    lock();
    news(ids_history_event(IDS_HISTORY_COMPILE, now - took_ns, now, name));
    unlock();
}

void ids_agent_spell(uint64_t thread, int64_t begin_ns, int64_t end_ns, const char *name) {
    if (agent->awake > 0) ids_spells_add(thread, begin_ns, end_ns, name);
}

void ids_agent_cell(const char *path, const char *called, const char *text) {
    ids_cells_add(path, called, text);
}

void ids_agent_garbage(int64_t ns) {
    if (agent->awake <= 0) return;
    lock();
    ids_history_garbage(ns);
    unlock();
}

/* Only the thread that runs the callback looks at it. */
void ids_agent_entered(void) {
    if (agent->awake > 0) agent->entered_ns = ids_monotonic_ns();
}

void ids_agent_executed(int64_t collectives) {
    if (agent->awake > 0) ids_history_executed(collectives);
}

int ids_agent_wants(int source) {
    if (source < IDS_STEP_ANNOTATION || source >= IDS_STEP_SOURCES) return 0;
    return atomic_load(&agent->hot[source]) && agent->awake >= 0;
}

void ids_agent_range(const char *name, int begins) {
    char why[IDS_WHY_BYTES];
    if (agent->awake < 0 || !agent->collector_count || !name || strcmp(name, agent->plan.range) != 0) return;
    lock();
    if (wake(why, sizeof why)) {
        unlock();
        return;
    }
    finish(ids_window_range(&agent->window, ids_monotonic_ns(), begins), 1, NULL);
}

void ids_agent_say(int handle, const char *key, const char *value) {
    if (agent->awake <= 0 || handle < 1 || handle > agent->collector_count) return;
    ids_session_say(agent, &agent->collectors[handle - 1], key, value);
}

void ids_agent_rank(int64_t rank) {
    char why[IDS_WHY_BYTES];
    if (agent->awake <= 0) return;
    lock();
    agent->rank = rank;
    ids_history_rank(rank);
    enum ids_window_action action = IDS_NOTHING;
    if (ids_session_has_rank(agent, why, sizeof why)) action = ids_window_exit(&agent->window);
    finish(action, 1, NULL);
}

int ids_agent_plan(const char *key, char *buffer, size_t size) {
    return agent->awake > 0 ? ids_plan_value(&agent->plan, key, buffer, size) : -1;
}

int ids_agent_state(void) {
    return agent->awake > 0 ? atomic_load_explicit(&agent->shown, memory_order_acquire) : -1;
}

void ids_agent_give_way(int handle, const char *why) {
    if (agent->awake <= 0 || handle < 1 || handle > agent->collector_count) return;
    lock();
    enum ids_window_action action = ids_window_give_way(&agent->window);
    if (action != IDS_NOTHING) ids_session_note(agent, agent->collectors[handle - 1].name, why);
    finish(action, 1, NULL);
}

void ids_agent_program_profile(int begins) {
    if (agent->awake <= 0) return;
    lock();
    ids_session_say_profile(agent, begins);
    if (!begins) ids_window_free(&agent->window);
    unlock();
}

void ids_agent_exec(void) {
    if (agent->awake <= 0) return;
    lock();
    finish(ids_window_exec(&agent->window), 1, NULL);
}

/* Waits for a window that is being opened or closed by another thread, then ends the one that is open. */
static void end_window(void) {
    int64_t timeout = agent->plan.stop_timeout_ns;
    lock();
    enum ids_window_state state = agent->window.state;
    unlock();
    int late = (state == IDS_OPENING || state == IDS_CLOSING) && wait_for_idle(timeout);
    lock();
    finish(ids_window_exit(&agent->window), 1, NULL);
    lock();
    state = agent->window.state;
    unlock();
    if (!late && (state != IDS_CLOSING || !wait_for_idle(timeout))) return;
    lock();
    ids_session_say_late(agent);
    unlock();
}

void ids_agent_close(int handle) {
    if (agent->awake <= 0 || handle < 1 || handle > agent->collector_count) return;
    if (!agent->collectors[handle - 1].is_alive) return;
    end_window();
    lock();
    agent->collectors[handle - 1].is_alive = 0;
    int ends = !any_alive();
    if (ends) ids_judging_say(agent);
    if (ends) ids_session_say_closed(agent);
    if (ends && agent->socket[0]) unlink(agent->socket);
    refresh();
    unlock();
    ids_history_write(lock, unlock);
}
