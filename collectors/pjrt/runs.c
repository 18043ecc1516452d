/* When executions are complete. The plugin calls back when an event is ready; until then a ticket of a fixed number
 * stands for it. */
#include "collectors/pjrt/runs.h"

#include "collectors/common/agent.h"
#include "collectors/pjrt/record.h"
#include "collectors/pjrt/table.h"

#include <time.h>

enum { TICKETS = 8192, INPUTS = 4096, STEP_NS = 200000, CALLS_NS = 200000000 };
#define LONGEST_NS INT64_C(10000000000)

struct ticket {
    atomic_int is_taken;
    struct ticket *first; /* of the same execution: it counts the devices */
    atomic_int left;
    atomic_int failed;
    void *event; /* to be destroyed, NULL: the program's */
    int64_t record, start_ns;
};

static struct ticket tickets[TICKETS];
static atomic_uint next;
static atomic_int pending;
static int calls; /* the agent's to count up */

static struct ticket *take_ticket(void) {
    for (int i = 0; i < 16; i++) {
        struct ticket *ticket = &tickets[atomic_fetch_add(&next, 1) % TICKETS];
        int free = 0;
        if (atomic_compare_exchange_strong(&ticket->is_taken, &free, 1)) return ticket;
    }
    return NULL;
}

static void destroy_event(void *event) {
    struct pjrt_event destroy = {.size = sizeof destroy, .event = event};
    ids_pjrt_try(PJRT_EVENT_DESTROY, &destroy);
}

static void leave(struct ticket *ticket, int failed) {
    struct ticket *first = ticket->first;
    if (failed) atomic_store(&first->failed, 1);
    if (ticket != first) atomic_store(&ticket->is_taken, 0);
    if (atomic_fetch_sub(&first->left, 1) > 1) return;
    ids_record_complete(first->record, first->start_ns, atomic_load(&first->failed));
    atomic_store(&first->is_taken, 0);
}

/* In a thread of the plugin's, or at once. */
static void is_ready(void *error, void *context) {
    struct ticket *ticket = context;
    void *event = ticket->event;
    if (error) ids_pjrt_destroy_error(error);
    leave(ticket, error != NULL);
    if (event) destroy_event(event);
    atomic_fetch_sub(&pending, 1);
}

/* 0 when the plugin will call back, or has. */
static int follow(struct ticket *ticket, void *event) {
    struct pjrt_event_on_ready on = {.size = sizeof on, .event = event, .callback = is_ready, .context = ticket};
    atomic_fetch_add(&pending, 1);
    if (!ids_pjrt_try(PJRT_EVENT_ON_READY, &on)) return 0;
    atomic_fetch_sub(&pending, 1);
    leave(ticket, 1);
    return -1;
}

void ids_runs_follow(void *const *events, size_t count, int is_ours, int64_t record, int64_t start_ns) {
    struct ticket *first = NULL;
    for (size_t i = 0; i < count; i++) {
        struct ticket *ticket = events[i] ? take_ticket() : NULL;
        if (ticket) {
            if (!first) {
                first = ticket;
                first->record = record;
                first->start_ns = start_ns;
                atomic_store(&first->failed, 0);
                atomic_store(&first->left, 1); /* this function, so that it is not over before its end */
            }
            ticket->first = first;
            ticket->event = is_ours ? events[i] : NULL;
            atomic_fetch_add(&first->left, 1);
        }
        if ((!ticket || follow(ticket, events[i])) && is_ours && events[i]) destroy_event(events[i]);
    }
    if (!first) return;
    /* The loop's own share; the first ticket's own callback may have been long ago. */
    struct ticket own = {.first = first};
    leave(&own, 0);
}

static __thread const struct pjrt_execute *about_to; /* while the agent is told of the step */

void ids_runs_about_to(const struct pjrt_execute *step) {
    about_to = step;
}

void ids_runs_follow_inputs(void) {
    if (!about_to || !PJRT_HAS(about_to, argument_count) || !about_to->arguments) return;
    size_t left = INPUTS;
    for (size_t i = 0; i < about_to->device_count; i++) {
        for (size_t j = 0; about_to->arguments[i] && j < about_to->argument_count && left; j++, left--) {
            struct pjrt_buffer_ready_event ready = {.size = sizeof ready, .buffer = about_to->arguments[i][j]};
            if (!ready.buffer || ids_pjrt_try(PJRT_BUFFER_READY_EVENT, &ready) || !ready.event) continue;
            ids_runs_follow(&ready.event, 1, 1, IDS_NO_RECORD, 0);
        }
    }
}

/* Half of what the program waits for the end of a window, so that the other half is there for the profiler's. */
static int64_t timeout(void) {
    char text[32];
    int64_t ns = 0;
    if (ids_agent_plan("stop_timeout_ns", text, sizeof text) < 1) return LONGEST_NS;
    for (const char *at = text; *at >= '0' && *at <= '9' && ns < LONGEST_NS; at++) ns = ns * 10 + (*at - '0');
    return ns / 2 < LONGEST_NS ? ns / 2 : LONGEST_NS;
}

int *ids_runs_calls(void) {
    return &calls;
}

void ids_runs_end_call(void) {
    __atomic_fetch_sub(&calls, 1, __ATOMIC_SEQ_CST);
}

static int calls_left(void) {
    return __atomic_load_n(&calls, __ATOMIC_SEQ_CST);
}

static int64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int ids_runs_wait(void) {
    int64_t timeout_ns = timeout(), begin = monotonic_ns(), waited = 0;
    struct timespec step = {.tv_nsec = STEP_NS};
    while ((calls_left() > 0 && waited < CALLS_NS) || atomic_load(&pending) > 0) {
        nanosleep(&step, NULL);
        waited = monotonic_ns() - begin;
        if (waited >= timeout_ns) break;
    }
    return atomic_load(&pending) + calls_left();
}

void ids_runs_forget(void) {
    atomic_store(&pending, 0);
    __atomic_store_n(&calls, 0, __ATOMIC_SEQ_CST);
    for (int i = 0; i < TICKETS; i++) atomic_store(&tickets[i].is_taken, 0);
}
