#include "lib/model/event_kind.h"

#include <string.h>

struct rule {
    const char *name;
    enum ids_kind kind;
};

/* Whole names. */
static const struct rule exact[] = {
    /* TSL thread pools (tsl/profiler/backends/cpu/threadpool_listener.cc): Record enqueues, a region runs */
    {"ThreadpoolListener::StartRegion", IDS_KIND_REGION_START},
    {"ThreadpoolListener::StopRegion", IDS_KIND_REGION_STOP},
    /* JAX (jax/_src/compiler.py, interpreters/pxla.py, mlir.py) and PJRT: compilation */
    {"backend_compile", IDS_KIND_COMPILE},
    {"backend_compile_and_load", IDS_KIND_COMPILE},
    {"compile_or_get_cached", IDS_KIND_COMPILE},
    {"PjRtCpuClient::Compile", IDS_KIND_COMPILE},
    {"PjRtStreamExecutorClient::Compile", IDS_KIND_COMPILE},
    {"TfrtTpuCompiler::Compile", IDS_KIND_COMPILE},
    {"TfrtTpuClient::Compile", IDS_KIND_COMPILE},
    {"XlaCompile", IDS_KIND_COMPILE},
    {"XlaCompileBackend", IDS_KIND_COMPILE},
    {"lower_sharding_computation", IDS_KIND_LOWER},
    {"lower_jaxpr_to_module", IDS_KIND_LOWER},
    {"trace_to_jaxpr", IDS_KIND_TRACE},
    {"trace_to_jaxpr_dynamic", IDS_KIND_TRACE},
    {"XlaAutotunerMeasurement", IDS_KIND_AUTOTUNE},
    /* the host waits */
    {"np.asarray(jax.Array)", IDS_KIND_SYNC},
    {"CommonPjRtBuffer::Await", IDS_KIND_SYNC},
    {"TfrtTpuBuffer::ToLiteral", IDS_KIND_SYNC},
    {"CommonPjRtBuffer::ToLiteral", IDS_KIND_SYNC},
    {"PjRtStreamExecutorBuffer::ToLiteral", IDS_KIND_SYNC},
    {"PjRtBuffer::Await", IDS_KIND_SYNC},
    {"PJRT_Event_Await", IDS_KIND_SYNC}, /* collectors/pjrt: the program's calls of its plugin */
    {"BlockHostUntilReady", IDS_KIND_SYNC},
    {"block_until_ready", IDS_KIND_SYNC},
    {"CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice", IDS_KIND_EXECUTE},
    {"ThunkExecutor::Execute (wait for completion)", IDS_KIND_FLOW},
    {"cuStreamSynchronize", IDS_KIND_SYNC},
    {"cuCtxSynchronize", IDS_KIND_SYNC},
    {"cuEventSynchronize", IDS_KIND_SYNC},
    {"cudaStreamSynchronize", IDS_KIND_SYNC},
    {"cudaDeviceSynchronize", IDS_KIND_SYNC},
    {"cudaEventSynchronize", IDS_KIND_SYNC},
    {"hipStreamSynchronize", IDS_KIND_SYNC},
    {"hipDeviceSynchronize", IDS_KIND_SYNC},
    {"hipEventSynchronize", IDS_KIND_SYNC},
    /* transfers as the TPU runtime books them; the first of three nested events is the transfer (trace_facts) */
    {"tpu::System::TransferToDevice", IDS_KIND_TRANSFER},
    {"tpu::System::TransferFromDevice", IDS_KIND_TRANSFER},
    /* getting data ready for a transfer */
    {"H2D Dispatch", IDS_KIND_STAGING},
    {"D2H Dispatch", IDS_KIND_STAGING},
    {"PCIe/Memcpy Dispatch", IDS_KIND_STAGING},
    {"MapDmaBuffer", IDS_KIND_STAGING},
    {"XlaLinearize", IDS_KIND_STAGING},
    {"XlaDelinearize", IDS_KIND_STAGING},
    {"TransposePlan::ExecuteTyped", IDS_KIND_STAGING},
    {"DevicePut", IDS_KIND_STAGING},
    {"DevicePutWithSharding", IDS_KIND_STAGING},
    {"shard_args", IDS_KIND_STAGING},
    {"batched_copy_array_to_devices_with_sharding", IDS_KIND_STAGING},
    {"ArrayImpl.copy_to_host_async", IDS_KIND_STAGING},
    {"LinearizeIntoBuffer", IDS_KIND_STAGING},
    /* CPU collectives: an op waits for its peers (xla/service/rendezvous.cc) */
    {"Rendezvous", IDS_KIND_STALL},
    {"Wait for rendezvous callback", IDS_KIND_STALL},
    {"ThunkExecutor::Execute", IDS_KIND_OTHER},
    /* internals whose names would pass for an input annotation */
    {"Handle inputs", IDS_KIND_OTHER},
    {"Handle input event recording", IDS_KIND_OTHER},
    {"AllocateOutputBufferWithInputReuse", IDS_KIND_OTHER},
    {"AllocateOutputBuffersWithInputReuse", IDS_KIND_OTHER},
};

static const struct rule prefixes[] = {
    {"PJRT_Client_Compile", IDS_KIND_COMPILE},
    {"PJRT_Executable_DeserializeAndLoad", IDS_KIND_CACHE_READ},
    /* what jax.monitoring told the Python hook (collectors/python/_idsprof/monitoring.py), on tracks of their own */
    {"jax.trace(", IDS_KIND_TRACE},
    {"jax.lower(", IDS_KIND_LOWER},
    {"jax.compile(", IDS_KIND_COMPILE},
    {"jax.cache_read(", IDS_KIND_CACHE_READ},
    {"jax.cache_hit(", IDS_KIND_CACHE_HIT},
    {"jax.cache_miss(", IDS_KIND_CACHE_MISS},
    {"PjitFunction(", IDS_KIND_DISPATCH},
    {"CommonPjRtLoadedExecutable::Execute (", IDS_KIND_EXECUTE},
    {"XlaCompile:", IDS_KIND_COMPILE},
    {"XlaCompileBackend:", IDS_KIND_COMPILE},
    {"XlaAutotunerMeasurement", IDS_KIND_AUTOTUNE},
    {"end: ", IDS_KIND_OP_END},
    {"Wait: pending_threads=", IDS_KIND_STALL},
    {"Iterator::", IDS_KIND_INPUT}, /* tf.data */
    {"IteratorGetNext", IDS_KIND_INPUT},
    {"enumerate(DataLoader)#", IDS_KIND_INPUT}, /* torch.utils.data: its __next__ */
    {"DoEnqueueProgram", IDS_KIND_LAUNCH},
    {"ProfilerStep#", IDS_KIND_STEP_MARK}, /* torch.profiler */
};

/* Python frames "$file.py:12 function", by function, and by file where the function's name alone would be too common. */
struct python_rule {
    const char *file, *function;
    enum ids_kind kind;
};
static const struct python_rule python[] = {
    {"partial_eval.py", "trace_to_jaxpr", IDS_KIND_TRACE},
    {"partial_eval.py", "trace_to_jaxpr_dynamic", IDS_KIND_TRACE},
    {"mlir.py", "lower_jaxpr_to_module", IDS_KIND_LOWER},
    {"pxla.py", "lower_sharding_computation", IDS_KIND_LOWER},
    {"compiler.py", "compile_or_get_cached", IDS_KIND_COMPILE},
    {"compiler.py", "backend_compile", IDS_KIND_COMPILE},
    {"compiler.py", "backend_compile_and_load", IDS_KIND_COMPILE},
    {"compiler.py", "_cache_read", IDS_KIND_CACHE_READ},
    {"compiler.py", "_cache_write", IDS_KIND_CACHE_WRITE},
    {NULL, "block_until_ready", IDS_KIND_SYNC},
    {NULL, "effects_barrier", IDS_KIND_SYNC},
    {"dataloader.py", "__next__", IDS_KIND_INPUT},
};

static int equals(const char *name, size_t length, const char *text) {
    return strlen(text) == length && !memcmp(name, text, length);
}

static int begins(const char *name, size_t length, const char *text) {
    size_t prefix = strlen(text);
    return length >= prefix && !memcmp(name, text, prefix);
}

static enum ids_kind python_kind(const char *name, size_t length) {
    const char *space = memchr(name, ' ', length);
    if (!space) return IDS_KIND_PYTHON;
    const char *function = space + 1;
    size_t function_length = length - (size_t)(function - name);
    const char *file = name + 1;
    const char *colon = memchr(file, ':', (size_t)(space - file));
    size_t file_length = (size_t)((colon ? colon : space) - file);
    for (size_t i = 0; i < sizeof python / sizeof *python; i++) {
        if (!equals(function, function_length, python[i].function)) continue;
        if (!python[i].file || equals(file, file_length, python[i].file)) return python[i].kind;
    }
    return IDS_KIND_PYTHON;
}

/* Whether one of a name's words (letters between other characters, or CamelCase humps) is a word of the trade of input. */
static int is_about_input(const char *name, size_t length) {
    static const char *const words[] = {"data",   "dataset", "dataloader", "dataloading", "input",    "inputs",
                                        "infeed", "loader",  "batch",      "batches",     "prefetch", "fetch"};
    if (length > 64) return 0;
    char word[65];
    size_t used = 0;
    for (size_t i = 0; i <= length; i++) {
        char c = i < length ? name[i] : '_';
        int upper = c >= 'A' && c <= 'Z';
        int lower = c >= 'a' && c <= 'z';
        if (used && (upper || !lower)) {
            for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
                if (equals(word, used, words[w])) return 1;
            }
            used = 0;
        }
        if (upper || lower) word[used++] = upper ? (char)(c - 'A' + 'a') : c;
    }
    return 0;
}

/* What may be a user's annotation: names of C++ scopes and of tasks with spaces are the runtime's own, and are not looked at. */
static int may_be_annotation(const char *name, size_t length) {
    return !memchr(name, ':', length) && !memchr(name, ' ', length) && !memchr(name, '(', length) &&
           !memchr(name, '.', length);
}

enum ids_kind ids_kind_of_annotation(const char *name, size_t length) {
    return is_about_input(name, length) ? IDS_KIND_INPUT : IDS_KIND_NAMED;
}

/* A range of NVTX: "NVTX:name", "NVTX:domain:name" (XLA's cupti_collector.cc). XLA gives NVTX what it records itself too, so only
 * what a user may have marked counts. */
static enum ids_kind range_kind(const char *name, size_t length) {
    const char *colon = memrchr(name, ':', length);
    if (colon && !(colon > name && colon[-1] == ':')) {
        length -= (size_t)(colon + 1 - name);
        name = colon + 1;
    }
    if (begins(name, length, "ProfilerStep#")) return IDS_KIND_STEP_MARK;
    return may_be_annotation(name, length) && is_about_input(name, length) ? IDS_KIND_INPUT : IDS_KIND_OTHER;
}

enum ids_kind ids_kind_of_name(const char *name, size_t length) {
    if (!length) return IDS_KIND_OTHER;
    if (name[0] == '$') return python_kind(name, length);
    if (begins(name, length, "NVTX:")) return range_kind(name + 5, length - 5);
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        if (equals(name, length, exact[i].name)) return exact[i].kind;
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (begins(name, length, prefixes[i].name)) return prefixes[i].kind;
    }
    static const char gpu_program[] = ":XLA GPU module"; /* xla/service/gpu/gpu_executable.cc */
    if (length >= sizeof gpu_program &&
        !memcmp(name + length - (sizeof gpu_program - 1), gpu_program, sizeof gpu_program - 1))
        return IDS_KIND_EXECUTE;
    return may_be_annotation(name, length) && is_about_input(name, length) ? IDS_KIND_INPUT : IDS_KIND_OTHER;
}

const char *ids_kind_name(enum ids_kind kind) {
    static const char *const names[IDS_KIND_COUNT] = {
        [IDS_KIND_OTHER] = "other",
        [IDS_KIND_KERNEL] = "kernel",
        [IDS_KIND_OP] = "op",
        [IDS_KIND_COPY] = "copy",
        [IDS_KIND_SET] = "set",
        [IDS_KIND_WAIT_OP] = "wait",
        [IDS_KIND_MODULE] = "module",
        [IDS_KIND_STEP] = "step",
        [IDS_KIND_STEP_MARK] = "step annotation",
        [IDS_KIND_LAUNCH] = "launch",
        [IDS_KIND_DISPATCH] = "dispatch",
        [IDS_KIND_EXECUTE] = "execute",
        [IDS_KIND_COMPILE] = "compile",
        [IDS_KIND_LOWER] = "lowering",
        [IDS_KIND_TRACE] = "tracing",
        [IDS_KIND_AUTOTUNE] = "autotuning",
        [IDS_KIND_CACHE_READ] = "compilation cache read",
        [IDS_KIND_CACHE_WRITE] = "compilation cache write",
        [IDS_KIND_CACHE_HIT] = "compilation cache hit",
        [IDS_KIND_CACHE_MISS] = "compilation cache miss",
        [IDS_KIND_SYNC] = "sync wait",
        [IDS_KIND_TRANSFER] = "transfer",
        [IDS_KIND_STAGING] = "transfer staging",
        [IDS_KIND_INPUT] = "input",
        [IDS_KIND_PYTHON] = "Python",
        [IDS_KIND_STALL] = "stall",
        [IDS_KIND_REGION] = "task",
        [IDS_KIND_NAMED] = "annotation",
        [IDS_KIND_CALL] = "framework op",
        [IDS_KIND_FLOW] = "flow",
        [IDS_KIND_REGION_START] = "task start",
        [IDS_KIND_REGION_STOP] = "task stop",
        [IDS_KIND_OP_END] = "op end",
    };
    return (unsigned)kind < IDS_KIND_COUNT && names[kind] ? names[kind] : "other";
}
