#include "lib/capture/history_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t most_ever = INT64_C(1) << 53;

/* As much as there is: a ring that never went round is not written whole. */
static size_t read_at(int file, void *bytes, size_t length, off_t at) {
    size_t got = 0;
    while (got < length) {
        ssize_t more = pread(file, (char *)bytes + got, length - got, at + (off_t)got);
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) break;
        got += (size_t)more;
    }
    return got;
}

/* The records of a ring in the order in which they came; those that are not in the file are left out. */
static size_t unroll(const void *ring, size_t size, size_t places, size_t in_file, int64_t total, void *to) {
    size_t count = 0;
    int64_t first = total > (int64_t)places ? total - (int64_t)places : 0;
    for (int64_t i = first; i < total; i++) {
        size_t place = (size_t)(i % (int64_t)places);
        if (place >= in_file) continue;
        memcpy((char *)to + count++ * size, (const char *)ring + place * size, size);
    }
    return count;
}

static int read_ring(int file, size_t size, size_t places, off_t at, int64_t total, void **ret_records,
                     size_t *ret_count, struct ids_error *err) {
    void *ring = calloc(places, size), *records = calloc(places, size);
    if (!ring || !records) {
        free(ring);
        free(records);
        return ids_no_memory(err);
    }
    size_t in_file = read_at(file, ring, places * size, at) / size;
    *ret_count = unroll(ring, size, places, in_file, total, records);
    *ret_records = records;
    free(ring);
    return 0;
}

/* A file may hold any number, also none. */
static int is_time(float ns, int64_t most_ns) {
    return ns >= 0 && ns <= (float)most_ns;
}

/* The steps at the end that follow one another: what the process overwrote while it wrote the file does not. */
static void keep_ordered(struct ids_history_file *file) {
    size_t first = file->step_count;
    int64_t after = file->head.now_ns;
    while (first && file->steps[first - 1].begin_ns <= after && file->steps[first - 1].begin_ns >= 0) {
        after = file->steps[--first].begin_ns;
        struct ids_history_step *step = &file->steps[first];
        if (step->collectives < 0) step->collectives = -1;
        if (!is_time(step->garbage_ns, file->head.now_ns)) step->garbage_ns = 0;
        if (!is_time(step->stall_ns, file->head.now_ns)) step->stall_ns = 0;
        if (step->slow_median_ns != -1 && !is_time(step->slow_median_ns, file->head.now_ns)) step->slow_median_ns = 0;
    }
    file->step_count -= first;
    memmove(file->steps, file->steps + first, file->step_count * sizeof *file->steps);
}

static int read_file(int descriptor, const char *name, struct ids_history_file *file, struct ids_error *err) {
    const off_t steps_at = sizeof file->head;
    const off_t events_at = steps_at + (off_t)(IDS_HISTORY_STEPS * sizeof *file->steps);
    struct ids_history_head *head = &file->head;
    if (read_at(descriptor, head, sizeof *head, 0) != sizeof *head ||
        memcmp(head->magic, IDS_HISTORY_MAGIC, sizeof head->magic) != 0 || head->steps < 0 || head->events < 0 ||
        head->steps > most_ever || head->events > most_ever || head->now_ns < 0)
        return ids_fail(err, IDS_CORRUPT, "'%s': not a history of steps", name);
    head->host[sizeof head->host - 1] = '\0';
    if (head->watched_ns < 0 || head->full_ns < 0 || head->full_ns > head->watched_ns || head->others_ns < 0 ||
        head->others_ns > head->full_ns)
        head->watched_ns = head->full_ns = head->others_ns = 0;
    void *steps = NULL, *events = NULL;
    int code = read_ring(descriptor, sizeof *file->steps, IDS_HISTORY_STEPS, steps_at, head->steps, &steps,
                         &file->step_count, err);
    file->steps = steps;
    if (!code)
        code = read_ring(descriptor, sizeof *file->events, IDS_HISTORY_EVENTS, events_at, head->events, &events,
                         &file->event_count, err);
    file->events = events;
    for (size_t i = 0; !code && i < file->event_count; i++)
        file->events[i].name[sizeof file->events[i].name - 1] = '\0';
    if (!code) keep_ordered(file);
    return code;
}

int ids_history_file_read(int folder, const char *name, struct ids_history_file *ret_file, struct ids_error *err) {
    *ret_file = (struct ids_history_file){0};
    int descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) return ids_fail_system(err, "cannot read '%s'", name);
    int code = read_file(descriptor, name, ret_file, err);
    close(descriptor);
    if (code) ids_history_file_done(ret_file);
    return code;
}

void ids_history_file_done(struct ids_history_file *file) {
    free(file->steps);
    free(file->events);
    *file = (struct ids_history_file){0};
}
