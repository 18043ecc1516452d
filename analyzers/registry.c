/* registry.c - the list of analyzers, out of analyzers.def. */
#include "lib/analysis/analyzer.h"

#include <string.h>

#define IDS_ANALYZER(name) extern const struct ids_analyzer ids_##name##_analyzer;
#include "analyzers/analyzers.def"
#undef IDS_ANALYZER

const struct ids_analyzer *const ids_analyzers[] = {
#define IDS_ANALYZER(name) &ids_##name##_analyzer,
#include "analyzers/analyzers.def"
#undef IDS_ANALYZER
};
const int ids_analyzer_count = IDS_COUNT_OF(ids_analyzers);

const struct ids_analyzer *ids_analyzer_find(const char *name) {
    for (int i = 0; i < ids_analyzer_count; i++) {
        if (!strcmp(ids_analyzers[i]->name, name)) return ids_analyzers[i];
    }
    return NULL;
}

const struct ids_metric_def *ids_metric_def_find(const char *id, const struct ids_analyzer **ret_analyzer) {
    for (int i = 0; i < ids_analyzer_count; i++) {
        for (int m = 0; m < ids_analyzers[i]->metric_count; m++) {
            if (strcmp(ids_analyzers[i]->metrics[m].id, id) != 0) continue;
            if (ret_analyzer) *ret_analyzer = ids_analyzers[i];
            return &ids_analyzers[i]->metrics[m];
        }
    }
    return NULL;
}

const struct ids_table_def *ids_table_def_find(const char *id) {
    for (int i = 0; i < ids_analyzer_count; i++) {
        for (int t = 0; t < ids_analyzers[i]->table_count; t++) {
            if (!strcmp(ids_analyzers[i]->tables[t]->id, id)) return ids_analyzers[i]->tables[t];
        }
    }
    return NULL;
}
