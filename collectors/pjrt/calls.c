/* The wrapped calls. Each passes the program's arguments on and returns what the plugin returned. */
#include "collectors/pjrt/calls.h"

#include "collectors/common/agent.h"
#include "collectors/common/window.h"
#include "collectors/pjrt/describe.h"
#include "collectors/pjrt/programs.h"
#include "collectors/pjrt/record.h"
#include "collectors/pjrt/runs.h"
#include "collectors/pjrt/table.h"

#include <string.h>

enum { DEVICES = 64, UNKNOWN_TRIES = 256 };

/* Puts a record of a call that began at `start` (0: no window was open) and is over. */
static int64_t put(enum ids_record_kind kind, int64_t start, uint32_t program, int64_t bytes, const void *error) {
    if (!start) return IDS_NO_RECORD;
    return ids_record_put((struct ids_record){.start_ns = start,
                                              .end_ns = ids_record_now(),
                                              .kind = (uint16_t)kind,
                                              .program = program,
                                              .bytes = bytes,
                                              .failed = error != NULL});
}

/* ---- the plugin and its clients ---- */

static void *initialize(void *arguments) {
    int64_t start = ids_record_begin();
    void *error = ids_pjrt_call(PJRT_PLUGIN_INITIALIZE, arguments);
    put(IDS_RECORD_INITIALIZE, start, IDS_NO_PROGRAM, -1, error);
    return error;
}

static void *client_create(void *arguments) {
    struct pjrt_client_create *args = arguments;
    int64_t start = ids_record_begin();
    void *error = ids_pjrt_call(PJRT_CLIENT_CREATE, arguments);
    put(IDS_RECORD_CLIENT, start, IDS_NO_PROGRAM, -1, error);
    if (error || !PJRT_HAS(args, client) || !args->client) return error;
    atomic_fetch_add(&ids_pjrt.clients, 1);
    ids_describe_client(args->client);
    return error;
}

static void *client_destroy(void *arguments) {
    struct pjrt_client *args = arguments;
    if (PJRT_HAS(args, client) && args->client && atomic_load(&ids_pjrt.clients) > 0) {
        /* A profiler of devices that are gone is nothing to rely on. */
        if (atomic_load(&ids_pjrt.clients) == 1) {
            ids_agent_give_way(ids_pjrt.handle, "the program destroyed its PJRT client: the window ended there");
        }
        atomic_fetch_sub(&ids_pjrt.clients, 1);
    }
    return ids_pjrt_call(PJRT_CLIENT_DESTROY, arguments);
}

/* ---- compiling and loading ---- */

static int64_t size_of(const struct pjrt_program *program) {
    return program && PJRT_HAS(program, code_size) ? (int64_t)program->code_size : -1;
}

/* Our questions to the plugin come after its own work, so the record ends before them. */
static void put_program(enum ids_record_kind kind, int64_t start, int64_t end, uint32_t program, int64_t bytes,
                        const void *error) {
    if (!start) return;
    ids_record_put((struct ids_record){.start_ns = start,
                                       .end_ns = end,
                                       .kind = (uint16_t)kind,
                                       .program = program,
                                       .bytes = bytes,
                                       .failed = error != NULL});
}

static void *client_compile(void *arguments) {
    struct pjrt_client_compile *args = arguments;
    int64_t start = ids_record_begin();
    int64_t bytes = PJRT_HAS(args, program) ? size_of(args->program) : -1;
    void *error = ids_pjrt_call(PJRT_CLIENT_COMPILE, arguments);
    int64_t end = ids_record_now();
    uint32_t program = !error && PJRT_HAS(args, loaded) ? ids_describe_loaded(args->loaded) : IDS_NO_PROGRAM;
    put_program(IDS_RECORD_COMPILE, start, end, program, bytes, error);
    return error;
}

static void *compile_ahead(void *arguments) {
    struct pjrt_compile *args = arguments;
    int64_t start = ids_record_begin();
    int64_t bytes = PJRT_HAS(args, program) ? size_of(args->program) : -1;
    void *error = ids_pjrt_call(PJRT_COMPILE, arguments);
    int64_t end = ids_record_now();
    int is_there = !error && PJRT_HAS(args, executable) && args->executable;
    uint32_t program = is_there ? ids_describe_executable(args->executable) : IDS_NO_PROGRAM;
    put_program(IDS_RECORD_COMPILE, start, end, program, bytes, error);
    return error;
}

static void *deserialize(void *arguments) {
    struct pjrt_deserialize *args = arguments;
    int64_t start = ids_record_begin();
    int64_t bytes = PJRT_HAS(args, serialized_size) ? (int64_t)args->serialized_size : -1;
    void *error = ids_pjrt_call(PJRT_EXECUTABLE_DESERIALIZE_AND_LOAD, arguments);
    int64_t end = ids_record_now();
    uint32_t program = !error && PJRT_HAS(args, loaded) ? ids_describe_loaded(args->loaded) : IDS_NO_PROGRAM;
    put_program(IDS_RECORD_LOAD, start, end, program, bytes, error);
    return error;
}

static void *loaded_destroy(void *arguments) {
    struct pjrt_executable *args = arguments;
    if (PJRT_HAS(args, executable)) ids_programs_unloaded(args->executable);
    return ids_pjrt_call(PJRT_LOADED_EXECUTABLE_DESTROY, arguments);
}

/* ---- executing ---- */

/* An executable that came by a way which is not wrapped is asked for its name when it is first executed. */
static uint32_t program_of(void *loaded) {
    static atomic_int tries;
    uint32_t program = ids_programs_of(loaded);
    if (program != IDS_NO_PROGRAM || atomic_load_explicit(&tries, memory_order_relaxed) >= UNKNOWN_TRIES)
        return program;
    atomic_fetch_add(&tries, 1);
    return ids_describe_loaded(loaded);
}

/* In a window: with the completion of all devices. Where the program asks for no events, we do. */
static void *execute_recorded(struct pjrt_execute *args, struct ids_record *record) {
    void *own[DEVICES] = {NULL};
    int can_ask = PJRT_HAS(args, complete_events) && ids_pjrt_has(PJRT_EVENT_ON_READY) && args->device_count <= DEVICES;
    int is_ours = can_ask && !args->complete_events && ids_pjrt_has(PJRT_EVENT_DESTROY);
    if (is_ours) args->complete_events = own;
    void *error = ids_pjrt_call(PJRT_LOADED_EXECUTABLE_EXECUTE, args);
    void *const *events = can_ask ? args->complete_events : NULL;
    if (is_ours) args->complete_events = NULL;
    record->end_ns = ids_record_now();
    record->failed = error != NULL;
    int64_t place = ids_record_put(*record);
    if (!error && events) ids_runs_follow(events, args->device_count, is_ours, place, record->start_ns);
    return error;
}

/* 1 where the agent counted the call into an open window, which then waits for its record. */
static int tell_step(const struct pjrt_execute *args, const char *name) {
    ids_runs_about_to(args);
    int counted = ids_agent_step_call(IDS_STEP_EXECUTION, name, -1, ids_runs_calls());
    ids_runs_about_to(NULL);
    return counted;
}

static void *execute(void *arguments) {
    struct pjrt_execute *args = arguments;
    if (!PJRT_HAS(args, device_count)) return ids_pjrt_call(PJRT_LOADED_EXECUTABLE_EXECUTE, arguments);
    uint32_t id = program_of(args->loaded);
    struct ids_program *program = ids_programs_at(id);
    int64_t number = atomic_fetch_add_explicit(&program->executions, 1, memory_order_relaxed);
    int is_step = id != IDS_NO_PROGRAM && program->is_step && ids_agent_wants(IDS_STEP_EXECUTION);
    int is_counted = is_step && tell_step(args, program->name);
    ids_agent_executed(program->collectives); /* in the step that it may have begun */
    int64_t start = is_counted ? ids_record_begin_counted() : ids_record_begin();
    struct ids_record record = {.start_ns = start,
                                .kind = IDS_RECORD_EXECUTE,
                                .program = id,
                                .bytes = -1,
                                .number = number,
                                .devices =
                                    (uint16_t)(args->device_count < UINT16_MAX ? args->device_count : UINT16_MAX),
                                .is_step = (uint8_t)is_step};
    void *error = start ? execute_recorded(args, &record) : ids_pjrt_call(PJRT_LOADED_EXECUTABLE_EXECUTE, arguments);
    if (is_counted) ids_runs_end_call();
    return error;
}

static void *await(void *arguments) {
    int64_t start = ids_record_begin();
    if (!start) return ids_pjrt_call(PJRT_EVENT_AWAIT, arguments);
    void *error = ids_pjrt_call(PJRT_EVENT_AWAIT, arguments);
    put(IDS_RECORD_AWAIT, start, IDS_NO_PROGRAM, -1, error);
    return error;
}

/* ---- transfers ---- */

/* Of one element, by PJRT_Buffer_Type; 0: not known. */
static int bits_of(int type) {
    static const unsigned char bits[] = {0,   8, 8, 16, 32, 64, 8, 16, 32, 64, 16, 32, 64, 16, 64,
                                         128, 8, 8, 8,  8,  8,  4, 4,  0,  2,  2,  8,  8,  8,  4};
    return type >= 0 && (size_t)type < sizeof bits ? bits[type] : 0;
}

static int64_t bytes_of(const struct pjrt_from_host *args) {
    int64_t count = 1;
    if (!PJRT_HAS(args, dim_count) || !bits_of(args->type) || (args->dim_count && !args->dims)) return -1;
    for (size_t i = 0; i < args->dim_count; i++) {
        if (__builtin_mul_overflow(count, args->dims[i], &count)) return -1;
    }
    if (count < 0 || __builtin_mul_overflow(count, (int64_t)bits_of(args->type), &count)) return -1;
    return (count + 7) / 8;
}

static void *from_host(void *arguments) {
    int64_t start = ids_record_begin();
    if (!start) return ids_pjrt_call(PJRT_CLIENT_BUFFER_FROM_HOST_BUFFER, arguments);
    int64_t bytes = bytes_of(arguments);
    void *error = ids_pjrt_call(PJRT_CLIENT_BUFFER_FROM_HOST_BUFFER, arguments);
    put(IDS_RECORD_FROM_HOST, start, IDS_NO_PROGRAM, bytes, error);
    return error;
}

static void *transfer_data(void *arguments) {
    struct pjrt_transfer_data *args = arguments;
    int64_t start = ids_record_begin();
    if (!start) return ids_pjrt_call(PJRT_TRANSFER_MANAGER_TRANSFER_DATA, arguments);
    int64_t bytes = PJRT_HAS(args, transfer_size) ? args->transfer_size : -1;
    void *error = ids_pjrt_call(PJRT_TRANSFER_MANAGER_TRANSFER_DATA, arguments);
    put(IDS_RECORD_FROM_HOST, start, IDS_NO_PROGRAM, bytes, error);
    return error;
}

static void *to_host(void *arguments) {
    struct pjrt_to_host *args = arguments;
    int64_t start = PJRT_HAS(args, to) && args->to ? ids_record_begin() : 0; /* else only the size is asked for */
    if (!start) return ids_pjrt_call(PJRT_BUFFER_TO_HOST_BUFFER, arguments);
    int64_t bytes = PJRT_HAS(args, to_size) ? (int64_t)args->to_size : -1;
    void *error = ids_pjrt_call(PJRT_BUFFER_TO_HOST_BUFFER, arguments);
    put(IDS_RECORD_TO_HOST, start, IDS_NO_PROGRAM, bytes, error);
    return error;
}

static void *raw_to_host(void *arguments) {
    struct pjrt_raw_to_host *args = arguments;
    int64_t start = ids_record_begin();
    if (!start) return ids_pjrt_call(PJRT_BUFFER_COPY_RAW_TO_HOST, arguments);
    int64_t bytes = PJRT_HAS(args, transfer_size) ? args->transfer_size : -1;
    void *error = ids_pjrt_call(PJRT_BUFFER_COPY_RAW_TO_HOST, arguments);
    put(IDS_RECORD_TO_HOST, start, IDS_NO_PROGRAM, bytes, error);
    return error;
}

static void *copy(enum pjrt_entry entry, void *arguments) {
    struct pjrt_buffer_copy *args = arguments;
    int64_t start = ids_record_begin();
    if (!start) return ids_pjrt_call(entry, arguments);
    struct pjrt_buffer_size size = {.size = sizeof size, .buffer = PJRT_HAS(args, buffer) ? args->buffer : NULL};
    int64_t bytes = size.buffer && !ids_pjrt_try(PJRT_BUFFER_ON_DEVICE_SIZE, &size) ? (int64_t)size.on_device_size : -1;
    void *error = ids_pjrt_call(entry, arguments);
    put(IDS_RECORD_COPY, start, IDS_NO_PROGRAM, bytes, error);
    return error;
}

static void *copy_to_device(void *arguments) {
    return copy(PJRT_BUFFER_COPY_TO_DEVICE, arguments);
}

static void *copy_to_memory(void *arguments) {
    return copy(PJRT_BUFFER_COPY_TO_MEMORY, arguments);
}

pjrt_function *ids_pjrt_wrapper(enum pjrt_entry entry) {
    switch ((int)entry) {
    case PJRT_PLUGIN_INITIALIZE:
        return initialize;
    case PJRT_CLIENT_CREATE:
        return client_create;
    case PJRT_CLIENT_DESTROY:
        return client_destroy;
    case PJRT_CLIENT_COMPILE:
        return client_compile;
    case PJRT_COMPILE:
        return compile_ahead;
    case PJRT_EXECUTABLE_DESERIALIZE_AND_LOAD:
        return deserialize;
    case PJRT_LOADED_EXECUTABLE_DESTROY:
        return loaded_destroy;
    case PJRT_LOADED_EXECUTABLE_EXECUTE:
        return execute;
    case PJRT_EVENT_AWAIT:
        return await;
    case PJRT_CLIENT_BUFFER_FROM_HOST_BUFFER:
        return from_host;
    case PJRT_TRANSFER_MANAGER_TRANSFER_DATA:
        return transfer_data;
    case PJRT_BUFFER_TO_HOST_BUFFER:
        return to_host;
    case PJRT_BUFFER_COPY_RAW_TO_HOST:
        return raw_to_host;
    case PJRT_BUFFER_COPY_TO_DEVICE:
        return copy_to_device;
    case PJRT_BUFFER_COPY_TO_MEMORY:
        return copy_to_memory;
    default:
        return NULL;
    }
}
