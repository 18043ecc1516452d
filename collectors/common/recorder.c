#include "collectors/common/recorder.h"

#include <stdio.h>
#include <string.h>

enum { SLOW_RATIO = 2000, SEEN_PARTS = 10, EARLY_PARTS = 4 };

/* ---- the median ---- */

static int place_of(const struct ids_median *median, int64_t value) {
    int low = 0, high = median->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (median->sorted[middle] < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void ids_median_add(struct ids_median *median, int64_t value) {
    int64_t *sorted = median->sorted;
    if (median->count == IDS_MEDIAN_OF) {
        int gone = place_of(median, median->values[median->next]);
        median->count--;
        memmove(sorted + gone, sorted + gone + 1, (size_t)(median->count - gone) * sizeof *sorted);
    }
    int place = place_of(median, value);
    memmove(sorted + place + 1, sorted + place, (size_t)(median->count - place) * sizeof *sorted);
    sorted[place] = value;
    median->count++;
    median->values[median->next] = value;
    median->next = (median->next + 1) % IDS_MEDIAN_OF;
}

int64_t ids_median_of(const struct ids_median *median) {
    return median->count < IDS_WARM_STEPS ? 0 : median->sorted[median->count / 2];
}

/* ---- what is slow ---- */

void ids_recorder_init(struct ids_recorder *recorder, const struct ids_plan *plan) {
    memset(recorder, 0, sizeof *recorder);
    recorder->ratio = plan->when_ratio;
    recorder->when_ns = plan->when_ns;
    recorder->keep = plan->keep_slowest < IDS_KEPT_MAX ? plan->keep_slowest : IDS_KEPT_MAX;
    recorder->from = plan->start_step > IDS_WARM_STEPS ? plan->start_step : IDS_WARM_STEPS;
    recorder->number = -1;
    recorder->beyond_places = recorder->keep ? recorder->keep : IDS_BEYOND_PLACES;
}

static int64_t median_now(const struct ids_recorder *recorder) {
    int64_t median = ids_median_of(&recorder->medians[recorder->in_window]);
    return median ? median : ids_median_of(&recorder->medians[0]);
}

/* The kept window that saw least of its step; NULL while there is room for one more. */
static const struct ids_kept_window *least_kept(const struct ids_recorder *recorder) {
    const struct ids_kept_window *least = NULL;
    if (!recorder->keep || recorder->kept_count < recorder->keep) return NULL;
    for (int i = 0; i < recorder->kept_count; i++) {
        if (!least || recorder->kept[i].seen_ns < least->seen_ns) least = &recorder->kept[i];
    }
    return least;
}

/* The median so many thousandths; -1: there is none yet. */
static int64_t of_median(const struct ids_recorder *recorder, int64_t ratio) {
    int64_t limit, median = median_now(recorder);
    if (!median || __builtin_mul_overflow(median, ratio, &limit)) return -1;
    return limit / 1000;
}

/* A step that takes longer is slow by the plan's rule; 0: it has none; -1: nothing is judged yet. */
static int64_t rule_of(const struct ids_recorder *recorder) {
    if (recorder->steps < recorder->from) return -1;
    return recorder->ratio ? of_median(recorder, recorder->ratio) : recorder->when_ns;
}

/* A step that takes longer is slow, without a rule by the median; -1: nothing is judged yet. */
static int64_t slow_of(const struct ids_recorder *recorder) {
    int64_t rule = rule_of(recorder);
    return rule ? rule : of_median(recorder, SLOW_RATIO);
}

/* A window must have seen more of its slow step to be kept; 0: it need not. */
static int64_t least_seen(const struct ids_recorder *recorder) {
    const struct ids_kept_window *least = least_kept(recorder);
    return least ? least->seen_ns : 0;
}

static int64_t longer(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* A step that takes longer is worth a window; -1: nothing is judged yet. */
static int64_t limit_of(const struct ids_recorder *recorder) {
    int64_t rule = rule_of(recorder);
    return rule < 0 ? -1 : longer(rule, least_seen(recorder));
}

/* A step that has taken longer is worth a window that opens in the middle of it: it may take as long again, and be
 * among those that were seen most. Within the budget from a part of that on, for of what lies before the window nothing
 * is seen: of a step half as long again as the least a window that opens after as long would see half as much. Without
 * a rule the slowest steps of like ones come by the rhythm of windows. */
static int64_t opens_from(const struct ids_recorder *recorder, int is_beyond) {
    int64_t slow = slow_of(recorder), least = INT64_MAX / 2;
    if (slow < 0 || slow > INT64_MAX / 2) return -1;
    if (!is_beyond) return longer(slow, least_seen(recorder) / EARLY_PARTS);
    for (int64_t i = 0; i < recorder->beyond_places; i++) {
        if (recorder->beyond[i] < least) least = recorder->beyond[i];
    }
    return longer(longer(2 * slow, 2 * least), least_seen(recorder));
}

static int64_t took_by(const struct ids_recorder *recorder, int64_t now_ns) {
    return now_ns - recorder->begin_ns - recorder->stall_ns;
}

/* How long after the step's beginning that was, not counting the opening of the window itself; below 0: not in it. */
static int64_t into_step(const struct ids_recorder *recorder, int64_t at_ns) {
    return at_ns - recorder->begin_ns - recorder->stall_ns;
}

static int64_t late_by(const struct ids_recorder *recorder) {
    return into_step(recorder, recorder->opened_ns);
}

/* How much of the step, which took so long, is not in the window. What ran when it was to be opened is known, also
 * where that held the opening up, as collecting garbage does. */
static int64_t unseen_of(const struct ids_recorder *recorder, int64_t took_ns) {
    if (!recorder->in_window || took_ns - into_step(recorder, recorder->asked_ns) < took_ns / SEEN_PARTS)
        return took_ns;
    return longer(late_by(recorder), 0);
}

static int64_t seen_of(const struct ids_slow_step *slow) {
    return slow->took_ns - slow->late_ns;
}

/* In no window, or next to nothing of it: without a rule also while there is room for one more, because whether a
 * slower one was kept is known at the end. */
static void miss(struct ids_recorder *recorder, const struct ids_slow_step *step, int is_by_rule) {
    recorder->slow_missed += is_by_rule;
    if (step->took_ns <= recorder->missed_ns || !(is_by_rule || recorder->keep)) return;
    recorder->missed_ns = step->took_ns;
    recorder->missed_number = step->number;
    recorder->missed_seen_ns = 0;
}

/* The step's window is not kept, because others saw more of theirs: those may be of shorter steps. */
static void give_up(struct ids_recorder *recorder, int64_t number, int64_t took_ns, int64_t seen_ns) {
    if (!recorder->keep || took_ns <= recorder->missed_ns) return;
    recorder->missed_ns = took_ns;
    recorder->missed_number = number;
    recorder->missed_seen_ns = seen_ns;
}

/* Whether the step is slow. */
static int judge(struct ids_recorder *recorder, int64_t now_ns, int goes_on) {
    int64_t limit = limit_of(recorder), slow = slow_of(recorder), took_ns = took_by(recorder, now_ns);
    if (limit < 0 || recorder->is_doubtful) return 0;
    int is_slow = slow >= 0 && took_ns > slow;
    int is_by_rule =
        is_slow && (recorder->ratio || recorder->when_ns); /* without one some step is always the slowest */
    if (!goes_on) recorder->slow += is_by_rule;
    if (took_ns <= limit) return is_slow;
    const struct ids_slow_step step = {.number = recorder->number,
                                       .took_ns = took_ns,
                                       .median_ns = median_now(recorder),
                                       .late_ns = unseen_of(recorder, took_ns),
                                       .goes_on = goes_on};
    if (step.late_ns < took_ns) {
        if (seen_of(&step) > seen_of(&recorder->worst)) recorder->worst = step;
    } else if (!goes_on) {
        miss(recorder, &step, is_by_rule);
    }
    return is_slow;
}

int ids_recorder_step(struct ids_recorder *recorder, int64_t now_ns, int64_t number, int64_t *ret_median_ns) {
    int was_slow = 0;
    *ret_median_ns = 0;
    if (recorder->begin_ns) {
        int64_t took_ns = took_by(recorder, now_ns);
        *ret_median_ns = median_now(recorder);
        was_slow = judge(recorder, now_ns, 0);
        /* A step in which a window was opened is neither in it nor outside. */
        int is_whole = !recorder->is_doubtful && (!recorder->in_window || late_by(recorder) <= 0);
        if (is_whole && took_ns >= 0 && recorder->steps)
            ids_median_add(&recorder->medians[recorder->in_window], took_ns);
        recorder->steps++;
    }
    recorder->begin_ns = now_ns;
    recorder->number = number;
    recorder->stall_ns = 0;
    recorder->is_doubtful = recorder->is_watched = 0;
    return was_slow;
}

void ids_recorder_turn(struct ids_recorder *recorder) {
    memset(recorder->medians, 0, sizeof recorder->medians);
    recorder->begin_ns = 0;
}

void ids_recorder_stall(struct ids_recorder *recorder, int64_t ns) {
    recorder->stall_ns += ns;
}

void ids_recorder_doubt(struct ids_recorder *recorder, int64_t now_ns) {
    int64_t slow = slow_of(recorder);
    if (slow < 0 || took_by(recorder, now_ns) <= slow) recorder->is_doubtful = 1;
}

int64_t ids_recorder_deadline(const struct ids_recorder *recorder, int is_beyond) {
    int64_t from = opens_from(recorder, is_beyond), deadline = recorder->begin_ns + recorder->stall_ns;
    if (!recorder->begin_ns || from < 0 || recorder->is_watched || recorder->is_doubtful) return -1;
    return __builtin_add_overflow(deadline, from + 1, &deadline) ? -1 : deadline;
}

void ids_recorder_watch(struct ids_recorder *recorder, int64_t now_ns, int is_beyond) {
    int64_t *least = &recorder->beyond[0];
    recorder->is_watched = 1;
    for (int64_t i = 1; i < recorder->beyond_places; i++) {
        if (recorder->beyond[i] < *least) least = &recorder->beyond[i];
    }
    if (is_beyond) *least = took_by(recorder, now_ns);
}

/* ---- what is kept ---- */

void ids_recorder_open(struct ids_recorder *recorder, int64_t asked_ns, int64_t now_ns) {
    recorder->in_window = 1;
    recorder->asked_ns = asked_ns;
    recorder->opened_ns = now_ns;
    recorder->worst = (struct ids_slow_step){.number = -1};
}

int ids_recorder_close(struct ids_recorder *recorder, int64_t now_ns, int64_t window, int is_asked_for, int is_end,
                       int64_t *ret_instead) {
    *ret_instead = 0;
    if (recorder->begin_ns && !(is_end && least_kept(recorder))) judge(recorder, now_ns, 1);
    recorder->in_window = 0;
    if (is_asked_for) return 1;
    const struct ids_slow_step *worst = &recorder->worst;
    struct ids_kept_window *least = (struct ids_kept_window *)least_kept(recorder);
    if (!worst->took_ns) return 0;
    if (seen_of(worst) <= least_seen(recorder)) {
        if (worst->took_ns > least_seen(recorder)) give_up(recorder, worst->number, worst->took_ns, seen_of(worst));
        return 0;
    }
    if (least) {
        *ret_instead = least->window;
        give_up(recorder, least->number, least->took_ns, least->seen_ns);
    } else if (recorder->kept_count < IDS_KEPT_MAX) {
        least = &recorder->kept[recorder->kept_count++];
    }
    if (least)
        *least = (struct ids_kept_window){
            .window = window, .seen_ns = seen_of(worst), .number = worst->number, .took_ns = worst->took_ns};
    /* What is kept now is slower than all that was in no window. */
    if (recorder->missed_ns <= least_seen(recorder)) recorder->missed_ns = 0;
    return 1;
}

void ids_recorder_lost(struct ids_recorder *recorder, int64_t window) {
    for (int i = 0; i < recorder->kept_count; i++) {
        if (recorder->kept[i].window == window) recorder->kept[i--] = recorder->kept[--recorder->kept_count];
    }
}

/* ---- words ---- */

/* 8113 as "8,113". */
static void put_number(int64_t number, char *text, size_t size) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)number), used = 0;
    for (int i = 0; i < length && (size_t)used + 2 < size; i++) {
        if (i && (length - i) % 3 == 0 && digits[i - 1] != '-') text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
}

static void put_time(int64_t ns, char *text, size_t size) {
    double value = (double)ns;
    const char *unit = ns < 1000000 ? "us" : ns < 1000000000 ? "ms" : "s";
    value /= ns < 1000000 ? 1e3 : ns < 1000000000 ? 1e6 : 1e9;
    snprintf(text, size, "%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, unit);
}

void ids_recorder_text(const struct ids_slow_step *slow, char *text, size_t size) {
    char number[40], took[32], times[48] = "", late[64] = "", after[32];
    text[0] = '\0';
    if (!slow->took_ns) return;
    put_number(slow->number, number, sizeof number);
    put_time(slow->took_ns, took, sizeof took);
    if (slow->median_ns)
        snprintf(times, sizeof times, ", %.1f × the median", (double)slow->took_ns / (double)slow->median_ns);
    if (slow->late_ns) {
        put_time(slow->late_ns, after, sizeof after);
        snprintf(late, sizeof late, "; recorded from %s on", after);
    }
    snprintf(text, size, "step %s%s took %s%s%s%s", number, slow->goes_on ? ", or what followed it," : "",
             slow->goes_on ? "more than " : "", took, times, late);
}
