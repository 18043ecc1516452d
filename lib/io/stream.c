#include "lib/io/stream.h"

#include "lib/io/gunzip.h"
#include "lib/io/source_parts.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_BYTES = 256 << 10, /* stays in the second-level cache between the two threads */
    RING = 4,
};

struct chunk {
    uint8_t headroom[IDS_STREAM_HEADROOM];
    uint8_t bytes[CHUNK_BYTES];
    size_t length;
};

/* Chunk i of the content lies in ring[i % RING]. Chunks [given, made) belong to the reader, the others to the
 * thread. */
struct ids_stream {
    struct ids_source *source;
    uint64_t at;               /* bytes given out */
    int held;                  /* the reader still looks at chunk `given` */
    struct ids_gunzip *gunzip; /* NULL: no thread, the bytes are read as they are */

    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    uint64_t made, given;
    int ended; /* the thread is done; `failure` or the gunzip's cut say how */
    int stop;  /* nobody reads on */
    struct ids_error failure;

    struct chunk ring[]; /* RING, or one without a thread */
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

int ids_stream_open(struct ids_source *source, struct ids_stream **ret_stream, struct ids_error *err) {
    int packed = ids_source_packed(source);
    size_t chunks = packed ? RING : 1;
    struct ids_stream *stream = malloc(sizeof *stream + chunks * sizeof *stream->ring);
    if (!stream) return ids_no_memory(err);
    memset(stream, 0, sizeof *stream); /* not the ring: untouched chunks cost nothing */
    stream->source = source;
    if (packed) {
        int code = ids_gunzip_new(source, &stream->gunzip, err);
        if (code) {
            free(stream);
            return code;
        }
        pthread_mutex_init(&stream->lock, NULL);
        pthread_cond_init(&stream->changed, NULL);
        code = start(stream, err);
        if (code) {
            ids_gunzip_free(stream->gunzip);
            free(stream);
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
        pthread_cond_destroy(&stream->changed);
        pthread_mutex_destroy(&stream->lock);
        ids_gunzip_free(stream->gunzip);
    }
    free(stream);
}

static int next_plain(struct ids_stream *stream, struct ids_error *err) {
    struct chunk *chunk = stream->ring;
    return ids_source_copy(stream->source, stream->at, chunk->bytes, CHUNK_BYTES, &chunk->length, err);
}

/* Gives the chunk back that the reader held, and waits for the next one. *ret_chunk is NULL at the end. */
static void next_unpacked(struct ids_stream *stream, struct chunk **ret_chunk) {
    pthread_mutex_lock(&stream->lock);
    if (stream->held) {
        stream->given++;
        pthread_cond_signal(&stream->changed);
    }
    while (stream->made == stream->given && !stream->ended) pthread_cond_wait(&stream->changed, &stream->lock);
    stream->held = stream->made != stream->given;
    *ret_chunk = stream->held ? &stream->ring[stream->given % RING] : NULL;
    pthread_mutex_unlock(&stream->lock);
}

int ids_stream_next(struct ids_stream *stream, uint8_t **ret_bytes, size_t *ret_length, struct ids_error *err) {
    struct chunk *chunk = stream->ring;
    if (!stream->gunzip) {
        int code = next_plain(stream, err);
        if (code) return code;
    } else {
        next_unpacked(stream, &chunk);
        if (!chunk && stream->failure.code) return ids_error_pass(err, &stream->failure);
        if (!chunk) ids_source_set_cut(stream->source, ids_gunzip_cut(stream->gunzip), stream->at);
    }
    *ret_bytes = chunk ? chunk->bytes : stream->ring->bytes;
    *ret_length = chunk ? chunk->length : 0;
    stream->at += *ret_length;
    return 0;
}
