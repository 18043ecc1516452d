#include "collectors/pjrt/record.h"

#include "collectors/common/agent.h"
#include "collectors/common/window.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* CLOSED: nothing is recorded; OPEN; BUSY: somebody empties or reads the memory. */
enum { CLOSED, OPEN, BUSY };

static struct ids_record *records;
static atomic_int state;
static atomic_uint used;    /* slots given out, may exceed IDS_RECORDS */
static atomic_uint writers; /* threads between taking a slot and having written it */

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
static int is_open(void) {
    int now = atomic_load_explicit(&state, memory_order_acquire), window = ids_agent_state();
    if (window != IDS_OPENED) {
        int is_over = window == IDS_WAITING || window == IDS_DONE;
        if (now == OPEN && is_over) atomic_compare_exchange_strong(&state, &now, CLOSED);
        return 0;
    }
    if (now == OPEN) return 1;
    if (now != CLOSED || !records || !atomic_compare_exchange_strong(&state, &now, BUSY)) return 0;
    if (atomic_load(&writers)) { /* one of the window before, in the middle of its record */
        atomic_store(&state, CLOSED);
        return 0;
    }
    atomic_store(&used, 0);
    atomic_store_explicit(&state, OPEN, memory_order_release);
    return 1;
}

int64_t ids_record_begin(void) {
    return is_open() ? ids_record_now() : 0;
}

int64_t ids_record_put(struct ids_record record) {
    int64_t place = IDS_NO_RECORD;
    atomic_fetch_add(&writers, 1);
    if (atomic_load(&state) == OPEN) {
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
    if (atomic_load(&state) == OPEN && records[place].is_whole && records[place].start_ns == start_ns) {
        records[place].complete_ns = ids_record_now();
        if (failed) records[place].failed = 1;
    }
    atomic_fetch_sub(&writers, 1);
}

const struct ids_record *ids_record_take(uint32_t *ret_count, int64_t *ret_drops) {
    unsigned count = 0;
    *ret_count = 0;
    *ret_drops = 0;
    int before = atomic_exchange(&state, BUSY);
    while (atomic_load(&writers)) sched_yield(); /* they write one record and are gone */
    if (before != OPEN) return records;
    count = atomic_load(&used);
    *ret_count = count < IDS_RECORDS ? count : IDS_RECORDS;
    *ret_drops = count < IDS_RECORDS ? 0 : (int64_t)count - IDS_RECORDS;
    return records;
}

void ids_record_done(void) {
    if (!records) return;
    madvise(records, IDS_RECORDS * sizeof *records, MADV_DONTNEED); /* zeroes: no record is whole */
    atomic_store(&state, CLOSED);
}

void ids_record_forget(void) {
    this_thread = 0;
    atomic_store(&writers, 0);
    atomic_store(&used, 0);
    atomic_store(&state, CLOSED);
}
