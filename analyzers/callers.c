#include "analyzers/callers.h"

#include "lib/base/saturate.h"
#include "lib/model/python_frame.h"
#include "lib/model/stacks.h"
#include "lib/model/told_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 200, MOST_CALLERS = 10 };

/* A line of the program, of the frame next to the function that is no library's. */
struct caller {
    uint32_t text; /* of the frame: "$./train.py:57 load_batch" */
    int64_t ps;    /* in which samples saw the function below it */
};

struct callers {
    struct caller *at; /* most time first */
    size_t count;
    int64_t ps; /* of all */
};

static const struct ids_column_def columns[] = {
    {"account", "account", IDS_UNIT_NONE, 0},
    {"culprit", "culprit", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"where", "where", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"share", "share", IDS_UNIT_RATIO, 0},
    {"time", "time", IDS_UNIT_TIME, 0},
    {"caller", "called by", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"file", "file", IDS_UNIT_NONE, IDS_COLUMN_LONG},
    {"line", "line", IDS_UNIT_COUNT, 0},
};
const struct ids_table_def ids_callers_table = {
    "callers",
    "who calls the culprits",
    columns,
    IDS_COUNT_OF(columns),
    "Of culprits of table ledger that are functions of the program, or calls in one, the lines of the program that "
    "call that function, by sampled stacks: `time` is how long samples saw it below that line, in the threads that "
    "launch (of what another thread has or does that is waited for: in the others), waited for by a device or not, "
    "`share` that time's part of all such lines'. Frames of libraries and of decorators (`wrapper`) between them are "
    "left out. The ten lines with most time, of 200 rows at most.",
    0,
};

/* --- whose threads ---------------------------------------------------------------------------------------------- */

static int launches(const struct ids_trace *trace, const struct ids_track *track) {
    for (size_t i = 0; i < track->timeline.count; i++) {
        if (trace->doings[track->timeline.doing[i]].account == IDS_HOST_DISPATCH) return 1;
    }
    return 0;
}

/* By track of sampled stacks: whether its thread launches. The thread's own track has the same number. */
static uint8_t *find_launching(const struct ids_trace *trace) {
    uint8_t *is_launching = calloc(trace->track_count + 1, sizeof *is_launching);
    for (size_t t = 0; is_launching && t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (!track->timeline.count || !launches(trace, track)) continue;
        for (size_t s = 0; s < trace->track_count; s++) {
            const struct ids_track *sampled = &trace->tracks[s];
            if (sampled->sampling && sampled->host == track->host && sampled->id == track->id) is_launching[s] = 1;
        }
    }
    return is_launching;
}

/* --- stacks ----------------------------------------------------------------------------------------------------- */

/* What is known of each stack, for any function; what is around a stack stands before it. */
struct stack {
    uint64_t function;
    uint32_t program; /* the innermost stack of the program at or around it that is no decorator's: index + 1 */
};

struct tree {
    const struct ids_trace *trace;
    struct stack *at;
    uint32_t *caller; /* by stack: the caller of the function that is looked for, where it is in it: index + 1 */
    uint8_t *is_launching;
};

static struct ids_text text_of(const struct ids_trace *trace, uint32_t text) {
    return ids_strings_text(&trace->strings, text);
}

static int is_of_program(struct ids_text name) {
    enum ids_frame_owner owner = ids_python_frame_owner(name);
    return owner == IDS_FRAME_OF_PROGRAM || owner == IDS_FRAME_OF_EITHER;
}

/* What a decorator puts around a function has such a name by custom, calls what it was given, and says nothing of who
 * needs it. Samples cannot tell it from a function that does. */
static int is_of_decorator(struct ids_text name) {
    static const char *const names[] = {"wrapper", "_wrapper",  "wrapped",    "_wrapped",     "inner",
                                        "_inner",  "decorated", "_decorated", "wrapper_func", "inner_function"};
    struct ids_python_call call;
    if (!ids_python_call_of(name, &call)) return 0;
    for (size_t n = 0; n < IDS_COUNT_OF(names); n++) {
        if (ids_text_is(call.function, names[n])) return 1;
    }
    return 0;
}

static void tree_done(struct tree *tree) {
    free(tree->at);
    free(tree->caller);
    free(tree->is_launching);
}

static int tree_init(struct tree *tree, const struct ids_trace *trace) {
    *tree = (struct tree){.trace = trace,
                          .at = calloc(trace->stack_count + 1, sizeof *tree->at),
                          .caller = calloc(trace->stack_count + 1, sizeof *tree->caller),
                          .is_launching = find_launching(trace)};
    if (!tree->at || !tree->caller || !tree->is_launching) return -1;
    for (size_t s = 0; s < trace->stack_count; s++) {
        const struct ids_stack *stack = &trace->stacks[s];
        if (!stack->outside) continue; /* a thread */
        struct ids_text name = text_of(trace, stack->text);
        tree->at[s].function = ids_python_function_key(name);
        uint32_t around = tree->at[stack->outside - 1].program;
        int calls = is_of_program(name) && !(around && is_of_decorator(name));
        tree->at[s].program = calls ? (uint32_t)s + 1 : around;
    }
    return 0;
}

static int add(struct callers *callers, struct ids_keymap *numbers, uint32_t text, int64_t ps) {
    uint64_t *number = ids_keymap_at(numbers, (uint64_t)text + 1);
    if (!number) return -1;
    if (!*number || !callers->at) {
        struct caller *grown = realloc(callers->at, (callers->count + 1) * sizeof *grown);
        if (!grown) return -1;
        callers->at = grown;
        callers->at[callers->count++] = (struct caller){text, 0};
        *number = callers->count;
    }
    ids_sum(&callers->at[*number - 1].ps, ps);
    ids_sum(&callers->ps, ps);
    return 0;
}

static int most_first(const void *a, const void *b) {
    const struct caller *left = a, *right = b;
    if (left->ps != right->ps) return left->ps < right->ps ? 1 : -1;
    return (left->text > right->text) - (left->text < right->text);
}

/* Of a function that calls itself, whoever called it first is meant. */
static int find(const struct tree *tree, uint64_t function, int of_others, struct callers *callers) {
    const struct ids_trace *trace = tree->trace;
    struct ids_keymap numbers = {0};
    int failed = 0;
    for (size_t s = 0; s < trace->stack_count && !failed; s++) {
        const struct ids_stack *stack = &trace->stacks[s];
        uint32_t outside = stack->outside, caller = outside ? tree->caller[outside - 1] : 0;
        if (outside && !caller && tree->at[s].function == function) caller = tree->at[outside - 1].program;
        tree->caller[s] = caller;
        if (caller && stack->self_ps && tree->is_launching[stack->track] != of_others)
            failed = add(callers, &numbers, trace->stacks[caller - 1].text, stack->self_ps);
    }
    ids_keymap_done(&numbers);
    return failed;
}

/* The callers of an entry's function, in the threads whose doing it is. */
static int find_of(const struct tree *tree, const struct ids_ledger_entry *entry, struct callers *callers) {
    *callers = (struct callers){0};
    uint64_t function = ids_python_function_key(text_of(tree->trace, entry->frame));
    if (find(tree, function, entry->is_of_other_thread, callers)) return -1;
    if (callers->count) qsort(callers->at, callers->count, sizeof *callers->at, most_first);
    return 0;
}

/* --- words ------------------------------------------------------------------------------------------------------ */

/* The loop of a script calls its functions: that says nothing new. */
static int is_own_module(const struct ids_trace *trace, const struct ids_ledger_entry *entry, uint32_t caller) {
    struct ids_python_frame frame, own;
    if (!ids_python_frame_of(text_of(trace, caller), &frame)) return 1;
    if (!ids_text_is(frame.function, "<module>")) return 0;
    return ids_python_frame_of(text_of(trace, entry->frame), &own) && own.file.length == frame.file.length &&
           !memcmp(own.file.at, frame.file.at, own.file.length);
}

/* "load_batch (train.py:57)" */
static const char *name_of(const struct ids_trace *trace, uint32_t caller, struct ids_report *report) {
    struct ids_python_frame call;
    if (!ids_python_frame_of(text_of(trace, caller), &call)) return "";
    const struct ids_text file = ids_told_file(trace, call.file);
    return ids_report_text(report, "%.*s (%.*s:%" PRId64 ")", (int)call.function.length, call.function.at,
                           (int)file.length, file.at, call.line);
}

static const char *words_of(const struct ids_trace *trace, const struct ids_ledger_entry *entry,
                            const struct callers *callers, struct ids_report *report) {
    char buffer[IDS_VALUE_ROOM];
    if (!callers->count) return "";
    const char *most = name_of(trace, callers->at[0].text, report);
    if (callers->count == 1)
        return is_own_module(trace, entry, callers->at[0].text) ? "" : ids_report_text(report, "; called by %s", most);
    double share = (double)callers->at[0].ps / (double)callers->ps;
    return ids_report_text(report, "; %s of its time called by %s, one of %zu lines",
                           ids_value_format(ids_real_value(IDS_UNIT_RATIO, share), buffer, sizeof buffer), most,
                           callers->count);
}

const char *ids_callers_in_words(const struct ids_trace *trace, const struct ids_ledger_entry *entry,
                                 struct ids_report *report) {
    struct tree tree;
    struct callers callers = {0};
    if (!entry->frame || !trace->stack_count) return "";
    int failed = tree_init(&tree, trace) || find_of(&tree, entry, &callers);
    const char *words = failed ? "" : words_of(trace, entry, &callers, report);
    free(callers.at);
    tree_done(&tree);
    return words;
}

/* Whether a function launches: a loop calls all that it is made of, which says nothing. */
static int launches_itself(const struct ids_trace *trace, uint64_t function) {
    for (size_t n = 0; n < trace->name_count; n++) {
        if (trace->names[n].launched && ids_python_function_key(text_of(trace, trace->names[n].text)) == function)
            return 1;
    }
    return 0;
}

/* The function that has nearly all calls of an entry's, by the text of its frame; 0: none, or it is a module. */
static uint32_t only_caller(const struct tree *tree, const struct ids_ledger_entry *entry) {
    struct callers callers;
    struct ids_python_frame frame;
    uint32_t only = 0;
    int failed = find_of(tree, entry, &callers);
    if (!failed && callers.count && callers.at[0].ps > callers.ps / 10 * 9 &&
        ids_python_frame_of(text_of(tree->trace, callers.at[0].text), &frame) &&
        !ids_text_is(frame.function, "<module>"))
        only = callers.at[0].text;
    free(callers.at);
    return only;
}

static int is_sibling(const struct ids_piece *piece) {
    return piece->account == IDS_HOST_PYTHON && piece->scope == IDS_REMEDY_OF_CULPRIT && piece->time_ps > 0 &&
           piece->most->frame && !piece->most->is_of_other_thread;
}

const char *ids_siblings_in_words(const struct ids_trace *trace, const struct ids_pieces *pieces,
                                  const struct ids_piece *piece, int64_t whole_ps, struct ids_report *report) {
    enum { MOST_PIECES = 8 };
    struct tree tree;
    char buffer[IDS_VALUE_ROOM];
    if (!is_sibling(piece) || !trace->stack_count || whole_ps <= 0) return "";
    uint32_t caller = tree_init(&tree, trace) ? 0 : only_caller(&tree, piece->most);
    uint64_t function = caller ? ids_python_function_key(text_of(trace, caller)) : 0;
    int64_t all_ps = piece->time_ps;
    const size_t place = (size_t)(piece - pieces->at);
    size_t others = 0;
    int is_told = 0, is_asked = function && !launches_itself(trace, function);
    for (size_t i = 0; is_asked && i < pieces->count && i < MOST_PIECES; i++) {
        const struct ids_piece *other = &pieces->at[i];
        if (other == piece || !is_sibling(other) || other->time_ps < piece->time_ps / 2) continue;
        uint32_t its = only_caller(&tree, other->most);
        if (!its || ids_python_function_key(text_of(trace, its)) != function) continue;
        is_told |= i < place; /* of the longest of them */
        ids_sum(&all_ps, other->time_ps);
        others++;
    }
    tree_done(&tree);
    if (!others || is_told) return "";
    double share = (double)all_ps / (double)whole_ps;
    return ids_report_text(report, "; %s calls it and %zu other%s of these, together %s",
                           name_of(trace, caller, report), others, others == 1 ? "" : "s",
                           ids_value_format(ids_real_value(IDS_UNIT_RATIO, share), buffer, sizeof buffer));
}

/* --- how long a function takes, with all it calls ----------------------------------------------------------------- */

/* What was asked about a stack, in the order of stacks: what is around one comes first. */
struct inside {
    uint32_t outermost; /* the stack of such a function that is around it, or itself: index + 1; 0: none is */
    int launches;       /* it, or what is around it, launches */
};

static int is_asked(const struct tree *tree, uint32_t text, int (*is_it)(const char *function)) {
    char function[256];
    struct ids_python_call call;
    struct ids_text name = text_of(tree->trace, text);
    if (!is_of_program(name) || !ids_python_call_of(name, &call)) return 0;
    snprintf(function, sizeof function, "%.*s", (int)call.function.length, call.function.at);
    return is_it(function);
}

/* The texts of frames that launch. */
static int find_launchers(const struct ids_trace *trace, struct ids_keymap *launchers) {
    for (size_t n = 0; n < trace->name_count; n++) {
        if (trace->names[n].launched && ids_keymap_add(launchers, (uint64_t)trace->names[n].text + 1, 1) < 0) return -1;
    }
    return 0;
}

/* Time below each such function, by its key; *ret_all: of all stacks. 1: they launch outside of these too. -1: no
 * memory. */
static int sum_inside(const struct tree *tree, struct inside *inside, int (*is_it)(const char *function),
                      struct ids_keymap *sums, int64_t *ret_all_ps) {
    const struct ids_trace *trace = tree->trace;
    struct ids_keymap launchers = {0};
    int launches_outside = 0, failed = find_launchers(trace, &launchers);
    for (size_t s = 0; s < trace->stack_count && !failed; s++) {
        const struct ids_stack *stack = &trace->stacks[s];
        uint64_t unused, *sum = NULL;
        if (!stack->outside || !tree->is_launching[stack->track]) continue;
        inside[s] = inside[stack->outside - 1];
        inside[s].launches |= ids_keymap_get(&launchers, (uint64_t)stack->text + 1, &unused);
        if (!inside[s].outermost && is_asked(tree, stack->text, is_it)) inside[s].outermost = (uint32_t)s + 1;
        ids_sum(ret_all_ps, stack->self_ps);
        launches_outside |= inside[s].launches && !inside[s].outermost && stack->self_ps > 0;
        if (inside[s].outermost) failed = !(sum = ids_keymap_at(sums, tree->at[inside[s].outermost - 1].function));
        if (sum) *sum += (uint64_t)stack->self_ps;
    }
    ids_keymap_done(&launchers);
    return failed ? -1 : launches_outside;
}

int ids_callers_longest(const struct ids_trace *trace, int (*is_it)(const char *function), struct ids_report *report,
                        struct ids_function_time *ret_time) {
    struct tree tree;
    struct ids_keymap sums = {0};
    struct inside *inside = calloc(trace->stack_count + 1, sizeof *inside);
    int64_t all_ps = 0;
    uint64_t most_ps = 0, own_ps;
    size_t most = SIZE_MAX;
    int failed = tree_init(&tree, trace) || !inside;
    int is_found = !failed && sum_inside(&tree, inside, is_it, &sums, &all_ps) == 1;
    for (size_t s = 0; is_found && s < trace->stack_count; s++) {
        if (inside[s].outermost != s + 1 || !ids_keymap_get(&sums, tree.at[s].function, &own_ps)) continue;
        if (own_ps > most_ps) most_ps = own_ps, most = s;
    }
    struct ids_python_call call;
    is_found = most != SIZE_MAX && all_ps > 0 && ids_python_call_of(text_of(trace, trace->stacks[most].text), &call);
    if (is_found) {
        const struct ids_text file = ids_told_file(trace, call.file);
        uint32_t outside = trace->stacks[most].outside, caller = outside ? tree.at[outside - 1].program : 0;
        *ret_time = (struct ids_function_time){
            .function = ids_report_text(report, "%.*s", (int)call.function.length, call.function.at),
            .file = ids_report_text(report, "%.*s", (int)file.length, file.at),
            .caller = caller ? name_of(trace, trace->stacks[caller - 1].text, report) : "",
            .share = (double)most_ps / (double)all_ps};
    }
    ids_keymap_done(&sums);
    free(inside);
    tree_done(&tree);
    return is_found;
}

/* Percent of the time. Where one line has more the place says it; of the others, the least that is named. */
enum { NEARLY_ALL = 80, LEAST_OF_LINE = 10, MOST_LINES = 3 };

static const char *lines_of(const struct ids_trace *trace, const struct callers *lines, struct ids_report *report) {
    const char *said = "";
    size_t named = 0;
    if (lines->count < 2 || lines->at[0].ps >= lines->ps / 100 * NEARLY_ALL) return said;
    while (named < lines->count && named < MOST_LINES && lines->at[named].ps >= lines->ps / 100 * LEAST_OF_LINE)
        named++;
    for (size_t i = 0; i < named; i++) {
        char buffer[IDS_VALUE_ROOM];
        struct ids_python_call call;
        if (!ids_python_call_of(text_of(trace, lines->at[i].text), &call)) return "";
        double share = (double)lines->at[i].ps / (double)lines->ps;
        said =
            ids_report_text(report, "%s%s%" PRId64 " (%s)", said,
                            !i              ? ""
                            : i + 1 < named ? ", "
                                            : " and ",
                            call.line, ids_value_format(ids_real_value(IDS_UNIT_RATIO, share), buffer, sizeof buffer));
    }
    if (!named) return ids_report_text(report, ", in %zu lines", lines->count);
    if (named == 1) return ids_report_text(report, ", line %s of %zu lines", said, lines->count);
    return ids_report_text(report, ", lines %s", said);
}

const char *ids_lines_in_words(const struct ids_trace *trace, const struct ids_ledger *ledger,
                               const struct ids_ledger_entry *entry, struct ids_report *report) {
    struct callers lines = {0};
    struct ids_python_frame frame;
    if (entry->lines == IDS_NO_LINES || !ids_python_frame_of(text_of(trace, entry->frame), &frame)) return "";
    if (ids_text_is(frame.function, "<module>")) return "";
    lines.at = calloc(ledger->line_count + 1, sizeof *lines.at);
    if (!lines.at) return "";
    for (size_t l = 0; l < ledger->line_count; l++) {
        const struct ids_entry_line *line = &ledger->lines[l];
        if (&ledger->entries[line->entry] != entry) continue;
        lines.at[lines.count++] = (struct caller){line->frame, line->ps};
        ids_sum(&lines.ps, line->ps);
    }
    if (lines.count) qsort(lines.at, lines.count, sizeof *lines.at, most_first);
    const char *words = lines_of(trace, &lines, report);
    free(lines.at);
    return words;
}

static void list_callers(const struct ids_analysis *analysis, const struct ids_ledger_entry *entry,
                         const struct callers *callers, struct ids_report *report, struct ids_table *table) {
    const struct ids_trace *trace = analysis->trace;
    const struct ids_strings *texts = &analysis->ledger.texts;
    for (size_t c = 0; c < callers->count && c < MOST_CALLERS && table->row_count < MOST_ROWS; c++) {
        struct ids_python_frame frame;
        if (!ids_python_frame_of(text_of(trace, callers->at[c].text), &frame)) continue;
        struct ids_value cells[] = {
            ids_text_value(ids_account_id((enum ids_account)entry->account)),
            ids_text_value(entry->culprit ? ids_strings_z(texts, entry->culprit) : NULL),
            ids_text_value(entry->where ? ids_strings_z(texts, entry->where) : NULL),
            ids_real_value(IDS_UNIT_RATIO, (double)callers->at[c].ps / (double)callers->ps),
            ids_int_value(IDS_UNIT_TIME, callers->at[c].ps),
            ids_text_value(ids_report_text(report, "%.*s", (int)frame.function.length, frame.function.at)),
            ids_text_value(ids_report_text(report, "%.*s", (int)frame.file.length, frame.file.at)),
            ids_int_value(IDS_UNIT_COUNT, frame.line),
        };
        IDS_ROW(report, table, columns, cells);
    }
}

static int most_time_first(const void *a, const void *b) {
    const struct ids_ledger_entry *left = *(const struct ids_ledger_entry *const *)a,
                                  *right = *(const struct ids_ledger_entry *const *)b;
    int64_t left_ps = ids_ledger_entry_time(left), right_ps = ids_ledger_entry_time(right);
    if (left_ps != right_ps) return left_ps < right_ps ? 1 : -1;
    return (left > right) - (left < right);
}

int ids_callers_list(const struct ids_analysis *analysis, struct ids_report *report) {
    const struct ids_ledger *ledger = &analysis->ledger;
    struct ids_table *table = ids_report_table(report, &ids_callers_table);
    const struct ids_ledger_entry **order = malloc((ledger->entry_count + 1) * sizeof *order);
    size_t count = 0;
    if (!order) return -1;
    for (size_t e = 0; e < ledger->entry_count; e++) {
        const struct ids_ledger_entry *entry = &ledger->entries[e];
        if (entry->frame && ids_ledger_entry_time(entry)) order[count++] = entry;
    }
    if (count) qsort(order, count, sizeof *order, most_time_first);
    struct tree tree;
    int failed = tree_init(&tree, analysis->trace);
    for (size_t i = 0; i < count && table->row_count < MOST_ROWS && !failed; i++) {
        struct callers callers;
        failed = find_of(&tree, order[i], &callers);
        if (!failed) list_callers(analysis, order[i], &callers, report, table);
        free(callers.at);
    }
    tree_done(&tree);
    free(order);
    return failed ? -1 : 0;
}
