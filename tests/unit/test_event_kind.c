/* lib/model/event_kind.c: what part an event plays, told by its name. */
#include "lib/model/event_kind.h"
#include "tests/support/suite.h"

#include <string.h>

struct expected {
    const char *name;
    enum ids_kind kind;
};

static void check_all(const struct expected *expected, size_t count) {
    for (size_t i = 0; i < count; i++) {
        enum ids_kind kind = ids_kind_of_name(expected[i].name, strlen(expected[i].name));
        ck_assert_msg(kind == expected[i].kind, "'%s' is '%s', not '%s'", expected[i].name, ids_kind_name(kind),
                      ids_kind_name(expected[i].kind));
    }
}
#define CHECK_ALL(table) check_all(table, sizeof(table) / sizeof *(table))

START_TEST(annotations_of_programs) {
    static const struct expected table[] = {{"fetch batch", IDS_KIND_INPUT},
                                            {"enumerate(DataLoader)#_Iter.__next__", IDS_KIND_INPUT},
                                            {"layer 3", IDS_KIND_NAMED},
                                            {"database", IDS_KIND_NAMED}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        ck_assert_int_eq(ids_kind_of_annotation(table[i].name, strlen(table[i].name)), table[i].kind);
}
END_TEST

START_TEST(frames_of_kineto) {
    static const struct expected table[] = {
        {"queue.py(154): get", IDS_KIND_INPUT},
        {"multiprocessing/queues.py(100): get", IDS_KIND_INPUT},
        {"torch/utils/data/dataloader.py(628): __next__", IDS_KIND_INPUT},
        {"$queue.py:154 get", IDS_KIND_INPUT},
        {"$pool.py:861 next", IDS_KIND_INPUT},
        {"$_base.py:428 result", IDS_KIND_INPUT},
        {"train.py(3): get", IDS_KIND_PYTHON},
        {"train.py(3): result", IDS_KIND_PYTHON},
        {"$/app/train.py:9 Metrics.block_until_ready", IDS_KIND_SYNC}, /* sampled: with its class */
        {"$/app/train.py:9 Metrics.result", IDS_KIND_PYTHON},
        {"queue.py(120): put", IDS_KIND_PYTHON},
        {"<built-in function len>", IDS_KIND_PYTHON},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct ids_text name = {table[i].name, (uint32_t)strlen(table[i].name)};
        ck_assert_msg(ids_kind_of_python_frame(name) == table[i].kind, "%s", table[i].name);
    }
}
END_TEST

START_TEST(names_of_the_runtimes) {
    static const struct expected table[] = {
        {"", IDS_KIND_OTHER},
        {"ThreadpoolListener::Record", IDS_KIND_OTHER}, /* a flow by its stats, not by its name */
        {"ThreadpoolListener::StartRegion", IDS_KIND_REGION_START},
        {"ThreadpoolListener::StopRegion", IDS_KIND_REGION_STOP},
        {"backend_compile", IDS_KIND_COMPILE},
        {"backend_compile_and_load", IDS_KIND_COMPILE},
        {"backend_compile_and_load2", IDS_KIND_OTHER}, /* whole names only */
        {"PjRtCpuClient::Compile", IDS_KIND_COMPILE},
        {"TfrtTpuCompiler::Compile", IDS_KIND_COMPILE},
        {"XlaCompile:#module=jit_f#", IDS_KIND_COMPILE},
        {"XlaCompileBackend:#module=jit_f,program_id=3#", IDS_KIND_COMPILE},
        {"lower_sharding_computation", IDS_KIND_LOWER},
        {"trace_to_jaxpr", IDS_KIND_TRACE},
        {"jax.trace(f)", IDS_KIND_TRACE}, /* of the Python hook */
        {"jax.lower(f)", IDS_KIND_LOWER},
        {"jax.compile(data_loader)", IDS_KIND_COMPILE},
        {"jax.cache_read(f)", IDS_KIND_CACHE_READ},
        {"jax.cache_hit(f)", IDS_KIND_CACHE_HIT},
        {"jax.cache_miss(f)", IDS_KIND_CACHE_MISS},
        {"jax.recompile(f) shape: x f32[8] -> f32[9]", IDS_KIND_RECOMPILE},
        {"jax.compile", IDS_KIND_OTHER},
        {"XlaAutotunerMeasurement", IDS_KIND_AUTOTUNE},
        {"XlaAutotunerMeasurement:#hlo=dot.1#", IDS_KIND_AUTOTUNE},
        {"np.asarray(jax.Array)", IDS_KIND_SYNC},
        {"TfrtTpuBuffer::ToLiteral", IDS_KIND_SYNC},
        {"cudaStreamSynchronize", IDS_KIND_SYNC},
        {"hipDeviceSynchronize", IDS_KIND_SYNC},
        {"tpu::System::TransferToDevice", IDS_KIND_TRANSFER},
        {"tpu::System::TransferToDevice=>IssueEvent", IDS_KIND_OTHER}, /* its child: a transfer counts once */
        {"tpu::System::TransferFromDevice=>IssueEvent=>Done", IDS_KIND_OTHER},
        {"H2D Dispatch", IDS_KIND_STAGING},
        {"MapDmaBuffer", IDS_KIND_STAGING},
        {"TransposePlan::ExecuteTyped", IDS_KIND_STAGING},
        {"DevicePutWithSharding", IDS_KIND_STAGING},
        {"shard_args", IDS_KIND_STAGING},
        {"batched_copy_array_to_devices_with_sharding", IDS_KIND_STAGING},
        {"ArrayImpl.copy_to_host_async", IDS_KIND_STAGING},
        {"Rendezvous", IDS_KIND_STALL},
        {"Wait: pending_threads=3/8", IDS_KIND_STALL},
        {"end: dot.1", IDS_KIND_OP_END},
        {"end:", IDS_KIND_OTHER},
        {"PjitFunction(train_step)", IDS_KIND_DISPATCH},
        {"PjitFunction", IDS_KIND_OTHER},
        {"CommonPjRtLoadedExecutable::Execute (jit_f)", IDS_KIND_EXECUTE},
        {"CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice", IDS_KIND_EXECUTE},
        {"jit_train_step:XLA GPU module", IDS_KIND_EXECUTE},
        {":XLA GPU module", IDS_KIND_OTHER}, /* of no module */
        {"DoEnqueueProgram", IDS_KIND_LAUNCH},
        {"ThunkExecutor::Execute", IDS_KIND_OTHER},
        {"Iterator::Prefetch::Map", IDS_KIND_INPUT},
        {"IteratorGetNextOp::DoCompute", IDS_KIND_INPUT},
        {"IteratorGetNext:IteratorGetNext", IDS_KIND_INPUT},
        {"IteratorGetNext_4/_40:_Send", IDS_KIND_OTHER},
    };
    CHECK_ALL(table);
}
END_TEST

START_TEST(python_frames) {
    static const struct expected table[] = {
        {"$train.py:12 loop", IDS_KIND_PYTHON},
        {"$partial_eval.py:2100 trace_to_jaxpr", IDS_KIND_TRACE},
        {"$mlir.py:1200 lower_jaxpr_to_module", IDS_KIND_LOWER},
        {"$pxla.py:2000 lower_sharding_computation", IDS_KIND_LOWER},
        {"$compiler.py:400 compile_or_get_cached", IDS_KIND_COMPILE},
        {"$mine.py:400 compile_or_get_cached", IDS_KIND_PYTHON}, /* not JAX's */
        {"$compiler.py:700 _cache_read", IDS_KIND_CACHE_READ},
        {"$compiler.py:720 _cache_write", IDS_KIND_CACHE_WRITE},
        {"$api.py:2500 block_until_ready", IDS_KIND_SYNC}, /* whoever's */
        {"$array.py:600 block_until_ready", IDS_KIND_SYNC},
        {"$dataloader.py:630 __next__", IDS_KIND_INPUT},
        {"$generator.py:9 __next__", IDS_KIND_PYTHON},
        {"$mycompiler.py:400 compile_or_get_cached", IDS_KIND_PYTHON}, /* the whole file name */
        {"$<built-in>", IDS_KIND_PYTHON},
        {"$", IDS_KIND_PYTHON},
        {"$data_loading.py:3 load_batch", IDS_KIND_PYTHON}, /* frames are never input by a word in them */
    };
    CHECK_ALL(table);
}
END_TEST

START_TEST(input_annotations) {
    static const struct expected table[] = {
        {"data_loading", IDS_KIND_INPUT},
        {"DataLoader", IDS_KIND_INPUT},
        {"load-batch", IDS_KIND_INPUT},
        {"input", IDS_KIND_INPUT},
        {"Prefetch2", IDS_KIND_INPUT},
        {"next/batch", IDS_KIND_INPUT},
        {"infeedWait", IDS_KIND_INPUT},
        {"TRAIN_data", IDS_KIND_INPUT},
        {"NVTX:data_loading", IDS_KIND_INPUT},
        {"NVTX:loader:next_batch", IDS_KIND_INPUT},
        {"NVTX:train", IDS_KIND_OTHER},
        {"NVTX:tsl::data", IDS_KIND_OTHER},
        {"NVTX:TSL:XlaCompile", IDS_KIND_OTHER}, /* XLA says it itself too */
        {"NVTX:ProfilerStep#7", IDS_KIND_STEP_MARK},
        {"NextBatch", IDS_KIND_INPUT},
        {"get_batch", IDS_KIND_INPUT},
        {"batch", IDS_KIND_INPUT},
        /* what has such a word and is none */
        {"BatchNorm", IDS_KIND_OTHER},
        {"CudnnBatchNormBackward0", IDS_KIND_OTHER},
        {"DistributedDataParallel", IDS_KIND_OTHER},
        {"batch_matmul", IDS_KIND_OTHER},
        {"load_checkpoint", IDS_KIND_OTHER},
        {"load_model_state", IDS_KIND_OTHER},
        {"load_balancing", IDS_KIND_OTHER}, /* of experts */
        {"fetch_metrics", IDS_KIND_OTHER},
        {"input_embedding", IDS_KIND_OTHER},
        {"LoadProgram", IDS_KIND_OTHER},
        {"data_parallel_step", IDS_KIND_OTHER},
        /* words in words */
        {"update", IDS_KIND_OTHER},
        {"metadata", IDS_KIND_OTHER},
        {"batched", IDS_KIND_OTHER},
        {"train", IDS_KIND_OTHER},
        /* the runtime's own */
        {"Handle inputs", IDS_KIND_OTHER},
        {"Handle input event recording", IDS_KIND_OTHER},
        {"BatchedCopyToDeviceWithSharding: dispatch", IDS_KIND_OTHER},
        {"BatchedCopyToDeviceWithSharding create batch", IDS_KIND_OTHER},
        {"BatchedCopyToDeviceWithSharding", IDS_KIND_OTHER},
        {"AllocateOutputBufferWithInputReuse", IDS_KIND_OTHER},
        {"AllocateOutputBuffersWithInputReuse", IDS_KIND_OTHER},
        {"data::x", IDS_KIND_OTHER},
        {"load(data)", IDS_KIND_OTHER},
        {"jax.data", IDS_KIND_OTHER},
        {"a_name_of_more_than_sixty_four_bytes_is_not_what_a_person_writes_for_data", IDS_KIND_OTHER},
    };
    CHECK_ALL(table);
    ck_assert_int_eq(ids_kind_of_name("input2", 5), IDS_KIND_INPUT); /* the length counts, not a zero byte */
    ck_assert_int_eq(ids_kind_of_name("inputs", 4), IDS_KIND_OTHER);
}
END_TEST

START_TEST(regions_that_fetch) {
    static const struct {
        const char *name;
        int fetches;
    } table[] = {
        {"fetch batch", 1},
        {"load data", 1},
        {"data_loading", 1},
        {"next batch", 1},
        {"dataloader", 1},
        {"NextBatch", 1},
        {"load train batch", 1},
        {"prefetch", 1},
        {"load imagenet batch", 1},
        {"load and preprocess data", 1},
        /* what may be a layer, a step, or a result */
        {"input", 0},
        {"inputs", 0},
        {"batch", 0},
        {"train_batch", 0},
        {"batch norm", 0},
        {"generate batch", 0},
        {"load_and_train", 0},
        {"get batch and train", 0},
        {"load data and run step", 0},
        {"input projection", 0},
        {"load model", 0},
        {"fetch loss", 0},
        {"data_parallel", 0},
        {"prefetch kernel", 0},
        {"evaluate", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct ids_text name = {table[i].name, (uint32_t)strlen(table[i].name)};
        ck_assert_msg(ids_says_fetching(name) == table[i].fetches, "%s", table[i].name);
    }
}
END_TEST

START_TEST(every_kind_has_a_name) {
    for (int kind = IDS_KIND_OTHER + 1; kind < IDS_KIND_COUNT; kind++) {
        ck_assert_str_ne(ids_kind_name((enum ids_kind)kind), "other");
    }
    ck_assert_str_eq(ids_kind_name(IDS_KIND_STAGING), "transfer staging");
    ck_assert_str_eq(ids_kind_name(IDS_KIND_COUNT), "other");
}
END_TEST

IDS_RUN_SUITE("event_kind", names_of_the_runtimes, annotations_of_programs, python_frames, frames_of_kineto,
              input_annotations, regions_that_fetch, every_kind_has_a_name)
