/* The profiler extension as the program sees it: sessions are exclusive, so one of the program's own ends ours first. */
#include "collectors/common/window.h"
#include "collectors/pjrt/interposer.h"

#include <stdio.h>
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

static void *create(void *arguments) {
    give_way();
    return ids_pjrt.profiler->create(arguments);
}

static void *start(void *arguments) {
    give_way();
    void *error = ids_pjrt.profiler->start(arguments);
    if (!error) atomic_fetch_add(&ids_pjrt.theirs, 1);
    return error;
}

/* The Python hook's sessions come this way as well: theirs ends when the last execution of the window is complete. */
static void *stop(void *arguments) {
    if (ids_agent_state() == IDS_CLOSING) ids_runs_wait();
    void *error = ids_pjrt.profiler->stop(arguments);
    int open = atomic_load(&ids_pjrt.theirs);
    while (open > 0 && !atomic_compare_exchange_weak(&ids_pjrt.theirs, &open, open - 1)) {
    }
    return error;
}

#define TABLE_HAS(source, field) PJRT_HAS(source, field) && (source)->field

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
    table.table.size = size;
    table.table.create = create;
    table.table.start = start;
    table.table.stop = stop;
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
