/* The profiler extension as the program sees it: sessions are exclusive, so one of the program's own ends ours first;
 * and one that a plugin without clients refuses is none that ends the program. */
#include "collectors/pjrt/profiler.h"

#include "collectors/common/agent.h"
#include "collectors/common/window.h"
#include "collectors/pjrt/runs.h"
#include "collectors/pjrt/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXTENSION_BYTES = 256, TABLE_BYTES = 512 };

static union {
    struct pjrt_profiler_extension extension;
    char bytes[EXTENSION_BYTES];
} ours;
static union {
    struct pjrt_profiler_table table;
    char bytes[TABLE_BYTES];
} table;

static void give_way(void) {
    if (atomic_load(&ids_pjrt.ours)) {
        ids_agent_give_way(ids_pjrt.handle, "the program profiles itself: the window ended where it began to");
    }
}

/* No size is looked at in the arguments of these functions: jaxlib does not fill it in.
 *
 * jax.profiler asks every plugin that was loaded for a session, and does not outlive a refusal (jaxlib 0.10:
 * PluginTracer::Start without a profiler). So where a plugin without any client refuses one, the session is one of
 * nothing: it begins, ends, collects no byte. */
static char of_nothing;

static void *create(void *arguments) {
    struct pjrt_profiler_create *args = arguments;
    give_way();
    void *error = ids_pjrt.profiler->create(arguments);
    if (!error || atomic_load(&ids_pjrt.clients)) return error;
    char unwanted[8];
    ids_profiler_error(error, "", unwanted, sizeof unwanted);
    args->profiler = &of_nothing;
    return NULL;
}

static int is_of_nothing(const struct pjrt_profiler *args) {
    return args->profiler == &of_nothing;
}

static void *destroy(void *arguments) {
    return is_of_nothing(arguments) ? NULL : ids_pjrt.profiler->destroy(arguments);
}

static void *start(void *arguments) {
    if (is_of_nothing(arguments)) return NULL;
    give_way();
    void *error = ids_pjrt.profiler->start(arguments);
    if (!error) atomic_fetch_add(&ids_pjrt.theirs, 1);
    return error;
}

/* The Python hook's sessions come this way as well: theirs ends when the last execution of the window is complete. */
static void *stop(void *arguments) {
    if (is_of_nothing(arguments)) return NULL;
    if (ids_agent_state() == IDS_CLOSING) ids_runs_wait();
    void *error = ids_pjrt.profiler->stop(arguments);
    int open = atomic_load(&ids_pjrt.theirs);
    while (open > 0 && !atomic_compare_exchange_weak(&ids_pjrt.theirs, &open, open - 1)) {
    }
    return error;
}

static void *collect(void *arguments) {
    struct pjrt_profiler_collect *args = arguments;
    if (!is_of_nothing(arguments)) return ids_pjrt.profiler->collect(arguments);
    args->buffer_size = 0;
    return NULL;
}

#define TABLE_HAS(source, field) PJRT_HAS(source, field) && (source)->field

/* jaxlib takes a table of exactly the size it was built with, and of another one crashes in start_trace: of jaxlib
 * 0.10.2 that is 80 bytes, and libtpu 0.0.51 has 104. The Python hook says what its jaxlib wants; the table only
 * grows at its end. */
static size_t wanted_size(size_t size) {
    const char *wanted = getenv("IDSPROF_PJRT_PROFILER_BYTES");
    size_t bytes = 0;
    for (; wanted && *wanted >= '0' && *wanted <= '9' && bytes < TABLE_BYTES; wanted++)
        bytes = bytes * 10 + (size_t)(*wanted - '0');
    return bytes >= sizeof(struct pjrt_profiler_table) && bytes < size ? bytes : size;
}

struct pjrt_extension *ids_profiler_wrap(struct pjrt_extension *chain) {
    struct pjrt_extension *found = chain;
    for (int i = 0; found && found->type != PJRT_EXTENSION_PROFILER; i++) found = i < 1000 ? found->next : NULL;
    const struct pjrt_profiler_extension *theirs = (const void *)found;
    if (!found || found->size < offsetof(struct pjrt_profiler_extension, context) || !theirs->table) return chain;
    const struct pjrt_profiler_table *real = theirs->table;
    if (!(TABLE_HAS(real, collect)) || !real->create || !real->start || !real->stop || !real->destroy) return chain;
    ids_pjrt.profiler = real;
    size_t size = found->size < sizeof ours ? found->size : sizeof ours;
    memcpy(&ours, found, size);
    ours.extension.base.size = size;
    ours.extension.base.next = chain;
    ours.extension.table = &table.table;
    size = real->size < sizeof table ? real->size : sizeof table;
    memcpy(&table, real, size);
    table.table.size = wanted_size(size);
    table.table.create = create;
    table.table.destroy = destroy;
    table.table.start = start;
    table.table.stop = stop;
    table.table.collect = collect;
    return &ours.extension.base;
}

void ids_profiler_error(void *error, const char *what, char *why, size_t why_size) {
    struct pjrt_error_message message = {.size = sizeof message, .error = error};
    struct pjrt_error_destroy destroy = {.size = sizeof destroy, .error = error};
    if (ids_pjrt.profiler->error_message) ids_pjrt.profiler->error_message(&message);
    if (!message.message) message.message_size = 0;
    int length = (int)(message.message_size < why_size ? message.message_size : why_size);
    snprintf(why, why_size, "the plugin's profiler cannot %s: %.*s", what, length,
             message.message ? message.message : "");
    if (ids_pjrt.profiler->error_destroy) ids_pjrt.profiler->error_destroy(&destroy);
}
