/* machine_load.h - how much of the machine other processes used while this one ran, as the history of steps has it:
 * steps are slow where all cores are others'. The cores are the whole machine's (/proc/stat), and what a hypervisor
 * took for others ("steal") is theirs. The program's own child processes are other processes too. */
#ifndef IDS_COLLECTORS_COMMON_MACHINE_LOAD_H
#define IDS_COLLECTORS_COMMON_MACHINE_LOAD_H

#include <stdint.h>

struct ids_machine_load {
    int64_t watched_ns, full_ns; /* by the clock: looked at, and with all cores busy, others having a tenth of them */
    int64_t others_ns;           /* of full_ns, the share of all cores that others had */
    int64_t at_ns, busy, idle, own_ns; /* at the last look: ticks of all cores together; at_ns 0: none yet */
};

/* A look: what was so since the one before. Ticks of `tick_ns` each; own_ns: CPU time of this process. */
void ids_machine_load_add(struct ids_machine_load *load, int64_t now_ns, int64_t busy, int64_t idle, int64_t own_ns,
                          int64_t tick_ns);
/* The first line of /proc/stat: "cpu  12 0 7 ..."; 1, or 0 where it is none. */
int ids_proc_stat_parse(const char *text, int64_t *ret_busy, int64_t *ret_idle);
/* Reads both, and adds; where the system does not tell, nothing. A few system calls: at most some times a second. */
void ids_machine_load_look(struct ids_machine_load *load);

#endif
