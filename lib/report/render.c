#include "lib/report/render.h"

#include <math.h>
#include <string.h>

int ids_render_wants(const struct ids_render *render, const char *section) {
    if (!render->only_count) return 1;
    for (size_t i = 0; i < render->only_count; i++) {
        if (!strcmp(render->only[i], section)) return 1;
    }
    return 0;
}

int ids_render_shows(const struct ids_render *render, const struct ids_table_def *def, int with_hidden) {
    if (render->table) return !strcmp(render->table, def->id);
    if (with_hidden || !(def->flags & IDS_TABLE_HIDDEN)) return 1;
    for (const char *const *id = render->also; id && *id; id++) {
        if (!strcmp(*id, def->id)) return 1;
    }
    return 0;
}

const struct ids_metric_def *ids_render_metric_def(const struct ids_render *render, const char *id,
                                                   const struct ids_section **ret_section) {
    for (int s = 0; s < render->section_count; s++) {
        const struct ids_section *section = &render->sections[s];
        for (int i = 0; i < section->metric_count; i++) {
            if (strcmp(section->metrics[i].id, id) != 0) continue;
            *ret_section = section;
            return &section->metrics[i];
        }
    }
    return NULL;
}

const struct ids_table_def *ids_render_table_def(const struct ids_render *render, const char *id,
                                                 const struct ids_section **ret_section) {
    for (int s = 0; s < render->section_count; s++) {
        const struct ids_section *section = &render->sections[s];
        for (int i = 0; i < section->table_count; i++) {
            if (strcmp(section->tables[i]->id, id) != 0) continue;
            *ret_section = section;
            return section->tables[i];
        }
    }
    return NULL;
}

int ids_render_agrees(const struct ids_value *metric, const struct ids_value *rows) {
    if (metric->missing || rows->missing) return metric->missing == rows->missing;
    if (metric->unit != rows->unit) return 0;
    switch (metric->unit) {
    case IDS_UNIT_NONE:
        return !strcmp(metric->text, rows->text);
    case IDS_UNIT_RATIO:
    case IDS_UNIT_RATE:
    case IDS_UNIT_NUMBER:
    case IDS_UNIT_FLOPS:
        return fabs(metric->d - rows->d) <= 1e-9 * fabs(metric->d);
    default:
        return metric->i == rows->i;
    }
}

int ids_render_heading(const struct ids_metric_def *metric, const struct ids_table_def *table,
                       const struct ids_topic *topic, const struct ids_section *section,
                       struct ids_heading *ret_heading) {
    *ret_heading = (struct ids_heading){NULL, NULL, section ? section->name : NULL};
    if (metric) {
        ret_heading->title = metric->title;
        ret_heading->definition = metric->definition;
    } else if (table) {
        ret_heading->title = table->title;
        ret_heading->definition = table->definition;
    } else if (topic) {
        *ret_heading = (struct ids_heading){topic->title, topic->definition, topic->section};
    } else {
        return -1;
    }
    return 0;
}
