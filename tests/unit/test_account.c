/* lib/model/account.c, python_frame.c: which account a host event has, what it gives way to, and whose a Python
 * frame is. */
#include "lib/model/account.h"
#include "lib/model/python_frame.h"
#include "tests/support/suite.h"

static struct ids_text text(const char *at) {
    return (struct ids_text){at, (uint32_t)strlen(at)};
}

static const char *account(enum ids_kind kind, const char *name, int of_framework) {
    return ids_account_id(ids_account_of_host_event(kind, text(name), of_framework));
}

START_TEST(calls_of_the_runtimes) {
    static const struct {
        const char *name, *account;
    } table[] = {
        {"cudaStreamSynchronize", "host.sync"},
        {"hipMemcpyWithStream", "host.sync"},
        {"cudaMemcpy", "host.sync"},
        {"cuMemcpyDtoH_v2", "host.sync"},
        {"cudaMemcpyAsync", "host.dispatch"},
        {"cudaLaunchKernel", "host.dispatch"},
        {"hipExtModuleLaunchKernel", "host.dispatch"},
        {"cudaGraphLaunch", "host.dispatch"},
        {"cudaEventRecordWithFlags", "host.dispatch"},
        {"cudaStreamWaitEvent", "host.dispatch"},
        {"cudaGetDevice", "host.dispatch"},
        {"cudaMalloc", "host.runtime"},
        {"cudaFree", "host.runtime"},
        {"cuModuleLoadData", "host.runtime"},
        {"cudaHostAlloc", "host.runtime"},
        {"hipModuleLoad", "host.runtime"},
        {"cudaGraphInstantiate", "host.runtime"},
        {"cudaStreamCreateWithFlags", "host.runtime"},
        {"customKernel", "host.dispatch"},
        {"aten::_local_scalar_dense", "host.sync"},
        {"aten::item", "host.sync"},
        {"aten::is_nonzero", "host.sync"},
        {"aten::add", "host.dispatch"},
        {"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "host.input"},
        {"Activity Buffer Request", "profiler"},
        {"PjRtCpuClient::Something", "host.dispatch"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        ck_assert_str_eq(account(IDS_KIND_OTHER, table[i].name, 0), table[i].account);
}
END_TEST

START_TEST(regions_by_their_form) {
    ck_assert_str_eq(account(IDS_KIND_OTHER, "checkpoint_save", 0), "host.region");
    ck_assert_str_eq(account(IDS_KIND_OTHER, "eval/epoch_3", 0), "host.region");
    ck_assert_str_eq(account(IDS_KIND_OTHER, "data.load", 0), "host.region"); /* people name them as modules */
    ck_assert_str_eq(account(IDS_KIND_OTHER, "train.data._load", 0), "host.region");
    ck_assert_str_eq(account(IDS_KIND_OTHER, "Trainer.save", 0), "host.region");
    ck_assert_str_eq(account(IDS_KIND_OTHER, "fusion.12", 0), "host.dispatch");
    ck_assert_str_eq(account(IDS_KIND_OTHER, "loop_fusion.clone", 0), "host.dispatch");
    ck_assert_str_eq(account(IDS_KIND_OTHER, "ExecuteReplicated.__call__", 0), "host.dispatch");
    ck_assert_str_eq(account(IDS_KIND_OTHER, "data.", 0), "host.dispatch");
    ck_assert_str_eq(account(IDS_KIND_OTHER, "detach", 1), "host.dispatch"); /* the file says that it is an op */
    ck_assert_str_eq(account(IDS_KIND_OTHER, "XlaModule", 0), "host.dispatch");
    ck_assert_str_eq(account(IDS_KIND_OTHER, "12", 0), "host.dispatch"); /* no letter */
    ck_assert_str_eq(account(IDS_KIND_NAMED, "Whatever It Is", 0), "host.region");
    ck_assert_str_eq(account(IDS_KIND_STEP_MARK, "train", 0), "");
    ck_assert_str_eq(account(IDS_KIND_REGION, "task", 0), "");
    ck_assert_str_eq(account(IDS_KIND_OP, "dot", 0), "");
}
END_TEST

START_TEST(what_goes_on_inside_what) {
    static const struct {
        enum ids_account around, inside;
        int holds;
    } table[] = {
        {IDS_HOST_COMPILE, IDS_HOST_PYTHON, 1},  {IDS_HOST_COMPILE, IDS_HOST_RUNTIME, 1},
        {IDS_HOST_SYNC, IDS_HOST_DISPATCH, 1},   {IDS_HOST_SYNC, IDS_HOST_COMPILE, 0},
        {IDS_HOST_REGION, IDS_HOST_PYTHON, 1},   {IDS_HOST_REGION, IDS_HOST_DISPATCH, 0},
        {IDS_HOST_REGION, IDS_HOST_SYNC, 0},     {IDS_HOST_INPUT, IDS_HOST_PYTHON, 1},
        {IDS_HOST_INPUT, IDS_HOST_DISPATCH, 1},  {IDS_HOST_INPUT, IDS_HOST_STAGING, 0},
        {IDS_HOST_DISPATCH, IDS_HOST_PYTHON, 0}, {IDS_HOST_PYTHON, IDS_HOST_DISPATCH, 0},
        {IDS_NO_ACCOUNT, IDS_HOST_PYTHON, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        ck_assert_msg(ids_account_holds(table[i].around, table[i].inside) == table[i].holds, "%s around %s",
                      ids_account_id(table[i].around), ids_account_id(table[i].inside));
}
END_TEST

START_TEST(parts_of_a_frame) {
    struct ids_python_frame frame;
    ck_assert_int_eq(ids_python_frame_of(text("$train.py:12 step"), &frame), 1);
    ck_assert(ids_text_is(frame.file, "train.py") && ids_text_is(frame.function, "step"));
    ck_assert_int_eq(frame.line, 12);
    ck_assert_int_eq(ids_python_frame_of(text("$builtins len"), &frame), 1);
    ck_assert_uint_eq(frame.file.length, 0);
    ck_assert(ids_text_is(frame.function, "len"));
    ck_assert_int_eq(ids_python_frame_of(text("src/train (v2).py(184): <module>"), &frame), 1);
    ck_assert(ids_text_is(frame.file, "src/train (v2).py") && ids_text_is(frame.function, "<module>"));
    ck_assert_int_eq(frame.line, 184);
    ck_assert_int_eq(ids_python_frame_of(text("<built-in function len>"), &frame), 0);
    ck_assert_int_eq(ids_python_frame_of(text("nn.Module: Linear_3"), &frame), 0);
    ck_assert_int_eq(ids_python_frame_of(text("$"), &frame), 0);
    ck_assert_int_eq(ids_python_frame_of(text(""), &frame), 0);
}
END_TEST

START_TEST(whose_a_frame_is) {
    static const struct {
        const char *name;
        enum ids_frame_owner owner;
    } table[] = {
        {"$my_train.py:12 step", IDS_FRAME_OF_PROGRAM},
        {"$pxla.py:12 step", IDS_FRAME_OF_LIBRARY},
        {"$contextlib.py:132 __enter__", IDS_FRAME_OF_LIBRARY},
        {"$core.py:9 mine", IDS_FRAME_OF_EITHER},
        {"$core.py:9 bind", IDS_FRAME_OF_LIBRARY},
        {"$core.py:1 <module>", IDS_FRAME_OF_PROGRAM},
        {"$builtins len", IDS_FRAME_OF_LIBRARY},
        {"$<unknown> get", IDS_FRAME_OF_LIBRARY},
        {"/opt/conda/lib/python3.9/site-packages/x/y.py(3): f", IDS_FRAME_OF_LIBRARY},
        {"/srv/models/x.py(3): f", IDS_FRAME_OF_PROGRAM},
        {"torch/nn/modules/module.py(1102): _call_impl", IDS_FRAME_OF_LIBRARY},
        {"mymodel/layers.py(3): f", IDS_FRAME_OF_PROGRAM},
        {"threading.py(890): _bootstrap", IDS_FRAME_OF_LIBRARY},
        {"my_train.py(3): main", IDS_FRAME_OF_PROGRAM},
        {"$idsprof_steps.py:17 __init__", IDS_FRAME_OF_HOOK},
        {"/opt/idsprof/python/_idsprof/idsprof_steps.py(17): __init__", IDS_FRAME_OF_HOOK},
        {"/home/me/idsprof_runs/train.py(3): main", IDS_FRAME_OF_PROGRAM},
        {"$<string>:12 tokenize", IDS_FRAME_OF_EITHER}, /* of python -c, or what a library wrote and runs */
        {"$<string>:12 <module>", IDS_FRAME_OF_PROGRAM},
        {"<string>(1): <module>", IDS_FRAME_OF_LIBRARY}, /* the whole process, as Kineto calls it */
        {"$/tmp/torchinductor_me/cn/ccngcw6rqtmu62b6vaidzit24ocdgyztpacaalsslaysedfjuv2g.py:576 call",
         IDS_FRAME_OF_LIBRARY},
        {"$/srv/models/averylongnamethatsomebodywrotewithoutanybreak.py:5 f", IDS_FRAME_OF_PROGRAM},
        {"$<string>:2 __init__", IDS_FRAME_OF_LIBRARY}, /* of a dataclass */
        {"$<stdin>:3 main", IDS_FRAME_OF_PROGRAM},
        {"$<ipython-input-3-0a1b>:1 <module>", IDS_FRAME_OF_PROGRAM},
        {"$<python-input-12>:1 <module>", IDS_FRAME_OF_PROGRAM},
        {"$In[3]:5 load_batch", IDS_FRAME_OF_PROGRAM},
        {"$<frozen importlib._bootstrap>:241 _call_with_frames_removed", IDS_FRAME_OF_LIBRARY},
        {"$./bin/train:7 main", IDS_FRAME_OF_PROGRAM},
        {"$/opt/jobs/train:7 main", IDS_FRAME_OF_PROGRAM},
        {"$<unknown> acquire", IDS_FRAME_WAITS},
        {"$self._selector poll", IDS_FRAME_WAITS}, /* of a sampled stack: asyncio */
        {"$self.lock acquire", IDS_FRAME_WAITS},
        {"$python wait_for_gil", IDS_FRAME_AWAITS_GIL},
        {"$python wait_for_core", IDS_FRAME_AWAITS_CORE},
        {"$./poll.py:5 poll", IDS_FRAME_OF_PROGRAM},
        {"$<unknown> __enter__", IDS_FRAME_WAITS},
        {"<built-in method acquire of _thread.lock object at 0x7f01>", IDS_FRAME_WAITS},
        {"$<unknown> poll", IDS_FRAME_WAITS},
        {"$select select", IDS_FRAME_WAITS},
        {"$posix read", IDS_FRAME_WAITS}, /* of a pipe: multiprocessing */
        {"$time sleep", IDS_FRAME_BLOCKS},
        {"$io read", IDS_FRAME_BLOCKS}, /* of a sampled stack: a loop over a file */
        {"<built-in function sleep>", IDS_FRAME_BLOCKS},
        {"$self._sock recv_into", IDS_FRAME_BLOCKS},
        {"$work_queue get", IDS_FRAME_WAITS},     /* of a SimpleQueue */
        {"$self._handle join", IDS_FRAME_BLOCKS}, /* of a thread */
        {"$', ' join", IDS_FRAME_OF_LIBRARY},
        {"$np select", IDS_FRAME_OF_LIBRARY},
        {"$./clock.py:5 sleep", IDS_FRAME_OF_PROGRAM},
        {"$pool.py:500 _wait_for_updates", IDS_FRAME_OF_LIBRARY},
        {"$process.py:406 wait_result_broken_or_wakeup", IDS_FRAME_OF_LIBRARY},
        {"$lock.py:5 acquire", IDS_FRAME_OF_PROGRAM},
        {"$callback.py:74 pure_callback_impl", IDS_FRAME_OF_LIBRARY},
        {"<built-in function len>", IDS_FRAME_OF_LIBRARY},
        {"nn.Module: Linear_3", IDS_FRAME_OF_LIBRARY},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int owner = (int)ids_python_frame_owner(text(table[i].name));
        ck_assert_msg(owner == (int)table[i].owner, "%s: %d", table[i].name, owner);
    }
}
END_TEST

IDS_RUN_SUITE("account", calls_of_the_runtimes, regions_by_their_form, what_goes_on_inside_what, parts_of_a_frame,
              whose_a_frame_is)
