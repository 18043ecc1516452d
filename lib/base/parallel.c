#include "lib/base/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

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

/* --- workers ---------------------------------------------------------------------------------------------------- */

enum { STACK_BYTES = 1 << 20 }; /* a limit of memory counts all of it */

/* Work that is shared, on the stack of who shares it. */
struct shared {
    atomic_size_t next;
    size_t count;
    void (*work)(void *context, size_t i);
    void *context;
    size_t wanted, at_work; /* workers that may still join, and those that have and are not done; under the lock */
    struct shared *older;
};

/* Making a thread for each stage of a small report takes a tenth of it, so workers wait for the next one. */
static struct {
    pthread_mutex_t lock; /* of all of it */
    pthread_cond_t wake, done;
    struct shared *open;         /* what is being done, the newest first */
    unsigned keepers;            /* who wants that workers stay; without one they end */
    uintptr_t crew;              /* the number of those that are not told to end */
    size_t count, idle;          /* how many it has, and how many of them wait */
    pthread_t ids[IDS_JOBS_MAX]; /* of the first `count` */
} workers = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static void take_turns(struct shared *shared) {
    for (size_t i; (i = atomic_fetch_add(&shared->next, 1)) < shared->count;) shared->work(shared->context, i);
}

/* With the lock. */
static struct shared *with_room(void) {
    struct shared *shared = workers.open;
    while (shared && !shared->wanted) shared = shared->older;
    return shared;
}

static void *work_on(void *crew) {
    pthread_mutex_lock(&workers.lock);
    while (workers.crew == (uintptr_t)crew) {
        struct shared *shared = with_room();
        if (!shared) {
            workers.idle++;
            pthread_cond_wait(&workers.wake, &workers.lock);
            if (workers.crew == (uintptr_t)crew) workers.idle--;
            continue;
        }
        shared->wanted--;
        shared->at_work++;
        pthread_mutex_unlock(&workers.lock);
        take_turns(shared);
        pthread_mutex_lock(&workers.lock);
        if (!--shared->at_work) pthread_cond_broadcast(&workers.done);
    }
    pthread_mutex_unlock(&workers.lock);
    return NULL;
}

/* Up to so many more, with the lock. */
static void make_workers(size_t more) {
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all); /* signals are for the thread that waits for them */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (more && workers.count < IDS_JOBS_MAX &&
           !pthread_create(&workers.ids[workers.count], &attributes, work_on, (void *)workers.crew))
        workers.count++, more--;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

void ids_workers_keep(void) {
    pthread_mutex_lock(&workers.lock);
    workers.keepers++;
    pthread_mutex_unlock(&workers.lock);
}

void ids_workers_let_go(void) {
    pthread_t ending[IDS_JOBS_MAX];
    size_t count = 0;
    pthread_mutex_lock(&workers.lock);
    if (!--workers.keepers) {
        count = workers.count;
        memcpy(ending, workers.ids, count * sizeof *ending);
        workers.count = workers.idle = 0;
        workers.crew++;
        pthread_cond_broadcast(&workers.wake);
    }
    pthread_mutex_unlock(&workers.lock);
    while (count) pthread_join(ending[--count], NULL);
}

/* Workers that are busy elsewhere join when they are done there, if there is still something to do. */
static void offer(struct shared *shared) {
    pthread_mutex_lock(&workers.lock);
    size_t there = workers.count, most = ids_jobs() - 1;
    if (workers.idle < shared->wanted && there < most)
        make_workers(most - there < shared->wanted - workers.idle ? most - there : shared->wanted - workers.idle);
    shared->older = workers.open;
    workers.open = shared;
    for (size_t i = 0; i < shared->wanted && i < workers.idle; i++) pthread_cond_signal(&workers.wake);
    pthread_mutex_unlock(&workers.lock);
}

static void take_back(struct shared *shared) {
    pthread_mutex_lock(&workers.lock);
    struct shared **place = &workers.open;
    while (*place != shared) place = &(*place)->older;
    *place = shared->older;
    while (shared->at_work) pthread_cond_wait(&workers.done, &workers.lock);
    pthread_mutex_unlock(&workers.lock);
}

void ids_parallel(size_t count, void (*work)(void *context, size_t i), void *context) {
    size_t most = count < ids_jobs() ? count : ids_jobs();
    struct shared shared = {.count = count, .work = work, .context = context, .wanted = most ? most - 1 : 0};
    if (!shared.wanted) {
        take_turns(&shared);
        return;
    }
    ids_workers_keep();
    offer(&shared);
    take_turns(&shared);
    take_back(&shared);
    ids_workers_let_go();
}

void ids_parallel_events(uint64_t events, size_t count, void (*work)(void *context, size_t i), void *context) {
    if (events >= ids_jobs_least_events())
        ids_parallel(count, work, context);
    else
        for (size_t i = 0; i < count; i++) work(context, i);
}
