/* groups.h - GROUP BY for analyzers: sums of events under a key. */
#ifndef IDS_LIB_ANALYSIS_GROUPS_H
#define IDS_LIB_ANALYSIS_GROUPS_H

#include "lib/base/keymap.h"
#include "lib/model/trace.h"

struct ids_group {
    uint64_t count;
    uint64_t begun; /* of devices' events: runs of a framework's op that begin with them; 0: they are not told apart */
    int64_t total_ps, self_ps, min_ps, max_ps;
    int64_t value, value_max; /* sum and largest of ids_event.value where it is known (not negative) */
    uint64_t unknown_values;
    size_t number; /* in the order in which they were found, from 0 */
    /* An event of the group, for its names. A copy would be a hundred bytes a name, of which a file may have
     * millions. */
    const struct ids_event *first;
};

struct ids_groups {
    struct ids_keymap map; /* key -> index */
    struct ids_group *at;
    size_t count, room;
    size_t last; /* the number of the group that was added to last */
};

/* Counts the event, which lasts `duration_ps` in the window, under the key (see ids_key_of). Returns 0, or -1 when
 * memory ran out. */
int ids_groups_add(struct ids_groups *groups, uint64_t key, const struct ids_event *event, int64_t duration_ps);
/* The same for a group by its number: a caller that adds millions of events keeps `last`, and makes no key for each. */
void ids_groups_add_to(struct ids_groups *groups, size_t number, const struct ids_event *event, int64_t duration_ps);
/* Orders by total (or self) time, longest first; equal ones by count, then by the order they were found in. The map is
 * void afterwards. */
void ids_groups_sort_by_total(struct ids_groups *groups);
void ids_groups_sort_by_self(struct ids_groups *groups);
void ids_groups_done(struct ids_groups *groups);

#endif
