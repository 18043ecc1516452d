#include "collectors/cuda/session.h"

#include "collectors/cuda/buffers.h"
#include "collectors/cuda/calls.h"
#include "collectors/cuda/cupti.h"
#include "collectors/cuda/device.h"
#include "collectors/cuda/nvtx_steps.h"
#include "collectors/cuda/planes.h"
#include "collectors/cuda/records.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#pragma weak pthread_create /* collectors/common/glibc.h */

/* At a window's end: how long to wait for device activity that is still running, and how long where CUPTI has given all
 * its buffers back and launches of the window have nothing on a device all the same. */
enum { RUNNING_MS = 1000, UNSEEN_MS = 100, PAUSE_MS = 5 };

struct kind {
    uint32_t number;
    const char *name;
    int needed, calls; /* calls: of what the program calls, ended first at a window's end */
};

static const struct kind kinds[] = {
    {IDS_CUPTI_CONCURRENT_KERNEL, "CONCURRENT_KERNEL", 1, 0},
    {IDS_CUPTI_MEMCPY, "MEMCPY", 0, 0},
    {IDS_CUPTI_MEMCPY2, "MEMCPY2", 0, 0},
    {IDS_CUPTI_MEMSET, "MEMSET", 0, 0},
    {IDS_CUPTI_OVERHEAD, "OVERHEAD", 0, 0},
    {IDS_CUPTI_RUNTIME, "RUNTIME", 0, 1},
    {IDS_CUPTI_DRIVER, "DRIVER", 0, 1},
    {IDS_CUPTI_SYNCHRONIZATION, "SYNCHRONIZATION", 0, 1},
    {IDS_CUPTI_MEMORY2, "MEMORY2", 0, 1},
    {IDS_CUPTI_MARKER, "MARKER", 0, 1},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static struct {
    struct ids_cupti cupti;
    ids_cupti_handle handle;
    int several;      /* the functions for several subscribers are in use */
    int graphs;       /* ids_cuda_watch_graphs: they are recorded as one, and CUPTI stays subscribed */
    unsigned enabled; /* bits of kinds */
    struct ids_cuda_buffers buffers;
    struct ids_cuda_records *records;
    struct ids_cuda_clocks begin, end;
    struct ids_cuda_device devices[IDS_CUDA_DEVICES];
    pthread_mutex_t lock; /* draining */
    pthread_cond_t drained;
    int draining;
    int forked;
    char refused[256];
} session = {.buffers = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER},
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .drained = PTHREAD_COND_INITIALIZER};

/* ---- CUPTI's callbacks: nothing is allocated, nothing waits but for a lock that is held for a few instructions
 * ---- */

static void on_call(void *user, uint32_t domain, uint32_t function, const void *data) {
    (void)user, (void)domain, (void)function, (void)data; /* none is enabled */
}

static void on_request(uint8_t **buffer, size_t *size, size_t *max_records) {
    *buffer = ids_cuda_buffers_give(&session.buffers);
    *size = *buffer ? IDS_CUDA_BUFFER_BYTES : 0;
    *max_records = 0;
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    (void)context, (void)stream, (void)size;
    ids_cuda_buffers_come(&session.buffers, buffer, valid);
}

static void on_request_v2(uint8_t **buffer, size_t *size, size_t *max_records, void *info) {
    (void)info;
    on_request(buffer, size, max_records);
}

static void on_complete_v2(uint8_t *buffer, size_t size, size_t valid, void *info) {
    (void)size, (void)info;
    ids_cuda_buffers_come(&session.buffers, buffer, valid);
}

/* ---- draining ---- */

static void drain(const struct ids_cuda_full *full) {
    struct ids_cupti_record *record = NULL;
    for (;;) {
        const struct ids_cupti_record *before = record;
        int result = session.several ? session.cupti.next_v2(session.handle, full->at, full->valid, &record)
                                     : session.cupti.next(full->at, full->valid, &record);
        size_t offset = (size_t)((uintptr_t)record - (uintptr_t)full->at);
        /* Only onwards, whatever it says: a buffer that was damaged must not hold us for ever. */
        if (result != IDS_CUPTI_SUCCESS || !record || (uintptr_t)record < (uintptr_t)full->at ||
            offset >= full->valid || (before && (uintptr_t)record <= (uintptr_t)before))
            break;
        ids_cuda_records_add(session.records, record, full->valid - offset);
    }
    ids_cuda_buffers_back(&session.buffers, full);
}

static void *drain_all(void *unused) {
    struct ids_cuda_full full;
    (void)unused;
    while (ids_cuda_buffers_next(&session.buffers, 1, &full)) drain(&full);
    pthread_mutex_lock(&session.lock);
    session.draining = 0;
    pthread_cond_broadcast(&session.drained);
    pthread_mutex_unlock(&session.lock);
    return unused;
}

/* Without a thread the buffers are read at the window's end, and what is more than they hold is dropped. */
static void start_draining(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    session.draining = 0;
    if (!pthread_create || pthread_attr_init(&attributes)) return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* the program's signals are not for it */
    session.draining = 1;
    if (pthread_create(&thread, &attributes, drain_all, NULL)) session.draining = 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

static void end_draining(void) {
    ids_cuda_buffers_end(&session.buffers);
    pthread_mutex_lock(&session.lock);
    while (session.draining) pthread_cond_wait(&session.drained, &session.lock);
    pthread_mutex_unlock(&session.lock);
}

static void drain_here(void) {
    struct ids_cuda_full full;
    while (ids_cuda_buffers_next(&session.buffers, 0, &full)) drain(&full);
}

/* ---- clocks ---- */

static int64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t cupti_ns(void) {
    uint64_t now = 0;
    int result = session.several && session.cupti.timestamp_v2 ? session.cupti.timestamp_v2(session.handle, &now)
                 : session.cupti.timestamp                     ? session.cupti.timestamp(&now)
                                                               : IDS_CUPTI_UNKNOWN;
    return result == IDS_CUPTI_SUCCESS ? (int64_t)now : 0;
}

/* All clocks at one moment: of some tries the one that took the shortest time. */
static struct ids_cuda_clocks read_clocks(void) {
    struct ids_cuda_clocks best = {0};
    int64_t shortest = INT64_MAX;
    for (int i = 0; i < 5; i++) {
        int64_t before = clock_ns(CLOCK_REALTIME), monotonic = clock_ns(CLOCK_MONOTONIC), cupti = cupti_ns();
        int64_t after = clock_ns(CLOCK_REALTIME);
        if (after - before >= shortest) continue;
        shortest = after - before;
        best = (struct ids_cuda_clocks){before + shortest / 2, monotonic, cupti};
    }
    return best;
}

/* ---- the start ---- */

static uint64_t count_dropped(void) {
    size_t dropped = 0;
    int result = session.several && session.cupti.dropped_v2
                     ? session.cupti.dropped_v2(session.handle, NULL, 0, &dropped)
                 : session.cupti.dropped ? session.cupti.dropped(NULL, 0, &dropped)
                                         : IDS_CUPTI_UNKNOWN;
    return result == IDS_CUPTI_SUCCESS ? dropped : 0;
}

static int failed(const char *what, int result, char *why, size_t why_size) {
    char text[192];
    snprintf(why, why_size, "%s (%s): %s", what, session.cupti.path,
             ids_cupti_text(&session.cupti, result, text, sizeof text));
    return -1;
}

/* Once in a process, whether it is CUDA or NVTX that wants it first. */
static int load(char *why, size_t why_size) {
    static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&loading);
    int missing = !session.cupti.library && ids_cupti_load(&session.cupti, ids_cuda_driver(), why, why_size);
    pthread_mutex_unlock(&loading);
    return missing ? -1 : 0;
}

void *ids_cuda_symbol(const char *name) {
    char why[256];
    return load(why, sizeof why) ? NULL : dlsym(session.cupti.library, name);
}

static int subscribe(char *why, size_t why_size) {
    char owner[IDS_CUPTI_OLD_NAME] = "";
    struct ids_cupti *cupti = &session.cupti;
    struct ids_cupti_subscriber params = {
        .name = "idsprof", .old_name = owner, .old_name_size = sizeof owner, .several = 1};
    int result = IDS_CUPTI_UNKNOWN;
    session.several = ids_cupti_has_several(cupti);
    if (cupti->subscribe_v2) { /* CUDA 13.0 knows fewer fields */
        params.size = session.several ? sizeof params : offsetof(struct ids_cupti_subscriber, several);
        result = cupti->subscribe_v2(&session.handle, on_call, NULL, &params);
        if (result && session.several &&
            result != IDS_CUPTI_UNKNOWN) { /* this driver takes one subscriber: as the only one */
            session.several = 0;
            params.size = offsetof(struct ids_cupti_subscriber, several);
            owner[0] = 0;
            result = cupti->subscribe_v2(&session.handle, on_call, NULL, &params);
        }
    } else {
        result = cupti->subscribe(&session.handle, on_call, NULL);
    }
    if (result == IDS_CUPTI_SUCCESS) return 0;
    owner[sizeof owner - 1] = 0;
    if (result == IDS_CUPTI_MULTIPLE_SUBSCRIBERS && *owner) {
        snprintf(why, why_size, "CUPTI belongs to another tool: %s", owner);
        return -1;
    }
    if (result == IDS_CUPTI_MULTIPLE_SUBSCRIBERS) {
        snprintf(why, why_size,
                 "CUPTI belongs to another tool, which it does not name (a profiler of the program's own, nsys, ncu)");
        return -1;
    }
    return failed("cuptiSubscribe", result, why, why_size);
}

static int enable(uint32_t kind) {
    return session.several ? session.cupti.enable_v2(session.handle, kind, NULL) : session.cupti.enable(kind);
}

static void disable_all(int calls_alone) {
    for (size_t i = 0; i < KINDS; i++) {
        if (!(session.enabled >> i & 1) || (calls_alone && !kinds[i].calls)) continue;
        if (session.several)
            session.cupti.disable_v2(session.handle, kinds[i].number, NULL);
        else
            session.cupti.disable(kinds[i].number);
        session.enabled &= ~(1u << i);
    }
}

static int enable_all(char *why, size_t why_size) {
    size_t used = 0;
    session.refused[0] = 0;
    for (size_t i = 0; i < KINDS; i++) {
        int result = enable(kinds[i].number);
        if (result == IDS_CUPTI_SUCCESS) {
            session.enabled |= 1u << i;
        } else if (kinds[i].needed) {
            return failed("CUPTI does not record kernels", result, why, why_size);
        } else if (used < sizeof session.refused) {
            used += (size_t)snprintf(session.refused + used, sizeof session.refused - used, "%s%s (error %d)",
                                     used ? ", " : "", kinds[i].name, result);
        }
    }
    return 0;
}

static int register_callbacks(char *why, size_t why_size) {
    int result = session.several ? session.cupti.register_callbacks_v2(session.handle, on_request_v2, on_complete_v2)
                                 : session.cupti.register_callbacks(on_request, on_complete);
    return result ? failed("cuptiActivityRegisterCallbacks", result, why, why_size) : 0;
}

static void unsubscribe(void) {
    session.cupti.unsubscribe(session.handle);
    session.handle = NULL;
}

int ids_cuda_watch_graphs(char *why, size_t why_size) {
    if (load(why, why_size) || subscribe(why, why_size)) return -1;
    if (register_callbacks(why, why_size)) {
        unsubscribe();
        return -1;
    }
    int result = enable(IDS_CUPTI_GRAPH_TRACE);
    session.graphs = !result;
    if (!result) return 0;
    failed("CUPTI does not record launches of graphs as one", result, why, why_size);
    unsubscribe();
    return -1;
}

void ids_cuda_leave_graphs(void) {
    if (!session.graphs) return;
    session.graphs = 0;
    if (session.several)
        session.cupti.disable_v2(session.handle, IDS_CUPTI_GRAPH_TRACE, NULL);
    else
        session.cupti.disable(IDS_CUPTI_GRAPH_TRACE);
    unsubscribe();
}

static void let_go(void) {
    if (!session.graphs) unsubscribe();
    ids_cuda_records_free(session.records);
    session.records = NULL;
    ids_cuda_buffers_release(&session.buffers);
}

int ids_cuda_start(char *why, size_t why_size) {
    if (session.forked) {
        snprintf(why, why_size, "the process was forked after CUDA began, and CUDA cannot be used in it");
        return -1;
    }
    if (load(why, why_size)) return -1;
    if (!session.graphs && subscribe(why, why_size)) return -1;
    if (session.graphs) count_dropped(); /* outside of windows all are */
    session.enabled = 0;
    session.records = ids_cuda_records_new();
    ids_nvtx_steps_reset();
    int result = session.records && !ids_cuda_buffers_take(&session.buffers) ? IDS_CUPTI_SUCCESS : -1;
    if (result)
        snprintf(why, why_size, "no memory for CUPTI's buffers");
    else if (!session.graphs)
        result = register_callbacks(why, why_size);
    if (!result) {
        start_draining();
        session.begin = read_clocks();
        result = enable_all(why, why_size);
        if (result) {
            disable_all(0);
            session.cupti.flush(IDS_CUPTI_FLUSH_FORCED);
            end_draining();
            drain_here();
        }
    }
    if (result) let_go();
    return result ? -1 : 0;
}

const char *ids_cuda_refused(void) {
    return session.refused;
}

const char *ids_cuda_library(void) {
    return session.cupti.path;
}

/* ---- the end ---- */

/* Device activity that began in the window and still runs has no record yet: forcing CUPTI to give back its buffers now
 * would lose it, and waiting for the device itself (cuCtxSynchronize) would end a stream capture of the program. */
static void await_device(void) {
    const struct timespec pause = {0, PAUSE_MS * 1000000L};
    uint64_t cut = session.end.cupti ? (uint64_t)session.end.cupti : (uint64_t)session.end.realtime;
    int64_t begun = clock_ns(CLOCK_MONOTONIC);
    for (;;) {
        if (session.cupti.flush(0) != IDS_CUPTI_SUCCESS) return;
        drain_here();
        int64_t waited_ms = (clock_ns(CLOCK_MONOTONIC) - begun) / 1000000;
        int64_t limit = ids_cuda_buffers_out(&session.buffers)                       ? RUNNING_MS
                        : ids_cuda_missing(&session.cupti, session.records, cut) > 0 ? UNSEEN_MS
                                                                                     : 0;
        if (waited_ms >= limit) return;
        nanosleep(&pause, NULL);
    }
}

int ids_cuda_stop(const char *path, struct ids_cuda_caught *ret_caught, char *why, size_t why_size) {
    *ret_caught = (struct ids_cuda_caught){-1, -1, -1};
    if (session.forked || !session.handle) {
        snprintf(why, why_size, "the window was opened before the process forked");
        return -1;
    }
    session.end = read_clocks();
    disable_all(1);
    end_draining();
    if (path) await_device();
    disable_all(0);
    session.cupti.flush(0);
    /* Where there are several subscribers this takes from all of them what has not ended yet: only where it must be. */
    if (!session.several || ids_cuda_buffers_out(&session.buffers)) session.cupti.flush(IDS_CUPTI_FLUSH_FORCED);
    drain_here();
    if (path && session.begin.cupti && session.end.cupti)
        ids_nvtx_steps_add(session.records, session.begin.cupti - session.begin.realtime, (uint64_t)session.end.cupti);
    struct ids_cuda_window window = {.cupti = &session.cupti,
                                     .records = session.records,
                                     .devices = session.devices,
                                     .device_count = path ? ids_cuda_devices(session.devices) : 0,
                                     .begin = session.begin,
                                     .end = session.end,
                                     .dropped = count_dropped(),
                                     .graph_nodes = !session.graphs};
    struct ids_cuda_written written = {0};
    int result = path ? ids_cuda_write(&window, path, &written, why, why_size) : 0;
    ret_caught->events = written.events;
    ret_caught->drops = written.drops;
    ret_caught->incomplete = (int64_t)ids_cuda_records_counts(session.records).incomplete;
    let_go();
    return result;
}

void ids_cuda_forked(int cuda_began) {
    session.forked = session.forked || cuda_began;
    session.handle = NULL;
    session.graphs = 0;
    session.draining = 0;
    pthread_mutex_init(&session.lock, NULL);
    pthread_cond_init(&session.drained, NULL);
    pthread_mutex_init(&session.buffers.lock, NULL);
    pthread_cond_init(&session.buffers.changed, NULL);
}
