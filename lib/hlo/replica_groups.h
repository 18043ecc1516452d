/* replica_groups.h - which devices run a collective together, as XLA writes it: "{{0,1},{2,3}}", or
 * "[2,4]<=[4,2]T(1,0)": the numbers from 0 laid out as 4 by 2, transposed, and cut into 2 groups of 4. */
#ifndef IDS_LIB_HLO_REPLICA_GROUPS_H
#define IDS_LIB_HLO_REPLICA_GROUPS_H

#include "lib/base/intern.h"

#include <stddef.h>
#include <stdint.h>

/* How many ranks a group has, in Kineto's list of them too: "{{0,1},{2,3}}" 2, "[0, 1, 2]" 3. 0 where the text does
 * not tell. */
int64_t ids_replica_group_size(struct ids_text groups);
/* How many devices all groups name; 0 where the text does not tell, as "{}" (all) or Kineto's list of ranks. */
uint64_t ids_replica_groups_members(struct ids_text groups);
/* The number of the group that a device is in, from 1; 0 where the text does not tell. */
uint64_t ids_replica_group_of(struct ids_text groups, uint64_t device);

/* Writes that text, from what the file has as numbers. What does not fit is cut, and the text then ends in "...". */
struct ids_group_text {
    char *at; /* IDS_GROUP_TEXT_BYTES of the caller's */
    size_t length;
};
enum { IDS_GROUP_TEXT_BYTES = 64 << 10 }; /* 10,000 devices */

void ids_group_text_add(struct ids_group_text *text, const int64_t *ranks, size_t count);
/* "[4,2]<=[2,4]T(1,0)": 4 groups of 2. `order` may be empty, or in order, and is then not written. */
void ids_group_text_set_iota(struct ids_group_text *text, int64_t groups, int64_t members, const int64_t *extent,
                             size_t extent_count, const int32_t *order, size_t order_count);
/* The whole text, in text->at; empty when nothing was added. */
struct ids_text ids_group_text_end(struct ids_group_text *text);

#endif
