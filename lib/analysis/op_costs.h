/* op_costs.h - what the ops of a run computed and moved, in which time, and how that compares with what the device can
 * do (its roofline): the larger of the times that the operations alone and the bytes alone would take at the peaks.
 *
 * An op counts as often as it ran: on a GPU, where one run of an op may be several kernels, as often as the kernel that
 * has most of its time. Helpers beside it, which clear or convert something, may be launched more often. Where one runs
 * half as often, or a third, as long as the program does, a run launches its main kernel twice, or three times. Loops
 * and calls have no cost of their own, because the ops inside them have it. What begins or awaits an asynchronous copy
 * has none either, for the bytes do not move in its own time; of a device they are counted apart.
 *
 * Where ops of a device run beside each other, an op loses of its time beyond the roofline the share that the device
 * has of its time: together they lose no more than the device has.
 *
 * TPU files have executions of no duration, whose time was lost. They count in what a device computed and moved, and in
 * no rate: an op that needs a microsecond at its roofline cannot run in none.
 */
#ifndef IDS_LIB_ANALYSIS_OP_COSTS_H
#define IDS_LIB_ANALYSIS_OP_COSTS_H

#include "lib/analysis/peaks.h"

enum ids_bound {
    IDS_BOUND_UNKNOWN,
    IDS_BOUND_COMPUTE,
    IDS_BOUND_MEMORY,
    IDS_BOUND_LATENCY, /* short executions, far above both */
    IDS_BOUND_NEITHER, /* below a tenth of both: something else takes the time */
    IDS_BOUND_COMMUNICATION,
};
const char *ids_bound_name(enum ids_bound bound);

/* Sums over executions; times are seconds, of one device after the other. */
struct ids_op_cost {
    uint64_t runs;
    double flops, bytes;              /* bytes of the main memory */
    double flops_time, bytes_time;    /* of each alone at the peak; 0 where no peak is known */
    double copied_bytes, copied_time; /* of asynchronous copies, in no other figure; what they alone take */
    struct ids_untimed_cost {
        uint64_t runs;
        double flops, bytes, flops_time, bytes_time;
    } untimed;                       /* of these, the share of executions whose time was lost */
    double roof_time;                /* Σ of the larger one of each op, of executions that have a time */
    double lost_time;                /* of the ops that compute, what the device could be rid of at it */
    double self_time;                /* of ops that have any of these figures */
    double flops_self, bytes_self;   /* of those whose operations are known, whose bytes are */
    double judged_time;              /* of those that have a roofline */
    double memory_time, memory_roof; /* of those that memory bounds; what their bytes alone take */
    double model_flops, model_time;  /* of products and convolutions, without what is computed again; at the peak */
    uint8_t has_flops, has_bytes, has_roof, has_copies;
};

struct ids_op_costs {
    struct ids_op_cost *of_op;     /* by trace->ops; NULL: no op has any figure */
    struct ids_op_cost *of_device; /* by analysis->busy */
    struct ids_model_cost {
        double flops, time;
    } * in_steps; /* by analysis->busy: of the model, in steps */
};

void ids_op_costs_done(struct ids_op_costs *costs);

/* The units that computed an op at so many operations a second. A kernel that multiplies two types, faster than the
 * device can the wider one, does it in the narrower one. view op_costs does the same. */
enum ids_multiplier ids_multiplier_at(const struct ids_op *op, const struct ids_peaks *peaks, double flop_rate);

void ids_op_cost_add(struct ids_op_cost *to, const struct ids_op_cost *more);
/* By what executions of `mean_time` seconds are bound. `is_communication`: they exchange data between devices, or with
 * the host. Where no peak is known, nothing is known. */
enum ids_bound ids_bound_of(const struct ids_op_cost *cost, int is_communication);

#endif
