/* plan.h - what a capture was asked for, as the launcher hands it to the agent: IDSPROF_PLAN is `key=value;key=value`.
 *
 * The launcher writes it with ids_plan_format, the agent of each process reads it with ids_plan_parse, collectors ask
 * for single values by name. In a value '%', ';' and control characters stand as %XX. A key that this version does not
 * know is passed over: the launcher of a newer version may have started a program that holds an older agent. Pure: no
 * clock, no file, no allocation.
 */
#ifndef IDS_COLLECTORS_COMMON_PLAN_H
#define IDS_COLLECTORS_COMMON_PLAN_H

#include <stddef.h>
#include <stdint.h>

enum { IDS_PLAN_TEXT = 256, IDS_PLAN_BYTES = 16384 };
enum { IDS_STACKS_FASTEST = 10000 }; /* samples a second */

struct ids_plan {
    int64_t start_step;  /* the step that opens the first window; -1: no step does */
    int64_t steps;       /* a window ends after so many; 0: steps do not end it */
    int64_t every, max;  /* steps from one start to the next, 0: once; windows in all, 0: no limit */
    int64_t delay_ns;    /* no window before that, from the first collector's waking on */
    int64_t duration_ns; /* a window ends after that; 0: time does not end it */
    int64_t trigger;     /* 1: windows are opened by `idsprof trigger` alone */
    int64_t every_ns;    /* from the start of one window to the next one at least; 0: steps alone say it */
    /* Windows are kept only if a step in them took longer than so many thousandths of the running median, or than so
     * long; of these, only so many of the slowest. 0: not asked for. */
    int64_t when_ratio, when_ns, keep_slowest;
    int64_t max_cost; /* millionths of the time that opening and ending such windows may take */
    int64_t warmup;   /* steps before the window in which a collector runs; their events are discarded */
    int64_t max_size; /* bytes: no window is opened once a process has written so many; 0: no limit */
    /* bytes by which the process's memory may grow while a window is open, which ends there; 0: no limit; -1:
     * ids_window_bytes says it */
    int64_t max_window_bytes;
    int64_t stop_timeout_ns;                        /* how long the program waits at most for the end of a window */
    int64_t host_level, device_level, python_level; /* of the vendor's tracers */
    int64_t stacks;                                 /* samples a second of what each Python thread runs; 0: none */
    int64_t memory;                                 /* 1: device memory profiles are saved with each window */
    int64_t launcher;                               /* the process id of `idsprof capture` */
    char run[64];                                   /* the folder's name under plugins/profile: 2026_11_21_07_43_53 */
    char range[IDS_PLAN_TEXT];                      /* windows are the regions of that name */
    char wrap[8 * IDS_PLAN_TEXT];                   /* module:function, ... which the Python hook annotates */
    char ranks[IDS_PLAN_TEXT];                      /* "0,4-7": only these processes; "": all */
    char step_executable[IDS_PLAN_TEXT];     /* a regular expression: the executable whose executions are the steps */
    char profile_options[2 * IDS_PLAN_TEXT]; /* "key=value" line by line: options of jax's profiler */
    char cuda_graph[16];                     /* "node": kernels of CUDA graphs one by one; "graph": a launch as one */
};

/* What one window may add to the process's memory, 0: no limit. Where nobody said it, a window that steps end has no
 * limit, because what they allocate is the program's more often than the profiler's. */
int64_t ids_window_bytes(const struct ids_plan *plan);

/* Whether windows are judged by the steps in them, and only the slow ones kept. */
int ids_plan_judges(const struct ids_plan *plan);

/* What holds when nobody says anything: steps 153 to 157, one window. */
void ids_plan_default(struct ids_plan *plan);
/* Reads `text` over the defaults. 0, or -1 with the reason in `why`. */
int ids_plan_parse(const char *text, struct ids_plan *ret_plan, char *why, size_t why_size);
/* Writes all keys. The length, or -1 when `size` is too small; IDS_PLAN_BYTES is enough. */
int ids_plan_format(const struct ids_plan *plan, char *buffer, size_t size);
/* The value of one key as text, not escaped: its length, or -1 when there is no such key or `size` is too small. */
int ids_plan_value(const struct ids_plan *plan, const char *key, char *buffer, size_t size);

/* Whether `text` is such a list; and whether a process of this rank is in it. Every rank is in an empty one. */
int ids_ranks_valid(const char *text);
int ids_ranks_have(const char *text, int64_t rank);

#endif
