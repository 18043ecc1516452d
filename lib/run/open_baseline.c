#include "lib/run/open_baseline.h"

#include "lib/analysis/analyzer.h"
#include "lib/run/format_names.h"

#include <stdlib.h>
#include <string.h>

int ids_open_baseline(const char *name, struct ids_baseline *ret_baseline, struct ids_open_side *ret_side,
                      struct ids_error *err) {
    *ret_side = (struct ids_open_side){0};
    int code = ids_baseline_load(name, ids_table_def_find, ret_baseline, err);
    if (code) return code;
    size_t count = ret_baseline->count;
    const struct ids_report **pointers = calloc(count, sizeof *pointers);
    for (size_t i = 0; i < count && pointers; i++) pointers[i] = &ret_baseline->reports[i];
    ret_side->path = ret_baseline->path;
    ret_side->pointers = pointers;
    ret_side->label = strdup(name);
    code = pointers && ret_side->label
               ? ids_side_init(&ret_side->side, ret_side->label, pointers, count, ids_format_lacks, err)
               : ids_no_memory(err);
    if (!code) return 0;
    ids_open_side_done(ret_side);
    ids_baseline_done(ret_baseline);
    return code;
}

int ids_open_sides_against(const char *name, struct ids_baseline *ret_baseline, struct ids_open_sides *sides,
                           struct ids_error *err) {
    if (sides->count == IDS_OPEN_SIDES_MOST) return ids_fail(err, IDS_LIMIT, "more than %d sides", IDS_OPEN_SIDES_MOST);
    struct ids_open_side *at = realloc(sides->at, (sides->count + 1) * sizeof *at);
    if (!at) return ids_no_memory(err);
    sides->at = at;
    int code = ids_open_baseline(name, ret_baseline, &at[sides->count], err);
    if (code) return code;
    const struct ids_open_side first = at[sides->count];
    if (!ret_baseline->event_count) {
        code = ids_fail(err, IDS_UNSUPPORTED,
                        "the baseline '%s' was saved before baselines held ledger and ops: save it again", name);
        ids_open_side_done(&at[sides->count]);
        ids_baseline_done(ret_baseline);
        return code;
    }
    memmove(at + 1, at, sides->count * sizeof *at);
    at[0] = first;
    sides->count++;
    return 0;
}
