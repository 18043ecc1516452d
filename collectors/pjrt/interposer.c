/* GetPjrtApi of libidsprof_pjrt.so: finds the plugin, copies its table, puts wrappers in. Nothing of this library
 * prints or ends the process.
 *
 * It leads to all other files, and they lead one way only: table and record know nobody, programs puts numbers to
 * programs, runs follows what is enqueued, describe asks the plugin, calls wraps; profiler and space stand beside them,
 * and session drives profiler, runs and space for the agent. */
#include "collectors/common/agent.h"
#include "collectors/pjrt/calls.h"
#include "collectors/pjrt/plugin.h"
#include "collectors/pjrt/profiler.h"
#include "collectors/pjrt/programs.h"
#include "collectors/pjrt/record.h"
#include "collectors/pjrt/runs.h"
#include "collectors/pjrt/session.h"
#include "collectors/pjrt/table.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_BYTES = 1 << 16, MAJOR = 0 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pjrt_table *wrapped; /* our table */
static char wrapped_path[IDS_PLUGIN_PATH];

/* A child of a fork has none of the plugin's threads. What it does with the plugin is its own affair; nothing of
 * ours is open. */
static void child_after_fork(void) {
    pthread_mutex_init(&lock, NULL);
    ids_programs_forget();
    ids_record_forget();
    ids_runs_forget();
    ids_session_forget();
}

static void say_plugin(const struct pjrt_table *real, const char *path) {
    char version[64];
    snprintf(version, sizeof version, "%d.%d%s", real->version.major, real->version.minor,
             ids_pjrt.profiler ? "" : ", without a profiler");
    ids_agent_say(ids_pjrt.handle, "plugin", path);
    ids_agent_say(ids_pjrt.handle, "pjrt", version);
}

static void begin_programs(void) {
    char pattern[256] = "", why[IDS_WHY_BYTES];
    if (ids_agent_plan("step_executable", pattern, sizeof pattern) < 0) pattern[0] = '\0';
    if (ids_programs_begin(pattern, why, sizeof why)) ids_agent_say(ids_pjrt.handle, "steps", why);
}

/* The plugin's table with our functions in it; the plugin's own where there is no capture or we do not know its ABI. */
static const struct pjrt_table *wrap(const struct pjrt_table *real, const char *path, int is_hooked) {
    char why[IDS_WHY_BYTES];
    size_t head = offsetof(struct pjrt_table, functions);
    if (wrapped || real->size < head || real->size > TABLE_BYTES || real->version.major != MAJOR) return real;
    struct pjrt_table *table = malloc(real->size);
    if (!table || ids_record_prepare()) {
        free(table);
        return real;
    }
    ids_pjrt.real = real;
    if (!ids_session_pjrt_register(is_hooked, why, sizeof why)) {
        free(table);
        return real;
    }
    memcpy(table, real, real->size);
    table->extensions = ids_profiler_wrap(real->extensions);
    for (int entry = 0; entry < PJRT_ENTRIES; entry++) {
        pjrt_function *wrapper = ids_pjrt_wrapper((enum pjrt_entry)entry);
        if (wrapper && ids_table_has(real, (enum pjrt_entry)entry)) table->functions[entry] = wrapper;
    }
    pthread_atfork(NULL, NULL, child_after_fork);
    begin_programs();
    say_plugin(real, path);
    snprintf(wrapped_path, sizeof wrapped_path, "%s", path);
    wrapped = table;
    return table;
}

/* What a program gets that asks for the plugin we stand for. */
__attribute__((visibility("default"))) const struct pjrt_table *GetPjrtApi(void);
const struct pjrt_table *GetPjrtApi(void) {
    char path[IDS_PLUGIN_PATH], why[1024];
    const struct pjrt_table *table = NULL;
    pthread_mutex_lock(&lock);
    if (!ids_plugin_find(path, why, sizeof why)) {
        int is_hooked = getenv("IDSPROF_PJRT_PLUGIN") != NULL;
        if (wrapped && !strcmp(path, wrapped_path)) {
            table = wrapped;
        } else {
            table = ids_plugin_load(path, why, sizeof why);
            if (table) table = wrap(table, path, is_hooked);
        }
    }
    pthread_mutex_unlock(&lock);
    return table ? table : ids_plugin_none(why);
}
