#include "lib/compare/cause.h"

#include "lib/compare/sums.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Of its standard error a change must be more than three times to count as one. */
enum { ERRORS = 3 };
#define STRUCTURE_COUNTS 1.5
#define CHANCE_COUNTS 0.1

const char *ids_cause_kind_name(enum ids_cause_kind kind) {
    static const char *const names[] = {"culprit", "op",   "scope",    "shapes", "dimension", "others",
                                        "even",    "host", "launches", "layers", "program",   "account"};
    return names[kind];
}

static int is_other(const char *a, const char *b) {
    return *a && *b && strcmp(a, b) != 0;
}

int ids_match_is_structural(const struct ids_match *match) {
    return is_other(match->a->shape, match->b->shape) || is_other(match->a->fingerprint, match->b->fingerprint) ||
           !ids_is_as_often(match->a->rate, match->b->rate);
}

int ids_cause_is_group(const struct ids_cause *cause) {
    return cause->kind == IDS_CAUSE_SCOPE || cause->kind == IDS_CAUSE_SHAPES || cause->kind == IDS_CAUSE_DIMENSION;
}

int ids_cause_is_structural(const struct ids_cause *cause) {
    if (ids_cause_is_group(cause) || cause->kind == IDS_CAUSE_PROGRAM) return 1;
    if (cause->hidden_ps > 0) return 1;
    if (cause->kind != IDS_CAUSE_OP) return 0;
    return cause->match ? ids_match_is_structural(cause->match) : cause->is_in_a != cause->is_in_b;
}

/* "data.py:12" */
static int is_of_program(const struct ids_cause *cause) {
    const char *colon = cause->culprit && cause->where ? strchr(cause->where, ':') : NULL;
    return colon && isdigit((unsigned char)colon[1]);
}

/* A function of the program in which one side alone has time, but for a hundredth. A wait for the device or for its
 * queue may come and go with what the machine does otherwise. */
#define OF_OTHER_SIDE 0.01

static int is_wait(const struct ids_cause *cause) {
    return !strcmp(cause->account, ids_account_id(IDS_HOST_SYNC)) ||
           !strcmp(cause->account, ids_account_id(IDS_DEVICE_QUEUE));
}

int ids_cause_has_come_or_gone(const struct ids_cause *cause) {
    int is_function = cause->kind == IDS_CAUSE_CULPRIT || cause->kind == IDS_CAUSE_LAUNCHES;
    return is_function && is_of_program(cause) && !is_wait(cause) && !cause->may_be_unseen &&
           fmin(cause->a_ps, cause->b_ps) <= OF_OTHER_SIDE * fmax(cause->a_ps, cause->b_ps);
}

int ids_cause_is_fact(const struct ids_cause *cause) {
    return ids_cause_is_structural(cause) || !strcmp(cause->account, ids_account_id(IDS_HOST_COMPILE));
}

static double error_of(const struct ids_cause *cause, int by_run) {
    return (by_run ? ERRORS : 1) * cause->interval.typical.error + cause->interval.noise;
}

double ids_cause_rank(const struct ids_cause *cause, int by_run) {
    double change = fabs(cause->change_ps), error = error_of(cause, by_run);
    if (cause->kind == IDS_CAUSE_OTHERS || cause->kind == IDS_CAUSE_HOST) return 0;
    /* That an op is gone is no chance, but how much time it had may be. */
    double sure = cause->interval.known && change != 0 ? change * change / (change * change + error * error) : 1;
    int counts_more = (ids_cause_is_structural(cause) && !cause->is_consequence) || ids_cause_has_come_or_gone(cause);
    double all = change * sure + cause->hidden_ps + cause->exposed_ps;
    return counts_more || cause->exposed_ps > 0 ? STRUCTURE_COUNTS * all : all;
}

int ids_cause_may_be_chance(const struct ids_cause *cause) {
    return cause->interval.known && !ids_interval_excludes_zero(&cause->interval) && !ids_cause_is_fact(cause) &&
           !ids_cause_has_come_or_gone(cause) && !(cause->exposed_ps > 0);
}

/* What may be chance counts a tenth: it stands behind what is sure and not much smaller. */
static double weight_of(const struct ids_cause *cause) {
    return ids_cause_may_be_chance(cause) ? CHANCE_COUNTS * cause->rank : cause->rank;
}

int ids_cause_order(const struct ids_cause *left, const struct ids_cause *right) {
    double l = fabs(left->change_ps), r = fabs(right->change_ps);
    double left_weight = weight_of(left), right_weight = weight_of(right);
    if (left_weight != right_weight) return left_weight < right_weight ? 1 : -1;
    if (l != r) return l < r ? 1 : -1;
    int order = strcmp(left->account, right->account);
    return order ? order : strcmp(left->culprit ? left->culprit : "", right->culprit ? right->culprit : "");
}

int ids_cause_is_beyond_chance(const struct ids_cause *cause, int by_run) {
    if (cause->kind == IDS_CAUSE_HOST) return 0;
    return ids_cause_is_structural(cause) || !cause->interval.known || fabs(cause->change_ps) > error_of(cause, by_run);
}
