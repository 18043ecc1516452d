#include "analyzers/waste_advice.h"

#include "lib/base/saturate.h"
#include "lib/model/waste.h"

#include <string.h>

/* What idsprof may not say: that a copy could be left out. It says where it comes from, and what mostly helps. */
#define SAVE_MORE                                                                                                \
    "where memory allows, keep more: jax.checkpoint with policy=jax.checkpoint_policies.dots_saveable, or only " \
    "around the layers that need it"
#define FUSED_ATTENTION                                                                                         \
    "use a fused kernel: jax.nn.dot_product_attention(implementation='cudnn'), or a flash attention of Pallas", \
        "use torch.nn.functional.scaled_dot_product_attention, which is one kernel"
#define GATHER_LESS                                                                                        \
    "let each device take its own part before the collective: give arrays their shardings (in_shardings, " \
    "with_sharding_constraint), so that XLA exchanges the slice alone"

#define LEAVE_DOUBLE                                                                                               \
    "where float64 is not needed, make that array or number float32 (dtype=jnp.float32: NumPy's are float64), or " \
    "leave jax_enable_x64 off",                                                                                    \
        "where float64 is not needed, make that tensor float32 (dtype=torch.float32: those of NumPy are float64)"

enum { ACCELERATORS = 1 << IDS_DEVICE_GPU | 1 << IDS_DEVICE_TPU, ALL = -1 };

/* "f32[8] -> c64[8], of ...": into complex numbers. */
static int becomes_complex(const char *why) {
    const char *to = strstr(why, " -> c");
    return to && (!strncmp(to, " -> c64[", 8) || !strncmp(to, " -> c128[", 9));
}

/* "f32[8] -> f64[8], of ...": the wide type is the fault, and not what is converted to it. */
static int becomes_double(const char *why) {
    return strstr(why, " -> f64[") != NULL;
}

/* "f32[8,8]{1,0} -> f32[8,8]{1,0}, of ...": the same on either side. */
static int stays_as_it_is(const char *why) {
    const char *to = strstr(why, " -> ");
    size_t length = to ? (size_t)(to - why) : 0;
    return length && !strncmp(why, to + 4, length) && (to[4 + length] == ',' || !to[4 + length]);
}

/* "..., of argument x, as the program's result": it comes out as it went in. */
static int is_returned(const char *why) {
    return stays_as_it_is(why) && strstr(why, ", of argument ") && strstr(why, ", as the program's result");
}

static const struct sentence {
    enum ids_waste waste;
    int platforms;                 /* bits of enum ids_device_kind */
    int (*holds)(const char *why); /* NULL: always */
    const char *problem;
    const char *remedy[2]; /* of JAX and the others, of PyTorch; NULL: as for JAX */
} sentences[IDS_WASTE_SENTENCES] = {
    {IDS_WASTE_RECOMPUTED,
     ALL,
     NULL,
     "The forward pass is computed again for the backward pass",
     {SAVE_MORE, "where memory allows, checkpoint fewer modules, or give torch.utils.checkpoint a policy that keeps "
                 "matrix products"}},
    {IDS_WASTE_REPEATED,
     ALL,
     NULL,
     "The program computes the same twice",
     {"compute it once and use the result; look for two calls with the same arguments, and for optimization_barrier "
      "between them",
      NULL}},
    {IDS_WASTE_CONSTANT,
     ALL,
     NULL,
     "The program computes in each call what never changes",
     {"compute it once, outside jax.jit, and pass it as an argument: masks, tables of positions, random numbers of a "
      "fixed key",
      "compute it once, in the module's __init__ (register_buffer)"}},
    {IDS_WASTE_INVARIANT,
     ALL,
     NULL,
     "A loop computes in each round what it does not change",
     {"compute it before the loop and use the result in it (scan, fori_loop), where memory allows: XLA leaves in the "
      "loop what would be larger outside, and layouts that it chose later",
      NULL}},
    {IDS_WASTE_REPLICATED,
     ALL,
     NULL,
     "A collective exchanges what every device has already",
     {"leave it out: under shard_map the gradient of a replicated argument is summed already, and what psum and "
      "all_gather returned is everywhere",
      NULL}},
    {IDS_WASTE_GATHERED,
     ALL,
     NULL,
     "An all-gather brings whole arrays of which each device uses a slice",
     {GATHER_LESS, NULL}},
    {IDS_WASTE_REDUCED,
     ALL,
     NULL,
     "An all-reduce sums whole arrays of which each device uses a slice",
     {"use psum_scatter under shard_map, which has half the traffic; on a GPU and a TPU XLA does so itself where the "
      "result has the sharding of its slice (out_shardings, with_sharding_constraint)",
      "use reduce_scatter_tensor (FSDP does)"}},
    {IDS_WASTE_LAYOUT,
     ALL,
     is_returned,
     "Arguments are copied as they are, because a program returns them",
     {"leave them out of its results, or donate them; jnp.array and jnp.copy are such programs, and jnp.asarray copies "
      "no array that is one already",
      NULL}},
    {IDS_WASTE_LAYOUT,
     ALL,
     stays_as_it_is,
     "Arrays are copied as they are",
     {"a value is still needed when its memory is overwritten, as that of a donated argument or of what a loop "
      "carries: read it before what replaces it is made",
      "leave out clone(), and write in place where nobody else reads the tensor"}},
    {IDS_WASTE_LAYOUT,
     ALL,
     NULL,
     "Arrays are only copied or transposed",
     {"keep one layout: let einsum contract the dimensions where they are instead of transposing, keep parameters and "
      "batches in the layout that their product wants",
      "keep one memory format (around convolutions channels_last), and leave out contiguous() and clone() where views "
      "do"}},
    {IDS_WASTE_CONVERT,
     ALL,
     becomes_complex,
     "Real arrays are converted to complex numbers",
     {"transform them as real numbers (jnp.fft.rfft and irfft), which computes and moves half as much",
      "transform them as real numbers (torch.fft.rfft and irfft), which computes and moves half as much"}},
    {IDS_WASTE_CONVERT, ALL, becomes_double, "Arrays are converted to float64", {LEAVE_DOUBLE}},
    {IDS_WASTE_CONVERT,
     ALL,
     NULL,
     "Arrays are only converted to another dtype",
     {"keep one dtype along the path: store parameters and caches in the dtype of the products, and convert inside "
      "what is fused",
      "where a parameter is converted, store it in the dtype of autocast; where an activation is, let the op that "
      "takes "
      "it convert it (a fused one, or torch.compile)"}},
    {IDS_WASTE_PAD,
     ALL,
     NULL,
     "Arrays are only padded",
     {"choose sizes that need no padding (multiples of 128 for products on a TPU, of 8 on a GPU), or pad once ahead of "
      "the loop",
      NULL}},
    {IDS_WASTE_WIDE, ALL, NULL, "The program computes in float64 beside narrower arguments", {LEAVE_DOUBLE}},
    {IDS_WASTE_ATTENTION, ACCELERATORS, NULL, "Attention writes its scores to memory", {FUSED_ATTENTION}},
    {IDS_WASTE_TRANSPOSED,
     1 << IDS_DEVICE_CPU,
     NULL,
     "Arrays are transposed on the way to what is computed",
     {"let both operands have the same order of dimensions: einsum contracts them where they are, and a transpose of "
      "what is transposed later again can be left out; this CPU reads or writes such an array element by element",
      "keep one memory format, so that both operands have the same order of dimensions"}},
    {IDS_WASTE_SERIAL,
     ALL,
     NULL,
     "Asynchronous copies or collectives are waited for as soon as they begin",
     {"put work between: let XLA schedule for latency (--xla_tpu_enable_latency_hiding_scheduler=true, "
      "--xla_gpu_enable_latency_hiding_scheduler=true), and prefetch one layer ahead",
      NULL}},
};

/* Whether that is true of a row of the kind. */
static int fits(const struct sentence *of, enum ids_waste waste, const char *why) {
    return of->waste == waste && (!of->holds || (why && of->holds(why)));
}

struct ids_remedy ids_waste_remedy(enum ids_waste waste, const char *why, enum ids_framework framework,
                                   enum ids_device_kind platform) {
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
        const struct sentence *of = &sentences[i];
        if (!(of->platforms & 1 << platform) || !fits(of, waste, why)) continue;
        const char *own = framework == IDS_PYTORCH ? of->remedy[1] : NULL;
        return (struct ids_remedy){of->problem, own ? own : of->remedy[0]};
    }
    return (struct ids_remedy){0};
}

static enum ids_waste waste_of(const char *name) {
    for (int w = 1; w < IDS_WASTE_COUNT; w++) {
        if (!strcmp(ids_waste_name((enum ids_waste)w), name)) return (enum ids_waste)w;
    }
    return IDS_NO_WASTE;
}

static const char *text_at(const struct ids_table *table, size_t row, const char *column) {
    const struct ids_value *cell = ids_table_cell(table, row, ids_table_column(table, column));
    return cell->missing ? NULL : cell->text;
}

/* What moves next to nothing: nothing could be saved by moving less. */
static int moves_little(enum ids_waste waste, const struct ids_value *bytes) {
    int moves = waste == IDS_WASTE_LAYOUT || waste == IDS_WASTE_CONVERT || waste == IDS_WASTE_PAD;
    return moves && !bytes->missing && bytes->i < IDS_MOVES_LITTLE;
}

/* NULL: there is none. */
static struct ids_waste_sum *sum_of(struct ids_waste_sum sums[IDS_WASTE_SENTENCES], enum ids_waste waste,
                                    const char *why) {
    for (int s = 0; s < IDS_WASTE_SENTENCES; s++) {
        if (fits(&sentences[s], waste, why)) return &sums[s];
    }
    return NULL;
}

void ids_waste_sums(const struct ids_report *report, struct ids_waste_sum sums[IDS_WASTE_SENTENCES]) {
    const struct ids_table *table = ids_report_find_table(report, "waste");
    memset(sums, 0, IDS_WASTE_SENTENCES * sizeof *sums);
    for (int s = 0; s < IDS_WASTE_SENTENCES; s++) sums[s].waste = sentences[s].waste;
    if (!table || !table->row_count) return;
    int64_t most_ps[IDS_WASTE_SENTENCES] = {0};
    int share = ids_table_column(table, "share"), step = ids_table_column(table, "per_step"),
        saving = ids_table_column(table, "saving"), count = ids_table_column(table, "count"),
        bytes = ids_table_column(table, "bytes");
    for (size_t row = 0; row < table->row_count; row++) {
        const char *why = text_at(table, row, "why");
        enum ids_waste waste = waste_of(text_at(table, row, "waste"));
        struct ids_waste_sum *sum = sum_of(sums, waste, why);
        if (!sum || moves_little(waste, ids_table_cell(table, row, bytes))) continue;
        int64_t step_ps = ids_table_cell(table, row, step)->i;
        if (!sum->rows++ || step_ps > most_ps[sum - sums]) { /* rows are in the order of what all the window has */
            most_ps[sum - sums] = step_ps;
            sum->op = text_at(table, row, "op");
            sum->where = text_at(table, row, "where");
            sum->why = why;
        }
        sum->share += ids_table_cell(table, row, share)->d;
        sum->count += ids_table_cell(table, row, count)->i;
        ids_sum(&sum->step_ps, step_ps);
        const struct ids_value *saves = ids_table_cell(table, row, saving);
        if (!saves->missing) ids_sum(&sum->saving_ps, saves->i);
    }
}
