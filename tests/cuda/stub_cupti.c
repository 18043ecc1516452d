/* A libcupti that records nothing: it replays the records of a text file into the buffers that its client hands it, by
 * the rules of the real one: kinds that are enabled, buffers asked for and given back by callbacks, records that are
 * longer than their prefix, records that have no end yet. It shows our code, not CUPTI: seed it from real recordings
 * (tests/gpu/cuda.sh).
 *
 * STUB_RECORDING  the file. A line is a record, `kind key=value ...`; at `launch` the program's next launch begins,
 * whose
 *                 moment is the group's time 0; times are nanoseconds from there. `name=` takes the rest of the line.
 *                 `late=MS`: the record has no end until so long after. After the last group the first comes again,
 *                 with other correlations.
 * STUB_FAULT      words: busy (39 to everybody), alone (39 to who wants several subscribers), unknown (999, and NULL
 * for texts),
 *                 dropped (3 records dropped), hang (FlushAll sleeps for a second), backwards (a record that lies
 *                 before the last), refuse (one kind: 27)
 * Built thrice: with the functions of CUDA 13.5, with those of CUDA 12 (STUB_12), and one that is too old (STUB_OLD).
 */
#include "collectors/cuda/cupti_abi.h"
#include "tests/cuda/stub_cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KIND_MAX = 64, LINES = 1 << 14, RECORD = 320, PENDING = 64, NAMED = 256 };

struct line {
    int kind, group, late_ms;
    uint32_t thread;
    size_t size, start, end, correlation; /* of CUPTI's struct; where these are in it, 0: nowhere */
    unsigned char record[RECORD];
};

struct CUpti_Subscriber_st {
    int taken;
};

static struct {
    pthread_mutex_t lock;
    struct CUpti_Subscriber_st subscriber;
    int enabled[KIND_MAX];
    ids_cupti_request *request;
    ids_cupti_complete *complete;
    ids_cupti_request_v2 *request_v2;
    ids_cupti_complete_v2 *complete_v2;
    uint8_t *buffer;
    size_t size, used;
    size_t dropped;
    struct line lines[LINES];
    int line_count, group_count, next_group;
    uint32_t rounds;
    int launched; /* a graph may have been made */
    struct {
        uint64_t *end, value, due;
    } pending[PENDING];
    int pending_count;
    uint64_t nvtx_ids;
} stub = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int fault(const char *word) {
    const char *faults = getenv("STUB_FAULT");
    return faults && strstr(faults, word);
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the recording ---- */

static const struct {
    const char *name;
    uint32_t kind;
    size_t size; /* of CUPTI's own struct, which is longer than what we know of it */
} kinds[] = {{"kernel", IDS_CUPTI_CONCURRENT_KERNEL, 256},
             {"memcpy", IDS_CUPTI_MEMCPY, 128},
             {"memcpy2", IDS_CUPTI_MEMCPY2, 112},
             {"memset", IDS_CUPTI_MEMSET, 104},
             {"memory", IDS_CUPTI_MEMORY2, 144},
             {"runtime", IDS_CUPTI_RUNTIME, 40},
             {"driver", IDS_CUPTI_DRIVER, 40},
             {"sync", IDS_CUPTI_SYNCHRONIZATION, 56},
             {"graph", IDS_CUPTI_GRAPH_TRACE, 56},
             {"overhead", IDS_CUPTI_OVERHEAD, 56},
             {"marker", IDS_CUPTI_MARKER, 56}};

static size_t size_of(uint32_t kind) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].kind == kind) return kinds[i].size;
    }
    return 0;
}

#define KEY(type, kind_name, key, field) \
    { kind_name, key, offsetof(struct type, field), sizeof(((struct type *)0)->field) }
static const struct key {
    const char *kind, *key;
    size_t offset, size;
} keys[] = {
    KEY(ids_cupti_kernel, "kernel", "start", start),
    KEY(ids_cupti_kernel, "kernel", "end", end),
    KEY(ids_cupti_kernel, "kernel", "device", device),
    KEY(ids_cupti_kernel, "kernel", "context", context),
    KEY(ids_cupti_kernel, "kernel", "stream", stream),
    KEY(ids_cupti_kernel, "kernel", "correlation", correlation),
    KEY(ids_cupti_kernel, "kernel", "registers", registers),
    KEY(ids_cupti_kernel, "kernel", "static", static_shared),
    KEY(ids_cupti_kernel, "kernel", "dynamic", dynamic_shared),
    KEY(ids_cupti_kernel, "kernel", "gridx", grid[0]),
    KEY(ids_cupti_kernel, "kernel", "gridy", grid[1]),
    KEY(ids_cupti_kernel, "kernel", "gridz", grid[2]),
    KEY(ids_cupti_kernel, "kernel", "blockx", block[0]),
    KEY(ids_cupti_kernel, "kernel", "blocky", block[1]),
    KEY(ids_cupti_kernel, "kernel", "blockz", block[2]),
    KEY(ids_cupti_kernel, "kernel", "graph", graph),
    KEY(ids_cupti_kernel, "kernel", "node", graph_node),
    KEY(ids_cupti_kernel, "kernel", "name", name),
    KEY(ids_cupti_copy, "memcpy", "start", start),
    KEY(ids_cupti_copy, "memcpy", "end", end),
    KEY(ids_cupti_copy, "memcpy", "device", device),
    KEY(ids_cupti_copy, "memcpy", "context", context),
    KEY(ids_cupti_copy, "memcpy", "stream", stream),
    KEY(ids_cupti_copy, "memcpy", "correlation", correlation),
    KEY(ids_cupti_copy, "memcpy", "bytes", bytes),
    KEY(ids_cupti_copy, "memcpy", "kind", copy_kind),
    KEY(ids_cupti_copy, "memcpy", "from", from),
    KEY(ids_cupti_copy, "memcpy", "to", to),
    KEY(ids_cupti_copy, "memcpy", "flags", flags),
    KEY(ids_cupti_copy, "memcpy", "graph", graph),
    KEY(ids_cupti_copy, "memcpy", "node", graph_node),
    KEY(ids_cupti_peer_copy, "memcpy2", "start", start),
    KEY(ids_cupti_peer_copy, "memcpy2", "end", end),
    KEY(ids_cupti_peer_copy, "memcpy2", "device", device),
    KEY(ids_cupti_peer_copy, "memcpy2", "context", context),
    KEY(ids_cupti_peer_copy, "memcpy2", "stream", stream),
    KEY(ids_cupti_peer_copy, "memcpy2", "correlation", correlation),
    KEY(ids_cupti_peer_copy, "memcpy2", "bytes", bytes),
    KEY(ids_cupti_peer_copy, "memcpy2", "kind", copy_kind),
    KEY(ids_cupti_peer_copy, "memcpy2", "from", from),
    KEY(ids_cupti_peer_copy, "memcpy2", "to", to),
    KEY(ids_cupti_peer_copy, "memcpy2", "flags", flags),
    KEY(ids_cupti_peer_copy, "memcpy2", "fromdevice", from_device),
    KEY(ids_cupti_peer_copy, "memcpy2", "todevice", to_device),
    KEY(ids_cupti_set, "memset", "start", start),
    KEY(ids_cupti_set, "memset", "end", end),
    KEY(ids_cupti_set, "memset", "device", device),
    KEY(ids_cupti_set, "memset", "context", context),
    KEY(ids_cupti_set, "memset", "stream", stream),
    KEY(ids_cupti_set, "memset", "correlation", correlation),
    KEY(ids_cupti_set, "memset", "bytes", bytes),
    KEY(ids_cupti_set, "memset", "flags", flags),
    KEY(ids_cupti_set, "memset", "memory", memory_kind),
    KEY(ids_cupti_set, "memset", "graph", graph),
    KEY(ids_cupti_memory, "memory", "start", timestamp),
    KEY(ids_cupti_memory, "memory", "operation", operation),
    KEY(ids_cupti_memory, "memory", "memory", memory_kind),
    KEY(ids_cupti_memory, "memory", "correlation", correlation),
    KEY(ids_cupti_memory, "memory", "address", address),
    KEY(ids_cupti_memory, "memory", "bytes", bytes),
    KEY(ids_cupti_memory, "memory", "device", device),
    KEY(ids_cupti_call, "runtime", "start", start),
    KEY(ids_cupti_call, "runtime", "end", end),
    KEY(ids_cupti_call, "runtime", "function", function),
    KEY(ids_cupti_call, "runtime", "correlation", correlation),
    KEY(ids_cupti_call, "runtime", "thread", thread),
    KEY(ids_cupti_call, "runtime", "result", result),
    KEY(ids_cupti_call, "driver", "start", start),
    KEY(ids_cupti_call, "driver", "end", end),
    KEY(ids_cupti_call, "driver", "function", function),
    KEY(ids_cupti_call, "driver", "correlation", correlation),
    KEY(ids_cupti_call, "driver", "thread", thread),
    KEY(ids_cupti_call, "driver", "result", result),
    KEY(ids_cupti_sync, "sync", "start", start),
    KEY(ids_cupti_sync, "sync", "end", end),
    KEY(ids_cupti_sync, "sync", "type", type),
    KEY(ids_cupti_sync, "sync", "correlation", correlation),
    KEY(ids_cupti_sync, "sync", "context", context),
    KEY(ids_cupti_sync, "sync", "stream", stream),
    KEY(ids_cupti_graph, "graph", "start", start),
    KEY(ids_cupti_graph, "graph", "end", end),
    KEY(ids_cupti_graph, "graph", "device", device),
    KEY(ids_cupti_graph, "graph", "graph", graph),
    KEY(ids_cupti_graph, "graph", "context", context),
    KEY(ids_cupti_graph, "graph", "stream", stream),
    KEY(ids_cupti_graph, "graph", "correlation", correlation),
    KEY(ids_cupti_overhead, "overhead", "start", start),
    KEY(ids_cupti_overhead, "overhead", "end", end),
    KEY(ids_cupti_overhead, "overhead", "type", overhead_kind),
    KEY(ids_cupti_overhead, "overhead", "object", object_kind),
    KEY(ids_cupti_overhead, "overhead", "thread", object.of_thread.thread),
    KEY(ids_cupti_marker, "marker", "start", timestamp),
    KEY(ids_cupti_marker, "marker", "flags", flags),
    KEY(ids_cupti_marker, "marker", "id", id),
    KEY(ids_cupti_marker, "marker", "object", object_kind),
    KEY(ids_cupti_marker, "marker", "thread", object.of_thread.thread),
    KEY(ids_cupti_marker, "marker", "name", name),
};

static void die(const char *what, const char *text) {
    fprintf(stderr, "stub_cupti: %s: %s\n", what, text);
    abort();
}

static void put(struct line *line, const char *kind, const char *word) {
    const char *equals = strchr(word, '=');
    if (!equals) die("no value", word);
    if (!strncmp(word, "late=", 5)) {
        line->late_ms = atoi(equals + 1);
        return;
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t length = (size_t)(equals - word);
        if (strcmp(keys[i].kind, kind) || strncmp(keys[i].key, word, length) || keys[i].key[length]) continue;
        if (!strcmp(keys[i].key, "name")) {
            const char *name = strdup(equals + 1);
            memcpy(line->record + keys[i].offset, &name, sizeof name);
        } else {
            uint64_t value = strtoull(equals + 1, NULL, 0);
            memcpy(line->record + keys[i].offset, &value, keys[i].size); /* little endian */
        }
        return;
    }
    die(kind, word);
}

static void parse(char *text) {
    char *rest = NULL, *kind = strtok_r(text, " \n", &rest);
    if (!kind || *kind == '#') return;
    if (!strcmp(kind, "launch")) {
        stub.group_count++;
        return;
    }
    if (stub.line_count == LINES) die("too many lines", kind);
    struct line *line = &stub.lines[stub.line_count++];
    line->group = stub.group_count - 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!strcmp(kinds[i].name, kind)) line->kind = (int)kinds[i].kind;
    }
    if (!line->kind) die("no such kind", kind);
    for (;;) {
        rest += strspn(rest, " ");
        char *word = rest;
        rest += strcspn(rest, strncmp(word, "name=", 5) ? " \n" : "\n");
        if (rest == word) break;
        if (*rest) *rest++ = 0;
        put(line, kind, word);
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(keys[i].kind, kind)) continue;
        if (!strcmp(keys[i].key, "start")) line->start = keys[i].offset;
        if (!strcmp(keys[i].key, "end")) line->end = keys[i].offset;
        if (!strcmp(keys[i].key, "correlation")) line->correlation = keys[i].offset;
    }
    uint32_t number = (uint32_t)line->kind;
    line->size = size_of(number);
    memcpy(line->record, &number, sizeof number);
}

/* ---- buffers ---- */

static void hand_over(void) {
    uint8_t *buffer = stub.buffer;
    size_t size = stub.size, used = stub.used;
    if (!buffer) return;
    stub.buffer = NULL;
    if (stub.complete_v2)
        stub.complete_v2(buffer, size, used, NULL);
    else
        stub.complete(NULL, 0, buffer, size, used);
}

static uint8_t *room(size_t size) {
    size_t most = 0;
    if (stub.buffer && stub.used + size > stub.size) hand_over();
    if (!stub.buffer) {
        if (stub.request_v2)
            stub.request_v2(&stub.buffer, &stub.size, &most, NULL);
        else
            stub.request(&stub.buffer, &stub.size, &most);
        stub.used = 0;
        if (!stub.buffer || stub.size < size) {
            stub.dropped++;
            return NULL;
        }
    }
    uint8_t *at = stub.buffer + stub.used;
    stub.used += size;
    memset(at, 0xEE, size); /* what we do not know of is not zero */
    return at;
}

static void shift(unsigned char *record, size_t offset, uint64_t by) {
    uint64_t time;
    memcpy(&time, record + offset, sizeof time);
    time += by;
    memcpy(record + offset, &time, sizeof time);
}

/* Correlations of later rounds are others: they are the file's plus a thousand for each round. */
static void renumber(unsigned char *record, size_t offset) {
    uint32_t correlation;
    memcpy(&correlation, record + offset, sizeof correlation);
    if (correlation) correlation += stub.rounds * 1000;
    memcpy(record + offset, &correlation, sizeof correlation);
}

static void replay(const struct line *line, uint64_t base) {
    unsigned char record[RECORD];
    size_t end = line->end;
    memcpy(record, line->record, sizeof record);
    shift(record, line->start, base);
    if (end) shift(record, end, base);
    if (line->correlation) renumber(record, line->correlation);
    uint8_t *at = room(line->size);
    if (!at) return;
    memcpy(at, record, line->size < 192 ? line->size : 192);
    if (line->late_ms && stub.pending_count < PENDING) {
        memcpy(&stub.pending[stub.pending_count].value, at + end, 8);
        stub.pending[stub.pending_count].end = (uint64_t *)(void *)(at + end);
        stub.pending[stub.pending_count++].due = now_ns() + (uint64_t)line->late_ms * 1000000;
        memset(at + end, 0, 8);
    }
}

static void on_launch(void) {
    pthread_mutex_lock(&stub.lock);
    stub.launched = 1;
    if ((stub.request || stub.request_v2) && stub.group_count) {
        uint64_t base = now_ns();
        for (int i = 0; i < stub.line_count; i++) {
            if (stub.lines[i].group == stub.next_group && stub.enabled[stub.lines[i].kind])
                replay(&stub.lines[i], base);
        }
        if (++stub.next_group == stub.group_count) {
            stub.next_group = 0;
            stub.rounds++;
        }
    }
    pthread_mutex_unlock(&stub.lock);
}

static int is_recording(void) {
    pthread_mutex_lock(&stub.lock);
    int recording = stub.enabled[IDS_CUPTI_MARKER]; /* the last kind that is enabled */
    pthread_mutex_unlock(&stub.lock);
    return recording;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("STUB_RECORDING");
    FILE *file = path ? fopen(path, "r") : NULL;
    char text[4096];
    while (file && fgets(text, sizeof text, file)) parse(text);
    if (file) fclose(file);
    stub_on_launch = on_launch;
    stub_is_recording = is_recording;
}

/* ---- the functions ---- */

#define EXPORT __attribute__((visibility("default")))
#define FAIL_UNKNOWN                                    \
    do {                                                \
        if (fault("unknown")) return IDS_CUPTI_UNKNOWN; \
    } while (0)

static int subscribe(ids_cupti_handle *handle) {
    FAIL_UNKNOWN;
    if (fault("busy") || stub.subscriber.taken) return IDS_CUPTI_MULTIPLE_SUBSCRIBERS;
    stub.subscriber.taken = 1;
    *handle = &stub.subscriber;
    return 0;
}

EXPORT int cuptiSubscribe(ids_cupti_handle *handle, ids_cupti_callback *callback, void *user);
int cuptiSubscribe(ids_cupti_handle *handle, ids_cupti_callback *callback, void *user) {
    (void)callback, (void)user;
    return subscribe(handle);
}

EXPORT int cuptiUnsubscribe(ids_cupti_handle handle);
int cuptiUnsubscribe(ids_cupti_handle handle) {
    FAIL_UNKNOWN;
    if (handle != &stub.subscriber || !handle->taken) die("cuptiUnsubscribe", "of nobody");
    handle->taken = 0;
    stub.request = NULL;
    stub.request_v2 = NULL;
    for (int i = 0; i < KIND_MAX; i++) {
        if (stub.enabled[i]) die("cuptiUnsubscribe", "a kind is enabled");
    }
    if (stub.buffer) die("cuptiUnsubscribe", "a buffer is out");
    return 0;
}

static int enable(uint32_t kind, int value) {
    FAIL_UNKNOWN;
    if (kind >= KIND_MAX || kind == 3) die("cuptiActivityEnable", "a kind that serialises, or none");
    if (value && kind == IDS_CUPTI_GRAPH_TRACE && stub.launched)
        die("cuptiActivityEnable", "launches of graphs as one, after a graph was made: the real one ends the program");
    if (value && fault("graphs") && kind == IDS_CUPTI_GRAPH_TRACE) return IDS_CUPTI_UNKNOWN;
    if (value && fault("refuse") && kind == IDS_CUPTI_MEMORY2) return 27;
    if (value && fault("kernels") && kind == IDS_CUPTI_CONCURRENT_KERNEL) return IDS_CUPTI_INSUFFICIENT_PRIVILEGES;
    pthread_mutex_lock(&stub.lock);
    stub.enabled[kind] = value;
    pthread_mutex_unlock(&stub.lock);
    return 0;
}

EXPORT int cuptiActivityRegisterCallbacks(ids_cupti_request *request, ids_cupti_complete *complete);
int cuptiActivityRegisterCallbacks(ids_cupti_request *request, ids_cupti_complete *complete) {
    FAIL_UNKNOWN;
    stub.request = request;
    stub.complete = complete;
    stub.complete_v2 = NULL;
    return 0;
}

EXPORT int cuptiActivityEnable(uint32_t kind);
int cuptiActivityEnable(uint32_t kind) {
    return enable(kind, 1);
}

EXPORT int cuptiActivityDisable(uint32_t kind);
int cuptiActivityDisable(uint32_t kind) {
    return enable(kind, 0);
}

#ifndef STUB_OLD
EXPORT int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivityFlushAll(uint32_t flag) {
    FAIL_UNKNOWN;
    if (fault("hang")) sleep(1);
    pthread_mutex_lock(&stub.lock);
    int left = 0;
    for (int i = 0; i < stub.pending_count; i++) {
        if (now_ns() >= stub.pending[i].due)
            *stub.pending[i].end = stub.pending[i].value;
        else
            stub.pending[left++] = stub.pending[i];
    }
    stub.pending_count = left;
    if (!left || flag == IDS_CUPTI_FLUSH_FORCED) {
        stub.pending_count = 0;
        hand_over();
    }
    pthread_mutex_unlock(&stub.lock);
    return 0;
}
#endif

EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, struct ids_cupti_record **record);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, struct ids_cupti_record **record) {
    FAIL_UNKNOWN;
    if (*record && fault("backwards")) {
        *record = (struct ids_cupti_record *)(void *)buffer;
        return 0;
    }
    uint8_t *next = *record ? (uint8_t *)*record + size_of((*record)->kind) : buffer;
    if (next >= buffer + valid) return IDS_CUPTI_MAX_LIMIT_REACHED;
    *record = (struct ids_cupti_record *)(void *)next;
    return 0;
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped) {
    (void)context, (void)stream;
    FAIL_UNKNOWN;
    *dropped = stub.dropped + (fault("dropped") ? 3 : 0);
    stub.dropped = 0;
    return 0;
}

EXPORT int cuptiGetTimestamp(uint64_t *timestamp);
int cuptiGetTimestamp(uint64_t *timestamp) {
    FAIL_UNKNOWN;
    *timestamp = now_ns();
    return 0;
}

EXPORT int cuptiGetVersion(uint32_t *version);
int cuptiGetVersion(uint32_t *version) {
    FAIL_UNKNOWN;
    *version = 130001;
    return 0;
}

EXPORT int cuptiGetResultString(int result, const char **text);
int cuptiGetResultString(int result, const char **text) {
    *text = NULL;
    FAIL_UNKNOWN;
    *text = result ? "CUPTI_ERROR_OF_THE_STUB" : "CUPTI_SUCCESS";
    return 0;
}

/* With the numbers and names of the real one. */
EXPORT int cuptiGetCallbackName(uint32_t domain, uint32_t function, const char **name);
int cuptiGetCallbackName(uint32_t domain, uint32_t function, const char **name) {
    static const struct {
        uint32_t domain, function;
        const char *name;
    } names[] = {{2, 211, "cudaLaunchKernel_v7000"},
                 {2, 214, "cudaLaunchKernel_ptsz_v7000"},
                 {2, 41, "cudaMemcpyAsync_v3020"},
                 {2, 20, "cudaMalloc_v3020"},
                 {2, 22, "cudaFree_v3020"},
                 {2, 131, "cudaStreamSynchronize_v3020"},
                 {2, 51, "cudaMemsetAsync_v3020"},
                 {2, 311, "cudaGraphLaunch_v10000"},
                 {1, 307, "cuLaunchKernel"},
                 {2, 317, "cudaStreamBeginCapture_v10000"},
                 {2, 309, "cudaStreamEndCapture_v10000"}};
    FAIL_UNKNOWN;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].domain == domain && names[i].function == function) *name = names[i].name;
    }
    return *name ? 0 : 1;
}

EXPORT int cuptiFinalize(void);
int cuptiFinalize(void) {
    die("cuptiFinalize", "was called");
    return 0;
}

#if !defined STUB_12 && !defined STUB_OLD
EXPORT int cuptiSubscribe_v2(ids_cupti_handle *handle, ids_cupti_callback *callback, void *user,
                             struct ids_cupti_subscriber *params);
int cuptiSubscribe_v2(ids_cupti_handle *handle, ids_cupti_callback *callback, void *user,
                      struct ids_cupti_subscriber *params) {
    int several = params && params->size > offsetof(struct ids_cupti_subscriber, several) && params->several;
    (void)callback, (void)user;
    int result = fault("alone") && several ? IDS_CUPTI_MULTIPLE_SUBSCRIBERS : subscribe(handle);
    if (result == IDS_CUPTI_MULTIPLE_SUBSCRIBERS && params && params->old_name)
        snprintf(params->old_name, params->old_name_size, "CUPTI for Nsight Systems");
    return result;
}

EXPORT int cuptiActivityRegisterCallbacks_v2(ids_cupti_handle handle, ids_cupti_request_v2 *request,
                                             ids_cupti_complete_v2 *complete);
int cuptiActivityRegisterCallbacks_v2(ids_cupti_handle handle, ids_cupti_request_v2 *request,
                                      ids_cupti_complete_v2 *complete) {
    (void)handle;
    stub.request_v2 = request;
    stub.complete_v2 = complete;
    stub.request = NULL;
    return 0;
}

EXPORT int cuptiActivityEnable_v2(ids_cupti_handle handle, uint32_t kind, void *config);
int cuptiActivityEnable_v2(ids_cupti_handle handle, uint32_t kind, void *config) {
    (void)handle, (void)config;
    return enable(kind, 1);
}

EXPORT int cuptiActivityDisable_v2(ids_cupti_handle handle, uint32_t kind, void *config);
int cuptiActivityDisable_v2(ids_cupti_handle handle, uint32_t kind, void *config) {
    (void)handle, (void)config;
    return enable(kind, 0);
}

EXPORT int cuptiActivityGetNextRecord_v2(ids_cupti_handle handle, uint8_t *buffer, size_t valid,
                                         struct ids_cupti_record **record);
int cuptiActivityGetNextRecord_v2(ids_cupti_handle handle, uint8_t *buffer, size_t valid,
                                  struct ids_cupti_record **record) {
    if (handle != &stub.subscriber) die("cuptiActivityGetNextRecord_v2", "of nobody");
    return cuptiActivityGetNextRecord(buffer, valid, record);
}

EXPORT int cuptiActivityGetNumDroppedRecords_v2(ids_cupti_handle handle, void *context, uint32_t stream,
                                                size_t *dropped);
int cuptiActivityGetNumDroppedRecords_v2(ids_cupti_handle handle, void *context, uint32_t stream, size_t *dropped) {
    (void)handle;
    return cuptiActivityGetNumDroppedRecords(context, stream, dropped);
}
#endif

/* ---- NVTX: pushes and pops become markers ---- */

static void mark(uint32_t flags, uint64_t id, const char *name) {
    pthread_mutex_lock(&stub.lock);
    uint8_t *at = (stub.request || stub.request_v2) && stub.enabled[IDS_CUPTI_MARKER]
                      ? room(sizeof(struct ids_cupti_marker))
                      : NULL;
    if (at) {
        struct ids_cupti_marker marker = {.kind = IDS_CUPTI_MARKER,
                                          .flags = flags,
                                          .timestamp = now_ns(),
                                          .id = (uint32_t)id,
                                          .object_kind = IDS_CUPTI_OBJECT_THREAD,
                                          .object.of_thread = {(uint32_t)getpid(), 77},
                                          .name = name};
        memcpy(at, &marker, sizeof marker);
    }
    pthread_mutex_unlock(&stub.lock);
}

static __thread struct {
    uint64_t ids[32];
    int depth;
} pushed;

static int push(const char *name) {
    uint64_t id = __atomic_add_fetch(&stub.nvtx_ids, 1, __ATOMIC_RELAXED);
    if (pushed.depth < 32) pushed.ids[pushed.depth] = id;
    mark(IDS_CUPTI_MARKER_START, id, strdup(name));
    return pushed.depth++;
}

static int pop(void) {
    if (!pushed.depth) return -2;
    pushed.depth--;
    mark(IDS_CUPTI_MARKER_END, pushed.ids[pushed.depth < 32 ? pushed.depth : 31], NULL);
    return pushed.depth;
}

static void *create_domain(const char *name) {
    (void)name;
    return &stub; /* any address */
}

typedef void generic(void);
struct callbacks {
    size_t size;
    int (*module)(uint32_t module, generic ****table, unsigned *size);
};

EXPORT int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t));
int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t)) {
    const struct callbacks *callbacks = get_table(1);
    generic ***table;
    unsigned size;
    if (fault("no_nvtx") || !callbacks->module(1, &table, &size)) return 0;
    *table[9] = (generic *)push; /* NVTX_CBID_CORE_RangePushA, RangePop; as the real one does not, the rest stays */
    *table[11] = (generic *)pop;
    if (callbacks->module(5, &table, &size)) *table[12] = (generic *)create_domain; /* NVTX_CBID_CORE2_DomainCreateA */
    return 1;
}
