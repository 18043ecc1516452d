/* gone_ids.h - ids of metrics that are gone, and what replaces them: budgets, baselines and scripts outlive a
 * version. */
#ifndef IDS_LIB_REPORT_GONE_IDS_H
#define IDS_LIB_REPORT_GONE_IDS_H

/* The ids that replace a gone one, for a sentence: "steps.comm.transfer and steps.comm.wait"; NULL for an id that
 * was never gone. */
const char *ids_gone_id_replacement(const char *id);
/* Whether `id` is one of those that replace the gone one. */
int ids_gone_id_is_replaced_by(const char *gone, const char *id);
/* All of them in the order of the alphabet, without the shares of idle causes; NULL behind the last one. */
const char *ids_gone_id(int number);

#endif
