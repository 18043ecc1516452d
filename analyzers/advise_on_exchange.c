/* advise_on_exchange.c - what data parallel training exchanges and need not: the module's buffers, which PyTorch's
 * DistributedDataParallel sends to all ranks before each forward pass, and many small collectives. */
#include "analyzers/advise_on.h"
#include "lib/base/counted.h"
#include "lib/base/saturate.h"

/* Calls of what packs the buffers into one array and unpacks them, of what sends it, and of the forward pass, on hosts'
 * threads. */
struct calls {
    int64_t packing_ps;
    uint64_t unpacked, broadcasts, forwards;
};

static struct calls calls_of(const struct ids_trace *trace) {
    struct calls calls = {0};
    for (size_t i = 0; i < trace->aggregate_count; i++) {
        const struct ids_aggregate *sum = &trace->aggregates[i];
        if (trace->tracks[sum->track].role != IDS_TRACK_HOST) continue;
        const struct ids_text name = ids_strings_text(&trace->strings, trace->names[sum->name].text);
        int unpacks = ids_text_is(name, "aten::unflatten_dense_tensors");
        if (unpacks || ids_text_is(name, "aten::flatten_dense_tensors")) ids_sum(&calls.packing_ps, sum->sum_ps);
        if (unpacks) calls.unpacked += sum->count;
        if (ids_text_is(name, "nccl:broadcast")) calls.broadcasts += sum->count;
        if (ids_text_is(name, "DistributedDataParallel.forward")) calls.forwards += sum->count;
    }
    return calls;
}

/* What the device waits for while the host launches, or calls what launches. */
static int64_t launching_ps(const struct ids_pieces *pieces) {
    int64_t time_ps = 0;
    for (size_t i = 0; i < pieces->count; i++) {
        if (pieces->at[i].account == IDS_HOST_DISPATCH) ids_sum(&time_ps, pieces->at[i].time_ps);
    }
    return time_ps;
}

/* That is of the device's waits for launches, which have advice of their own: how long it takes is told, and no saving
 * beside theirs. */
void ids_advise_on_buffers(struct ids_adviser *adviser) {
    const struct ids_analysis *analysis = adviser->analysis;
    const struct calls calls = calls_of(analysis->trace);
    const int64_t steps = adviser->pieces.steps;
    if (steps < 1 || calls.forwards < 2 || calls.unpacked < calls.forwards || calls.broadcasts < calls.forwards) return;
    const int64_t each_ps = calls.packing_ps / (int64_t)calls.forwards, step_ps = adviser->pieces.time_ps / steps;
    if (each_ps < step_ps / IDS_WORTH || each_ps > launching_ps(&adviser->pieces) / steps) return;
    ids_adviser_give(
        adviser,
        &(struct ids_advice){
            .saves_ps = -1,
            .takes_ps = each_ps,
            .per_step = 1,
            .what = "DistributedDataParallel sends the module's buffers to all ranks before each forward pass, and the "
                    "device waits while the host packs and unpacks them - broadcast_buffers=False, where ranks may "
                    "have statistics of their own (of BatchNorm; SyncBatchNorm has the same on all of them)",
            .evidence = ids_report_text(adviser->report,
                                        "aten::flatten_dense_tensors and aten::unflatten_dense_tensors: %s of the host "
                                        "in each forward pass, %s of the step",
                                        ids_say_time(adviser, each_ps), ids_say_share(adviser, each_ps, step_ps)),
            .explain = ids_account_id(IDS_HOST_DISPATCH),
        });
}

/* Many collectives a step, none of which moves much: several together take less than one after the other. Those of
 * gradients can be put together. */
const char *ids_many_collectives_in_words(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    static const char *const how[IDS_FRAMEWORKS] = {
        [IDS_JAX] = "where they are of gradients, let XLA combine them (--xla_gpu_all_reduce_combine_threshold_bytes)",
        [IDS_PYTORCH] = ("where they are of gradients, put several into one: buckets, as DistributedDataParallel has "
                         "them, and no all_reduce for each parameter"),
        [IDS_TENSORFLOW] = "where they are of gradients, pack several into one",
        [IDS_CUDA] = "put several into one call (ncclGroupStart)"};
    enum { MANY = 100 };
    const int64_t long_ps = 1000000000; /* a millisecond */
    const int64_t turns = adviser->pieces.steps * (int64_t)adviser->analysis->busy_count;
    struct ids_value count, total;
    if (piece->account != IDS_COMM_TRANSFER || turns < 1 || !adviser->trains) return "";
    if (adviser->analysis->busy[adviser->pieces.decider].device->kind != IDS_DEVICE_GPU) return "";
    if (!ids_adviser_has(adviser, "collectives.count", &count) ||
        !ids_adviser_has(adviser, "collectives.total", &total))
        return "";
    if (count.i / turns < MANY || total.i / count.i > long_ps) return "";
    return ids_report_text(adviser->report, ". They are %s a step, of %s each in the mean: %s",
                           IDS_COUNTED(count.i / turns, "collective"), ids_say_time(adviser, total.i / count.i),
                           how[adviser->framework]);
}
