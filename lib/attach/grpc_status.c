#include "lib/attach/grpc_status.h"

#include <stddef.h>
#include <string.h>

struct status {
    const char *name, *remedy;
};

static const struct status statuses[] = {
    {"OK", NULL},
    {"CANCELLED", NULL},
    {"UNKNOWN", NULL},
    {"INVALID_ARGUMENT", NULL},
    {"DEADLINE_EXCEEDED", "give it more time with --stop-timeout"},
    {"NOT_FOUND", NULL},
    {"ALREADY_EXISTS", "end the profile that another tool records there, then try again"},
    {"PERMISSION_DENIED", "the server asks who calls, which attach cannot answer: use a port inside its network"},
    {"RESOURCE_EXHAUSTED", "record less: a shorter --duration, or --host-tracer 1"},
    {"FAILED_PRECONDITION", NULL},
    {"ABORTED", "try again"},
    {"OUT_OF_RANGE", NULL},
    {"UNIMPLEMENTED", "another service listens there; give the port of jax.profiler.start_server"},
    {"INTERNAL", NULL},
    {"UNAVAILABLE", "try again when the program is ready"},
    {"DATA_LOSS", NULL},
    {"UNAUTHENTICATED", "the server asks who calls, which attach cannot answer: use a port inside its network"},
};
enum { STATUSES = sizeof statuses / sizeof *statuses };

const char *ids_grpc_name(int status) {
    return status >= 0 && status < STATUSES ? statuses[status].name : "a status that gRPC does not have";
}

const char *ids_grpc_remedy(int status, const char *message) {
    if (strstr(message, "nother profiling session"))
        return "wait until the profile that is recorded there ends (the program's own, TensorBoard's, another "
               "idsprof), then try again";
    return status >= 0 && status < STATUSES ? statuses[status].remedy : NULL;
}
