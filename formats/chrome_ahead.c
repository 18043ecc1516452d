/* chrome_ahead.c - the thread that takes the elements of a list apart. A batch is what lies in one chunk of the stream,
 * where its texts stay until the batch was read; so nothing is copied. */
#include "formats/chrome_list.h"

#include "lib/base/vec.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    RING = IDS_STREAM_TAKEN - 1, /* the thread works at one more, whose chunk it has taken too */
    BATCH_EVENTS = 4096,         /* of small ones a chunk has more than are good to hold */
};

/* Batch i lies in ring[i % RING]. Batches [given, made) belong to the reader, the others to the thread. */
struct ids_chrome_ahead {
    struct ids_json_window *window;
    struct ids_chrome_list *list;
    struct ids_chrome_parser *parser;
    int holds; /* the reader has batch `given` */

    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    uint64_t made, given;
    int ended, stop; /* the thread is done, for `result` or `failure`; nobody reads on */
    enum ids_json_result result;
    struct ids_error failure;

    struct ids_chrome_batch ring[RING];
};

/* ---- the thread ---- */

/* Waits until at most `most` batches are with the reader; 0 when nobody wants more. */
static int wait_for_reader(struct ids_chrome_ahead *ahead, uint64_t most) {
    pthread_mutex_lock(&ahead->lock);
    while (ahead->made - ahead->given > most && !ahead->stop) pthread_cond_wait(&ahead->changed, &ahead->lock);
    int stop = ahead->stop;
    pthread_mutex_unlock(&ahead->lock);
    return !stop;
}

static void publish(struct ids_chrome_ahead *ahead, struct ids_chrome_batch *batch, int has_chunk) {
    const struct ids_chrome_member *members = ahead->parser->members;
    for (size_t i = 0; i < batch->count; i++) { /* which were moved while they became more */
        batch->elements[i].event.members = members;
        members += batch->elements[i].event.member_count;
    }
    batch->members = ahead->parser->members;
    batch->member_room = ahead->parser->room;
    batch->has_chunk = has_chunk;
    pthread_mutex_lock(&ahead->lock);
    ahead->made++;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}

/* IDS_JSON_MORE also where the batch is full. */
static enum ids_json_result fill(struct ids_chrome_ahead *ahead, struct ids_chrome_batch *batch) {
    struct ids_chrome_list *list = ahead->list;
    batch->count = 0;
    batch->at = ahead->window->at;
    batch->offset = ahead->window->offset;
    ahead->parser->members = batch->members;
    ahead->parser->room = batch->member_room;
    ahead->parser->used = 0;
    while (batch->count < BATCH_EVENTS) {
        int no_memory = 0;
        enum ids_json_result result = ids_chrome_list_next(list);
        if (result != IDS_JSON_OK) return result;
        struct ids_chrome_element *element = IDS_PUSH(batch->elements, batch->count, batch->room);
        if (element) result = ids_chrome_list_take(list, ahead->parser, element, &no_memory);
        if (!element || no_memory) ids_no_memory(&ahead->failure);
        if (element && result != IDS_JSON_OK) batch->count--;
        if (!element || result != IDS_JSON_OK) return element ? result : IDS_JSON_BAD;
    }
    return IDS_JSON_MORE;
}

/* Hands the batch over and moves on to what follows it; 0 when there is nothing, or nobody wants it. */
static int move_on(struct ids_chrome_ahead *ahead, struct ids_chrome_batch *batch) {
    struct ids_json_window *window = ahead->window;
    if (batch->count == BATCH_EVENTS) {
        publish(ahead, batch, 0);
    } else if (window->scan.whole) {
        return 0;
    } else if (ids_json_window_gathers(window)) {
        publish(ahead, batch, 0);
        if (!wait_for_reader(ahead, 0) || ids_json_window_read_on(window, &ahead->failure)) return 0;
    } else {
        if (ids_json_window_read_on(window, &ahead->failure)) return 0;
        publish(ahead, batch, 1);
    }
    return wait_for_reader(ahead, RING - 1);
}

static void *run(void *data) {
    struct ids_chrome_ahead *ahead = data;
    struct ids_chrome_batch *batch;
    enum ids_json_result result;
    do {
        batch = &ahead->ring[ahead->made % RING]; /* only this thread writes `made` */
        result = fill(ahead, batch);
    } while (result == IDS_JSON_MORE && move_on(ahead, batch));
    if (batch == &ahead->ring[ahead->made % RING]) publish(ahead, batch, 0);
    pthread_mutex_lock(&ahead->lock);
    ahead->ended = 1;
    ahead->result = result;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

/* ---- the reader ---- */

/* Signals are for the threads that the program knows of. */
static int start(struct ids_chrome_ahead *ahead, struct ids_error *err) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&ahead->thread, NULL, run, ahead);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code ? ids_fail(err, IDS_NOMEM, "out of memory for a thread that reads JSON: %s", strerror(code)) : 0;
}

static void done(struct ids_chrome_ahead *ahead) {
    ahead->window->keeps = 0;
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
    for (int i = 0; i < RING; i++) {
        free(ahead->ring[i].elements);
        free(ahead->ring[i].members);
    }
    ahead->parser->members = NULL; /* they were the batches' */
    ahead->parser->used = ahead->parser->room = 0;
    free(ahead);
}

int ids_chrome_ahead_begin(struct ids_json_window *window, struct ids_chrome_list *list,
                           struct ids_chrome_parser *parser, struct ids_chrome_ahead **ret_ahead,
                           struct ids_error *err) {
    struct ids_chrome_ahead *ahead = calloc(1, sizeof *ahead);
    if (!ahead) return ids_no_memory(err);
    ahead->window = window;
    ahead->list = list;
    ahead->parser = parser;
    ahead->ring[0].members = parser->members;
    ahead->ring[0].member_room = parser->room;
    window->keeps = 1;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    int code = start(ahead, err);
    if (code)
        done(ahead);
    else
        *ret_ahead = ahead;
    return code;
}

const struct ids_chrome_batch *ids_chrome_ahead_next(struct ids_chrome_ahead *ahead) {
    if (ahead->holds && ahead->ring[ahead->given % RING].has_chunk) ids_stream_give_back(ahead->window->stream);
    pthread_mutex_lock(&ahead->lock);
    if (ahead->holds) {
        ahead->given++; /* only this thread writes it */
        pthread_cond_signal(&ahead->changed);
    }
    while (ahead->made == ahead->given && !ahead->ended) pthread_cond_wait(&ahead->changed, &ahead->lock);
    ahead->holds = ahead->made != ahead->given;
    pthread_mutex_unlock(&ahead->lock);
    return ahead->holds ? &ahead->ring[ahead->given % RING] : NULL;
}

int ids_chrome_ahead_end(struct ids_chrome_ahead *ahead, enum ids_json_result *ret_result, struct ids_error *err) {
    pthread_mutex_lock(&ahead->lock);
    ahead->stop = 1;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
    *ret_result = ahead->result;
    int code = ahead->failure.code ? ids_error_pass(err, &ahead->failure) : 0;
    done(ahead);
    return code;
}
