/* The report for people: a line about the run, a line per headline, the top tables, what to do, and what is missing. */
#include "lib/base/counted.h"
#include "lib/report/markdown.h"
#include "lib/report/painter.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SEVERITY_NOTE = 0, DIAGS_SHOWN = 12, MANY_FIGURES = 20 };

/* ---- the first line ---- */

/* What the first line says of a run: a property or a metric each, with what stands around it. A property that is a text
 * ("2 × NVIDIA H100 80GB") says by itself what it counts. */
struct fact {
    const char *property, *metric, *before, *after, *noun;
};

static const struct fact facts[] = {
    {"part", NULL, "IN PART: ", "", NULL},
    {"excerpt", NULL, "", "", NULL},
    {"kept", NULL, "kept because ", "", NULL},
    {"kept_like", NULL, "", "", NULL},
    {"hosts", NULL, "", "", "host"},
    {"ranks", NULL, "", "", NULL},
    {"clocks", NULL, "", "", NULL},
    {"devices", NULL, "", "", "device"},
    {"jax_version", NULL, "jax ", "", NULL},
    {"steps", "steps.count", "", "", "step"},
    {"turn", NULL, "", "", NULL},
    {"recording", NULL, "", "", NULL},
    {"launches", NULL, "", "", NULL},
    {"history_late", NULL, "", "", NULL},
    {"waits", NULL, "", "", NULL},
    {NULL, "run.window", "window ", "", NULL},
    {"clock_held_back", NULL, "", "", NULL},
    {"ops_beside", NULL, "", "", NULL},
    {"beyond_window", NULL, "", "", NULL},
    {"python_recorded", NULL, "", "", NULL},
    {"graph_recording", NULL, "", "", NULL},
    {"earlier_work", NULL, "", "", NULL},
    {"some_earlier_work", NULL, "", "", NULL},
    {"graph_work", NULL, "", "", NULL},
    {"some_graph_work", NULL, "", "", NULL},
    {NULL, "coverage.attributed_share", "", " of device time attributed", NULL},
};

static const struct ids_value *fact_value(const struct ids_report *report, const struct fact *fact) {
    const struct ids_value *property = fact->property ? ids_report_find_property(report, fact->property) : NULL;
    if (property) return property;
    const struct ids_metric *metric = fact->metric ? ids_report_find(report, fact->metric, NULL) : NULL;
    return metric ? &metric->value : NULL;
}

static void add_fact(struct ids_phrase *phrase, struct ids_painter *painter, const struct fact *fact) {
    const struct ids_value *value = fact_value(painter->report, fact);
    if (!value || value->missing || (value->unit == IDS_UNIT_NONE && !*value->text)) return;
    int is_text = value->unit == IDS_UNIT_NONE;
    if (fact->noun && value->unit == IDS_UNIT_COUNT)
        ids_phrase_add(phrase, " · %s%s", fact->before, IDS_COUNTED(value->i, fact->noun));
    else
        ids_phrase_add(phrase, " · %s%s%s", fact->before, ids_painter_value(painter, *value),
                       is_text ? "" : fact->after);
}

void ids_painter_run(struct ids_painter *painter) {
    const struct ids_report *report = painter->report;
    const struct ids_value *name = ids_report_find_property(report, "name");
    const char *title = name ? ids_painter_value(painter, *name) : "run";
    struct ids_phrase phrase = ids_phrase_begin();
    size_t damages = 0;
    for (size_t i = 0; i < report->diag_count; i++)
        damages += !strcmp(ids_severity_name(report->diags[i].severity), "damage");
    if (!report->complete) ids_phrase_add(&phrase, " · INCOMPLETE: %s", ids_report_why_incomplete(report));
    if (!report->complete && damages > 1) ids_phrase_add(&phrase, " (and %zu more: see notes)", damages - 1);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) add_fact(&phrase, painter, &facts[i]);
    const char *rest = ids_phrase_end(painter, &phrase);
    while (*rest == ' ') rest++;
    if (painter->render->markdown) {
        fputs("### idsprof report: ", painter->out);
        ids_markdown_text(painter->out, &painter->arena, title);
        fputc('\n', painter->out);
        if (!strncmp(rest, "\xc2\xb7 ", 3)) rest += 3;
        ids_painter_more(painter, 2, rest);
        return;
    }
    fprintf(painter->out, "%s%s%s%s", painter->bold, title, painter->plain, *rest ? " " : "");
    ids_text_wrap(painter->out, rest, ids_text_columns(title) + 1, 2, ids_painter_width(painter));
    const struct ids_value *not_read = ids_report_find_property(report, "not_read");
    if (!not_read || not_read->missing) return;
    fputs("  not read: ", painter->out);
    ids_text_wrap(painter->out, ids_painter_value(painter, *not_read), 12, 2, ids_painter_width(painter));
}

/* ---- headlines ---- */

static int is_nothing(struct ids_value value) {
    if (value.missing) return 1;
    switch ((enum ids_unit)value.unit) {
    case IDS_UNIT_NONE:
        return !*value.text;
    case IDS_UNIT_COUNT:
    case IDS_UNIT_TIME:
    case IDS_UNIT_BYTES:
    case IDS_UNIT_TRUTH:
        return value.i == 0;
    default:
        return value.d == 0;
    }
}

static void add_note(struct ids_phrase *phrase, struct ids_painter *painter, const struct ids_note *note, int always) {
    const struct ids_metric *metric = note->metric ? ids_report_find(painter->report, note->metric, NULL) : NULL;
    if (!metric || (!always && is_nothing(metric->value))) return;
    if (metric->value.unit == IDS_UNIT_RATIO && metric->value.d < note->at_least) return;
    const char *before = note->before ? note->before : "", *after = note->after ? note->after : "";
    if (note->noun && metric->value.unit == IDS_UNIT_COUNT && !metric->value.missing) {
        ids_phrase_add(phrase, "%s%s%s", phrase->out ? ", " : "", before, IDS_COUNTED(metric->value.i, note->noun));
        return;
    }
    char last = *before ? before[strlen(before) - 1] : ' ';
    ids_phrase_add(phrase, "%s%s%s%s%s%s", phrase->out ? ", " : "", before, strchr(" (", last) ? "" : " ",
                   ids_painter_value(painter, metric->value), isalnum((unsigned char)*after) ? " " : "", after);
}

/* Whether the default report has a line for it. */
static int is_headline(const struct ids_render *render, const char *id) {
    for (int s = 0; s < render->section_count; s++) {
        for (int i = 0; i < render->sections[s].headline_count; i++) {
            if (!strcmp(render->sections[s].headlines[i].metric, id)) return 1;
        }
    }
    return 0;
}

static void add_devices(struct ids_phrase *phrase, struct ids_painter *painter, const char *id) {
    struct ids_phrase devices = ids_phrase_begin();
    ids_phrase_devices(&devices, painter, id);
    const char *each = ids_phrase_end(painter, &devices);
    if (*each) ids_phrase_add(phrase, "%s%s", phrase->out ? "; " : "", each);
}

/* A grade that rests on another figure contradicts the one beside it, unless that figure is told first. A section
 * has no headline: NULL. */
static void add_judged(struct ids_phrase *phrase, struct ids_painter *painter, const struct ids_headline *headline,
                       const struct ids_metric *metric) {
    const char *of = metric->threshold.of;
    const struct ids_metric *judged = of ? ids_report_find(painter->report, of, NULL) : NULL;
    if (metric->grade == IDS_GRADE_NONE || !judged || !strcmp(of, metric->id)) return;
    if (headline && is_headline(painter->render, of)) return;
    for (int i = 0; headline && i < headline->note_count; i++) {
        if (headline->notes[i].metric && !strcmp(headline->notes[i].metric, of)) return;
    }
    ids_phrase_add(phrase, "%sgraded by %s: %s", phrase->out ? ", " : "", of,
                   ids_painter_value(painter, judged->value));
}

/* The figure by which the metric is graded, if that is another one; NULL. */
static const char *judged_by(const struct ids_report *report, const char *id) {
    const struct ids_metric *metric = ids_report_find(report, id, NULL);
    const char *of = metric && metric->grade != IDS_GRADE_NONE ? metric->threshold.of : NULL;
    return of && strcmp(of, id) != 0 ? of : NULL;
}

/* What is graded by the figure by which the line above is, and says so, bears the grade of that one: beside a number
 * that is good by itself it would only contradict. */
static void leave_grade_above(struct ids_painter *painter, const char *above, const char *id,
                              struct ids_figure *figure) {
    const struct ids_report *report = painter->report;
    static const char told[] = "graded by ";
    const char *of = judged_by(report, id), *before = above ? judged_by(report, above) : NULL;
    if (!of || !before || strcmp(of, before) != 0 || strncmp(figure->notes, told, sizeof told - 1) != 0) return;
    const char *rest = strstr(figure->notes, ", ");
    figure->grade = IDS_GRADE_NONE;
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "of the window%s", rest ? rest : "");
    figure->notes = ids_phrase_end(painter, &phrase);
}

/* The share by which a share is graded, where nothing else tells it: the line has that one, and its own behind it,
 * because two of them in a row would contradict each other. NULL: it has its own. */
static const struct ids_metric *share_judged(const struct ids_painter *painter, const char *above,
                                             const struct ids_metric *metric) {
    const char *of = judged_by(painter->report, metric->id), *before = above ? judged_by(painter->report, above) : NULL;
    const struct ids_metric *judged = of ? ids_report_find(painter->report, of, NULL) : NULL;
    if (!judged || metric->value.missing || judged->value.missing || (before && !strcmp(of, before))) return NULL;
    int are_shares = metric->value.unit == IDS_UNIT_RATIO && judged->value.unit == IDS_UNIT_RATIO;
    return are_shares && !is_headline(painter->render, of) ? judged : NULL;
}

static struct ids_figure headline_figure(struct ids_painter *painter, const struct ids_headline *headline,
                                         const char *above) {
    const struct ids_metric *metric = ids_report_find(painter->report, headline->metric, NULL);
    struct ids_figure figure = {.title = headline->title, .value = "no data", .notes = "not measured", .is_text = 1};
    if (!metric) return figure;
    const struct ids_metric *judged = share_judged(painter, above, metric);
    figure.value = ids_painter_value(painter, judged ? judged->value : metric->value);
    figure.grade = metric->grade;
    figure.is_text = metric->value.missing || metric->value.unit == IDS_UNIT_NONE;
    struct ids_phrase phrase = ids_phrase_begin();
    if (judged)
        ids_phrase_add(&phrase, "%s; %s is %s", judged->id, metric->id, ids_painter_value(painter, metric->value));
    if (metric->value.missing && metric->reason) ids_phrase_add(&phrase, "%s", metric->reason);
    if (!judged) add_judged(&phrase, painter, headline, metric);
    if (!metric->value.missing && headline->flags & IDS_HEADLINE_BY_DEVICE) add_devices(&phrase, painter, metric->id);
    for (int i = 0; i < headline->note_count; i++) { /* beside "no data" only what there is */
        const struct ids_note *note = &headline->notes[i];
        add_note(&phrase, painter, note, note->always && !metric->value.missing);
    }
    figure.notes = ids_phrase_end(painter, &phrase);
    return figure;
}

static int is_shown(const struct ids_report *report, const struct ids_headline *headline) {
    if (!(headline->flags & IDS_HEADLINE_ONLY_KNOWN)) return 1;
    const struct ids_metric *metric = ids_report_find(report, headline->metric, NULL);
    return metric && !metric->value.missing;
}

/* One cause often leaves many figures without data: it is said once, and the lines below refer to it. */
static void shorten_reasons(struct ids_figure *figures, size_t count) {
    const char *above = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(figures[i].value, "no data") != 0) {
            above = NULL;
        } else if (above && *above && !strcmp(above, figures[i].notes)) {
            figures[i].notes = "as above";
        } else {
            above = figures[i].notes;
        }
    }
}

static void write_headlines(struct ids_painter *painter) {
    const struct ids_render *render = painter->render;
    size_t count = 0, room = 0;
    const char *above = NULL;
    for (int s = 0; s < render->section_count; s++) room += (size_t)render->sections[s].headline_count;
    struct ids_figure *figures = ids_arena_alloc(&painter->arena, (room + 1) * sizeof *figures);
    if (!figures) {
        painter->out_of_memory = 1;
        return;
    }
    for (int s = 0; s < render->section_count; s++) {
        const struct ids_section *section = &render->sections[s];
        for (int i = 0; i < section->headline_count; i++) {
            const struct ids_headline *headline = &section->headlines[i];
            if (!is_shown(painter->report, headline)) continue;
            figures[count] = headline_figure(painter, headline, above);
            leave_grade_above(painter, above, headline->metric, &figures[count++]);
            above = headline->metric;
        }
    }
    if (count) fputc('\n', painter->out);
    shorten_reasons(figures, count);
    ids_painter_figures(painter, figures, count);
}

/* ---- a section ---- */

static struct ids_figure metric_figure(struct ids_painter *painter, const struct ids_metric_def *def) {
    const struct ids_metric *metric = ids_report_find(painter->report, def->id, NULL);
    struct ids_figure figure = {.title = def->title, .value = "no data", .is_text = 1};
    struct ids_phrase phrase = ids_phrase_begin();
    if (metric) {
        figure.value = ids_painter_value(painter, metric->value);
        figure.grade = metric->grade;
        figure.is_text = metric->value.missing || metric->value.unit == IDS_UNIT_NONE;
    }
    if (!metric || metric->value.missing) {
        ids_phrase_add(&phrase, "%s", metric && metric->reason ? metric->reason : "not measured");
    }
    if (metric) add_judged(&phrase, painter, NULL, metric);
    add_devices(&phrase, painter, def->id);
    if (metric && metric->rule) ids_phrase_add(&phrase, "%sby rule: %s", phrase.out ? "; " : "", metric->rule);
    figure.notes = ids_phrase_end(painter, &phrase);
    return figure;
}

/* Of many figures those that are nothing would hide the others. */
static int is_zero(const struct ids_painter *painter, const struct ids_metric_def *def) {
    const struct ids_metric *metric = ids_report_find(painter->report, def->id, NULL);
    return metric && !metric->value.missing && is_nothing(metric->value);
}

/* A section that begins with what is called the same gets no heading of its own. */
static int begins_with_heading(const struct ids_painter *painter, const struct ids_section *section) {
    if (section->metric_count) return 0;
    for (int i = 0; i < section->table_count; i++) {
        const struct ids_table_def *def = section->tables[i];
        if (!ids_render_shows(painter->render, def, 0) || !ids_report_find_table(painter->report, def->id)) continue;
        return !strcasecmp(def->title, section->title);
    }
    return !strcmp(section->name, "advice") && painter->report->advice_count;
}

static void write_tables(struct ids_painter *painter, const struct ids_section *section) {
    for (int i = 0; i < section->table_count; i++) {
        const struct ids_table *table = ids_report_find_table(painter->report, section->tables[i]->id);
        if (table && ids_render_shows(painter->render, section->tables[i], 0))
            ids_painter_table(painter, table, painter->render->top, 1);
    }
}

static void write_section(struct ids_painter *painter, const struct ids_section *section) {
    if (!begins_with_heading(painter, section)) {
        ids_painter_heading(painter, section->title);
        painter->heading = section->title;
    }
    struct ids_figure *figures =
        ids_arena_alloc(&painter->arena, ((size_t)section->metric_count + 1) * sizeof *figures);
    if (!figures) {
        painter->out_of_memory = 1;
        return;
    }
    size_t count = 0;
    for (int i = 0; i < section->metric_count; i++) {
        if (section->metric_count <= MANY_FIGURES || !is_zero(painter, &section->metrics[i]))
            figures[count++] = metric_figure(painter, &section->metrics[i]);
    }
    shorten_reasons(figures, count);
    ids_painter_figures(painter, figures, count);
    if (count < (size_t)section->metric_count) {
        struct ids_phrase phrase = ids_phrase_begin();
        ids_phrase_add(&phrase, "and %zu that are 0, in --json", (size_t)section->metric_count - count);
        ids_painter_more(painter, 2, ids_phrase_end(painter, &phrase));
    }
    write_tables(painter, section);
    painter->heading = NULL;
}

/* Long tables stand open on a terminal, and folded in Markdown, where their title is the fold's. */
static void write_folded(struct ids_painter *painter, const struct ids_table *table) {
    ids_painter_fold(painter, table->def->title);
    if (painter->render->markdown) painter->heading = table->def->title;
    ids_painter_table(painter, table, painter->render->top, 0);
    painter->heading = NULL;
    ids_painter_unfold(painter);
}

static void write_top_tables(struct ids_painter *painter) {
    const struct ids_render *render = painter->render;
    for (int s = 0; s < render->section_count; s++) {
        for (int i = 0; i < render->sections[s].table_count; i++) {
            const struct ids_table_def *def = render->sections[s].tables[i];
            const struct ids_table *table = ids_report_find_table(painter->report, def->id);
            int is_whole = def->flags & IDS_TABLE_WHOLE;
            if (!(def->flags & IDS_TABLE_TOP) || !table || !table->row_count) continue;
            /* One row of a tree is all there is: "(no scope)", where no op says what it belongs to. */
            if (def->flags & IDS_TABLE_TREE && table->row_count == 1) continue;
            if (is_whole)
                ids_painter_table(painter, table, 0, 0);
            else
                write_folded(painter, table);
        }
    }
}

/* ---- what to do ---- */

/* A window that was kept for a slow step is like few others. */
static const char *per_what(const struct ids_report *report, const struct ids_advice *advice) {
    if (!advice->per_step) return " in the window";
    return ids_report_find_property(report, "kept") ? " a step of this window" : " a step";
}

static void write_advice(struct ids_painter *painter, const struct ids_advice *advice, size_t number) {
    char label[24];
    struct ids_phrase phrase = ids_phrase_begin();
    if (advice->saves_ps > 0) {
        const char *saves = ids_painter_value(painter, ids_int_value(IDS_UNIT_TIME, advice->saves_ps));
        ids_phrase_add(&phrase, "up to %s%s: ", saves, per_what(painter->report, advice));
    }
    ids_phrase_add(&phrase, "%s", advice->what ? advice->what : "");
    int at = 4 + snprintf(label, sizeof label, "%zu", number);
    ids_painter_item(painter, label, at, ids_phrase_end(painter, &phrase));
    if (advice->evidence && *advice->evidence)
        ids_painter_more(painter, at, ids_text_clean(&painter->arena, advice->evidence));
    if (advice->explain && *advice->explain && painter->render->command) {
        struct ids_phrase command = ids_phrase_begin();
        ids_phrase_add(&command, "%s --explain %s", painter->render->command, advice->explain);
        ids_painter_command(painter, at, ids_phrase_end(painter, &command));
    }
}

static void write_all_advice(struct ids_painter *painter) {
    const struct ids_report *report = painter->report;
    if (report->advice_count) ids_painter_heading(painter, "what to do");
    for (size_t i = 0; i < report->advice_count; i++) write_advice(painter, &report->advice[i], i + 1);
}

/* ---- what is missing ---- */

/* The text, with the count and the offset where it does not say them itself. */
static const char *diag_text(struct ids_painter *painter, const struct ids_report_diag *diag) {
    char number[24];
    struct ids_phrase phrase = ids_phrase_begin();
    ids_phrase_add(&phrase, "%s", diag->text);
    snprintf(number, sizeof number, "%" PRIu64, diag->count);
    if (diag->count > 1 && !strstr(diag->text, number)) {
        struct ids_value count = ids_int_value(IDS_UNIT_COUNT, (int64_t)diag->count);
        ids_phrase_add(&phrase, " (%s)", ids_painter_value(painter, count));
    }
    snprintf(number, sizeof number, "%" PRId64, diag->offset);
    if (diag->offset >= 0 && !strstr(diag->text, number)) ids_phrase_add(&phrase, " (offset %s)", number);
    return ids_phrase_end(painter, &phrase);
}

static void write_diags(struct ids_painter *painter, int least_severity) {
    const struct ids_report *report = painter->report;
    size_t wanted = 0, written = 0;
    for (size_t i = 0; i < report->diag_count; i++) wanted += report->diags[i].severity >= least_severity;
    if (!wanted) return;
    ids_painter_heading(painter, "notes");
    for (size_t i = 0; i < report->diag_count && written < DIAGS_SHOWN; i++) {
        const struct ids_report_diag *diag = &report->diags[i];
        if (diag->severity < least_severity) continue;
        written++;
        ids_painter_item(painter, ids_severity_name(diag->severity), 11, diag_text(painter, diag));
    }
    if (wanted > written) {
        struct ids_phrase phrase = ids_phrase_begin();
        ids_phrase_add(&phrase, "and %zu more in --json", wanted - written);
        ids_painter_more(painter, 2, ids_phrase_end(painter, &phrase));
    }
}

int ids_render_text(const struct ids_report *report, const struct ids_render *render, FILE *out,
                    struct ids_error *err) {
    struct ids_painter painter;
    ids_painter_init(&painter, report, render, out);
    ids_painter_run(&painter);
    if (!render->only_count) {
        write_headlines(&painter);
        write_top_tables(&painter);
        write_all_advice(&painter);
        write_diags(&painter, SEVERITY_NOTE + 1);
        return ids_painter_done(&painter, err);
    }
    for (int s = 0; s < render->section_count; s++) {
        const struct ids_section *section = &render->sections[s];
        if (!ids_render_wants(render, section->name)) continue;
        if (render->table) {
            write_tables(&painter, section);
            continue;
        }
        write_section(&painter, section);
        if (!strcmp(section->name, "advice")) write_all_advice(&painter);
        if (!strcmp(section->name, "overview")) write_diags(&painter, SEVERITY_NOTE);
    }
    return ids_painter_done(&painter, err);
}
