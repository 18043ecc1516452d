/* roofline_advice.h - what bounds the layers that have the time, and what ops lose above their roofline, in words. */
#ifndef IDS_ANALYZERS_ROOFLINE_ADVICE_H
#define IDS_ANALYZERS_ROOFLINE_ADVICE_H

#include "lib/report/report.h"

/* "39.9 % _jax_attn_func (attention, 64 alike): its cost is not known; 20.6 % MergedColumnParallelLinear (MLP, 64
 * alike): 1.27 PFLOP/s, 640 GB/s of memory": the layers among which the time parts, out of the report's table. NULL:
 * there are none, or nothing is known of any of them. */
const char *ids_layers_in_words(struct ids_report *report);
/* "block_7 (71.4 %, each of the 11 like it 2.6 %)": the one of repeated layers that alone has half of the compute or
 * more; NULL: there is none. */
const char *ids_outlier_in_words(struct ids_report *report);

/* In the report's memory; `what` is NULL where little is lost, or not known. */
struct ids_roofline_advice {
    const char *what, *evidence, *op; /* op: that loses most, as its row is called */
};
struct ids_roofline_advice ids_loss_advice(struct ids_report *report);

#endif
