#include "lib/base/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_uint jobs_set = 1;
static atomic_size_t least_set = 256 << 10; /* in which time a thread has begun */

unsigned ids_jobs(void) {
    return atomic_load_explicit(&jobs_set, memory_order_relaxed);
}

size_t ids_jobs_least(void) {
    return atomic_load_explicit(&least_set, memory_order_relaxed);
}

size_t ids_jobs_least_events(void) {
    enum { BYTES_OF_AN_EVENT = 16 };
    return ids_jobs_least() / BYTES_OF_AN_EVENT;
}

void ids_jobs_set(unsigned jobs, size_t least) {
    atomic_store_explicit(&least_set, least, memory_order_relaxed);
    if (jobs > IDS_JOBS_MAX) jobs = IDS_JOBS_MAX;
    atomic_store_explicit(&jobs_set, jobs ? jobs : 1, memory_order_relaxed);
}

enum { STACK_BYTES = 1 << 20 }; /* a limit of memory counts all of it */

struct shared {
    atomic_size_t next;
    size_t count;
    void (*work)(void *context, size_t i);
    void *context;
};

static void *take_turns(void *of) {
    struct shared *shared = of;
    for (size_t i; (i = atomic_fetch_add(&shared->next, 1)) < shared->count;) shared->work(shared->context, i);
    return NULL;
}

void ids_parallel(size_t count, void (*work)(void *context, size_t i), void *context) {
    struct shared shared = {.count = count, .work = work, .context = context};
    size_t wanted = count < ids_jobs() ? count : ids_jobs(), begun = 0;
    pthread_t *threads = wanted > 1 ? calloc(wanted - 1, sizeof *threads) : NULL;
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all); /* signals are for the thread that waits for them */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (threads && begun < wanted - 1 && !pthread_create(&threads[begun], &attributes, take_turns, &shared)) begun++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    take_turns(&shared);
    pthread_attr_destroy(&attributes);
    while (begun) pthread_join(threads[--begun], NULL);
    free(threads);
}

void ids_parallel_events(uint64_t events, size_t count, void (*work)(void *context, size_t i), void *context) {
    if (events >= ids_jobs_least_events())
        ids_parallel(count, work, context);
    else
        for (size_t i = 0; i < count; i++) work(context, i);
}
