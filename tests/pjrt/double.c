#include "tests/pjrt/double.h"

#include "collectors/pjrt/pjrt_abi.h"
#include "tests/support/pb_encode.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
enum { RUNS = 65536, NAME = 64, RUN_DEVICES = 16 };

struct error {
    char text[128];
};
struct event {
    int is_ready, failed;
    int references; /* the program's, the device's */
    void (*callbacks[4])(void *, void *);
    void *contexts[4];
    int callback_count;
};
struct executable {
    char name[NAME];
    uint64_t id;
};
struct buffer {
    size_t size;
};
struct profiler {
    int session; /* from 1 */
    uint8_t *bytes;
    size_t size;
};
struct run { /* what the device has to do, or has done */
    char name[NAME];
    uint64_t id;
    int64_t start_ns, end_ns;
    struct event *events[RUN_DEVICES];
    size_t event_count;
    int session; /* that was open when it began; 0: none */
};

static struct run runs[RUNS];
static size_t run_count, run_done;
static int device_is_alive;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct profiler *open_session;
static struct double_counts counts;
static char faults[512];
static uint64_t next_id = 1000;

EXPORTED struct double_counts *double_counts(void) {
    return &counts;
}

EXPORTED void double_faults(const char *words) {
    pthread_mutex_lock(&lock);
    snprintf(faults, sizeof faults, ",%s,", words ? words : "");
    pthread_mutex_unlock(&lock);
}

static int has_fault(const char *word) {
    char text[128];
    snprintf(text, sizeof text, ",%s,", word);
    return strstr(faults, text) != NULL;
}

static long number_of(const char *word, long otherwise) {
    char text[128];
    snprintf(text, sizeof text, ",%s=", word);
    const char *found = strstr(faults, text);
    return found ? atol(found + strlen(text)) : otherwise;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

EXPORTED void *double_kept[RUNS];

/* What programs of tests never free is no leak of the interposer's. */
static void *keep(void *made) {
    static size_t count;
    double_kept[__atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST) % RUNS] = made;
    return made;
}

/* ---- errors ---- */

static void *make_error(const char *text) {
    struct error *error = calloc(1, sizeof *error);
    snprintf(error->text, sizeof error->text, "%s", text);
    __atomic_fetch_add(&counts.errors, 1, __ATOMIC_SEQ_CST);
    return error;
}

static void *error_destroy(void *arguments) {
    struct pjrt_error_destroy *args = arguments;
    if (args->error) __atomic_fetch_sub(&counts.errors, 1, __ATOMIC_SEQ_CST);
    free(args->error);
    return NULL;
}

static void *error_message(void *arguments) {
    struct pjrt_error_message *args = arguments;
    const struct error *error = args->error;
    args->message = error->text;
    args->message_size = strlen(error->text);
    return NULL;
}

static void *error_code(void *arguments) {
    struct pjrt_error_get_code *args = arguments;
    args->code = 13;
    return NULL;
}

/* Counts the call; an error when it is to fail or its caller gave a size that no version has. */
static void *enter(int entry, const void *arguments, size_t least) {
    char text[96];
    size_t size;
    memcpy(&size, arguments, sizeof size);
    __atomic_fetch_add(&counts.calls[entry], 1, __ATOMIC_SEQ_CST);
    if (size < least) {
        snprintf(text, sizeof text, "function %d: size %zu, expected %zu", entry, size, least);
        return make_error(text);
    }
    snprintf(text, sizeof text, "fail=%d", entry);
    return has_fault(text) ? make_error(text) : NULL;
}
#define ENTER(entry, type, last)                                                         \
    struct type *args = arguments;                                                       \
    void *failed = enter(entry, args, offsetof(struct type, last) + sizeof(args->last)); \
    if (failed) return failed

/* ---- events ---- */

static struct event *make_event(int references) {
    struct event *event = keep(calloc(1, sizeof *event));
    event->references = references;
    counts.events++;
    return event;
}

/* Under the lock. */
static void drop_event(struct event *event) {
    if (--event->references) return;
    counts.events--;
    free(event);
}

static void *event_error(const struct event *event) {
    return event->failed ? make_error("the execution failed") : NULL;
}

/* Under the lock, which is given back while callbacks run. */
static void set_ready(struct event *event, int failed) {
    event->failed = failed;
    event->is_ready = 1;
    pthread_cond_broadcast(&changed);
    int count = event->callback_count;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < count; i++) event->callbacks[i](event_error(event), event->contexts[i]);
    pthread_mutex_lock(&lock);
}

static void *event_destroy(void *arguments) {
    ENTER(PJRT_EVENT_DESTROY, pjrt_event, event);
    pthread_mutex_lock(&lock);
    if (args->event) drop_event(args->event);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *event_await(void *arguments) {
    ENTER(PJRT_EVENT_AWAIT, pjrt_event, event);
    struct event *event = args->event;
    pthread_mutex_lock(&lock);
    while (!event->is_ready) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return event_error(event);
}

static void *event_on_ready(void *arguments) {
    ENTER(PJRT_EVENT_ON_READY, pjrt_event_on_ready, context);
    struct event *event = args->event;
    pthread_mutex_lock(&lock);
    int is_ready = event->is_ready;
    if (!is_ready) {
        event->callbacks[event->callback_count] = args->callback;
        event->contexts[event->callback_count++] = args->context;
    }
    pthread_mutex_unlock(&lock);
    if (is_ready) args->callback(event_error(event), args->context);
    return NULL;
}

/* ---- the device ---- */

/* One execution, in order. Under the lock. */
static void run_next(void) {
    struct run *run = &runs[run_done % RUNS];
    run->start_ns = now_ns();
    run->session = open_session ? open_session->session : 0;
    pthread_mutex_unlock(&lock);
    long us = number_of("run", 20);
    for (int64_t end = run->start_ns + us * 1000; now_ns() < end;) {
        if (us > 100) usleep(50);
    }
    pthread_mutex_lock(&lock);
    run->end_ns = now_ns();
    run_done++;
    for (size_t i = 0; i < run->event_count; i++) {
        set_ready(run->events[i], has_fault("async-error"));
        drop_event(run->events[i]);
    }
    pthread_cond_broadcast(&changed);
}

static void *device(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (run_done == run_count || has_fault("hang")) {
            struct timespec soon;
            clock_gettime(CLOCK_REALTIME, &soon);
            soon.tv_nsec += 10000000;
            if (soon.tv_nsec >= 1000000000) soon = (struct timespec){soon.tv_sec + 1, soon.tv_nsec - 1000000000};
            pthread_cond_timedwait(&changed, &lock, &soon);
        }
        run_next();
    }
    return NULL;
}

/* ---- clients ---- */

static void *initialize(void *arguments) {
    ENTER(PJRT_PLUGIN_INITIALIZE, pjrt_plugin_initialize, extensions);
    return NULL;
}

static void *client_create(void *arguments) {
    ENTER(PJRT_CLIENT_CREATE, pjrt_client_create, client);
    pthread_t thread;
    pthread_mutex_lock(&lock);
    if (!device_is_alive && !pthread_create(&thread, NULL, device, NULL)) pthread_detach(thread);
    device_is_alive = 1;
    counts.clients++;
    pthread_mutex_unlock(&lock);
    args->client = keep(malloc(1));
    return NULL;
}

static void *client_destroy(void *arguments) {
    ENTER(PJRT_CLIENT_DESTROY, pjrt_client, client);
    counts.clients -= args->client != NULL;
    free(args->client);
    return NULL;
}

static void *platform_name(void *arguments) {
    ENTER(PJRT_CLIENT_PLATFORM_NAME, pjrt_client_text, length);
    args->text = "double";
    args->length = 6;
    return NULL;
}

static void *platform_version(void *arguments) {
    ENTER(PJRT_CLIENT_PLATFORM_VERSION, pjrt_client_text, length);
    args->text = "double 1\nbuilt for tests";
    args->length = 24;
    return NULL;
}

static void *process_index(void *arguments) {
    ENTER(PJRT_CLIENT_PROCESS_INDEX, pjrt_client_process_index, index);
    args->index = (int)number_of("process", 0);
    return NULL;
}

static void *devices(void *arguments) {
    static void *const all[RUN_DEVICES];
    ENTER(PJRT_CLIENT_ADDRESSABLE_DEVICES, pjrt_client_devices, count);
    args->devices = (void **)(uintptr_t)all;
    args->count = (size_t)number_of("devices", 2);
    return NULL;
}

static void *description(void *arguments) {
    ENTER(PJRT_DEVICE_GET_DESCRIPTION, pjrt_device_description, description);
    args->description = NULL;
    return NULL;
}

static void *kind(void *arguments) {
    ENTER(PJRT_DEVICE_DESCRIPTION_KIND, pjrt_description_text, length);
    args->text = "Double v1";
    args->length = 9;
    return NULL;
}

/* ---- programs: their code is their name ---- */

static struct executable *make_executable(const char *name, size_t length) {
    struct executable *executable = keep(calloc(1, sizeof *executable));
    snprintf(executable->name, sizeof executable->name, "%.*s", (int)length, name);
    executable->id = next_id++;
    return executable;
}

static void *client_compile(void *arguments) {
    ENTER(PJRT_CLIENT_COMPILE, pjrt_client_compile, loaded);
    usleep(1000);
    args->loaded = make_executable(args->program->code, args->program->code_size);
    counts.loaded++;
    return NULL;
}

static void *compile_ahead(void *arguments) {
    ENTER(PJRT_COMPILE, pjrt_compile, executable);
    args->executable = make_executable(args->program->code, args->program->code_size);
    counts.executables++;
    return NULL;
}

static void *deserialize(void *arguments) {
    ENTER(PJRT_EXECUTABLE_DESERIALIZE_AND_LOAD, pjrt_deserialize, loaded);
    args->loaded = make_executable(args->serialized, args->serialized_size);
    counts.loaded++;
    return NULL;
}

static void *get_executable(void *arguments) {
    ENTER(PJRT_LOADED_EXECUTABLE_GET_EXECUTABLE, pjrt_loaded_get_executable, executable);
    args->executable = keep(malloc(sizeof(struct executable)));
    memcpy(args->executable, args->loaded, sizeof(struct executable));
    counts.executables++;
    return NULL;
}

static void *executable_destroy(void *arguments) {
    ENTER(PJRT_EXECUTABLE_DESTROY, pjrt_executable, executable);
    counts.executables -= args->executable != NULL;
    free(args->executable);
    return NULL;
}

static void *loaded_destroy(void *arguments) {
    ENTER(PJRT_LOADED_EXECUTABLE_DESTROY, pjrt_executable, executable);
    counts.loaded -= args->executable != NULL;
    free(args->executable);
    return NULL;
}

static void *executable_name(void *arguments) {
    ENTER(PJRT_EXECUTABLE_NAME, pjrt_executable_name, name_size);
    args->name = ((struct executable *)args->executable)->name;
    args->name_size = strlen(args->name);
    return NULL;
}

static void *code_size(void *arguments) {
    ENTER(PJRT_EXECUTABLE_CODE_SIZE, pjrt_executable_code_size, code_size);
    args->code_size = 4321;
    return NULL;
}

static void put_instruction(struct pb *computation, const char *opcode) {
    struct pb instruction = {0};
    pb_text(&instruction, 1, "an.1");
    pb_text(&instruction, 2, opcode);
    pb_bytes(computation, 2, instruction.at, instruction.length);
    pb_free(&instruction);
}

/* Of a program "train*3" three are collectives. */
static void put_computation(struct pb *module, const char *name) {
    struct pb computation = {0};
    const char *star = strchr(name, '*');
    put_instruction(&computation, "dot");
    for (int i = star ? atoi(star + 1) : 0; i > 0; i--) {
        put_instruction(&computation, "all-reduce-start");
        put_instruction(&computation, "all-reduce-done");
    }
    pb_bytes(module, 3, computation.at, computation.length);
    pb_free(&computation);
}

static void put_module(struct pb *to, const char *name, uint64_t id) {
    struct pb module = {0};
    pb_text(&module, 1, name);
    put_computation(&module, name);
    pb_uint(&module, 5, id);
    pb_bytes(to, 1, module.at, module.length);
    pb_free(&module);
}

static void *optimized(void *arguments) {
    ENTER(PJRT_EXECUTABLE_OPTIMIZED_PROGRAM, pjrt_optimized_program, program);
    const struct executable *executable = args->executable;
    struct pb with_config = {0};
    put_module(&with_config, executable->name, executable->id);
    pb_text(&with_config, 2, "configuration");
    if (!args->program->code) {
        args->program->code_size = with_config.length;
    } else if (args->program->code_size >= with_config.length) {
        memcpy(args->program->code, with_config.at, with_config.length);
    }
    args->program->format = "hlo_with_config";
    args->program->format_size = 15;
    pb_free(&with_config);
    return NULL;
}

static void *execute(void *arguments) {
    ENTER(PJRT_LOADED_EXECUTABLE_EXECUTE, pjrt_execute, complete_events);
    pthread_mutex_lock(&lock);
    struct run *run = &runs[run_count % RUNS];
    memcpy(run->name, ((struct executable *)args->loaded)->name, NAME);
    run->id = ((struct executable *)args->loaded)->id;
    run->event_count = args->complete_events ? args->device_count : 0;
    for (size_t i = 0; i < run->event_count; i++) args->complete_events[i] = run->events[i] = make_event(2);
    run_count++;
    counts.executions++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ---- buffers ---- */

static struct event *ready_event(void) {
    pthread_mutex_lock(&lock);
    struct event *event = make_event(1);
    event->is_ready = 1;
    pthread_mutex_unlock(&lock);
    return event;
}

static void *make_buffer(size_t size) {
    struct buffer *buffer = keep(malloc(sizeof *buffer));
    buffer->size = size;
    counts.buffers++;
    return buffer;
}

static void *from_host(void *arguments) {
    ENTER(PJRT_CLIENT_BUFFER_FROM_HOST_BUFFER, pjrt_from_host, buffer);
    size_t size = 4;
    for (size_t i = 0; i < args->dim_count; i++) size *= (size_t)args->dims[i];
    args->buffer = make_buffer(size);
    args->done_event = ready_event();
    return NULL;
}

static void *to_host(void *arguments) {
    ENTER(PJRT_BUFFER_TO_HOST_BUFFER, pjrt_to_host, event);
    if (!args->to) {
        args->to_size = ((struct buffer *)args->buffer)->size;
        return NULL;
    }
    memset(args->to, 7, args->to_size);
    args->event = ready_event();
    return NULL;
}

static void *buffer_size(void *arguments) {
    ENTER(PJRT_BUFFER_ON_DEVICE_SIZE, pjrt_buffer_size, on_device_size);
    args->on_device_size = ((struct buffer *)args->buffer)->size;
    return NULL;
}

static void *copy_to_device(void *arguments) {
    ENTER(PJRT_BUFFER_COPY_TO_DEVICE, pjrt_buffer_copy, copy);
    args->copy = make_buffer(((struct buffer *)args->buffer)->size);
    return NULL;
}

static void *copy_to_memory(void *arguments) {
    ENTER(PJRT_BUFFER_COPY_TO_MEMORY, pjrt_buffer_copy, copy);
    args->copy = make_buffer(((struct buffer *)args->buffer)->size);
    return NULL;
}

static void *buffer_destroy(void *arguments) {
    struct pjrt_executable *args = arguments;
    counts.buffers -= args->executable != NULL;
    free(args->executable);
    return NULL;
}

/* Ready when all that was launched so far has run, for which the inputs of the next step wait. */
static void *buffer_ready(void *arguments) {
    ENTER(PJRT_BUFFER_READY_EVENT, pjrt_buffer_ready_event, event);
    pthread_mutex_lock(&lock);
    struct run *last = &runs[(run_count + RUNS - 1) % RUNS];
    int is_done = run_done == run_count || last->event_count == RUN_DEVICES;
    struct event *event = make_event(is_done ? 1 : 2);
    event->is_ready = is_done;
    if (!is_done) last->events[last->event_count++] = event;
    pthread_mutex_unlock(&lock);
    args->event = event;
    return NULL;
}

static void *raw_to_host(void *arguments) {
    ENTER(PJRT_BUFFER_COPY_RAW_TO_HOST, pjrt_raw_to_host, event);
    args->event = ready_event();
    return NULL;
}

static void *transfer_data(void *arguments) {
    ENTER(PJRT_TRANSFER_MANAGER_TRANSFER_DATA, pjrt_transfer_data, event);
    args->event = ready_event();
    return NULL;
}

static void *other(void *arguments) {
    (void)arguments;
    return make_error("not in this double");
}

/* What is newer than all of these may be asked about an error, and jaxlib 0.10 asks an error about that one's failure,
 * for ever. */
static void *newer(void *arguments) {
    (void)arguments;
    return NULL;
}

/* ---- the profiler ---- */

static void put_name(struct pb *plane, uint64_t id, const char *name) {
    struct pb entry = {0}, value = {0};
    pb_uint(&value, 1, id);
    pb_text(&value, 2, name);
    pb_uint(&entry, 1, id);
    pb_bytes(&entry, 2, value.at, value.length);
    pb_bytes(plane, 4, entry.at, entry.length);
    pb_free(&value);
    pb_free(&entry);
}

/* Under the lock. An event of a name of its own for each execution, which is its number: "train 7". */
static struct pb make_space(int session) {
    struct pb space = {0}, plane = {0}, line = {0}, programs = {0};
    pb_text(&plane, 2, "/device:DOUBLE:0");
    int64_t base = run_done ? runs[0].start_ns : 0;
    pb_text(&line, 2, "XLA Ops");
    pb_int(&line, 3, base);
    pb_text(&programs, 2, "/host:metadata");
    uint64_t last_program = 0;
    for (size_t i = 0; i < run_done && run_done <= RUNS; i++) {
        struct pb event = {0};
        char name[NAME + 32];
        if (runs[i].session != session) continue;
        snprintf(name, sizeof name, "%.63s %zu", runs[i].name, i);
        put_name(&plane, i + 1, name);
        pb_uint(&event, 1, i + 1);
        pb_int(&event, 2, (runs[i].start_ns - base) * 1000);
        pb_int(&event, 3, (runs[i].end_ns - runs[i].start_ns) * 1000);
        pb_bytes(&line, 4, event.at, event.length);
        pb_free(&event);
        snprintf(name, sizeof name, "%.63s(%llu)", runs[i].name, (unsigned long long)runs[i].id);
        if (runs[i].id != last_program) put_name(&programs, runs[i].id, name);
        last_program = runs[i].id;
    }
    pb_bytes(&plane, 3, line.at, line.length);
    pb_bytes(&space, 1, plane.at, plane.length);
    if (has_fault("hlo")) pb_bytes(&space, 1, programs.at, programs.length);
    pb_free(&line);
    pb_free(&plane);
    pb_free(&programs);
    return space;
}

static void *profiler_enter(const char *name, const void *arguments, size_t least) {
    char text[64];
    size_t size;
    memcpy(&size, arguments, sizeof size);
    snprintf(text, sizeof text, "fail=profiler.%s", name);
    if (size < least) counts.wrong++;
    return has_fault(text) ? make_error(text) : NULL;
}

static void *profiler_create(void *arguments) {
    struct pjrt_profiler_create *args = arguments;
    void *failed = profiler_enter("create", args, sizeof *args);
    if (failed) return failed;
    if (!args->options_size || args->options_size > 64) counts.wrong++;
    args->profiler = keep(calloc(1, sizeof(struct profiler)));
    counts.profilers++;
    return NULL;
}

static void *profiler_destroy(void *arguments) {
    struct pjrt_profiler *args = arguments;
    struct profiler *profiler = args->profiler;
    void *failed = profiler_enter("destroy", args, sizeof *args);
    pthread_mutex_lock(&lock);
    if (open_session == profiler) open_session = NULL;
    pthread_mutex_unlock(&lock);
    free(profiler->bytes);
    free(profiler);
    counts.profilers--;
    return failed;
}

static void *profiler_start(void *arguments) {
    struct pjrt_profiler *args = arguments;
    void *failed = profiler_enter("start", args, sizeof *args);
    if (failed) return failed;
    pthread_mutex_lock(&lock);
    int is_taken = open_session != NULL;
    if (!is_taken) {
        open_session = args->profiler;
        open_session->session = ++counts.sessions;
    }
    pthread_mutex_unlock(&lock);
    return is_taken ? make_error("another session is open") : NULL;
}

static void *profiler_stop(void *arguments) {
    struct pjrt_profiler *args = arguments;
    usleep((unsigned)number_of("slow-stop", 0) * 1000);
    void *failed = profiler_enter("stop", args, sizeof *args);
    pthread_mutex_lock(&lock);
    if (open_session == args->profiler) open_session = NULL;
    pthread_mutex_unlock(&lock);
    return failed;
}

static void *profiler_collect(void *arguments) {
    struct pjrt_profiler_collect *args = arguments;
    struct profiler *profiler = args->profiler;
    void *failed = profiler_enter("collect", args, sizeof *args);
    usleep((unsigned)number_of("slow-collect", 0) * 1000);
    if (failed) return failed;
    if (!profiler->bytes) {
        pthread_mutex_lock(&lock);
        struct pb space = make_space(profiler->session);
        pthread_mutex_unlock(&lock);
        if (has_fault("garbage")) memset(space.at, 0xff, space.length);
        if (has_fault("truncated")) space.length /= 2;
        pb_raw(&space, "", 1); /* the size that real plugins tell is one too many */
        profiler->bytes = keep(space.at);
        profiler->size = space.length;
    }
    int fills = has_fault("unlent");
    if (fills && args->buffer) memcpy(args->buffer, profiler->bytes, profiler->size);
    if (!fills) args->buffer = profiler->bytes;
    args->buffer_size = profiler->size;
    return NULL;
}

/* ---- the table ---- */

static union {
    struct pjrt_table head;
    char room[sizeof(struct pjrt_table) + PJRT_ENTRIES * sizeof(pjrt_function *)];
} table;
static union {
    struct pjrt_profiler_table table;
    char bytes[512]; /* so many may be said */
} profiler_table;
static struct pjrt_profiler_extension extension;
static struct pjrt_extension unknown;

static void fill(void) {
    static const struct {
        int entry;
        pjrt_function *function;
    } all[] = {{PJRT_ERROR_DESTROY, error_destroy},
               {PJRT_ERROR_MESSAGE, error_message},
               {PJRT_ERROR_GET_CODE, error_code},
               {PJRT_PLUGIN_INITIALIZE, initialize},
               {PJRT_EVENT_DESTROY, event_destroy},
               {PJRT_EVENT_AWAIT, event_await},
               {PJRT_EVENT_ON_READY, event_on_ready},
               {PJRT_CLIENT_CREATE, client_create},
               {PJRT_CLIENT_DESTROY, client_destroy},
               {PJRT_CLIENT_PLATFORM_NAME, platform_name},
               {PJRT_CLIENT_PLATFORM_VERSION, platform_version},
               {PJRT_CLIENT_PROCESS_INDEX, process_index},
               {PJRT_CLIENT_ADDRESSABLE_DEVICES, devices},
               {PJRT_DEVICE_GET_DESCRIPTION, description},
               {PJRT_DEVICE_DESCRIPTION_KIND, kind},
               {PJRT_CLIENT_COMPILE, client_compile},
               {PJRT_COMPILE, compile_ahead},
               {PJRT_EXECUTABLE_DESERIALIZE_AND_LOAD, deserialize},
               {PJRT_LOADED_EXECUTABLE_GET_EXECUTABLE, get_executable},
               {PJRT_EXECUTABLE_DESTROY, executable_destroy},
               {PJRT_LOADED_EXECUTABLE_DESTROY, loaded_destroy},
               {PJRT_EXECUTABLE_NAME, executable_name},
               {PJRT_EXECUTABLE_CODE_SIZE, code_size},
               {PJRT_EXECUTABLE_OPTIMIZED_PROGRAM, optimized},
               {PJRT_LOADED_EXECUTABLE_EXECUTE, execute},
               {PJRT_CLIENT_BUFFER_FROM_HOST_BUFFER, from_host},
               {PJRT_BUFFER_TO_HOST_BUFFER, to_host},
               {PJRT_BUFFER_ON_DEVICE_SIZE, buffer_size},
               {PJRT_BUFFER_COPY_TO_DEVICE, copy_to_device},
               {PJRT_BUFFER_COPY_TO_MEMORY, copy_to_memory},
               {PJRT_BUFFER_READY_EVENT, buffer_ready},
               {PJRT_BUFFER_COPY_RAW_TO_HOST, raw_to_host},
               {PJRT_TRANSFER_MANAGER_TRANSFER_DATA, transfer_data},
               {58, buffer_destroy}};
    pjrt_function **functions = table.head.functions;
    for (int i = 0; i < PJRT_ENTRIES; i++) functions[i] = i <= PJRT_TRANSFER_MANAGER_TRANSFER_DATA ? other : newer;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) functions[all[i].entry] = all[i].function;
}

/* The device's thread is not in a child: nor may its lock be held there. */
static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork(void) {
    pthread_mutex_unlock(&lock);
}

EXPORTED const struct pjrt_table *GetPjrtApi(void);
const struct pjrt_table *GetPjrtApi(void) {
    static int guards_forks;
    if (!guards_forks) guards_forks = !pthread_atfork(before_fork, after_fork, after_fork);
    double_faults(getenv("PJRT_DOUBLE"));
    fill();
    table.head.size = sizeof table.head + (size_t)number_of("functions", PJRT_ENTRIES) * sizeof(pjrt_function *);
    table.head.version.size = sizeof table.head.version;
    table.head.version.major = (int)number_of("major", 0);
    table.head.version.minor = (int)number_of("minor", 112);
    profiler_table.table = (struct pjrt_profiler_table){.size = (size_t)number_of("table", sizeof profiler_table.table),
                                                        .error_destroy = error_destroy,
                                                        .error_message = error_message,
                                                        .error_get_code = error_code,
                                                        .create = profiler_create,
                                                        .destroy = profiler_destroy,
                                                        .start = profiler_start,
                                                        .stop = profiler_stop,
                                                        .collect = profiler_collect};
    extension.base = (struct pjrt_extension){.size = (size_t)number_of("extension", sizeof extension),
                                             .type = PJRT_EXTENSION_PROFILER};
    extension.table = &profiler_table.table;
    /* One that we do not know stands before it. */
    unknown = (struct pjrt_extension){sizeof unknown, 77, has_fault("no-profiler") ? NULL : &extension.base};
    table.head.extensions = &unknown;
    return &table.head;
}
