#include "collectors/pjrt/record.h"

#include "collectors/common/agent.h"
#include "collectors/common/window.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* CLOSED: nothing is recorded; OPEN; BUSY: somebody empties or reads the memory. Above the two bits of this a number
 * that is new with each change, so that who was held up between looking and changing changes nothing of a later
 * window. */
enum { CLOSED, OPEN, BUSY, PHASES = 4 };

static struct ids_record *records;
static atomic_uint state;
static atomic_uint used;    /* slots given out, may exceed IDS_RECORDS */
static atomic_uint writers; /* threads between taking a slot and having written it */

static unsigned phase(void) {
    return atomic_load_explicit(&state, memory_order_acquire) % PHASES;
}

/* From what was seen, unless it is something else by now. */
static int change(unsigned seen, unsigned to) {
    return atomic_compare_exchange_strong(&state, &seen, seen - seen % PHASES + PHASES + to);
}

int ids_record_prepare(void) {
    if (records) return 0;
    /* Pages come when they are written to. */
    void *memory = mmap(NULL, IDS_RECORDS * sizeof *records, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return -1;
    records = memory;
    return 0;
}

int64_t ids_record_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static __thread uint32_t this_thread;

static uint32_t thread_id(void) {
    if (!this_thread) this_thread = (uint32_t)syscall(SYS_gettid);
    return this_thread;
}

/* The first call in a window empties the memory: nobody tells us when another collector's window opens. */
static void empty_for_window(void) {
    unsigned seen = atomic_load(&state);
    if (seen % PHASES != CLOSED || !records || !change(seen, BUSY)) return;
    while (atomic_load(&writers)) sched_yield(); /* of the window before: they write one record and are gone */
    atomic_store(&used, 0);
    change(atomic_load(&state), OPEN);
}

static int is_open(void) {
    unsigned seen = atomic_load_explicit(&state, memory_order_acquire);
    int window = ids_agent_state();
    if (window != IDS_OPENED) {
        int is_over = window == IDS_WAITING || window == IDS_DONE;
        if (seen % PHASES == OPEN && is_over) change(seen, CLOSED);
        return 0;
    }
    if (seen % PHASES == OPEN) return 1;
    empty_for_window();
    while (phase() == BUSY && ids_agent_state() == IDS_OPENED) sched_yield(); /* another thread is at it */
    return phase() == OPEN;
}

int64_t ids_record_begin(void) {
    return is_open() ? ids_record_now() : 0;
}

int64_t ids_record_begin_counted(void) {
    if (!is_open()) empty_for_window();
    return phase() == OPEN ? ids_record_now() : 0;
}

int64_t ids_record_put(struct ids_record record) {
    int64_t place = IDS_NO_RECORD;
    atomic_fetch_add(&writers, 1);
    if (phase() == OPEN) {
        unsigned slot = atomic_load_explicit(&used, memory_order_relaxed);
        /* Stops counting far above the limit, so that it cannot come round. */
        if (slot < 1u << 31) slot = atomic_fetch_add(&used, 1);
        if (slot < IDS_RECORDS) {
            record.thread = thread_id();
            record.is_whole = 1;
            records[slot] = record;
            place = slot;
        }
    }
    atomic_fetch_sub(&writers, 1);
    return place;
}

void ids_record_complete(int64_t place, int64_t start_ns, int failed) {
    if (place < 0 || place >= IDS_RECORDS) return;
    atomic_fetch_add(&writers, 1);
    if (phase() == OPEN && records[place].is_whole && records[place].start_ns == start_ns) {
        records[place].complete_ns = ids_record_now();
        if (failed) records[place].failed = 1;
    }
    atomic_fetch_sub(&writers, 1);
}

const struct ids_record *ids_record_take(uint32_t *ret_count, int64_t *ret_drops) {
    unsigned count = 0;
    *ret_count = 0;
    *ret_drops = 0;
    unsigned before = atomic_load(&state);
    while (!change(before, BUSY)) before = atomic_load(&state);
    while (atomic_load(&writers)) sched_yield(); /* they write one record and are gone */
    if (before % PHASES != OPEN) return records;
    count = atomic_load(&used);
    *ret_count = count < IDS_RECORDS ? count : IDS_RECORDS;
    *ret_drops = count < IDS_RECORDS ? 0 : (int64_t)count - IDS_RECORDS;
    return records;
}

void ids_record_done(void) {
    if (!records) return;
    madvise(records, IDS_RECORDS * sizeof *records, MADV_DONTNEED); /* zeroes: no record is whole */
    change(atomic_load(&state), CLOSED);
}

void ids_record_forget(void) {
    this_thread = 0;
    atomic_store(&writers, 0);
    atomic_store(&used, 0);
    atomic_store(&state, CLOSED);
}
