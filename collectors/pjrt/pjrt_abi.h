/* pjrt_abi.h - what of the PJRT C API the interposer touches: where things lie, in declarations of our own.
 *
 * A plugin exports GetPjrtApi, which returns a table: a size, a chain of extensions, a version, and then one pointer a
 * function, in an order that only grows within major version 0. Every function takes one struct that begins with the
 * size which its caller knows of it and a chain of extensions, and returns NULL or an error to be destroyed by the
 * caller. A field that lies beyond the size is not there: not in the table, not in the arguments. Everything we do not
 * name is passed on untouched. Specification: xla/pjrt/c/pjrt_c_api.h and pjrt_c_api_profiler_extension.h of OpenXLA,
 * xla/backends/profiler/plugin. tests/live/test_pjrt_plugins.py holds the numbers below against what real plugins say
 * of themselves.
 */
#ifndef IDS_COLLECTORS_PJRT_ABI_H
#define IDS_COLLECTORS_PJRT_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *pjrt_function(void *arguments); /* of the two that return nothing the result is garbage */

struct pjrt_extension {
    size_t size;
    int type; /* enum pjrt_extension_type */
    struct pjrt_extension *next;
};
enum pjrt_extension_type { PJRT_EXTENSION_PROFILER = 1 };

struct pjrt_table {
    size_t size;
    struct pjrt_extension *extensions;
    struct {
        size_t size;
        struct pjrt_extension *extensions;
        int major, minor;
    } version;
    pjrt_function *functions[];
};

/* Places in the table. */
enum pjrt_entry {
    PJRT_ERROR_DESTROY = 0,
    PJRT_ERROR_MESSAGE = 1,
    PJRT_ERROR_GET_CODE = 2,
    PJRT_PLUGIN_INITIALIZE = 3,
    PJRT_EVENT_DESTROY = 5,
    PJRT_EVENT_AWAIT = 8,
    PJRT_EVENT_ON_READY = 9,
    PJRT_CLIENT_CREATE = 10,
    PJRT_CLIENT_DESTROY = 11,
    PJRT_CLIENT_PLATFORM_NAME = 12,
    PJRT_CLIENT_PROCESS_INDEX = 13,
    PJRT_CLIENT_PLATFORM_VERSION = 14,
    PJRT_CLIENT_ADDRESSABLE_DEVICES = 16,
    PJRT_CLIENT_COMPILE = 20,
    PJRT_CLIENT_BUFFER_FROM_HOST_BUFFER = 22,
    PJRT_DEVICE_DESCRIPTION_KIND = 26,
    PJRT_DEVICE_GET_DESCRIPTION = 29,
    PJRT_EXECUTABLE_DESTROY = 40,
    PJRT_EXECUTABLE_NAME = 41,
    PJRT_EXECUTABLE_CODE_SIZE = 45,
    PJRT_EXECUTABLE_OPTIMIZED_PROGRAM = 48,
    PJRT_LOADED_EXECUTABLE_DESTROY = 50,
    PJRT_LOADED_EXECUTABLE_GET_EXECUTABLE = 51,
    PJRT_LOADED_EXECUTABLE_EXECUTE = 55,
    PJRT_EXECUTABLE_DESERIALIZE_AND_LOAD = 56,
    PJRT_BUFFER_ON_DEVICE_SIZE = 64,
    PJRT_BUFFER_COPY_TO_DEVICE = 69,
    PJRT_BUFFER_TO_HOST_BUFFER = 70,
    PJRT_BUFFER_READY_EVENT = 72,
    PJRT_COMPILE = 89,
    PJRT_BUFFER_COPY_TO_MEMORY = 92,
    PJRT_BUFFER_COPY_RAW_TO_HOST = 100,
    PJRT_TRANSFER_MANAGER_TRANSFER_DATA = 102,
    PJRT_ENTRIES = 138 /* known when this was written, and no more than a size for tables of our own */
};

/* What every struct of arguments begins with. */
#define PJRT_HEAD \
    size_t size;  \
    struct pjrt_extension *extensions

struct pjrt_plugin_initialize {
    PJRT_HEAD;
};
struct pjrt_error_destroy {
    PJRT_HEAD;
    void *error;
};
struct pjrt_error_message {
    PJRT_HEAD;
    const void *error;
    const char *message; /* out, not ended by a zero */
    size_t message_size; /* out */
};
struct pjrt_error_get_code {
    PJRT_HEAD;
    const void *error;
    int code; /* out */
};
struct pjrt_event {
    PJRT_HEAD;
    void *event;
};
struct pjrt_event_on_ready {
    PJRT_HEAD;
    void *event;
    void (*callback)(void *error, void *context); /* owns the error */
    void *context;
};
struct pjrt_client_create {
    PJRT_HEAD;
    void *options;
    size_t option_count;
    void *get, *get_context, *put, *put_context;
    void *client; /* out */
};
struct pjrt_client {
    PJRT_HEAD;
    void *client;
};
struct pjrt_client_text { /* the platform's name, its version */
    PJRT_HEAD;
    void *client;
    const char *text; /* out */
    size_t length;    /* out */
};
struct pjrt_client_process_index {
    PJRT_HEAD;
    void *client;
    int index; /* out */
};
struct pjrt_client_devices {
    PJRT_HEAD;
    void *client;
    void **devices; /* out */
    size_t count;   /* out */
};
struct pjrt_device_description {
    PJRT_HEAD;
    void *device;
    void *description; /* out */
};
struct pjrt_description_text {
    PJRT_HEAD;
    void *description;
    const char *text; /* out */
    size_t length;    /* out */
};
struct pjrt_program {
    PJRT_HEAD;
    char *code;
    size_t code_size;
    const char *format; /* "mlir", "hlo", "hlo_with_config" */
    size_t format_size;
};
struct pjrt_client_compile {
    PJRT_HEAD;
    void *client;
    struct pjrt_program *program;
    const char *options;
    size_t options_size;
    void *loaded; /* out */
};
struct pjrt_compile { /* ahead of time */
    PJRT_HEAD;
    const void *topology;
    struct pjrt_program *program;
    const char *options;
    size_t options_size;
    void *client;
    void *executable; /* out */
};
struct pjrt_deserialize {
    PJRT_HEAD;
    void *client;
    const char *serialized;
    size_t serialized_size;
    void *loaded; /* out */
};
struct pjrt_executable {
    PJRT_HEAD;
    void *executable;
};
struct pjrt_loaded_get_executable {
    PJRT_HEAD;
    void *loaded;
    void *executable; /* out, to be destroyed */
};
struct pjrt_executable_name {
    PJRT_HEAD;
    void *executable;
    const char *name; /* out */
    size_t name_size; /* out */
};
struct pjrt_executable_code_size {
    PJRT_HEAD;
    void *executable;
    int64_t code_size; /* out */
};
struct pjrt_optimized_program {
    PJRT_HEAD;
    void *executable;
    struct pjrt_program *program; /* asked twice: without code for the size, then with room for it */
};
struct pjrt_execute {
    PJRT_HEAD;
    void *loaded;
    void *options;
    void ***arguments;
    size_t device_count, argument_count;
    void ***outputs;
    void **complete_events; /* one a device, or NULL; the caller's */
    void *device;
};
struct pjrt_from_host {
    PJRT_HEAD;
    void *client;
    const void *data;
    int type;
    const int64_t *dims;
    size_t dim_count;
    const int64_t *strides;
    size_t stride_count;
    int semantics;
    void *device, *memory, *layout;
    void *done_event; /* out */
    void *buffer;     /* out */
};
struct pjrt_to_host {
    PJRT_HEAD;
    void *buffer;
    void *layout;
    void *to; /* NULL: only the size is asked for */
    size_t to_size;
    void *event; /* out */
};
struct pjrt_raw_to_host {
    PJRT_HEAD;
    void *buffer;
    void *to;
    int64_t offset, transfer_size;
    void *event; /* out */
};
struct pjrt_buffer_copy { /* to a device, to a memory */
    PJRT_HEAD;
    void *buffer;
    void *target;
    void *copy; /* out */
};
struct pjrt_buffer_size {
    PJRT_HEAD;
    void *buffer;
    size_t on_device_size; /* out */
};
struct pjrt_buffer_ready_event {
    PJRT_HEAD;
    void *buffer;
    void *event; /* out */
};
struct pjrt_transfer_data {
    PJRT_HEAD;
    void *manager;
    int buffer_index;
    const void *data;
    int64_t offset, transfer_size;
    bool is_last;
    void *event; /* out */
};

/* The profiler's extension: a pointer to a table of its own, whose functions return errors of its own. */
struct pjrt_profiler_table {
    size_t size;
    void *private_data;
    pjrt_function *error_destroy, *error_message, *error_get_code;
    pjrt_function *create, *destroy, *start, *stop, *collect;
};
struct pjrt_profiler_extension {
    struct pjrt_extension base;
    struct pjrt_profiler_table *table; /* NULL in the chains of arguments, which carry the context alone */
    int64_t context;
};
struct pjrt_profiler_create {
    size_t size;
    const char *options; /* a serialized tensorflow.ProfileOptions */
    size_t options_size;
    void *profiler; /* out */
};
struct pjrt_profiler { /* destroy, start, stop */
    size_t size;
    void *profiler;
};
struct pjrt_profiler_collect {
    size_t size;
    void *profiler;
    uint8_t *buffer;    /* out: borrowed from the profiler */
    size_t buffer_size; /* out: one more than the XSpace has, a trailing zero */
};

/* Whether the struct that `arguments` points to has the field, by the size that its caller gave. */
#define PJRT_HAS(arguments, field) \
    ((arguments)->size >= offsetof(__typeof__(*(arguments)), field) + sizeof((arguments)->field))

#endif
