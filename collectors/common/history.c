#include "collectors/common/history.h"

#include "collectors/common/machine_load.h"
#include "collectors/common/process.h"
#include "collectors/common/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CHUNK = 256, LEAST_STEPS = 2 };

static struct {
    struct ids_history_head head;
    struct ids_history_step steps[IDS_HISTORY_STEPS];
    struct ids_history_event events[IDS_HISTORY_EVENTS];
    int64_t written_steps, written_events;
    int is_dirty, is_off;
    int is_turned; /* what was written of steps is of another program */
    char path[IDS_PUBLISH_PATH];
} ring;

static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER; /* the agent's thread, and who ends the program */
/* Of the step that runs. Many threads may execute programs, and none of them waits for another. */
static struct { atomic_int executions, collectives, unknown; } running;
static struct ids_machine_load load; /* of who writes */

static const off_t steps_at = sizeof ring.head;
static const off_t events_at = sizeof ring.head + sizeof ring.steps;

void ids_history_begin(const char *session, const char *host, int64_t pid, int64_t rank, int64_t when_ratio,
                       int64_t when_ns) {
    static const pthread_mutex_t free_mutex = PTHREAD_MUTEX_INITIALIZER;
    writing = free_mutex; /* in the child of a fork it may be taken by a thread that is not there */
    memset(&ring.head, 0, sizeof ring.head);
    memset(&running, 0, sizeof running);
    memset(&load, 0, sizeof load);
    memcpy(ring.head.magic, IDS_HISTORY_MAGIC, sizeof ring.head.magic);
    ring.head.pid = pid;
    ring.head.rank = rank;
    ring.head.when_ratio = when_ratio;
    ring.head.when_ns = when_ns;
    snprintf(ring.head.host, sizeof ring.head.host, "%s", host);
    ring.written_steps = ring.written_events = 0;
    ring.is_dirty = ring.is_off = ring.is_turned = 0;
    int length = snprintf(ring.path, sizeof ring.path, "%s/.idsprof/%s.%lld.history", session, host, (long long)pid);
    if (length < 0 || (size_t)length >= sizeof ring.path) ring.is_off = 1;
}

void ids_history_rank(int64_t rank) {
    ring.head.rank = rank;
}

static int is_news(void) {
    int was = ring.is_dirty;
    ring.is_dirty = 1;
    return !was;
}

void ids_history_executed(int64_t collectives) {
    int is_known = collectives >= 0 && collectives <= INT32_MAX;
    atomic_fetch_add_explicit(&running.executions, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(is_known ? &running.collectives : &running.unknown, is_known ? (int)collectives : 1,
                              memory_order_relaxed);
}

/* Gives the step that ends what was executed in it. */
static void end_step(void) {
    int executions = atomic_exchange_explicit(&running.executions, 0, memory_order_relaxed);
    int collectives = atomic_exchange_explicit(&running.collectives, 0, memory_order_relaxed);
    int unknown = atomic_exchange_explicit(&running.unknown, 0, memory_order_relaxed);
    if (!ring.head.steps) return;
    struct ids_history_step *step = &ring.steps[(ring.head.steps - 1) % IDS_HISTORY_STEPS];
    step->collectives = unknown || !executions ? -1 : collectives;
}

int ids_history_step(int64_t now_ns, int64_t number) {
    end_step();
    struct ids_history_step *step = &ring.steps[ring.head.steps % IDS_HISTORY_STEPS];
    *step = (struct ids_history_step){.begin_ns = now_ns, .number = number, .collectives = -1};
    ring.head.steps++;
    return is_news();
}

void ids_history_turn(void) {
    ring.head.steps = 0;
    ring.is_turned = 1;
}

void ids_history_slow(int64_t median_ns) {
    if (!ring.head.steps) return;
    struct ids_history_step *step = &ring.steps[(ring.head.steps - 1) % IDS_HISTORY_STEPS];
    step->slow_median_ns = median_ns > 0 ? (float)median_ns : -1;
}

int ids_history_stall(int64_t ns) {
    if (ring.head.steps) ring.steps[(ring.head.steps - 1) % IDS_HISTORY_STEPS].stall_ns += (float)ns;
    return is_news();
}

void ids_history_garbage(int64_t ns) {
    if (ring.head.steps) ring.steps[(ring.head.steps - 1) % IDS_HISTORY_STEPS].garbage_ns += (float)ns;
}

int ids_history_event(enum ids_history_kind kind, int64_t begin_ns, int64_t end_ns, const char *name) {
    struct ids_history_event *event = &ring.events[ring.head.events % IDS_HISTORY_EVENTS];
    *event = (struct ids_history_event){.begin_ns = begin_ns, .end_ns = end_ns, .kind = kind};
    snprintf(event->name, sizeof event->name, "%s", name ? name : "");
    ring.head.events++;
    if (kind == IDS_HISTORY_COMPILE) {
        ring.head.compiles++;
        ring.head.compile_ns += end_ns - begin_ns;
    }
    return is_news();
}

/* ---- the file ---- */

/* Beyond a limit on file sizes the system sends a signal that ends the program. */
static int open_file(void) {
    struct rlimit limit;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < (rlim_t)events_at + sizeof ring.events) return -1;
    return open(ring.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
}

static int write_at(int file, const void *bytes, size_t length, off_t at) {
    while (length) {
        ssize_t written = pwrite(file, bytes, length, at);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return -1;
        bytes = (const char *)bytes + written;
        length -= (size_t)written;
        at += written;
    }
    return 0;
}

/* The records from *written to `total`, in pieces of which the lock is held for the copy alone. */
static int write_ring(int file, const void *records, size_t size, int64_t places, off_t at, int64_t total,
                      int64_t *written, void (*lock)(void), void (*unlock)(void)) {
    char copy[CHUNK * sizeof(struct ids_history_step)];
    if (*written < total - places) *written = total - places;
    while (*written < total) {
        int64_t place = *written % places, most = (int64_t)(sizeof copy / size), count = total - *written;
        if (count > most) count = most;
        if (count > places - place) count = places - place;
        lock();
        memcpy(copy, (const char *)records + (size_t)place * size, (size_t)count * size);
        unlock();
        if (write_at(file, copy, (size_t)count * size, at + (off_t)((size_t)place * size))) return -1;
        *written += count;
    }
    return 0;
}

static void write_news(void (*lock)(void), void (*unlock)(void)) {
    ids_machine_load_look(&load);
    lock();
    struct ids_history_head head = ring.head;
    int is_wanted = !ring.is_off && ring.is_dirty && head.steps >= LEAST_STEPS;
    ring.is_dirty = 0;
    if (ring.is_turned) ring.written_steps = ring.is_turned = 0;
    unlock();
    if (!is_wanted) return;
    int file = open_file();
    int code = file < 0 ? -1 : 0;
    head.now_ns = ids_monotonic_ns();
    head.realtime_ns = ids_realtime_ns();
    head.watched_ns = load.watched_ns;
    head.full_ns = load.full_ns;
    head.others_ns = load.others_ns;
    if (ring.written_steps) ring.written_steps--; /* the step that ran then */
    if (!code)
        code = write_ring(file, ring.steps, sizeof *ring.steps, IDS_HISTORY_STEPS, steps_at, head.steps,
                          &ring.written_steps, lock, unlock);
    if (!code)
        code = write_ring(file, ring.events, sizeof *ring.events, IDS_HISTORY_EVENTS, events_at, head.events,
                          &ring.written_events, lock, unlock);
    if (!code) code = write_at(file, &head, sizeof head, 0);
    if (file >= 0) close(file);
    if (code) ring.is_off = 1; /* the disk is full, or the folder is gone: not asked again several times a second */
}

void ids_history_write(void (*lock)(void), void (*unlock)(void)) {
    pthread_mutex_lock(&writing);
    write_news(lock, unlock);
    pthread_mutex_unlock(&writing);
}
