/* analyzers/remedies: each sentence is said where it is true, and not beside that. */
#include "analyzers/remedies.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

#define CUDA_DEVICE .platform = IDS_DEVICE_GPU
#define CPU_DEVICE .platform = IDS_DEVICE_CPU
#define TPU_DEVICE .platform = IDS_DEVICE_TPU

/* What stands in the problem, or in the remedy; with "!" before it, what must not. */
static const struct {
    struct ids_circumstances about;
    const char *says;
} table[] = {
    {{IDS_HOST_INPUT, IDS_JAX, CUDA_DEVICE}, "grain"},
    {{IDS_HOST_INPUT, IDS_PYTORCH, CUDA_DEVICE}, "DataLoader workers"},
    /* who makes batches has the lock that the loop needs: no other thread makes more of them */
    {{IDS_HOST_INPUT, IDS_JAX, CPU_DEVICE, .culprit = "crop", .where = "a.py:1, which has Python's lock"},
     "in other processes"},
    {{IDS_HOST_INPUT, IDS_JAX, CPU_DEVICE, .culprit = "crop", .where = "a.py:1, in another thread", .has_loader = 1},
     "on other threads or processes"},
    {{IDS_HOST_INPUT, IDS_JAX, CPU_DEVICE, .culprit = "crop", .where = "a.py:1, in another thread", .has_loader = 1,
      .maker_has_gil = 1},
     "in other processes"},
    /* a queue whose items nobody in the recording makes: no batch can be prepared ahead */
    {{IDS_HOST_INPUT, IDS_JAX, CPU_DEVICE, .culprit = "get", .recorded = "$/usr/lib/python3.11/queue.py:180 get"},
     "shorten it or hand over"},
    {{IDS_HOST_INPUT, IDS_JAX, CPU_DEVICE, .culprit = "get", .recorded = "$/usr/lib/python3.11/queue.py:180 get"},
     "!grain"},
    {{IDS_HOST_INPUT, IDS_JAX, CPU_DEVICE, .culprit = "get", .recorded = "$queue.py:1 get", .has_loader = 1}, "grain"},
    {{IDS_HOST_INPUT, IDS_JAX, CPU_DEVICE, .culprit = "get", .recorded = "$multiprocessing/queues.py:98 get"}, "grain"},
    {{IDS_HOST_INPUT, IDS_JAX, CPU_DEVICE, .culprit = "map", .recorded = "$/usr/lib/multiprocessing/pool.py:770 get"},
     "give them work further ahead of the step"},
    {{IDS_HOST_INPUT, IDS_JAX, CPU_DEVICE, .culprit = "crop", .where = "a.py:1, in another thread",
      .recorded = "$a.py:1 crop", .has_loader = 1},
     "grain"},
    {{IDS_HOST_INPUT, IDS_JAX, CPU_DEVICE, .culprit = "client", .where = "a.py:1, in another thread",
      .recorded = "$a.py:1 client"},
     "shorten it or hand over"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in wait"}, "timeout runs out"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in self.done.wait"},
     "timeout runs out"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "get"}, "timeout runs out"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in words.get"}, "!timeout"},
    /* from a socket or a pipe, whatever its name is */
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "recv"}, "sends so late"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in recv"}, "sends so late"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in self.conn.recv"}, "sends so late"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in conn.received"}, "!sends so late"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in urlopen"}, "sends so late"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in await"}, "!timeout"},
    /* for a process, a lock of the system, a queue by its name */
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "poll_gpu", .where = "a.py:6, in subprocess.run"},
     "waits for another thread or process"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "main", .where = "a.py:6, in as_completed"},
     "thread or process"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in run"}, "under jit"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in os.system"}, "thread or process"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in os.waitpid"}, "thread or process"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in fcntl.flock"},
     "thread or process"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "flock", .where = "a.py:6"}, "under jit"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in self.in_queue.get"},
     "thread or process"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in faq.get"}, "under jit"},
    /* from what may be late */
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in os.read"}, "reads from a file"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in p.stdout.readline"},
     "reads from a file"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "read", .where = "a.py:6"}, "under jit"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in pickle.load (reads)"},
     "reads from a file"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, mostly in f.read"},
     "reads from a file"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in buf.read (does not wait)"},
     "reads what is in memory"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in buf.read (does not wait)"},
     "!socket"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in time.sleep (awake)"},
     "!in memory"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "serve", .where = "a.py:6, in open"}, "opens files"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "open", .where = "a.py:6"}, "under jit"},
    {{IDS_HOST_SYNC, IDS_JAX, CPU_DEVICE, .culprit = "CommonPjRtBuffer::Await"}, "block_until_ready"},
    /* the same data goes to the host and comes back, whichever way takes longer */
    /* one launch takes long, and the others do not */
    {{IDS_HOST_DISPATCH, IDS_JAX, CPU_DEVICE, .culprit = "tiny", .mean_ps = 1000000000, .is_uneven = 1},
     "interpreter's lock"},
    {{IDS_HOST_DISPATCH, IDS_JAX, CPU_DEVICE, .culprit = "tiny", .mean_ps = 999999999, .is_uneven = 1},
     "!interpreter's lock"},
    {{IDS_HOST_DISPATCH, IDS_JAX, CPU_DEVICE, .culprit = "tiny", .mean_ps = 1000000000}, "!interpreter's lock"},
    /* hundreds of arrays that are ready are no wait for a device, and hundreds of waits for it are no such arrays */
    {{IDS_HOST_SYNC, IDS_JAX, CPU_DEVICE, .culprit = "block_until_ready", .a_step = 100, .mean_ps = 9999999},
     "hundreds of arrays"},
    {{IDS_HOST_SYNC, IDS_JAX, CPU_DEVICE, .culprit = "block_until_ready", .a_step = 99, .mean_ps = 9999999},
     "!hundreds"},
    {{IDS_HOST_SYNC, IDS_JAX, CPU_DEVICE, .culprit = "block_until_ready", .a_step = 100, .mean_ps = 10000000},
     "!hundreds"},
    {{IDS_HOST_SYNC, IDS_JAX, CPU_DEVICE, .culprit = "float", .a_step = 100, .mean_ps = 9999999}, "!hundreds"},
    {{IDS_HOST_SYNC, IDS_JAX, CPU_DEVICE, .culprit = "asarray", .fetches_mostly = 1}, "are fetched to the host"},
    {{IDS_HOST_SYNC, IDS_JAX, CPU_DEVICE, .culprit = "asarray", .fetches_mostly = 1}, "copy_to_host_async"},
    {{IDS_HOST_SYNC, IDS_JAX, CPU_DEVICE, .culprit = "asarray"}, "!fetched"},
    {{IDS_HOST_SYNC, IDS_JAX, CUDA_DEVICE, .culprit = "device_get", .is_round_trip = 1}, "to the host and back"},
    {{IDS_HOST_STAGING, IDS_JAX, CUDA_DEVICE, .culprit = "device_put", .is_round_trip = 1}, "under jit"},
    {{IDS_HOST_STAGING, IDS_PYTORCH, CUDA_DEVICE, .culprit = "device_put", .is_round_trip = 1}, ".cpu() and .cuda()"},
    {{IDS_HOST_SYNC, IDS_JAX, CUDA_DEVICE, .culprit = "device_get"}, "!and back"},
    /* a fetch is no put */
    {{IDS_HOST_STAGING, IDS_JAX, CPU_DEVICE, .culprit = "device_put"}, "data to be put"},
    {{IDS_HOST_STAGING, IDS_JAX, CPU_DEVICE, .culprit = "jnp.asarray"}, "data to be put"},
    {{IDS_HOST_STAGING, IDS_JAX, CPU_DEVICE, .culprit = NULL}, "data to be put"},
    {{IDS_HOST_STAGING, IDS_JAX, CPU_DEVICE, .culprit = "ArrayImpl.copy_to_host_async"}, "results are fetched"},
    {{IDS_HOST_STAGING, IDS_JAX, CPU_DEVICE, .culprit = "device_get"}, "!device_put once"},
    {{IDS_HOST_STAGING, IDS_JAX, CPU_DEVICE, .culprit = "np.asarray(jax.Array)"}, "results are fetched"},
    /* a call of the runtime gets what helps with that call, in the words of the platform */
    {{IDS_HOST_RUNTIME, IDS_PYTORCH, CUDA_DEVICE, .culprit = "cudaFree", .is_of_first_uses = 1},
     "load code and take memory, once"},
    {{IDS_HOST_RUNTIME, IDS_JAX, CUDA_DEVICE, .culprit = "cudaMalloc"}, "allocates or frees"},
    {{IDS_HOST_RUNTIME, IDS_PYTORCH, CUDA_DEVICE, .culprit = "hipFree"}, "empty_cache"},
    {{IDS_HOST_RUNTIME, IDS_PYTORCH, CUDA_DEVICE, .culprit = "cudaFree", .mean_ps = 99999999999}, "empty_cache"},
    {{IDS_HOST_RUNTIME, IDS_PYTORCH, CUDA_DEVICE, .culprit = "cudaFree", .mean_ps = 100000000000, .is_at_start = 1},
     "context"},
    {{IDS_HOST_RUNTIME, IDS_PYTORCH, CUDA_DEVICE, .culprit = "cudaFree", .mean_ps = 100000000000}, "call for memory"},
    {{IDS_HOST_RUNTIME, IDS_PYTORCH, CUDA_DEVICE, .culprit = "cudaFree", .mean_ps = 99999999999, .is_at_start = 1},
     "empty_cache"},
    {{IDS_HOST_RUNTIME, IDS_PYTORCH, CUDA_DEVICE, .culprit = "hipStreamBeginCapture"}, "host records a graph"},
    {{IDS_HOST_RUNTIME, IDS_PYTORCH, CUDA_DEVICE, .culprit = "hipStreamEndCapture"}, "makes objects"},
    {{IDS_HOST_RUNTIME, IDS_PYTORCH, CUDA_DEVICE, .culprit = "aten::mul", .where = "a.py:6 f, on the host"},
     "computes with an op"},
    {{IDS_HOST_RUNTIME, IDS_PYTORCH, CUDA_DEVICE, .culprit = "aten::mul", .where = "a.py:6 f"}, "held up in a call"},
    /* of a program that trains nothing, that is compiled, or whose ops were recorded */
    {{IDS_HOST_DISPATCH, IDS_PYTORCH, CUDA_DEVICE, .culprit = "f", .infers = 1}, "!optimizer"},
    {{IDS_HOST_DISPATCH, IDS_PYTORCH, CUDA_DEVICE, .culprit = "f"}, "optimizer"},
    {{IDS_HOST_DISPATCH, IDS_PYTORCH, CUDA_DEVICE, .culprit = "f", .time_ps = 2, .work_ps = 1, .infers = 1},
     "!optimizer"},
    {{IDS_HOST_DISPATCH, IDS_PYTORCH, CUDA_DEVICE, .culprit = "f", .is_compiled = 1, .infers = 1}, "!optimizer"},
    {{IDS_HOST_DISPATCH, IDS_PYTORCH, CUDA_DEVICE, .culprit = "CompiledFunctionBackward"}, "of a compiled program"},
    {{IDS_HOST_DISPATCH, IDS_JAX, CUDA_DEVICE, .culprit = "f", .infers = 1}, "lax.scan"},
    {{IDS_COMM_TRANSFER, IDS_PYTORCH, CUDA_DEVICE, .devices = 2, .infers = 1}, "!backward"},
    {{IDS_COMM_TRANSFER, IDS_PYTORCH, CUDA_DEVICE, .devices = 2}, "backward"},
    {{IDS_COMM_TRANSFER, IDS_PYTORCH, CUDA_DEVICE, .devices = 1, .infers = 1}, "!backward"},
    {{IDS_HOST_PYTHON, IDS_PYTORCH, CUDA_DEVICE, .culprit = "f", .is_compiled = 1}, "!torch.compile"},
    {{IDS_HOST_PYTHON, IDS_PYTORCH, CUDA_DEVICE, .culprit = "f"}, "torch.compile"},
    {{IDS_HOST_UNKNOWN, IDS_PYTORCH, CUDA_DEVICE, .has_ops = 1}, "!CPU activity"},
    {{IDS_HOST_UNKNOWN, IDS_PYTORCH, CUDA_DEVICE}, "CPU activity"},
    {{IDS_HOST_RUNTIME, IDS_PYTORCH, CUDA_DEVICE, .culprit = "free_all", .mean_ps = 100000000000}, "!context"},
    {{IDS_HOST_RUNTIME, IDS_JAX, CPU_DEVICE, .culprit = "cudaMalloc"}, "!PREALLOCATE"},
    {{IDS_HOST_RUNTIME, IDS_JAX, CPU_DEVICE, .culprit = "train_step"}, "!allocat"},
    {{IDS_HOST_RUNTIME, IDS_JAX, CPU_DEVICE, .culprit = "train_step"}, "held up in a call"},
    {{IDS_HOST_RUNTIME, IDS_JAX, CPU_DEVICE, .culprit = "free_memory"}, "held up in a call"},
    {{IDS_HOST_RUNTIME, IDS_JAX, CUDA_DEVICE, .culprit = NULL}, "held up in a call"},
    {{IDS_HOST_RUNTIME, IDS_CUDA, CUDA_DEVICE, .culprit = "cuModuleLoadData"}, "loads code"},
    {{IDS_HOST_RUNTIME, IDS_PYTORCH, CUDA_DEVICE, .culprit = "cudaLaunchKernel"}, "loads code"},
    {{IDS_HOST_RUNTIME, IDS_CUDA, CUDA_DEVICE, .culprit = "cudaGraphInstantiate"}, "makes objects"},
    {{IDS_HOST_RUNTIME, IDS_CUDA, CUDA_DEVICE, .culprit = "cudaEventCreate"}, "makes objects"},
    {{IDS_HOST_RUNTIME, IDS_CUDA, CUDA_DEVICE, .culprit = "custom_init"}, "held up in a call"},
    /* why it was compiled again */
    {{IDS_HOST_COMPILE, IDS_JAX, CPU_DEVICE, .reason = "shape: x f32[8] -> f32[9]"}, "pad the argument"},
    {{IDS_HOST_COMPILE, IDS_JAX, CPU_DEVICE, .reason = "dtype: x f32[8] -> i32[8]"}, "one dtype"},
    {{IDS_HOST_COMPILE, IDS_JAX, CPU_DEVICE, .reason = "weak type: x f32[] weak -> f32[]"}, "one dtype"},
    {{IDS_HOST_COMPILE, IDS_JAX, CPU_DEVICE, .reason = "sharding: x anywhere -> cpu:2"}, "out_shardings"},
    {{IDS_HOST_COMPILE, IDS_JAX, CPU_DEVICE, .reason = "static argument: n 2 -> 3"}, "not as a static argument"},
    {{IDS_HOST_COMPILE, IDS_JAX, CPU_DEVICE, .reason = "static field: state.step 2 -> 3"},
     "not as a static argument or field"},
    {{IDS_HOST_COMPILE, IDS_JAX, CPU_DEVICE, .reason = "new function object: a.py:3"},
     "once outside the loop, and jit it"},
    {{IDS_HOST_COMPILE, IDS_JAX, CPU_DEVICE, .reason = "arguments: b['batch_154'] is new"}, "the same keys"},
    {{IDS_HOST_COMPILE, IDS_JAX, CPU_DEVICE, .reason = "structure: state.opt dict -> None"}, "the same keys"},
    {{IDS_HOST_COMPILE, IDS_JAX, CPU_DEVICE, .reason = "same arguments: jax's caches were cleared"},
     "leave jax.clear_caches()"},
    {{IDS_HOST_COMPILE, IDS_JAX, CPU_DEVICE, .reason = "same arguments: enable_x64 False -> True"}, "jax.config"},
    {{IDS_HOST_COMPILE, IDS_JAX, CPU_DEVICE, .reason = "same arguments: nothing else that idsprof knows has changed"},
     "leave its clear_cache() out of the loop"},
    {{IDS_HOST_COMPILE, IDS_JAX, CPU_DEVICE, .recorded = "jax.trace(<lambda>)"}, "trace it once"},
    {{IDS_HOST_COMPILE, IDS_JAX, CPU_DEVICE, .recorded = "PjitFunction(f)"}, "keep shapes, dtypes"},
    {{IDS_HOST_COMPILE, IDS_JAX, CPU_DEVICE}, "keep shapes, dtypes"},
    /* a region is what its words say */
    {{IDS_HOST_REGION, IDS_JAX, CPU_DEVICE, .culprit = "checkpoint_save"}, "saves its state"},
    {{IDS_HOST_REGION, IDS_JAX, CPU_DEVICE, .culprit = "SaveModel"}, "saves its state"},
    {{IDS_HOST_REGION, IDS_JAX, CPU_DEVICE, .culprit = "saved_models"}, "region of its own"},
    {{IDS_HOST_REGION, IDS_JAX, CPU_DEVICE, .culprit = "EvalStep"}, "evaluates"},
    {{IDS_HOST_REGION, IDS_JAX, CPU_DEVICE, .culprit = "retrieval"}, "region of its own"},
    {{IDS_HOST_REGION, IDS_JAX, CPU_DEVICE, .culprit = "log_metrics"}, "program logs"},
    {{IDS_HOST_REGION, IDS_JAX, CPU_DEVICE, .culprit = "logits"}, "region of its own"},
    {{IDS_HOST_REGION, IDS_JAX, CPU_DEVICE, .culprit = "batch_metrics"}, "region of its own"},
    {{IDS_HOST_REGION, IDS_JAX, CPU_DEVICE, .culprit = "valid_mask"}, "region of its own"},
    {{IDS_HOST_REGION, IDS_JAX, CPU_DEVICE, .culprit = "augment"}, "!checkpoint"},
    /* Python that works, sleeps, waits */
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "tokenize"}, "under jit"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "load", .where = "train.py:5, in read"}, "unpack once"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "load", .where = "train.py:5, in io.read"},
     "another process or"},
    {{IDS_HOST_PYTHON, IDS_PYTORCH, CUDA_DEVICE, .culprit = "tokenize"}, "torch.compile"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "wait_for_core"}, "has no core"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "wait_for_cores"}, "!has no core"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "collect garbage", .where = "a.py:6"}, "gc.freeze"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "tidy", .where = "a.py:6, in gc.collect"}, "gc.freeze"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "collect", .where = "a.py:6, in queue.collect"}, "!gc.freeze"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "sleep"}, "sleeps"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "sleep_less"}, "!sleeps"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "acquire", .where = "rate.py:9, in time.sleep"}, "sleeps"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "load", .where = "rate.py:9, in counts.sleep"}, "!sleeps"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "load", .where = "rate.py:9, mostly in time.sleep"}, "sleeps"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "load", .where = "rate.py:9, in libc.usleep (sleeps)"},
     "sleeps"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "load", .where = "rate.py:9, in time.sleep (awake)"}, "!sleeps"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "collect garbage", .where = "a.py:6, which has Python's lock"},
     "another thread collects garbage"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "collect garbage", .where = "a.py:6, in another thread"},
     "gc.set_threshold"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "collect garbage", .where = "a.py:6"}, "!another thread"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "tokenize", .where = "a.py:6, which has Python's lock"},
     "in another process"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "tokenize", .where = "a.py:6"}, "!Python's lock"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "book", .where = "a.py:6, waiting for Python's lock"},
     "what other threads run in Python"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "await fetch", .where = "a.py:6"}, "An event loop waits"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "awaited", .where = "a.py:6"}, "!An event loop"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "<module>", .where = "a.py:6, in self._selector.poll"},
     "An event loop has nothing to do"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "<module>", .where = "a.py:6, in run"}, "!event loop"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "<module>", .where = "a.py:6, in _run_once"},
     "The event loop itself"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "<module>", .where = "a.py:6, in _run_once"},
     "fewer and larger tasks"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "flush", .where = "a.py:6, in time.sleep, in another thread"},
     "waits for another thread"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "flush", .where = "another_thread.py:6"}, "!waits for another"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "flush",
      .where = "a.py:6, in time.sleep, polled for in another thread"},
     "until another thread is done"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "main", .where = "a.py:6, in time.sleep, again and again"},
     "see what it sleeps for"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "main", .where = "a.py:6, in time.sleep"}, "!again and again"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "get"}, "another thread or process"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "f", .where = "a.py:6, in worker.join"}, "another thread"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "f", .where = "a.py:6, in select.select"}, "another thread"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "f", .where = "a.py:6, in join"}, "!another thread or"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "f", .where = "a.py:6, in os.path.join"}, "!another thread or"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "f", .where = "a.py:6, in np.select"}, "!another thread or"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "get"}, "!under jit"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "get_batch"}, "under jit"},
    {{IDS_COPY_H2D, IDS_JAX, .both_ways = 1}, "both ways"},
    {{IDS_COPY_H2D, IDS_JAX, .both_ways = 0}, "!both ways"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "metric", .where = "prog.py:15, in a callback"}, "its callback"},
    {{IDS_HOST_PYTHON, IDS_JAX, CPU_DEVICE, .culprit = "metric", .where = "callback.py:15"}, "!its callback"},
    /* a launch that takes long because its thread does not run */
    {{IDS_HOST_DISPATCH, IDS_JAX, CPU_DEVICE, .where = "held up", .time_ps = 11, .work_ps = 10},
     "is held up in a call"},
    {{IDS_HOST_DISPATCH, IDS_JAX, CPU_DEVICE, .where = "a.py:3 f", .time_ps = 11, .work_ps = 10}, "!held up"},
    /* a queue of the CPU's client: many small programs, or too few cores */
    {{IDS_DEVICE_QUEUE, IDS_JAX, CPU_DEVICE, .mean_ps = 500000000}, "more under one jit"},
    {{IDS_DEVICE_QUEUE, IDS_JAX, CPU_DEVICE, .mean_ps = 500000001}, "too few cores"},
    {{IDS_DEVICE_QUEUE, IDS_JAX, CUDA_DEVICE, .mean_ps = 100}, "!under one jit"},
    /* launches take longer only where they do */
    {{IDS_HOST_DISPATCH, IDS_JAX, CPU_DEVICE, .time_ps = 11, .work_ps = 10}, "Launching takes longer"},
    {{IDS_HOST_DISPATCH, IDS_JAX, CPU_DEVICE, .time_ps = 10, .work_ps = 10}, "!takes longer"},
    /* one that takes so long is one launch already, whatever it launches */
    {{IDS_HOST_DISPATCH, IDS_JAX, CPU_DEVICE, .time_ps = 11, .work_ps = 10, .mean_ps = 999999999}, "!many arrays"},
    {{IDS_HOST_DISPATCH, IDS_JAX, CPU_DEVICE, .time_ps = 11, .work_ps = 10, .mean_ps = 1000000000}, "many arrays"},
    {{IDS_HOST_DISPATCH, IDS_JAX, CPU_DEVICE, .time_ps = 10, .work_ps = 10, .mean_ps = 1000000000}, "many arrays"},
    {{IDS_HOST_DISPATCH, IDS_PYTORCH, CUDA_DEVICE, .time_ps = 11, .work_ps = 10, .mean_ps = 1000000000},
     "!many arrays"},
    {{IDS_HOST_DISPATCH, IDS_PYTORCH, CUDA_DEVICE, .time_ps = 2, .work_ps = 44}, "between launches"},
    {{IDS_HOST_DISPATCH, IDS_PYTORCH, CUDA_DEVICE, .time_ps = 2, .work_ps = 44, .is_compiled = 1},
     "launches of a compiled program"},
    {{IDS_HOST_DISPATCH, IDS_JAX, CUDA_DEVICE, .time_ps = 2, .work_ps = 44, .is_compiled = 1}, "!compiled program"},
    {{IDS_HOST_DISPATCH, IDS_PYTORCH, CUDA_DEVICE, .time_ps = 44, .work_ps = 2, .launches_graphs = 1},
     "Launching takes longer than what is launched - it launches graphs already"},
    {{IDS_HOST_DISPATCH, IDS_CUDA, CUDA_DEVICE, .time_ps = 2, .work_ps = 44, .launches_graphs = 1},
     "it launches graphs already"},
    {{IDS_HOST_DISPATCH, IDS_JAX, CUDA_DEVICE, .time_ps = 44, .work_ps = 2, .launches_graphs = 1},
     "put more under one jit"},
    /* who has recorded Python is not told to */
    {{IDS_HOST_UNKNOWN, IDS_JAX, CPU_DEVICE}, "samples its stacks unless --stacks 0 is given"},
    {{IDS_HOST_UNKNOWN, IDS_JAX, CPU_DEVICE}, "with --attach: --python-tracer 1"},
    {{IDS_HOST_UNKNOWN, IDS_JAX, CPU_DEVICE, .has_python = 1}, "!--stacks"},
    {{IDS_HOST_UNKNOWN, IDS_JAX, CPU_DEVICE, .has_python = 1}, "name the parts of the loop"},
    /* a CPU has no scheduler that hides latency */
    {{IDS_COMM_TRANSFER, IDS_JAX, CPU_DEVICE, .devices = 2}, "fewer and larger arrays"},
    {{IDS_COMM_WAIT, IDS_JAX, CUDA_DEVICE, .devices = 2, .is_even = 1}, "same work"},
    {{IDS_COMM_WAIT, IDS_JAX, CUDA_DEVICE, .devices = 2, .is_even = 1}, "clock"},
    {{IDS_COMM_WAIT, IDS_JAX, CPU_DEVICE, .devices = 2, .is_even = 1}, "more cores"},
    {{IDS_COMM_WAIT, IDS_JAX, CPU_DEVICE, .devices = 2}, "more work"},
    {{IDS_DEVICE_IN_PROGRAM, IDS_JAX, CPU_DEVICE, .is_uneven = 1}, "lack a core"},
    {{IDS_DEVICE_IN_PROGRAM, IDS_JAX, CPU_DEVICE, .lacks_cores = 1}, "lack a core"},
    {{IDS_DEVICE_IN_PROGRAM, IDS_JAX, CPU_DEVICE}, "between the ops of one program"},
    {{IDS_DEVICE_IN_PROGRAM, IDS_JAX, CUDA_DEVICE, .is_uneven = 1, .lacks_cores = 1}, "between the ops of one program"},
    {{IDS_COMM_TRANSFER, IDS_JAX, CUDA_DEVICE, .devices = 2}, "!fewer and larger arrays"},
    /* streams and graphs are a GPU's */
    {{IDS_DEVICE_QUEUE, IDS_JAX, CUDA_DEVICE}, "graph"},
    /* many gaps, all of them short, are the device's own */
    {{IDS_DEVICE_QUEUE, IDS_PYTORCH, CUDA_DEVICE, .gap_ps = 1}, "nothing that it waits for"},
    {{IDS_DEVICE_QUEUE, IDS_PYTORCH, CUDA_DEVICE, .gap_ps = 1}, "fused optimizers"},
    {{IDS_DEVICE_QUEUE, IDS_PYTORCH, CUDA_DEVICE, .gap_ps = 1, .infers = 1}, "!fused optimizers"},
    {{IDS_DEVICE_QUEUE, IDS_PYTORCH, CUDA_DEVICE, .gap_ps = 1, .is_compiled = 1}, "reduce-overhead"},
    {{IDS_DEVICE_QUEUE, IDS_PYTORCH, CUDA_DEVICE, .is_compiled = 1}, "what its stream waits for"},
    {{IDS_DEVICE_QUEUE, IDS_PYTORCH, CUDA_DEVICE}, "what its stream waits for"},
    {{IDS_DEVICE_QUEUE, IDS_JAX, CPU_DEVICE, .gap_ps = 1}, "!nothing that it waits for"},
    {{IDS_DEVICE_QUEUE, IDS_JAX, CPU_DEVICE}, "!stream"},
    {{IDS_DEVICE_QUEUE, IDS_JAX, CPU_DEVICE}, "client's threads"},
    {{IDS_DEVICE_QUEUE, IDS_JAX, TPU_DEVICE}, "!stream"},
    {{IDS_DEVICE_QUEUE, IDS_JAX, TPU_DEVICE}, "!client's threads"},
    /* one rank does not show who came late; a CPU has no latency-hiding scheduler */
    {{IDS_COMM_TRANSFER, IDS_PYTORCH, CUDA_DEVICE, .devices = 1}, "nobody can tell"},
    {{IDS_COMM_TRANSFER, IDS_PYTORCH, CUDA_DEVICE, .devices = 2}, "!nobody can tell"},
    {{IDS_COMM_TRANSFER, IDS_PYTORCH, CUDA_DEVICE, .devices = 2, .lacking = IDS_LACKS_RANKS},
     "not all ranks of the job"},
    {{IDS_COMM_TRANSFER, IDS_JAX, CUDA_DEVICE, .devices = 2, .lacking = IDS_LACKS_DATA},
     "not all who take part are read whole"},
    {{IDS_COMM_TRANSFER, IDS_JAX, CUDA_DEVICE, .devices = 2}, "!not all who take part are read whole"},
    {{IDS_COMM_TRANSFER, IDS_PYTORCH, CUDA_DEVICE, .devices = 2}, "!not all ranks of the job"},
    {{IDS_COMM_TRANSFER, IDS_JAX, CUDA_DEVICE, .devices = 2}, "latency-hiding"},
    {{IDS_COMM_TRANSFER, IDS_JAX, CPU_DEVICE, .devices = 2}, "!latency-hiding"},
    /* a copy needs no other algorithm */
    {{IDS_WORK_COMPUTE, IDS_JAX, CPU_DEVICE}, "another algorithm"},
    {{IDS_WORK_COMPUTE, IDS_JAX, CPU_DEVICE}, "One op"},
    {{IDS_WORK_COMPUTE, IDS_JAX, CPU_DEVICE, .is_mixed = 1}, "Ops of one name in several programs"},
    {{IDS_WORK_COMPUTE, IDS_JAX, CPU_DEVICE, .is_mixed = 1, .only_moves = 1}, "!several programs"},
    {{IDS_WORK_COMPUTE, IDS_JAX, CPU_DEVICE, .only_moves = 1}, "!algorithm"},
    {{IDS_WORK_COMPUTE, IDS_JAX, CPU_DEVICE, .only_moves = 1}, "donate"},
    {{IDS_WORK_COMPUTE, IDS_JAX, CPU_DEVICE, .only_moves = 1, .donates = 1}, "!donate"},
    {{IDS_WORK_COMPUTE, IDS_JAX, CPU_DEVICE, .only_moves = 1, .donates = 1}, "the old value is still needed"},
    {{IDS_WORK_COMPUTE, IDS_JAX, CPU_DEVICE, .donates = 1}, "!the old value"},
    {{IDS_WORK_COMPUTE, IDS_PYTORCH, CUDA_DEVICE, .only_moves = 1}, ".contiguous()"},
};

START_TEST(a_sentence_is_said_where_it_is_true) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct ids_remedy said = ids_remedy_of(&table[i].about);
        const char *words = table[i].says;
        char all[1024];
        int not = *words == '!';
        ck_assert_ptr_nonnull(said.problem);
        snprintf(all, sizeof all, "%s - %s", said.problem, said.remedy);
        ck_assert_msg((strstr(all, words + not ) == NULL) == not, "row %zu, %s of %s: \"%s\" and '%s'", i,
                      ids_account_id(table[i].about.account),
                      table[i].about.culprit ? table[i].about.culprit : "nobody", all, words);
    }
}
END_TEST

/* No account is without words, and none has words of another framework or of a device that is not there. */
START_TEST(every_account_has_its_sentence) {
    static const char *const foreign[IDS_FRAMEWORKS][6] = {
        [IDS_JAX] = {"torch", "DataLoader", ".item()", "tf.function", NULL},
        [IDS_PYTORCH] = {"jit the", "jax", "lax.", "tf.", "device_put", NULL},
        [IDS_TENSORFLOW] = {"torch", "DataLoader", ".item()", NULL},
        [IDS_CUDA] = {"torch", "DataLoader", "tf.", "jax.", NULL},
    };
    for (int account = 0; account < IDS_ACCOUNT_COUNT; account++) {
        for (int framework = 0; framework < IDS_FRAMEWORKS; framework++) {
            struct ids_circumstances about = {.account = (enum ids_account)account,
                                              .framework = (enum ids_framework)framework,
                                              .platform = framework == IDS_JAX ? IDS_DEVICE_CPU : IDS_DEVICE_GPU,
                                              .devices = 2};
            struct ids_remedy said = ids_remedy_of(&about);
            ck_assert_msg(said.problem && said.remedy, "%s has no words", ids_account_id(about.account));
            ck_assert_msg(!strstr(said.problem, " - ") && !strstr(said.remedy, " - "), "%s", said.remedy);
            for (int i = 0; foreign[framework][i]; i++)
                ck_assert_msg(!strstr(said.remedy, foreign[framework][i]) ||
                                  (framework == IDS_CUDA && ids_account_id(about.account)[0] == 'd'),
                              "%s: '%s' has '%s'", ids_account_id(about.account), said.remedy, foreign[framework][i]);
            if (framework == IDS_JAX)
                ck_assert_msg(!strstr(said.remedy, "CUDA") && !strstr(said.remedy, "graph"), "%s", said.remedy);
        }
    }
    ck_assert_ptr_null(ids_remedy_of(&(struct ids_circumstances){.account = IDS_NO_ACCOUNT}).problem);
}
END_TEST

IDS_RUN_SUITE("remedies", a_sentence_is_said_where_it_is_true, every_account_has_its_sentence)
