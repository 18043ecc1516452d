/* lib/model: builder, join and cpu_runs, over texts of formats/mini.c. Times in the texts are microseconds where they
 * say so, and picoseconds where they say nothing. */
#include "tests/support/mini_trace.h"
#include "tests/support/suite.h"

#include <stdio.h>

/* ---- CPU ops ---- */

START_TEST(a_cpu_op_ends_where_its_end_begins) {
    struct ids_trace *trace =
        mini_trace("host h\n"
                   "plane /host:CPU\n"
                   "line 1 worker1\n"
                   "0 20 dot.1 hlo_op=dot.1 hlo_module=jit_f run_id=7 _pt=0 _p=101\n"    /* ends at 500, elsewhere */
                   "600 100 add.2 hlo_op=add.2 hlo_module=jit_f run_id=7 _pt=0 _p=102\n" /* its end: comes before */
                   "750 10 tanh.3 hlo_op=tanh.3 hlo_module=jit_f run_id=7 _pt=0 _p=103\n"
                   "900 10 \"end: tanh.3\" _ct=0 _c=103\n"                              /* the next of its thread */
                   "950 10 exp.4 hlo_op=exp.4 hlo_module=jit_f run_id=7 _pt=0 _p=104\n" /* never ends */
                   "line 2 worker2\n"
                   "500 10 \"end: dot.1\" _ct=0 _c=101\n"
                   "650 300 \"end: add.2\" _ct=0 _c=102\n"
                   "700 10 \"end: other.9\" _ct=1 _c=104\n" /* a link of another type */);
    ck_assert_uint_eq(trace->device_count, 1);
    ck_assert_str_eq(trace->devices[0].key, "h:/host:CPU#0");
    ck_assert_str_eq(trace->devices[0].label, "CPU#0");
    static const struct {
        const char *name;
        int64_t start, end;
    } table[] = {{"dot.1", 0, 500}, {"add.2", 600, 700}, {"tanh.3", 750, 900}, {"exp.4", 950, 960}};
    ck_assert_uint_eq(trace->devices[0].activity.count, 4); /* the "end:" events are none */
    for (size_t i = 0; i < 4; i++) {
        const struct ids_event *op = activity(trace, 0, table[i].name);
        ck_assert_int_eq(op->start_ps, table[i].start);
        ck_assert_int_eq(op->end_ps, table[i].end);
        ck_assert_int_eq(op->self_ps, table[i].end - table[i].start);
        ck_assert_uint_eq(op->produces, 0); /* the end is no work that the op launched */
    }
    ck_assert_uint_eq(diag_count(trace, "cpu.op_without_end"), 1);
    ids_trace_free(trace);
}
END_TEST

/* ---- GPU ---- */

/* Two kernels of a graph, of which the second is no op's of the program that launched it; the first one's name
 * tells. */
START_TEST(ops_of_a_graph_are_told_or_said_not_to_be) {
    static const char graph[] = "host h\n"
                                "plane /device:GPU:0\n"
                                "line 1 \"Stream #1(Kernel)\"\n"
                                "10 5 tanh_fusion correlation_id=1 cuda_graph_id=2\n"
                                "20 5 %s correlation_id=1 cuda_graph_id=2\n"
                                "plane /host:CPU\n"
                                "line 9 python\n"
                                "0 9 \"jit_f:XLA GPU module\"\n"
                                "1 1 cuGraphLaunch correlation_id=1\n"
                                "hlo module=jit_f program=7 name=tanh_fusion opcode=fusion order=1 runs=kernel\n"
                                "hlo module=jit_f program=7 name=custom-call.1 opcode=custom-call order=2 runs=%s\n";
    char text[sizeof graph + 64];
    snprintf(text, sizeof text, graph, "gemm", "library");
    struct ids_trace *trace = mini_trace(text);
    ck_assert_uint_eq(diag_count(trace, "model.op_by_name"), 1);
    ck_assert_uint_eq(diag_count(trace, "model.op_by_order"), 1);
    ck_assert_uint_eq(diag_count(trace, "model.op_not_told"), 0);
    const struct ids_event *gemm = activity(trace, 0, "gemm");
    ck_assert_uint_ne(gemm->op, IDS_NONE);
    ck_assert_str_eq(ids_trace_text(trace, trace->ops[gemm->op].name), "custom-call.1");
    ck_assert_str_eq(ids_trace_text(trace, trace->ops[gemm->op].opcode), "custom-call");
    ck_assert_int_eq(trace->ops[gemm->op].known_by, IDS_OP_BY_ORDER);
    ids_trace_free(trace);
    snprintf(text, sizeof text, graph, "gemm", "kernel"); /* no library runs a fusion: nothing fits */
    trace = mini_trace(text);
    ck_assert_uint_eq(diag_count(trace, "model.op_by_name"), 1);
    ck_assert_uint_eq(diag_count(trace, "model.op_by_order"), 0);
    ck_assert_uint_eq(diag_count(trace, "model.op_not_told"), 1);
    ck_assert_uint_eq(activity(trace, 0, "gemm")->op, IDS_NONE);
    ids_trace_free(trace);
}
END_TEST

START_TEST(correlations_are_links_within_a_host) {
    struct ids_trace *trace = mini_trace("host a\n"
                                         "plane /device:GPU:0\n"
                                         "line 1 \"Stream #1(Kernel)\"\n"
                                         "100 10 ka1 correlation_id=1\n"
                                         "200 10 ka2 correlation_id=u:18446744073709551615\n"
                                         "300 10 ka3 correlation_id=3\n"
                                         "400 10 ka0 correlation_id=0\n"
                                         "plane /host:CPU\n"
                                         "line 9 python\n"
                                         "1 1 launch_a1 correlation_id=1\n"
                                         "2 1 launch_a2 correlation_id=u:18446744073709551615\n"
                                         "host b\n"
                                         "plane /device:GPU:0\n"
                                         "line 1 \"Stream #1(Kernel)\"\n"
                                         "100 10 kb1 correlation_id=1\n"
                                         "plane /host:CPU\n"
                                         "line 9 python\n"
                                         "5 1 launch_b1 correlation_id=1\n");
    ck_assert_ptr_eq(activity(trace, 0, "ka1")->launch, on_host(trace, "launch_a1"));
    ck_assert_ptr_eq(activity(trace, 0, "ka2")->launch, on_host(trace, "launch_a2"));
    ck_assert_ptr_null(activity(trace, 0, "ka3")->launch);
    ck_assert_ptr_null(activity(trace, 0, "ka0")->launch); /* 0 is no id */
    ck_assert_ptr_eq(activity(trace, 1, "kb1")->launch, on_host(trace, "launch_b1"));
    ck_assert_int_eq(on_host(trace, "launch_a1")->kind, IDS_KIND_LAUNCH);
    ck_assert_uint_eq(diag_count(trace, "model.launch_not_recorded"), 1); /* ka3 */
    ids_trace_free(trace);
}
END_TEST

START_TEST(amd_copies_take_their_direction_from_the_call) {
    struct ids_trace *trace = mini_trace(
        "plane /device:GPU:0\n"
        "line 1 \"Stream #1\"\n"
        "100 10 __amd_rocclr_copyBuffer.kd correlation_id=1 memcpy_details=\"kind:Unknown size:0 dest:512 async:1\"\n"
        "200 10 __amd_rocclr_fillBufferAligned.kd correlation_id=2\n"
        "300 10 MemcpyD2H correlation_id=1 memcpy_details=\"kind_src:device kind_dst:pinned size:64 dest:0 async:1\"\n"
        "plane /host:CPU\n"
        "line 9 t\n"
        "1 1 hipMemcpyHtoDAsync correlation_id=1\n"
        "2 1 hipMemsetAsync correlation_id=2\n");
    const struct ids_event *copy = activity(trace, 0, "__amd_rocclr_copyBuffer.kd");
    ck_assert_int_eq(copy->kind, IDS_KIND_COPY);
    ck_assert_int_eq(copy->class, IDS_CLASS_COPY);
    ck_assert_int_eq(copy->direction, IDS_H2D);
    ck_assert_int_eq(copy->value, -1); /* bytes unknown, not 0 */
    const struct ids_event *set = activity(trace, 0, "__amd_rocclr_fillBufferAligned.kd");
    ck_assert_int_eq(set->kind, IDS_KIND_SET);
    ck_assert_int_eq(set->direction, IDS_MEMSET);
    const struct ids_event *named = activity(trace, 0, "MemcpyD2H");
    ck_assert_int_eq(named->direction, IDS_D2H); /* its own word stands */
    ck_assert_int_eq(named->value, 64);
    ck_assert_int_eq(named->pinned, 1);
    ids_trace_free(trace);
}
END_TEST

START_TEST(shapes_of_kernels_are_kept_once) {
    struct ids_trace *trace =
        mini_trace("plane /device:GPU:0 gpu_device_name=\"Test 9000\" device_vendor=Nvidia memory_size=17179869184 "
                   "memory_bandwidth=800000000000\n"
                   "line 1 \"Stream #1(Kernel)\"\n"
                   "0 10 k1 kernel_details=\"regs:32 shm:0 grid:4,1,1 block:128,1,1\" theoretical_occupancy_pct=50.0\n"
                   "20 10 k2 kernel_details=\"regs:32 shm:0 grid:4,1,1 block:128,1,1\"\n"
                   "40 10 k3 kernel_details=\"regs:64 shm:0 grid:4,1,1 block:128,1,1\" cuda_graph_id=3\n"
                   "60 10 k4\n"
                   "line 2 \"CUPTI overhead\"\n" /* no activity */
                   "0 1000 buffer\n");
    ck_assert_uint_eq(trace->shape_count, 2);
    ck_assert_uint_eq(activity(trace, 0, "k1")->shape, activity(trace, 0, "k2")->shape);
    ck_assert_int_eq(trace->shapes[activity(trace, 0, "k3")->shape].registers, 64);
    ck_assert_double_eq_tol(trace->shapes[activity(trace, 0, "k1")->shape].occupancy, 0.5, 1e-12);
    ck_assert_uint_eq(activity(trace, 0, "k4")->shape, IDS_NONE);
    ck_assert_ptr_null(ids_event_outside(trace, activity(trace, 0, "k3"))); /* a thread's event has a parent there */
    ck_assert_int_eq(activity(trace, 0, "k3")->in_graph, 1);
    ck_assert_int_eq(activity(trace, 0, "k1")->in_graph, 0);
    ck_assert_uint_eq(trace->devices[0].activity.count, 4);
    ck_assert_int_eq(trace->tracks[1].role, IDS_TRACK_DERIVED);
    ck_assert_str_eq(ids_trace_text(trace, trace->devices[0].model), "Test 9000");
    ck_assert_str_eq(ids_trace_text(trace, trace->devices[0].vendor), "Nvidia");
    ck_assert_uint_eq(trace->devices[0].memory_bytes, UINT64_C(17179869184));
    ck_assert_double_eq_tol(trace->devices[0].peak_bytes_per_second, 8e11, 1);
    ids_trace_free(trace);
}
END_TEST

/* ---- TPU ---- */

START_TEST(tpu_ops_are_launched_with_their_module) {
    struct ids_trace *trace =
        mini_trace("plane /device:TPU:0 peak_teraflops_per_second=918.5 peak_hbm_bw_gigabytes_per_second=1640.0\n"
                   "meta f1 hlo_category=\"loop fusion\" program_id=123\n"
                   "meta f2 hlo_category=\"loop fusion\" program_id=123\n"
                   "meta f3 hlo_category=\"loop fusion\" program_id=123\n"
                   "meta f4 hlo_category=\"loop fusion\" program_id=9\n"
                   "line 1 \"XLA Modules\"\n"
                   "100 100 jit_f(123) _ct=12 _c=1 run_id=1\n"
                   "200 100 jit_f(123) _ct=12 _c=2 run_id=2\n" /* back to back */
                   "line 2 \"XLA Ops\"\n"
                   "50 10 f4\n" /* before any module */
                   "100 50 f1\n"
                   "200 50 f2\n" /* of the second module, though the first one ends there */
                   "310 10 f3\n" /* after */
                   "line 3 \"Async XLA Ops\"\n"
                   "150 500 f1\n"
                   "line 4 \"XLA TraceMe\"\n"
                   "260 10 dependency-wait\n"
                   "plane /host:CPU\n"
                   "line 9 python\n"
                   "10 1 DoEnqueueProgram _pt=12 _p=1\n"
                   "20 2 DoEnqueueProgram _pt=12 _p=2\n");
    const struct ids_device *device = &trace->devices[0];
    const struct ids_event *launch1 = &trace->tracks[4].events.at[0], *launch2 = &trace->tracks[4].events.at[1];
    ck_assert_int_eq(launch1->start_ps, 10);
    ck_assert_uint_eq(device->modules.count, 2);
    ck_assert_ptr_eq(device->modules.at[0].launch, launch1);
    ck_assert_ptr_eq(device->modules.at[1].launch, launch2);
    ck_assert_ptr_null(activity(trace, 0, "f4")->launch);
    ck_assert_ptr_eq(activity(trace, 0, "f1")->launch, launch1);
    ck_assert_ptr_eq(activity(trace, 0, "f2")->launch, launch2);
    ck_assert_ptr_null(activity(trace, 0, "f3")->launch);
    ck_assert_uint_eq(device->async.count, 1);
    ck_assert_ptr_eq(device->async.at[0].launch, launch1);
    ck_assert_uint_eq(device->waits.count, 1);
    ck_assert_ptr_eq(device->waits.at[0].launch, launch2);
    /* "jit_f(123)" names program 123 */
    const struct ids_module *module = &trace->modules[trace->ops[activity(trace, 0, "f1")->op].module];
    ck_assert_uint_eq(module->program_id, 123);
    ck_assert_str_eq(ids_trace_text(trace, module->name), "jit_f");
    ck_assert_str_eq(ids_trace_text(trace, trace->modules[trace->ops[activity(trace, 0, "f4")->op].module].name), "");
    ck_assert_double_eq_tol(device->peak_flops, 918.5e12, 1e6);
    ck_assert_double_eq_tol(device->peak_bytes_per_second, 1640e9, 1e3);
    ids_trace_free(trace);
}
END_TEST

START_TEST(program_ids_are_a_hosts_own) {
    struct ids_trace *trace =
        mini_trace("host a\nhlo module=jit_f name=op.1 opcode=all-reduce program=1\n"
                   "plane /device:TPU:0\nmeta f program_id=1\n"
                   "line 1 \"XLA Modules\"\n0 10 jit_f(1)\nline 2 \"XLA Ops\"\n0 10 f\n"
                   "plane /host:CPU\nline 1 t\n0 1 a hlo_op=op.1 hlo_module=jit_f program_id=1\n"
                   "host b\nhlo module=jit_g name=op.1 opcode=fusion program=1\n"
                   "plane /device:TPU:0\nmeta f program_id=1\n"
                   "line 1 \"XLA Modules\"\n0 10 jit_g(1)\nline 2 \"XLA Ops\"\n0 10 f\n"
                   "plane /host:CPU\nline 1 t\n0 1 b hlo_op=op.1 hlo_module=jit_g program_id=1\n");
    const struct ids_op *on_a = &trace->ops[activity(trace, 0, "f")->op],
                        *on_b = &trace->ops[activity(trace, 2, "f")->op];
    ck_assert_uint_ne(on_a->module, on_b->module);
    ck_assert_str_eq(ids_trace_text(trace, trace->modules[on_a->module].name), "jit_f");
    ck_assert_str_eq(ids_trace_text(trace, trace->modules[on_b->module].name), "jit_g");
    ck_assert_int_eq(activity(trace, 1, "a")->collective, IDS_ALL_REDUCE);
    ck_assert_int_eq(activity(trace, 3, "b")->collective, IDS_NO_COLLECTIVE);
    ids_trace_free(trace);
}
END_TEST

START_TEST(tpu_offloading_copies) {
    struct ids_trace *trace = mini_trace(
        "plane /device:TPU:0\n"
        "meta \"%copy-start.7 = (f32[4,8]{1,0:T(8,128)S(5)}, f32[4,8]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(...)\" "
        "hlo_category=copy-start program_id=1 flops=0 bytes_accessed=99 model_flops=7 source=train.py:3 "
        "tf_op=jit(f)/copy "
        "deduplicated_name=copy.1\n"
        "meta \"%copy-done.7 = f32[4,8]{1,0:T(8,128)S(5)} copy-done(...)\" hlo_category=copy-done program_id=1\n"
        "line 2 \"XLA Ops\"\n"
        "0 1 \"%copy-start.7 = (f32[4,8]{1,0:T(8,128)S(5)}, f32[4,8]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(...)\"\n"
        "50 50 \"%copy-done.7 = f32[4,8]{1,0:T(8,128)S(5)} copy-done(...)\"\n"
        "line 3 \"Async XLA Ops\"\n"
        "0 100 \"%copy-start.7 = (f32[4,8]{1,0:T(8,128)S(5)}, f32[4,8]{1,0:T(8,128)}, u32[]{:S(2)}) "
        "copy-start(...)\"\n");
    const struct ids_device *device = &trace->devices[0];
    const struct ids_event *start = &device->activity.at[0], *done = &device->activity.at[1],
                           *copy = &device->async.at[0];
    ck_assert_int_eq(copy->direction, IDS_D2H);
    ck_assert_int_eq(copy->value, 4 * 8 * 4);
    ck_assert_int_eq(copy->kind, IDS_KIND_COPY);
    ck_assert_int_eq(copy->asynchronous, 1);
    ck_assert_int_eq(start->class, IDS_CLASS_COPY);
    ck_assert_int_eq(done->class, IDS_CLASS_STALL);
    const struct ids_op *op = &trace->ops[start->op];
    ck_assert_str_eq(ids_trace_text(trace, op->name), "copy-start.7"); /* between % and the space */
    ck_assert_int_eq(op->marker, 1);
    ck_assert_int_eq(op->flops, 0);
    ck_assert_int_eq(op->model_flops, 7);
    ck_assert_int_eq(op->bytes_accessed, 99);
    ck_assert_str_eq(ids_trace_text(trace, op->source), "train.py:3");
    ck_assert_str_eq(ids_trace_text(trace, op->framework_name), "jit(f)/copy");
    ck_assert_str_eq(ids_trace_text(trace, op->deduplicated_name), "copy.1");
    ck_assert_int_eq(trace->ops[done->op].flops, -1); /* unknown, not 0 */
    ids_trace_free(trace);
}
END_TEST

/* ---- launches of the CPU client (cpu_runs.h) ---- */

START_TEST(rule_1_execute_with_the_run_id) {
    struct ids_trace *trace = mini_trace("plane /host:CPU\n"
                                         "line 1 python\n"
                                         "0 50 \"CommonPjRtLoadedExecutable::Execute (jit_f)\" run_id=5\n"
                                         "line 2 worker\n"
                                         "100 10 dot.1 hlo_op=dot.1 hlo_module=jit_f run_id=5 device_ordinal=0\n"
                                         "200 10 dot.2 hlo_op=dot.2 hlo_module=jit_f run_id=5 device_ordinal=1\n"
                                         "300 10 dot.3 hlo_op=dot.3 hlo_module=jit_f run_id=6 device_ordinal=1\n");
    const struct ids_event *execute = on_host(trace, "CommonPjRtLoadedExecutable::Execute (jit_f)");
    ck_assert_uint_eq(trace->device_count, 2);
    ck_assert_str_eq(trace->devices[1].label, "CPU#1");
    ck_assert_ptr_eq(activity(trace, 0, "dot.1")->launch, execute);
    ck_assert_ptr_eq(activity(trace, 1, "dot.2")->launch, execute); /* on all its devices */
    ck_assert_ptr_null(activity(trace, 1, "dot.3")->launch);        /* run 6 is another's */
    ids_trace_free(trace);
}
END_TEST

#define HELPER "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice"

START_TEST(rule_2_it_ran_inline) {
    struct ids_trace *trace =
        mini_trace("plane /host:CPU\n"
                   "line 1 python\n"
                   "0 100 PjitFunction(f)\n"
                   "10 80 " HELPER "\n"
                   "20 10 dot.1 hlo_op=dot.1 hlo_module=jit_other run_id=5\n" /* whatever its program is */
                   "line 2 worker\n"
                   "300 10 dot.2 hlo_op=dot.2 hlo_module=jit_other run_id=5\n"); /* the same run, later */
    const struct ids_event *helper = on_host(trace, HELPER);
    ck_assert_ptr_eq(activity(trace, 0, "dot.1")->launch, helper);
    ck_assert_ptr_eq(activity(trace, 0, "dot.2")->launch, helper);
    ck_assert_ptr_eq(ids_event_outside(trace, helper), on_host(trace, "PjitFunction(f)"));
    ids_trace_free(trace);
}
END_TEST

/* The starts of the helpers that launched ops a, b, c; -1 for none. */
static void expect_launches(const char *text, int64_t a, int64_t b, int64_t c) {
    struct ids_trace *trace = mini_trace(text);
    const int64_t wanted[] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        const struct ids_event *launch = activity(trace, 0, (const char *[]){"a", "b", "c"}[i])->launch;
        int64_t start = launch && !strcmp(ids_event_name(trace, launch), HELPER) ? launch->start_ps : -1;
        ck_assert_msg(start == wanted[i], "op %c: launched at %lld, not %lld", "abc"[i], (long long)start,
                      (long long)wanted[i]);
    }
    ids_trace_free(trace);
}

#define CALLS_AT_10_30_50                                                                                        \
    "plane /host:CPU\nline 1 python\n0 20 PjitFunction(f)\n10 5 " HELPER "\n25 20 PjitFunction(f)\n30 5 " HELPER \
    "\n48 20 PjitFunction(f)\n50 5 " HELPER "\nline 2 worker\n"

START_TEST(rule_3_by_order) {
    /* the k-th run belongs to the k-th call */
    expect_launches(CALLS_AT_10_30_50 "100 5 a hlo_op=a hlo_module=jit_f run_id=1\n"
                                      "110 5 b hlo_op=b hlo_module=jit_f run_id=2\n"
                                      "120 5 c hlo_op=c hlo_module=jit_f run_id=3\n",
                    10, 30, 50);
    /* four runs for three calls: the first was in flight when the recording began */
    expect_launches(CALLS_AT_10_30_50 "60 5 z hlo_op=z hlo_module=jit_f run_id=1\n"
                                      "100 5 a hlo_op=a hlo_module=jit_f run_id=2\n"
                                      "110 5 b hlo_op=b hlo_module=jit_f run_id=3\n"
                                      "120 5 c hlo_op=c hlo_module=jit_f run_id=4\n",
                    10, 30, 50);
    /* as many runs as calls, but a began before the first call: a cause comes first, so c's call is the second */
    expect_launches(CALLS_AT_10_30_50 "5 2 a hlo_op=a hlo_module=jit_f run_id=1\n"
                                      "100 5 b hlo_op=b hlo_module=jit_f run_id=2\n"
                                      "110 5 c hlo_op=c hlo_module=jit_f run_id=3\n",
                    -1, 10, 30);
    /* fewer runs than calls: the last call's did not begin in the recording */
    expect_launches(CALLS_AT_10_30_50 "100 5 a hlo_op=a hlo_module=jit_f run_id=1\n"
                                      "110 5 b hlo_op=b hlo_module=jit_f run_id=2\n"
                                      "120 5 c hlo_op=c hlo_module=jit_f run_id=2\n", /* still run 2 */
                    10, 30, 30);
    /* another program's run takes no call of this one's */
    expect_launches(CALLS_AT_10_30_50 "100 5 a hlo_op=a hlo_module=jit_g run_id=1\n"
                                      "110 5 b hlo_op=b hlo_module=jit_f run_id=2\n"
                                      "120 5 c hlo_op=c hlo_module=jit_ff run_id=3\n",
                    -1, 10, -1);
}
END_TEST

START_TEST(rule_4_called_without_a_name) {
    /* compiled ahead of time: no PjitFunction; the call of f in between is f's, though f's run began last */
    expect_launches("plane /host:CPU\nline 1 python\n10 5 " HELPER "\n25 20 PjitFunction(f)\n30 5 " HELPER
                    "\n50 5 " HELPER "\nline 2 worker\n"
                    "100 5 a hlo_op=a hlo_module=jit_g run_id=1\n"
                    "110 5 c hlo_op=c hlo_module=jit_h run_id=70\n"
                    "120 5 b hlo_op=b hlo_module=jit_f run_id=3\n",
                    10, 30, 50);
    /* a call of f is no other program's, be there runs of f for it or not */
    expect_launches("plane /host:CPU\nline 1 python\n0 8 PjitFunction(f)\n5 2 " HELPER
                    "\n25 20 PjitFunction(f)\n30 5 " HELPER "\n50 5 " HELPER "\nline 2 worker\n"
                    "100 5 a hlo_op=a hlo_module=jit_f run_id=1\n"
                    "110 5 b hlo_op=b hlo_module=jit_g run_id=70\n"
                    "120 5 c hlo_op=c hlo_module=jit_g run_id=71\n",
                    5, -1, 50);
}
END_TEST

START_TEST(rule_3_names_of_functions) {
    struct ids_trace *trace =
        mini_trace("plane /host:CPU\n"
                   "line 1 python\n"
                   "0 20 PjitFunction(<lambda>)\n"
                   "0 19 PjitFunction(<lambda>)\n" /* recorded twice per call */
                   "10 5 " HELPER "\n"
                   "line 2 worker\n"
                   "100 5 a hlo_op=a hlo_module=jit__lambda_ run_id=9\n"
                   "110 5 b hlo_op=b hlo_module=jit_lambda run_id=2\n"
                   "50 5 c hlo_op=c hlo_module=jit_xlambdax run_id=3\n"); /* the first to ask for the call */
    ck_assert_ptr_eq(activity(trace, 0, "a")->launch, on_host(trace, HELPER));
    ck_assert_ptr_null(activity(trace, 0, "b")->launch);
    ck_assert_ptr_null(activity(trace, 0, "c")->launch);
    ids_trace_free(trace);
}
END_TEST

START_TEST(rule_5_what_is_around_or_queued_it) {
    struct ids_trace *trace = mini_trace("plane /host:CPU\n"
                                         "line 1 python\n"
                                         "5 2 ThreadpoolListener::Record _pt=15 _p=1\n"
                                         "line 2 worker\n"
                                         "90 0 ThreadpoolListener::StartRegion _ct=15 _c=1\n"
                                         "100 10 dot.1 hlo_op=dot.1 hlo_module=jit_f run_id=1\n"
                                         "100 5 Rendezvous\n" /* begins with the op, inside it */
                                         "120 0 ThreadpoolListener::StopRegion\n"
                                         "200 50 Queue _pt=3 _p=9\n"
                                         "210 10 dot.2 hlo_op=dot.2 hlo_module=jit_f run_id=2\n"
                                         "300 10 dot.3 hlo_op=dot.3 hlo_module=jit_f run_id=3\n");
    ck_assert_ptr_eq(activity(trace, 0, "dot.1")->launch, on_host(trace, "ThreadpoolListener::Record"));
    ck_assert_ptr_eq(activity(trace, 0, "dot.2")->launch, on_host(trace, "Queue"));
    ck_assert_ptr_null(activity(trace, 0, "dot.3")->launch);
    ids_trace_free(trace);
}
END_TEST

START_TEST(causes_lead_from_thread_to_thread) {
    struct ids_trace *trace =
        mini_trace("plane /host:CPU\n"
                   "line 1 python\n"
                   "0 100 train step_num=3 _r=1\n"
                   "5 10 Enqueue _pt=7 _p=5\n"
                   "line 2 worker\n"
                   "200 50 Task _ct=7 _c=5\n"
                   "210 10 Inner _pt=7 _p=6\n"
                   "300 10 Self _pt=7 _p=8 _ct=7 _c=8\n" /* what it makes it needs itself: no cause */
                   "400 10 Orphan _ct=7 _c=99\n");
    const struct ids_event *enqueue = on_host(trace, "Enqueue"), *mark = on_host(trace, "train");
    ck_assert_int_eq(mark->kind, IDS_KIND_STEP_MARK);
    ck_assert_int_eq(mark->value, 3);
    ck_assert_ptr_eq(ids_event_cause(trace, on_host(trace, "Task")), enqueue);
    ck_assert_ptr_eq(ids_event_cause(trace, on_host(trace, "Inner")), enqueue); /* through the task around it */
    ck_assert_ptr_eq(ids_event_outside(trace, enqueue), mark);
    ck_assert_ptr_null(ids_event_cause(trace, enqueue));
    ck_assert_ptr_null(ids_event_cause(trace, on_host(trace, "Self")));
    ck_assert_ptr_null(ids_event_cause(trace, on_host(trace, "Orphan")));
    ids_trace_free(trace);
}
END_TEST

/* ---- HLO ---- */

START_TEST(opcodes_tell_the_class) {
    struct ids_trace *trace =
        mini_trace("hlo module=jit_f name=psum_invariant.7 opcode=all-reduce op_name=jit(f)/psum source=train.py:12 "
                   "groups={{0,1}}\n"
                   "hlo module=jit_f name=all-reduce-like.9 opcode=fusion\n"
                   "hlo module=jit_g name=psum_invariant.7 opcode=fusion\n"
                   "hlo module=jit_h name=x.1 opcode=fusion program=41\n"
                   "hlo module=jit_h name=x.1 opcode=all-gather program=42\n"
                   "plane /host:CPU\n"
                   "line 1 worker\n"
                   "0 1 a hlo_op=psum_invariant.7 hlo_module=jit_f run_id=1\n"
                   "2 1 b hlo_op=all-reduce-like.9 hlo_module=jit_f run_id=1\n"
                   "4 1 c hlo_op=psum_invariant.7 hlo_module=jit_g run_id=2\n"
                   "6 1 d hlo_op=x.1 hlo_module=jit_h program_id=42 run_id=3\n"
                   "8 1 e hlo_op=all-to-all.3 hlo_module=jit_f run_id=1\n" /* no HLO: its name proves nothing */);
    static const struct {
        const char *name;
        enum ids_collective collective;
        enum ids_class_rule rule;
        const char *opcode;
    } table[] = {{"a", IDS_ALL_REDUCE, IDS_RULE_OPCODE, "all-reduce"},
                 {"b", IDS_NO_COLLECTIVE, IDS_RULE_OPCODE, "fusion"},
                 {"c", IDS_NO_COLLECTIVE, IDS_RULE_OPCODE, "fusion"},
                 {"d", IDS_ALL_GATHER, IDS_RULE_OPCODE, "all-gather"},
                 {"e", IDS_NO_COLLECTIVE, IDS_RULE_DEFAULT, ""}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct ids_event *event = activity(trace, 0, table[i].name);
        ck_assert_msg(event->collective == table[i].collective, "%s", table[i].name);
        ck_assert_msg(event->class == (table[i].collective ? IDS_CLASS_COLLECTIVE : IDS_CLASS_COMPUTE), "%s",
                      table[i].name);
        ck_assert_msg(event->class_rule == table[i].rule, "%s", table[i].name);
        ck_assert_str_eq(ids_trace_text(trace, trace->ops[event->op].opcode), table[i].opcode);
    }
    const struct ids_op *op = &trace->ops[activity(trace, 0, "a")->op];
    ck_assert_str_eq(ids_trace_text(trace, op->source), "train.py:12");
    ck_assert_str_eq(ids_trace_text(trace, op->framework_name), "jit(f)/psum");
    ck_assert_str_eq(ids_trace_text(trace, op->groups), "{{0,1}}");
    ck_assert_uint_eq(trace->hlo_instructions, 5);
    ids_trace_free(trace);
}
END_TEST

START_TEST(kernels_take_the_class_of_their_op) {
    struct ids_trace *trace = mini_trace("hlo module=jit_f name=psum.7 opcode=all-reduce\n"
                                         "hlo module=jit_f name=fusion.1 opcode=fusion\n"
                                         "plane /device:GPU:0\n"
                                         "line 1 \"Stream #1(Kernel)\"\n"
                                         "0 1 k1 hlo_op=psum.7 hlo_module=jit_f\n"
                                         "2 1 ncclDevKernel_AllGather_RING_LL hlo_op=fusion.1 hlo_module=jit_f\n"
                                         "4 1 k3 hlo_op=fusion.1 hlo_module=jit_f\n"
                                         "6 1 MemcpyD2D hlo_op=psum.7 hlo_module=jit_f\n");
    const struct ids_event *by_op = activity(trace, 0, "k1"),
                           *by_name = activity(trace, 0, "ncclDevKernel_AllGather_RING_LL");
    ck_assert_int_eq(by_op->class, IDS_CLASS_COLLECTIVE);
    ck_assert_int_eq(by_op->collective, IDS_ALL_REDUCE);
    ck_assert_int_eq(by_op->class_rule, IDS_RULE_OPCODE);
    ck_assert_int_eq(by_name->class, IDS_CLASS_COLLECTIVE);
    ck_assert_int_eq(by_name->collective, IDS_ALL_GATHER);
    ck_assert_int_eq(by_name->class_rule, IDS_RULE_KERNEL_NAME);
    ck_assert_int_eq(activity(trace, 0, "k3")->class, IDS_CLASS_COMPUTE);
    ck_assert_int_eq(activity(trace, 0, "MemcpyD2D")->class, IDS_CLASS_COPY);
    ck_assert_uint_eq(activity(trace, 0, "k3")->op, by_name->op); /* one op, two kernels */
    ids_trace_free(trace);
}
END_TEST

/* ---- hosts and planes ---- */

START_TEST(hosts_of_one_name_get_keys_of_their_own) {
    struct ids_trace *trace =
        mini_trace("host h\nplane /device:GPU:0\nplane /device:GPU:1\n"
                   "host h\nplane /device:GPU:0\n"
                   "host h\nplane /device:TPU:3\n"
                   "host\nplane /device:GPU:0\n"
                   "plane \"/device:TPU:0 SparseCore 1\"\nplane /device:CUSTOM:Megascale\nplane \"#Chip0#\"\n");
    static const char *const keys[] = {"h:/device:GPU:0",
                                       "h:/device:GPU:1",
                                       "h~1:/device:GPU:0",
                                       "h~2:/device:TPU:3",
                                       "host3:/device:GPU:0",
                                       "host3:/device:CUSTOM:Megascale",
                                       "host3:/device:TPU:0 SparseCore 1"};
    ck_assert_uint_eq(trace->host_count, 4);
    ck_assert_uint_eq(trace->device_count, sizeof keys / sizeof *keys);
    for (size_t i = 0; i < trace->device_count; i++) ck_assert_str_eq(trace->devices[i].key, keys[i]);
    ck_assert_str_eq(trace->devices[3].label, "TPU:3");
    ck_assert_int_eq(trace->devices[3].ordinal, 3);
    ck_assert_int_eq(trace->devices[1].kind, IDS_DEVICE_GPU);
    ck_assert_int_eq(trace->devices[6].kind, IDS_DEVICE_CUSTOM); /* no core to average over */
    ids_trace_free(trace);
}
END_TEST

START_TEST(devices_are_in_order) {
    struct ids_trace *trace =
        mini_trace("plane /host:CPU\nline 1 t\n"
                   "0 1 b hlo_op=b hlo_module=m run_id=1 device_ordinal=10\n" /* as threads ran them */
                   "2 1 a hlo_op=a hlo_module=m run_id=1 device_ordinal=9\n"
                   "plane /device:GPU:1\nline 1 \"Stream #1\"\n0 1 d\n"
                   "plane /device:GPU:0\nline 1 \"Stream #1\"\n0 1 c\n");
    static const char *const labels[] = {"GPU:0", "GPU:1", "CPU#9", "CPU#10"};
    static const char *const names[] = {"c", "d", "a", "b"};
    static const uint32_t tracks[] = {2, 1, 0, 0}; /* as the file has them */
    ck_assert_uint_eq(trace->device_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_str_eq(trace->devices[i].label, labels[i]);
        ck_assert_uint_eq(activity(trace, i, names[i])->device, i);
        ck_assert_uint_eq(activity(trace, i, names[i])->track, tracks[i]);
    }
    ck_assert_uint_eq(trace->tracks[0].device, IDS_NONE);
    ck_assert_uint_eq(trace->tracks[1].device, 1);
    ck_assert_uint_eq(trace->tracks[2].device, 0);
    ids_trace_free(trace);
}
END_TEST

START_TEST(clocks_of_hosts_are_brought_together) {
    struct ids_trace *trace = mini_trace("host a start_unix_ns=1700000000000000000\n"
                                         "plane /device:GPU:0\nline 1 \"Stream #1\"\n0 5 ka\n"
                                         "host b start_unix_ns=1700000000000050000\n" /* 50 us later */
                                         "plane /device:GPU:0\nline 1 \"Stream #1\"\n7 5 kb\n"
                                         "host c start_unix_ns=1699999999999999999\n" /* 1 ns earlier */
                                         "plane /device:GPU:0\nline 1 \"Stream #1\"\n7 5 kc\n"
                                         "host d\n" /* no clock: apart, and it begins where the run does */
                                         "plane /device:GPU:0\nline 1 \"Stream #1\"\n7 5 kd\n");
    ck_assert_int_eq(trace->origin_unix_ns, INT64_C(1700000000000000000));
    ck_assert_int_eq(activity(trace, 0, "ka")->start_ps, 0);
    ck_assert_int_eq(activity(trace, 1, "kb")->start_ps, 50000007);
    ck_assert_int_eq(activity(trace, 1, "kb")->end_ps, 50000012);
    ck_assert_int_eq(activity(trace, 2, "kc")->start_ps, -993);
    ck_assert_int_eq(activity(trace, 3, "kd")->start_ps, -993);
    ck_assert_int_eq(trace->hosts[1].shift_ps, 50000000);
    ck_assert_uint_eq(trace->clock_count, 2);
    ids_trace_free(trace);
}
END_TEST

START_TEST(odd_events) {
    struct ids_trace *trace = mini_trace("plane /device:GPU:0\n"
                                         "line 1 \"Stream #1\"\n"
                                         "10 -5 k1\n"
                                         "20 5 k2\n"
                                         "line 2 Steps\n"
                                         "0 50 17\n"
                                         "50 50 step_name step_name=18\n"
                                         "plane /host:CPU\n"
                                         "line 1 t\n"
                                         "0 10 tpu::System::TransferToDevice size=1234\n"
                                         "20 10 tpu::System::TransferFromDevice size=5.37GB\n");
    const struct ids_event *backwards = activity(trace, 0, "k1");
    ck_assert_int_eq(backwards->start_ps, 10);
    ck_assert_int_eq(backwards->end_ps, 10);
    ck_assert_uint_eq(diag_count(trace, "model.negative_duration"), 1);
    ck_assert_uint_eq(trace->devices[0].steps.count, 2);
    ck_assert_int_eq(trace->devices[0].steps.at[0].value, 17);
    ck_assert_int_eq(trace->devices[0].steps.at[1].value, 18);
    const struct ids_event *to = on_host(trace, "tpu::System::TransferToDevice"),
                           *from = on_host(trace, "tpu::System::TransferFromDevice");
    ck_assert_int_eq(to->direction, IDS_H2D);
    ck_assert_int_eq(to->value, 1234);
    ck_assert_int_eq(from->direction, IDS_D2H);
    ck_assert_int_eq(from->value, -1); /* a text is no number of bytes */
    ck_assert_uint_eq(trace->event_count, 6);
    ck_assert_uint_eq(trace->stat_count, 3);
    ids_trace_free(trace);
}
END_TEST

/* ---- what reads a trace (trace.h) ---- */

START_TEST(cursors_and_moments) {
    struct ids_trace *trace = mini_trace("plane /host:CPU\n"
                                         "line 1 t\n"
                                         "0 100 outer _pt=1 _p=1\n"
                                         "10 20 inner _pt=1 _p=2\n"
                                         "10 5 innermost _pt=1 _p=3\n"
                                         "50 10 second _pt=1 _p=4\n");
    const struct ids_track *track = &trace->tracks[0];
    const struct ids_event *at = track->events.at;
    static const struct {
        int64_t when;
        int event; /* -1 none */
    } table[] = {{-1, -1}, {0, 0},  {9, 0},  {10, 2},  {15, 2},   {16, 1},
                 {30, 1},  {31, 0}, {55, 3}, {100, 0}, {101, -1}, {INT64_MAX, -1}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct ids_event *wanted = table[i].event < 0 ? NULL : &at[table[i].event];
        ck_assert_msg(ids_track_at(track, table[i].when) == wanted, "at %lld", (long long)table[i].when);
    }
    struct ids_cursor cursor = ids_cursor_between(&track->events, 10, 50);
    ck_assert_ptr_eq(ids_cursor_next(&cursor), &at[1]);
    ck_assert_ptr_eq(ids_cursor_next(&cursor), &at[2]);
    ck_assert_ptr_null(ids_cursor_next(&cursor));
    cursor = ids_cursor_between(&track->events, 50, 50);
    ck_assert_ptr_null(ids_cursor_next(&cursor));
    cursor = ids_cursor_over(&track->events);
    for (int i = 0; i < 4; i++) ck_assert_ptr_eq(ids_cursor_next(&cursor), &at[i]);
    ck_assert_ptr_null(ids_cursor_next(&cursor));
    ids_trace_free(trace);
}
END_TEST

IDS_RUN_SUITE("join", a_cpu_op_ends_where_its_end_begins, ops_of_a_graph_are_told_or_said_not_to_be,
              correlations_are_links_within_a_host, amd_copies_take_their_direction_from_the_call,
              shapes_of_kernels_are_kept_once, tpu_ops_are_launched_with_their_module, program_ids_are_a_hosts_own,
              tpu_offloading_copies, rule_1_execute_with_the_run_id, rule_2_it_ran_inline, rule_3_by_order,
              rule_3_names_of_functions, rule_4_called_without_a_name, rule_5_what_is_around_or_queued_it,
              causes_lead_from_thread_to_thread, opcodes_tell_the_class, kernels_take_the_class_of_their_op,
              hosts_of_one_name_get_keys_of_their_own, devices_are_in_order, clocks_of_hosts_are_brought_together,
              odd_events, cursors_and_moments)
