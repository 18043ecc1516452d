#include "lib/run/sections.h"

#include "lib/analysis/analyzer.h"
#include "lib/model/account.h"

enum { SECTIONS_MAX = 64 };

const struct ids_section *ids_sections(int *ret_count) {
    static struct ids_section sections[SECTIONS_MAX];
    int count = ids_analyzer_count < SECTIONS_MAX ? ids_analyzer_count : SECTIONS_MAX;
    for (int i = 0; i < count; i++) {
        const struct ids_analyzer *analyzer = ids_analyzers[i];
        sections[i] = (struct ids_section){
            .name = analyzer->name,
            .title = analyzer->title,
            .metrics = analyzer->metrics,
            .metric_count = analyzer->metric_count,
            .tables = analyzer->tables,
            .table_count = analyzer->table_count,
            .headlines = analyzer->headlines,
            .headline_count = analyzer->headline_count,
        };
    }
    *ret_count = count;
    return sections;
}

const char *ids_section_choice(int i) {
    return i < ids_analyzer_count ? ids_analyzers[i]->name : NULL;
}

const char *ids_metric_choice(int i) {
    for (int a = 0; a < ids_analyzer_count; a++) {
        if (i < ids_analyzers[a]->metric_count) return ids_analyzers[a]->metrics[i].id;
        i -= ids_analyzers[a]->metric_count;
    }
    return NULL;
}

const char *ids_explain_choice(int i) {
    for (int a = 0; a < ids_analyzer_count; a++) {
        const struct ids_analyzer *analyzer = ids_analyzers[a];
        if (i < analyzer->metric_count) return analyzer->metrics[i].id;
        i -= analyzer->metric_count;
        if (i < analyzer->table_count) return analyzer->tables[i]->id;
        i -= analyzer->table_count;
    }
    return i < IDS_ACCOUNT_COUNT ? ids_account_id((enum ids_account)i) : NULL;
}
