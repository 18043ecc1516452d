#include "lib/io/stream.h"

#include "lib/io/gunzip.h"
#include "lib/io/source_parts.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_BYTES = 256 << 10,     /* stays in the second-level cache between the two threads */
    RING = IDS_STREAM_TAKEN + 2, /* one more is unpacked, and one waits */
};

struct chunk {
    uint8_t headroom[IDS_STREAM_HEADROOM];
    uint8_t bytes[CHUNK_BYTES];
    size_t length;
};

/* Chunk i of the content lies in ring[i % RING]. Chunks [given, made) belong to the reader, who has taken those below
 * `taken`; the others belong to the thread. */
struct ids_stream {
    struct ids_source *source;
    uint64_t at;               /* bytes given out */
    uint64_t taken;            /* of the thread that takes */
    struct ids_gunzip *gunzip; /* NULL: no thread, the bytes are read as they are */

    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    uint64_t made, given; /* without a thread nothing is made before it is taken */
    int ended;            /* the thread is done; `failure` or the gunzip's cut say how */
    int stop;             /* nobody reads on */
    struct ids_error failure;

    struct chunk ring[RING];
};

/* ---- the thread ---- */

static int wait_for_room(struct ids_stream *stream) {
    pthread_mutex_lock(&stream->lock);
    while (stream->made - stream->given == RING && !stream->stop) {
        pthread_cond_wait(&stream->changed, &stream->lock);
    }
    int stop = stream->stop;
    pthread_mutex_unlock(&stream->lock);
    return !stop;
}

static void publish(struct ids_stream *stream, int whole, int ended) {
    pthread_mutex_lock(&stream->lock);
    stream->made += (uint64_t)whole;
    stream->ended = ended;
    pthread_cond_signal(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
}

static void *unpack(void *data) {
    struct ids_stream *stream = data;
    int ended = 0;
    while (!ended && wait_for_room(stream)) {
        struct chunk *chunk = &stream->ring[stream->made % RING]; /* only this thread writes `made` */
        int code = ids_gunzip_read(stream->gunzip, chunk->bytes, CHUNK_BYTES, &chunk->length, &stream->failure);
        ended = code || chunk->length < CHUNK_BYTES;
        publish(stream, !code && chunk->length, ended);
    }
    return NULL;
}

/* Signals are for the threads that the program knows of. */
static int start(struct ids_stream *stream, struct ids_error *err) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&stream->thread, NULL, unpack, stream);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code ? ids_fail(err, IDS_NOMEM, "out of memory for a thread that unpacks gzip: %s", strerror(code)) : 0;
}

/* ---- the reader ---- */

static void done(struct ids_stream *stream) {
    pthread_cond_destroy(&stream->changed);
    pthread_mutex_destroy(&stream->lock);
    if (stream->gunzip) ids_gunzip_free(stream->gunzip);
    free(stream);
}

int ids_stream_open(struct ids_source *source, struct ids_stream **ret_stream, struct ids_error *err) {
    struct ids_stream *stream = malloc(sizeof *stream);
    if (!stream) return ids_no_memory(err);
    memset(stream, 0, offsetof(struct ids_stream, ring)); /* not the ring: untouched chunks cost nothing */
    stream->source = source;
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->changed, NULL);
    if (ids_source_packed(source)) {
        int code = ids_gunzip_new(source, &stream->gunzip, err);
        if (!code) code = start(stream, err);
        if (code) {
            done(stream);
            return code;
        }
    }
    *ret_stream = stream;
    return 0;
}

void ids_stream_close(struct ids_stream *stream) {
    if (!stream) return;
    if (stream->gunzip) {
        pthread_mutex_lock(&stream->lock);
        stream->stop = 1;
        pthread_cond_signal(&stream->changed);
        pthread_mutex_unlock(&stream->lock);
        pthread_join(stream->thread, NULL);
    }
    done(stream);
}

/* Waits for the next chunk; 0 at the end. */
static int wait_for_chunk(struct ids_stream *stream) {
    pthread_mutex_lock(&stream->lock);
    while (stream->made == stream->taken && !stream->ended) pthread_cond_wait(&stream->changed, &stream->lock);
    int more = stream->made != stream->taken;
    pthread_mutex_unlock(&stream->lock);
    return more;
}

static int unpacked(struct ids_stream *stream, struct chunk *chunk, struct ids_error *err) {
    if (wait_for_chunk(stream)) return 0;
    if (stream->failure.code) return ids_error_pass(err, &stream->failure);
    chunk->length = 0; /* the thread is done with it */
    ids_source_set_cut(stream->source, ids_gunzip_cut(stream->gunzip), stream->at);
    return 0;
}

int ids_stream_take(struct ids_stream *stream, uint8_t **ret_bytes, size_t *ret_length, struct ids_error *err) {
    struct chunk *chunk = &stream->ring[stream->taken % RING];
    int code = stream->gunzip
                   ? unpacked(stream, chunk, err)
                   : ids_source_copy(stream->source, stream->at, chunk->bytes, CHUNK_BYTES, &chunk->length, err);
    if (code) return code;
    *ret_bytes = chunk->bytes;
    *ret_length = chunk->length;
    stream->taken += chunk->length > 0;
    stream->at += chunk->length;
    return 0;
}

void ids_stream_give_back(struct ids_stream *stream) {
    pthread_mutex_lock(&stream->lock);
    stream->given++;
    pthread_cond_signal(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
}

int ids_stream_next(struct ids_stream *stream, uint8_t **ret_bytes, size_t *ret_length, struct ids_error *err) {
    pthread_mutex_lock(&stream->lock);
    stream->given = stream->taken;
    pthread_cond_signal(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    return ids_stream_take(stream, ret_bytes, ret_length, err);
}

int ids_stream_read_all(struct ids_source *source, struct ids_buffer *to, struct ids_error *err) {
    struct ids_stream *stream = NULL;
    int code = ids_stream_open(source, &stream, err);
    for (size_t length = 1; !code && length;) {
        uint8_t *next;
        code = ids_stream_next(stream, &next, &length, err);
        if (!code) ids_buffer_put(to, next, length);
    }
    ids_stream_close(stream);
    return !code && to->failed ? ids_no_memory(err) : code;
}
