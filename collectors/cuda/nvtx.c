#include "collectors/cuda/nvtx.h"

#include "collectors/common/agent.h"
#include "collectors/cuda/nvtx_steps.h"
#include "collectors/cuda/session.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* Of nvtxTypes.h; tests/cuda/private_abi.c holds these against it. */
enum { TABLE_CALLBACKS = 1, MODULE_CORE = 1, MODULE_DOMAINS = 5 };
enum { CORE_START_EX = 4, CORE_START = 5, CORE_END = 7, CORE_PUSH_EX = 8, CORE_PUSH = 9, CORE_POP = 11 };
enum {
    DOMAIN_START_EX = 2,
    DOMAIN_END = 3,
    DOMAIN_PUSH_EX = 4,
    DOMAIN_POP = 5,
    DOMAIN_REGISTER = 10,
    DOMAIN_CREATE = 12
};
enum { MESSAGE_TEXT = 1, MESSAGE_REGISTERED = 3 };
enum { NAME_MAX_BYTES = 256, RANGES = 64, STRINGS = 64, STEP_ANNOTATION = 1 };

typedef void generic(void);
typedef void (*function)(void);
struct callbacks {
    size_t size;
    int (*module)(uint32_t module, generic ****ret_table, unsigned *ret_size);
};

struct attributes { /* nvtxEventAttributes_t */
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    union {
        const char *text;
        const void *registered;
    } message;
};

/* What stood there before: CUPTI's, or NULL. All libraries of a program get the same functions from CUPTI. */
static struct {
    uint64_t (*start_ex)(const struct attributes *);
    uint64_t (*start)(const char *);
    void (*end)(uint64_t);
    int (*push_ex)(const struct attributes *);
    int (*push)(const char *);
    int (*pop)(void);
    uint64_t (*domain_start_ex)(void *, const struct attributes *);
    void (*domain_end)(void *, uint64_t);
    int (*domain_push_ex)(void *, const struct attributes *);
    int (*domain_pop)(void *);
    const void *(*domain_register)(void *, const char *);
    void *(*domain_create)(const char *);
} next;

static struct {
    pthread_mutex_t lock;
    char name[NAME_MAX_BYTES]; /* of the range that is the window */
    uint64_t open[RANGES];     /* ids of such ranges that NVTX started and did not end */
    size_t open_count;
    const void *strings[STRINGS]; /* registered ones that are its name */
    size_t string_count;
    uint64_t own_ids;
} range = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Pushed ranges of this thread: how many, and which of them are windows. */
static __thread struct {
    unsigned depth;
    uint64_t windows;
} pushed;

/* ---- which range it is ---- */

static int is_window(const char *name) {
    return name && *range.name && !strcmp(name, range.name);
}

static int is_window_string(const void *string) {
    int found = 0;
    pthread_mutex_lock(&range.lock);
    for (size_t i = 0; i < range.string_count; i++) found |= range.strings[i] == string;
    pthread_mutex_unlock(&range.lock);
    return found;
}

static int says_window(const struct attributes *attributes) {
    if (!attributes || attributes->size < sizeof *attributes) return 0;
    if (attributes->message_type == MESSAGE_TEXT) return is_window(attributes->message.text);
    return attributes->message_type == MESSAGE_REGISTERED && is_window_string(attributes->message.registered);
}

static void note_step(const struct attributes *attributes) {
    if (attributes && attributes->size >= sizeof *attributes && attributes->message_type == MESSAGE_TEXT)
        ids_nvtx_step_begins(attributes->message.text);
}

static void note_push(int window) {
    if (pushed.depth < 64)
        pushed.windows = (pushed.windows & ~(1ull << pushed.depth)) | (uint64_t)window << pushed.depth;
    pushed.depth++;
}

static int note_pop(void) {
    if (!pushed.depth) return 0;
    pushed.depth--;
    return pushed.depth < 64 && (pushed.windows >> pushed.depth & 1);
}

static uint64_t note_start(uint64_t id) {
    pthread_mutex_lock(&range.lock);
    if (!id) id = ++range.own_ids;
    if (range.open_count < RANGES) range.open[range.open_count++] = id;
    pthread_mutex_unlock(&range.lock);
    return id;
}

static int note_end(uint64_t id) {
    int found = 0;
    pthread_mutex_lock(&range.lock);
    for (size_t i = 0; i < range.open_count && !found; i++) {
        found = range.open[i] == id;
        if (found) range.open[i] = range.open[--range.open_count];
    }
    pthread_mutex_unlock(&range.lock);
    return found;
}

/* ---- around CUPTI's: a window opens before its range begins and closes behind its end, so that the range is in it
 * ---- */

static int push(const char *name) {
    int window = is_window(name);
    ids_nvtx_step_begins(name);
    if (window) ids_agent_range(range.name, 1);
    note_push(window);
    return next.push ? next.push(name) : (int)pushed.depth - 1;
}

static int push_ex(const struct attributes *attributes) {
    int window = says_window(attributes);
    note_step(attributes);
    if (window) ids_agent_range(range.name, 1);
    note_push(window);
    return next.push_ex ? next.push_ex(attributes) : (int)pushed.depth - 1;
}

static int pop(void) {
    int result = next.pop ? next.pop() : (int)pushed.depth - 1;
    if (note_pop()) ids_agent_range(range.name, 0);
    return result;
}

static uint64_t start(const char *name) {
    ids_nvtx_step_begins(name);
    if (!is_window(name)) return next.start ? next.start(name) : 0;
    ids_agent_range(range.name, 1);
    return note_start(next.start ? next.start(name) : 0);
}

static uint64_t start_ex(const struct attributes *attributes) {
    note_step(attributes);
    if (!says_window(attributes)) return next.start_ex ? next.start_ex(attributes) : 0;
    ids_agent_range(range.name, 1);
    return note_start(next.start_ex ? next.start_ex(attributes) : 0);
}

static void end(uint64_t id) {
    if (next.end) next.end(id);
    if (note_end(id)) ids_agent_range(range.name, 0);
}

static int domain_push_ex(void *domain, const struct attributes *attributes) {
    int window = says_window(attributes);
    if (window) ids_agent_range(range.name, 1);
    note_push(window);
    return next.domain_push_ex ? next.domain_push_ex(domain, attributes) : (int)pushed.depth - 1;
}

static int domain_pop(void *domain) {
    int result = next.domain_pop ? next.domain_pop(domain) : (int)pushed.depth - 1;
    if (note_pop()) ids_agent_range(range.name, 0);
    return result;
}

static uint64_t domain_start_ex(void *domain, const struct attributes *attributes) {
    if (!says_window(attributes)) return next.domain_start_ex ? next.domain_start_ex(domain, attributes) : 0;
    ids_agent_range(range.name, 1);
    return note_start(next.domain_start_ex ? next.domain_start_ex(domain, attributes) : 0);
}

static void domain_end(void *domain, uint64_t id) {
    if (next.domain_end) next.domain_end(domain, id);
    if (note_end(id)) ids_agent_range(range.name, 0);
}

static const void *domain_register(void *domain, const char *name) {
    const void *string = next.domain_register ? next.domain_register(domain, name) : NULL;
    if (!is_window(name)) return string;
    if (!string) string = range.name; /* a handle that nobody else gives out */
    if (is_window_string(string)) return string;
    pthread_mutex_lock(&range.lock);
    if (range.string_count < STRINGS) range.strings[range.string_count++] = string;
    pthread_mutex_unlock(&range.lock);
    return string;
}

/* XLA tells either NVTX what it launches for which instruction, where its domain is taken, or its own profiler, which
 * then puts it among the stats of each kernel (tsl/profiler/lib/scoped_annotation.h). So that domain is not taken: what
 * that profiler records would not say any more of which op a kernel is. */
static void *domain_create(const char *name) {
    if (name && !strcmp(name, "TSL")) return NULL;
    return next.domain_create ? next.domain_create(name) : NULL;
}

/* ---- putting them in ---- */

static const struct entry {
    uint32_t module, index;
    generic *ours;
    void *next; /* where to keep what stood there */
} entries[] = {
    {MODULE_CORE, CORE_PUSH, (generic *)push, &next.push},
    {MODULE_CORE, CORE_PUSH_EX, (generic *)push_ex, &next.push_ex},
    {MODULE_CORE, CORE_POP, (generic *)pop, &next.pop},
    {MODULE_CORE, CORE_START, (generic *)start, &next.start},
    {MODULE_CORE, CORE_START_EX, (generic *)start_ex, &next.start_ex},
    {MODULE_CORE, CORE_END, (generic *)end, &next.end},
    {MODULE_DOMAINS, DOMAIN_PUSH_EX, (generic *)domain_push_ex, &next.domain_push_ex},
    {MODULE_DOMAINS, DOMAIN_POP, (generic *)domain_pop, &next.domain_pop},
    {MODULE_DOMAINS, DOMAIN_START_EX, (generic *)domain_start_ex, &next.domain_start_ex},
    {MODULE_DOMAINS, DOMAIN_END, (generic *)domain_end, &next.domain_end},
    {MODULE_DOMAINS, DOMAIN_REGISTER, (generic *)domain_register, &next.domain_register},
    {MODULE_DOMAINS, DOMAIN_CREATE, (generic *)domain_create, &next.domain_create},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

/* Where each of the entries is in the library that asks; NULL where it has none. */
static void find_entries(ids_nvtx_table_getter get_table, generic **ret_places[ENTRIES]) {
    const struct callbacks *callbacks = get_table(TABLE_CALLBACKS);
    memset(ret_places, 0, ENTRIES * sizeof *ret_places);
    if (!callbacks || callbacks->size < sizeof *callbacks) return;
    for (size_t i = 0; i < ENTRIES; i++) {
        generic ***table = NULL;
        unsigned size = 0;
        if (callbacks->module(entries[i].module, &table, &size) && table && entries[i].index < size)
            ret_places[i] = table[entries[i].index];
    }
}

int ids_nvtx_attach(ids_nvtx_table_getter get_table) {
    int (*tool)(ids_nvtx_table_getter) = NULL;
    void *address = ids_cuda_symbol("InitializeInjectionNvtx2");
    generic **places[ENTRIES];
    function before[ENTRIES] = {0};
    char name[NAME_MAX_BYTES] = "";
    memcpy(&tool, &address, sizeof tool);
    find_entries(get_table, places);
    for (size_t i = 0; i < ENTRIES; i++) {
        if (places[i]) before[i] = *places[i];
    }
    int has_tool = tool && tool(get_table);
    const int hears_ranges = ids_agent_plan("range", name, sizeof name) > 0 || ids_agent_wants(STEP_ANNOTATION);
    if (!hears_ranges && !has_tool) return 0;
    pthread_mutex_lock(&range.lock);
    memcpy(range.name, name, sizeof name);
    for (size_t i = 0; i < ENTRIES; i++) {
        if (!places[i] || (!hears_ranges && entries[i].ours != (generic *)domain_create)) continue;
        /* What CUPTI left alone is NVTX's own starter, which calls what stands there: us. */
        generic *there = *places[i];
        if (has_tool && there != before[i] && there != entries[i].ours) memcpy(entries[i].next, &there, sizeof there);
        *places[i] = entries[i].ours;
    }
    pthread_mutex_unlock(&range.lock);
    return 1;
}
