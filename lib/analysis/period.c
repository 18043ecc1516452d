#include "lib/analysis/period.h"

#include "lib/analysis/program_runs.h"
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/clocks.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    MEDIAN_PART = 2,  /* a time between ends is regular within the median divided by this */
    GROUPS_LEAST = 3, /* that many of a size are no chance */
    SMALL = 100,      /* parts: less than this part of the work is not worth speaking of */
    ALIKE = 10,       /* periods of two devices are one where they differ by less than this part */
};

struct finding {
    const struct ids_trace *trace;
    struct ids_period *period;
    struct ids_program_runs runs;
    uint32_t hottest; /* text of runs.programs */
};

/* --- programs --------------------------------------------------------------------------------------------------- */

/* The runs of one program on one device. */
struct series {
    const struct ids_program_run *at;
    size_t count;
    int64_t work_ps;
};

static struct series series_at(const struct ids_device_runs *runs, size_t from) {
    struct series series = {&runs->at[from], 0, 0};
    for (size_t i = from; i < runs->count && runs->at[i].program == series.at->program; i++) {
        series.count++;
        ids_sum(&series.work_ps, runs->at[i].work_ps);
    }
    return series;
}

static struct series series_of(const struct ids_device_runs *runs, uint32_t program) {
    for (size_t i = 0; i < runs->count;) {
        struct series series = series_at(runs, i);
        if (series.at->program == program) return series;
        i += series.count;
    }
    return (struct series){NULL, 0, 0};
}

static struct series hottest_series(const struct ids_device_runs *runs) {
    struct series best = {NULL, 0, -1};
    for (size_t i = 0; i < runs->count;) {
        struct series series = series_at(runs, i);
        if (series.work_ps > best.work_ps) best = series;
        i += series.count;
    }
    return best;
}

/* The program with most time over all devices. */
static int find_hottest(struct finding *finding) {
    int64_t *work_ps = calloc((size_t)finding->runs.programs.count + 1, sizeof *work_ps);
    if (!work_ps) return -1;
    for (size_t d = 0; d < finding->trace->device_count; d++) {
        const struct ids_device_runs *runs = &finding->runs.of_device[d];
        for (size_t i = 0; i < runs->count; i++) ids_sum(&work_ps[runs->at[i].program], runs->at[i].work_ps);
    }
    for (uint32_t p = 1; p < finding->runs.programs.count; p++) {
        if (work_ps[p] > work_ps[finding->hottest]) finding->hottest = p;
    }
    free(work_ps);
    snprintf(finding->period->program, sizeof finding->period->program, "%s",
             ids_strings_z(&finding->runs.programs, finding->hottest));
    return 0;
}

/* --- what is a period ------------------------------------------------------------------------------------------- */

static int shorter(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Whether things happen after a fixed number `k` of `count` others each, from the first to the last: `at` are the
 * numbers of others before each of them. Two such groups are no chance only where both are whole. */
static size_t group_size(const size_t *at, size_t things, size_t count) {
    if (things < 2) return 0;
    size_t k = at[1] - at[0], rest = count - at[things - 1];
    for (size_t i = 2; i < things; i++) {
        if (at[i] - at[i - 1] != k) return 0;
    }
    if (k < 2 || at[0] > k || rest > k) return 0;
    if (things < GROUPS_LEAST && ((at[0] && at[0] != k) || (rest && rest != k) || !(at[0] + rest))) return 0;
    return k;
}

/* How many executions stand between two long times; 0 where that is no fixed number. `scratch` has room for all of
 * them. */
static size_t group_by_time(const struct series *series, int64_t median_ps, size_t *scratch) {
    size_t longer = 0;
    for (size_t i = 1; i < series->count; i++) {
        int64_t time_ps = series->at[i].end_ps - series->at[i - 1].end_ps;
        if (time_ps - median_ps > median_ps / MEDIAN_PART) scratch[longer++] = i;
    }
    return group_size(scratch, longer, series->count);
}

/* How many executions of `series` stand between two of another program; 0 where that is no fixed number. */
static size_t group_by_program(const struct series *series, const struct series *other, size_t *scratch) {
    size_t before = 0, things = 0;
    for (size_t i = 0; i < other->count; i++) {
        while (before < series->count && series->at[before].end_ps <= other->at[i].end_ps) before++;
        if (things == series->count) return 0;
        scratch[things++] = before;
    }
    if (things < GROUPS_LEAST && other->work_ps < series->work_ps / SMALL) return 0;
    return group_size(scratch, things, series->count);
}

static size_t most_of(const struct series *a, const struct series *b) {
    return a->count > b->count ? a->count : b->count;
}

/* Another program that says the same of the executions: each is followed by it after a fixed number, or the other
 * way round. */
static size_t group_of_programs(const struct ids_device_runs *runs, const struct series *series,
                                struct series *ret_other, int *ret_failed) {
    size_t k = 0;
    for (size_t i = 0; i < runs->count && !k;) {
        struct series other = series_at(runs, i);
        i += other.count;
        if (other.at->program == series->at->program) continue;
        size_t *scratch = malloc((most_of(series, &other) + 1) * sizeof *scratch);
        if (!scratch) {
            *ret_failed = 1;
            return 0;
        }
        k = group_by_program(series, &other, scratch);
        if (!k && other.work_ps >= series->work_ps / 2) k = group_by_program(&other, series, scratch);
        free(scratch);
        *ret_other = other;
    }
    return k;
}

/* Whether the program runs once a step on the device; else why not, in ret_why. */
static int judge(const struct finding *finding, const struct ids_device_runs *runs, const struct series *series,
                 char *ret_why, size_t room) {
    const char *name =
        series->count ? ids_strings_z(&finding->runs.programs, series->at->program) : finding->period->program;
    if (series->count < IDS_PERIOD_LEAST) {
        snprintf(ret_why, room, "%.80s, which takes most time, ran %zu times, and %d are needed for a period", name,
                 series->count, IDS_PERIOD_LEAST);
        return 0;
    }
    size_t times = series->count - 1, regular = 0;
    int64_t *between_ps = malloc(times * sizeof *between_ps);
    size_t *scratch = malloc(series->count * sizeof *scratch);
    int failed = !between_ps || !scratch;
    for (size_t i = 0; i < times && !failed; i++) between_ps[i] = series->at[i + 1].end_ps - series->at[i].end_ps;
    if (!failed) {
        qsort(between_ps, times, sizeof *between_ps, shorter);
        int64_t median_ps = between_ps[times / 2];
        for (size_t i = 0; i < times; i++) regular += llabs(between_ps[i] - median_ps) <= median_ps / MEDIAN_PART;
        size_t k = group_by_time(series, median_ps, scratch);
        struct series other = {0};
        if (!median_ps || regular * 3 < (times + 1) * 2) {
            snprintf(
                ret_why, room,
                "the executions of %.80s, which takes most time, have no period: %zu of %zu times between them are "
                "near their median",
                name, median_ps ? regular : 0, times);
        } else if (k) {
            snprintf(
                ret_why, room,
                "%.80s, which takes most time, runs in groups of %zu with a longer time after each: a step may be one "
                "execution or a group",
                name, k);
        } else if ((k = group_of_programs(runs, series, &other, &failed))) {
            const char *often =
                other.count < series->count ? name : ids_strings_z(&finding->runs.programs, other.at->program);
            const char *seldom =
                other.count < series->count ? ids_strings_z(&finding->runs.programs, other.at->program) : name;
            snprintf(ret_why, room,
                     "%.60s runs %zu times for each time that %.60s does: a step may be one execution or a group",
                     often, k, seldom);
        }
    }
    free(between_ps);
    free(scratch);
    return failed ? -1 : !*ret_why;
}

/* --- devices ---------------------------------------------------------------------------------------------------- */

static int64_t mean_time(const struct series *series) {
    if (series->count < 2) return 0;
    return (series->at[series->count - 1].end_ps - series->at[0].end_ps) / (int64_t)(series->count - 1);
}

/* Which execution of the other device was there when the first one of this was; below 0: before its first. Of as many
 * the first ones belong together, however much later the stages of a pipeline are. */
static long long place_against(const struct series *series, const struct series *other, int64_t mean_ps) {
    if (!series->count || !other->count || mean_ps <= 0) return 0;
    int64_t end_ps = series->at[0].end_ps;
    if (series->count == other->count && llabs(end_ps - other->at[0].end_ps) < mean_ps) return 0;
    if (end_ps < other->at[0].end_ps) return -(long long)((other->at[0].end_ps - end_ps + mean_ps / 2) / mean_ps);
    size_t low = 0, high = other->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (other->at[middle].end_ps <= end_ps)
            low = middle;
        else
            high = middle;
    }
    if (high < other->count && other->at[high].end_ps - end_ps < end_ps - other->at[low].end_ps) low = high;
    return (long long)low;
}

static int take(struct ids_executions *executions, const struct series *series) {
    *executions = (struct ids_executions){.at = calloc(series->count + 1, sizeof *executions->at)};
    if (!executions->at) return -1;
    for (size_t i = 0; i < series->count; i++) {
        struct ids_execution *last = executions->count ? &executions->at[executions->count - 1] : NULL;
        if (last && last->end_ps == series->at[i].end_ps) continue;
        executions->at[executions->count++] = (struct ids_execution){series->at[i].start_ps, series->at[i].end_ps};
    }
    return 0;
}

/* The device that has most of the hottest program: the others are held against it. */
static size_t find_reference(const struct finding *finding) {
    size_t best = 0;
    int64_t most_ps = -1;
    for (size_t d = 0; d < finding->trace->device_count; d++) {
        struct series series = series_of(&finding->runs.of_device[d], finding->hottest);
        if (series.count && series.work_ps > most_ps) most_ps = series.work_ps, best = d;
    }
    return best;
}

static int look_at_device(struct finding *finding, size_t d, size_t reference, long long *places) {
    const struct ids_trace *trace = finding->trace;
    struct ids_period *period = finding->period;
    const struct ids_device_runs *runs = &finding->runs.of_device[d], *others = &finding->runs.of_device[reference];
    struct series series = series_of(runs, finding->hottest), against = series_of(others, finding->hottest);
    if (!runs->count || runs->work_ps < others->work_ps / SMALL) return 0;
    if (!series.count) series = hottest_series(runs); /* the stages of a pipeline are programs of their own */
    char why[200] = "";
    int periodic = judge(finding, runs, &series, why, sizeof why);
    if (periodic < 0) return -1;
    int64_t mean_ps = mean_time(&against);
    if (!periodic || llabs(mean_time(&series) - mean_ps) > mean_ps / ALIKE) {
        snprintf(period->why, sizeof period->why, "%.40s: %.200s", trace->devices[d].label,
                 periodic ? "its programs have another period than those of the other devices" : why);
        return 0;
    }
    if (ids_on_one_clock(trace, &trace->devices[d], &trace->devices[reference]))
        places[d] = place_against(&series, &against, mean_ps);
    return take(&period->of_device[d], &series);
}

static int look_at_devices(struct finding *finding) {
    const struct ids_trace *trace = finding->trace;
    struct ids_period *period = finding->period;
    size_t reference = find_reference(finding);
    struct series series = series_of(&finding->runs.of_device[reference], finding->hottest);
    int periodic = judge(finding, &finding->runs.of_device[reference], &series, period->why, sizeof period->why);
    if (periodic <= 0) return periodic;
    long long *places = calloc(trace->device_count, sizeof *places), first = 0;
    int failed = !places;
    for (size_t d = 0; d < trace->device_count && !failed && !*period->why; d++)
        failed = look_at_device(finding, d, reference, places);
    for (size_t d = 0; d < trace->device_count && !failed; d++) first = places[d] < first ? places[d] : first;
    for (size_t d = 0; d < trace->device_count && !failed; d++)
        period->of_device[d].first = (size_t)(places[d] - first);
    free(places);
    return failed;
}

static int find(struct finding *finding) {
    struct ids_period *period = finding->period;
    if (ids_program_runs_find(finding->trace, &finding->runs) || find_hottest(finding)) return -1;
    if (!*period->program) {
        snprintf(period->why, sizeof period->why, "no execution of a program is known on a device");
        return 0;
    }
    return look_at_devices(finding);
}

int ids_period_find(const struct ids_trace *trace, struct ids_period *ret_period, struct ids_error *err) {
    struct finding finding = {.trace = trace, .period = ret_period};
    *ret_period = (struct ids_period){.device_count = trace->device_count};
    ret_period->of_device = calloc(trace->device_count + 1, sizeof *ret_period->of_device);
    int failed = !ret_period->of_device || find(&finding);
    ids_program_runs_done(&finding.runs);
    return failed ? ids_no_memory(err) : 0;
}

void ids_period_done(struct ids_period *period) {
    for (size_t d = 0; d < period->device_count && period->of_device; d++) free(period->of_device[d].at);
    free(period->of_device);
    *period = (struct ids_period){0};
}
