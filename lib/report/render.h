/* render.h - a report as text, JSON or CSV.
 *
 * The renderers read values and the static definitions of the sections; they know no analyzer by name. They write to
 * the caller's FILE, whose errors the caller looks at, and fail only when memory runs out.
 */
#ifndef IDS_LIB_REPORT_RENDER_H
#define IDS_LIB_REPORT_RENDER_H

#include "lib/report/report.h"

#include <stdio.h>

/* What one analyzer says about itself; static data. cmd/ takes it over from the registry of analyzers, so that this
 * layer stays below them. */
struct ids_section {
    const char *name, *title;
    const struct ids_metric_def *metrics;
    int metric_count;
    const struct ids_table_def *const *tables;
    int table_count;
    const struct ids_headline *headlines;
    int headline_count;
};

/* What an id means that is neither a metric nor a table, but what rows of tables are about: an account. */
struct ids_topic {
    const char *title, *definition;
    const char *section;
    const char *const *figures; /* ids of its metrics, NULL behind the last */
    const char *const *tables;  /* whose first column it is, NULL behind the last */
};

/* What --explain says of the rows that a figure comes from. */
struct ids_explained {
    const char *sql;               /* a statement that can be copied */
    const char *command;           /* the command that runs it; NULL where it was run */
    int has_value;                 /* it was run */
    struct ids_value value;        /* what it gave, of the metric's unit */
    const struct ids_topic *topic; /* NULL: the id is a metric's or a table's */
};

struct ids_render {
    const struct ids_section *sections; /* all there are, in the order of the report */
    int section_count;
    const char *const *only; /* names of the sections to print; none: the whole report */
    size_t only_count;
    const char *table;       /* the only one of these to print, a hidden one too; NULL: all */
    const char *const *also; /* hidden tables that are printed like others, NULL behind the last; NULL: none */
    int64_t top;             /* rows of a table; 0: all */
    int full;                /* long names whole, no column left out */
    int width;               /* of the terminal */
    int colour;              /* 1: bold headings, coloured grades */
    int markdown;            /* ids_render_text and others write Markdown, without width and colours */
    const char *command;     /* what the next command begins with: "idsprof report runs/tad"; may be NULL */
    const struct ids_explained *explained; /* for ids_render_explain and its JSON; may be NULL */
};

int ids_render_text(const struct ids_report *report, const struct ids_render *render, FILE *out, struct ids_error *err);
int ids_render_json(const struct ids_report *report, const struct ids_render *render, FILE *out, struct ids_error *err);
/* Without sections the metrics, with sections their tables (the metrics of a section without tables), separated by an
 * empty line; RFC 4180 with a header line of ids. */
int ids_render_csv(const struct ids_report *report, const struct ids_render *render, FILE *out, struct ids_error *err);

/* What a metric or table means, by which rule it was found in this run, and where to read on. IDS_NOT_FOUND when
 * nothing is called so. */
int ids_render_explain(const struct ids_report *report, const struct ids_render *render, const char *id, FILE *out,
                       struct ids_error *err);
int ids_render_explain_json(const struct ids_report *report, const struct ids_render *render, const char *id, FILE *out,
                            struct ids_error *err);

/* 1 when the section is to be printed, by name (always when no sections were chosen). */
int ids_render_wants(const struct ids_render *render, const char *section);
/* 1 when a table of such a section is to be printed; `with_hidden`: where hidden ones are too. */
int ids_render_shows(const struct ids_render *render, const struct ids_table_def *def, int with_hidden);
/* A definition by id, NULL when there is none; *ret_section is whose it is. */
const struct ids_metric_def *ids_render_metric_def(const struct ids_render *render, const char *id,
                                                   const struct ids_section **ret_section);
const struct ids_table_def *ids_render_table_def(const struct ids_render *render, const char *id,
                                                 const struct ids_section **ret_section);
/* The heading of an explanation, of a metric, a table or an account; -1 when it is none of them. */
struct ids_heading {
    const char *title, *definition, *section;
};
int ids_render_heading(const struct ids_metric_def *metric, const struct ids_table_def *table,
                       const struct ids_topic *topic, const struct ids_section *section,
                       struct ids_heading *ret_heading);
/* Whether the value from rows equals the metric's. Real numbers may differ in the last digits, because sums may have
 * another order. */
int ids_render_agrees(const struct ids_value *metric, const struct ids_value *rows);

#endif
