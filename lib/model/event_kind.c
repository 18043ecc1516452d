#include "lib/model/event_kind.h"

#include "lib/model/python_frame.h"

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
    {"CompileToBackendResult", IDS_KIND_COMPILE}, /* of a GPU, also by a pool's threads that try variants out */
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
    /* transfers as the TPU runtime books them; the first of three nested events is the transfer
     * (docs/trace_facts.md) */
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
    {"ValidateInputTypeAndPlacement", IDS_KIND_OTHER}, /* of TensorFlow, for every op */
    {"PrefetchProduce", IDS_KIND_OTHER},               /* of tf.data, around the stage before */
    {"PrefetchConsume", IDS_KIND_OTHER},
    {"AllocateOutputBufferWithInputReuse", IDS_KIND_OTHER},
    {"AllocateOutputBuffersWithInputReuse", IDS_KIND_OTHER},
};

static const struct rule prefixes[] = {
    {"PJRT_Client_Compile", IDS_KIND_COMPILE},
    {"PJRT_Executable_DeserializeAndLoad", IDS_KIND_CACHE_READ},
    /* what jax.monitoring told the Python hook (collectors/python/_idsprof/idsprof_monitoring.py), on tracks of
     * their own */
    {"jax.trace(", IDS_KIND_TRACE},
    {"jax.lower(", IDS_KIND_LOWER},
    {"jax.compile(", IDS_KIND_COMPILE},
    {"jax.cache_read(", IDS_KIND_CACHE_READ},
    {"jax.cache_hit(", IDS_KIND_CACHE_HIT},
    {"jax.cache_miss(", IDS_KIND_CACHE_MISS},
    {"jax.recompile(", IDS_KIND_RECOMPILE},
    {"idsprof.opened", IDS_KIND_OPENED}, /* collectors/python/_idsprof/idsprof_session.py */
    {"PjitFunction(", IDS_KIND_DISPATCH},
    {"CommonPjRtLoadedExecutable::Execute (", IDS_KIND_EXECUTE},
    {"XlaCompile:", IDS_KIND_COMPILE},
    {"XlaCompileBackend:", IDS_KIND_COMPILE},
    {"XlaAutotunerMeasurement", IDS_KIND_AUTOTUNE},
    {"end: ", IDS_KIND_OP_END},
    {"Wait: pending_threads=", IDS_KIND_STALL},
    {"Iterator::", IDS_KIND_INPUT},             /* tf.data */
    {"enumerate(DataLoader)#", IDS_KIND_INPUT}, /* torch.utils.data: its __next__ */
    {"DoEnqueueProgram", IDS_KIND_LAUNCH},
    {"ProfilerStep#", IDS_KIND_STEP_MARK}, /* torch.profiler */
};

/* Python frames by function, and by file where the function's name alone would be too common. */
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
    {"array.py", "__float__", IDS_KIND_SYNC}, /* of a jax.Array: the value is fetched */
    {"array.py", "__int__", IDS_KIND_SYNC},
    {"array.py", "__bool__", IDS_KIND_SYNC},
    {"array.py", "__index__", IDS_KIND_SYNC},
    {"array.py", "__complex__", IDS_KIND_SYNC},
    {"array.py", "item", IDS_KIND_SYNC},
    {"array.py", "tolist", IDS_KIND_SYNC},
    {"array.py", "_value", IDS_KIND_SYNC},
    {"api.py", "device_get", IDS_KIND_SYNC},
    {"api.py", "device_put", IDS_KIND_STAGING},
    {"dataloader.py", "__next__", IDS_KIND_INPUT},
    {"queue.py", "get", IDS_KIND_INPUT}, /* what a thread that prepares batches has put */
    {"queues.py", "get", IDS_KIND_INPUT},
    {"pool.py", "next", IDS_KIND_INPUT}, /* of Pool.imap */
    {"pool.py", "get", IDS_KIND_INPUT},
    {"_base.py", "result", IDS_KIND_INPUT}, /* of a Future */
};

static int equals(const char *name, size_t length, const char *text) {
    return strlen(text) == length && !memcmp(name, text, length);
}

static int begins(const char *name, size_t length, const char *text) {
    size_t prefix = strlen(text);
    return length >= prefix && !memcmp(name, text, prefix);
}

enum ids_kind ids_kind_of_python_frame(struct ids_text name) {
    struct ids_python_frame frame;
    if (!ids_python_frame_of(name, &frame)) return IDS_KIND_PYTHON;
    const char *slash = frame.file.length ? memrchr(frame.file.at, '/', frame.file.length) : NULL;
    const char *file = slash ? slash + 1 : frame.file.at;
    size_t length = slash ? (size_t)(frame.file.at + frame.file.length - file) : frame.file.length;
    const char *dot = frame.function.length ? memrchr(frame.function.at, '.', frame.function.length) : NULL;
    const char *function = dot ? dot + 1 : frame.function.at; /* without its class */
    size_t function_length = (size_t)(frame.function.at + frame.function.length - function);
    for (size_t i = 0; i < sizeof python / sizeof *python; i++) {
        if (!equals(function, function_length, python[i].function)) continue;
        if (!python[i].file || equals(file, length, python[i].file)) return python[i].kind;
    }
    return IDS_KIND_PYTHON;
}

static int is_one_of(const char *word, size_t length, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (equals(word, length, words[i])) return 1;
    }
    return 0;
}
#define IS_ONE_OF(word, length, words) is_one_of((word), (length), (words), sizeof(words) / sizeof *(words))

/* What a name's words say together. */
enum says {
    SAYS_ELSE,
    SAYS_INPUT,   /* if the program launches no work inside */
    SAYS_FETCHING /* whatever is launched inside: "fetch batch" may put its arrays together on the device */
};

struct words {
    int is_other, is_clear, is_thing, is_getting, is_training, is_more;
};

static void add_word(struct words *words, const char *word, size_t length) {
    static const char *const clear[] = {"dataloader", "dataloading", "infeed",     "input",    "inputs",
                                        "loader",     "load",        "loading",    "prefetch", "fetch",
                                        "fetching",   "dataset",     "prefetching"};
    /* A region about data or a batch is input if its other words only say that the data is fetched. */
    static const char *const things[] = {"data", "batch", "batches", "minibatch"};
    static const char *const having[] = {"next", "get",      "read",  "reading", "wait", "waiting", "for",
                                         "the",  "of",       "host",  "make",    "new",  "prepare", "iter",
                                         "to",   "generate", "train", "eval",    "test", "valid",   "validation"};
    static const char *const getting[] = {"dataloader", "dataloading", "infeed", "loader",  "load",     "loading",
                                          "prefetch",   "fetch",       "next",   "get",     "fetching", "prefetching",
                                          "read",       "reading",     "wait",   "waiting", "make",     "prepare"};
    static const char *const training[] = {"train", "training", "step", "update", "loop", "epoch", "compute", "run"};
    static const char *const others[] = {
        "parallel", "norm",     "forward",   "backward",  "grad",    "checkpoint", "model",   "state",
        "weights",  "params",   "library",   "module",    "layer",   "conv",       "linear",  "normalize",
        "plugin",   "reduce",   "sharding",  "copy",      "kernel",  "executable", "op",      "ops",
        "program",  "constant", "buffer",    "file",      "config",  "compile",    "backend", "loss",
        "losses",   "metric",   "metrics",   "result",    "results", "output",     "outputs", "logits",
        "balance",  "balancer", "balancing", "optimizer", "vocab",   "tokenizer",  "cache",   "embedding"};
    if (IS_ONE_OF(word, length, others)) words->is_other = 1;
    if (IS_ONE_OF(word, length, getting)) words->is_getting = 1;
    if (IS_ONE_OF(word, length, training)) words->is_training = 1;
    if (IS_ONE_OF(word, length, clear))
        words->is_clear = 1;
    else if (IS_ONE_OF(word, length, things))
        words->is_thing = 1;
    else if (!IS_ONE_OF(word, length, having))
        words->is_more = 1;
}

/* Words are letters between other characters, or CamelCase humps: DistributedDataParallel and BatchNorm are no input,
 * and load_checkpoint is none of the loop's. */
static enum says what_words_say(const char *name, size_t length) {
    struct words words = {0};
    char word[65];
    size_t used = 0;
    if (length > 64) return SAYS_ELSE;
    for (size_t i = 0; i <= length; i++) {
        char c = i < length ? name[i] : '_';
        int upper = c >= 'A' && c <= 'Z';
        int lower = c >= 'a' && c <= 'z';
        /* A hump begins a word, capitals in a row are one: "NextBatch", "TRAIN_data", "XLALoad". */
        int after_lower = i && name[i - 1] >= 'a' && name[i - 1] <= 'z';
        int before_lower = i + 1 < length && name[i + 1] >= 'a' && name[i + 1] <= 'z';
        if (used && ((upper && (after_lower || before_lower)) || (!upper && !lower))) {
            add_word(&words, word, used);
            used = 0;
        }
        if (upper || lower) word[used++] = upper ? (char)(c - 'A' + 'a') : c;
    }
    if (words.is_other || !(words.is_clear || (words.is_thing && !words.is_more))) return SAYS_ELSE;
    if (words.is_more && (!words.is_thing || words.is_training)) return SAYS_INPUT;
    return words.is_getting ? SAYS_FETCHING : SAYS_INPUT;
}

static int is_about_input(const char *name, size_t length) {
    return what_words_say(name, length) != SAYS_ELSE;
}

int ids_says_fetching(struct ids_text name) {
    return what_words_say(name.at, name.length) == SAYS_FETCHING;
}

int ids_is_reader(struct ids_text name) {
    return ids_text_begins(name, "Iterator::") || ids_text_begins(name, "IteratorGetNext") ||
           ids_text_contains(name, "DataLoader") || ids_text_contains(name, "dataloader");
}

/* What may be a user's annotation: names of C++ scopes and of tasks with spaces are the runtime's own, and are not
 * looked at. */
static int may_be_annotation(const char *name, size_t length) {
    return !memchr(name, ':', length) && !memchr(name, ' ', length) && !memchr(name, '(', length) &&
           !memchr(name, '.', length);
}

enum ids_kind ids_kind_of_annotation(const char *name, size_t length) {
    return is_about_input(name, length) ? IDS_KIND_INPUT : IDS_KIND_NAMED;
}

/* A range of NVTX: "NVTX:name", "NVTX:domain:name" (XLA's cupti_collector.cc). XLA gives NVTX what it records itself
 * too, so only what a user may have marked counts. */
static enum ids_kind range_kind(const char *name, size_t length) {
    const char *colon = memrchr(name, ':', length);
    if (colon && !(colon > name && colon[-1] == ':')) {
        length -= (size_t)(colon + 1 - name);
        name = colon + 1;
    }
    if (begins(name, length, "ProfilerStep#")) return IDS_KIND_STEP_MARK;
    return may_be_annotation(name, length) && is_about_input(name, length) ? IDS_KIND_INPUT : IDS_KIND_OTHER;
}

/* TensorFlow's op that takes the next batch. Its events are called "node:type"; what only passes the batch on is a node
 * below it ("IteratorGetNext/_40:_Send"), and waits for nothing of the pipeline. */
static int is_next_batch(const char *name, size_t length) {
    static const char type[] = "IteratorGetNext";
    if (!begins(name, length, type)) return 0;
    const char *colon = memrchr(name, ':', length);
    if (!colon || colon[-1] == ':') return 1; /* "IteratorGetNextOp::DoCompute" is a scope in C++ */
    return begins(colon + 1, length - (size_t)(colon + 1 - name), type);
}

enum ids_kind ids_kind_of_name(const char *name, size_t length) {
    if (!length) return IDS_KIND_OTHER;
    if (name[0] == '$') return ids_kind_of_python_frame((struct ids_text){name, (uint32_t)length});
    if (begins(name, length, "NVTX:")) return range_kind(name + 5, length - 5);
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        if (equals(name, length, exact[i].name)) return exact[i].kind;
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (begins(name, length, prefixes[i].name)) return prefixes[i].kind;
    }
    if (is_next_batch(name, length)) return IDS_KIND_INPUT;
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
        [IDS_KIND_RECOMPILE] = "recompilation",
        [IDS_KIND_OPENED] = "window opened",
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
