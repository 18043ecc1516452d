#include "lib/analysis/op_costs.h"

#include <stdlib.h>

/* An execution shorter than 20 us that takes three times as long as its roofline is mostly beginning and end. */
#define SHORT_TIME 20e-6
enum { FAR_ABOVE = 3, OUT_OF_SIGHT = 10 };

const char *ids_bound_name(enum ids_bound bound) {
    static const char *const names[] = {"unknown", "compute", "memory", "latency", "neither", "communication"};
    return names[bound];
}

enum ids_bound ids_bound_of(const struct ids_op_cost *cost, int is_communication) {
    if (is_communication) return IDS_BOUND_COMMUNICATION;
    if (!cost->has_roof || !cost->runs) return IDS_BOUND_UNKNOWN;
    if (cost->self_time < SHORT_TIME * (double)(cost->runs - cost->untimed.runs) &&
        cost->self_time > FAR_ABOVE * cost->roof_time)
        return IDS_BOUND_LATENCY;
    if (cost->flops_time <= 0 && cost->bytes_time <= 0) return IDS_BOUND_UNKNOWN;
    if (cost->judged_time > OUT_OF_SIGHT * cost->roof_time) return IDS_BOUND_NEITHER;
    return cost->flops_time > cost->bytes_time ? IDS_BOUND_COMPUTE : IDS_BOUND_MEMORY;
}

void ids_op_cost_add(struct ids_op_cost *to, const struct ids_op_cost *more) {
    to->runs += more->runs;
    to->flops += more->flops;
    to->bytes += more->bytes;
    to->flops_time += more->flops_time;
    to->bytes_time += more->bytes_time;
    to->copied_bytes += more->copied_bytes;
    to->copied_time += more->copied_time;
    to->untimed.runs += more->untimed.runs;
    to->untimed.flops += more->untimed.flops;
    to->untimed.bytes += more->untimed.bytes;
    to->untimed.flops_time += more->untimed.flops_time;
    to->untimed.bytes_time += more->untimed.bytes_time;
    to->roof_time += more->roof_time;
    to->lost_time += more->lost_time;
    to->self_time += more->self_time;
    to->flops_self += more->flops_self;
    to->bytes_self += more->bytes_self;
    to->judged_time += more->judged_time;
    to->memory_time += more->memory_time;
    to->memory_roof += more->memory_roof;
    to->model_flops += more->model_flops;
    to->model_time += more->model_time;
    to->has_flops |= more->has_flops;
    to->has_bytes |= more->has_bytes;
    to->has_roof |= more->has_roof;
    to->has_copies |= more->has_copies;
}

enum ids_multiplier ids_multiplier_at(const struct ids_op *op, const struct ids_peaks *peaks, double flop_rate) {
    enum ids_multiplier wider = ids_multiplier_of(op->element);
    int is_too_fast = op->narrower && peaks->flops[wider] > 0 && flop_rate > peaks->flops[wider];
    return is_too_fast ? ids_multiplier_of(op->narrower) : wider;
}

void ids_op_costs_done(struct ids_op_costs *costs) {
    free(costs->of_op);
    free(costs->of_device);
    free(costs->in_steps);
    *costs = (struct ids_op_costs){0};
}
