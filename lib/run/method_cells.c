#include "lib/run/method_cells.h"

#include "lib/base/counted.h"
#include "lib/base/decimal.h"
#include "lib/model/step_marks.h"
#include "lib/run/format_names.h"
#include "lib/run/recording_names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MOST = 1000000 };

/* A recording with what tells where it belongs. */
struct placed {
    struct ids_recording *recording;
    const char *method;
    double devices, named, recorded; /* 0: not known */
    size_t order;                    /* where all have labels, that of the operands; else all 0: the alphabet's */
    size_t rank;                     /* of the method among the others */
};

struct placing {
    struct ids_method_cells *cells;
    struct placed *at;
    size_t count;
    struct ids_recording_name *names;
};

static const char *keep(struct placing *placing, const char *text) {
    return ids_arena_copy(&placing->cells->recordings.arena, text, strlen(text));
}

/* ---- what a trace says ---- */

static double largest_cell(const struct ids_report *report, const char *id, const char *of_column) {
    const struct ids_table *table = ids_report_find_table(report, id);
    int column = ids_table_column(table, of_column);
    double most = 0;
    for (size_t row = 0; column >= 0 && row < table->row_count; row++)
        most = fmax(most, ids_value_number(*ids_table_cell(table, row, column)));
    return most;
}

static double active_devices(const struct ids_report *report) {
    const struct ids_table *devices = ids_report_find_table(report, "devices");
    int busy = ids_table_column(devices, "busy");
    double active = 0;
    for (size_t row = 0; busy >= 0 && row < devices->row_count; row++)
        active += !ids_table_cell(devices, row, busy)->missing;
    return active;
}

/* Of several processes each may write its own devices: then its collectives have more ranks than the trace devices.
 * And a trace that was cut may have lost some. */
static int is_a_part(const struct placed *placed) {
    const struct ids_report *report = &placed->recording->report;
    if (!report->complete) return 1;
    double ranks = largest_cell(report, "collectives", "group_size");
    const struct ids_table *collectives = ids_report_find_table(report, "collectives");
    if (ranks > 0) return ranks > placed->recorded;
    return placed->recorded == 1 && collectives && collectives->row_count;
}

static const char *why_unusable(const struct ids_report *report, double recorded) {
    const struct ids_table *steps = ids_report_find_table(report, "steps");
    if (recorded <= 0) return "no event of a device in it";
    if (!steps || !steps->row_count) return "no steps, which runs are compared by: " IDS_HOW_TO_MARK_STEPS;
    return NULL;
}

/* A trace that was cut may lack what it had. */
static void add_end(struct ids_recordings *recordings, struct ids_recording *recording) {
    char text[1024];
    if (!recording->why || recording->report.complete) return;
    snprintf(text, sizeof text, "%s; %s", recording->why, ids_report_why_incomplete(&recording->report));
    const char *copy = ids_arena_copy(&recordings->arena, text, strlen(text));
    if (copy) recording->why = copy;
}

/* ---- where a recording belongs ---- */

static void take_recordings(struct placing *placing) {
    struct ids_recordings *recordings = &placing->cells->recordings;
    placing->count = recordings->count;
    for (size_t i = 0; i < recordings->count; i++) {
        struct placed *placed = &placing->at[i];
        *placed = (struct placed){.recording = &recordings->at[i]};
        if (recordings->at[i].is_read) {
            placed->recorded = active_devices(&recordings->at[i].report);
            recordings->at[i].why = why_unusable(&recordings->at[i].report, placed->recorded);
            add_end(recordings, &recordings->at[i]);
        }
    }
}

static int read_names(struct placing *placing, struct ids_error *err) {
    for (size_t i = 0; i < placing->count; i++) {
        const struct placed *placed = &placing->at[i];
        placing->names[i] = (struct ids_recording_name){
            .path = placed->recording->path,
            .recorded = placed->recorded > 0 && !is_a_part(placed) ? placed->recorded : 0,
            .is_labelled = placed->recording->method != NULL,
            .is_folder = placed->recording->is_folder,
        };
    }
    return ids_recording_names_read(placing->names, placing->count, err);
}

static int add_note(struct placing *placing, const char *text, struct ids_error *err) {
    const char *copy = keep(placing, text);
    if (!copy) return ids_no_memory(err);
    placing->cells->notes[placing->cells->note_count++] = copy;
    return 0;
}

/* A name that says another number than the trace; a label is right though it does. */
static int note_contradiction(struct placing *placing, const struct placed *placed, struct ids_error *err) {
    char text[1024];
    double said = placed->recording->devices > 0 ? placed->recording->devices : placed->named;
    if (said <= 0 || placed->recorded <= 0 || said == placed->recorded) return 0;
    snprintf(text, sizeof text, "'%.600s' is named after %s, and its trace holds %.0f: it counts as %.0f",
             placed->recording->path, IDS_COUNTED(said, "device"), placed->recorded, placed->devices);
    return add_note(placing, text, err);
}

static int place(struct placing *placing, struct ids_error *err) {
    for (size_t i = 0; i < placing->count; i++) {
        struct placed *placed = &placing->at[i];
        const struct ids_recording_name *name = &placing->names[i];
        int name_counts = placed->recorded <= 0 || (is_a_part(placed) && name->devices > placed->recorded);
        placed->named = name->devices;
        placed->devices = placed->recording->devices > 0     ? placed->recording->devices
                          : name_counts && placed->named > 0 ? placed->named
                                                             : placed->recorded;
        placed->method = placed->recording->method ? placed->recording->method : name->method;
        int code = note_contradiction(placing, placed, err);
        if (code) return code;
    }
    return 0;
}

static int is_same_method(const struct placed *a, const struct placed *b) {
    return !strcmp(a->method, b->method);
}

static int are_methods_told(const struct placing *placing) {
    for (size_t i = 0; i < placing->count; i++) {
        const struct placed *placed = &placing->at[i];
        if (placed->recording->method || placed->named > 0 || placed->recording->is_folder) return 1;
        for (size_t k = 0; k < i; k++) {
            const struct placed *other = &placing->at[k];
            if (is_same_method(placed, other) != (placed->devices == other->devices)) return 1;
        }
    }
    return 0;
}

/* Where names put each run alone on another number of devices, they tell configurations, and no methods. */
static void name_methods(struct placing *placing) {
    if (are_methods_told(placing)) return;
    for (size_t i = 0; i < placing->count; i++) placing->at[i].method = "";
}

/* A run that cannot be read, and whose name says no number, belongs where all others are, if that is one place. */
static void place_lost(struct placing *placing) {
    double only = 0;
    for (size_t i = 0; i < placing->count; i++) {
        double devices = placing->at[i].devices;
        if (devices > 0) only = only == 0 || only == devices ? devices : -1;
    }
    for (size_t i = 0; i < placing->count; i++) {
        struct placed *placed = &placing->at[i];
        if (placed->devices <= 0 && !placed->recording->is_folder && only > 0) placed->devices = only;
    }
}

static int has_runs(const struct placing *placing, const char *method) {
    for (size_t i = 0; i < placing->count; i++) {
        if (!placing->at[i].recording->is_folder && !strcmp(placing->at[i].method, method)) return 1;
    }
    return 0;
}

/* Folders that hold no run are of interest where their name puts them beside runs: a log folder is not. */
static int drop_folders(struct placing *placing, struct ids_error *err) {
    size_t kept = 0;
    int code = 0;
    for (size_t i = 0; i < placing->count && !code; i++) {
        const struct placed *placed = &placing->at[i];
        char text[1024];
        if (!placed->recording->is_folder || (placed->devices > 0 && has_runs(placing, placed->method))) {
            placing->at[kept++] = *placed;
        } else if (placed->devices > 0) {
            snprintf(text, sizeof text, "'%.900s' holds no profile", placed->recording->path);
            code = add_note(placing, text, err);
        }
    }
    placing->count = kept;
    return code;
}

/* ---- order ---- */

static int comes_first(const struct placed *a, const struct placed *b) {
    if (a->order != b->order) return a->order < b->order;
    return strcmp(a->method, b->method) < 0;
}

static void rank_methods(struct placing *placing) {
    int are_labelled = 1;
    for (size_t i = 0; i < placing->count; i++) are_labelled &= placing->at[i].recording->method != NULL;
    for (size_t i = 0; i < placing->count; i++)
        placing->at[i].order = are_labelled ? placing->at[i].recording->operand : 0;
    for (size_t i = 0; i < placing->count; i++) {
        const struct placed *first = NULL;
        for (size_t k = 0; k < placing->count; k++) {
            const struct placed *other = &placing->at[k];
            if (is_same_method(&placing->at[i], other) && (!first || comes_first(other, first))) first = other;
        }
        placing->at[i].rank = (size_t)(first - placing->at);
    }
}

static int is_word(const char *list, const char *method, size_t *ret_number) {
    size_t number = 0;
    for (const char *word = list; word; number++) {
        size_t length = strcspn(word, ",");
        if (strlen(method) == length && !strncmp(word, method, length)) {
            *ret_number = number;
            return 1;
        }
        word = word[length] ? word + length + 1 : NULL;
    }
    return 0;
}

static int unknown_method(const struct placing *placing, const char *word, size_t length, struct ids_error *err) {
    char known[256] = "";
    for (size_t i = 0; i < placing->count; i++) {
        size_t used = strlen(known), first = 0;
        while (!is_same_method(&placing->at[first], &placing->at[i])) first++;
        if (first == i && *placing->at[i].method)
            snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", placing->at[i].method);
    }
    return ids_fail(err, IDS_USAGE, "--methods: there is no method '%.*s' (%s)", (int)length, word,
                    *known ? known : "the names tell no methods");
}

/* Only the wanted ones, in the order in which they were asked for. */
static int choose_methods(struct placing *placing, const char *methods, struct ids_error *err) {
    size_t kept = 0, rank;
    for (const char *word = methods; word;) {
        size_t length = strcspn(word, ","), i = 0;
        while (i < placing->count &&
               (strlen(placing->at[i].method) != length || strncmp(placing->at[i].method, word, length) != 0))
            i++;
        if (i == placing->count) return unknown_method(placing, word, length, err);
        word = word[length] ? word + length + 1 : NULL;
    }
    for (size_t i = 0; i < placing->count; i++) {
        if (!is_word(methods, placing->at[i].method, &rank)) continue;
        placing->at[kept] = placing->at[i];
        placing->at[kept++].rank = rank;
    }
    placing->count = kept;
    return 0;
}

static int by_cell(const void *a, const void *b, void *data) {
    const struct placed *left = a, *right = b, *first = data;
    if (left->rank != right->rank) {
        if (!first) return left->rank < right->rank ? -1 : 1;
        return comes_first(&first[left->rank], &first[right->rank]) ? -1 : 1;
    }
    if (left->devices != right->devices) return left->devices < right->devices ? -1 : 1;
    return (left->recording > right->recording) - (left->recording < right->recording);
}

static int put_in_order(struct placing *placing, const char *methods, struct ids_error *err) {
    if (!placing->count) return 0;
    if (methods) {
        int code = choose_methods(placing, methods, err);
        if (!code && placing->count) qsort_r(placing->at, placing->count, sizeof *placing->at, by_cell, NULL);
        return code;
    }
    struct placed *first = calloc(placing->count, sizeof *first);
    if (!first) return ids_no_memory(err);
    rank_methods(placing);
    memcpy(first, placing->at, placing->count * sizeof *first);
    qsort_r(placing->at, placing->count, sizeof *placing->at, by_cell, first);
    free(first);
    return 0;
}

/* ---- cells ---- */

static int same_cell(const struct placed *a, const struct placed *b) {
    return a->rank == b->rank && a->devices == b->devices;
}

static int add_cell(struct placing *placing, size_t from, size_t to, struct ids_error *err) {
    struct ids_method_cells *cells = placing->cells;
    struct ids_scale_input *cell = &cells->at[cells->count];
    size_t usable = 0;
    for (size_t i = from; i < to; i++) {
        const struct placed *placed = &placing->at[i];
        cells->traces[i] = (struct ids_scale_trace){.name = placed->recording->name,
                                                    .path = placed->recording->path,
                                                    .why = placed->recording->why,
                                                    .report = &placed->recording->report,
                                                    .named = placed->named,
                                                    .recorded = placed->recorded};
        if (!placed->recording->why) cells->reports[from + usable++] = &placed->recording->report;
    }
    *cell = (struct ids_scale_input){.method = placing->at[from].method,
                                     .devices = placing->at[from].devices,
                                     .traces = &cells->traces[from],
                                     .trace_count = to - from};
    cells->count++;
    if (!usable) return 0;
    char label[256];
    snprintf(label, sizeof label, "%s%son %s", cell->method, *cell->method ? " " : "",
             IDS_COUNTED(cell->devices, "device"));
    const char *copy = keep(placing, label);
    if (!copy) return ids_no_memory(err);
    cell->side = &cells->sides[cells->count - 1];
    return ids_side_init(cell->side, copy, &cells->reports[from], usable, ids_format_lacks, err);
}

static int add_cells(struct placing *placing, struct ids_error *err) {
    int code = 0;
    for (size_t i = 0, end = 0; i < placing->count && !code; i = end) {
        while (end < placing->count && same_cell(&placing->at[i], &placing->at[end])) end++;
        code = add_cell(placing, i, end, err);
    }
    return code;
}

/* ---- */

/* "1,2,4,8", one an operand. */
static int read_devices(struct ids_recordings *recordings, const char *text, size_t operands, struct ids_error *err) {
    size_t operand = 0;
    for (const char *word = text; word; operand++) {
        size_t length = strcspn(word, ",");
        int64_t number;
        if (ids_decimal_integer(word, length, &number) != 1 || number < 1 || number > DEVICES_MOST)
            return ids_fail(err, IDS_USAGE, "--devices: '%.*s' is not a number of devices", (int)length, word);
        for (size_t i = 0; i < recordings->count; i++) {
            if (recordings->at[i].operand == operand) recordings->at[i].devices = (double)number;
        }
        word = word[length] ? word + length + 1 : NULL;
    }
    if (operand == operands) return 0;
    return ids_fail(err, IDS_USAGE, "--devices names %zu numbers for %zu runs", operand, operands);
}

static int make_room(struct placing *placing, struct ids_error *err) {
    struct ids_method_cells *cells = placing->cells;
    size_t count = cells->recordings.count + 1;
    cells->at = calloc(count, sizeof *cells->at);
    cells->traces = calloc(count, sizeof *cells->traces);
    cells->sides = calloc(count, sizeof *cells->sides);
    cells->reports = calloc(count, sizeof *cells->reports);
    cells->notes = calloc(count, sizeof *cells->notes);
    placing->at = calloc(count, sizeof *placing->at);
    placing->names = calloc(count, sizeof *placing->names);
    int failed = !cells->at || !cells->traces || !cells->sides || !cells->reports || !cells->notes || !placing->at ||
                 !placing->names;
    return failed ? ids_no_memory(err) : 0;
}

static int keep_methods(struct placing *placing, struct ids_error *err) {
    for (size_t i = 0; i < placing->count; i++) {
        if (!(placing->at[i].method = keep(placing, placing->at[i].method))) return ids_no_memory(err);
    }
    return 0;
}

static int make_cells(struct placing *placing, const char *methods, struct ids_error *err) {
    take_recordings(placing);
    int code = read_names(placing, err);
    if (!code) code = place(placing, err);
    if (code) return code;
    name_methods(placing);
    place_lost(placing);
    code = drop_folders(placing, err);
    if (!code) code = keep_methods(placing, err);
    if (!code) code = put_in_order(placing, methods, err);
    return code ? code : add_cells(placing, err);
}

int ids_method_cells_open(struct ids_engine *engine, char *const *operands, int count, const char *devices,
                          const char *methods, struct ids_method_cells *ret_cells, struct ids_error *err) {
    struct placing placing = {.cells = ret_cells};
    *ret_cells = (struct ids_method_cells){0};
    if (devices && count == 1)
        return ids_fail(err, IDS_USAGE, "--devices names a number for each RUN, and '%s' is one", operands[0]);
    int code = ids_recordings_open(engine, operands, count, &ret_cells->recordings, err);
    if (code) return code;
    code = make_room(&placing, err);
    if (!code && devices) code = read_devices(&ret_cells->recordings, devices, (size_t)count, err);
    if (!code) code = make_cells(&placing, methods, err);
    free(placing.at);
    free(placing.names);
    if (code) ids_method_cells_done(ret_cells);
    return code;
}

void ids_method_cells_done(struct ids_method_cells *cells) {
    for (size_t i = 0; i < cells->count; i++) {
        if (cells->at[i].side) ids_side_done(cells->at[i].side);
    }
    free(cells->at);
    free(cells->traces);
    free(cells->sides);
    free(cells->reports);
    free(cells->notes);
    ids_recordings_done(&cells->recordings);
    *cells = (struct ids_method_cells){0};
}
