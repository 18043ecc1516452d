#include "lib/analysis/step_sums.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

static int by_step(const void *a, const void *b) {
    const struct ids_step_cell *left = a, *right = b;
    return (left->step > right->step) - (left->step < right->step);
}

/* One cell a step, in order. */
static void settle(struct ids_step_sum *row) {
    size_t kept = 0;
    if (!row->unordered) return;
    qsort(row->cells, row->count, sizeof *row->cells, by_step);
    for (size_t i = 1; i < row->count; i++) {
        if (row->cells[i].step == row->cells[kept].step)
            ids_sum(&row->cells[kept].ps, row->cells[i].ps);
        else
            row->cells[++kept] = row->cells[i];
    }
    row->count = kept + 1;
    row->last = kept;
    row->unordered = 0;
}

/* How many of the first `count` cells, which are in order, are of earlier steps. */
static size_t count_earlier(const struct ids_step_sum *row, size_t count, uint32_t step) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (row->cells[middle].step < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The cell of the step, NULL when there is none yet. Events of a device come in order of its steps, those of the
 * next device begin anew. */
static struct ids_step_cell *cell_of(struct ids_step_sum *row, uint32_t step) {
    if (row->last < row->count && row->cells[row->last].step == step) return &row->cells[row->last];
    if (row->last + 1 < row->count && row->cells[row->last + 1].step == step) return &row->cells[++row->last];
    if (row->unordered || !row->count || row->cells[row->count - 1].step < step) return NULL;
    size_t at = count_earlier(row, row->count, step);
    if (row->cells[at].step != step) return NULL;
    row->last = at;
    return &row->cells[at];
}

/* A step that comes late, because a device works at several at a time, gets its place at once, if it is not far. */
static int add_cell(struct ids_step_sum *row, uint32_t step, int64_t ps) {
    enum { FAR_CELLS = 1024 };
    struct ids_step_cell *cell = IDS_PUSH(row->cells, row->count, row->room);
    if (!cell) return -1;
    size_t end = row->count - 1, to = end;
    if (end && row->cells[end - 1].step > step && !row->unordered) to = count_earlier(row, end, step);
    if (end - to > FAR_CELLS) {
        row->unordered = 1;
        to = end;
    }
    cell = &row->cells[to];
    memmove(cell + 1, cell, (end - to) * sizeof *cell);
    *cell = (struct ids_step_cell){step, ps};
    row->last = to;
    return 0;
}

int ids_step_sums_add(struct ids_step_sums *sums, size_t number, const struct ids_event *event, int64_t ps) {
    const struct ids_steps *steps = &sums->analysis->steps;
    const struct ids_step *step = steps->count ? ids_step_of_device_event(sums->analysis, event) : NULL;
    if (ids_step_sums_add_to(sums, number, step ? (uint32_t)(step - steps->at) : IDS_NONE, ps)) return -1;
    if (step) sums->at[number].begun += event->begins_run;
    return 0;
}

int ids_step_sums_add_to(struct ids_step_sums *sums, size_t number, uint32_t index, int64_t ps) {
    const struct ids_steps *steps = &sums->analysis->steps;
    if (index == IDS_NONE) return 0; /* a run without steps holds nothing for each of its kernels */
    while (sums->count <= number) {
        struct ids_step_sum *fresh = IDS_PUSH(sums->at, sums->count, sums->room);
        if (!fresh) return -1;
        *fresh = (struct ids_step_sum){0};
    }
    struct ids_step_sum *row = &sums->at[number];
    ids_sum(&row->total_ps, ps);
    row->events++;
    struct ids_step_cell *cell = cell_of(row, index);
    if (!cell && row->count == 2 * steps->count && row->unordered) { /* steps that alternate */
        settle(row);
        cell = cell_of(row, index);
    }
    if (cell) {
        ids_sum(&cell->ps, ps);
        return 0;
    }
    if (!row->count) {
        sums->is_full |= sums->cells + steps->count > IDS_STEP_SUM_CELLS;
        if (sums->cells + steps->count > IDS_STEP_SUM_CELLS) return 0;
        sums->cells += steps->count;
    }
    return add_cell(row, index, ps);
}

int ids_step_sums_take(struct ids_step_sums *sums, size_t number, const struct ids_step_sum *row) {
    int failed = 0;
    for (size_t i = 0; i < row->count && !failed; i++)
        failed = ids_step_sums_add_to(sums, number, row->cells[i].step, row->cells[i].ps);
    return failed;
}

const struct ids_step_sum *ids_step_sum_of(struct ids_step_sums *sums, size_t number) {
    static const struct ids_step_sum empty;
    if (number >= sums->count) return &empty;
    settle(&sums->at[number]);
    return &sums->at[number];
}

double ids_step_sum_squares(const struct ids_step_sum *row) {
    double squares = 0;
    for (size_t i = 0; i < row->count; i++)
        squares += (double)row->cells[i].ps * 1e-12 * ((double)row->cells[i].ps * 1e-12);
    return squares;
}

enum { NUMBER_BYTES = 24 };

/* Digits from behind: snprintf took a tenth of the instructions of a whole report (of a million events in 2,020
 * steps). Returns the end. */
static char *put_number(char *to, int64_t value) {
    char digits[NUMBER_BYTES];
    size_t at = sizeof digits;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (value < 0) digits[--at] = '-';
    memcpy(to, digits + at, sizeof digits - at);
    return to + (sizeof digits - at);
}

const char *ids_step_sum_text(const struct ids_step_sums *sums, const struct ids_step_sum *row,
                              struct ids_report *report) {
    if (!row->count) return NULL;
    const size_t steps = sums->analysis->steps.count;
    const struct ids_step_cell *cell = row->cells, *end = cell + row->count;
    char *text = malloc(2 * steps + row->count * NUMBER_BYTES + 2), *to = text;
    if (!text) {
        report->out_of_memory = 1;
        return NULL;
    }
    for (size_t s = 0; s < steps; s++) {
        *to++ = s ? ',' : '[';
        if (cell < end && cell->step == s)
            to = put_number(to, cell++->ps);
        else
            *to++ = '0';
    }
    *to++ = ']';
    const char *kept = ids_arena_copy(&report->arena, text, (size_t)(to - text));
    if (!kept) report->out_of_memory = 1;
    free(text);
    return kept;
}

void ids_step_sums_done(struct ids_step_sums *sums) {
    for (size_t i = 0; i < sums->count; i++) free(sums->at[i].cells);
    free(sums->at);
    *sums = (struct ids_step_sums){0};
}
