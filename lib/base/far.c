#include "lib/base/far.h"

#include "lib/base/vec.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ALIGNED = 64 };

/* What was mapped at once. */
struct piece {
    uint8_t *at;
    size_t bytes;
    uint64_t offset; /* in the file */
};

/* What copies were made in, for the next ones: as many as threads made some at once. */
struct spare {
    struct spare *next;
    size_t room; /* with this */
};

struct ids_far {
    int fd;
    size_t page, most_bytes;
    uint64_t mapped; /* bytes of the file that are mapped: whole pages */
    uint64_t end;    /* of what was put */
    _Atomic uint64_t turned, turns;
    struct piece *pieces; /* by address */
    size_t count, room;
    struct spare *spares;
    pthread_mutex_t lock; /* of all that is here but for the counts of turns: analyzers keep some beside each other */
};

struct ids_far *ids_far_new(int fd, size_t most_bytes) {
    struct ids_far *far = calloc(1, sizeof *far);
    if (!far) return NULL;
    far->fd = fd;
    far->page = (size_t)sysconf(_SC_PAGESIZE);
    far->most_bytes = most_bytes;
    pthread_mutex_init(&far->lock, NULL);
    return far;
}

void ids_far_free(struct ids_far *far) {
    if (!far) return;
    for (size_t i = 0; i < far->count; i++) munmap(far->pieces[i].at, far->pieces[i].bytes);
    free(far->pieces);
    for (struct spare *next, *spare = far->spares; spare; spare = next) {
        next = spare->next;
        free(spare);
    }
    pthread_mutex_destroy(&far->lock);
    close(far->fd);
    free(far);
}

/* A limit on the size of files is answered by a signal that ends the program, unless nobody reaches it. */
static int is_allowed(uint64_t end) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur;
}

static int write_at(int fd, uint64_t at, const uint8_t *bytes, size_t length) {
    while (length) {
        ssize_t n = pwrite(fd, bytes, length, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return -1;
        bytes += n;
        at += (uint64_t)n;
        length -= (size_t)n;
    }
    return 0;
}

static int put(struct ids_far *far, const void *bytes, size_t length, size_t *ret_at) {
    uint64_t at = (far->end + ALIGNED - 1) / ALIGNED * ALIGNED;
    if (!is_allowed(at + length + far->page) || write_at(far->fd, at, bytes, length)) return -1;
    far->end = at + length;
    *ret_at = (size_t)(at - far->mapped);
    return 0;
}

static void forget(struct ids_far *far) {
    far->end = far->mapped;
    /* Where that fails, the bytes are written over, or go with the file. */
    if (ftruncate(far->fd, (off_t)far->mapped)) return;
}

/* Writes what is missing of the last page: a page that is only partly of the file gets its room when it is touched. */
static int fill_page(struct ids_far *far) {
    static const uint8_t none[4096];
    while (far->end % far->page) {
        size_t missing = far->page - (size_t)(far->end % far->page), n = missing < sizeof none ? missing : sizeof none;
        if (write_at(far->fd, far->end, none, n)) return -1;
        far->end += n;
    }
    return 0;
}

/* Where a piece at that address lies, or would, among the others. */
static size_t place_of(const struct ids_far *far, const uint8_t *at) {
    size_t low = 0, high = far->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (far->pieces[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void *map(struct ids_far *far) {
    if (far->end == far->mapped || fill_page(far)) return NULL;
    size_t bytes = (size_t)(far->end - far->mapped);
    if (!IDS_PUSH(far->pieces, far->count, far->room)) return NULL;
    far->count--;
    uint8_t *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, far->fd, (off_t)far->mapped);
    if (at == MAP_FAILED) return NULL;
    size_t place = place_of(far, at);
    memmove(&far->pieces[place + 1], &far->pieces[place], (far->count - place) * sizeof *far->pieces);
    far->pieces[place] = (struct piece){at, bytes, far->mapped};
    far->count++;
    far->mapped = far->end;
    return at;
}

int ids_far_put(struct ids_far *far, const void *bytes, size_t length, size_t *ret_at) {
    pthread_mutex_lock(&far->lock);
    int failed = put(far, bytes, length, ret_at);
    pthread_mutex_unlock(&far->lock);
    return failed;
}

void *ids_far_map(struct ids_far *far) {
    pthread_mutex_lock(&far->lock);
    void *mapped = map(far);
    pthread_mutex_unlock(&far->lock);
    return mapped;
}

void ids_far_forget(struct ids_far *far) {
    pthread_mutex_lock(&far->lock);
    forget(far);
    pthread_mutex_unlock(&far->lock);
}

void *ids_far_keep(struct ids_far *far, void *array, size_t bytes) {
    size_t at;
    if (!far || bytes < IDS_FAR_LEAST_BYTES) return array;
    pthread_mutex_lock(&far->lock);
    uint8_t *mapped = put(far, array, bytes, &at) ? NULL : map(far);
    if (!mapped) forget(far);
    pthread_mutex_unlock(&far->lock);
    if (!mapped) return array;
    free(array);
    return mapped + at;
}

int ids_far_has(struct ids_far *far, const void *address) {
    if (!far) return 0;
    pthread_mutex_lock(&far->lock);
    size_t place = place_of(far, address);
    int has = place && (size_t)((const uint8_t *)address - far->pieces[place - 1].at) < far->pieces[place - 1].bytes;
    pthread_mutex_unlock(&far->lock);
    return has;
}

/* --- changes from end to end -------------------------------------------------------------------------------------- */

static uint64_t offset_of(struct ids_far *far, const uint8_t *address) {
    pthread_mutex_lock(&far->lock);
    const struct piece *piece = &far->pieces[place_of(far, address) - 1];
    uint64_t offset = piece->offset + (uint64_t)(address - piece->at);
    pthread_mutex_unlock(&far->lock);
    return offset;
}

static struct spare *take_spare(struct ids_far *far, size_t bytes) {
    pthread_mutex_lock(&far->lock);
    struct spare *spare = far->spares;
    if (spare) far->spares = spare->next;
    pthread_mutex_unlock(&far->lock);
    if (spare && spare->room >= bytes) return spare;
    free(spare);
    spare = malloc(ALIGNED + bytes);
    if (spare) spare->room = bytes;
    return spare;
}

static void give_spare(struct ids_far *far, struct spare *spare) {
    pthread_mutex_lock(&far->lock);
    spare->next = far->spares;
    far->spares = spare;
    pthread_mutex_unlock(&far->lock);
}

static int read_at(int fd, uint64_t at, uint8_t *bytes, size_t length) {
    while (length) {
        ssize_t n = pread(fd, bytes, length, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return -1;
        bytes += n;
        at += (uint64_t)n;
        length -= (size_t)n;
    }
    return 0;
}

void *ids_far_change(struct ids_far *far, void *array, size_t bytes) {
    struct spare *spare = take_spare(far, bytes);
    if (!spare) return array;
    uint8_t *opened = (uint8_t *)spare + ALIGNED;
    if (!read_at(far->fd, offset_of(far, array), opened, bytes)) return opened;
    give_spare(far, spare);
    return array;
}

void ids_far_changed(struct ids_far *far, void *array, void *opened, size_t bytes) {
    if (opened == array) return;
    /* The file has these bytes already, so that no disk is too full for them. */
    if (write_at(far->fd, offset_of(far, array), opened, bytes)) memcpy(array, opened, bytes);
    give_spare(far, (struct spare *)((uint8_t *)opened - ALIGNED));
}

uint64_t ids_far_bytes(const struct ids_far *far) {
    return far->mapped;
}

uint64_t ids_far_turns(const struct ids_far *far) {
    return atomic_load(&far->turns);
}

/* Pages that were written to are the file's now; nothing is lost. */
static void let_go(struct ids_far *far) {
    pthread_mutex_lock(&far->lock);
    for (size_t i = 0; i < far->count; i++) madvise(far->pieces[i].at, far->pieces[i].bytes, MADV_DONTNEED);
    pthread_mutex_unlock(&far->lock);
    atomic_fetch_add(&far->turns, 1);
}

void ids_far_turn(struct ids_far *far, size_t bytes) {
    if (atomic_fetch_add(&far->turned, bytes) + bytes <= far->most_bytes) return;
    atomic_store(&far->turned, bytes);
    let_go(far);
}
