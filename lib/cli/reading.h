/* reading.h - options of all commands that read runs: what somebody else's file may cost.
 *
 * They are rows of each command's table, but their values are the process's, since every reader below is bound by them.
 */
#ifndef IDS_LIB_CLI_READING_H
#define IDS_LIB_CLI_READING_H

#include <stddef.h>
#include <stdint.h>

struct ids_reading {
    int64_t max_unpacked; /* bytes; 0: as unpack_limit.h has it */
    int64_t timeout_ps;   /* of SQL; 0: none */
    int64_t max_memory;   /* of SQL, bytes; 0: any */
    int64_t jobs;         /* threads that read; 0: as many as may run */
};
extern struct ids_reading ids_reading;

/* Rows of a table of opt.h. */
#define IDS_OPT_MAX_UNPACKED                                                                          \
    {                                                                                                 \
        IDS_OPT_SIZE, 0, "max-unpacked", "SIZE", "let a packed file unpack to this much, such as 8G", \
            IDS_OPT_SHARED | offsetof(struct ids_reading, max_unpacked), NULL                         \
    }
#define IDS_OPT_TIMEOUT                                                                                        \
    {                                                                                                          \
        IDS_OPT_TIME, 0, "timeout", "TIME", "stop SQL on a database after this much CPU time (60s; 0: never)", \
            IDS_OPT_SHARED | offsetof(struct ids_reading, timeout_ps), NULL                                    \
    }
#define IDS_OPT_MAX_MEMORY                                                                            \
    {                                                                                                 \
        IDS_OPT_SIZE, 0, "max-memory", "SIZE", "memory that SQL on a database may take (2G; 0: any)", \
            IDS_OPT_SHARED | offsetof(struct ids_reading, max_memory), NULL                           \
    }
#define IDS_OPT_JOBS                                                                     \
    {                                                                                    \
        IDS_OPT_COUNT, 0, "jobs", "N", "threads that read (0: as many as may run here)", \
            IDS_OPT_SHARED | offsetof(struct ids_reading, jobs), NULL                    \
    }
#define IDS_READING_OPTIONS IDS_OPT_MAX_UNPACKED, IDS_OPT_TIMEOUT, IDS_OPT_MAX_MEMORY, IDS_OPT_JOBS

/* Once, after the options were parsed. */
void ids_reading_apply(void);

/* Around SQL that others wrote. The library stops a statement between two of its steps; one that hangs inside a step
 * (LIKE with many wildcards) ends the program, with a message, a little later. */
void ids_reading_watch(const char *command);
void ids_reading_unwatch(void);
/* Around work of our own that comes in the midst of it. Where nothing is watched, nothing is done. */
void ids_reading_pause(void);
void ids_reading_resume(void);

#endif
