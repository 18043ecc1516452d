#include "lib/model/relay.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH_BYTES = 256 << 10, /* stays in the second-level cache between the two threads */
    RING = 4,
};

enum entry_kind { HOST, PLANE, NAME, TRACK, SLICE, TRACK_END, DIAG };

/* What was called; behind it lie the args and what they and the texts point to. */
struct entry {
    size_t bytes; /* all of it */
    enum entry_kind what;
    uint32_t track;
    union {
        struct ids_host_info host;
        struct ids_plane_info plane;
        struct ids_name_info name;
        struct ids_track_info track_info;
        struct ids_slice slice;
        struct ids_diag diag;
    };
};

struct batch {
    char *bytes;
    size_t length, room;
};

/* Batch i lies in ring[i % RING]. Batches [given, made) belong to the thread, the others to the reader. */
struct ids_relay {
    struct ids_sink sink; /* first, so that the sink is the relay */
    struct ids_sink *target;
    uint32_t planes, names, tracks; /* numbers that were given */
    uint64_t made_before;           /* batches that were made when the last long track ended */
    int (*last)(void *context, struct ids_error *err);
    void *last_context;

    pthread_t thread;
    int running;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    uint64_t made, given;
    int ended, stop; /* nothing more comes; what is there is not wanted */
    struct ids_error failure;

    struct batch ring[RING];
};

static struct ids_relay *of(struct ids_sink *sink) {
    return (struct ids_relay *)sink;
}

/* ---- the thread ---- */

/* `number` was given out by the call whose code this is; it is not read before, in whatever order arguments are. */
static int numbered(int code, const uint32_t *number, uint32_t *expected, struct ids_error *err) {
    if (code || *number == (*expected)++) return code;
    return ids_fail(err, IDS_LIMIT, "two readers of one file count differently: %u, %u", *expected - 1, *number);
}

/* What the target has given out. */
struct numbers {
    uint32_t planes, names, tracks;
};

static int replay(struct ids_sink *target, const struct entry *entry, struct numbers *numbers, struct ids_error *err) {
    uint32_t number = 0;
    switch (entry->what) {
    case HOST:
        return target->ops->host(target, &entry->host, err);
    case PLANE:
        return numbered(target->ops->plane(target, &entry->plane, &number, err), &number, &numbers->planes, err);
    case NAME:
        return numbered(target->ops->name(target, &entry->name, &number, err), &number, &numbers->names, err);
    case TRACK:
        return numbered(target->ops->track(target, &entry->track_info, &number, err), &number, &numbers->tracks, err);
    case SLICE:
        return target->ops->slice(target, entry->track, &entry->slice, err);
    case TRACK_END:
        return target->ops->track_end(target, entry->track, err);
    default:
        return target->ops->diag(target, &entry->diag, err);
    }
}

static int replay_batch(struct ids_sink *target, const struct batch *batch, struct numbers *numbers,
                        struct ids_error *err) {
    int code = 0;
    for (size_t at = 0; at < batch->length && !code;) {
        const struct entry *entry = (const struct entry *)(batch->bytes + at);
        code = replay(target, entry, numbers, err);
        at += entry->bytes;
    }
    return code;
}

/* 1 when there is a batch, 0 when none will come. */
static int wait_for_batch(struct ids_relay *relay) {
    pthread_mutex_lock(&relay->lock);
    while (relay->given == relay->made && !relay->ended && !relay->stop)
        pthread_cond_wait(&relay->changed, &relay->lock);
    int more = relay->given < relay->made && !relay->stop;
    pthread_mutex_unlock(&relay->lock);
    return more;
}

static void give_back(struct ids_relay *relay, const struct ids_error *failure) {
    pthread_mutex_lock(&relay->lock);
    relay->given++;
    if (failure->code) relay->failure = *failure;
    pthread_cond_signal(&relay->changed);
    pthread_mutex_unlock(&relay->lock);
}

static void *run(void *data) {
    struct ids_relay *relay = data;
    struct numbers numbers = {0};
    struct ids_error failure = IDS_ERROR_INIT;
    while (wait_for_batch(relay)) {
        /* After a failure batches are still taken, and dropped: the reader must not wait before it asks. */
        const struct batch *batch = &relay->ring[relay->given % RING]; /* only this thread writes `given` */
        if (!failure.code) replay_batch(relay->target, batch, &numbers, &failure);
        give_back(relay, &failure);
    }
    pthread_mutex_lock(&relay->lock);
    int wanted = !relay->stop && !failure.code;
    pthread_mutex_unlock(&relay->lock);
    if (wanted && relay->last(relay->last_context, &failure)) {
        pthread_mutex_lock(&relay->lock);
        relay->failure = failure;
        pthread_mutex_unlock(&relay->lock);
    }
    return NULL;
}

/* ---- the reader's side ---- */

/* Hands the batch at hand over, and waits until another one is free. */
static int hand_over(struct ids_relay *relay, struct ids_error *err) {
    pthread_mutex_lock(&relay->lock);
    relay->made++;
    pthread_cond_signal(&relay->changed);
    while (relay->made - relay->given == RING) pthread_cond_wait(&relay->changed, &relay->lock);
    if (relay->failure.code) *err = relay->failure;
    int code = relay->failure.code;
    pthread_mutex_unlock(&relay->lock);
    relay->ring[relay->made % RING].length = 0;
    return code;
}

/* A new entry with `more` bytes behind it, which do not move; NULL when `err` says why not. */
static struct entry *add(struct ids_sink *sink, enum entry_kind what, size_t more, struct ids_error *err) {
    struct ids_relay *relay = of(sink);
    size_t bytes = (sizeof(struct entry) + more + 7) & ~(size_t)7;
    struct batch *batch = &relay->ring[relay->made % RING]; /* only this thread writes `made` */
    if (batch->length && bytes > batch->room - batch->length) {
        if (hand_over(relay, err)) return NULL;
        batch = &relay->ring[relay->made % RING];
    }
    size_t room = bytes > BATCH_BYTES ? bytes : BATCH_BYTES; /* one that is longer has a batch of its own */
    if (!batch->length && batch->room != room) {
        free(batch->bytes);
        batch->bytes = malloc(room);
        batch->room = batch->bytes ? room : 0;
        if (!batch->bytes) {
            ids_no_memory(err);
            return NULL;
        }
    }
    struct entry *entry = (struct entry *)(batch->bytes + batch->length);
    batch->length += bytes;
    entry->bytes = bytes;
    entry->what = what;
    return entry;
}

static int is_outside(const struct ids_arg *arg) {
    return arg->type == IDS_VALUE_CHARS || arg->type == IDS_VALUE_BYTES;
}

static size_t bytes_of_args(const struct ids_arg *args, size_t count) {
    size_t bytes = count * sizeof *args;
    for (size_t i = 0; i < count; i++) bytes += is_outside(&args[i]) ? args[i].length : 0;
    return bytes;
}

static struct ids_arg *copy_args(struct entry *entry, const struct ids_arg *args, size_t count) {
    struct ids_arg *copies = (struct ids_arg *)(entry + 1);
    char *chars = (char *)(copies + count);
    for (size_t i = 0; i < count; i++) {
        copies[i] = args[i];
        if (!is_outside(&args[i])) continue;
        if (args[i].length) memcpy(chars, args[i].chars, args[i].length);
        copies[i].chars = chars;
        chars += args[i].length;
    }
    return copies;
}

static int relay_host(struct ids_sink *sink, const struct ids_host_info *host, struct ids_error *err) {
    struct entry *entry = add(sink, HOST, 0, err);
    if (!entry) return err->code;
    entry->host = *host;
    return 0;
}

static int relay_plane(struct ids_sink *sink, const struct ids_plane_info *plane, uint32_t *ret_plane,
                       struct ids_error *err) {
    struct entry *entry = add(sink, PLANE, bytes_of_args(plane->args, plane->arg_count), err);
    if (!entry) return err->code;
    entry->plane = *plane;
    entry->plane.args = copy_args(entry, plane->args, plane->arg_count);
    *ret_plane = of(sink)->planes++;
    return 0;
}

static int relay_name(struct ids_sink *sink, const struct ids_name_info *name, uint32_t *ret_name,
                      struct ids_error *err) {
    struct entry *entry = add(sink, NAME, bytes_of_args(name->args, name->arg_count), err);
    if (!entry) return err->code;
    entry->name = *name;
    entry->name.args = copy_args(entry, name->args, name->arg_count);
    *ret_name = of(sink)->names++;
    return 0;
}

static int relay_track(struct ids_sink *sink, const struct ids_track_info *track, uint32_t *ret_track,
                       struct ids_error *err) {
    struct entry *entry = add(sink, TRACK, 0, err);
    if (!entry) return err->code;
    entry->track_info = *track;
    *ret_track = of(sink)->tracks++;
    return 0;
}

static int relay_slice(struct ids_sink *sink, uint32_t track, const struct ids_slice *slice, struct ids_error *err) {
    struct entry *entry = add(sink, SLICE, bytes_of_args(slice->args, slice->arg_count), err);
    if (!entry) return err->code;
    entry->track = track;
    entry->slice = *slice;
    entry->slice.args = copy_args(entry, slice->args, slice->arg_count);
    return 0;
}

/* A track that took batches is put in order and written while the reader does what it has to do at its end. */
static int hand_over_long_track(struct ids_relay *relay, struct ids_error *err) {
    if (relay->made == relay->made_before) return 0;
    int code = hand_over(relay, err);
    relay->made_before = relay->made;
    return code;
}

static int relay_track_end(struct ids_sink *sink, uint32_t track, struct ids_error *err) {
    struct entry *entry = add(sink, TRACK_END, 0, err);
    if (!entry) return err->code;
    entry->track = track;
    return hand_over_long_track(of(sink), err);
}

static int relay_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *err) {
    size_t id = strlen(diag->id) + 1, text = strlen(diag->text) + 1;
    struct entry *entry = add(sink, DIAG, id + text, err);
    if (!entry) return err->code;
    entry->diag = *diag;
    entry->diag.id = memcpy(entry + 1, diag->id, id);
    entry->diag.text = memcpy((char *)(entry + 1) + id, diag->text, text);
    return 0;
}

/* ---- life ---- */

/* Signals are for the threads that the program knows of. */
static int start(struct ids_relay *relay, struct ids_error *err) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&relay->thread, NULL, run, relay);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    relay->running = !code;
    return code ? ids_fail(err, IDS_NOMEM, "out of memory for a thread that writes events: %s", strerror(code)) : 0;
}

/* Rows are made of events; what is said of programs goes to the trace alone. */
#define relay_hlo NULL
#define relay_memory NULL
#define relay_held NULL
#define relay_program NULL
#define relay_partial NULL

int ids_relay_new(struct ids_sink *target, struct ids_relay **ret_relay, struct ids_error *err) {
    static const struct ids_sink_ops ops = {
#define IDS_SINK_CALL(name, params, args) .name = relay_##name,
#include "lib/model/sink_calls.def"
    };
    struct ids_relay *relay = calloc(1, sizeof *relay);
    if (!relay) return ids_no_memory(err);
    relay->sink = (struct ids_sink){.ops = &ops, .strings = target->strings, .complete = 1};
    relay->target = target;
    pthread_mutex_init(&relay->lock, NULL);
    pthread_cond_init(&relay->changed, NULL);
    int code = start(relay, err);
    if (code) {
        ids_relay_free(relay);
        return code;
    }
    *ret_relay = relay;
    return 0;
}

struct ids_sink *ids_relay_sink(struct ids_relay *relay) {
    return &relay->sink;
}

void ids_relay_end(struct ids_relay *relay, int (*last)(void *context, struct ids_error *err), void *context) {
    pthread_mutex_lock(&relay->lock);
    relay->last = last;
    relay->last_context = context;
    if (relay->ring[relay->made % RING].length) relay->made++;
    relay->ended = 1;
    pthread_cond_signal(&relay->changed);
    pthread_mutex_unlock(&relay->lock);
}

static void join(struct ids_relay *relay) {
    if (relay->running) pthread_join(relay->thread, NULL);
    relay->running = 0;
}

int ids_relay_wait(struct ids_relay *relay, struct ids_error *err) {
    join(relay);
    if (relay->failure.code) *err = relay->failure;
    return relay->failure.code;
}

void ids_relay_free(struct ids_relay *relay) {
    if (!relay) return;
    pthread_mutex_lock(&relay->lock);
    relay->stop = 1;
    pthread_cond_signal(&relay->changed);
    pthread_mutex_unlock(&relay->lock);
    join(relay);
    pthread_cond_destroy(&relay->changed);
    pthread_mutex_destroy(&relay->lock);
    for (int i = 0; i < RING; i++) free(relay->ring[i].bytes);
    free(relay);
}
