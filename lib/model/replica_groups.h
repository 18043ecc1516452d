/* replica_groups.h - which devices run a collective together, as XLA writes it: "{{0,1},{2,3}}", or "[2,4]<=[4,2]T(1,0)": the numbers
 * from 0 laid out as 4 by 2, transposed, and cut into 2 groups of 4. */
#ifndef IDS_LIB_MODEL_REPLICA_GROUPS_H
#define IDS_LIB_MODEL_REPLICA_GROUPS_H

#include "lib/base/intern.h"

#include <stdint.h>

/* How many ranks a group has, in Kineto's list of them too: "{{0,1},{2,3}}" 2, "[0, 1, 2]" 3. 0 where the text does not tell. */
int64_t ids_replica_group_size(struct ids_text groups);
/* How many devices all groups name; 0 where the text does not tell, as "{}" (all) or Kineto's list of ranks. */
uint64_t ids_replica_groups_members(struct ids_text groups);
/* The number of the group that a device is in, from 1; 0 where the text does not tell. */
uint64_t ids_replica_group_of(struct ids_text groups, uint64_t device);

#endif
