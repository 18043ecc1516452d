/* lib/model/classify.c: what an op, a kernel or a copy is. Texts are those of real traces where a comment does not
 * say else. */
#include "lib/model/classify.h"
#include "tests/support/suite.h"

#include <string.h>

static struct ids_text text(const char *z) {
    return (struct ids_text){z, (uint32_t)strlen(z)};
}

/* ---- collectives ---- */

START_TEST(collectives_of_opcodes) {
    static const struct {
        const char *opcode;
        enum ids_collective collective;
    } table[] = {
        {"all-reduce", IDS_ALL_REDUCE},
        {"all-reduce-start", IDS_ALL_REDUCE},
        {"all-reduce fusion", IDS_ALL_REDUCE},
        {"all-gather-done", IDS_ALL_GATHER},
        {"reduce-scatter", IDS_REDUCE_SCATTER},
        {"all-to-all", IDS_ALL_TO_ALL},
        {"ragged-all-to-all", IDS_ALL_TO_ALL},
        {"collective-permute-start", IDS_PERMUTE},
        {"collective-broadcast", IDS_BROADCAST},
        {"send", IDS_SEND_RECV},
        {"recv-done", IDS_SEND_RECV},
        {"reduce", IDS_NO_COLLECTIVE},
        {"reduce-window", IDS_NO_COLLECTIVE},
        {"broadcast", IDS_NO_COLLECTIVE},
        {"loop fusion", IDS_NO_COLLECTIVE},
        {"all-re", IDS_NO_COLLECTIVE},
        {"", IDS_NO_COLLECTIVE},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_msg(ids_collective_of_opcode(text(table[i].opcode)) == table[i].collective, "'%s'", table[i].opcode);
    }
}
END_TEST

START_TEST(collectives_of_kernels) {
    static const struct {
        const char *name;
        enum ids_collective collective;
    } table[] = {
        {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", IDS_ALL_REDUCE},
        {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", IDS_ALL_REDUCE},
        {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", IDS_REDUCE_SCATTER}, /* not the "reduce" in it */
        {"ncclDevKernel_AllGather_RING_LL", IDS_ALL_GATHER},
        {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", IDS_SEND_RECV},
        {"ncclDevKernel_Broadcast_RING_LL", IDS_BROADCAST},
        {"ncclDevKernel_AllToAll", IDS_ALL_TO_ALL},
        {"void sglang::cross_device_reduce_1stage<__nv_bfloat16, 8>(...)", IDS_ALL_REDUCE},
        {"one_shot_all_reduce_kernel", IDS_ALL_REDUCE},
        {"multimem_all_gather_kernel", IDS_ALL_GATHER},
        {"nvshmem_alltoall", IDS_ALL_TO_ALL},
        {"void xla::gpu::AllReduceKernelImpl<float>(...)", IDS_ALL_REDUCE},
        {"void reduce_kernel<512, 1>(...)", IDS_NO_COLLECTIVE},
        {"ampere_sgemm_128x64_nn", IDS_NO_COLLECTIVE},
        {"loop_add_all_gather_fusion", IDS_NO_COLLECTIVE}, /* a word of an op's name is no library */
        {"nccl_memset", IDS_NO_COLLECTIVE},
        {"", IDS_NO_COLLECTIVE},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_msg(ids_collective_of_kernel(text(table[i].name)) == table[i].collective, "'%s'", table[i].name);
    }
}
END_TEST

START_TEST(classes_of_ops) {
    static const struct {
        const char *category;
        enum ids_class class;
        int marker;
        enum ids_collective collective;
    } table[] = {
        {"loop fusion", IDS_CLASS_COMPUTE, 0, IDS_NO_COLLECTIVE},
        {"copy", IDS_CLASS_COMPUTE, 0, IDS_NO_COLLECTIVE}, /* inside the device's memory */
        {"copy-start", IDS_CLASS_COPY, 1, IDS_NO_COLLECTIVE},
        {"copy-done", IDS_CLASS_STALL, 1, IDS_NO_COLLECTIVE},
        {"async-start", IDS_CLASS_COMPUTE, 1, IDS_NO_COLLECTIVE},
        {"async-done", IDS_CLASS_STALL, 1, IDS_NO_COLLECTIVE},
        {"all-reduce", IDS_CLASS_COLLECTIVE, 0, IDS_ALL_REDUCE},
        {"all-reduce-start", IDS_CLASS_COLLECTIVE, 1, IDS_ALL_REDUCE},
        {"all-reduce-done", IDS_CLASS_STALL, 1, IDS_ALL_REDUCE},
        {"infeed", IDS_CLASS_COPY, 0, IDS_NO_COLLECTIVE},
        {"outfeed", IDS_CLASS_COPY, 0, IDS_NO_COLLECTIVE},
        {"host send", IDS_CLASS_COPY, 0, IDS_NO_COLLECTIVE},
        {"host recv-done", IDS_CLASS_STALL, 1, IDS_NO_COLLECTIVE},
        {"", IDS_CLASS_COMPUTE, 0, IDS_NO_COLLECTIVE},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct ids_op op = {.class = 9, .collective = 9, .marker = 9, .class_rule = 9};
        ids_op_classify(&op, text(table[i].category), IDS_RULE_CATEGORY);
        ck_assert_msg(op.class == table[i].class && op.marker == table[i].marker &&
                          op.collective == table[i].collective,
                      "'%s'", table[i].category);
        ck_assert_int_eq(op.class_rule, *table[i].category ? IDS_RULE_CATEGORY : IDS_RULE_DEFAULT);
    }
}
END_TEST

/* ---- copies ---- */

START_TEST(copy_start_shapes) {
    static const struct {
        const char *shape;
        enum ids_direction direction;
        int64_t bytes; /* of the destination */
    } table[] = {
        /* (destination, source, context); S(5) is the host's memory */
        {"(f32[5,1024]{1,0:T(8,128)S(5)}, f32[5,1024]{1,0:T(8,128)}, u32[]{:S(2)})", IDS_D2H, 5 * 1024 * 4},
        {"(f32[5,1024]{1,0:T(8,128)}, f32[5,1024]{1,0:T(8,128)S(5)}, u32[]{:S(2)})", IDS_H2D, 5 * 1024 * 4},
        {"%copy-start.7 = (bf16[1280,2097152]{1,0:T(8,128)(2,1)}, bf16[1280,2097152]{1,0:T(8,128)(2,1)S(5)}, "
         "u32[]{:S(2)}) "
         "copy-start(bf16[1280,2097152]{1,0:T(8,128)(2,1)S(5)} %p.1)",
         IDS_H2D, INT64_C(1280) * 2097152 * 2},
        /* neither or both on the host */
        {"(f32[8]{0:T(128)}, f32[8]{0:T(128)S(1)}, u32[])", IDS_NO_DIRECTION, -1},
        {"(f32[8]{0:S(5)}, f32[8]{0:S(5)}, u32[])", IDS_NO_DIRECTION, -1},
        /* S(5) of the context is nobody's */
        {"(f32[8]{0}, f32[8]{0}, u32[]{:S(5)})", IDS_NO_DIRECTION, -1},
        {"(pred[]{:S(5)}, pred[])", IDS_D2H, 1},
        {"(f8e4m3fn[16]{0:S(5)}, f8e4m3fn[16]{0})", IDS_D2H, 16},
        {"(c128[3]{0:S(5)}, c128[3]{0})", IDS_D2H, 48},
        {"(s8[3,0]{1,0:S(5)}, s8[3,0]{1,0})", IDS_D2H, 0},
        /* elements of less than a byte lie without gaps, as in the proto of the program; tokens have no bytes */
        {"(s4[8]{0:S(5)}, s4[8]{0})", IDS_D2H, 4},
        {"(u4[9]{0:S(5)}, u4[9]{0})", IDS_D2H, 5},
        {"(f4e2m1fn[2,3]{1,0:S(5)}, f4e2m1fn[2,3]{1,0})", IDS_D2H, 3},
        {"(token[]{:S(5)}, token[])", IDS_D2H, 0},
        /* a type of the future: a direction, and bytes only of an 8-bit float */
        {"(f8e9m9[8]{0:S(5)}, f8e9m9[8]{0})", IDS_D2H, 8},
        {"(new9[8]{0:S(5)}, new9[8]{0})", IDS_D2H, -1},
        /* more bytes than there are, in one dimension and in a product */
        {"(f32[99999999999999999999]{0:S(5)}, f32[1]{0})", IDS_D2H, -1},
        {"(f32[2147483647,2147483647,2147483647]{0:S(5)}, f32[1]{0})", IDS_D2H, -1},
        {"(f32[99999999999,2]{0:S(5)}, f32[1]{0})", IDS_D2H, -1}, /* unknown stays unknown */
        /* no tuple, or half of one */
        {"", IDS_NO_DIRECTION, -1},
        {"f32[8]{0:S(5)}", IDS_NO_DIRECTION, -1},
        {"f32[8,128]{1,0:T(8,128)S(5)}", IDS_NO_DIRECTION, -1},
        {"(", IDS_NO_DIRECTION, -1},
        {"(f32[8", IDS_NO_DIRECTION, -1},
        {"(f32[8]{0:S(5)}", IDS_NO_DIRECTION, -1},
        {"(f32[8]{0:S(5)}, f32[8", IDS_NO_DIRECTION, -1},
        {"(f32[8]{0:S(5", IDS_NO_DIRECTION, -1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int64_t bytes = 77;
        enum ids_direction direction = ids_copy_start_direction(text(table[i].shape), &bytes);
        ck_assert_msg(direction == table[i].direction, "'%s': %s", table[i].shape, ids_direction_name(direction));
        ck_assert_msg(bytes == table[i].bytes, "'%s': %lld", table[i].shape, (long long)bytes);
    }
    /* the length counts: this one is cut inside the source's layout */
    int64_t bytes;
    static const char whole[] = "(f32[8]{0}, f32[8]{0:S(5)})";
    ck_assert_int_eq(ids_copy_start_direction((struct ids_text){whole, sizeof whole - 1}, &bytes), IDS_H2D);
    ck_assert_int_eq(ids_copy_start_direction((struct ids_text){whole, sizeof whole - 5}, &bytes), IDS_NO_DIRECTION);
}
END_TEST

START_TEST(directions_of_names) {
    static const struct {
        const char *name;
        enum ids_direction direction;
    } table[] = {
        {"MemcpyH2D", IDS_H2D},
        {"MemcpyD2H", IDS_D2H},
        {"MemcpyD2D", IDS_D2D},
        {"MemcpyP2P", IDS_P2P},
        {"MemcpyOther", IDS_NO_DIRECTION},
        {"Memset", IDS_MEMSET},
        {"CopyDeviceToDevice", IDS_D2D},
        {"CopyHostToDevice", IDS_H2D},
        {"CopyDeviceToHost", IDS_D2H},
        {"CopyPeerToPeer", IDS_P2P},
        {"hipMemcpyHtoDAsync", IDS_H2D},
        {"hipMemcpyDtoHAsync", IDS_D2H},
        {"hipMemcpyDtoDAsync", IDS_D2D},
        {"hipMemsetAsync", IDS_MEMSET},
        {"cuMemcpyDtoDAsync_v2", IDS_D2D},
        {"cuMemsetD32Async", IDS_MEMSET},
        {"cudaMemcpyPeerAsync", IDS_P2P},
        {"cudaMemcpyAsync", IDS_NO_DIRECTION},
        {"Memcpy HtoD (Pageable -> Device)", IDS_H2D},
        {"Memcpy HtoH (Host -> Host)", IDS_H2H},
        {"fusion_h2d", IDS_NO_DIRECTION}, /* a kernel's name may say anything */
        {"copy_fusion", IDS_NO_DIRECTION},
        {"", IDS_NO_DIRECTION},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        enum ids_direction direction = ids_direction_of_name(text(table[i].name));
        ck_assert_msg(direction == table[i].direction, "'%s': %s", table[i].name, ids_direction_name(direction));
    }
}
END_TEST

START_TEST(rocclr_kernels) {
    ck_assert_int_eq(ids_rocclr_kernel(text("__amd_rocclr_copyBuffer.kd")), 'c');
    ck_assert_int_eq(ids_rocclr_kernel(text("__amd_rocclr_fillBufferAligned.kd")), 's');
    ck_assert_int_eq(ids_rocclr_kernel(text("__amd_rocclr_")), 0);
    ck_assert_int_eq(ids_rocclr_kernel(text("Cijk_Ailk_Bljk")), 0);
}
END_TEST

/* ---- details ---- */

START_TEST(copy_details) {
    static const struct {
        const char *details;
        int64_t bytes;
        int asynchronous, pinned;
    } table[] = {
        {"size:112 dest:4 async:0", 112, 0, 2},
        {"kind_src:pinned kind_dst:device size:4096 dest:1 async:1", 4096, 1, 1},
        {"kind_src:device kind_dst:pinned size:4096 dest:1 async:1", 4096, 1, 1},
        {"kind_src:pageable kind_dst:device size:8 dest:0 async:0", 8, 0, 0},
        {"kind_src:device kind_dst:device size:8 dest:0 async:1", 8, 1, 2},
        {"kind:Unknown size:0 dest:512 async:1", -1, 1, 2}, /* AMD knows no size */
        {"num_bytes:64", 64, 2, 2},                         /* memset_details */
        {"kind:device num_bytes:1 async:1", 1, 1, 2},
        {"size:9223372036854775807", -1, 2, 2}, /* nobody copies that much; longer ones would wrap */
        {"size:99999999999999999999999", -1, 2, 2},
        {"size: async:", -1, 2, 2},
        {"resize:5 size", -1, 2, 2},
        {"", -1, 2, 2},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct ids_event event = {.value = 77, .asynchronous = 7, .pinned = 2};
        ids_copy_details(text(table[i].details), &event);
        ck_assert_msg(event.value == table[i].bytes && event.asynchronous == table[i].asynchronous &&
                          event.pinned == table[i].pinned,
                      "'%s': %lld bytes, async %d, pinned %d", table[i].details, (long long)event.value,
                      event.asynchronous, event.pinned);
    }
}
END_TEST

static void check_shape(const char *details, const struct ids_shape *wanted) {
    struct ids_shape shape;
    memset(&shape, 0x55, sizeof shape);
    ids_kernel_details(text(details), &shape);
    ck_assert_msg(shape.registers == wanted->registers, "'%s': registers %lld", details, (long long)shape.registers);
    ck_assert_int_eq(shape.static_shared_bytes, wanted->static_shared_bytes);
    ck_assert_int_eq(shape.dynamic_shared_bytes, wanted->dynamic_shared_bytes);
    for (int i = 0; i < 3; i++) {
        ck_assert_msg(shape.grid[i] == wanted->grid[i], "'%s': grid[%d] %lld", details, i, (long long)shape.grid[i]);
        ck_assert_msg(shape.block[i] == wanted->block[i], "'%s': block[%d] %lld", details, i,
                      (long long)shape.block[i]);
    }
    ck_assert_double_eq_tol(shape.occupancy, wanted->occupancy, 1e-12);
    ck_assert_uint_eq(shape.groups, wanted->groups);
    ck_assert_int_eq(shape.group_size, wanted->group_size);
}

START_TEST(kernel_details) {
    check_shape("regs:38 shm:16 grid:160,1,1 block:1024,2,3", &(struct ids_shape){.registers = 38,
                                                                                  .static_shared_bytes = 16,
                                                                                  .dynamic_shared_bytes = -1,
                                                                                  .grid = {160, 1, 1},
                                                                                  .block = {1024, 2, 3},
                                                                                  .occupancy = -1});
    check_shape("regs:12 static_shared:0 dynamic_shared:49152 grid:4,5,6 block:128,1,1 occ_pct:100",
                &(struct ids_shape){.registers = 12,
                                    .static_shared_bytes = 0,
                                    .dynamic_shared_bytes = 49152,
                                    .grid = {4, 5, 6},
                                    .block = {128, 1, 1},
                                    .occupancy = 1});
    check_shape("regs:255 static_shared:8 dynamic_shared:0 grid:1,1,1 block:64,1,1 occ_pct:62.5",
                &(struct ids_shape){.registers = 255,
                                    .static_shared_bytes = 8,
                                    .dynamic_shared_bytes = 0,
                                    .grid = {1, 1, 1},
                                    .block = {64, 1, 1},
                                    .occupancy = 0.625});
    /* AMD: a space first, its own words for shared memory, and no occupancy */
    check_shape(" grid:1,1,1 block:512,1,1 private_mem:0 group_mem:24 occ_pct:0",
                &(struct ids_shape){.registers = -1,
                                    .static_shared_bytes = 24,
                                    .dynamic_shared_bytes = -1,
                                    .grid = {1, 1, 1},
                                    .block = {512, 1, 1},
                                    .occupancy = -1});
    check_shape("", &(struct ids_shape){.registers = -1,
                                        .static_shared_bytes = -1,
                                        .dynamic_shared_bytes = -1,
                                        .grid = {-1, -1, -1},
                                        .block = {-1, -1, -1},
                                        .occupancy = -1});
}
END_TEST

START_TEST(kernel_details_that_are_garbage) {
    /* V100 host copies, MI300 conv: memory that nobody wrote */
    check_shape("regs:17179869185 static_shared:5 dynamic_shared:7 grid:1,1,1 block:139910371608800,96",
                &(struct ids_shape){.registers = -1,
                                    .static_shared_bytes = -1,
                                    .dynamic_shared_bytes = -1,
                                    .grid = {1, 1, 1},
                                    .block = {-1, 96, -1},
                                    .occupancy = -1});
    check_shape("regs:2191500840 static_shared:32462 grid:0,1,1 block:1,1,1",
                &(struct ids_shape){.registers = -1,
                                    .static_shared_bytes = -1,
                                    .dynamic_shared_bytes = -1,
                                    .grid = {-1, 1, 1},
                                    .block = {1, 1, 1},
                                    .occupancy = -1});
    check_shape("regs:1025 shm:1", &(struct ids_shape){.registers = -1,
                                                       .static_shared_bytes = -1,
                                                       .dynamic_shared_bytes = -1,
                                                       .grid = {-1, -1, -1},
                                                       .block = {-1, -1, -1},
                                                       .occupancy = -1});
    check_shape("regs:1024 shm:1", &(struct ids_shape){.registers = 1024,
                                                       .static_shared_bytes = 1,
                                                       .dynamic_shared_bytes = -1,
                                                       .grid = {-1, -1, -1},
                                                       .block = {-1, -1, -1},
                                                       .occupancy = -1});
    check_shape("regs:0", &(struct ids_shape){.registers = -1,
                                              .static_shared_bytes = -1,
                                              .dynamic_shared_bytes = -1,
                                              .grid = {-1, -1, -1},
                                              .block = {-1, -1, -1},
                                              .occupancy = -1});
    check_shape("xregs:5 occ_pct:101 grid:2147483648,,3", &(struct ids_shape){.registers = -1,
                                                                              .static_shared_bytes = -1,
                                                                              .dynamic_shared_bytes = -1,
                                                                              .grid = {-1, -1, 3},
                                                                              .block = {-1, -1, -1},
                                                                              .occupancy = -1});
    check_shape("occ_pct:nan grid:-1,2", &(struct ids_shape){.registers = -1,
                                                             .static_shared_bytes = -1,
                                                             .dynamic_shared_bytes = -1,
                                                             .grid = {-1, -1, -1},
                                                             .block = {-1, -1, -1},
                                                             .occupancy = -1});
}
END_TEST

START_TEST(names_for_people) {
    ck_assert_str_eq(ids_class_name(IDS_CLASS_STALL), "stalled");
    ck_assert_str_eq(ids_class_name(IDS_CLASS_COUNT), "unknown");
    ck_assert_str_eq(ids_direction_name(IDS_D2H), "D2H");
    ck_assert_str_eq(ids_direction_name(IDS_H2H), "H2H");
    ck_assert_str_eq(ids_direction_name(IDS_NO_DIRECTION), "unknown");
    ck_assert_str_eq(ids_collective_name(IDS_BROADCAST), "broadcast");
    ck_assert_str_eq(ids_collective_name(IDS_COLLECTIVE_COUNT), "unknown");
    ck_assert_str_eq(ids_class_rule_name(IDS_RULE_OPCODE), "HLO opcode");
    ck_assert_str_eq(ids_class_rule_name((enum ids_class_rule)99), "unknown");
}
END_TEST

IDS_RUN_SUITE("classify", collectives_of_opcodes, collectives_of_kernels, classes_of_ops, copy_start_shapes,
              directions_of_names, rocclr_kernels, copy_details, kernel_details, kernel_details_that_are_garbage,
              names_for_people)
