/* adviser.h - what rules of advice share: what is known of the run, and how they say it. The rules are in
 * advise_on.h. */
#ifndef IDS_ANALYZERS_ADVISER_H
#define IDS_ANALYZERS_ADVISER_H

#include "analyzers/launchers.h"
#include "analyzers/pieces.h"
#include "analyzers/remedies.h"
#include "analyzers/waste_advice.h"
#include "lib/analysis/balance.h"

/* A person does the first few; what is below a fiftieth of a step is not worth the change, unless there is nothing
 * else. */
enum { IDS_MOST_PIECES = 5, IDS_WORTH = 50 };
/* What advice must rest on. */
enum { IDS_LEAST_EVENTS = 20, IDS_LEAST_STEPS = 3 };

struct ids_adviser {
    const struct ids_analysis *analysis;
    struct ids_report *report;
    const struct ids_launchers *launchers;
    struct ids_pieces pieces;
    struct ids_balance balance;
    enum ids_framework framework;
    int is_compiled; /* by torch.compile */
    int has_ops;     /* of PyTorch, on the host */
    int trains;
    int launches_graphs;
    int has_python;
    int told_compute;     /* 1: compute is a piece, with the op that has most of it */
    int told_no_remedy;   /* 1: and nobody knows what to do about it */
    int told_little;      /* 1: of it, less may be won than a tenth of the step */
    int told_matrix;      /* 1: products beside the matrix units are said of it already */
    int told_loss;        /* 1: what could be won at the roofline is said of the first op already */
    unsigned told_memory; /* a bit for each saving of memory (memory_advice.h) that is said */
    size_t said;
    struct ids_waste_sum wastes[IDS_WASTE_SENTENCES];
};

/* Texts of the report. */
const char *ids_say_value(const struct ids_adviser *adviser, struct ids_value value);
const char *ids_say_time(const struct ids_adviser *adviser, int64_t time_ps);
const char *ids_say_share(const struct ids_adviser *adviser, int64_t part_ps, int64_t whole_ps);
const char *ids_say_metric(const struct ids_adviser *adviser, const char *id);
/* "step (train.py:12)"; where: NULL unknown. */
/* Of a long path of scopes its first one and the last ones: --explain has all of it. */
const char *ids_say_place(const struct ids_adviser *adviser, const char *where);
const char *ids_say_name(const struct ids_adviser *adviser, const char *name, const char *where);
/* ", train.py:12" of "train.py:12 step" and of "train.py:12, in float"; "" of NULL. */
const char *ids_say_line(struct ids_report *report, const char *where);

/* 0: the report has no value of it. */
int ids_adviser_has(const struct ids_adviser *adviser, const char *id, struct ids_value *ret_value);
double ids_adviser_ratio(const struct ids_adviser *adviser, const char *id); /* 0 without a value */
int64_t ids_adviser_compute(const struct ids_adviser *adviser); /* a step, of the deciding device, in no other piece */
int64_t ids_adviser_per_step(const struct ids_adviser *adviser, int64_t time_ps);
const char *ids_adviser_text(const struct ids_adviser *adviser, uint32_t text); /* of the ledger; NULL for 0 */
const char *ids_adviser_device(const struct ids_adviser *adviser, size_t busy);
/* Who comes late with it: the device, or its host. */
const char *ids_adviser_late(const struct ids_adviser *adviser, uint32_t busy);
uint64_t ids_adviser_events(const struct ids_trace *trace);
/* How many times as long a device, or who comes late with it, computes as the others in the mean, in all that counts;
 * 0: nobody knows. */
double ids_adviser_times_its_peers(const struct ids_adviser *adviser, uint32_t device);
/* The threads that are the devices of a CPU waited for a core in a fifth of the time or more. */
int ids_adviser_lacks_cores(const struct ids_adviser *adviser);
/* The deciding device computes, copies or exchanges for nine tenths of the time or more. */
/* What a share of pieces.time_ps is of. */
const char *ids_adviser_whole(const struct ids_adviser *adviser, const char *steps);
int ids_adviser_works_nearly_always(const struct ids_adviser *adviser);
/* The caller says the account, its time, and what only it knows; the run and the entry (NULL: none) tell the rest. */
/* Of what is launched and does not begin: how long each gap is, where there are many, short ones, and none stands out;
 * else 0. The device itself takes that long from one kernel to the next, and nothing is waited for. */
int64_t ids_adviser_gap(const struct ids_adviser *adviser);
struct ids_remedy ids_adviser_remedy(const struct ids_adviser *adviser, const struct ids_ledger_entry *entry,
                                     struct ids_circumstances about);
/* Of what comes in few steps: for how long the step that the window opened with, which is in no mean, left the deciding
 * device idle for the same; one of few more is a good part of it. 0: it does not come there, or for less than a quarter
 * of what the step with the most has. A lack of cores there may be what recording began with. */
int64_t ids_adviser_opening_has(const struct ids_adviser *adviser, const struct ids_piece *piece);
/* Of what the piece would save, what may be chance: all of what one step alone has, the one that the window opened with
 * too, and of what held the program up ids_recurs_by_chance. What the program does in several steps is no chance. */
int64_t ids_adviser_chance(const struct ids_adviser *adviser, const struct ids_piece *piece);
/* Of what only the first step does. */
int ids_is_warm_up(const struct ids_adviser *adviser, const struct ids_piece *piece);

void ids_adviser_give(struct ids_adviser *adviser, const struct ids_advice *advice);
/* What saves nothing that could be told; nothing where enough is said. */
void ids_adviser_remark(struct ids_adviser *adviser, const char *explain, const char *what, const char *evidence);
int ids_adviser_has_said(const struct ids_adviser *adviser, enum ids_account account);
/* The place of the advice from `from` on whose next command explains that; the count of all advice: there is none. */
size_t ids_adviser_place_of(const struct ids_adviser *adviser, const char *explain, size_t from);
/* Moves advice forward, before that at `to`. */
void ids_adviser_move(const struct ids_adviser *adviser, size_t from, size_t to);

#endif
