/* group_witness.h - whether a signal was sent to our whole process group, or to us alone. The system does not say: who
 * gets it is told who sent it, not to whom else. So a process of our own stands in the group beside the program and
 * does nothing but note what comes: what it got too, the program has got, and who passes it on sends it twice.
 */
#ifndef IDS_LIB_CAPTURE_GROUP_WITNESS_H
#define IDS_LIB_CAPTURE_GROUP_WITNESS_H

#include <sys/types.h>

struct ids_group_witness {
    pid_t pid;
    int ask, answer; /* of the pipes to and from it */
};

/* Starts it, with no file of ours but its pipes; it ends when we do. 0, or -1: then pid is 0, and nothing is ever known
 * to have come. Our signals must be blocked. */
int ids_group_witness_start(struct ids_group_witness *witness);
/* Whether the signal, which we got just now, came to the group. Waits some milliseconds for one that is on its way.
 * From a signal's handler, too. */
int ids_group_witness_saw(const struct ids_group_witness *witness, int number);
void ids_group_witness_end(struct ids_group_witness *witness);

#endif
