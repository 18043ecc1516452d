/* What a figure means: its definition, the rule by which this run's value was found, and where to read on. */
#include "lib/base/counted.h"
#include "lib/report/painter.h"

#include <string.h>

enum { INDENT = 2, LABEL = 15 };

static void write_line(struct ids_painter *painter, const char *label, const char *text) {
    if (!*text) return;
    fprintf(painter->out, "  %-*s", LABEL - INDENT, label);
    ids_text_wrap(painter->out, text, LABEL, LABEL, ids_painter_width(painter));
}

/* From where the figure is good and from where bad, and which value was judged. */
static void write_grade(struct ids_painter *painter, const struct ids_metric *metric) {
    char text[IDS_THRESHOLD_ROOM];
    const struct ids_threshold *threshold = &metric->threshold;
    const struct ids_metric *judged = threshold->of ? ids_report_find(painter->report, threshold->of, NULL) : NULL;
    struct ids_phrase phrase = ids_phrase_begin();
    if (!judged) return;
    ids_phrase_add(&phrase, "%s: ", ids_grade_name(metric->grade));
    if (judged != metric) ids_phrase_add(&phrase, "%s is %s; ", judged->id, ids_painter_value(painter, judged->value));
    ids_phrase_add(&phrase, "%s", ids_threshold_format(threshold, text, sizeof text));
    write_line(painter, "graded", ids_phrase_end(painter, &phrase));
}

static void write_metric(struct ids_painter *painter, const struct ids_metric_def *def) {
    const struct ids_report *report = painter->report;
    const struct ids_metric *metric = ids_report_find(report, def->id, NULL);
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "%s", metric ? ids_painter_value(painter, metric->value) : "no data");
    if (metric && metric->grade) ids_phrase_add(&phrase, " (%s)", ids_grade_name(metric->grade));
    if (!metric || metric->value.missing) {
        ids_phrase_add(&phrase, ": %s", metric && metric->reason ? metric->reason : "not measured");
    }
    write_line(painter, "in this run", ids_phrase_end(painter, &phrase));
    for (size_t i = 0; i < report->metric_count; i++) {
        const struct ids_metric *at = &report->metrics[i];
        if (!at->device || strcmp(at->id, def->id) != 0) continue;
        ids_phrase_add(&phrase, "%s %s", ids_text_clean(&painter->arena, at->device),
                       ids_painter_value(painter, at->value));
        if (at->value.missing && at->reason) ids_phrase_add(&phrase, ": %s", at->reason);
        write_line(painter, "", ids_phrase_end(painter, &phrase));
    }
    if (metric) write_grade(painter, metric);
    if (metric && metric->rule) write_line(painter, "by rule", ids_text_clean(&painter->arena, metric->rule));
    if (def->better) {
        ids_phrase_add(&phrase, "%s is better", ids_better_name(def->better));
        write_line(painter, "direction", ids_phrase_end(painter, &phrase));
    }
}

/* Words of SQL, broken between them but in no literal, so that it can be copied. */
static void write_sql(struct ids_painter *painter, const char *sql) {
    int at = LABEL, width = ids_painter_width(painter), is_first = 1;
    fprintf(painter->out, "  %-*s", LABEL - INDENT, "SQL");
    while (*sql) {
        int length = 0, is_quoted = 0;
        for (; sql[length] && (is_quoted || sql[length] != ' '); length++) is_quoted ^= sql[length] == '\'';
        if (!is_first && at + 1 + length > width) {
            fputc('\n', painter->out);
            ids_spaces(painter->out, LABEL);
            at = LABEL;
        } else if (!is_first) {
            fputc(' ', painter->out);
            at++;
        }
        fwrite(sql, 1, (size_t)length, painter->out);
        at += length;
        sql += length;
        is_first = 0;
        while (*sql == ' ') sql++;
    }
    fputc('\n', painter->out);
}

static void write_rows(struct ids_painter *painter, const struct ids_metric_def *def) {
    const struct ids_explained *explained = painter->render->explained;
    struct ids_phrase phrase = ids_phrase_begin();
    if (!explained || !explained->sql) return;
    write_sql(painter, explained->sql);
    if (!def) return;
    if (explained->command) {
        write_line(painter, "from rows", explained->command);
    } else if (explained->has_value) {
        const struct ids_metric *metric = ids_report_find(painter->report, def->id, NULL);
        if (!metric || metric->value.missing) return; /* the rows that it would be made of are not there */
        ids_phrase_add(&phrase, "%s, %s", ids_painter_value(painter, explained->value),
                       ids_render_agrees(&metric->value, &explained->value)
                           ? "the same"
                           : "which is not the value above: a defect of idsprof");
        write_line(painter, "from rows", ids_phrase_end(painter, &phrase));
    }
}

static void write_columns(struct ids_painter *painter, const struct ids_table_def *def) {
    const struct ids_table *table = ids_report_find_table(painter->report, def->id);
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "%s", IDS_COUNTED(table ? table->row_count : 0, "row"));
    write_line(painter, "in this run", ids_phrase_end(painter, &phrase));
    for (int i = 0; i < def->column_count; i++) {
        const char *unit = ids_unit_name(def->columns[i].unit);
        ids_phrase_add(&phrase, "%s%s%s%s%s", i ? ", " : "", def->columns[i].id, unit ? " (" : "", unit ? unit : "",
                       unit ? ")" : "");
    }
    write_line(painter, "columns", ids_phrase_end(painter, &phrase));
}

static void write_topic_figures(struct ids_painter *painter, const struct ids_topic *topic) {
    struct ids_phrase phrase = ids_phrase_begin();
    for (const char *const *figure = topic->figures; *figure; figure++) {
        const struct ids_metric *metric = ids_report_find(painter->report, *figure, NULL);
        if (!metric || metric->value.missing) continue;
        ids_phrase_add(&phrase, "%s%s %s", phrase.out ? ", " : "", *figure, ids_painter_value(painter, metric->value));
    }
    if (!phrase.out) ids_phrase_add(&phrase, "no data");
    write_line(painter, "in this run", ids_phrase_end(painter, &phrase));
}

/* Of an account: which advice has a part of it together with others. */
static void write_joint_advice(struct ids_painter *painter, const char *account) {
    const struct ids_report *report = painter->report;
    for (size_t i = 0; i < report->advice_count; i++) {
        const struct ids_advice *advice = &report->advice[i];
        struct ids_phrase phrase = ids_phrase_begin();
        size_t own = 0;
        while (own < advice->part_count && strcmp(advice->parts[own].account, account) != 0) own++;
        if (own == advice->part_count) continue;
        ids_phrase_add(&phrase, "%zu of WHAT TO DO is one piece over several accounts:", i + 1);
        for (size_t p = 0; p < advice->part_count; p++)
            ids_phrase_add(&phrase, "%s %s %s", p ? "," : "", advice->parts[p].account,
                           ids_painter_value(painter, ids_real_value(IDS_UNIT_RATIO, advice->parts[p].share)));
        write_line(painter, "advice", ids_phrase_end(painter, &phrase));
    }
}

static void write_topic_tables(struct ids_painter *painter, const struct ids_topic *topic, const char *id) {
    for (const char *const *name = topic->tables; *name; name++) {
        const struct ids_table *table = ids_report_find_table(painter->report, *name);
        struct ids_table rows;
        if (!table) continue;
        if (ids_table_rows_of(table, id, &painter->arena, &rows))
            painter->out_of_memory = 1;
        else
            ids_painter_table(painter, &rows, painter->render->top, 1);
    }
}

int ids_render_explain(const struct ids_report *report, const struct ids_render *render, const char *id, FILE *out,
                       struct ids_error *err) {
    const struct ids_section *section = NULL;
    const struct ids_metric_def *metric = ids_render_metric_def(render, id, &section);
    const struct ids_table_def *table = metric ? NULL : ids_render_table_def(render, id, &section);
    const struct ids_topic *topic = !metric && !table && render->explained ? render->explained->topic : NULL;
    struct ids_heading heading;
    if (ids_render_heading(metric, table, topic, section, &heading))
        return ids_fail(err, IDS_NOT_FOUND, "no metric, table or account '%s'", id);
    struct ids_painter painter;
    ids_painter_init(&painter, report, render, out);
    fprintf(out, "%s%s%s · %s\n\n", painter.bold, id, painter.plain, heading.title);
    write_line(&painter, "definition", heading.definition);
    if (metric) write_metric(&painter, metric);
    if (table) write_columns(&painter, table);
    if (topic) write_topic_figures(&painter, topic);
    if (topic) write_joint_advice(&painter, id);
    write_rows(&painter, metric);
    struct ids_phrase phrase = ids_phrase_begin();
    if (render->command) {
        ids_phrase_add(&phrase, "%s --section %s%s", render->command, heading.section,
                       table && (table->flags & IDS_TABLE_HIDDEN) ? " --json" : "");
    } else {
        ids_phrase_add(&phrase, "section %s", heading.section);
    }
    write_line(&painter, "see", ids_phrase_end(&painter, &phrase));
    if (topic) write_topic_tables(&painter, topic, id);
    return ids_painter_done(&painter, err);
}
