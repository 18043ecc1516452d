/* libidsprof_cuda.so: the CUDA driver loads it when a process initialises CUDA, as CUDA_INJECTION64_PATH says, and NVTX
 * when the process first uses it, as NVTX_INJECTION64_PATH says. Without a capture (no IDSPROF_PLAN) both do
 * nothing. */
#include "collectors/common/agent.h"
#include "collectors/cuda/cupti.h"
#include "collectors/cuda/device.h"
#include "collectors/cuda/nvtx.h"
#include "collectors/cuda/nvtx_steps.h"
#include "collectors/cuda/session.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    int handle; /* of the agent: 0 not registered, -1: never to be */
    int ended;  /* the program ends */
    int said;
    int cuda_began;
    int theirs;                    /* the program profiles itself */
    int watches;                   /* launches of graphs are recorded as one */
    char no_graphs[IDS_WHY_BYTES]; /* why they cannot be */
} collector = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --cuda-graph-trace graph, which has to begin with CUDA, and before the agent, which may open a window at once: so it
 * is read from the plan's text. */
static int wants_graphs(void) {
    static const char wanted[] = "cuda_graph=graph";
    const char *plan = getenv("IDSPROF_PLAN"), *at = plan ? strstr(plan, wanted) : NULL;
    if (!at || (at != plan && at[-1] != ';')) return 0;
    return at[sizeof wanted - 1] == '\0' || at[sizeof wanted - 1] == ';';
}

/* Registered at cuInit, and again when CUPTI was loaded: so it runs before the ends of both, when CUPTI still answers.
 * Nothing is done in destructors. */
static void at_exit(void) {
    pthread_mutex_lock(&collector.lock);
    int last = !collector.ended;
    collector.ended = 1;
    pthread_mutex_unlock(&collector.lock);
    if (last) ids_agent_close(collector.handle);
}

static void say_start(void) {
    struct ids_cuda_device devices[IDS_CUDA_DEVICES];
    char text[200];
    if (*ids_cuda_refused()) ids_agent_say(collector.handle, "cupti_refused", ids_cuda_refused());
    if (collector.said) return;
    collector.said = 1;
    atexit(at_exit);
    ids_agent_say(collector.handle, "cupti", ids_cuda_library());
    int count = ids_cuda_devices(devices), driver = ids_cuda_driver();
    if (count) {
        snprintf(text, sizeof text, "%s x %d", devices[0].name, count);
        ids_agent_say(collector.handle, "device", text);
    }
    snprintf(text, sizeof text, "%d.%d", driver / 1000, driver % 1000 / 10);
    if (driver) ids_agent_say(collector.handle, "cuda_driver", text);
}

static int start(void *context, char *why, size_t why_size) {
    (void)context;
    if (__atomic_load_n(&collector.theirs, __ATOMIC_RELAXED)) {
        snprintf(why, why_size, "the program profiles itself with torch.profiler right now");
        return IDS_BUSY;
    }
    if (wants_graphs() && !collector.watches) {
        snprintf(why, why_size, "%s (--cuda-graph-trace node records the kernels of graphs one by one)",
                 *collector.no_graphs ? collector.no_graphs : "CUDA has not begun");
        return *collector.no_graphs ? -1 : IDS_BUSY;
    }
    int result = ids_cuda_start(why, why_size);
    if (!result) say_start();
    return result;
}

static int stop(void *context, const char *path, struct ids_caught *caught, char *why, size_t why_size) {
    struct ids_cuda_caught mine;
    char text[32];
    (void)context;
    int result = ids_cuda_stop(path, &mine, why, why_size);
    caught->events = mine.events;
    caught->drops = mine.drops;
    if (!result && mine.incomplete > 0) {
        snprintf(text, sizeof text, "%lld", (long long)mine.incomplete);
        ids_agent_say(collector.handle, "cuda_incomplete", text);
    }
    return result;
}

static void in_child(void) {
    pthread_mutex_init(&collector.lock, NULL);
    ids_cuda_forked(collector.cuda_began);
}

static void register_collector(void) {
    char why[IDS_WHY_BYTES] = "";
    struct ids_collector description = {.size = sizeof description,
                                        .priority = IDS_PRIORITY_CUDA,
                                        .name = "cuda",
                                        .start = start,
                                        .stop = stop,
                                        .handle = &collector.handle};
    if (ids_agent_register(&description, why, sizeof why) <= 0) {
        collector.handle = -1;
        return;
    }
    if (ids_nvtx_steps_begin(why, sizeof why)) ids_agent_say(collector.handle, "steps", why);
    pthread_atfork(NULL, NULL, in_child);
    atexit(at_exit);
}

/* CUDA begins, and no graph was made yet. */
static void watch_graphs(void) {
    collector.watches = !ids_cuda_watch_graphs(collector.no_graphs, sizeof collector.no_graphs);
    if (collector.watches) atexit(at_exit);
}

/* Whether there is a capture in this process. */
static int wake(int is_cuda) {
    const char *plan = getenv("IDSPROF_PLAN");
    if (!plan || !*plan) return 0;
    pthread_mutex_lock(&collector.lock);
    int is_first = is_cuda && !collector.cuda_began;
    collector.cuda_began |= is_cuda;
    if (is_first && collector.handle >= 0 && wants_graphs()) watch_graphs();
    if (!collector.handle) register_collector();
    int awake = collector.handle > 0;
    if (!awake && collector.watches) ids_cuda_leave_graphs();
    collector.watches &= awake;
    pthread_mutex_unlock(&collector.lock);
    return awake;
}

IDS_AGENT_API void ids_cuda_program_profiles(int begins);
/* torch.profiler is about to begin (1), or has ended (0): the Python hook tells it. Until then no window is open. */
void ids_cuda_program_profiles(int begins) {
    __atomic_store_n(&collector.theirs, begins, __ATOMIC_RELAXED);
    ids_agent_program_profile(begins);
    if (begins)
        ids_agent_give_way(collector.handle,
                           "the program began a profile of its own with torch.profiler: the window ended there");
}

IDS_AGENT_API int InitializeInjection(void);
/* 1 is what the driver expects. */
int InitializeInjection(void) {
    wake(1);
    return 1;
}

IDS_AGENT_API int InitializeInjectionNvtx2(ids_nvtx_table_getter get_table);
/* 1, or 0: then the process goes on without NVTX. */
int InitializeInjectionNvtx2(ids_nvtx_table_getter get_table) {
    return wake(0) ? ids_nvtx_attach(get_table) : 0;
}
