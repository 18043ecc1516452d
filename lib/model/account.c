#include "lib/model/account.h"

#include <string.h>

#define IDS(id) id, "steps." id, "idle." id
static const struct {
    const char *id, *steps_id, *idle_id, *title, *meaning;
} accounts[IDS_ACCOUNT_COUNT] = {
    [IDS_WORK_COMPUTE] = {IDS("work.compute"), "compute", "the device computes, whatever else runs beside it"},
    [IDS_COMM_TRANSFER] = {IDS("comm.transfer"), "collectives",
                           "only a collective runs, and all devices that take part have come to it"},
    [IDS_COMM_WAIT] = {IDS("comm.wait"), "waiting for peers",
                       "only a collective runs (or a barrier), and some devices that take part have not come to it"},
    [IDS_COPY_H2D] = {IDS("copy.h2d"), "H2D copies", "only copies run, from host memory"},
    [IDS_COPY_D2H] = {IDS("copy.d2h"), "D2H copies", "only copies run, to host memory"},
    [IDS_COPY_D2D] = {IDS("copy.d2d"), "D2D copies", "only copies run, inside device memory"},
    [IDS_COPY_P2P] = {IDS("copy.p2p"), "P2P copies", "only copies run, to or from another device"},
    [IDS_COPY_SET] = {IDS("copy.set"), "memory sets", "only memory is set"},
    [IDS_COPY_OTHER] = {IDS("copy.other"), "other copies", "only copies run, and the file does not say from where to where"},
    [IDS_STALL_DEVICE] = {IDS("stall.device"), "stalls",
                          "the file books the device as busy, but it waits, and for what cannot be told"},
    [IDS_HOST_COMPILE] = {IDS("host.compile"), "compiling", "nothing runs, and the host compiles"},
    [IDS_HOST_INPUT] = {IDS("host.input"), "input",
                        "nothing runs, and the host takes input: a reader, or a region whose words say so"},
    [IDS_HOST_SYNC] = {IDS("host.sync"), "waiting for a device",
                       "nothing runs, and the host waits for a device, or launches anew after it has waited"},
    [IDS_HOST_STAGING] = {IDS("host.staging"), "putting data", "nothing runs, and the host puts data on a device"},
    [IDS_HOST_RUNTIME] = {IDS("host.runtime"), "runtime calls",
                          "nothing runs, and the host is in a call of the runtime: memory, modules, contexts, the "
                          "first use of an op"},
    [IDS_HOST_REGION] = {IDS("host.region"), "named regions",
                         "nothing runs, and the host is in a region that the program named"},
    [IDS_HOST_PYTHON] = {IDS("host.python"), "Python", "nothing runs, and the host runs Python"},
    [IDS_HOST_DISPATCH] = {IDS("host.dispatch"), "dispatch", "nothing runs, and the host dispatches: ops and launches"},
    [IDS_HOST_UNKNOWN] = {IDS("host.unknown"), "host, not recorded",
                          "nothing runs, the next work is not launched yet, and nothing recorded covers the host"},
    [IDS_DEVICE_IN_PROGRAM] = {IDS("device.in_program"), "inside a program",
                               "nothing runs, though it is launched: a dependency inside one program or graph"},
    [IDS_DEVICE_QUEUE] = {IDS("device.queue"), "launched, not begun",
                          "nothing runs, the launching call has returned, and the work has not begun"},
    [IDS_DEVICE_UNKNOWN] = {IDS("device.unknown"), "not recorded",
                            "nothing runs, and the launch of what comes next is not recorded"},
    [IDS_PROFILER] = {IDS("profiler"), "the profiler itself", "nothing runs, and the profiler is at work"},
};

const char *ids_account_id(enum ids_account account) {
    return account < IDS_ACCOUNT_COUNT ? accounts[account].id : "";
}

const char *ids_account_steps_id(enum ids_account account) {
    return account < IDS_ACCOUNT_COUNT ? accounts[account].steps_id : NULL;
}

const char *ids_account_idle_id(enum ids_account account) {
    if (account == IDS_WORK_COMPUTE || account == IDS_STALL_DEVICE || account >= IDS_ACCOUNT_COUNT) return NULL;
    return accounts[account].idle_id;
}

const char *ids_account_title(enum ids_account account) {
    return account < IDS_ACCOUNT_COUNT ? accounts[account].title : "";
}

const char *ids_account_meaning(enum ids_account account) {
    return account < IDS_ACCOUNT_COUNT ? accounts[account].meaning : "";
}

enum ids_account ids_account_of_id(const char *id) {
    int account = 0;
    while (account < IDS_ACCOUNT_COUNT && strcmp(accounts[account].id, id) != 0) account++;
    return (enum ids_account)account;
}

/* --- host events ------------------------------------------------------------------------------------------------ */

static int is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

/* A call of a GPU's runtime or driver: cudaLaunchKernel, cuMemAlloc_v2, hipMemcpyWithStream. */
static int is_device_call(struct ids_text name) {
    static const char *const families[] = {"cuda", "hip", "cu"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        size_t length = strlen(families[i]);
        if (ids_text_begins(name, families[i]) && name.length > length && is_upper(name.at[length])) return 1;
    }
    return 0;
}

static int contains_any(struct ids_text name, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (ids_text_contains(name, words[i])) return 1;
    }
    return 0;
}
#define CONTAINS_ANY(name, words) contains_any((name), (words), sizeof(words) / sizeof *(words))

/* What a call of the runtime does to the thread that makes it: it waits for the device, it hands work over and returns, or it does
 * something of its own (memory, modules, contexts, graphs). Names: CUDA runtime and driver API, HIP API. */
static enum ids_account account_of_device_call(struct ids_text name) {
    static const char *const waits[] = {"Synchronize", "MemcpyWithStream"};
    static const char *const hands_over[] = {"Launch", "Async", "Occupancy", "Get", "Set", "Peek", "Capturing",
                                             "EventRecord", "EventCreate", "EventQuery", "StreamWaitEvent",
                                             "StreamQuery", "PushCall", "PopCall", "Query"};
    static const char *const builds[] = {"Malloc", "Free", "MemAlloc", "MemFree", "Module", "Library", "Ctx", "Graph",
                                         "HostAlloc", "HostRegister", "StreamCreate", "StreamDestroy", "Init"};
    if (CONTAINS_ANY(name, waits)) return IDS_HOST_SYNC;
    if (ids_text_contains(name, "Memcpy") && !ids_text_contains(name, "Async")) return IDS_HOST_SYNC;
    if (ids_text_contains(name, "GraphLaunch")) return IDS_HOST_DISPATCH;
    if (CONTAINS_ANY(name, builds) && !ids_text_contains(name, "Launch") && !ids_text_contains(name, "Get") &&
        !ids_text_contains(name, "Async"))
        return IDS_HOST_RUNTIME;
    return CONTAINS_ANY(name, hands_over) ? IDS_HOST_DISPATCH : IDS_HOST_RUNTIME;
}

/* A region of the program in a file that does not mark them (jax.profiler.TraceAnnotation): names of XLA, TSL and PJRT have capitals,
 * colons, spaces or points. */
static int may_be_region(struct ids_text name) {
    if (!name.length || name.length > 64) return 0;
    int letters = 0;
    for (size_t i = 0; i < name.length; i++) {
        char c = name.at[i];
        if (c >= 'a' && c <= 'z')
            letters = 1;
        else if (!(c == '_' || c == '-' || c == '/' || (c >= '0' && c <= '9')))
            return 0;
    }
    return letters;
}

static enum ids_account account_of_name(struct ids_text name, int of_framework) {
    static const char *const waits[] = {"aten::item", "aten::_local_scalar_dense", "aten::is_nonzero"};
    static const char *const profilers[] = {"Activity Buffer Request", "Buffer Flush", "CUPTI overhead",
                                            "Instrumentation", "PyTorch Profiler"};
    if (is_device_call(name)) return account_of_device_call(name);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        if (ids_text_is(name, waits[i])) return IDS_HOST_SYNC;
    }
    for (size_t i = 0; i < sizeof profilers / sizeof *profilers; i++) {
        if (ids_text_begins(name, profilers[i])) return IDS_PROFILER;
    }
    /* torch.utils.data: "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__" */
    if (ids_text_contains(name, "DataLoader") && !ids_text_contains(name, "aten::")) return IDS_HOST_INPUT;
    if (!of_framework && may_be_region(name)) return IDS_HOST_REGION;
    return IDS_HOST_DISPATCH;
}

enum ids_account ids_account_of_host_event(enum ids_kind kind, struct ids_text name, int of_framework) {
    switch (kind) {
    case IDS_KIND_COMPILE:
    case IDS_KIND_LOWER:
    case IDS_KIND_TRACE:
    case IDS_KIND_AUTOTUNE:
    case IDS_KIND_CACHE_READ:
    case IDS_KIND_CACHE_WRITE:
        return IDS_HOST_COMPILE;
    case IDS_KIND_STAGING:
    case IDS_KIND_TRANSFER:
        return IDS_HOST_STAGING;
    case IDS_KIND_SYNC:
        return IDS_HOST_SYNC;
    case IDS_KIND_INPUT:
        return IDS_HOST_INPUT;
    case IDS_KIND_NAMED:
        return IDS_HOST_REGION;
    case IDS_KIND_PYTHON:
        return IDS_HOST_PYTHON;
    case IDS_KIND_DISPATCH:
    case IDS_KIND_EXECUTE:
        return IDS_HOST_DISPATCH;
    case IDS_KIND_CALL:
    case IDS_KIND_LAUNCH:
    case IDS_KIND_FLOW:
    case IDS_KIND_OTHER:
        return account_of_name(name, of_framework || kind != IDS_KIND_OTHER);
    default: /* step annotations, tasks of thread pools, ops and what they wait for, moments */
        return IDS_NO_ACCOUNT;
    }
}

/* What is less than what is around it does not show. */
static int rank(enum ids_account account) {
    switch (account) {
    case IDS_HOST_COMPILE:
    case IDS_PROFILER:
        return 4;
    case IDS_HOST_RUNTIME:
    case IDS_HOST_SYNC:
    case IDS_HOST_STAGING:
        return 3;
    case IDS_HOST_INPUT:
    case IDS_HOST_REGION:
        return 2;
    case IDS_HOST_DISPATCH:
    case IDS_HOST_PYTHON:
        return 1;
    default:
        return 0;
    }
}

int ids_account_holds(enum ids_account around, enum ids_account inside) {
    if (around == IDS_HOST_REGION && inside == IDS_HOST_DISPATCH) return 0;
    return rank(around) > rank(inside);
}
