#include "lib/run/partials_ahead.h"

#include "lib/base/parallel.h"
#include "lib/io/stream.h"
#include "lib/run/file_name.h"
#include "lib/store/partial_cache.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum {
    AHEAD_MOST = 4, /* each is a host in memory */
    STACK_BYTES = 1 << 20,
};

struct slot {
    size_t made; /* number of the file, + 1; 0: none */
    struct ids_partial *partial;
    int code;
    struct ids_error err;
};

/* Nobody asks for files below `taken`; those below `begun` are in work or in the slot of their number. */
struct ids_partials_ahead {
    const struct ids_run_files *run;
    int cached;
    size_t window, thread_count;
    pthread_t threads[AHEAD_MOST];

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    size_t begun, taken;
    int stop;
    struct slot slots[AHEAD_MOST];
};

/* What is cut or damaged is said by who reads the file again. */
static int read_packed(const struct ids_run_file *file, struct ids_buffer *to, struct ids_error *err) {
    struct ids_source *source = NULL;
    int code = ids_run_file_open(file, &source, err);
    if (!code) code = ids_stream_read_all(source, to, err);
    if (!code && ids_source_cut(source)) code = ids_fail(err, IDS_TRUNCATED, "a partial that is not whole");
    ids_source_close(source);
    return code;
}

/* A member of an archive is read by one thread. */
static int read_bytes(const struct ids_partials_ahead *ahead, const struct ids_run_file *file, struct ids_buffer *to,
                      struct ids_error *err) {
    struct ids_partial_head unused;
    int is_partial = ids_name_ends_with(file->path, IDS_PARTIAL_SUFFIX) && !file->archive && file->size;
    if (!is_partial) return ahead->cached ? ids_partial_cache_load(file, to, err) : IDS_NOT_FOUND;
    int code = read_packed(file, to, err);
    return !code && !ids_partial_look(to->at, to->length, &unused) ? IDS_NOT_FOUND : code;
}

static int make(const struct ids_partials_ahead *ahead, size_t file, struct ids_partial **ret_partial,
                struct ids_error *err) {
    struct ids_buffer bytes = {0};
    int code = read_bytes(ahead, &ahead->run->files[file], &bytes, err);
    *ret_partial = NULL;
    if (!code) code = ids_partial_open(bytes.at, bytes.length, ret_partial, err);
    ids_buffer_done(&bytes);
    return code;
}

static void *work(void *own) {
    struct ids_partials_ahead *ahead = own;
    const size_t count = ahead->run->file_count;
    pthread_mutex_lock(&ahead->lock);
    while (!ahead->stop && ahead->begun < count) {
        if (ahead->begun >= ahead->taken + ahead->window) {
            pthread_cond_wait(&ahead->changed, &ahead->lock);
            continue;
        }
        const size_t file = ahead->begun++;
        struct slot made = {.made = file + 1, .err = IDS_ERROR_INIT};
        pthread_mutex_unlock(&ahead->lock);
        made.code = make(ahead, file, &made.partial, &made.err);
        pthread_mutex_lock(&ahead->lock);
        struct slot *slot = &ahead->slots[file % ahead->window];
        ids_partial_free(slot->partial); /* of a file that nobody asked for */
        *slot = made;
        pthread_cond_broadcast(&ahead->changed);
    }
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

struct ids_partials_ahead *ids_partials_ahead_begin(const struct ids_run_files *run, int cached) {
    struct ids_partials_ahead *ahead = calloc(1, sizeof *ahead);
    sigset_t all, before;
    pthread_attr_t attributes;
    if (!ahead) return NULL;
    ahead->run = run;
    ahead->cached = cached;
    if (cached) ids_partial_cache_expect_threads();
    ahead->window = ids_jobs() - 1 < AHEAD_MOST ? ids_jobs() - 1 : AHEAD_MOST;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all); /* signals are for the thread that waits for them */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (ahead->thread_count < ahead->window &&
           !pthread_create(&ahead->threads[ahead->thread_count], &attributes, work, ahead))
        ahead->thread_count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return ahead;
}

int ids_partials_ahead_take(struct ids_partials_ahead *ahead, size_t file, struct ids_partial **ret_partial,
                            struct ids_error *err) {
    if (!ahead->thread_count) return make(ahead, file, ret_partial, err);
    pthread_mutex_lock(&ahead->lock);
    struct slot *slot = &ahead->slots[file % ahead->window];
    ahead->taken = file;
    pthread_cond_broadcast(&ahead->changed);
    while (slot->made != file + 1) pthread_cond_wait(&ahead->changed, &ahead->lock);
    const struct slot taken = *slot;
    *slot = (struct slot){0};
    ahead->taken = file + 1;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    *ret_partial = taken.partial;
    if (taken.code) *err = taken.err;
    return taken.code;
}

void ids_partials_ahead_end(struct ids_partials_ahead *ahead) {
    if (!ahead) return;
    pthread_mutex_lock(&ahead->lock);
    ahead->stop = 1;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    while (ahead->thread_count) pthread_join(ahead->threads[--ahead->thread_count], NULL);
    for (size_t i = 0; i < AHEAD_MOST; i++) ids_partial_free(ahead->slots[i].partial);
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
}
