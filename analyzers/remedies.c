#include "analyzers/remedies.h"

#include "analyzers/runtime_calls.h"
#include "lib/analysis/host_time.h"
#include "lib/model/python_frame.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* --- names ------------------------------------------------------------------------------------------------------ */

static int has_any(const char *text, const char *const *parts) {
    for (; text && *parts; parts++) {
        if (strcasestr(text, *parts)) return 1;
    }
    return 0;
}

static int is_any(const char *text, const char *const *names) {
    for (; text && *names; names++) {
        if (!strcmp(text, *names)) return 1;
    }
    return 0;
}

/* Words end where letters end, and where a capital follows a small letter: "EvalStep", "eval_step". */
static int has_word(const char *text, const char *const *words) {
    for (const char *at = text; at && *at;) {
        size_t length = 0;
        while (isalpha((unsigned char)at[length]) &&
               !(length && islower((unsigned char)at[length - 1]) && isupper((unsigned char)at[length])))
            length++;
        for (const char *const *word = words; length && *word; word++) {
            if (strlen(*word) == length && !strncasecmp(at, *word, length)) return 1;
        }
        at += length ? length : 1;
    }
    return 0;
}

/* --- conditions ------------------------------------------------------------------------------------------------- */

typedef int condition(const struct ids_circumstances *about);

static int launches_take_longer(const struct ids_circumstances *about) {
    return about->time_ps > about->work_ps;
}

/* A launch of a few arrays takes some ten microseconds, and one of some thousand takes milliseconds. An op of another
 * framework takes that long where it loads its kernel. */
static int one_launch_takes_long(const struct ids_circumstances *about) {
    return about->framework == IDS_JAX && about->mean_ps >= INT64_C(1000000000);
}

/* The arrays of a function are as many in each launch: one that takes long in few steps is held up there, or comes in
 * these alone. */
static int takes_long_in_few(const struct ids_circumstances *about) {
    return one_launch_takes_long(about) && about->is_uneven;
}

static int is_gpu(const struct ids_circumstances *about) {
    return about->platform == IDS_DEVICE_GPU;
}

static int is_cpu(const struct ids_circumstances *about) {
    return about->platform == IDS_DEVICE_CPU;
}

static int only_pauses(const struct ids_circumstances *about) {
    return is_gpu(about) && about->gap_ps > 0;
}

static int launches_graphs(const struct ids_circumstances *about) {
    return about->launches_graphs && (about->framework == IDS_PYTORCH || about->framework == IDS_CUDA);
}

static int graphs_take_longer(const struct ids_circumstances *about) {
    return launches_graphs(about) && launches_take_longer(about);
}

static int is_compiled(const struct ids_circumstances *about) {
    static const char *const names[] = {"CompiledF", "Torch-Compiled Region", NULL};
    return about->framework == IDS_PYTORCH && (about->is_compiled || has_any(about->culprit, names));
}

static int compiled_pauses(const struct ids_circumstances *about) {
    return only_pauses(about) && is_compiled(about);
}

static int has_ops(const struct ids_circumstances *about) {
    return about->framework == IDS_PYTORCH && about->has_ops;
}

static int has_python(const struct ids_circumstances *about) {
    return about->has_python;
}

/* --- why it was compiled again: how idsprof_misses.py begins its reasons --- */

static int begins(const char *text, const char *start) {
    return text && !strncmp(text, start, strlen(start));
}

static int is_made_anew(const struct ids_circumstances *about) {
    return begins(about->reason, "new function object");
}

static int is_static(const struct ids_circumstances *about) {
    return begins(about->reason, "static ");
}

static int is_of_type(const struct ids_circumstances *about) {
    return begins(about->reason, "dtype") || begins(about->reason, "weak type");
}

static int is_sharded(const struct ids_circumstances *about) {
    return begins(about->reason, "sharding");
}

static int is_shaped(const struct ids_circumstances *about) {
    return begins(about->reason, "shape");
}

static int is_structured(const struct ids_circumstances *about) {
    return begins(about->reason, "structure") || begins(about->reason, "arguments");
}

static int is_cleared(const struct ids_circumstances *about) {
    return begins(about->reason, "same arguments: jax's caches");
}

/* Of the same arguments, where it is known what of the program's state is another: x64, a mesh. */
static int is_of_context(const struct ids_circumstances *about) {
    return begins(about->reason, "same arguments: ") && !begins(about->reason, "same arguments: nothing");
}

/* Of the same arguments, in the same state: jax had forgotten what it had compiled. */
static int is_forgotten(const struct ids_circumstances *about) {
    return begins(about->reason, "same arguments: nothing");
}

/* Only that was recorded of it, as of jax.eval_shape: where a program is made of it too, the call of the jitted
 * function is what was recorded. */
static int is_traced(const struct ids_circumstances *about) {
    return about->framework == IDS_JAX && begins(about->recorded, "jax.trace(");
}

/* --- further ones --- */

static int ends(const char *text, const char *end) {
    size_t length = text ? strlen(text) : 0;
    return length >= strlen(end) && !strcmp(text + length - strlen(end), end);
}

static int is_called_back(const struct ids_circumstances *about) {
    return ends(about->where, IDS_CALLED_BACK);
}

static int computes_itself(const struct ids_circumstances *about) {
    return ends(about->where, IDS_COMPUTING);
}

static int is_held_up(const struct ids_circumstances *about) {
    return ends(about->where, IDS_HELD_UP);
}

/* What it takes to hand a program over, and no more: half a millisecond. */
static int is_handed_over_on_cpu(const struct ids_circumstances *about) {
    return is_cpu(about) && about->mean_ps > 0 && about->mean_ps <= (int64_t)500000000;
}

static int is_one_device(const struct ids_circumstances *about) {
    return about->devices == 1;
}

static int lacks_ranks(const struct ids_circumstances *about) {
    return about->lacking == IDS_LACKS_RANKS;
}

static int lacks_somebody(const struct ids_circumstances *about) {
    return about->lacking != IDS_LACKS_NOBODY;
}

static int is_mixed(const struct ids_circumstances *about) {
    return about->is_mixed;
}

static int only_moves(const struct ids_circumstances *about) {
    return about->only_moves;
}

/* XLA's CPU client runs a program's ops on threads: what their order leaves open is the same in each step. */
static int lacks_cores(const struct ids_circumstances *about) {
    return is_cpu(about) && (about->lacks_cores || about->is_uneven);
}

static int is_even_on_cpu(const struct ids_circumstances *about) {
    return about->is_even && is_cpu(about);
}

static int is_even(const struct ids_circumstances *about) {
    return about->is_even;
}

/* XLA copies an argument that is donated where it is still read after it is overwritten. */
static int moves_donated(const struct ids_circumstances *about) {
    return about->only_moves && about->donates;
}

static int comes_back(const struct ids_circumstances *about) {
    return about->is_round_trip;
}

static int goes_both_ways(const struct ids_circumstances *about) {
    return about->both_ways;
}

static int fetches(const struct ids_circumstances *about) {
    static const char *const names[] = {"copy_to_host", "device_get", "__array__", "ToLiteral",
                                        "FromDevice",   "DtoH",       "D2H",       NULL};
    return has_any(about->culprit, names) || (about->culprit && !strncmp(about->culprit, "np.asarray", 10));
}

/* A wait for the device is one stretch that ends when it is woken, which takes some microseconds at least. One that is
 * cut into hundreds of shorter ones looks at hundreds of arrays, and none of them lets it wait. */
static int goes_through_many(const struct ids_circumstances *about) {
    return about->framework == IDS_JAX && about->culprit && !strcmp(about->culprit, "block_until_ready") &&
           about->a_step >= IDS_REMEDY_MANY && about->mean_ps < IDS_REMEDY_SHORT_PS;
}

static int fetches_mostly(const struct ids_circumstances *about) {
    return about->fetches_mostly;
}

/* "conn.recv" of "loop.py:39, in conn.recv" and of "loop.py:39, mostly in conn.recv"; NULL: none. */
static const char *call_in(const struct ids_circumstances *about) {
    static const char *const heads[] = {", in ", ", mostly in "};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        const char *call = about->where ? strstr(about->where, heads[i]) : NULL;
        if (call) return call + strlen(heads[i]);
    }
    return NULL;
}

/* Whether that call is one of these, of whatever object. */
static int calls_any(const struct ids_circumstances *about, const char *const *names) {
    const char *call = call_in(about), *dot = call ? strrchr(call, '.') : NULL;
    return is_any(dot ? dot + 1 : call, names);
}

/* Or the function is one of them. */
static int is_call_of(const struct ids_circumstances *about, const char *const *names) {
    return is_any(about->culprit, names) || calls_any(about, names);
}

static int hears(const struct ids_circumstances *about) {
    static const char *const names[] = {"recv",    "recv_bytes", "recv_into", "recvfrom", "recvfrom_into",
                                        "recvmsg", "accept",     "urlopen",   NULL};
    return is_call_of(about, names);
}

/* A dictionary has a get too: of a queue it is by the name of the object. */
static int gets_of_queue(const struct ids_circumstances *about) {
    static const char *const gets[] = {"get", NULL}, *const queues[] = {"q", "queue", "inbox", "jobs", "tasks", NULL};
    return is_any(about->culprit, gets) || (calls_any(about, gets) && has_word(call_in(about), queues));
}

/* A call of the same name that waits for nothing: of texts, paths and arrays; "join" alone is of a literal text. */
static int computes_by_name(const struct ids_circumstances *about) {
    static const char *const of[] = {"path", "sep", "separator", "delimiter", "str", "np", "numpy", "jnp",
                                     "jax",  "lax", "torch",     "tf",        "pd",  "df", NULL};
    const char *call = call_in(about);
    return call && (!strcmp(call, "join") || (strchr(call, '.') && has_word(call, of)));
}

static int waits_for_another(const struct ids_circumstances *about) {
    static const char *const names[] = {"wait",   "acquire",  "join",         "result", "poll",
                                        "select", "wait_for", "as_completed", NULL};
    static const char *const calls[] = {"communicate", "waitpid", "wait3", "wait4", "waitid", "flock", "lockf", NULL};
    static const char *const of_processes[] = {
        "os.system", "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", NULL};
    static const char *const of_locks[] = {"__enter__", NULL}; /* what has no name of its own: "with lock:" */
    return (is_call_of(about, names) && !computes_by_name(about)) || calls_any(about, calls) ||
           is_any(call_in(about), of_processes) || is_any(call_in(about), of_locks) || gets_of_queue(about);
}

/* Of a file, a pipe or a socket. */
static int reads(const struct ids_circumstances *about) {
    static const char *const calls[] = {"read", "read1", "readinto", "readline", "readlines", "input", NULL};
    return calls_any(about, calls) || ends(about->where, " (reads)");
}

/* By a function of a library in Python, which is called without its module's name: it may do more than read. */
static int reads_by_library(const struct ids_circumstances *about) {
    static const char *const calls[] = {"read", "read1", "readinto", "readline", "readlines", NULL};
    return is_any(call_in(about), calls);
}

/* What is read needs no waiting for. Whether a file of the kernel's memory is copied or a buffer of the program's, the
 * kernel does not say. */
static int reads_at_once(const struct ids_circumstances *about) {
    const char *call = call_in(about);
    return call && strstr(call, "read") && ends(call, " (does not wait)");
}

static int opens(const struct ids_circumstances *about) {
    static const char *const calls[] = {"open", NULL};
    return calls_any(about, calls);
}

static int sleeps(const struct ids_circumstances *about) {
    static const char *const names[] = {"sleep", NULL}, *const calls[] = {"time.sleep", "sleep", NULL};
    return is_any(about->culprit, names) || is_any(call_in(about), calls) || ends(about->where, " (sleeps)");
}

/* The program calls gc.collect, or a collection came by itself, which idsprof's hook records. */
static int collects_garbage(const struct ids_circumstances *about) {
    static const char *const names[] = {"collect garbage", NULL}, *const calls[] = {"gc.collect", NULL};
    return is_any(about->culprit, names) || is_any(call_in(about), calls);
}

int ids_waits_for_core(const char *culprit) {
    return culprit && !strcmp(culprit, "wait_for_core");
}

static int has_no_core(const struct ids_circumstances *about) {
    return ids_waits_for_core(about->culprit);
}

static int has_gil(const struct ids_circumstances *about) {
    return ends(about->where, IDS_HAVING_GIL) || about->maker_has_gil;
}

/* What another thread does with the lock, or while it has what is waited for. */
static int collects_elsewhere(const struct ids_circumstances *about) {
    static const char *const names[] = {"collect garbage", NULL};
    return is_any(about->culprit, names) && (has_gil(about) || ends(about->where, IDS_AWAITED));
}

static int lacks_gil(const struct ids_circumstances *about) {
    return ends(about->where, IDS_LACKING_GIL);
}

static int is_polled(const struct ids_circumstances *about) {
    return ends(about->where, IDS_POLLED);
}

static int is_polling(const struct ids_circumstances *about) {
    return ends(about->where, ", " IDS_POLLING);
}

static int is_awaited(const struct ids_circumstances *about) {
    return ends(about->where, IDS_AWAITED);
}

/* The thread waits in a queue for what another thread puts there, and nobody is known to make batches for it: of a
 * server's requests there are no more to prepare. */
static int waits_for_item(const struct ids_circumstances *about) {
    if (about->has_loader || !about->recorded) return 0;
    struct ids_text recorded = {about->recorded, (uint32_t)strlen(about->recorded)};
    return ids_python_waits_for_thread(recorded) || is_awaited(about);
}

/* Of multiprocessing: a pool's result, or what a queue gets of a process. */
static int waits_for_processes(const struct ids_circumstances *about) {
    return about->recorded && strstr(about->recorded, "/multiprocessing/");
}

/* What idsprof's hook records of the waits of event loops. */
static int loop_awaits(const struct ids_circumstances *about) {
    return begins(about->culprit, "await ");
}

/* The same in sampled stacks, where the hook recorded none. */
static int loop_waits(const struct ids_circumstances *about) {
    static const char *const calls[] = {"self._selector.poll", "self._selector.select", NULL};
    return is_any(call_in(about), calls);
}

/* Between its tasks: the line is the one that runs it, and no loop of the program's. */
static int is_loop(const struct ids_circumstances *about) {
    static const char *const calls[] = {"_run_once", NULL};
    return is_any(call_in(about), calls);
}

static int saves(const struct ids_circumstances *about) {
    static const char *const words[] = {"checkpoint", "checkpoints", "checkpointing", "ckpt", "save", "saving", NULL};
    return has_word(about->culprit, words);
}

int ids_is_evaluation(const char *function) {
    static const char *const words[] = {"eval", "evaluate", "evaluation", "validate", "validation", NULL};
    return has_word(function, words);
}

static int evaluates(const struct ids_circumstances *about) {
    return ids_is_evaluation(about->culprit);
}

static int logs(const struct ids_circumstances *about) {
    static const char *const words[] = {"log", "logs", "logging", "print", NULL};
    return has_word(about->culprit, words);
}

static int is_of_first_uses(const struct ids_circumstances *about) {
    return about->is_of_first_uses;
}

/* --- sentences -------------------------------------------------------------------------------------------------- */

#define ROUND_TRIP "Data goes from the device to the host and back, and the device waits"
#define KEEP_THERE                                                                                               \
    {                                                                                                            \
        "compute on the device what the host does with it (jax.numpy, under jit) and keep it there; else do it " \
        "every n steps",                                                                                         \
            "compute on the device what the host does with it and keep it there (no .cpu() and .cuda() of one "  \
            "tensor); else do it every n steps",                                                                 \
            "compute on the device what the host does with it and keep it there; else do it every n steps", NULL \
    }
#define FETCH_LESS                                                                                          \
    "fetch what is needed in one call (jax.device_get of all of it) every n steps, begin it early "         \
    "(copy_to_host_async), and keep on the device what only the next step needs",                           \
        "fetch every n steps, to pinned memory with non_blocking=True (no .item() or .cpu() in each step)", \
        "do not fetch values in each step; read metrics every n steps",                                     \
        "copy to pinned memory on a stream of its own, every n steps"
#define ONCE_OR_AGAIN                                                                                                \
    "where it comes once, it is first use: warm up before measuring; where it comes again and again, the thread is " \
    "held up in it: by another thread that has the interpreter's lock, by memory, or by too few cores"
#define MORE_IN_A_GRAPH \
    "it launches graphs already: put what is launched beside them into the graph too, or several steps into one"
#define LESS_GARBAGE                                                                                                 \
    "make fewer objects in a step (arrays in place of lists of dicts), take what stays out of the collector "        \
    "(gc.freeze after setup), let it run more rarely (gc.set_threshold), or gc.disable and gc.collect at a step of " \
    "your choice"
#define SHORT_GAPS "The device pauses briefly between kernels, and there is nothing that it waits for"
#define LOAD_ONCE "code is loaded when it is first launched: warm up before measuring, and keep shapes the same"

/* Of collectives whose peers were not all recorded. */
#define RECORD_ALL_RANKS                                                                                        \
    {                                                                                                           \
        "record all ranks to see who comes late; overlap collectives with compute (XLA's latency-hiding "       \
        "scheduler), or shard so that less is exchanged",                                                       \
            "record all ranks to see who comes late; overlap collectives with the backward pass "               \
            "(bucket_cap_mb, FSDP prefetch), or exchange less (bf16 gradients, another sharding)",              \
            "record all workers to see who comes late; overlap collectives with compute, pack small ones "      \
            "together, or exchange less",                                                                       \
            "record all ranks to see who comes late; put collectives on a stream of their own beside compute, " \
            "or exchange less",                                                                                 \
            "record all ranks to see who comes late; overlap collectives with compute, or shard so that less "  \
            "is exchanged"                                                                                      \
    }

/* clang-format off */
static const struct sentence {
    enum ids_account account;
    condition *holds; /* NULL: always */
    const char *problem;
    const char *remedy[IDS_FRAMEWORKS + 1]; /* NULL: as for JAX; the last of PyTorch that trains nothing, NULL: as it */
} sentences[] = {
    {IDS_HOST_INPUT, waits_for_item, "The device waits for Python, which waits for what another thread or process "
                                     "makes, or for its timeout",
     {"where a timeout runs out, shorten it or hand over what is there; else see what that one waits for or computes "
      "(the stacks are of this process alone)", NULL, NULL, NULL}},
    {IDS_HOST_INPUT, waits_for_processes, "The device waits for input, which other processes make",
     {"give them work further ahead of the step, use more of them, or make what they do cheaper; what that is was not "
      "recorded, because the stacks are of this process alone", NULL, NULL, NULL}},
    {IDS_HOST_INPUT, has_gil, "The device waits for input, and who makes it has Python's lock",
     {"make batches in other processes (grain, multiprocessing), for threads share the lock; or in calls that give it "
      "back (numpy, zlib, input and output), or make them cheaper",
      "DataLoader workers (num_workers, each of them a process), for threads share the lock; or make batches in calls "
      "that give it back, or cheaper",
      "make batches in ops of tf.data in place of Python's functions, for these share the lock; or make them cheaper",
      "make batches in other processes, for threads share the lock, or make them cheaper"}},
    {IDS_HOST_INPUT, NULL, "The device waits for input",
     {"prepare more batches ahead on other threads or processes (grain, tf.data prefetch, a background device_put), or "
      "make loading cheaper",
      "more DataLoader workers with pin_memory and a larger prefetch_factor, or make loading cheaper",
      "end the input pipeline with prefetch(AUTOTUNE), map in parallel, or make it cheaper",
      "prepare more ahead on other threads, or make loading cheaper"}},
    {IDS_HOST_SYNC, comes_back, ROUND_TRIP, KEEP_THERE},
    {IDS_HOST_SYNC, fetches_mostly, "The device waits while results are fetched to the host", {FETCH_LESS}},
    {IDS_HOST_SYNC, goes_through_many, "A wait goes through hundreds of arrays, one after another",
     {"put them (leaves of trees) into fewer, larger ones: each of them costs time in each launch too; or wait for one "
      "result of the program, because all of them are ready together",
      NULL, NULL, NULL}},
    {IDS_HOST_SYNC, NULL, "The host waits for the device before it launches more",
     {"keep results on the device (no float(), np.asarray or block_until_ready in each step) and read metrics every "
      "n steps",
      "avoid .item(), .cpu(), printing of tensors and synchronize in each step; read metrics every n steps, "
      "non_blocking",
      "do not fetch values in each step; read metrics every n steps",
      "avoid synchronous copies and device-wide synchronization in each step; use streams and events"}},
    {IDS_HOST_STAGING, comes_back, ROUND_TRIP, KEEP_THERE},
    {IDS_HOST_STAGING, fetches, "The device waits while results are fetched to the host", {FETCH_LESS}},
    {IDS_HOST_STAGING, NULL, "The device waits for data to be put on it",
     {"where it is the same in each step, device_put once, before the loop; else ahead of the step on another thread; "
      "keep parameters and results on the device",
      "copy from pinned memory with non_blocking=True ahead of the step; keep what stays on the device",
      "put data on the device ahead of the step (prefetch_to_device)",
      "copy from pinned memory asynchronously, ahead of the work that needs it"}},
    {IDS_HOST_COMPILE, is_made_anew, "A function that is made anew is compiled while the device waits",
     {"make the function (lambda, partial, jax.grad(f)) once outside the loop, and jit it there", NULL, NULL, NULL}},
    {IDS_HOST_COMPILE, is_static, "A function is compiled for another value while the device waits",
     {"pass what changes as an array and not as a static argument or field, or keep it to a few values and warm these "
      "up", NULL, NULL, NULL}},
    {IDS_HOST_COMPILE, is_of_type, "A function is compiled for another dtype while the device waits",
     {"give the argument one dtype (jnp.asarray(x, dtype)); a Python number is a weak type", NULL, NULL, NULL}},
    {IDS_HOST_COMPILE, is_sharded, "A function is compiled for another sharding while the device waits",
     {"put the argument where it was before (device_put, in_shardings), and what the step returns where it takes it "
      "(out_shardings)", NULL, NULL, NULL}},
    {IDS_HOST_COMPILE, is_shaped, "A function is compiled for another shape while the device waits",
     {"pad the argument to one shape, or to a few that are warmed up before measuring", NULL, NULL, NULL}},
    {IDS_HOST_COMPILE, is_structured, "A function is compiled for other arguments while the device waits",
     {"give it the same arguments in each step: dicts with the same keys, lists of one length, not an array here and "
      "None there, each always by name or always by place", NULL, NULL, NULL}},
    {IDS_HOST_COMPILE, is_cleared, "A function is compiled again, because JAX's caches were cleared",
     {"leave jax.clear_caches() and clear_cache() out of the loop", NULL, NULL, NULL}},
    {IDS_HOST_COMPILE, is_of_context, "A function is compiled again for another setting while the device waits",
     {"set what changes (jax.config, a mesh, a context manager) once, ahead of the loop, or alike around each call",
      NULL, NULL, NULL}},
    {IDS_HOST_COMPILE, is_forgotten, "A function is compiled again for the same arguments while the device waits",
     {"leave its clear_cache() out of the loop; where that is called nowhere, jit it once, outside the loop, because "
      "jax forgets what belongs to a function that is gone",
      NULL, NULL, NULL}},
    {IDS_HOST_COMPILE, is_traced, "A function is traced while the device waits",
     {"trace it once, outside the loop, and keep the result (jax.eval_shape, make_jaxpr, linearize); where it is "
      "jitted, give it the same shapes, dtypes and static arguments in each step",
      NULL, NULL, NULL}},
    {IDS_HOST_COMPILE, NULL, "A function is compiled while the device waits",
     {"keep shapes, dtypes and static arguments the same from step to step (pad), jit the function once outside the "
      "loop, and warm up before measuring",
      "keep shapes the same, or mark what changes as dynamic (torch.compile), and warm up before measuring",
      "give tf.function an input_signature, keep shapes the same, and warm up before measuring",
      "compile ahead of the loop, and warm up before measuring"}},
    {IDS_HOST_RUNTIME, ids_call_records_graph, "The host records a graph, and what it launches for that does not run",
     {"nothing to win here: it is done once, before the graph is launched; look at a recording of its launches", NULL,
      NULL, NULL}},
    {IDS_HOST_RUNTIME, is_of_first_uses, "Calls of the runtime take long at their first use, and the device waits",
     {"they make the context, load code and take memory, once: warm up before measuring, and record later steps", NULL,
      NULL, NULL}},
    {IDS_HOST_RUNTIME, ids_call_makes_context, "The host makes the device's context while the device waits",
     {"a program's first call of the runtime does this once: warm up before measuring, and record later steps", NULL,
      NULL, NULL}},
    {IDS_HOST_RUNTIME, ids_call_allocates_at_first, "A call for memory takes long while the device waits",
     {"such a call waits for the device too, and at first use for what a library loads: warm up before measuring; "
      "where it comes again and again, let memory stay allocated", NULL, NULL, NULL}},
    {IDS_HOST_RUNTIME, ids_call_allocates, "The host allocates or frees memory while the device waits",
     {"allocate ahead of the loop: let XLA preallocate (XLA_PYTHON_CLIENT_PREALLOCATE), donate arguments, warm up "
      "before measuring",
      "keep the caching allocator from freeing (no empty_cache, steady shapes), and warm up before measuring",
      "let memory grow once, ahead of the loop: warm up before measuring",
      "allocate ahead of the loop, or from a pool that is ordered by stream"}},
    {IDS_HOST_RUNTIME, ids_call_loads_code, "The host loads code while the device waits",
     {LOAD_ONCE, NULL, NULL, "load modules ahead of the loop: launch each kernel once before measuring"}},
    {IDS_HOST_RUNTIME, ids_call_makes_objects, "The host makes objects of the runtime while the device waits",
     {"contexts, streams, events and graphs are made at their first use: warm up before measuring", NULL, NULL,
      "make contexts, streams, events and graphs once, ahead of the loop"}},
    {IDS_HOST_RUNTIME, computes_itself, "The host computes with an op that launches nothing, and the device waits",
     {"compute it on the device, where its arguments are put or made there; else beside the step, on another thread",
      NULL, NULL, NULL}},
    {IDS_HOST_RUNTIME, NULL, "The host is held up in a call while the device waits", {ONCE_OR_AGAIN, NULL, NULL, NULL}},
    {IDS_HOST_REGION, saves, "The device waits while the program saves its state",
     {"save less often, or asynchronously: copy to the host and write from another thread", NULL, NULL, NULL}},
    {IDS_HOST_REGION, evaluates, "The device waits while the program evaluates",
     {"evaluate less often, in larger batches, or in a job of its own", NULL, NULL, NULL}},
    {IDS_HOST_REGION, logs, "The device waits while the program logs",
     {"log less often, or from another thread", NULL, NULL, NULL}},
    {IDS_HOST_REGION, NULL, "The device waits while the program is in a region of its own",
     {"do it less often or on another thread; name its parts to see what takes the time", NULL, NULL, NULL}},
    {IDS_HOST_PYTHON, is_called_back, "A program on the device waits for its callback in Python",
     {"compute it with jax.numpy, or call back less often: every n steps, or after the step with what it returned",
      NULL, NULL, NULL}},
    {IDS_HOST_PYTHON, collects_elsewhere, "The device waits for Python, and another thread collects garbage",
     {"no thread runs Python meanwhile: " LESS_GARBAGE, NULL, NULL, NULL}},
    {IDS_HOST_PYTHON, has_gil, "The device waits for Python, and another thread has Python's lock",
     {"do that in another process, in calls that give the lock back (numpy, zlib, input and output), or less often",
      NULL, NULL, NULL}},
    {IDS_HOST_PYTHON, lacks_gil, "The device waits for Python, which waits for its lock",
     {"see what other threads run in Python: do that in another process, in calls that give the lock back (numpy, "
      "zlib, input and output), or less often", NULL, NULL, NULL}},
    {IDS_HOST_PYTHON, has_no_core, "The program could go on, has no core, and the device waits",
     {"let fewer threads and processes run beside it, or give it more cores", NULL, NULL, NULL}},
    {IDS_HOST_PYTHON, is_polled,
     "The program sleeps again and again until another thread is done, and the device waits",
     {"make that cheaper, or let it work further ahead; and wait for it itself (result(), get(), Event.wait), which "
      "ends at once", NULL, NULL, NULL}},
    {IDS_HOST_PYTHON, is_polling, "The program sleeps again and again, and the device waits",
     {"see what it sleeps for and make that faster; to wait for it itself (result(), get(), Event.wait) ends at once, "
      "and saves a part of one sleep; where it is nothing, take the sleeps out of the loop", NULL, NULL, NULL}},
    {IDS_HOST_PYTHON, is_awaited, "The device waits for Python, which waits for another thread",
     {"do less there while it has what is waited for (a lock, an item), or let it work further ahead", NULL, NULL,
      NULL}},
    {IDS_HOST_PYTHON, loop_awaits, "An event loop waits, and the device waits for it",
     {"begin what is awaited before it is needed (asyncio.create_task), await several at once (asyncio.gather), or let "
      "the device work on the next item meanwhile", NULL, NULL, NULL}},
    {IDS_HOST_PYTHON, loop_waits, "An event loop has nothing to do, and the device waits for it",
     {"find what its coroutines await, and begin it before it is needed (asyncio.create_task) or several at once "
      "(asyncio.gather)", NULL, NULL, NULL}},
    {IDS_HOST_PYTHON, is_loop, "The event loop itself takes the time, and the device waits for it",
     {"let fewer and larger tasks do the work, and await several things at once (asyncio.gather) or in batches", NULL,
      NULL, NULL}},
    {IDS_HOST_PYTHON, collects_garbage, "The device waits for Python, which collects garbage",
     {"take it out of the loop where the line itself calls gc.collect; else " LESS_GARBAGE, NULL, NULL, NULL}},
    {IDS_HOST_PYTHON, sleeps, "The program sleeps and the device waits",
     {"take the sleep out of the loop, or wait for what it waits for", NULL, NULL, NULL}},
    {IDS_HOST_PYTHON, hears, "The device waits for Python, which waits for what the other end of a connection sends",
     {"see why that end (process, thread or machine) sends so late; or receive ahead of the step, on another thread",
      NULL, NULL, NULL}},
    {IDS_HOST_PYTHON, waits_for_another, "The device waits for Python, which waits for another thread or process",
     {"see what that one does: make it cheaper, or let it work further ahead; where a timeout runs out, shorten it",
      NULL, NULL, NULL}},
    {IDS_HOST_PYTHON, reads_by_library, "The device waits for Python, which reads, or unpacks what it reads",
     {"read ahead of the step, on another thread or in another process; unpack once what is read again and again", NULL,
      NULL, NULL}},
    {IDS_HOST_PYTHON, reads, "The device waits for Python, which reads from a file, a pipe or a socket",
     {"read ahead of the step, on another thread; where another process or machine writes it, see why that is so late",
      NULL, NULL, NULL}},
    {IDS_HOST_PYTHON, reads_at_once, "The device waits for Python, which reads what is in memory already, or unpacks "
                                     "it",
     {"read less at a time, or ahead of the step, on another thread; of a buffer (io.BytesIO) take a view (getbuffer, "
      "memoryview) in place of a copy", NULL, NULL, NULL}},
    {IDS_HOST_PYTHON, opens, "The device waits for Python, which opens files",
     {"open fewer of them, ahead of the step or on another thread; a pipe opens when its other end does", NULL, NULL,
      NULL}},
    {IDS_HOST_PYTHON, is_compiled, "The device waits for Python",
     {"move it out of the loop, do it less often or on another thread", NULL, NULL, NULL}},
    {IDS_HOST_PYTHON, NULL, "The device waits for Python",
     {"move it out of the loop, do it less often or on another thread; where it computes, put it under jit",
      "move it out of the loop, do it less often or on another thread; where it computes with tensors, compile the "
      "step (torch.compile)",
      "move it out of the loop, or into the tf.function", "move it out of the loop or to another thread"}},
    {IDS_HOST_DISPATCH, is_held_up, "The host is held up in a call that launches",
     {"its thread did not run: look for threads that compute in Python and so have the interpreter's lock, and for "
      "more busy threads than cores",
      NULL, NULL, NULL}},
    {IDS_HOST_DISPATCH, takes_long_in_few, "In few steps a single launch takes a millisecond or longer",
     {"where the function is launched in other steps too, its thread did not run in these: look for threads that "
      "compute in Python and so have the interpreter's lock, and for more busy threads than cores; where it is "
      "launched in these alone, for many arrays (leaves of its trees)",
      NULL, NULL, NULL}},
    {IDS_HOST_DISPATCH, one_launch_takes_long, "A single launch takes a millisecond or longer",
     {"where the function takes or returns many arrays (leaves of its trees), put them into fewer, larger ones: each "
      "of them costs time in each launch; or do several steps in one launch (lax.scan)",
      NULL, NULL, NULL}},
    {IDS_HOST_DISPATCH, graphs_take_longer, "Launching takes longer than what is launched",
     {NULL, MORE_IN_A_GRAPH, NULL, MORE_IN_A_GRAPH}},
    {IDS_HOST_DISPATCH, launches_graphs, "The device waits between launches while the host dispatches",
     {NULL, MORE_IN_A_GRAPH, NULL, MORE_IN_A_GRAPH}},
    {IDS_HOST_DISPATCH, is_compiled, "The device waits between launches of a compiled program",
     {
      "let CUDA graphs launch it (torch.compile with mode='reduce-overhead' or 'max-autotune'), use fused or foreach "
      "optimizers or compile the optimizer's step too, or give each launch more work",
      NULL, NULL, NULL,
      "let CUDA graphs launch it (torch.compile with mode='reduce-overhead' or 'max-autotune'; in a server, no eager "
      "mode), or give each launch more work"}},
    {IDS_HOST_DISPATCH, launches_take_longer, "Launching takes longer than what is launched",
     {"put more under one jit (the whole step, several steps by lax.scan), so that one launch does more",
      "capture the step as a graph or compile it (torch.compile, mode reduce-overhead), use foreach or fused "
      "optimizers, or give each launch more work",
      "put more under one tf.function, jit_compile it, or give each launch more work",
      "fuse kernels, or launch them as one graph",
      "capture the step as a graph or compile it (torch.compile, mode reduce-overhead; in a server, no eager mode), or "
      "give each launch more work"}},
    {IDS_HOST_DISPATCH, NULL, "The device waits between launches while the host dispatches",
     {"put more under one jit (the whole step, several steps by lax.scan), so that the host runs ahead",
      "compile the step (torch.compile), use foreach or fused optimizers, or give each launch more work, so that the "
      "host runs ahead",
      "put more under one tf.function, jit_compile it, or give each launch more work",
      "fuse kernels, or launch them as one graph",
      "compile the step (torch.compile; in a server, no eager mode), or give each launch more work, so that the host "
      "runs ahead"}},
    {IDS_HOST_UNKNOWN, has_python, "The device waits for the host, and the recording does not say why",
     {"name the parts of the loop (jax.profiler.TraceAnnotation)", "name the parts of the loop (record_function)",
      "name the parts of the loop (tf.profiler.experimental.Trace)", "name the parts of the loop (NVTX)"}},
    {IDS_HOST_UNKNOWN, has_ops, "The device waits for the host, and the recording does not say why",
     {"record with the profiler's with_stack=True, or name the parts of the loop (record_function)", NULL, NULL, NULL}},
    {IDS_HOST_UNKNOWN, NULL, "The device waits for the host, and the recording does not say why",
     {"record what Python runs too (idsprof capture -- PROGRAM samples its stacks unless --stacks 0 is given; with "
      "--attach: --python-tracer 1), or name the parts of the loop (jax.profiler.TraceAnnotation)",
      "record with the profiler's CPU activity and with_stack=True, or name the parts of the loop (record_function)",
      "record with the host's and Python's tracer, or name the parts of the loop (tf.profiler.experimental.Trace)",
      "name the parts of the loop (NVTX)"}},
    {IDS_DEVICE_QUEUE, compiled_pauses, SHORT_GAPS,
     {"let CUDA graphs launch them, which makes the gaps shorter (torch.compile with mode='reduce-overhead'), or give "
      "each kernel more work", NULL, NULL, NULL}},
    {IDS_DEVICE_QUEUE, only_pauses, SHORT_GAPS,
     {"fewer and larger kernels: put more under one jit, or let XLA launch them as graphs "
      "(--xla_gpu_enable_command_buffer)",
      "fewer and larger kernels: fuse them (torch.compile, fused optimizers, attention and norms), or launch them as a "
      "graph, which makes the gaps shorter",
      "fewer and larger kernels: jit_compile the tf.function, so that XLA fuses them",
      "fewer and larger kernels: fuse them, or launch them as one graph, which makes the gaps shorter",
      "fewer and larger kernels: fuse them (torch.compile, fused attention and norms), or launch them as a graph, "
      "which makes the gaps shorter"}},
    {IDS_DEVICE_QUEUE, is_gpu, "Work that is launched does not begin",
     {"look at what its stream waits for: an earlier stream, an event, a copy, or a launch of a whole graph; or at "
      "other programs on the same device",
      NULL, NULL, NULL}},
    {IDS_DEVICE_QUEUE, is_handed_over_on_cpu, "Work that is launched does not begin at once",
     {"each program is handed to the client's threads: put more under one jit (the whole step, several steps by "
      "lax.scan), so that fewer are",
      NULL, NULL, NULL}},
    {IDS_DEVICE_QUEUE, is_cpu, "Work that is launched does not begin",
     {"the client's threads take it up late: they still run something else, or there are too few cores for them beside "
      "the program's own threads and other processes",
      NULL, NULL, NULL}},
    {IDS_DEVICE_QUEUE, NULL, "Work that is launched does not begin",
     {"look at what is before it in the device's queue: another program, a copy, or a device that it needs", NULL, NULL,
      NULL}},
    {IDS_DEVICE_IN_PROGRAM, lacks_cores, "A program has begun on the CPU, and its threads lack a core to go on",
     {"this is no gap of the program: its ops are handed from thread to thread, and these wait for a core. Let fewer "
      "devices, threads and processes run at once, or give them more cores", NULL, NULL, NULL}},
    {IDS_DEVICE_IN_PROGRAM, NULL, "The device stands still between the ops of one program",
     {"fewer and larger ops: look at the program's dependencies, at loops of tiny ops and at callbacks to the host",
      "fewer and larger kernels in the graph; look at its dependencies", NULL,
      "fewer and larger kernels in the graph; look at its dependencies"}},
    {IDS_DEVICE_UNKNOWN, NULL, "The device does nothing, and the recording does not hold the next launch",
     {"record the host too, and the whole step", NULL, NULL, NULL}},
    {IDS_COMM_TRANSFER, is_one_device,
     "Collectives run and nothing computes beside them (of one device's recording nobody can tell how long it only "
     "waits for its peers)",
     RECORD_ALL_RANKS},
    {IDS_COMM_TRANSFER, lacks_ranks,
     "Collectives run and nothing computes beside them (not all ranks of the job are read: who came last to them may "
     "be another, and part of it a wait for that one)",
     RECORD_ALL_RANKS},
    {IDS_COMM_TRANSFER, lacks_somebody,
     "Collectives run and nothing computes beside them (not all who take part are read whole: the last to come may be "
     "another, and part of it a wait for that one)",
     RECORD_ALL_RANKS},
    {IDS_COMM_TRANSFER, is_cpu, "Collectives run and nothing computes beside them",
     {"shard so that less is exchanged, and exchange fewer and larger arrays", NULL, NULL, NULL}},
    {IDS_COMM_TRANSFER, NULL, "Collectives run and nothing computes beside them",
     {"overlap them with compute (XLA's latency-hiding scheduler, smaller pieces that begin earlier), or shard so that "
      "less is exchanged",
      "overlap them with the backward pass (bucket_cap_mb, FSDP prefetch), or exchange less (bf16 gradients, another "
      "sharding)",
      "overlap them with compute, pack small ones together, or exchange less",
      "put them on a stream of their own beside compute, or exchange less",
      "overlap them with compute, or shard so that less is exchanged"}},
    {IDS_COMM_WAIT, is_even_on_cpu, "Devices wait for one that takes longer for the same work",
     {"all of them run the same ops, equally often: the threads of one come later to a core, or share it. Let fewer "
      "devices, threads and processes run at once, or give them more cores", NULL, NULL, NULL}},
    {IDS_COMM_WAIT, is_even, "Devices wait for one that takes longer for the same work",
     {"all of them run the same ops of the same shapes, equally often: dividing the work otherwise wins nothing; look "
      "at what makes it slower (its clock, heat, memory, links, another program on it)", NULL, NULL, NULL}},
    {IDS_COMM_WAIT, NULL, "Devices wait for one that has more work than they",
     {"divide the work evenly (shards, padding, stages, experts) and look at what it alone does", NULL, NULL,
      NULL}},
    {IDS_COPY_H2D, goes_both_ways,
     "Copies run both ways, to the device and to the host, and nothing computes beside them",
     {"offload less, and keep on the device what fits there; begin both earlier, beside compute. They run at the same "
      "time, so being rid of one way alone wins little",
      "keep on the device what fits there; copy from and to pinned memory beside compute. They run at the same time, "
      "so being rid of one way alone wins little",
      NULL, NULL}},
    {IDS_COPY_H2D, NULL, "Copies to the device run and nothing computes beside them",
     {"keep the data on the device, or begin the copy ahead of the step; offload less",
      "copy from pinned memory on a stream of its own, ahead of the step; keep data on the device", NULL,
      "copy from pinned memory on a stream of its own, ahead of the work"}},
    {IDS_COPY_D2H, NULL, "Copies to the host run and nothing computes beside them",
     {"keep results on the device, or fetch them asynchronously every n steps; offload less",
      "copy to pinned memory with non_blocking=True, every n steps", NULL,
      "copy to pinned memory on a stream of its own"}},
    {IDS_COPY_D2D, NULL, "Copies inside device memory run and nothing computes beside them",
     {"donate buffers (donate_argnums), avoid changes of layout and copies of parameters",
      "avoid .contiguous(), cat and clones of large tensors; write in place", NULL, "avoid the copies"}},
    {IDS_COPY_P2P, NULL, "Copies between devices run and nothing computes beside them",
     {"begin them earlier, or place what is used together on one device", NULL, NULL, NULL}},
    {IDS_COPY_SET, NULL, "Memory is set and nothing computes beside it",
     {"let the program's kernels write the first values", "zero gradients with set_to_none=True", NULL, NULL}},
    {IDS_COPY_OTHER, NULL, "Copies run and nothing computes beside them",
     {"look at who copies (table ledger), and begin the copies ahead of the step", NULL, NULL, NULL}},
    {IDS_STALL_DEVICE, NULL, "The device is busy by the file, but only waits",
     {"see which ops wait (table ledger), and what they wait for", NULL, NULL, NULL}},
    {IDS_PROFILER, NULL, "The profiler itself holds the device up",
     {"record less at a time (fewer tracers, a shorter window); a run without it is faster by this", NULL, NULL, NULL}},
    {IDS_WORK_COMPUTE, moves_donated, "An op that only moves data takes a good part of the step",
     {"where it copies an argument, the old value is still needed when its memory is overwritten: read it before what "
      "replaces it is made; where it changes a layout, keep one layout from op to op",
      NULL, NULL, NULL}},
    {IDS_WORK_COMPUTE, only_moves, "An op that only moves data takes a good part of the step",
     {"where it copies a parameter, donate that argument (donate_argnums); where it changes a layout, keep one layout "
      "from op to op",
      "avoid .contiguous(), casts and clones of large tensors, and keep one memory format", NULL,
      "avoid the copy, or do it inside the kernel that reads it"}},
    {IDS_WORK_COMPUTE, is_mixed, "Ops of one name in several programs have most of the compute",
     {"see which of them in the table of ops (fingerprint), and profile that one apart", NULL, NULL, NULL}},
    {IDS_WORK_COMPUTE, NULL, "One op has most of the compute",
     {"profile it apart; try another algorithm, precision or a library kernel", NULL, NULL, NULL}},
};
/* clang-format on */

struct ids_remedy ids_remedy_of(const struct ids_circumstances *about) {
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
        const struct sentence *sentence = &sentences[i];
        if (sentence->account != about->account || (sentence->holds && !sentence->holds(about))) continue;
        const char *own = about->framework == IDS_PYTORCH && about->infers ? sentence->remedy[IDS_FRAMEWORKS] : NULL;
        if (!own) own = sentence->remedy[about->framework];
        return (struct ids_remedy){sentence->problem, own ? own : sentence->remedy[IDS_JAX]};
    }
    return (struct ids_remedy){0};
}

int ids_remedy_is_fetch(const char *culprit) {
    return fetches(&(struct ids_circumstances){.culprit = culprit});
}

int ids_remedy_takes_values(const char *culprit) {
    static const char *const methods[] = {"__float__", "__int__", "__bool__", "__index__", "_value", NULL};
    if (!culprit) return 0;
    return ids_remedy_is_fetch(culprit) || is_any(culprit, methods) ||
           ids_python_function_needs_values((struct ids_text){culprit, (uint32_t)strlen(culprit)});
}

int ids_remedy_goes_through_many(const struct ids_circumstances *about) {
    return goes_through_many(about);
}

int ids_remedy_is_fewer_launches(const struct ids_circumstances *about) {
    if (about->account == IDS_HOST_DISPATCH)
        return is_cpu(about) && !is_held_up(about) && launches_take_longer(about) && !one_launch_takes_long(about);
    return about->account == IDS_DEVICE_QUEUE && is_handed_over_on_cpu(about);
}

int ids_remedy_is_for_hold_up(const struct ids_circumstances *about) {
    return about->account == IDS_HOST_PYTHON &&
           (has_no_core(about) || has_gil(about) || lacks_gil(about) || is_awaited(about));
}

enum ids_remedy_scope ids_remedy_scope(enum ids_account account, const char *where) {
    switch (account) {
    case IDS_HOST_INPUT:
    case IDS_HOST_SYNC:
    case IDS_HOST_STAGING:
    case IDS_HOST_COMPILE:
    case IDS_HOST_RUNTIME:
    case IDS_HOST_REGION:
        return IDS_REMEDY_OF_CULPRIT;
    case IDS_HOST_PYTHON:
        return ends(where, IDS_CALLED_BACK) ? IDS_REMEDY_OF_CALLBACKS : IDS_REMEDY_OF_CULPRIT;
    case IDS_HOST_DISPATCH:
        return ends(where, IDS_HELD_UP) ? IDS_REMEDY_OF_HELD_UP : IDS_REMEDY_OF_ACCOUNT;
    default:
        return IDS_REMEDY_OF_ACCOUNT;
    }
}
