/* use.h - a PJRT program: what tests do with a plugin's table, as a framework would. Every error is destroyed and
 * counted. */
#ifndef IDS_TESTS_PJRT_USE_H
#define IDS_TESTS_PJRT_USE_H

#include "collectors/pjrt/pjrt_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USE_DEVICES = 2 };

struct use {
    const struct pjrt_table *table;
    void *client;
    void *input; /* a buffer that executions take, NULL: none */
    int errors;  /* that calls returned */
    char last_error[256];
    uint64_t result; /* of what the calls gave: the same whoever stands between */
};

static inline int use_open(struct use *use, const char *library) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    const struct pjrt_table *(*get)(void) = NULL;
    if (handle) *(void **)(&get) = dlsym(handle, "GetPjrtApi");
    *use = (struct use){.table = get ? get() : NULL};
    if (!handle) fprintf(stderr, "%s\n", dlerror());
    return use->table ? 0 : -1;
}

static inline int use_has(const struct use *use, int entry) {
    return use->table->size >= offsetof(struct pjrt_table, functions) + ((size_t)entry + 1) * sizeof(pjrt_function *);
}

static inline int use_call(struct use *use, int entry, void *arguments) {
    void *error = use->table->functions[entry](arguments);
    use->result = use->result * 31 + (error ? 2 : 1);
    if (!error) return 0;
    struct pjrt_error_message message = {.size = sizeof message, .error = error};
    struct pjrt_error_destroy destroy = {.size = sizeof destroy, .error = error};
    use->table->functions[PJRT_ERROR_MESSAGE](&message);
    snprintf(use->last_error, sizeof use->last_error, "%.*s", (int)message.message_size, message.message);
    use->table->functions[PJRT_ERROR_DESTROY](&destroy);
    use->errors++;
    return -1;
}

static inline int use_client(struct use *use) {
    struct pjrt_plugin_initialize initialize = {.size = sizeof initialize};
    struct pjrt_client_create create = {.size = sizeof create};
    use_call(use, PJRT_PLUGIN_INITIALIZE, &initialize);
    int failed = use_call(use, PJRT_CLIENT_CREATE, &create);
    use->client = create.client;
    return failed;
}

static inline void use_client_end(struct use *use) {
    struct pjrt_client destroy = {.size = sizeof destroy, .client = use->client};
    use_call(use, PJRT_CLIENT_DESTROY, &destroy);
    use->client = NULL;
}

static inline void *use_compile(struct use *use, const char *name) {
    struct pjrt_program program = {.size = sizeof program,
                                   .code = (char *)(uintptr_t)name,
                                   .code_size = strlen(name),
                                   .format = "mlir",
                                   .format_size = 4};
    struct pjrt_client_compile compile = {.size = sizeof compile, .client = use->client, .program = &program};
    use_call(use, PJRT_CLIENT_COMPILE, &compile);
    return compile.loaded;
}

static inline void *use_load(struct use *use, const char *name) {
    struct pjrt_deserialize load = {
        .size = sizeof load, .client = use->client, .serialized = name, .serialized_size = strlen(name)};
    use_call(use, PJRT_EXECUTABLE_DESERIALIZE_AND_LOAD, &load);
    return load.loaded;
}

static inline void use_loaded_end(struct use *use, void *loaded) {
    struct pjrt_executable destroy = {.size = sizeof destroy, .executable = loaded};
    use_call(use, PJRT_LOADED_EXECUTABLE_DESTROY, &destroy);
}

static inline int use_await(struct use *use, void *event) {
    struct pjrt_event await = {.size = sizeof await, .event = event};
    return use_call(use, PJRT_EVENT_AWAIT, &await);
}

static inline void use_event_end(struct use *use, void *event) {
    struct pjrt_event destroy = {.size = sizeof destroy, .event = event};
    use_call(use, PJRT_EVENT_DESTROY, &destroy);
}

/* Executes; with `waits` until all devices are done. */
static inline int use_execute(struct use *use, void *loaded, int with_events, int waits) {
    void *events[USE_DEVICES] = {NULL}, *inputs[] = {use->input}, **lists[USE_DEVICES] = {inputs, inputs};
    struct pjrt_execute execute = {.size = sizeof execute,
                                   .loaded = loaded,
                                   .arguments = lists,
                                   .argument_count = use->input ? 1 : 0,
                                   .device_count = USE_DEVICES,
                                   .complete_events = with_events ? events : NULL};
    int failed = use_call(use, PJRT_LOADED_EXECUTABLE_EXECUTE, &execute);
    if (execute.complete_events != (with_events ? events : NULL)) use->errors += 1000; /* our struct was changed */
    for (int i = 0; !failed && i < USE_DEVICES; i++) {
        if (!events[i]) continue;
        if (waits) use_await(use, events[i]);
        use_event_end(use, events[i]);
    }
    return failed;
}

static inline void *use_from_host(struct use *use, int64_t elements) {
    struct pjrt_from_host args = {
        .size = sizeof args, .client = use->client, .data = use, .type = 11, .dims = &elements, .dim_count = 1};
    if (use_call(use, PJRT_CLIENT_BUFFER_FROM_HOST_BUFFER, &args)) return NULL;
    use_event_end(use, args.done_event);
    return args.buffer;
}

static inline void use_to_host(struct use *use, void *buffer) {
    struct pjrt_to_host args = {.size = sizeof args, .buffer = buffer};
    if (use_call(use, PJRT_BUFFER_TO_HOST_BUFFER, &args)) return;
    unsigned char *to = calloc(1, args.to_size + 1);
    args.to = to;
    if (!use_call(use, PJRT_BUFFER_TO_HOST_BUFFER, &args)) {
        use_await(use, args.event);
        use_event_end(use, args.event);
        for (size_t i = 0; i < args.to_size; i++) use->result = use->result * 31 + to[i];
    }
    free(to);
}

static inline void *use_copy(struct use *use, int entry, void *buffer) {
    struct pjrt_buffer_copy args = {.size = sizeof args, .buffer = buffer};
    use_call(use, entry, &args);
    return args.copy;
}

static inline void use_buffer_end(struct use *use, void *buffer) {
    struct pjrt_executable destroy = {.size = sizeof destroy, .executable = buffer};
    use_call(use, 58, &destroy);
}

/* ---- the program's own profiler ---- */

static inline const struct pjrt_profiler_table *use_profiler(const struct use *use) {
    for (struct pjrt_extension *at = use->table->extensions; at; at = at->next) {
        if (at->type == PJRT_EXTENSION_PROFILER) return ((struct pjrt_profiler_extension *)(void *)at)->table;
    }
    return NULL;
}

static inline int use_profile_call(struct use *use, pjrt_function *function, void *arguments) {
    const struct pjrt_profiler_table *profiler = use_profiler(use);
    void *error = function(arguments);
    if (!error) return 0;
    struct pjrt_error_message message = {.size = sizeof message, .error = error};
    struct pjrt_error_destroy destroy = {.size = sizeof destroy, .error = error};
    profiler->error_message(&message);
    snprintf(use->last_error, sizeof use->last_error, "%.*s", (int)message.message_size, message.message);
    profiler->error_destroy(&destroy);
    use->errors++;
    return -1;
}

static inline void *use_profile(struct use *use) {
    const struct pjrt_profiler_table *profiler = use_profiler(use);
    struct pjrt_profiler_create create = {.size = sizeof create, .options = "\x28\x01", .options_size = 2};
    if (use_profile_call(use, profiler->create, &create)) return NULL;
    struct pjrt_profiler start = {.size = sizeof start, .profiler = create.profiler};
    use_profile_call(use, profiler->start, &start);
    return create.profiler;
}

/* The size of what it collected. */
static inline size_t use_profile_end(struct use *use, void *session) {
    const struct pjrt_profiler_table *profiler = use_profiler(use);
    struct pjrt_profiler args = {.size = sizeof args, .profiler = session};
    struct pjrt_profiler_collect collect = {.size = sizeof collect, .profiler = session};
    use_profile_call(use, profiler->stop, &args);
    use_profile_call(use, profiler->collect, &collect);
    size_t size = collect.buffer_size;
    use_profile_call(use, profiler->destroy, &args);
    return size;
}

#endif
