/* A tool of its own, by the toolkit's CUPTI headers and not by our declarations: it writes what CUPTI delivers as the
 * text that tests/cuda/stub_cupti.c replays. With it a real recording becomes a test, and its counts and times check
 * the collector's. Loaded through CUDA_INJECTION64_PATH; RECORD_TO: the file; RECORD_FROM: the NVTX range (or "" for
 * all) is not looked at: all is written, from the first record on. Times are nanoseconds since the launch of their
 * group. */
#include <cuda.h>
#include <cupti.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 8 << 20, MOST = 1 << 20 };

struct row {
    uint64_t start, order;
    char *text; /* up to the times */
    uint64_t end;
    const char *name;
    int launch;
};

static struct row *rows;
static size_t count;

static void requested(uint8_t **buffer, size_t *size, size_t *records) {
    *buffer = aligned_alloc(8, BYTES);
    *size = BYTES;
    *records = 0;
}

static void add(uint64_t start, uint64_t end, const char *name, int launch, char *text) {
    if (count == MOST) return;
    rows[count] = (struct row){start, count, text, end, name ? strdup(name) : NULL, launch};
    count++;
}

#define TEXT(...) (asprintf(&text, __VA_ARGS__) < 0 ? NULL : text)
/* What is no work of the device. */
static void take_more(CUpti_Activity *record) {
    char *text = NULL;
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: {
        CUpti_ActivitySynchronization2 *s = (CUpti_ActivitySynchronization2 *)record;
        add(s->start, s->end, NULL, 0,
            TEXT("sync type=%u correlation=%u context=%u stream=%u", s->type, s->correlationId, s->contextId,
                 s->streamId));
        break;
    }
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: {
        CUpti_ActivityGraphTrace2 *g = (CUpti_ActivityGraphTrace2 *)record;
        add(g->start, g->end, NULL, 0,
            TEXT("graph device=%u context=%u stream=%u graph=%u correlation=%u", g->deviceId, g->contextId, g->streamId,
                 g->graphId, g->correlationId));
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMORY2: {
        CUpti_ActivityMemory4 *m = (CUpti_ActivityMemory4 *)record;
        add(m->timestamp, 0, NULL, 0,
            TEXT("memory operation=%u memory=%u correlation=%u address=%" PRIu64 " bytes=%" PRIu64 " device=%u",
                 m->memoryOperationType, m->memoryKind, m->correlationId, m->address, m->bytes, m->deviceId));
        break;
    }
    case CUPTI_ACTIVITY_KIND_OVERHEAD: {
        CUpti_ActivityOverhead3 *o = (CUpti_ActivityOverhead3 *)record;
        add(o->start, o->end, NULL, 0,
            TEXT("overhead type=%u object=%u thread=%u", o->overheadKind, o->objectKind,
                 o->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD ? o->objectId.pt.threadId : 0));
        break;
    }
    default:
        break;
    }
}

static void take(CUpti_Activity *record) {
    char *text = NULL;
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        CUpti_ActivityKernel10 *k = (CUpti_ActivityKernel10 *)record;
        add(k->start, k->end, k->name, 0,
            TEXT("kernel device=%u context=%u stream=%u correlation=%u registers=%u static=%d dynamic=%d gridx=%d "
                 "gridy=%d gridz=%d blockx=%d "
                 "blocky=%d blockz=%d graph=%u node=%" PRIu64,
                 k->deviceId, k->contextId, k->streamId, k->correlationId, k->registersPerThread, k->staticSharedMemory,
                 k->dynamicSharedMemory, k->gridX, k->gridY, k->gridZ, k->blockX, k->blockY, k->blockZ, k->graphId,
                 k->graphNodeId));
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
        CUpti_ActivityMemcpy6 *m = (CUpti_ActivityMemcpy6 *)record;
        add(m->start, m->end, NULL, 0,
            TEXT("memcpy device=%u context=%u stream=%u correlation=%u bytes=%" PRIu64
                 " kind=%u from=%u to=%u flags=%u graph=%u",
                 m->deviceId, m->contextId, m->streamId, m->correlationId, m->bytes, m->copyKind, m->srcKind,
                 m->dstKind, m->flags, m->graphId));
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
        CUpti_ActivityMemset4 *m = (CUpti_ActivityMemset4 *)record;
        add(m->start, m->end, NULL, 0,
            TEXT("memset device=%u context=%u stream=%u correlation=%u bytes=%" PRIu64 " memory=%u flags=%u graph=%u",
                 m->deviceId, m->contextId, m->streamId, m->correlationId, m->bytes, m->memoryKind, m->flags,
                 m->graphId));
        break;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
        CUpti_ActivityAPI *a = (CUpti_ActivityAPI *)record;
        const char *name = "";
        int runtime = record->kind == CUPTI_ACTIVITY_KIND_RUNTIME;
        cuptiGetCallbackName(runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API, a->cbid, &name);
        int launch = strstr(name, "Launch") != NULL;
        add(a->start, a->end, NULL, launch,
            TEXT("%s function=%u correlation=%u thread=%u result=%u", runtime ? "runtime" : "driver", a->cbid,
                 a->correlationId, a->threadId, a->returnValue));
        break;
    }
    default:
        take_more(record);
        break;
    }
}

static void completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    CUpti_Activity *record = NULL;
    (void)context, (void)stream, (void)size;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) take(record);
    free(buffer);
}

static int by_start(const void *a, const void *b) {
    const struct row *left = a, *right = b;
    if (left->start != right->start) return left->start < right->start ? -1 : 1;
    return left->order < right->order ? -1 : 1;
}

static void end(void) {
    const char *path = getenv("RECORD_TO");
    cuptiActivityFlushAll(1);
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    qsort(rows, count, sizeof *rows, by_start);
    uint64_t base = 0;
    size_t dropped = 0;
    cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
    fprintf(file, "# recorded by tests/gpu/cuda_recorder.c, %zu records, %zu dropped\n", count, dropped);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].launch || !i) {
            base = rows[i].start;
            fprintf(file, "launch\n");
        }
        const char *space = strchr(rows[i].text, ' ');
        fprintf(file, "%.*s start=%" PRIu64, (int)(space - rows[i].text), rows[i].text, rows[i].start - base);
        if (rows[i].end) fprintf(file, " end=%" PRIu64, rows[i].end - base);
        fprintf(file, "%s%s%s\n", space, rows[i].name ? " name=" : "", rows[i].name ? rows[i].name : "");
    }
    fclose(file);
}

int InitializeInjection(void);
int InitializeInjection(void) {
    static const CUpti_ActivityKind kinds[] = {
        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,  CUPTI_ACTIVITY_KIND_MEMSET,
        CUPTI_ACTIVITY_KIND_RUNTIME,           CUPTI_ACTIVITY_KIND_DRIVER,  CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
        CUPTI_ACTIVITY_KIND_MEMORY2,           CUPTI_ACTIVITY_KIND_OVERHEAD};
    rows = calloc(MOST, sizeof *rows);
    cuptiActivityRegisterCallbacks(requested, completed);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) cuptiActivityEnable(kinds[i]);
    if (getenv("RECORD_GRAPHS")) cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
    atexit(end);
    return 1;
}
