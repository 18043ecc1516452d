#include "collectors/common/thread_clock.h"

#include "collectors/common/task_files.h"

#include <stdlib.h>
#include <time.h>

enum { SECOND_NS = 1000000000, TEXT = 96 };

static struct ids_task_files files = {.name = "schedstat"};

/* The clock of a thread's CPU time is its number in a shape that Linux keeps: CPUCLOCK_PERTHREAD and CPUCLOCK_SCHED. */
int64_t ids_thread_cpu_ns(uint64_t tid) {
    struct timespec spent;
    enum { OF_THREAD = 4, BY_SCHEDULER = 2 };
    clockid_t clock = (clockid_t)(~(uint32_t)tid << 3 | OF_THREAD | BY_SCHEDULER);
    return !tid || clock_gettime(clock, &spent) ? -1 : (int64_t)spent.tv_sec * SECOND_NS + spent.tv_nsec;
}

int ids_schedstat_parse(const char *text, int64_t *ret_ran_ns, int64_t *ret_waited_ns) {
    char *ran_end, *waited_end;
    uint64_t ran = strtoull(text, &ran_end, 10), waited = strtoull(ran_end, &waited_end, 10);
    if (ran_end == text || waited_end == ran_end || ran > INT64_MAX || waited > INT64_MAX) return 0;
    *ret_ran_ns = (int64_t)ran;
    *ret_waited_ns = (int64_t)waited;
    return 1;
}

int64_t ids_thread_waited_ns(uint64_t tid) {
    char text[TEXT];
    int64_t ran_ns, waited_ns;
    if (!ids_task_files_read(&files, tid, text, sizeof text)) return -1;
    return ids_schedstat_parse(text, &ran_ns, &waited_ns) ? waited_ns : -1;
}

struct ids_core_wait ids_core_wait_between(const struct ids_thread_clock *before, const struct ids_thread_clock *now,
                                           int is_seen) {
    int64_t ran_ns = now->cpu_ns - before->cpu_ns, waited_ns = now->waited_ns - before->waited_ns;
    int64_t idle_ns = now->at_ns - before->at_ns - ran_ns;
    if (waited_ns > idle_ns) waited_ns = idle_ns > 0 ? idle_ns : 0;
    int64_t free_ns = idle_ns > waited_ns ? idle_ns - waited_ns : 0;
    int64_t end_ns = now->at_ns - (is_seen ? ran_ns : (free_ns + ran_ns) / 2);
    return (struct ids_core_wait){end_ns - waited_ns, end_ns};
}

int ids_thread_woke_between(const struct ids_thread_clock *before, const struct ids_thread_clock *now) {
    if (before->cpu_ns < 0 || now->cpu_ns <= before->cpu_ns) return 0;
    int64_t busy_ns = now->cpu_ns - before->cpu_ns;
    if (before->waited_ns >= 0 && now->waited_ns >= 0) busy_ns += now->waited_ns - before->waited_ns;
    return busy_ns < (now->at_ns - before->at_ns) / 2;
}

void ids_thread_clocks_done(void) {
    ids_task_files_close(&files);
}
