/* report.h - what analyzers found: metrics, tables, advice. Values only; renderers alone format numbers.
 *
 * A report is filled by analyzers (or read back from a summary database) and then rendered as text, JSON or CSV,
 * compared, or stored. Order of insertion is kept and is the order of every rendering, so the same input gives the same
 * bytes. Texts given to a report are copied. Definitions (struct ids_metric_def, ids_table_def) are static data that
 * outlive it.
 */
#ifndef IDS_LIB_REPORT_REPORT_H
#define IDS_LIB_REPORT_REPORT_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/base/keymap.h"

#include <stdint.h>

/* What a value is, which decides how it is stored and shown. */
enum ids_unit {
    IDS_UNIT_NONE,   /* texts */
    IDS_UNIT_COUNT,  /* int64 */
    IDS_UNIT_TIME,   /* int64 picoseconds; seconds in JSON, exact */
    IDS_UNIT_BYTES,  /* int64 */
    IDS_UNIT_RATIO,  /* double 0..1 */
    IDS_UNIT_RATE,   /* double bytes per second */
    IDS_UNIT_NUMBER, /* double without a unit */
    IDS_UNIT_TRUTH,  /* 0 or 1; of comparisons only, never stored */
    IDS_UNIT_FLOPS,  /* double operations per second */
};

enum { IDS_UNITS = IDS_UNIT_FLOPS + 1 };

enum ids_better { IDS_BETTER_NEITHER, IDS_BETTER_LOWER, IDS_BETTER_HIGHER };
enum ids_grade { IDS_GRADE_NONE, IDS_GRADE_GOOD, IDS_GRADE_WARN, IDS_GRADE_BAD };

/* Static: one number that an analyzer gives. `id` is stable for scripts ("idle.total"). */
struct ids_metric_def {
    const char *id, *title;
    enum ids_unit unit;
    enum ids_better better;
    const char *definition; /* what it means and by which rule it is found, for --explain and the manual */
    /* One statement that gives the value over all devices out of a database of events: times in picoseconds, :run for
     * the run's number. */
    const char *sql;
};

enum ids_column_flags {
    IDS_COLUMN_LONG = 1,   /* a name that may be shortened in the middle on a terminal */
    IDS_COLUMN_DETAIL = 2, /* in JSON, CSV and the database, not in the text table */
    IDS_COLUMN_NAME = 4,   /* what a row is about: shown however narrow the terminal is; else the first long one */
    IDS_COLUMN_TELLS = 8,  /* of a detail: shown behind the name of rows that would look alike, before other details */
    IDS_COLUMN_SPARE = 16, /* left out of the text table where no row has a value */
    IDS_COLUMN_VERDICT = 32, /* of a text: what is found of the row, and no part of its name: rows that differ in it
                              * alone look alike */
};

struct ids_column_def {
    const char *id, *title;
    enum ids_unit unit;
    int flags;
};

/* Static: a table that an analyzer fills. `id` is its key in JSON ("ops") and its name in the database. */
struct ids_table_def {
    const char *id, *title;
    const struct ids_column_def *columns;
    int column_count;
    const char *definition; /* what a row is */
    int flags;              /* enum ids_table_flags */
};

enum ids_table_flags {
    IDS_TABLE_TOP = 1,    /* part of the default report, cut at --top */
    IDS_TABLE_HIDDEN = 2, /* stored and in --json --section, never in text */
    IDS_TABLE_WHOLE = 4,  /* never cut: its rows are few and sum to something */
    IDS_TABLE_TREE = 8,   /* a row stands behind the one that it is in, by its column `depth`: see tree.h */
};

struct ids_value {
    uint8_t unit;    /* enum ids_unit: TIME, COUNT, BYTES, TRUTH use i; NONE uses text; the others use d */
    uint8_t missing; /* 1: no data */
    union {
        int64_t i;
        double d;
        const char *text;
    };
};

/* Whether its values are real numbers. */
static inline int ids_unit_is_real(unsigned unit) {
    return unit == IDS_UNIT_RATIO || unit == IDS_UNIT_RATE || unit == IDS_UNIT_NUMBER || unit == IDS_UNIT_FLOPS;
}

/* For building rows. */
static inline struct ids_value ids_text_value(const char *text) {
    return (struct ids_value){.unit = IDS_UNIT_NONE, .missing = !text, .text = text};
}
static inline struct ids_value ids_int_value(enum ids_unit unit, int64_t i) {
    return (struct ids_value){.unit = (uint8_t)unit, .i = i};
}
static inline struct ids_value ids_real_value(enum ids_unit unit, double d) {
    return (struct ids_value){.unit = (uint8_t)unit, .d = d};
}
static inline struct ids_value ids_no_value(enum ids_unit unit) {
    return (struct ids_value){.unit = (uint8_t)unit, .missing = 1};
}
/* A number in SI units, for tables whose rows have units of their own; missing where not `known`, or not finite. */
struct ids_value ids_si_value(enum ids_unit unit, int known, double value);

/* From where a metric is good and from where bad. `of` is the figure that was judged, often the metric itself; NULL:
 * not graded. */
struct ids_threshold {
    const char *of;
    int higher; /* 1: good above `warn`, bad below `bad`; 0: the other way round */
    struct ids_value warn, bad;
};

/* A metric over all devices (device NULL) or of one. */
struct ids_metric {
    const char *id;     /* of its definition */
    const char *device; /* "<host>:<plane>", with "#<ordinal>" for CPU devices; NULL: over all devices */
    struct ids_value value;
    const char *reason; /* why there is no value; NULL where there is one */
    const char *rule;   /* by which rule it was found in this run, or NULL */
    enum ids_grade grade;
    struct ids_threshold threshold; /* behind the grade; not stored with it */
};

struct ids_table {
    const char *id;
    const struct ids_table_def *def; /* filled in by ids_report_table */
    struct ids_value *cells;         /* row_count * column_count, row by row */
    size_t row_count, row_room;
    int64_t rows_left_out; /* rows that the analyzer did not keep (a cap), 0 mostly */
};

/* A piece of a headline: `before`, the metric's value, `after` ("longest", idle.longest, ""); the renderer puts the
 * spaces between words. Left out when the metric is missing or zero (unless `always`). */
struct ids_note {
    const char *before, *metric, *after;
    const char *noun; /* of a count: what it counts, in the singular; instead of `after` */
    int always;
    double at_least; /* of ratios: left out below this, so that a line of causes stays short */
};

enum ids_headline_flags {
    IDS_HEADLINE_BY_DEVICE = 1,  /* also the metric's value for each device */
    IDS_HEADLINE_ONLY_KNOWN = 2, /* left out where the metric has no value */
};

/* One line of the overview: a metric, its grade, and what a person should know beside it. */
struct ids_headline {
    const char *section; /* the analyzer's name */
    const char *title;   /* "device utilization" */
    const char *metric;  /* id */
    const struct ids_note *notes;
    int note_count;
    int flags; /* enum ids_headline_flags */
};

/* What a saving has of one account. */
struct ids_advice_part {
    const char *account;
    double share; /* of the saving */
};
enum { IDS_ADVICE_PARTS = 6 };

struct ids_advice {
    /* By how much a step would become shorter (the window when there are no steps) if it were gone; -1 unknown.
     * Savings are disjoint. */
    int64_t saves_ps;
    int64_t chance_ps; /* of that, what may be chance; only the order depends on it */
    int64_t takes_ps;  /* where that is unknown: how long a step takes for it, 0 nothing; only for the order */
    int per_step;
    const char *account, *culprit, *where; /* of the ledger, with file:line, an op's path, what a rank did; NULL none */
    struct ids_advice_part parts[IDS_ADVICE_PARTS]; /* where it is of several accounts, the largest first */
    size_t part_count;                              /* 0: it is of `account` alone */
    const char *what;                               /* what was found and what to do */
    const char *evidence;                           /* the figures behind it */
    const char *explain;                            /* a metric id for the next command */
};

/* Of advice on the step that the window opened with, which has an account besides. */
#define IDS_OPENING_EXPLAIN "idle.longest"

struct ids_report_diag {
    int severity; /* as enum ids_severity of lib/model/sink.h: 0 note, 1 warning, 2 damage */
    const char *id, *text;
    int64_t offset; /* -1 none */
    uint64_t count;
};

/* A property of the run: "name", "hosts", "devices", "format", "jax_version", "window_rule", ... in JSON under
 * "run". */
struct ids_property {
    const char *id;
    struct ids_value value;
};

struct ids_report {
    struct ids_arena arena;
    int complete; /* 0: the input ended early */
    struct ids_property *properties;
    size_t property_count, property_room;
    struct ids_metric *metrics;
    size_t metric_count, metric_room;
    struct ids_keymap metric_places; /* the index of the first of an id and device, by the hash of both */
    struct ids_table *tables;        /* all room at once, so that a table stays where it is */
    size_t table_count;
    struct ids_advice *advice;
    size_t advice_count, advice_room;
    struct ids_report_diag *diags;
    size_t diag_count, diag_room;
    const struct ids_column_def *misfit; /* a column that was given a value of another unit: a fault of the program */
    int out_of_memory; /* sticky: the ids_report_* below set it and go on; ids_report_check turns it into an error */
    struct ids_metric scratch_metric; /* what callers write into when memory ran out */
    struct ids_table scratch_table;
};

enum { IDS_REPORT_TABLES = 128 }; /* analyzers define them, no input does: more is a mistake in the program */

void ids_report_init(struct ids_report *report);
void ids_report_done(struct ids_report *report);

/* The functions below never fail at the call, so that an analyzer shows only what it computes. The caller of the
 * analyzers calls ids_report_check at the end. */
int ids_report_check(const struct ids_report *report, struct ids_error *err);

/* Sets a property; one that is there already gets the new value and keeps its place. */
void ids_report_property(struct ids_report *report, const char *id, struct ids_value value);
/* Sets a metric's value, once per metric and device; returns it, so that grade and rule can be set before the next
 * metric is added (the array may move then). Never NULL (a scratch one when memory ran out). */
struct ids_metric *ids_report_metric(struct ids_report *report, const char *id, const char *device,
                                     struct ids_value value);
/* Says that a metric has no value and why ("the trace has no host plane"). */
void ids_report_no_data(struct ids_report *report, const char *id, enum ids_unit unit, const char *device,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Sets the rule by which a metric was found. */
void ids_report_rule(struct ids_report *report, struct ids_metric *metric, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Begins a table, or gives the one of that id. It stays where it is as long as the report lives. */
struct ids_table *ids_report_table(struct ids_report *report, const struct ids_table_def *def);
/* Appends a row; `cells` holds def->column_count values, whose texts are copied. */
void ids_report_row(struct ids_report *report, struct ids_table *table, const struct ids_value *cells);
/* Makes all rows of an empty table at once, for the caller to fill, with texts that live as long as the report. NULL
 * when memory ran out or there are none. */
struct ids_value *ids_report_rows(struct ids_report *report, struct ids_table *table, size_t rows);
/* The same of an array, beside the columns of the table's definition: a forgotten cell does not compile, and cells in
 * another order than the columns fail in ids_report_check, where their units differ. */
#define IDS_ROW(report, table, columns, cells)                                                                     \
    do {                                                                                                           \
        _Static_assert(sizeof(cells) / sizeof *(cells) == sizeof(columns) / sizeof *(columns), "a cell a column"); \
        ids_report_row((report), (table), (cells));                                                                \
    } while (0)
void ids_report_advice(struct ids_report *report, const struct ids_advice *advice);
/* Before the one that is there now; behind all where there are fewer. */
void ids_report_advice_at(struct ids_report *report, const struct ids_advice *advice, size_t place);
/* Orders by what it saves, or takes where that is unknown, the most first; of what neither is known keeps its place. */
void ids_report_advice_by_saving(struct ids_report *report);
void ids_report_diag(struct ids_report *report, int severity, const char *id, const char *text, int64_t offset,
                     uint64_t count);
/* A formatted text that lives as long as the report; "" when memory ran out. For advice and names only: never put a
 * formatted number into a cell. */
const char *ids_report_text(struct ids_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

const struct ids_metric *ids_report_find(const struct ids_report *report, const char *id, const char *device);
const struct ids_table *ids_report_find_table(const struct ids_report *report, const char *id);
/* The rows of a table whose first column is that text, as a table without that column, in the arena. 0, or -1 when
 * memory ran out. */
int ids_table_rows_of(const struct ids_table *table, const char *text, struct ids_arena *arena,
                      struct ids_table *ret_table);
/* The place of a column, -1 when the table (NULL: none) has no such one; and a cell. */
int ids_table_column(const struct ids_table *table, const char *id);
static inline const struct ids_value *ids_table_cell(const struct ids_table *table, size_t row, int column) {
    return &table->cells[row * (size_t)table->def->column_count + (size_t)column];
}
/* The text of a cell by its column's id; "" where the table has no such column or text. */
const char *ids_table_text(const struct ids_table *table, size_t row, const char *id);
/* The same where the column was looked up before, for many rows. Less than 0: there is none. */
const char *ids_table_text_at(const struct ids_table *table, size_t row, int column);
const struct ids_value *ids_report_find_property(const struct ids_report *report, const char *id);
/* What the ledger says of the input's end, when the report is not complete. */
const char *ids_report_why_incomplete(const struct ids_report *report);

/* How a value is written for a person: "71.3 %", "8.100 ms", "1.2 GB", "24.1 GB/s", "1,204", "no data". A share that is
 * not nothing or not all never looks as if it were: "<0.1 %", ">99.9 %". Used by the text renderer and in advice.
 * Returns `buffer`; IDS_VALUE_ROOM are enough for everything but texts, which are cut. */
char *ids_value_format(struct ids_value value, char *buffer, size_t size);
enum { IDS_VALUE_ROOM = 32 };

/* NaN where it is missing, or a text. */
double ids_value_number(struct ids_value value);
/* "s", "bytes", "ratio", ... as JSON and CSV call a unit; NULL for texts. Times are in seconds there. */
const char *ids_unit_name(enum ids_unit unit);
const char *ids_better_name(enum ids_better better); /* "higher", "lower", NULL */
const char *ids_grade_name(enum ids_grade grade);    /* "good", "warn", "bad", NULL */
/* "good above 80.0 %, bad below 50.0 %"; returns `buffer`. */
/* Whether any value is bad: of one that is better the higher it is, nothing lies below 0. */
int ids_threshold_has_bad(const struct ids_threshold *threshold);
char *ids_threshold_format(const struct ids_threshold *threshold, char *buffer, size_t size);
enum { IDS_THRESHOLD_ROOM = 96 };
const char *ids_severity_name(int severity); /* "note", "warning", "damage" */

#endif
