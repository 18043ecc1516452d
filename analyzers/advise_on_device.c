/* advise_on_device.c - what is neither a step's doing nor an op's: the device's clock, its memory, ops that run on the
 * host beside it, cores that a device of threads lacks. */
#include "analyzers/advise_on.h"
#include "analyzers/core_users.h"
#include "analyzers/memory_advice.h"
#include "lib/base/saturate.h"

/* What the device's clock takes is no doing of the program. */
void ids_advise_on_clock(struct ids_adviser *adviser) {
    double held_back = ids_adviser_ratio(adviser, "clock.held_back_share"),
           throttled = ids_adviser_ratio(adviser, "clock.throttled_share");
    if (adviser->pieces.compute_ps < adviser->pieces.time_ps / 4) return;
    if (held_back >= 0.02)
        ids_adviser_remark(
            adviser, "clock.held_back_share",
            "The clock is held back: look at power limit and cooling, and compare runs at the same clock only",
            ids_report_text(adviser->report, "%s of the ops' time would be saved at the default clock",
                            ids_say_metric(adviser, "clock.held_back_share")));
    if (throttled >= 0.05)
        ids_adviser_remark(adviser, "clock.throttled_share",
                           "The device is throttled: look at power limit and cooling, and compare runs that are not",
                           ids_report_text(adviser->report,
                                           "%s of the samples of throttling are above 0 (--section counters)",
                                           ids_say_metric(adviser, "clock.throttled_share")));
}

/* The program and op that have most time on the host's CPU, beside an accelerator. */
static const char *host_op_of(const struct ids_adviser *adviser) {
    const struct ids_table *table = ids_report_find_table(adviser->report, "placement");
    int beside = ids_table_column(table, "beside"), program = ids_table_column(table, "program"),
        longest = ids_table_column(table, "longest");
    if (beside < 0 || program < 0 || longest < 0) return "";
    for (size_t row = 0; row < table->row_count; row++) { /* the first of a device has most time */
        if (!ids_table_cell(table, row, beside)->i) continue;
        const char *op = ids_table_cell(table, row, longest)->text, *of = ids_table_cell(table, row, program)->text;
        if (op) return ids_report_text(adviser->report, " (most: %s%s%s)", op, of ? " of " : "", of ? of : "");
    }
    return "";
}

/* Ops that fell back to the CPU, or were put there: only where the device has nothing to do meanwhile. */
void ids_advise_on_host_ops(struct ids_adviser *adviser) {
    double beside = ids_adviser_ratio(adviser, "placement.host_idle_share"),
           idle = ids_adviser_ratio(adviser, "idle.share");
    if (beside < 0.1 || beside * idle < 0.02) return;
    ids_adviser_remark(
        adviser, "placement.host_idle_share",
        ids_report_text(adviser->report,
                        "Ops run on the host's CPU while the device has nothing to do%s - keep their arrays on the "
                        "device: jit the whole step, and look for jax.devices('cpu') and arrays of numpy",
                        host_op_of(adviser)),
        ids_report_text(adviser->report,
                        "%s ops on the host's CPU; they run in %s of the idle time (--section "
                        "placement)",
                        ids_say_metric(adviser, "placement.host_ops"),
                        ids_say_metric(adviser, "placement.host_idle_share")));
}

/* Idle time that may come of a lack of cores of the device's threads. Where the program's own has none, the piece of
 * wait_for_core says so. */
static int64_t late_ps(const struct ids_adviser *adviser) {
    const struct ids_pieces *pieces = &adviser->pieces;
    int64_t time_ps = 0;
    for (size_t i = 0; i < pieces->count; i++) {
        const struct ids_piece *piece = &pieces->at[i];
        if (piece->account == IDS_DEVICE_QUEUE || piece->account == IDS_DEVICE_IN_PROGRAM ||
            piece->account == IDS_HOST_SYNC)
            ids_sum(&time_ps, piece->time_ps);
    }
    return time_ps;
}

static const char *with_core_users(struct ids_adviser *adviser, const char *evidence) {
    const char *users = ids_core_users_in_words(adviser->analysis, adviser->report);
    return users ? ids_report_text(adviser->report, "%s; %s", evidence, users) : evidence;
}

static const char no_core[] = "device.no_core_share",
                  program_waits[] =
                      "The device's threads had no core for most of the time that they were ready, and the "
                      "program waits for them: run fewer threads or processes than the machine has "
                      "cores, and record again on a quiet machine before all else";

static void say_cores(struct ids_adviser *adviser, const char *what) {
    ids_adviser_remark(
        adviser, no_core, what,
        with_core_users(adviser,
                        ids_report_text(adviser->report, "no core for %s of the time that they were ready to run",
                                        ids_say_metric(adviser, no_core))));
}

/* The threads of JAX's CPU client are the device: where they wait for a core, ops look as if they were slow, but still
 * are to one another what they were. Where two thirds of the time went so, and half of the step is idle time of which
 * that may be the reason, no more can be told. It comes first too where a third of the time went so, half of the step
 * is compute, and the program itself took the cores: that is its to change, and no op is. */
void ids_advise_on_cores(struct ids_adviser *adviser, int first) {
    const struct ids_pieces *pieces = &adviser->pieces;
    if (!ids_adviser_lacks_cores(adviser)) return;
    int is_most = ids_adviser_ratio(adviser, no_core) >= 2.0 / 3,
        is_late = is_most && late_ps(adviser) >= pieces->time_ps / 2,
        is_own = ids_adviser_ratio(adviser, no_core) >= 1.0 / 3 && !is_late &&
                 pieces->compute_ps >= pieces->time_ps / 2 && ids_core_users_are_own(adviser->analysis);
    if ((is_late || is_own) != first || (!first && pieces->compute_ps < pieces->time_ps / 4)) return;
    say_cores(adviser, is_late  ? program_waits
                       : is_own ? "The program itself takes the cores that the device's threads lack: times of ops are "
                                  "longer than the ops are - let fewer threads and processes of it run beside the "
                                  "device, or give it more cores"
                                : "The device's threads had no core: times of ops are longer than the ops are - run "
                                  "fewer threads or processes than the machine has cores, and compare runs of a quiet "
                                  "machine only");
}

/* How much of the advice is a wait for the device, or what the device begins late. */
static double share_of_waits(const struct ids_advice *advice) {
    static const enum ids_account accounts[] = {IDS_HOST_SYNC, IDS_DEVICE_QUEUE, IDS_DEVICE_IN_PROGRAM};
    double share = 0;
    for (size_t i = 0; i < sizeof accounts / sizeof *accounts; i++) {
        const char *waits = ids_account_id(accounts[i]);
        if (!advice->part_count && advice->account && !strcmp(advice->account, waits)) return 1;
        for (size_t p = 0; p < advice->part_count; p++)
            if (!strcmp(advice->parts[p].account, waits)) share += advice->parts[p].share;
    }
    return share;
}

/* A wait for threads that are ready and have no core is not the doing of who waits, where they lack it for as long as
 * half of the wait: a device that hardly has anything to do lacks little. They are ready where they work, and from
 * when work is launched until it begins. */
static int is_for_cores(const struct ids_adviser *adviser, const struct ids_advice *advice) {
    const struct ids_pieces *pieces = &adviser->pieces;
    int64_t ready_ps = pieces->work_ps;
    for (size_t i = 0; i < pieces->count; i++) {
        for (size_t p = 0; p < pieces->at[i].part_count; p++) {
            enum ids_account account = pieces->at[i].parts[p].account;
            if (account == IDS_DEVICE_QUEUE || account == IDS_DEVICE_IN_PROGRAM)
                ids_sum(&ready_ps, pieces->at[i].parts[p].ps);
        }
    }
    double lacking_ps = ids_adviser_ratio(adviser, no_core) * (double)ids_adviser_per_step(adviser, ready_ps);
    return share_of_waits(advice) >= 1.0 / 2 && lacking_ps >= (double)advice->saves_ps / 2;
}

void ids_advise_on_cores_before_waits(struct ids_adviser *adviser, size_t from) {
    struct ids_report *report = adviser->report;
    if (!ids_adviser_lacks_cores(adviser) || ids_adviser_ratio(adviser, no_core) < 1.0 / 2) return;
    if (from >= report->advice_count || !is_for_cores(adviser, &report->advice[from])) return;
    size_t told = ids_adviser_place_of(adviser, no_core, 0);
    if (told == report->advice_count) say_cores(adviser, program_waits);
    if (told == report->advice_count) return; /* without memory */
    if (told < from) return;                  /* it is before all else */
    report->advice[told].what = program_waits;
    report->advice[told].takes_ps = report->advice[from].saves_ps; /* before that wait, and nothing that saves more */
    ids_adviser_move(adviser, told, from);
}

/* Before all else: a program that ends is not faster. What is held all of the time ends none, and comes last. */
void ids_advise_on_memory(struct ids_adviser *adviser, int is_steady) {
    struct ids_memory_advice advice[IDS_MEMORY_ADVICE];
    size_t count = ids_memory_alarms(adviser->report, adviser->framework == IDS_JAX, advice);
    for (size_t i = 0; i < count; i++) {
        if (advice[i].is_steady != is_steady) continue;
        ids_adviser_remark(adviser, advice[i].explain, advice[i].what, advice[i].evidence);
    }
}

/* How long a step takes at most for memory that it need not have. Large arrays that are made in each step take new
 * memory, which a CPU's system maps page by page: 403 MB took 0.41 s. What is smaller malloc has from the step before
 * (M_MMAP_THRESHOLD grows up to 32 MiB: mallopt(3)), and it is written, as a temporary is. Accelerators hold their
 * memory, and where their bandwidth is not known, all but the oldest write 100 GB and more a second. */
static int is_mapped_anew(const struct ids_adviser *adviser, const struct ids_memory_advice *advice) {
    const struct ids_device *device = adviser->analysis->busy[adviser->pieces.decider].device;
    return device->kind == IDS_DEVICE_CPU && !advice->op && advice->array_bytes >= 32 << 20;
}

static int64_t takes_at_most(const struct ids_adviser *adviser, const struct ids_memory_advice *advice) {
    const struct ids_device *device = adviser->analysis->busy[adviser->pieces.decider].device;
    int is_cpu = device->kind == IDS_DEVICE_CPU, is_mapped = is_mapped_anew(adviser, advice);
    double bytes_a_s = ids_peaks_of(adviser->analysis->trace, device, &adviser->analysis->params).bandwidth;
    int64_t written_a_ns = bytes_a_s > 100e9 && bytes_a_s < 1e15 ? (int64_t)(bytes_a_s / 1e9) : 100;
    int64_t bytes_a_ns = !is_cpu ? written_a_ns : is_mapped ? 1 : 10, time_ns = advice->bytes / bytes_a_ns;
    return time_ns < INT64_MAX / 1000 ? time_ns * 1000 : INT64_MAX;
}

/* The piece about compute says what to do about the same op. */
static int is_told(const struct ids_adviser *adviser, const struct ids_memory_advice *advice) {
    const struct ids_op_family *op = &adviser->pieces.op;
    const char *culprit = op->most ? ids_adviser_text(adviser, op->most->culprit) : NULL;
    return adviser->told_compute && advice->op_remedy && !advice->is_short && culprit && !strcmp(culprit, advice->op);
}

/* No event tells what new memory costs: it is a part of the ops that write it. */
static const char *say_time_of_memory(const struct ids_adviser *adviser, const struct ids_memory_advice *advice,
                                      int64_t takes_ps) {
    if (advice->op) return "";
    if (!is_mapped_anew(adviser, advice)) return "; what time that saves is not known";
    return ids_report_text(adviser->report,
                           "; new memory for them costs time too, within the ops that write it: about %s a call, at "
                           "1 ns a byte that the system maps anew",
                           ids_say_time(adviser, takes_ps));
}

void ids_advise_on_programs_memory(struct ids_adviser *adviser, int first) {
    struct ids_memory_advice advice[IDS_MEMORY_ADVICE];
    size_t count = ids_memory_savings(adviser->report, advice);
    int64_t tenth_ps = ids_adviser_per_step(adviser, adviser->pieces.time_ps / 10);
    for (size_t i = 0; i < count; i++) {
        int64_t takes_ps = takes_at_most(adviser, &advice[i]);
        if (adviser->told_memory & 1u << i || is_told(adviser, &advice[i])) continue;
        if (first && takes_ps < tenth_ps && !advice[i].is_short) continue;
        adviser->told_memory |= 1u << i;
        ids_adviser_give(adviser, &(struct ids_advice){
                                      .saves_ps = -1,
                                      .takes_ps = takes_ps < tenth_ps ? takes_ps : tenth_ps,
                                      .per_step = adviser->pieces.steps > 0,
                                      .what = advice[i].what,
                                      .evidence = ids_report_text(adviser->report, "%s%s", advice[i].evidence,
                                                                  say_time_of_memory(adviser, &advice[i], takes_ps)),
                                      .explain = advice[i].explain});
    }
}
