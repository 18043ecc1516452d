#include "analyzers/runtime_calls.h"

#include "lib/base/saturate.h"
#include "lib/model/account.h"
#include "lib/model/graph_recordings.h"

#include <string.h>
#include <strings.h>

static int is_call_with(const char *name, const char *const *parts) {
    if (!ids_is_call_of_runtime(name)) return 0;
    for (; *parts; parts++) {
        if (strcasestr(name, *parts)) return 1;
    }
    return 0;
}

int ids_is_call_of_runtime(const char *name) {
    return name && ids_is_device_call((struct ids_text){name, (uint32_t)strlen(name)});
}

int ids_call_records_graph(const struct ids_circumstances *about) {
    return about->culprit &&
           ids_begins_graph_recording((struct ids_text){about->culprit, (uint32_t)strlen(about->culprit)});
}

double ids_graph_recording_share(const struct ids_analysis *analysis) {
    const struct ids_ledger *ledger = &analysis->ledger;
    int64_t window_ps = ids_windows_total(analysis), recording_ps = 0;
    for (size_t e = 0; e < ledger->entry_count; e++) {
        const struct ids_ledger_entry *entry = &ledger->entries[e];
        if (entry->account == IDS_HOST_RUNTIME &&
            ids_begins_graph_recording(ids_strings_text(&ledger->texts, entry->culprit)))
            ids_sum(&recording_ps, entry->in_window_ps);
    }
    return window_ps ? (double)recording_ps / (double)window_ps : 0;
}

/* Allocating with words that only an accelerator's allocator has. */
int ids_call_allocates(const struct ids_circumstances *about) {
    static const char *const names[] = {"alloc", "free", "mempool", "hostregister", "hostunregister", NULL};
    return about->platform == IDS_DEVICE_GPU && is_call_with(about->culprit, names);
}

/* Memory is taken and freed in milliseconds. */
static int allocates_long(const struct ids_circumstances *about) {
    const int64_t long_ps = 100000000000; /* 100 ms */
    return ids_call_allocates(about) && about->mean_ps >= long_ps;
}

/* The first call of the runtime makes the device's context, whatever it is for: frameworks call cudaFree(0). A device
 * that has done something has one. */
int ids_call_makes_context(const struct ids_circumstances *about) {
    return allocates_long(about) && about->is_at_start;
}

int ids_call_allocates_at_first(const struct ids_circumstances *about) {
    return allocates_long(about) && !about->is_at_start;
}

int ids_call_loads_code(const struct ids_circumstances *about) {
    static const char *const names[] = {"module", "library", "launch", "funcget", "fatbinary", NULL};
    return is_call_with(about->culprit, names);
}

int ids_call_makes_objects(const struct ids_circumstances *about) {
    static const char *const names[] = {"create", "instantiate", "destroy", "ctx", "init", "capture", NULL};
    return is_call_with(about->culprit, names);
}
