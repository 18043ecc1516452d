#include "lib/compare/slice.h"

#include "lib/compare/subject.h"
#include "lib/hlo/scope.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

int ids_is_slice(const struct ids_compare_options *options) {
    return options->scope || options->program;
}

const char *ids_slice_name(const struct ids_compare_options *options, struct ids_report *texts) {
    if (!options->scope || !options->program) return options->scope ? options->scope : options->program;
    return ids_report_text(texts, "%s in %s", options->scope, options->program);
}

static int is_in_slice(const struct ids_compare_options *options, const struct ids_item *item) {
    char scope[IDS_SCOPE_BYTES];
    if (options->program && strcmp(options->program, item->module) != 0 &&
        fnmatch(options->program, item->module, 0) != 0)
        return 0;
    if (!options->scope) return 1;
    ids_scope_of(item->op_name, scope);
    return ids_pattern_matches_scope(options->scope, scope);
}

void ids_slice_items(const struct ids_compare_options *options, struct ids_items *items) {
    size_t kept = 0;
    if (!ids_is_slice(options)) return;
    for (size_t i = 0; i < items->count; i++) {
        if (is_in_slice(options, &items->at[i]))
            items->at[kept++] = items->at[i];
        else
            free(items->at[i].values);
    }
    items->count = kept;
    items->without_ps = 0;
}
