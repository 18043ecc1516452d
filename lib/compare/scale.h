/* scale.h - methods on 1, 2, 4, 8 devices: how much faster each becomes, where the rest went, and why one is faster.
 *
 * A cell is one method on one number of devices, with all recordings of it. Down a column two methods are compared by
 * step, account, family and scope: their programs need not share anything. Along a row one method is compared with
 * itself. Strong scaling: the same work on more devices; ideally a step takes n0/n of the time of the first cell. Weak
 * scaling: work grows with the devices; ideally a step takes the same time. The loss is the step's time minus the ideal
 * time, and each account's loss is its time minus its own ideal. The accounts sum to the loss, because they sum to the
 * step.
 */
#ifndef IDS_LIB_COMPARE_SCALE_H
#define IDS_LIB_COMPARE_SCALE_H

#include "lib/compare/comparability.h"
#include "lib/compare/difference.h"

enum ids_scaling { IDS_SCALING_GUESS, IDS_SCALING_STRONG, IDS_SCALING_WEAK };

/* One recording. */
struct ids_scale_trace {
    const char *name, *path;
    const char *why; /* why it cannot be used; NULL: it can */
    const struct ids_report *report;
    double named, recorded; /* devices by its name, and in it; 0: not known */
};

/* The recordings of a cell; those of a method follow each other, fewest devices first. */
struct ids_scale_input {
    const char *method; /* "" where nothing tells methods apart */
    double devices;     /* 0: nothing tells */
    const struct ids_scale_trace *traces;
    size_t trace_count;
    struct ids_side *side; /* of the traces that can be used; NULL: none can */
};

struct ids_scale_cell {
    size_t method;
    double devices;
    const struct ids_scale_input *input; /* NULL: there is no recording */
    const struct ids_side *side;         /* NULL: no figure is known */
    double step_ps;
    struct ids_interval interval; /* of the mean step */
    double ideal_ps;
    double speedup, efficiency; /* against the method's first; efficiency 1 is ideal */
    double loss_ps;             /* step - ideal */
    double parts_ps[IDS_ACCOUNT_COUNT], lost_ps[IDS_ACCOUNT_COUNT]; /* by account: of a step; of the loss */
    struct ids_culprit culprits[IDS_ACCOUNT_COUNT];                 /* who lost most of it */
    double remainder_ps; /* of the loss, what the parts do not explain (rounding) */
    double exposed_ps;   /* of a step: only communication runs */
    double bytes;        /* the messages of a step and device; NAN: not recorded, as all below */
    double overlap;      /* of collective time, what runs beside compute */
    double balance;      /* mean work of a device ÷ most work */
    int against;         /* the cell of another method that it is compared with, its index; -1 none */
    double method_speedup;
};

struct ids_scale_method {
    const char *name;
    int first; /* the index of its first cell with figures; -1 none */
    enum ids_scaling scaling;
    const char *guessed_by; /* in words; NULL: it was given */
};

/* Why a cell's step differs from that of the first method. */
struct ids_scale_reason {
    const struct ids_scale_cell *cell, *against;
    struct ids_difference step;
    struct ids_parts parts; /* by account, the largest change first */
};

struct ids_scale {
    struct ids_scale_method *methods;
    size_t method_count;
    double *devices; /* fewest first */
    size_t device_count;
    struct ids_scale_cell *cells; /* device_count a method */
    const struct ids_scale_input *inputs;
    size_t input_count;
    struct ids_scale_reason *reasons;
    size_t reason_count;
    struct ids_remarks remarks;
    struct ids_report report;
};

/* `notes` are what names contradict. IDS_UNSUPPORTED when no two cells can be compared. The inputs must outlive the
 * comparison, and their sides are settled by it. */
int ids_scale_make(const struct ids_scale_input *inputs, size_t count, const char *const *notes, size_t note_count,
                   enum ids_scaling scaling, struct ids_scale *ret_scale, struct ids_error *err);
/* Whether any cell has time in that account. */
int ids_scale_has(const struct ids_scale *scale, int account);
/* In a word why a cell has no figures: "missing", "no steps"; NULL: it has. */
const char *ids_scale_cell_state(const struct ids_scale_cell *cell);
/* The same whole. */
const char *ids_scale_cell_why(const struct ids_scale_cell *cell);
void ids_scale_done(struct ids_scale *scale);

extern const struct ids_table_def *const ids_scale_tables[];
extern const int ids_scale_table_count;

/* scale_figures.c: the figures of a cell. scale_guess.c: strong or weak. scale_reasons.c: why methods differ.
 * scale_report.c: fills scale->report. For ids_scale_make; -1: memory ran out. */
int ids_scale_measure(struct ids_scale_cell *cell);
int ids_scale_guess(struct ids_scale *scale, struct ids_scale_method *method, enum ids_scaling given);
int ids_scale_reasons(struct ids_scale *scale, struct ids_error *err);
int ids_scale_report(struct ids_scale *scale, struct ids_error *err);

#endif
