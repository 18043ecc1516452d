/* advice.c - what to do: one piece for each account and culprit of the ledger, ranked by what a step would win, and what no account tells
 * (warm-up, small kernels, occupancy). It runs last.
 *
 * Savings are of the device that decides the step: the one that waits least for its peers. They are parts of its ledger, so they are
 * disjoint and sum to no more than its step. Waiting for peers is nobody's own fault: it wins nothing here, the cause stands with the
 * device that came last.
 */
#include "lib/analysis/balance.h"
#include "lib/analysis/host_time.h"
#include "lib/base/saturate.h"

#include <stdlib.h>
#include <string.h>

enum framework { JAX, PYTORCH, TENSORFLOW, CUDA, FRAMEWORKS };

struct adviser {
    const struct ids_analysis *analysis;
    struct ids_report *report;
    int64_t steps;   /* 0: savings are for the window */
    int64_t step_ps; /* of the deciding device, or its window */
    size_t decider;  /* index of analysis->busy */
    struct ids_balance balance;
    enum framework framework;
    int is_gpu;
};

/* --- words ------------------------------------------------------------------------------------------------------ */

struct remedy {
    enum ids_account account;
    const char *problem;            /* "%s" is the culprit, or nothing when none is known */
    const char *remedy[FRAMEWORKS]; /* NULL: as for JAX */
    int whole;                      /* one piece for the account: what helps is the same whoever has most of it */
};

static const struct remedy remedies[] = {
    {IDS_HOST_INPUT, "The device waits for input",
     {"load the next batches on another thread (grain, tf.data prefetch, a background device_put), or make loading "
      "cheaper",
      "more DataLoader workers with pin_memory and a larger prefetch_factor, or make loading cheaper",
      "end the input pipeline with prefetch(AUTOTUNE), map in parallel, or make it cheaper",
      "load on another thread while the device computes"}, 0},
    {IDS_HOST_SYNC, "The host waits for the device before it launches more",
     {"keep results on the device (no float(), np.asarray or block_until_ready in each step) and read metrics every "
      "n steps",
      "avoid .item(), .cpu(), printing of tensors and synchronize in each step; read metrics every n steps, "
      "non_blocking",
      "do not fetch values in each step; read metrics every n steps",
      "avoid synchronous copies and cudaDeviceSynchronize in each step; use streams and events"}, 0},
    {IDS_HOST_STAGING, "The device waits for data to be put on it",
     {"device_put once, or ahead of the step on another thread; keep parameters and results on the device",
      "copy from pinned memory with non_blocking=True ahead of the step; keep what stays on the device",
      "put data on the device ahead of the step (prefetch_to_device)",
      "copy from pinned memory asynchronously, ahead of the work that needs it"}, 0},
    {IDS_HOST_COMPILE, "A function is compiled while the device waits",
     {"keep shapes, dtypes and static arguments the same from step to step (pad), jit the function once outside the "
      "loop, and warm up before measuring",
      "keep shapes the same, or mark what changes as dynamic (torch.compile), and warm up before measuring",
      "give tf.function an input_signature, keep shapes the same, and warm up before measuring",
      "compile ahead of the loop, and warm up before measuring"}, 0},
    {IDS_HOST_RUNTIME, "The host is in a call of the runtime while the device waits",
     {"allocate and load ahead of the loop: warm up before measuring, keep buffers (preallocation, donation)",
      "warm up before measuring; keep the caching allocator from freeing (no empty_cache, steady shapes), and "
      "initialise libraries ahead of the loop",
      "warm up before measuring; let memory grow once, ahead of the loop",
      "allocate, load modules and make graphs ahead of the loop"}, 0},
    {IDS_HOST_REGION, "The device waits while the program is in a region of its own",
     {"do it on another thread, or less often (asynchronous checkpointing, evaluation on a host copy)", NULL, NULL,
      NULL}, 0},
    {IDS_HOST_PYTHON, "The device waits for Python",
     {"move it out of the loop or to another thread, or put it under jit",
      "move it out of the loop or to another thread, or compile the step (torch.compile)",
      "move it out of the loop, or into the tf.function",
      "move it out of the loop or to another thread"}, 0},
    {IDS_HOST_DISPATCH, "Launching takes longer than what is launched",
     {"put more under one jit (the whole step, several steps by lax.scan), so that one launch does more",
      "capture the step as a graph or compile it (torch.compile, mode reduce-overhead), use foreach or fused "
      "optimizers, or give each launch more work",
      "put more under one tf.function, jit_compile it, or give each launch more work",
      "fuse kernels, or launch them as a CUDA graph"}, 1},
    {IDS_HOST_UNKNOWN, "The device waits for the host, and the recording does not say why",
     {"record Python too (idsprof capture --python-tracer 1), or name the parts of the loop "
      "(jax.profiler.TraceAnnotation)",
      "record with the profiler's CPU activity and with_stack=True, or name the parts of the loop (record_function)",
      "record with the host's and Python's tracer, or name the parts of the loop (tf.profiler.experimental.Trace)",
      "name the parts of the loop (NVTX)"}, 1},
    {IDS_DEVICE_QUEUE, "Work that is launched does not begin",
     {"look at what its stream waits for: an earlier stream, an event, a copy, or a launch of a whole graph",
      NULL, NULL, NULL}, 1},
    {IDS_DEVICE_IN_PROGRAM, "The device stands still between the ops of one program",
     {"fewer and larger ops: look at the program's dependencies, at scans of tiny ops and at callbacks to the host",
      "fewer and larger kernels in the graph; look at its dependencies",
      NULL, "fewer and larger kernels in the graph; look at its dependencies"}, 1},
    {IDS_DEVICE_UNKNOWN, "The device does nothing, and the recording does not hold the next launch",
     {"record the host too, and the whole step", NULL, NULL, NULL}, 1},
    {IDS_COMM_TRANSFER, "Collectives run and nothing computes beside them",
     {"overlap them with compute (XLA's latency-hiding scheduler, smaller pieces that begin earlier), or shard so that "
      "less is exchanged",
      "overlap them with the backward pass (bucket_cap_mb, FSDP prefetch), or exchange less (bf16 gradients, another "
      "sharding)",
      "overlap them with compute, pack small ones together, or exchange less",
      "put them on a stream of their own beside compute, or exchange less"}, 1},
    {IDS_COMM_WAIT, "Devices wait for one that has more work than they",
     {"divide the work evenly (shards, padding, stages, experts) and look at what that device alone does", NULL, NULL,
      NULL}, 1},
    {IDS_COPY_H2D, "Copies to the device run and nothing computes beside them",
     {"keep the data on the device, or begin the copy ahead of the step; offload less",
      "copy from pinned memory on a stream of its own, ahead of the step; keep data on the device", NULL,
      "copy from pinned memory on a stream of its own, ahead of the work"}, 1},
    {IDS_COPY_D2H, "Copies to the host run and nothing computes beside them",
     {"keep results on the device, or fetch them asynchronously every n steps; offload less",
      "copy to pinned memory with non_blocking=True, every n steps", NULL,
      "copy to pinned memory on a stream of its own"}, 1},
    {IDS_COPY_D2D, "Copies inside device memory run and nothing computes beside them",
     {"donate buffers (donate_argnums), avoid changes of layout and copies of parameters",
      "avoid .contiguous(), cat and clones of large tensors; write in place", NULL, "avoid the copies"}, 1},
    {IDS_COPY_P2P, "Copies between devices run and nothing computes beside them",
     {"begin them earlier, or place what is used together on one device", NULL, NULL, NULL}, 1},
    {IDS_COPY_SET, "Memory is set and nothing computes beside it",
     {"let the program's kernels write the first values", "zero gradients with set_to_none=True", NULL, NULL}, 1},
    {IDS_STALL_DEVICE, "The device is busy by the file, but only waits",
     {"see which ops wait (table ledger), and what they wait for", NULL, NULL, NULL}, 1},
    {IDS_PROFILER, "The profiler itself holds the device up",
     {"record less at a time (fewer tracers, a shorter window); a run without it is faster by this", NULL, NULL, NULL},
     1},
};

static const struct remedy *remedy_of(enum ids_account account) {
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++) {
        if (remedies[i].account == account) return &remedies[i];
    }
    return NULL;
}

static const char *say(const struct adviser *adviser, struct ids_value value) {
    char text[IDS_VALUE_ROOM];
    return ids_report_text(adviser->report, "%s", ids_value_format(value, text, sizeof text));
}

static const char *say_time(const struct adviser *adviser, int64_t time_ps) {
    return say(adviser, ids_int_value(IDS_UNIT_TIME, time_ps));
}

static const char *say_share(const struct adviser *adviser, double share) {
    return say(adviser, ids_real_value(IDS_UNIT_RATIO, share));
}

static int has(const struct adviser *adviser, const char *id, struct ids_value *ret_value) {
    const struct ids_metric *metric = ids_report_find(adviser->report, id, NULL);
    if (!metric || metric->value.missing) return 0;
    *ret_value = metric->value;
    return 1;
}

static double ratio_of(const struct adviser *adviser, const char *id) {
    struct ids_value value;
    return has(adviser, id, &value) ? value.d : 0;
}

static const char *say_metric(const struct adviser *adviser, const char *id) {
    struct ids_value value;
    return has(adviser, id, &value) ? say(adviser, value) : "no data";
}

/* --- who decides ------------------------------------------------------------------------------------------------ */

static int64_t time_of_device(const struct ids_analysis *analysis, size_t device) {
    int64_t time_ps = 0;
    const struct ids_busy *busy = &analysis->busy[device];
    if (!analysis->steps.count) return busy->end_ps - busy->start_ps;
    const struct ids_device_steps *own = &analysis->steps.of_device[busy->index];
    for (size_t i = 0; i < own->count; i++) {
        if (own->at[i].step != IDS_NONE) ids_sum(&time_ps, own->at[i].to_ps - own->at[i].from_ps);
    }
    return time_ps;
}

/* The device whose own time a step is longest: what it does decides when the step ends. A step that it takes no part in is none of its
 * time, so that savings are of a step of the run. */
static void find_decider(struct adviser *adviser) {
    const struct ids_analysis *analysis = adviser->analysis;
    const struct ids_ledger *ledger = &analysis->ledger;
    int64_t most_ps = -1;
    for (size_t b = 0; b < analysis->busy_count; b++) {
        int64_t time_ps = time_of_device(analysis, b), own_ps = time_ps;
        for (size_t s = ledger->first_share[b]; s < ledger->first_share[b + 1]; s++) {
            if (ledger->entries[ledger->shares[s].entry].account == IDS_COMM_WAIT) own_ps -= ledger->shares[s].ps;
        }
        if (own_ps <= most_ps) continue;
        most_ps = own_ps;
        adviser->decider = b;
        adviser->steps = (int64_t)analysis->steps.count;
        adviser->step_ps = time_ps / (adviser->steps ? adviser->steps : 1);
    }
}

/* --- pieces of the ledger --------------------------------------------------------------------------------------- */

struct piece {
    enum ids_account account;
    const struct ids_ledger_entry *most; /* that has most of it */
    int64_t most_ps, time_ps;            /* on the deciding device */
    uint32_t device;                     /* whose doing it mostly is, index of analysis->busy */
    int64_t others_ps;                   /* of time_ps: what the deciding device waited for others who did this */
    size_t culprits;
};

static int most_first(const void *a, const void *b) {
    const struct piece *left = a, *right = b;
    if (left->time_ps != right->time_ps) return left->time_ps < right->time_ps ? 1 : -1;
    return (left->account > right->account) - (left->account < right->account);
}

/* A host whose profiler was not open makes nobody wait. */
static int is_of_the_program(const struct ids_ledger *ledger, const struct ids_ledger_entry *entry) {
    return entry->account != IDS_PROFILER || strcmp(ids_strings_z(&ledger->texts, entry->culprit), IDS_NOT_RECORDING) != 0;
}

/* Some devices compute longer than others, which wait for them: with the same work for all a step were shorter by what they wait in the mean.
 * That is compute of the deciding device, or what it waits itself, and no other piece has either. */
static int find_imbalance(const struct adviser *adviser, struct piece *ret_piece) {
    const struct ids_analysis *analysis = adviser->analysis;
    const struct ids_ledger *ledger = &analysis->ledger;
    struct piece piece = {.account = IDS_COMM_WAIT};
    int64_t most_ps = 0, room_ps = 0;
    for (uint32_t b = 0; b < analysis->busy_count; b++) {
        for (size_t s = ledger->first_share[b]; s < ledger->first_share[b + 1]; s++) {
            const struct ids_ledger_entry *entry = &ledger->entries[ledger->shares[s].entry];
            int is_work = entry->cause != IDS_NONE && ledger->entries[entry->cause].account == IDS_WORK_COMPUTE;
            if (b == adviser->decider && (is_work || entry->account == IDS_WORK_COMPUTE))
                ids_sum(&room_ps, ledger->shares[s].ps);
            if (!is_work) continue;
            ids_sum(&piece.time_ps, ledger->shares[s].ps);
            int64_t of_entry_ps = ids_ledger_entry_time(entry);
            if (of_entry_ps <= most_ps) continue;
            most_ps = of_entry_ps;
            piece.most = entry;
            piece.device = entry->awaited;
        }
    }
    if (!piece.most) return 0;
    piece.time_ps /= (int64_t)analysis->busy_count;
    if (piece.time_ps > room_ps) piece.time_ps = room_ps;
    piece.culprits = 1;
    piece.most_ps = piece.time_ps;
    *ret_piece = piece;
    return 1;
}

/* One for each entry, or for each account whose remedy is one. What the device waited for peers is theirs who came late: the same cause on
 * whatever device is one piece. */
static size_t gather(const struct adviser *adviser, struct piece *pieces, size_t *of_entry) {
    const struct ids_ledger *ledger = &adviser->analysis->ledger;
    size_t count = 0;
    size_t of_account[IDS_ACCOUNT_COUNT] = {0}; /* index + 1, as of_entry */
    for (size_t s = ledger->first_share[adviser->decider]; s < ledger->first_share[adviser->decider + 1]; s++) {
        uint32_t number = ledger->shares[s].entry, device = (uint32_t)adviser->decider;
        int64_t ps = ledger->shares[s].ps;
        int waited = ledger->entries[number].cause != IDS_NONE;
        if (waited) {
            device = ledger->entries[number].awaited;
            number = ledger->entries[number].cause;
        }
        const struct ids_ledger_entry *entry = &ledger->entries[number];
        const struct remedy *remedy = remedy_of((enum ids_account)entry->account);
        if (!remedy || entry->account == IDS_COMM_WAIT || !is_of_the_program(ledger, entry)) continue;
        size_t *place = remedy->whole ? &of_account[entry->account] : &of_entry[number];
        if (!*place) {
            pieces[count] = (struct piece){.account = (enum ids_account)entry->account};
            *place = ++count;
        }
        struct piece *piece = &pieces[*place - 1];
        ids_sum(&piece->time_ps, ps);
        if (waited) ids_sum(&piece->others_ps, ps);
        piece->culprits += piece->most != entry;
        if (!piece->most || ps > piece->most_ps) piece->most = entry, piece->most_ps = ps, piece->device = device;
    }
    count += (size_t)find_imbalance(adviser, &pieces[count]);
    if (count) qsort(pieces, count, sizeof *pieces, most_first);
    return count;
}

static const char *name_of(const struct adviser *adviser, size_t busy) {
    struct ids_arena names = {0};
    const char *name = ids_rank_name(adviser->analysis->trace, adviser->analysis->busy[busy].device, &names);
    const char *kept = ids_report_text(adviser->report, "%s", name ? name : "");
    ids_arena_done(&names);
    return kept;
}

/* Whether it is not one device's doing: no device has three quarters of it. */
static int is_of_many(const struct adviser *adviser, const struct piece *piece) {
    const struct ids_ledger *ledger = &adviser->analysis->ledger;
    if (piece->account == IDS_COMM_WAIT) return adviser->balance.steps && !ids_balance_is_steady(&adviser->balance);
    int64_t most_ps = 0, all_ps = 0;
    for (size_t s = 0; s < ledger->share_count; s++) {
        if (&ledger->entries[ledger->shares[s].entry] != piece->most) continue;
        ids_sum(&all_ps, ledger->shares[s].ps);
        if (ledger->shares[s].ps > most_ps) most_ps = ledger->shares[s].ps;
    }
    return most_ps < all_ps - all_ps / 4;
}

/* "rank 1 (steady: it comes last in 8 of 8 steps)" */
static const char *say_straggler(const struct adviser *adviser, const struct piece *piece, const char *name) {
    const struct ids_balance *balance = &adviser->balance;
    if (balance->straggler == IDS_NONE || !balance->steps) return name;
    uint32_t last = is_of_many(adviser, piece) ? balance->straggler : piece->device;
    const char *where = ids_report_text(adviser->report, "%s comes last in %zu of %zu steps", name_of(adviser, last),
                                        balance->of_device[last].steps, balance->steps);
    if (is_of_many(adviser, piece))
        return ids_report_text(adviser->report, "another one from step to step (changing: %s)", where);
    int is_steady = last == balance->straggler && ids_balance_is_steady(balance);
    return ids_report_text(adviser->report, "it (%s: %s)", is_steady ? "steady" : "not always", where);
}

/* How long, at most, another device waits for the deciding one because of this. */
static int64_t waited_by_others(const struct adviser *adviser, const struct piece *piece) {
    const struct ids_ledger *ledger = &adviser->analysis->ledger;
    int64_t most_ps = 0;
    for (size_t b = 0; b < adviser->analysis->busy_count; b++) {
        int64_t own_ps = 0;
        for (size_t s = ledger->first_share[b]; s < ledger->first_share[b + 1]; s++) {
            const struct ids_ledger_entry *entry = &ledger->entries[ledger->shares[s].entry];
            if (entry->cause == IDS_NONE || entry->awaited != piece->device) continue;
            enum ids_account account = piece->account == IDS_COMM_WAIT ? IDS_WORK_COMPUTE : piece->account;
            if (ledger->entries[entry->cause].account == account) ids_sum(&own_ps, ledger->shares[s].ps);
        }
        if (own_ps > most_ps) most_ps = own_ps;
    }
    return most_ps;
}

static void advise(const struct adviser *adviser, const struct piece *piece) {
    const struct ids_ledger *ledger = &adviser->analysis->ledger;
    const struct remedy *remedy = remedy_of(piece->account);
    const struct ids_ledger_entry *most = piece->most;
    const char *culprit = most->culprit ? ids_strings_z(&ledger->texts, most->culprit) : NULL;
    const char *where = most->where ? ids_strings_z(&ledger->texts, most->where) : NULL;
    const char *words = remedy->remedy[adviser->framework] ? remedy->remedy[adviser->framework] : remedy->remedy[JAX];
    int64_t steps = adviser->steps ? adviser->steps : 1, saves_ps = piece->time_ps / steps;
    int64_t waited_ps = waited_by_others(adviser, piece) / steps;
    const char *rank = NULL;
    if (piece->account == IDS_COMM_WAIT || waited_ps * 4 > saves_ps || piece->others_ps * 4 > piece->time_ps) {
        rank = name_of(adviser, piece->device);
        if (is_of_many(adviser, piece)) rank = "changing ranks";
        if (piece->account != IDS_COMM_WAIT) where = where ? ids_report_text(adviser->report, "%s, %s", rank, where) : rank;
    }
    double share = adviser->step_ps ? (double)saves_ps / (double)adviser->step_ps : 0;
    const char *who = "";
    if (culprit && piece->culprits > 1 && piece->most_ps < piece->time_ps)
        who = ids_report_text(adviser->report, " (most: %s%s%s, %s of it; %zu in all)", culprit, where ? ", " : "",
                              where ? where : "", say_share(adviser, (double)piece->most_ps / (double)piece->time_ps),
                              piece->culprits);
    else if (culprit)
        who = ids_report_text(adviser->report, ": %s%s%s%s", culprit, where ? " (" : "", where ? where : "",
                              where ? ")" : "");
    struct ids_advice advice = {
        .saves_ps = saves_ps,
        .per_step = adviser->steps > 0,
        .account = ids_account_id(piece->account),
        .culprit = culprit,
        .where = where,
        .what = ids_report_text(adviser->report, "%s%s - %s", remedy->problem, who, words),
        .evidence = ids_report_text(
            adviser->report, "%s%s, %s of %s%s%s; longest %s at %s", say_time(adviser, saves_ps),
            adviser->steps ? " a step" : "", say_share(adviser, share), adviser->steps ? "the step" : "the window",
            adviser->analysis->busy_count > 1
                ? ids_report_text(adviser->report, " of %s", name_of(adviser, adviser->decider))
                : "",
            rank ? ids_report_text(adviser->report, "; the others wait up to %s for %s",
                                   say_time(adviser, waited_ps > piece->others_ps / steps ? waited_ps : piece->others_ps / steps),
                                   say_straggler(adviser, piece, rank))
                 : "",
            say_time(adviser, most->longest_ps),
            say_time(adviser, most->longest_at_ps - adviser->analysis->first_ps)),
        .explain = ids_account_id(piece->account)};
    ids_report_advice(adviser->report, &advice);
}

/* --- what no account tells -------------------------------------------------------------------------------------- */

static void remark(const struct adviser *adviser, const char *explain, const char *what, const char *evidence) {
    struct ids_advice advice = {
        .saves_ps = -1, .per_step = adviser->steps > 0, .what = what, .evidence = evidence, .explain = explain};
    ids_report_advice(adviser->report, &advice);
}

/* Where the device computes most of the time, that comes first: the rest is little, unless others wait for it. */
static void on_compute(const struct adviser *adviser, int64_t step_ps, int64_t wins_ps) {
    const struct ids_ledger *ledger = &adviser->analysis->ledger;
    const struct ids_ledger_entry *most = NULL;
    int64_t compute_ps = 0, most_ps = 0;
    for (size_t s = ledger->first_share[adviser->decider]; s < ledger->first_share[adviser->decider + 1]; s++) {
        const struct ids_ledger_entry *entry = &ledger->entries[ledger->shares[s].entry];
        if (entry->account != IDS_WORK_COMPUTE) continue;
        ids_sum(&compute_ps, ledger->shares[s].ps);
        if (ledger->shares[s].ps > most_ps) most = entry, most_ps = ledger->shares[s].ps;
    }
    if (!most || compute_ps < step_ps - step_ps / 10 || wins_ps > step_ps / 10) return;
    const char *culprit = ids_strings_z(&ledger->texts, most->culprit);
    const char *where = most->where ? ids_strings_z(&ledger->texts, most->where) : NULL;
    struct ids_advice advice = {
        .saves_ps = -1,
        .per_step = adviser->steps > 0,
        .account = ids_account_id(IDS_WORK_COMPUTE),
        .culprit = culprit,
        .where = where,
        .what = ids_report_text(adviser->report,
                                "The device computes nearly all of the time: what can be won is in its ops; most time "
                                "has %s%s%s%s",
                                culprit, where ? " (" : "", where ? where : "", where ? ")" : ""),
        .evidence = ids_report_text(adviser->report, "%s of %s, %s of it this op",
                                    say_share(adviser, (double)compute_ps / (double)step_ps),
                                    adviser->steps ? "the steps" : "the window",
                                    say_share(adviser, (double)most_ps / (double)compute_ps)),
        .explain = ids_account_id(IDS_WORK_COMPUTE)};
    ids_report_advice(adviser->report, &advice);
}

static void on_one_op(const struct adviser *adviser) {
    const struct ids_table *table = ids_report_find_table(adviser->report, "ops");
    int name = ids_table_column(table, "name");
    if (!table || !table->row_count || name < 0 || ratio_of(adviser, "ops.top_share") <= 0.5) return;
    remark(adviser, "ops.top_share",
           ids_report_text(adviser->report,
                           "One op takes more than half of the device time (%s): profile it apart, try another "
                           "algorithm, precision or a library kernel",
                           ids_table_cell(table, 0, name)->text),
           ids_report_text(adviser->report, "%s of device time", say_metric(adviser, "ops.top_share")));
}

static void on_small_kernels(const struct adviser *adviser) {
    if (ratio_of(adviser, "kernels.small_share") < 0.5 || ratio_of(adviser, "kernels.small_time_share") < 0.1) return;
    remark(adviser, "kernels.small_count",
           adviser->framework == PYTORCH ? "Many small kernels: fuse them (torch.compile, fused optimizers and attention)"
           : adviser->framework == JAX
               ? "Many small kernels: jit larger functions so that XLA fuses them, with fewer control-flow branches"
               : "Many small kernels: fuse them",
           ids_report_text(adviser->report, "%s kernels below the threshold: %s of kernels, %s of kernel time",
                           say_metric(adviser, "kernels.small_count"), say_metric(adviser, "kernels.small_share"),
                           say_metric(adviser, "kernels.small_time_share")));
}

static void on_occupancy(const struct adviser *adviser) {
    struct ids_value value;
    if (!has(adviser, "occupancy.median", &value) || value.d > 0.5) return;
    remark(adviser, "occupancy.median",
           "Low occupancy: larger blocks, or fewer registers and less shared memory per thread, let more warps run",
           ids_report_text(adviser->report, "half of the kernel time runs at %s theoretical occupancy or less",
                           say_metric(adviser, "occupancy.median")));
}

static void on_warm_up(const struct adviser *adviser) {
    const struct ids_steps *steps = &adviser->analysis->steps;
    struct ids_value median;
    if (steps->count < 3 || !has(adviser, "steps.median", &median)) return;
    int64_t first_ps = ids_step_time(&steps->at[0]);
    if (first_ps <= 2 * median.i) return;
    remark(adviser, "steps.mean",
           "This window has warm-up in it: the first step is not like the others; begin recording later, or read the "
           "median",
           ids_report_text(adviser->report, "the first step took %s, the median one %s", say_time(adviser, first_ps),
                           say(adviser, median)));
}

/* --- all of it -------------------------------------------------------------------------------------------------- */

static int begins_any_name(const struct ids_trace *trace, const char *prefix) {
    for (size_t n = 0; n < trace->name_count; n++) {
        if (ids_text_begins(ids_strings_text(&trace->strings, trace->names[n].text), prefix)) return 1;
    }
    return 0;
}

static enum framework framework_of(const struct ids_trace *trace) {
    if (begins_any_name(trace, "aten::")) return PYTORCH;
    if (begins_any_name(trace, "PjitFunction(") || trace->jax_version) return JAX;
    if (begins_any_name(trace, "ExecutorState::") || begins_any_name(trace, "IteratorGetNext")) return TENSORFLOW;
    return trace->module_count ? JAX : CUDA;
}

/* Too little was recorded to tell what is worth doing. */
static int says_enough(const struct adviser *adviser) {
    enum { LEAST_EVENTS = 20 };
    size_t events = 0;
    for (size_t b = 0; b < adviser->analysis->busy_count; b++)
        events += adviser->analysis->busy[b].device->activity.count;
    if (events >= LEAST_EVENTS) return 1;
    remark(adviser, "run.events", "Too little was recorded to advise on",
           ids_report_text(adviser->report, "%zu events on devices", events));
    return 0;
}

static int run(struct ids_analysis *analysis, struct ids_report *report, struct ids_error *err) {
    struct adviser adviser = {.analysis = analysis, .report = report, .framework = framework_of(analysis->trace)};
    if (!analysis->busy_count || !says_enough(&adviser)) return 0;
    int code = ids_balance_make(analysis, &adviser.balance, err);
    if (code) return code;
    find_decider(&adviser);
    struct piece *pieces = malloc((analysis->ledger.entry_count + 2) * sizeof *pieces);
    size_t *of_entry = calloc(analysis->ledger.entry_count + 1, sizeof *of_entry);
    if (!pieces || !of_entry) {
        free(pieces);
        free(of_entry);
        ids_balance_done(&adviser.balance);
        return ids_no_memory(err);
    }
    size_t count = gather(&adviser, pieces, of_entry);
    free(of_entry);
    int64_t step_ps = adviser.step_ps * (adviser.steps ? adviser.steps : 1);
    on_compute(&adviser, step_ps, count ? pieces[0].time_ps : 0);
    for (size_t i = 0; i < count && pieces[i].time_ps >= step_ps / 100; i++) advise(&adviser, &pieces[i]);
    free(pieces);
    on_warm_up(&adviser);
    on_one_op(&adviser);
    on_small_kernels(&adviser);
    on_occupancy(&adviser);
    ids_balance_done(&adviser.balance);
    return 0;
}

const struct ids_analyzer ids_analyzer_advice = {
    .name = "advice",
    .title = "what to do",
    .run = run,
};
