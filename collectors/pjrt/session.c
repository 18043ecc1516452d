/* The collector "pjrt": the plugin's own profiler, driven for the agent, and what the program's calls were beside
 * it. */
#include "collectors/pjrt/session.h"

#include "collectors/common/agent.h"
#include "collectors/pjrt/profiler.h"
#include "collectors/pjrt/record.h"
#include "collectors/pjrt/runs.h"
#include "collectors/pjrt/space.h"
#include "collectors/pjrt/table.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_HANDLERS = 16 };
#define COLLECTED_BYTES ((size_t)1 << 33) /* more is no size */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *profiler; /* the vendor's session, NULL: none is open */
static int64_t begin_ns;

/* A digit: the vendors' levels go from 0 to 3. */
static int level(const char *key, int otherwise) {
    char text[32];
    return ids_agent_plan(key, text, sizeof text) == 1 && text[0] >= '0' && text[0] <= '9' ? text[0] - '0' : otherwise;
}

/* A serialized tensorflow.ProfileOptions. */
static size_t options(char bytes[16]) {
    enum { HOST_LEVEL = 2, DEVICE_LEVEL = 3, VERSION = 5, HLO = 7 };
    const int fields[][2] = {
        {VERSION, 1}, {HOST_LEVEL, level("host_level", 2)}, {DEVICE_LEVEL, level("device_level", 1)}, {HLO, 1}};
    size_t length = 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        bytes[length++] = (char)(fields[i][0] << 3);
        bytes[length++] = (char)(fields[i][1] & 0x7f);
    }
    return length;
}

static void destroy(void *session) {
    struct pjrt_profiler args = {.size = sizeof args, .profiler = session};
    void *error = ids_pjrt.profiler->destroy(&args);
    char unwanted[8];
    if (error) ids_profiler_error(error, "", unwanted, sizeof unwanted);
}

static int start_vendor(char *why, size_t why_size) {
    char bytes[16];
    struct pjrt_profiler_create create = {.size = sizeof create, .options = bytes, .options_size = options(bytes)};
    void *error = ids_pjrt.profiler->create(&create);
    if (error) {
        ids_profiler_error(error, "be created", why, why_size);
        return -1;
    }
    struct pjrt_profiler start = {.size = sizeof start, .profiler = create.profiler};
    error = ids_pjrt.profiler->start(&start);
    if (error) {
        ids_profiler_error(error, "start", why, why_size);
        destroy(create.profiler);
        return -1;
    }
    profiler = create.profiler;
    return 0;
}

static void at_exit(void) {
    ids_agent_close(ids_pjrt.handle);
}

/* What the plugin prepared for its session is taken down at exit in the reverse order; our end has to come before
 * that. */
static void end_before_exit(void) {
    static int handlers;
    if (handlers < EXIT_HANDLERS && !atexit(at_exit)) handlers++;
}

static int start(void *context, char *why, size_t why_size) {
    (void)context;
    int failed = -1;
    if (atomic_load(&ids_pjrt.clients)) {
        ids_runs_follow_inputs(); /* what earlier steps still do would lie in the first one's place */
        ids_runs_wait();
    }
    pthread_mutex_lock(&lock);
    if (profiler) {
        snprintf(why, why_size, "the session of the window before has not ended");
    } else if (!atomic_load(&ids_pjrt.clients)) {
        snprintf(why, why_size, "the program has no PJRT client yet");
    } else if (atomic_load(&ids_pjrt.theirs)) {
        snprintf(why, why_size, "the program profiles itself right now");
    } else if (!ids_pjrt.profiler) {
        failed = 0; /* the program's calls alone */
    } else {
        failed = start_vendor(why, why_size);
    }
    if (!failed) {
        begin_ns = ids_record_now();
        atomic_store(&ids_pjrt.ours, profiler != NULL);
        end_before_exit();
    }
    pthread_mutex_unlock(&lock);
    return failed;
}

/* ---- the end ---- */

/* The plugin lends its buffer at the first call; one that does not is asked again with a buffer of ours. */
static int collect(void *session, struct ids_space *space, void **ret_own, char *why, size_t why_size) {
    struct pjrt_profiler_collect args = {.size = sizeof args, .profiler = session};
    void *error = ids_pjrt.profiler->collect(&args);
    *ret_own = NULL;
    if (!error && !args.buffer && args.buffer_size) {
        if (args.buffer_size <= COLLECTED_BYTES) *ret_own = malloc(args.buffer_size);
        if (!*ret_own) {
            snprintf(why, why_size, "the plugin's profiler has %zu bytes, for which there is no memory",
                     args.buffer_size);
            return -1;
        }
        args.buffer = *ret_own;
        error = ids_pjrt.profiler->collect(&args);
    }
    if (error) {
        ids_profiler_error(error, "give out what it collected", why, why_size);
        return -1;
    }
    space->vendor = args.buffer;
    space->vendor_size = args.buffer ? args.buffer_size : 0;
    return 0;
}

static int stop_vendor(void *session, char *why, size_t why_size) {
    struct pjrt_profiler args = {.size = sizeof args, .profiler = session};
    void *error = ids_pjrt.profiler->stop(&args);
    if (error) ids_profiler_error(error, "stop", why, why_size);
    return error ? -1 : 0;
}

static void say_unfinished(int count) {
    char value[96];
    snprintf(value, sizeof value, "%d were not complete when the window's end could wait no longer", count);
    ids_agent_say(ids_pjrt.handle, "executions", value);
}

/* What the vendor's profiler cannot give does not keep back what we saw; then the reason is told as a fact. */
static int write_all(void *session, int failed, const char *path, struct ids_caught *caught, char *why,
                     size_t why_size) {
    struct ids_space space = {.begin_ns = begin_ns, .end_ns = ids_record_now()};
    void *own = NULL;
    if (!failed && session) failed = collect(session, &space, &own, why, why_size);
    if (failed) ids_agent_say(ids_pjrt.handle, "profiler", why);
    failed = ids_space_write(&space, path, caught, why, why_size);
    free(own);
    return failed;
}

static int stop(void *context, const char *path, struct ids_caught *caught, char *why, size_t why_size) {
    (void)context;
    int late = ids_runs_wait();
    if (late) say_unfinished(late);
    pthread_mutex_lock(&lock);
    void *session = profiler;
    profiler = NULL;
    pthread_mutex_unlock(&lock);
    int failed = session ? stop_vendor(session, why, why_size) : 0;
    if (path) failed = write_all(session, failed, path, caught, why, why_size);
    if (session) destroy(session);
    atomic_store(&ids_pjrt.ours, 0);
    return failed;
}

static int contribute(void *context, const char *path, int64_t zero_ns, int64_t from_ns, int64_t to_ns, char *why,
                      size_t why_size) {
    (void)context;
    struct ids_space space = {.zero_ns = zero_ns, .begin_ns = from_ns, .end_ns = to_ns};
    struct ids_caught caught;
    return ids_space_write(&space, path, &caught, why, why_size);
}

/* ---- the collector ---- */

/* With the Python hook in the process its session of jax.profiler is the one that has everything: this plugin's planes,
 * since it drives the same profiler, and the program's annotations, which lie in jaxlib. So the hook is asked before
 * us, and we contribute. IDSPROF_PJRT_FIRST=1 turns that round. */
int ids_session_pjrt_register(int is_hooked, char *why, size_t why_size) {
    const char *first = getenv("IDSPROF_PJRT_FIRST");
    int behind = is_hooked && !(first && !strcmp(first, "1"));
    struct ids_collector collector = {.size = sizeof collector,
                                      .priority = behind ? IDS_PRIORITY_JAX - 5 : IDS_PRIORITY_PJRT,
                                      .name = "pjrt",
                                      .start = start,
                                      .stop = stop,
                                      .contribute = contribute,
                                      .handle = &ids_pjrt.handle};
    if (ids_agent_register(&collector, why, why_size)) end_before_exit();
    return ids_pjrt.handle;
}

void ids_session_forget(void) {
    pthread_mutex_init(&lock, NULL);
    profiler = NULL; /* the parent's */
    atomic_store(&ids_pjrt.ours, 0);
    atomic_store(&ids_pjrt.theirs, 0);
    atomic_store(&ids_pjrt.clients, 0); /* threads of a client do not survive a fork: no session is begun on one */
}
