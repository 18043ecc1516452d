#include "lib/compare/change_points.h"

#include "lib/compare/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OUT_OF_LINE 5 /* deviations, of a night that is no level */
#define OF_FEW 4.0
#define MOST_AUTOCORRELATION 0.9
/* -2 log(1 - √0.978), of places that are searched for (Hansen, 2000): a change that was only just sure enough to be
 * told is placed worse than that, and the range of all that are told shall hold 95 %. */
#define PLACE_RATIO 9.0
#define MIGHT_BE 0.05
/* Deviations from night to night, of a rise that no wandering takes: neighbours with r = 0.9 have three times that. */
#define RISEN 8
#define ROUNDING 1e-9
enum {
    AROUND = 2 * IDS_LEVEL_LEAST - 1,
    NEAR = 8,
    TWO_LEVELS = 2 * IDS_LEVEL_LEAST,
    FOUND_MOST = 2 * IDS_CHANGES_MOST
};
enum { AUTOCORRELATION_LEAST = 10, DRIFT_LEAST = 4 * IDS_LEVEL_LEAST };

/* What is looked at: the values without those that are out of line, with the place that each had. The noise of a time
 * grows with the time, so that levels have one deviation in logarithms, which are taken where all values have one. */
struct line {
    double *value, *at, *sum, *square; /* as given; as looked at, and sums of what is before a place */
    double *room;                      /* to sort in */
    size_t *place;
    size_t count;
    int is_log;
    double alarms;   /* false ones */
    double searched; /* places where a change was looked for, in all intervals */
};

struct split {
    size_t from, at, to; /* at: the first of the new level */
    double score;        /* how little it looks like chance; 0: none */
};

static int smaller(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(double *at, size_t count) {
    qsort(at, count, sizeof *at, smaller);
    return count % 2 ? at[count / 2] : (at[count / 2 - 1] + at[count / 2]) / 2;
}

/* ---- nights that are out of line ---- */

/* Of one value, from how neighbours differ: a change of level is one difference of many. Equal neighbours say nothing:
 * before its first night a layer takes no time, every night. Of a few differences it may come out far too small. */
static double deviation_of(const double *values, size_t from, size_t to, double *room) {
    size_t differ = 0;
    for (size_t i = from + 1; i < to; i++) {
        double difference = fabs(values[i] - values[i - 1]);
        if (difference > ROUNDING * fabs(values[i])) room[differ++] = difference;
    }
    return differ ? median(room, differ) / (0.6745 * sqrt(2)) * (1 + OF_FEW / (double)differ) : 0;
}

/* Each level has its own, and the first night of a level is like those behind it: the larger of both sides. */
static double deviation_around(const double *values, size_t count, size_t at, double *room) {
    size_t before = at < NEAR ? at : NEAR, behind = count - at - 1 < NEAR ? count - at - 1 : NEAR;
    if (before < NEAR) behind = at + NEAR + NEAR - before < count ? NEAR + NEAR - before : count - at - 1;
    if (behind < NEAR) before = at > NEAR + NEAR - behind ? NEAR + NEAR - behind : at;
    return fmax(deviation_of(values, at - before, at, room), deviation_of(values, at + 1, at + 1 + behind, room));
}

/* From most of the five around it, or at either end: three of them are a level, and one or two are out of line. */
static double out_of_line(const double *values, size_t count, size_t at) {
    double room[AROUND];
    size_t from = at < AROUND / 2 ? 0 : at - AROUND / 2;
    if (from + AROUND > count) from = count - AROUND;
    memcpy(room, values + from, sizeof room);
    return fabs(values[at] - median(room, AROUND));
}

static void find_singles(const double *values, size_t count, double *room, char *single) {
    if (count < TWO_LEVELS) return;
    double deviation = deviation_of(values, 0, count, room);
    for (size_t i = 0; i < count; i++) {
        double near = deviation_around(values, count, i, room);
        single[i] = out_of_line(values, count, i) > OUT_OF_LINE * (near > 0 ? near : deviation);
    }
}

/* ---- splits ---- */

static double squares(const struct line *line, size_t from, size_t to) {
    double sum = line->sum[to] - line->sum[from], n = (double)(to - from);
    return fmax(0, line->square[to] - line->square[from] - sum * sum / n);
}

static double mean(const struct line *line, size_t from, size_t to) {
    return (line->sum[to] - line->sum[from]) / (double)(to - from);
}

/* How much longer the error is because neighbours are alike, out of the sums of their deviations: of each with itself
 * and with the next. Of a few values the correlation comes out too small, by (1 + 4 r) / n in the mean (Kendall). */
static double inflation_of(double own, double next, double n) {
    double r = own > 0 ? next / own : 0;
    r = fmin(fmax(r + (1 + 4 * r) / n, 0), MOST_AUTOCORRELATION);
    return sqrt((1 + r) / (1 - r));
}

static double inflation(const struct line *line, size_t from, size_t at, size_t to) {
    double own = 0, next = 0, before = 0, left = mean(line, from, at), right = mean(line, at, to);
    if (to - from < AUTOCORRELATION_LEAST) return 1;
    for (size_t i = from; i < to; i++) {
        double value = line->at[i] - (i < at ? left : right);
        own += value * value;
        next += value * before;
        before = value;
    }
    return inflation_of(own, next, (double)(to - from));
}

/* Sums of squares of equal numbers are nothing but rounding. */
static double rounding(const struct line *line, size_t from, size_t to) {
    return 1e-12 * fabs(line->square[to] - line->square[from]);
}

static double error_of(const struct line *line, size_t from, size_t at, size_t to) {
    double within = squares(line, from, at) + squares(line, at, to), n = (double)(to - from);
    if (within <= rounding(line, from, to)) return 0;
    double share = 1 / (double)(at - from) + 1 / (double)(to - at);
    return sqrt(within / (n - 2) * share);
}

/* Grows as the probability of so large a t falls, whatever the degrees of freedom: the exponent of its density. */
static double score_of(const struct line *line, size_t from, size_t at, size_t to) {
    double difference = fabs(mean(line, at, to) - mean(line, from, at)), error = error_of(line, from, at, to);
    double df = (double)(to - from) - 2;
    if (difference * difference <= rounding(line, from, to)) return 0;
    if (!(error > 0)) return 1e9 + df;
    double t = difference / error;
    return (df + 1) / 2 * log1p(t * t / df);
}

/* How probable it is that chance alone makes the difference, at any of the places. */
static double probability(const struct line *line, size_t from, size_t at, size_t to) {
    double error = error_of(line, from, at, to) * inflation(line, from, at, to);
    double difference = mean(line, at, to) - mean(line, from, at);
    if (difference * difference <= rounding(line, from, to)) return 1;
    const struct ids_interval interval = ids_interval_by_error(difference, error, (double)(to - from) - 2, 0);
    return ids_interval_p(&interval) * line->searched;
}

static struct split best_of(const struct line *line, size_t from, size_t to, struct split best, double *looked) {
    for (size_t at = from + IDS_LEVEL_LEAST; at + IDS_LEVEL_LEAST <= to; at++) {
        double score = score_of(line, from, at, to);
        if (looked) ++*looked;
        if (score > best.score) best = (struct split){from, at, to, score};
    }
    return best;
}

/* The surest of all intervals, each half as long as those before and half over its neighbour. With `looked` nothing but
 * the number of places is asked. */
static struct split surest(const struct line *line, size_t from, size_t to, double *looked) {
    struct split best = {0};
    size_t span = to - from;
    for (size_t length = span; length >= TWO_LEVELS; length = (size_t)((double)length / sqrt(2))) {
        size_t intervals = length == span ? 1 : 2 * ((span + length - 1) / length) - 1;
        for (size_t i = 0; i < intervals; i++) {
            size_t begin = from + (intervals > 1 ? i * (span - length) / (intervals - 1) : 0);
            best = best_of(line, begin, begin + length, best, looked);
        }
    }
    return best;
}

/* Where the level changes within from..to, into `found` in order. */
static size_t split(const struct line *line, size_t from, size_t to, size_t *found, size_t room) {
    struct split best = to - from >= TWO_LEVELS ? surest(line, from, to, NULL) : (struct split){0};
    if (!best.at || !room) return 0;
    /* Whether it holds is asked of the levels, when all are known: here it is enough that it might. */
    if (probability(line, best.from, best.at, best.to) > MIGHT_BE * line->searched) return 0;
    size_t count = split(line, from, best.at, found, room);
    if (count < room) found[count++] = best.at;
    return count + split(line, best.at, to, found + count, room - count);
}

/* Three of either side are closer to their own level than to the other: two bad nights and a good one are no level. */
static int are_levels(const struct line *line, size_t from, size_t at, size_t to) {
    double before = mean(line, from, at), after = mean(line, at, to), middle = (before + after) / 2;
    size_t left = 0, right = 0;
    for (size_t i = from; i < at; i++) left += (line->at[i] > middle) == (before > middle);
    for (size_t i = at; i < to; i++) right += (line->at[i] > middle) == (after > middle);
    return left >= IDS_LEVEL_LEAST && right >= IDS_LEVEL_LEAST;
}

/* Takes away, the least sure first, what chance may be: then its neighbours have more to stand on. */
static size_t keep_sure(const struct line *line, size_t *found, size_t count) {
    while (count) {
        size_t worst = 0;
        double most = -1;
        for (size_t i = 0; i < count; i++) {
            size_t from = i ? found[i - 1] : 0, to = i + 1 < count ? found[i + 1] : line->count;
            double p = are_levels(line, from, found[i], to) ? probability(line, from, found[i], to) : INFINITY;
            if (p <= most) continue;
            worst = i;
            most = p;
        }
        if (most < line->alarms) break;
        memmove(found + worst, found + worst + 1, (count - worst - 1) * sizeof *found);
        count--;
    }
    return count;
}

/* Between its neighbours the place that fits best. */
static void settle(const struct line *line, size_t *found, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t from = i ? found[i - 1] : 0, to = i + 1 < count ? found[i + 1] : line->count;
        double least = INFINITY;
        for (size_t at = from + IDS_LEVEL_LEAST; at + IDS_LEVEL_LEAST <= to; at++) {
            double within = squares(line, from, at) + squares(line, at, to);
            if (within < least) found[i] = at;
            least = fmin(least, within);
        }
    }
}

/* Where else it may have begun: all places at which twice the logarithm of the likelihood is at most PLACE_RATIO less
 * than at the best. What is out of line just before may belong to the new level as well. */
static void place_range(const struct line *line, size_t from, size_t at, size_t to, struct ids_change *change) {
    double n = (double)(to - from), longer = inflation(line, from, at, to);
    double within = squares(line, from, at) + squares(line, at, to);
    double bound = within * exp(PLACE_RATIO * longer * longer / (n - 2)) + rounding(line, from, to);
    size_t first = at, last = at;
    for (size_t i = from + 1; i < to; i++) {
        if (squares(line, from, i) + squares(line, i, to) > bound) continue;
        if (i < first) first = i;
        if (i > last) last = i;
    }
    change->first = line->place[first - 1] + 1;
    change->last = line->place[last];
}

static double mean_value(const struct line *line, size_t from, size_t to) {
    double sum = 0;
    for (size_t i = from; i < to; i++) sum += line->value[i] - line->value[from];
    return line->value[from] + sum / (double)(to - from);
}

/* A bound of the difference of logarithms as one of the values. */
static double as_value(const struct line *line, const struct ids_change *change, double difference, double bound) {
    double share = line->is_log ? expm1(bound) / expm1(difference) : bound / difference;
    return share * (change->after - change->before);
}

static void describe(const struct line *line, const size_t *found, size_t count, size_t i, struct ids_change *change) {
    size_t from = i ? found[i - 1] : 0, to = i + 1 < count ? found[i + 1] : line->count, at = found[i];
    double n = (double)(to - from);
    double error = error_of(line, from, at, to) * inflation(line, from, at, to);
    *change = (struct ids_change){
        .at = line->place[at], .before = mean_value(line, from, at), .after = mean_value(line, at, to)};
    place_range(line, from, at, to, change);
    double difference = mean(line, at, to) - mean(line, from, at);
    const struct ids_interval interval = ids_interval_by_error(difference, error, n - 2, 1 - line->alarms);
    double low = as_value(line, change, difference, interval.mean.low);
    double high = as_value(line, change, difference, interval.mean.high);
    change->low = fmin(low, high);
    change->high = fmax(low, high);
}

/* ---- drift ---- */

/* Schwarz's criterion: less is better. */
static double criterion(const struct line *line, double within, double parameters) {
    double n = (double)line->count;
    return n * log(fmax(within, rounding(line, 0, line->count) + 1e-300) / n) + parameters * log(n);
}

struct straight {
    double centre, middle; /* it goes through both */
    double slope, xx;
    double left, inflation; /* squares of what it leaves, and how much longer its error is */
};

static double at_place(const struct straight *fit, const struct line *line, size_t i) {
    return fit->middle + fit->slope * ((double)line->place[i] - fit->centre);
}

/* Of the values themselves: what grows evenly is not straight in logarithms. */
static struct straight straight_of(const struct line *line) {
    struct straight fit = {.middle = mean_value(line, 0, line->count)};
    double n = (double)line->count, xy = 0, own = 0, next = 0, before = 0;
    for (size_t i = 0; i < line->count; i++) fit.centre += (double)line->place[i] / n;
    for (size_t i = 0; i < line->count; i++) {
        double x = (double)line->place[i] - fit.centre;
        fit.xx += x * x;
        xy += x * (line->value[i] - fit.middle);
    }
    fit.slope = fit.xx > 0 ? xy / fit.xx : 0;
    for (size_t i = 0; i < line->count; i++) {
        double value = line->value[i] - at_place(&fit, line, i);
        own += value * value;
        next += value * before;
        before = value;
    }
    fit.left = own;
    fit.inflation = inflation_of(own, next, n);
    return fit;
}

/* The same in what is looked at, as levels are held against it; INFINITY where the line leaves what has logarithms. */
static double left_by(const struct straight *fit, const struct line *line) {
    double left = 0;
    for (size_t i = 0; i < line->count; i++) {
        double fitted = at_place(fit, line, i);
        if (line->is_log && !(fitted > 0)) return INFINITY;
        double value = line->is_log ? log(line->value[i] / fitted) : line->value[i] - fitted;
        left += value * value;
    }
    return left;
}

/* Whether a straight line fits better than the levels, and is none by chance. */
static int drifts(const struct line *line, const size_t *found, size_t count, struct ids_changes *changes) {
    double levels = 0, n = (double)line->count;
    if (line->count < DRIFT_LEAST) return 0;
    for (size_t i = 0; i <= count; i++)
        levels += squares(line, i ? found[i - 1] : 0, i < count ? found[i] : line->count);
    const struct straight fit = straight_of(line);
    if (criterion(line, left_by(&fit, line), 2) >= criterion(line, levels, 2 * (double)count + 1)) return 0;
    double error = sqrt(fit.left / (n - 2) / fit.xx) * fit.inflation;
    struct ids_interval interval = ids_interval_by_error(fit.slope, error, n - 2, 1 - line->alarms);
    if (ids_interval_p(&interval) >= line->alarms) return 0;
    changes->drifts = 1;
    changes->slope = fit.slope;
    changes->slope_low = interval.mean.low;
    changes->slope_high = interval.mean.high;
    changes->from = at_place(&fit, line, 0);
    changes->to = at_place(&fit, line, line->count - 1);
    return 1;
}

/* What grows from some night in the middle on is neither levels nor straight: that the nights of its last part are high
 * looks like neighbours that are alike. But what wanders so goes no further than some times the way from night to
 * night. */
static int has_risen(const struct line *line, struct ids_changes *changes) {
    const size_t n = line->count, part = n / 4, ends = IDS_LEVEL_LEAST;
    if (n < DRIFT_LEAST) return 0;
    double deviation = deviation_of(line->at, 0, n, line->room), span = (double)(line->place[n - 1] - line->place[0]);
    double rise = mean(line, n - part, n) - mean(line, 0, part);
    if (!(fabs(rise) > RISEN * deviation)) return 0;
    changes->drifts = 1;
    changes->from = mean_value(line, 0, ends);
    changes->to = mean_value(line, n - ends, n);
    changes->slope = (changes->to - changes->from) / span;
    double of_value = line->is_log ? deviation * fmax(changes->from, changes->to) : deviation;
    double most = ids_student_quantile(1 - line->alarms / 2, (double)n - 2) * of_value * sqrt(2 / (double)ends) / span;
    changes->slope_low = changes->slope - most;
    changes->slope_high = changes->slope + most;
    return 1;
}

/* ---- */

/* How far a value at a place is from what the last level, or the drift, lets expect. */
static double out_of(const struct line *line, const struct ids_changes *changes, double expected, double value,
                     size_t place) {
    if (changes->drifts) expected = changes->from + changes->slope * ((double)place - (double)line->place[0]);
    return line->is_log && expected > 0 ? log(value / expected) : value - expected;
}

/* Whether those from `end` on are farther out than chance takes as many, by Student's t of a prediction. */
static int is_out_of_line(const struct line *line, const double *values, size_t count, size_t from,
                          const struct ids_changes *changes) {
    double own = 0, next = 0, before = 0, out = 0, n = (double)(line->count - from), last = (double)changes->latest;
    if (n < IDS_LEVEL_LEAST) return 0;
    for (size_t i = from; i < line->count; i++) {
        double value = out_of(line, changes, changes->latest_before, line->value[i], line->place[i]);
        own += value * value;
        next += value * before;
        before = value;
    }
    for (size_t i = count - changes->latest; i < count; i++)
        out += out_of(line, changes, changes->latest_before, values[i], i) / last;
    double error =
        sqrt(own / (n - 1) * (1 / n + 1 / last)) * (n < AUTOCORRELATION_LEAST ? 1 : inflation_of(own, next, n));
    struct ids_interval interval = ids_interval_by_error(out, error, n - 1, 0);
    return ids_interval_p(&interval) < line->alarms;
}

/* One or two at the end that are out of line may be the begin of a level. */
static void look_at_end(const struct line *line, const double *values, size_t count, const char *single,
                        struct ids_changes *changes) {
    size_t end = count, from = 0;
    while (end && single[end - 1]) end--;
    if (end == count || !line->count || count - end >= IDS_LEVEL_LEAST) return;
    while (changes->count && from < line->count && line->place[from] < changes->at[changes->count - 1].at) from++;
    changes->latest = count - end;
    changes->latest_before = mean_value(line, from, line->count);
    if (changes->drifts) changes->latest_before = changes->to;
    for (size_t i = end; i < count; i++) changes->latest_after += values[i] / (double)(count - end);
    if (!is_out_of_line(line, values, count, from, changes)) changes->latest = 0;
}

static int have_logarithms(const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!(values[i] > 0)) return 0;
    }
    return 1;
}

static void fill(struct line *line, const double *values, size_t count, char *single) {
    line->is_log = have_logarithms(values, count);
    for (size_t i = 0; i < count; i++) line->at[i] = line->is_log ? log(values[i]) : values[i];
    find_singles(line->at, count, line->sum, single);
    for (size_t i = 0; i < count; i++) {
        if (single[i]) continue;
        line->at[line->count] = line->at[i];
        line->value[line->count] = values[i];
        line->place[line->count++] = i;
    }
    double centre =
        line->count ? line->at[0] : 0; /* taken off all, so that sums keep the digits in which they differ */
    line->sum[0] = line->square[0] = 0;
    for (size_t i = 0; i < line->count; i++) {
        line->at[i] -= centre;
        line->sum[i + 1] = line->sum[i] + line->at[i];
        line->square[i + 1] = line->square[i] + line->at[i] * line->at[i];
    }
}

static int alloc(struct line *line, size_t count) {
    line->value = calloc(count + 1, sizeof *line->value);
    line->at = calloc(count + 1, sizeof *line->at);
    line->sum = calloc(count + 1, sizeof *line->sum);
    line->square = calloc(count + 1, sizeof *line->square);
    line->place = calloc(count + 1, sizeof *line->place);
    line->room = calloc(count + 1, sizeof *line->room);
    return line->room && line->value && line->at && line->sum && line->square && line->place ? 0 : -1;
}

static void find(struct line *line, struct ids_changes *changes) {
    size_t found[FOUND_MOST];
    if (line->count < TWO_LEVELS) return;
    surest(line, 0, line->count, &line->searched);
    size_t count = split(line, 0, line->count, found, FOUND_MOST);
    count = keep_sure(line, found, count);
    settle(line, found, count);
    count = keep_sure(line, found, count);
    if (drifts(line, found, count, changes) || (!count && has_risen(line, changes))) return;
    for (size_t i = 0; i < count && i < IDS_CHANGES_MOST; i++)
        describe(line, found, count, i, &changes->at[changes->count++]);
}

int ids_changes_of(const double *values, size_t count, double false_alarms, struct ids_changes *ret_changes,
                   char *single) {
    struct line line = {.alarms = false_alarms};
    char *own = calloc(count + 1, 1);
    int failed = !own || alloc(&line, count);
    *ret_changes = (struct ids_changes){0};
    if (!failed) {
        fill(&line, values, count, own);
        find(&line, ret_changes);
        look_at_end(&line, values, count, own, ret_changes);
        if (single) memcpy(single, own, count);
    }
    free(line.value);
    free(line.at);
    free(line.sum);
    free(line.square);
    free(line.place);
    free(line.room);
    free(own);
    return failed;
}
