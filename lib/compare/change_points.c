#include "lib/compare/change_points.h"

#include "lib/compare/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OUT_OF_LINE 5 /* deviations, of a night that is no level */
#define MOST_AUTOCORRELATION 0.9
#define PLACE_CONFIDENCE 0.95
#define MIGHT_BE 0.05
#define ROUNDING 1e-9
enum { BESIDE = 3, BOTH_SIDES = 2 * BESIDE, TWO_LEVELS = 2 * IDS_LEVEL_LEAST, FOUND_MOST = 2 * IDS_CHANGES_MOST };
enum { AUTOCORRELATION_LEAST = 10, DRIFT_LEAST = 4 * IDS_LEVEL_LEAST };

/* What is looked at: the values without those that are out of line, with the place that each had. */
struct line {
    double *at, *sum, *square; /* sums of what is before a place */
    size_t *place;
    size_t count;
    double centre;   /* what was taken off all values, so that sums keep the digits in which they differ */
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
 * before its first night a layer takes no time, every night. */
static double deviation_of(const double *values, size_t count, double *room) {
    size_t differ = 0;
    for (size_t i = 1; i < count; i++) {
        double difference = fabs(values[i] - values[i - 1]);
        if (difference > ROUNDING * fabs(values[i])) room[differ++] = difference;
    }
    return differ ? median(room, differ) / (0.6745 * sqrt(2)) : 0;
}

static double median_of(const double *values, size_t from, size_t to) {
    double room[BESIDE];
    memcpy(room, values + from, (to - from) * sizeof *room);
    return median(room, to - from);
}

/* Out of line against those before and those behind it: the first night of a new level is like the latter. Two at
 * either end are held to the third from there too, with which they may be a level. */
static int is_single(const double *values, size_t count, size_t at, double bound) {
    double left, right;
    if (count < BOTH_SIDES) return 0;
    if (at + 2 >= count) {
        left = median_of(values, count - BOTH_SIDES, count - BESIDE);
        right = values[count - BESIDE];
    } else if (at < 2) {
        left = values[BESIDE - 1];
        right = median_of(values, BESIDE, BOTH_SIDES);
    } else {
        left = median_of(values, at < BESIDE ? 0 : at - BESIDE, at);
        right = median_of(values, at + 1, count - at - 1 < BESIDE ? count : at + 1 + BESIDE);
    }
    return fabs(values[at] - left) > bound && fabs(values[at] - right) > bound;
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

/* Takes away, the least sure first, what chance may be: then its neighbours have more to stand on. */
static size_t keep_sure(const struct line *line, size_t *found, size_t count) {
    while (count) {
        size_t worst = 0;
        double most = -1;
        for (size_t i = 0; i < count; i++) {
            size_t from = i ? found[i - 1] : 0, to = i + 1 < count ? found[i + 1] : line->count;
            double p = probability(line, from, found[i], to);
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

static void describe(const struct line *line, const size_t *found, size_t count, size_t i, struct ids_change *change) {
    size_t from = i ? found[i - 1] : 0, to = i + 1 < count ? found[i + 1] : line->count, at = found[i];
    double n = (double)(to - from), within = squares(line, from, at) + squares(line, at, to);
    double t = ids_student_quantile(0.5 + PLACE_CONFIDENCE / 2, n - 2);
    double bound = within * (1 + t * t / (n - 2)) + rounding(line, from, to);
    size_t first = at, last = at;
    while (first > from + 1 && squares(line, from, first - 1) + squares(line, first - 1, to) <= bound) first--;
    while (last + 1 < to && squares(line, from, last + 1) + squares(line, last + 1, to) <= bound) last++;
    double error = error_of(line, from, at, to) * inflation(line, from, at, to);
    *change = (struct ids_change){.at = line->place[at],
                                  .first = line->place[first],
                                  .last = line->place[last],
                                  .before = line->centre + mean(line, from, at),
                                  .after = line->centre + mean(line, at, to)};
    const struct ids_interval interval =
        ids_interval_by_error(change->after - change->before, error, n - 2, 1 - line->alarms);
    change->low = interval.mean.low;
    change->high = interval.mean.high;
}

/* ---- drift ---- */

/* Schwarz's criterion: less is better. */
static double criterion(const struct line *line, double within, double parameters) {
    double n = (double)line->count;
    return n * log(fmax(within, rounding(line, 0, line->count) + 1e-300) / n) + parameters * log(n);
}

/* Whether a straight line fits better than the levels, and is none by chance. */
static int drifts(const struct line *line, const size_t *found, size_t count, struct ids_changes *changes) {
    double levels = 0, n = (double)line->count, xx = 0, xy = 0, centre = 0, middle = mean(line, 0, line->count);
    for (size_t i = 0; i <= count; i++)
        levels += squares(line, i ? found[i - 1] : 0, i < count ? found[i] : line->count);
    for (size_t i = 0; i < line->count; i++) centre += (double)line->place[i] / n;
    for (size_t i = 0; i < line->count; i++) {
        double x = (double)line->place[i] - centre;
        xx += x * x;
        xy += x * (line->at[i] - middle);
    }
    double slope = xx > 0 ? xy / xx : 0, within = fmax(0, squares(line, 0, line->count) - slope * xy);
    if (line->count < DRIFT_LEAST || criterion(line, within, 2) >= criterion(line, levels, 2 * (double)count + 1))
        return 0;
    double own = 0, next = 0, before = 0;
    for (size_t i = 0; i < line->count; i++) {
        double value = line->at[i] - middle - slope * ((double)line->place[i] - centre);
        own += value * value;
        next += value * before;
        before = value;
    }
    double error = sqrt(within / (n - 2) / xx) * inflation_of(own, next, n);
    struct ids_interval interval = ids_interval_by_error(slope, error, n - 2, 1 - line->alarms);
    if (ids_interval_p(&interval) >= line->alarms) return 0;
    changes->drifts = 1;
    changes->slope = slope;
    changes->slope_low = interval.mean.low;
    changes->slope_high = interval.mean.high;
    changes->from = line->centre + middle + slope * ((double)line->place[0] - centre);
    changes->to = line->centre + middle + slope * ((double)line->place[line->count - 1] - centre);
    return 1;
}

/* ---- */

/* One or two at the end that are out of line may be the begin of a level. */
static void look_at_end(const struct line *line, const double *values, size_t count, const char *single,
                        struct ids_changes *changes) {
    size_t end = count;
    while (end && single[end - 1]) end--;
    if (end == count || !line->count || count - end >= IDS_LEVEL_LEAST) return;
    size_t from = line->count > TWO_LEVELS ? line->count - TWO_LEVELS : 0;
    changes->latest = count - end;
    changes->latest_before = line->centre + mean(line, from, line->count);
    for (size_t i = end; i < count; i++) changes->latest_after += values[i] / (double)(count - end);
}

static void fill(struct line *line, const double *values, size_t count, char *single) {
    double bound = OUT_OF_LINE * deviation_of(values, count, line->sum);
    for (size_t i = 0; i < count; i++) single[i] = (char)is_single(values, count, i, bound);
    for (size_t i = 0; i < count; i++) {
        if (single[i]) continue;
        line->at[line->count] = values[i];
        line->place[line->count++] = i;
    }
    line->centre = line->count ? line->at[0] : 0;
    line->sum[0] = line->square[0] = 0;
    for (size_t i = 0; i < line->count; i++) {
        line->at[i] -= line->centre;
        line->sum[i + 1] = line->sum[i] + line->at[i];
        line->square[i + 1] = line->square[i] + line->at[i] * line->at[i];
    }
}

static int alloc(struct line *line, size_t count) {
    line->at = calloc(count + 1, sizeof *line->at);
    line->sum = calloc(count + 1, sizeof *line->sum);
    line->square = calloc(count + 1, sizeof *line->square);
    line->place = calloc(count + 1, sizeof *line->place);
    return line->at && line->sum && line->square && line->place ? 0 : -1;
}

static void find(struct line *line, struct ids_changes *changes) {
    size_t found[FOUND_MOST];
    if (line->count < TWO_LEVELS) return;
    surest(line, 0, line->count, &line->searched);
    size_t count = split(line, 0, line->count, found, FOUND_MOST);
    count = keep_sure(line, found, count);
    settle(line, found, count);
    count = keep_sure(line, found, count);
    if (drifts(line, found, count, changes)) return;
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
    free(line.at);
    free(line.sum);
    free(line.square);
    free(line.place);
    free(own);
    return failed;
}
