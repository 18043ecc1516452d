#include "collectors/common/python_threads.h"

#include <stdlib.h>
#include <string.h>

/* Another thread may have taken the next one out of the list. */
enum { READ_EVERY = 64 };

static int has_room(struct ids_python_threads *threads) {
    if (threads->count < threads->room) return 1;
    if (threads->count == IDS_PYTHON_THREADS) return 0;
    size_t room = threads->room ? 2 * threads->room : 16;
    struct ids_python_thread *grown = realloc(threads->at, room * sizeof *grown);
    if (!grown) return 0;
    threads->at = grown;
    threads->room = room;
    return 1;
}

struct ids_python_thread *ids_python_threads_at(struct ids_python_threads *threads, size_t place, uintptr_t state) {
    struct ids_python_thread *here = threads->at + place;
    if (place < threads->count && here->state == state) return here;
    size_t found = place;
    while (found < threads->count && threads->at[found].state != state) found++;
    if (found < threads->count) { /* those before it have ended */
        memmove(here, threads->at + found, (threads->count - found) * sizeof *here);
        threads->count -= found - place;
        return here;
    }
    if (place > threads->count || !has_room(threads)) return NULL;
    here = threads->at + place;
    memmove(here + 1, here, (threads->count - place) * sizeof *here);
    threads->count++;
    *here = (struct ids_python_thread){.state = state};
    return here;
}

void ids_python_threads_end(struct ids_python_threads *threads, size_t count) {
    if (count < threads->count) threads->count = count;
}

void ids_python_threads_done(struct ids_python_threads *threads) {
    free(threads->at);
    *threads = (struct ids_python_threads){0};
}

int ids_python_thread_is_still(const struct ids_python_thread *thread, int64_t cpu_ns, uint32_t sample) {
    return thread->tid && cpu_ns >= 0 && cpu_ns == thread->clock.cpu_ns && sample - thread->read < READ_EVERY;
}
