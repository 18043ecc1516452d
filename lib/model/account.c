#include "lib/model/account.h"

#include <string.h>

static const struct {
    const char *id, *steps_id, *idle_id, *title, *meaning;
} accounts[IDS_ACCOUNT_COUNT] = {
#define IDS_ACCOUNT(NAME, id, title, heading, meaning, of_idle) \
    [IDS_##NAME] = {id, "steps." id, "idle." id, title, meaning},
#define IDS_ACCOUNT_NEVER_IDLE(NAME, id, title, heading, meaning) \
    [IDS_##NAME] = {id, "steps." id, NULL, title, meaning},
#include "lib/model/account.def"
};

const char *ids_account_id(enum ids_account account) {
    return account < IDS_ACCOUNT_COUNT ? accounts[account].id : "";
}

const char *ids_account_steps_id(enum ids_account account) {
    return account < IDS_ACCOUNT_COUNT ? accounts[account].steps_id : NULL;
}

const char *ids_account_idle_id(enum ids_account account) {
    return account < IDS_ACCOUNT_COUNT ? accounts[account].idle_id : NULL;
}

const char *ids_account_title(enum ids_account account) {
    return account < IDS_ACCOUNT_COUNT ? accounts[account].title : "";
}

const char *ids_account_meaning(enum ids_account account) {
    return account < IDS_ACCOUNT_COUNT ? accounts[account].meaning : "";
}

/* In the order of account.def. */
static const char account_letters[] = "CTWHDNPSOX"
                                      "ciygrnpdu"
                                      "eqkf";
_Static_assert(sizeof account_letters == IDS_ACCOUNT_COUNT + 1, "a letter for each account");

char ids_account_letter(enum ids_account account) {
    return account < IDS_ACCOUNT_COUNT ? account_letters[account] : ' ';
}

enum ids_account ids_account_of_letter(char letter) {
    const char *at = letter ? strchr(account_letters, letter) : NULL;
    return at ? (enum ids_account)(at - account_letters) : IDS_NO_ACCOUNT;
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

int ids_is_device_call(struct ids_text name) {
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

/* What a call of the runtime does to the thread that makes it: it waits for the device, it hands work over and returns,
 * or it does something of its own (memory, modules, contexts, graphs). Names: CUDA runtime and driver API, HIP API. */
static enum ids_account account_of_device_call(struct ids_text name) {
    static const char *const waits[] = {"Synchronize", "MemcpyWithStream"};
    /* clang-format off */
    static const char *const hands_over[] = {"Launch", "Async", "Occupancy", "Get", "Set", "Peek", "Capturing",
                                             "EventRecord", "EventCreate", "EventQuery", "StreamWaitEvent",
                                             "StreamQuery", "PushCall", "PopCall", "Query"};
    /* clang-format on */
    static const char *const builds[] = {"Malloc",       "Free",          "MemAlloc", "MemFree",   "Module",
                                         "Library",      "Ctx",           "Graph",    "HostAlloc", "HostRegister",
                                         "StreamCreate", "StreamDestroy", "Init"};
    if (CONTAINS_ANY(name, waits)) return IDS_HOST_SYNC;
    if (ids_text_contains(name, "Memcpy") && !ids_text_contains(name, "Async")) return IDS_HOST_SYNC;
    if (ids_text_contains(name, "GraphLaunch")) return IDS_HOST_DISPATCH;
    if (CONTAINS_ANY(name, builds) && !ids_text_contains(name, "Launch") && !ids_text_contains(name, "Get") &&
        !ids_text_contains(name, "Async"))
        return IDS_HOST_RUNTIME;
    return CONTAINS_ANY(name, hands_over) ? IDS_HOST_DISPATCH : IDS_HOST_RUNTIME;
}

/* What XLA puts behind a point at the end of an op's name: "fusion.clone", "copy.remat". */
static int is_of_op(const char *part, size_t length) {
    static const char *const parts[] = {"clone", "remat", "cloned", "sunk", "part", "split"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strlen(parts[i]) == length && !memcmp(part, parts[i], length)) return 1;
    }
    return 0;
}

/* "Trainer.save_metrics", "data.load": names of Python with points between. Ops of XLA have a number there. */
static int is_dotted(struct ids_text name) {
    size_t parts = 0;
    for (size_t i = 0, begin = 0; i <= name.length; i++) {
        if (i < name.length && name.at[i] != '.') {
            char c = name.at[i];
            if (!is_upper(c) && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_') return 0;
            continue;
        }
        char first = begin < name.length ? name.at[begin] : '.';
        int is_small = first == '_' || (first >= 'a' && first <= 'z');
        if (!is_small && (parts || !is_upper(first))) return 0;
        if (parts && is_of_op(name.at + begin, i - begin)) return 0;
        parts++;
        begin = i + 1;
    }
    return parts > 1;
}

/* A region of the program in a file that does not mark them (jax.profiler.TraceAnnotation): names of XLA, TSL and PJRT
 * have capitals, colons, spaces or points. */
static int may_be_region(struct ids_text name) {
    if (!name.length || name.length > 64) return 0;
    if (ids_text_begins(name, "ExecuteReplicated.")) return 0; /* JAX's own: how it runs a program on its devices */
    if (is_dotted(name)) return 1;
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
    static const char *const profilers[] = {
        "Activity Buffer Request", "Buffer Flush",   "CUPTI overhead", "Instrumentation",
        "PyTorch Profiler",        "BUFFER_REQUEST", "BUFFER_FLUSH"};
    if (ids_is_device_call(name)) return account_of_device_call(name);
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
