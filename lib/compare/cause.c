#include "lib/compare/cause.h"

#include "lib/compare/sums.h"

#include <math.h>
#include <string.h>

/* Of its standard error a change must be more than three times to count as one. */
enum { ERRORS = 3 };
#define STRUCTURE_COUNTS 1.5

const char *ids_cause_kind_name(enum ids_cause_kind kind) {
    static const char *const names[] = {"culprit", "op",   "scope", "shapes", "dimension",
                                        "others",  "even", "host",  "account"};
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
    if (ids_cause_is_group(cause)) return 1;
    if (cause->hidden_ps > 0) return 1;
    if (cause->kind != IDS_CAUSE_OP) return 0;
    return cause->match ? ids_match_is_structural(cause->match) : cause->is_in_a != cause->is_in_b;
}

static double error_of(const struct ids_cause *cause, int by_run) {
    return (by_run ? ERRORS : 1) * cause->interval.typical.error + cause->interval.noise;
}

double ids_cause_rank(const struct ids_cause *cause, int by_run) {
    double change = fabs(cause->change_ps), error = error_of(cause, by_run);
    if (cause->kind == IDS_CAUSE_OTHERS || cause->kind == IDS_CAUSE_HOST) return 0;
    /* That an op is gone is no chance, but how much time it had may be. */
    double sure = cause->interval.known && change != 0 ? change * change / (change * change + error * error) : 1;
    if (ids_cause_is_structural(cause)) return STRUCTURE_COUNTS * (change * sure + cause->hidden_ps);
    return change * sure;
}

int ids_cause_is_beyond_chance(const struct ids_cause *cause, int by_run) {
    if (cause->kind == IDS_CAUSE_HOST) return 0;
    return ids_cause_is_structural(cause) || !cause->interval.known || fabs(cause->change_ps) > error_of(cause, by_run);
}
