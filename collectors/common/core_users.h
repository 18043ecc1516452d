/* core_users.h - who had the machine's cores while stacks were sampled: the process itself, processes that it started,
 * or others. A thread that waits for a core says only that it had none. */
#ifndef IDS_COLLECTORS_COMMON_CORE_USERS_H
#define IDS_COLLECTORS_COMMON_CORE_USERS_H

#include <stddef.h>
#include <stdint.h>

enum { IDS_CORE_USERS = 1024, IDS_CORE_COMMAND = 16 }; /* more processes are not looked at: each costs 15 us */

/* A process, as /proc/PID/stat has it: CPU time in ticks. */
struct ids_core_user {
    int64_t pid, parent, ticks;
    int64_t waited_ticks; /* of processes that it started, that have ended and that it waited for */
    int64_t when_ns;      /* by the clock, when it was looked at */
    char command[IDS_CORE_COMMAND];
};

struct ids_core_users {
    size_t count;
    struct ids_core_user at[IDS_CORE_USERS];
    int64_t busy_ticks, when_ns; /* of all cores together, and when */
    void *folder;                /* while they are being read: the kernel's list */
    int is_read;
};

/* In thousandths of a core, over the time between two looks. */
struct ids_core_shares {
    int64_t cores; /* that there are, in whole; 0: nothing is known */
    int64_t own, started, others;
    int64_t started_count;                                                    /* processes that had a 20th of a core */
    char started_command[IDS_CORE_COMMAND], others_command[IDS_CORE_COMMAND]; /* that had most; "" */
};

/* At most `most` more of them at a call, as ids_other_threads_read. 1 when all are read. */
int ids_core_users_read(struct ids_core_users *users, size_t most);
/* Ends it before that, and forgets them. */
void ids_core_users_forget(struct ids_core_users *users);
/* One line of /proc/PID/stat: 1, or 0 where it is none. */
int ids_core_user_parse(const char *text, struct ids_core_user *ret_user);
/* What each had since `before`, ticks of `tick_ns`; `pid` is the process itself. */
struct ids_core_shares ids_core_users_since(const struct ids_core_users *before, const struct ids_core_users *now,
                                            int64_t pid, int64_t tick_ns);

#endif
