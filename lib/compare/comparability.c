#include "lib/compare/comparability.h"

#include "lib/base/counted.h"
#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/compare/call_rates.h"
#include "lib/compare/cores.h"
#include "lib/compare/held_changes.h"
#include "lib/compare/outside.h"
#include "lib/hlo/base_name.h"
#include "lib/model/step_marks.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_STEPS = 5, NAMES_SHOWN = 3 };

const char *ids_remark_severity_name(enum ids_remark_severity severity) {
    static const char *const names[] = {"note", "warning", "unlike"};
    return names[severity];
}

struct looking {
    const struct ids_side *const *sides;
    size_t count;
    enum ids_alike alike;
    struct ids_report *texts;
    struct ids_remarks *remarks;
};

/* Each kind of finding is said once. */
__attribute__((format(printf, 4, 5))) static void find(struct looking *looking, enum ids_remark_severity severity,
                                                       const char *id, const char *format, ...) {
    char text[1024];
    va_list args;
    for (size_t i = 0; i < looking->remarks->count; i++) {
        if (!strcmp(looking->remarks->at[i].id, id)) return;
    }
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct ids_remark *place = IDS_PUSH(looking->remarks->at, looking->remarks->count, looking->remarks->room);
    if (!place) {
        looking->texts->out_of_memory = 1;
        return;
    }
    *place = (struct ids_remark){severity, id, ids_report_text(looking->texts, "%s", text)};
    looking->remarks->unlike |= severity == IDS_REMARK_UNLIKE;
}

static const char *property(const struct ids_side_run *run, const char *id) {
    const struct ids_value *value = ids_report_find_property(run->report, id);
    return value && !value->missing && value->unit == IDS_UNIT_NONE ? value->text : NULL;
}

static double number(const struct ids_side_run *run, const char *id) {
    const struct ids_value *value = ids_report_find_property(run->report, id);
    return value ? ids_value_number(*value) : NAN;
}

static const char *text_cell(const struct ids_table *table, size_t row, int column) {
    const struct ids_value *cell = column < 0 ? NULL : ids_table_cell(table, row, column);
    return cell && !cell->missing && cell->unit == IDS_UNIT_NONE ? cell->text : "";
}

static const char *name_of(const struct ids_side_run *run) {
    const char *name = property(run, "name");
    return name ? name : "run";
}

/* What kind of device did the work: its model, else its kind; NULL when none did. */
static const char *model_of(const struct ids_side_run *run, const char **ret_kind) {
    const struct ids_table *devices = ids_report_find_table(run->report, "devices");
    int kind = ids_table_column(devices, "kind"), model = ids_table_column(devices, "model");
    int busy = ids_table_column(devices, "busy");
    for (size_t row = 0; busy >= 0 && row < devices->row_count; row++) {
        if (ids_table_cell(devices, row, busy)->missing) continue;
        const char *text = text_cell(devices, row, model);
        *ret_kind = text_cell(devices, row, kind);
        return *text ? text : *ret_kind;
    }
    return NULL;
}

/* Both are known, and differ. */
static int are_other_models(const char *kind_a, const char *model_a, const char *kind_b, const char *model_b) {
    if (!model_a || !model_b) return 0;
    return strcmp(kind_a, kind_b) != 0 || (model_a != kind_a && model_b != kind_b && strcmp(model_a, model_b) != 0);
}

const char *ids_other_devices(const struct ids_side *a, const struct ids_side *b, struct ids_report *texts) {
    const char *kind_a = NULL, *kind_b = NULL;
    const char *model_a = model_of(&a->runs[0], &kind_a), *model_b = model_of(&b->runs[0], &kind_b);
    if (!are_other_models(kind_a, model_a, kind_b, model_b)) return NULL;
    return ids_report_text(texts, "other %s: %s \xe2\x86\x92 %s", strcmp(kind_a, kind_b) ? "devices" : kind_a, model_a,
                           model_b);
}

/* ---- one run against the first ---- */

static void compare_devices(struct looking *looking, const struct ids_side_run *first, const struct ids_side_run *run) {
    int same_devices = looking->alike == IDS_ALIKE_DEVICES;
    enum ids_remark_severity severity = looking->alike == IDS_ALIKE_NOTHING ? IDS_REMARK_WARNING : IDS_REMARK_UNLIKE;
    const char *kind_a = NULL, *kind_b = NULL;
    const char *model_a = model_of(first, &kind_a), *model_b = model_of(run, &kind_b);
    if (ids_is_held_alone(first) && ids_is_held_alone(run)) return;
    if (!model_a || !model_b) {
        find(looking, IDS_REMARK_UNLIKE, "devices.none", "no event of a device in %s", name_of(model_a ? run : first));
        return;
    }
    if (strcmp(kind_a, kind_b) != 0)
        find(looking, severity, "devices.kind", "other kinds of devices: %s in %s, %s in %s", kind_a, name_of(first),
             kind_b, name_of(run));
    else if (are_other_models(kind_a, model_a, kind_b, model_b) && !strcmp(name_of(first), name_of(run)))
        find(looking, severity, "devices.model", "other devices: %s, then %s", model_a, model_b);
    else if (are_other_models(kind_a, model_a, kind_b, model_b))
        find(looking, severity, "devices.model", "other devices: %s in %s, %s in %s", model_a, name_of(first), model_b,
             name_of(run));
    if (same_devices && first->devices != run->devices)
        find(looking, IDS_REMARK_UNLIKE, "devices.count",
             "another number of devices: %.0f in %s, %.0f in %s; 'idsprof scale' compares those", first->devices,
             name_of(first), run->devices, name_of(run));
    double hosts_a = number(first, "hosts"), hosts_b = number(run, "hosts");
    if (same_devices && hosts_a != hosts_b && !isnan(hosts_a) && !isnan(hosts_b))
        find(looking, IDS_REMARK_UNLIKE, "hosts.count", "another number of hosts: %.0f in %s, %.0f in %s", hosts_a,
             name_of(first), hosts_b, name_of(run));
}

/* Marks with other names, or none on one side, may begin and end at other places of the loop. */
static void compare_marks(struct looking *looking, const struct ids_side_run *first, const struct ids_side_run *run) {
    const char *source_a = property(first, "steps.source"), *source_b = property(run, "steps.source");
    const char *name_a = property(first, "steps.annotation"), *name_b = property(run, "steps.annotation");
    if (!source_a || !source_b || (!strcmp(source_a, source_b) && (!name_a || !name_b || !strcmp(name_a, name_b))))
        return;
    find(looking, IDS_REMARK_NOTE, "steps.source",
         "steps are found by %s%s%s in %s, by %s%s%s in %s: they may begin at other places of the loop", source_a,
         name_a ? " " : "", name_a ? name_a : "", name_of(first), source_b, name_b ? " " : "", name_b ? name_b : "",
         name_of(run));
}

static void look_for_the_same(struct looking *looking, const struct ids_side_run *first,
                              const struct ids_side_run *run) {
    const char *a = property(first, "path"), *b = property(run, "path");
    const char *name_a = property(first, "name"), *name_b = property(run, "name");
    if (!a || !b || strcmp(a, b) != 0 || !name_a || !name_b || strcmp(name_a, name_b) != 0) return;
    find(looking, IDS_REMARK_WARNING, "runs.same", "%s is on both sides: a recording does not differ from itself", a);
}

static void compare_recording(struct looking *looking, const struct ids_side_run *first,
                              const struct ids_side_run *run) {
    static const struct {
        const char *property, *id, *text;
    } levels[] = {
        {"python_tracer_level", "tracer.python",
         "the Python tracer slows the host and names its time, so that idle time and causes on the host cannot be "
         "compared"},
        {"host_tracer_level", "tracer.host", "more host events cost time, and causes of idle time come from them"},
        {"device_tracer_level", "tracer.device", "what devices record differs"},
    };
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        double a = number(first, levels[i].property), b = number(run, levels[i].property);
        if (isnan(a) || isnan(b) || a == b) continue;
        find(looking, IDS_REMARK_WARNING, levels[i].id, "recorded with %s %.0f in %s, %.0f in %s: %s",
             levels[i].property, a, name_of(first), b, name_of(run), levels[i].text);
    }
    const char *format_a = property(first, "format"), *format_b = property(run, "format");
    if (format_a && format_b && strcmp(format_a, format_b) != 0)
        find(looking, IDS_REMARK_WARNING, "format", "other formats: %s in %s, %s in %s%s%s%s%s", format_a,
             name_of(first), format_b, name_of(run), first->lacks ? "; " : "", first->lacks ? first->lacks : "",
             run->lacks ? "; " : "", run->lacks ? run->lacks : "");
    const char *jax_a = property(first, "jax_version"), *jax_b = property(run, "jax_version");
    if (jax_a && jax_b && strcmp(jax_a, jax_b) != 0)
        find(looking, IDS_REMARK_NOTE, "versions.jax", "jax %s in %s, %s in %s: the compiler may have changed too",
             jax_a, name_of(first), jax_b, name_of(run));
    double clock_a = number(first, "time_scale_multiplier"), clock_b = number(run, "time_scale_multiplier");
    if (fabs(clock_a - clock_b) > 0.01)
        find(looking, IDS_REMARK_WARNING, "throttling",
             "the clocks differ: Time Scale Multiplier %.3f in %s, %.3f in %s", clock_a, name_of(first), clock_b,
             name_of(run));
}

/* ---- each run by itself ---- */

static void look_at_run(struct looking *looking, const struct ids_side_run *run, int per_step) {
    if (!run->report->complete)
        find(looking, per_step ? IDS_REMARK_WARNING : IDS_REMARK_UNLIKE, "truncated", "%s is cut: %s%s", name_of(run),
             ids_report_why_incomplete(run->report),
             per_step ? "" : "; without steps its window cannot be compared with a whole one");
    const struct ids_metric *mean = ids_report_find(run->report, "steps.mean", NULL);
    int is_warm_up = mean && mean->rule && strstr(mean->rule, "warm-up");
    if (is_warm_up)
        find(looking, IDS_REMARK_WARNING, "warm_up",
             "the first step of %s takes more than twice the median: warm-up is in this window", name_of(run));
    else if (mean && mean->rule && strstr(mean->rule, "the first step"))
        find(looking, IDS_REMARK_WARNING, "steps.first", "the first step of %s takes more than twice the median",
             name_of(run));
    const struct ids_value *missed = ids_report_find_property(run->report, "steps.missed_share");
    if (missed && !missed->missing)
        find(looking, IDS_REMARK_WARNING, "steps.missed",
             "slow steps that no window has lose %.1f %% of the run of %s: how these differ is not compared here; "
             "record "
             "one on either side (idsprof capture --when 'step > 2x')",
             100 * ids_value_number(*missed), name_of(run));
    if (per_step && run->steps->row_count < FEW_STEPS)
        find(looking, IDS_REMARK_NOTE, "steps.few", "%s has %s: little to tell a difference from the spread by",
             name_of(run), IDS_COUNTED(run->steps->row_count, "step"));
}

/* ---- programs ---- */

/* Programs of which the time is less than this part of both sides' do not make them alike. Nor do ops, which small
 * programs share by chance, of less than that part of one side's. */
#define LEAST_IN_COMMON 0.05
#define LEAST_OPS_IN_COMMON 0.5
/* Runs of a side are of two programs where one that takes this part of a run's time has other ops in the other. */
#define LEAST_OF_OTHER_OPS 0.1

struct programs {
    size_t both, changed, only_a, only_b;
    char names_a[256], names_b[256]; /* some of those of one side */
};

/* The programs of a side, to be asked for by hundreds of thousands (of a damaged file). */
struct program_set {
    struct ids_keymap names, prints;
    struct ids_keymap unknown; /* names of programs without a fingerprint */
};

static uint64_t text_key(const char *text) {
    return ids_key_of(ids_hash_bytes(text, strlen(text)), 1);
}

static int program_set_make(const struct ids_side *side, struct program_set *set) {
    int failed = 0;
    for (size_t i = 0; i < side->run_count; i++) {
        const struct ids_table *modules = ids_report_find_table(side->runs[i].report, "modules");
        int names = ids_table_column(modules, "name"), prints = ids_table_column(modules, "fingerprint");
        for (size_t row = 0; names >= 0 && row < modules->row_count && !failed; row++) {
            uint64_t name = text_key(text_cell(modules, row, names));
            const char *print = text_cell(modules, row, prints);
            failed = ids_keymap_add(&set->names, name, 1) < 0 ||
                     ids_keymap_add(*print ? &set->prints : &set->unknown, *print ? text_key(print) : name, 1) < 0;
        }
    }
    return failed;
}

static void program_set_done(struct program_set *set) {
    ids_keymap_done(&set->names);
    ids_keymap_done(&set->prints);
    ids_keymap_done(&set->unknown);
}

static int has(const struct ids_keymap *map, const char *text) {
    uint64_t unused;
    return ids_keymap_get(map, text_key(text), &unused);
}

/* By name or fingerprint; *ret_same: it computes the same, as far as is known. */
static int has_program(const struct program_set *in, const char *name, const char *fingerprint, int *ret_same) {
    int same = *fingerprint && has(&in->prints, fingerprint), named = has(&in->names, name);
    *ret_same = same || (named && (!*fingerprint || has(&in->unknown, name)));
    return same || named;
}

static void add_name(char names[256], const char *name, size_t already) {
    size_t used = strlen(names);
    if (strstr(names, name)) return;
    if (already < NAMES_SHOWN) snprintf(names + used, 256 - used, "%s%.60s", used ? ", " : "", name);
    if (already == NAMES_SHOWN) snprintf(names + used, 256 - used, ", ...");
}

static void count_programs(const struct ids_side *of, const struct program_set *in, size_t *both, size_t *changed,
                           size_t *only, char names[256]) {
    for (size_t i = 0; i < of->run_count; i++) {
        const struct ids_table *modules = ids_report_find_table(of->runs[i].report, "modules");
        int column = ids_table_column(modules, "name"), prints = ids_table_column(modules, "fingerprint");
        for (size_t row = 0; column >= 0 && row < modules->row_count; row++) {
            const char *name = text_cell(modules, row, column);
            int same = 0, found = has_program(in, name, text_cell(modules, row, prints), &same);
            if (!found) add_name(names, name, *only);
            *only += !found;
            *changed += found && !same;
            *both += found && same;
        }
        break; /* recordings of one thing run the same programs */
    }
}

/* XLA numbers its kernels anew in each compilation. */
static int same_base(const char *a, const char *b) {
    size_t length = ids_base_name(a);
    return length == ids_base_name(b) && !memcmp(a, b, length);
}

/* The part of A's time in kernels, or in ops, that B has by name; -1 without any. */
static double common_rows(const struct ids_side *a, const struct ids_side *b, const char *id, const char *time) {
    const struct ids_table *left = ids_report_find_table(a->runs[0].report, id);
    const struct ids_table *right = ids_report_find_table(b->runs[0].report, id);
    int names = ids_table_column(left, "name"), totals = ids_table_column(left, time);
    int other = ids_table_column(right, "name");
    double all = 0, common = 0;
    for (size_t row = 0; names >= 0 && other >= 0 && row < left->row_count && row < 512; row++) {
        double total = ids_value_number(*ids_table_cell(left, row, totals));
        all += total;
        for (size_t at = 0; at < right->row_count; at++) {
            if (!same_base(text_cell(left, row, names), text_cell(right, at, other))) continue;
            common += total;
            break;
        }
    }
    return all > 0 ? common / all : -1;
}

static int knows_programs(const struct ids_side *side) {
    const struct ids_table *modules = ids_report_find_table(side->runs[0].report, "modules");
    int prints = ids_table_column(modules, "fingerprint");
    for (size_t row = 0; prints >= 0 && row < modules->row_count; row++) {
        if (!ids_table_cell(modules, row, prints)->missing) return 1;
    }
    return 0;
}

/* How many programs each side has, 0 where that is not known. */
static struct programs meet(struct looking *looking, const struct ids_side *a, const struct ids_side *b,
                            size_t *ret_all_a, size_t *ret_all_b) {
    struct programs programs = {0};
    struct program_set of_a = {0}, of_b = {0};
    size_t unused = 0, none = 0;
    looking->texts->out_of_memory |= program_set_make(a, &of_a) || program_set_make(b, &of_b);
    count_programs(a, &of_b, &programs.both, &programs.changed, &programs.only_a, programs.names_a);
    count_programs(b, &of_a, &unused, &none, &programs.only_b, programs.names_b);
    program_set_done(&of_a);
    program_set_done(&of_b);
    *ret_all_a = programs.both + programs.changed + programs.only_a;
    *ret_all_b = unused + none + programs.only_b;
    return programs;
}

/* The part of A's time on devices that its first run spends in programs that B has too; 1 where that is not known. */
static double common_time(const struct ids_side *a, const struct ids_side *b) {
    const struct ids_table *modules = ids_report_find_table(a->runs[0].report, "modules");
    int names = ids_table_column(modules, "name"), prints = ids_table_column(modules, "fingerprint");
    int times = ids_table_column(modules, "self"), unused;
    struct program_set of_b = {0};
    double all = 0, common = 0;
    if (program_set_make(b, &of_b)) {
        program_set_done(&of_b);
        return 1;
    }
    for (size_t row = 0; names >= 0 && times >= 0 && row < modules->row_count; row++) {
        double time = ids_value_number(*ids_table_cell(modules, row, times));
        if (isnan(time)) continue;
        all += time;
        if (has_program(&of_b, text_cell(modules, row, names), text_cell(modules, row, prints), &unused))
            common += time;
    }
    program_set_done(&of_b);
    return all > 0 ? common / all : 1;
}

/* The program in which `a` spends most time of those that `b` has by name and with other ops, where that is a good part
 * of all; NULL: none. */
static const char *program_with_other_ops(const struct ids_side *a, const struct ids_side *b, int *ret_no_memory) {
    const struct ids_table *modules = ids_report_find_table(a->runs[0].report, "modules");
    int names = ids_table_column(modules, "name"), prints = ids_table_column(modules, "fingerprint");
    int times = ids_table_column(modules, "self"), is_same;
    struct program_set of_b = {0};
    const char *most = NULL;
    double all = 0, longest = 0;
    *ret_no_memory = program_set_make(b, &of_b);
    for (size_t row = 0; !*ret_no_memory && names >= 0 && times >= 0 && row < modules->row_count; row++) {
        const char *name = text_cell(modules, row, names);
        double time = ids_value_number(*ids_table_cell(modules, row, times));
        if (isnan(time)) continue;
        all += time;
        if (time <= longest || !has_program(&of_b, name, text_cell(modules, row, prints), &is_same) || is_same)
            continue;
        longest = time;
        most = name;
    }
    program_set_done(&of_b);
    return longest >= LEAST_OF_OTHER_OPS * all ? most : NULL;
}

/* What varies from one recording to the next is no noise where they are of different programs: a pattern may have taken
 * too much. */
static void look_for_mixed_runs(struct looking *looking, const struct ids_side *side) {
    struct ids_side first = *side, other = *side;
    const char *program = NULL, *in = NULL;
    size_t others = 0;
    first.run_count = other.run_count = 1;
    for (size_t i = 1; i < side->run_count; i++) {
        int no_memory;
        other.runs = &side->runs[i];
        const char *found = program_with_other_ops(&first, &other, &no_memory);
        looking->texts->out_of_memory |= no_memory;
        if (!found) continue;
        if (!others++) program = found, in = name_of(other.runs);
    }
    if (others)
        find(
            looking, IDS_REMARK_WARNING, "programs.mixed",
            "the runs of %s are not of one program: %s has other ops in %s%s than in %s; their means and intervals are "
            "of different things",
            side->label, program, others > 1 ? "several, such as " : "", in, name_of(first.runs));
}

/* Names may have put together what are two methods. */
static void compare_repeats(struct looking *looking, const struct ids_side *side) {
    struct ids_side first = *side, other = *side;
    first.run_count = other.run_count = 1;
    for (size_t i = 1; i < side->run_count; i++) {
        size_t all_first, all_other;
        other.runs = &side->runs[i];
        struct programs programs = meet(looking, &first, &other, &all_first, &all_other);
        if (!all_first || !all_other || programs.both || programs.changed) continue;
        find(looking, IDS_REMARK_WARNING, "programs.mixed",
             "'%s' and '%s' count as recordings of one method (%s), and have no program in common: if they are two, "
             "say METHOD=RUN",
             name_of(first.runs), name_of(other.runs), side->label);
    }
}

/* The part of the time of A's ops that compute what an op of B does, by fingerprint; 0 where that is not known. A
 * function that goes by another name and does nearly the same is the same program. */
static double common_ops(const struct ids_side *a, const struct ids_side *b) {
    const struct ids_table *left = ids_report_find_table(a->runs[0].report, "ops");
    const struct ids_table *right = ids_report_find_table(b->runs[0].report, "ops");
    int prints = ids_table_column(left, "fingerprint"), others = ids_table_column(right, "fingerprint"),
        times = ids_table_column(left, "self"), failed = prints < 0 || others < 0 || times < 0;
    struct ids_keymap of_b = {0};
    double all = 0, common = 0;
    for (size_t row = 0; !failed && row < right->row_count; row++) {
        const char *print = text_cell(right, row, others);
        failed = *print && ids_keymap_add(&of_b, text_key(print), 1) < 0;
    }
    for (size_t row = 0; !failed && row < left->row_count; row++) {
        double time = ids_value_number(*ids_table_cell(left, row, times));
        const char *print = text_cell(left, row, prints);
        if (isnan(time)) continue;
        all += time;
        if (*print && has(&of_b, print)) common += time;
    }
    ids_keymap_done(&of_b);
    return !failed && all > 0 ? common / all : 0;
}

static int have_ops_in_common(const struct ids_side *a, const struct ids_side *b) {
    return common_ops(a, b) >= LEAST_OPS_IN_COMMON && common_ops(b, a) >= LEAST_OPS_IN_COMMON;
}

static void compare_programs(struct looking *looking, const struct ids_side *a, const struct ids_side *b) {
    size_t all_a, all_b;
    struct programs programs = meet(looking, a, b, &all_a, &all_b);
    if (all_a && all_b && !programs.both && !programs.changed && looking->alike == IDS_ALIKE_NOTHING) {
        find(looking, IDS_REMARK_NOTE, "programs.none",
             "no program in common (%s in %s, %s in %s): compared by step, account, family and scope", programs.names_a,
             a->label, programs.names_b, b->label);
        return;
    }
    if (looking->alike == IDS_ALIKE_NOTHING) return;
    if (all_a && all_b && !programs.both && !programs.changed && !have_ops_in_common(a, b)) {
        find(looking, IDS_REMARK_UNLIKE, "programs.none",
             "no program in common: %s in %s, %s in %s; 'idsprof scale' compares methods", programs.names_a, a->label,
             programs.names_b, b->label);
        return;
    }
    if (programs.only_a || programs.only_b) {
        find(looking, IDS_REMARK_WARNING, "programs.partly", "%s in common%s%s%s%s%s%s%s%s",
             IDS_COUNTED(programs.both + programs.changed, "program"), programs.only_a ? "; only in " : "",
             programs.only_a ? a->label : "", programs.only_a ? ": " : "", programs.names_a,
             programs.only_b ? "; only in " : "", programs.only_b ? b->label : "", programs.only_b ? ": " : "",
             programs.names_b);
    }
    if (programs.changed)
        find(looking, IDS_REMARK_NOTE, "programs.changed", "%s in common run%s other ops",
             IDS_COUNTED(programs.changed, "program"), programs.changed == 1 ? "s" : "");
    if (all_a && all_b && knows_programs(a) != knows_programs(b))
        find(looking, IDS_REMARK_WARNING, "programs.hlo",
             "only %s says what its ops compute (enable_hlo_proto): ops are matched by name, and XLA's names are "
             "renumbered",
             knows_programs(a) ? a->label : b->label);
    double of_a = common_time(a, b), of_b = common_time(b, a);
    if (all_a && all_b && of_a < LEAST_IN_COMMON && of_b < LEAST_IN_COMMON && !have_ops_in_common(a, b))
        find(looking, IDS_REMARK_UNLIKE, "programs.few",
             "the programs in common take %.1f %% of the time of %s, %.1f %% of that of %s: the others (%s, %s) have "
             "nothing to do with each other",
             100 * of_a, a->label, 100 * of_b, b->label, programs.names_a, programs.names_b);
    /* Each vendor has kernels of its own; what the program calls is the same. */
    int by_ops = ids_other_devices(a, b, looking->texts) != NULL;
    double common = all_a || all_b ? -1
                    : by_ops       ? common_rows(a, b, "ops", "self")
                                   : common_rows(a, b, "kernels", "total");
    if (common >= 0 && common < 0.1)
        find(looking, IDS_REMARK_UNLIKE, by_ops ? "ops.none" : "kernels.none",
             "%s with %.0f %% of the time of %s are not in %s: other programs", by_ops ? "ops" : "kernels",
             100 * (1 - common), a->label, b->label);
}

/* ---- */

static void compare_steps(struct looking *looking) {
    size_t with = 0, all = 0, alone = 0, least = SIZE_MAX, most = 0;
    for (size_t s = 0; s < looking->count; s++) {
        for (size_t i = 0; i < looking->sides[s]->run_count; i++, all++) {
            const struct ids_table *steps = looking->sides[s]->runs[i].steps;
            alone += (size_t)ids_is_held_alone(&looking->sides[s]->runs[i]);
            if (!steps) continue;
            with++;
            if (steps->row_count < least) least = steps->row_count;
            if (steps->row_count > most) most = steps->row_count;
        }
    }
    if (alone == all) return; /* they have no times at all */
    if (with < all)
        find(looking, IDS_REMARK_WARNING, "steps.none",
             with ? "not every run has steps: whole windows are compared, which may hold different work"
                  : "no steps: whole windows are compared, which may hold different work; " IDS_HOW_TO_MARK_STEPS);
    else if (least != most)
        find(looking, IDS_REMARK_NOTE, "steps.count", "other numbers of steps, %zu to %zu: figures are per step", least,
             most);
}

/* The windows are what is compared, and the runs what is asked about. Before each run by itself, for it says more. */
static void compare_outside(struct looking *looking, const struct ids_side *a, const struct ids_side *b) {
    const char *unlike = ids_outside_unlike(a, b, looking->texts), *slow = ids_outside_slow(a, b, looking->texts);
    if (unlike) find(looking, IDS_REMARK_WARNING, "windows", "%s", unlike);
    if (slow) find(looking, IDS_REMARK_WARNING, "steps.missed", "%s", slow);
}

static void compare_calls(struct looking *looking, const struct ids_side *a, const struct ids_side *b) {
    if (looking->alike == IDS_ALIKE_NOTHING) return;
    const char *unlike = ids_call_rates_unlike(a, b, looking->texts), *other = NULL;
    if (unlike) find(looking, IDS_REMARK_UNLIKE, "steps.calls", "%s", unlike);
    if (!unlike) other = ids_call_rates_other(a, b, looking->texts);
    if (other) find(looking, IDS_REMARK_WARNING, "steps.calls", "%s", other);
}

static void compare_cores(struct looking *looking) {
    const struct ids_side_run *freest = NULL, *busiest = NULL;
    double least = 1, most = 0;
    for (size_t s = 0; s < looking->count; s++) {
        for (size_t i = 0; i < looking->sides[s]->run_count; i++) {
            const struct ids_side_run *run = &looking->sides[s]->runs[i];
            double share = ids_run_no_core(run);
            if (isnan(share)) continue;
            if (!freest || share < least) freest = run, least = share;
            if (!busiest || share > most) busiest = run, most = share;
        }
    }
    if (!busiest || most < IDS_CORES_LEAST) return;
    if ((1 - least) >= IDS_CORES_OTHER * (1 - most))
        find(looking, IDS_REMARK_WARNING, "cores",
             "the device's threads had no core for %.1f %% of the time in %s, for %.1f %% in %s: what differs may be "
             "the machine's load; record both again, in turns, on a quiet machine",
             100 * most, name_of(busiest), 100 * least, name_of(freest));
    else if (most >= IDS_CORES_NONE_FREE)
        find(looking, IDS_REMARK_WARNING, "cores",
             "the device's threads had no core for most of the time, up to %.1f %% in %s: times are the machine's more "
             "than the program's; record both again on a quiet machine",
             100 * most, name_of(busiest));
}

static int unlike_first(const void *a, const void *b) {
    const struct ids_remark *left = a, *right = b;
    if (left->severity != right->severity) return left->severity < right->severity ? 1 : -1;
    return strcmp(left->id, right->id);
}

int ids_remarks_make(const struct ids_side *const *sides, size_t count, enum ids_alike alike, struct ids_report *texts,
                     struct ids_remarks *ret_remarks, struct ids_error *err) {
    *ret_remarks = (struct ids_remarks){0};
    struct looking looking = {sides, count, alike, texts, ret_remarks};
    const struct ids_side_run *first = &sides[0]->runs[0];
    for (size_t s = 1; s < count; s++) compare_outside(&looking, sides[0], sides[s]);
    for (size_t s = 0; s < count; s++) {
        for (size_t i = 0; i < sides[s]->run_count; i++) {
            const struct ids_side_run *run = &sides[s]->runs[i];
            if (run != first || (count == 1 && sides[s]->run_count == 1)) compare_devices(&looking, first, run);
            if (run != first) compare_recording(&looking, first, run);
            if (run != first) compare_marks(&looking, first, run);
            if (s) look_for_the_same(&looking, first, run);
            look_at_run(&looking, run, sides[s]->per_step);
        }
        if (s) compare_programs(&looking, sides[0], sides[s]);
        if (s) compare_calls(&looking, sides[0], sides[s]);
        if (alike == IDS_ALIKE_NOTHING)
            compare_repeats(&looking, sides[s]);
        else
            look_for_mixed_runs(&looking, sides[s]);
    }
    compare_steps(&looking);
    compare_cores(&looking);
    if (ret_remarks->count) qsort(ret_remarks->at, ret_remarks->count, sizeof *ret_remarks->at, unlike_first);
    if (!texts->out_of_memory) return 0;
    ids_remarks_done(ret_remarks);
    return ids_no_memory(err);
}

int ids_remarks_add(struct ids_remarks *remarks, enum ids_remark_severity severity, const char *id, const char *text,
                    struct ids_error *err) {
    struct ids_remark *place = IDS_PUSH(remarks->at, remarks->count, remarks->room);
    if (!place) return ids_no_memory(err);
    *place = (struct ids_remark){severity, id, text};
    remarks->unlike |= severity == IDS_REMARK_UNLIKE;
    if (remarks->count > 1) qsort(remarks->at, remarks->count, sizeof *remarks->at, unlike_first);
    return 0;
}

void ids_remarks_done(struct ids_remarks *remarks) {
    free(remarks->at);
    *remarks = (struct ids_remarks){0};
}

static const struct ids_column_def finding_columns[] = {
    {"severity", "severity", IDS_UNIT_NONE, 0},
    {"id", "id", IDS_UNIT_NONE, 0},
    {"text", "finding", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};
const struct ids_table_def ids_findings_table = {
    "findings",
    "comparability",
    finding_columns,
    sizeof finding_columns / sizeof *finding_columns,
    "Obstacles to a comparison: unlike (refused without --force), warning, note.",
    0};

void ids_remarks_list(const struct ids_remarks *remarks, struct ids_report *report) {
    struct ids_table *table = ids_report_table(report, &ids_findings_table);
    for (size_t i = 0; i < remarks->count; i++) {
        struct ids_value row[] = {ids_text_value(ids_remark_severity_name(remarks->at[i].severity)),
                                  ids_text_value(remarks->at[i].id), ids_text_value(remarks->at[i].text)};
        IDS_ROW(report, table, finding_columns, row);
    }
}
