/* cause_groups.h - which entries of two ledgers are one cause. Each of these puts entries together, in this order. All
 * return 0, or -1 when memory ran out. */
#ifndef IDS_LIB_COMPARE_CAUSE_GROUPS_H
#define IDS_LIB_COMPARE_CAUSE_GROUPS_H

#include "lib/compare/cause_entries.h"

/* Takes what all ops became slower or faster by out of them, so that what is left of each is its own. */
int ids_group_even(struct ids_entries *entries);
/* All ops of a program that one side alone has; and where the other side runs them op by op, those and what else is the
 * time of either's programs. */
int ids_group_programs(struct ids_entries *entries);
/* Where the shapes of a program changed alike (a batch, a type of elements), all that computes something else. */
int ids_group_shapes(struct ids_entries *entries);
/* What one dimension of the model changed, and ops of one scope that came, went or compute something else: an
 * instruction that became three is no four causes. */
int ids_group_structure(struct ids_entries *entries);
/* What one function of the program launches, of several programs of which none is most of it. */
int ids_group_launches(struct ids_entries *entries);
/* One op that stands in several layers, of which none is most of it. */
int ids_group_layers(struct ids_entries *entries);
/* Where a callback is new, or gone, and others waited for the core that it held: for how long. */
int ids_find_hidden(struct ids_entries *entries);
/* Where the Python tracer recorded one side alone, all time of an account of the host but that of
 * compilation. */
int ids_group_host(struct ids_entries *entries);
/* What the samples of stacks say of functions, as their causes' `note`, of changes of that time or more. */
int ids_explain_host(struct ids_entries *entries, double least_ps);
/* What is too small to be told alone: in each account one cause. Where nothing larger is beyond chance, the surest
 * small ones are told nevertheless. Says of each entry whether it is told. */
int ids_group_small(struct ids_entries *entries, double least_ps);

#endif
