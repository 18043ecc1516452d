#include "lib/cli/reading.h"

#include "lib/base/parallel.h"
#include "lib/io/jobs.h"
#include "lib/io/memory_limit.h"
#include "lib/io/unpack_limit.h"
#include "lib/store/db_limit.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* The C library reserves 64 MiB or 128 MiB of addresses for a thread, which `ulimit -v` counts: threads beside the
 * first may have that from what there is, and where there is less one reads. */
enum { PS_PER_US = 1000000, US_PER_S = 1000000, GRACE_S = 2, BYTES_OF_A_JOB = 128 << 20 };
#define PS_PER_S INT64_C(1000000000000)

struct ids_reading ids_reading = {.timeout_ps = 60 * PS_PER_S, .max_memory = INT64_C(2) << 30};

/* Who says how many wants them, however small the file is; but each needs room to work. */
static void set_jobs(void) {
    int64_t most = 1 + (int64_t)(ids_memory_limit() / BYTES_OF_A_JOB), jobs = ids_reading.jobs;
    if (most > IDS_JOBS_MAX) most = IDS_JOBS_MAX;
    if (!jobs) jobs = ids_processors();
    if (jobs > most) jobs = most;
    ids_jobs_set((unsigned)jobs, ids_reading.jobs ? 0 : ids_jobs_least());
}

void ids_reading_apply(void) {
    uint64_t half = ids_memory_limit() / 2;
    int64_t memory = ids_reading.max_memory;
    static const struct ids_reading defaults = {.max_memory = INT64_C(2) << 30};
    if (memory == defaults.max_memory && (uint64_t)memory > half) memory = (int64_t)half;
    ids_unpack_limit_set((uint64_t)ids_reading.max_unpacked);
    ids_db_limit_set(ids_reading.timeout_ps, memory);
    set_jobs();
}

/* ---- SQL that does not let itself be stopped ---- */

static char last_words[160];
static struct itimerval watched; /* zero: nothing is */

static void give_up(int number) {
    (void)number;
    ssize_t ignored = write(STDERR_FILENO, last_words, strlen(last_words));
    (void)ignored;
    _exit(2);
}

void ids_reading_watch(const char *command) {
    int64_t us = ids_reading.timeout_ps / PS_PER_US;
    if (!us) return;
    snprintf(last_words, sizeof last_words,
             "idsprof: %s: the SQL of a database took too much CPU time: stopped; --timeout TIME allows more\n",
             command);
    watched.it_value.tv_sec = us / US_PER_S + GRACE_S;
    watched.it_value.tv_usec = us % US_PER_S;
    signal(SIGPROF, give_up);
    ids_reading_resume();
}

void ids_reading_unwatch(void) {
    ids_reading_pause();
    watched = (struct itimerval){0};
}

void ids_reading_pause(void) {
    const struct itimerval none = {0};
    setitimer(ITIMER_PROF, &none, NULL);
}

void ids_reading_resume(void) {
    if (watched.it_value.tv_sec) setitimer(ITIMER_PROF, &watched, NULL);
}
