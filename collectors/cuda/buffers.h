/* buffers.h - the buffers that CUPTI fills: all of them taken from the kernel at a window's start, so that its
 * callbacks, which run in the program's threads, only move pointers under a lock. A buffer goes round: free, in CUPTI's
 * hands, full, drained, free. Where none is free CUPTI gets none and drops records, which it counts.
 */
#ifndef IDS_COLLECTORS_CUDA_BUFFERS_H
#define IDS_COLLECTORS_CUDA_BUFFERS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { IDS_CUDA_BUFFERS = 16, IDS_CUDA_BUFFER_BYTES = 4 << 20 };

struct ids_cuda_full {
    uint8_t *at;
    size_t valid;
};

struct ids_cuda_buffers {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a full one came, or the end was told */
    uint8_t *memory;        /* NULL: none was taken */
    size_t count;
    uint8_t *free[IDS_CUDA_BUFFERS];
    size_t free_count;
    struct ids_cuda_full full[IDS_CUDA_BUFFERS]; /* in the order in which they came */
    size_t full_count;
    uint64_t refused, returned; /* requests that got none; buffers that came back */
    int over, closed;           /* closed: CUPTI gets none, for no window is open */
};

/* Takes the memory: as many of the buffers as there is memory for; what came since the window before is forgotten.
 * 0, or -1 when there is none for a single one. */
int ids_cuda_buffers_take(struct ids_cuda_buffers *buffers);
/* From now on CUPTI gets none. Gives the memory back, unless CUPTI still has some of it: then it stays for the next
 * window, for CUPTI would write into what is not ours. */
void ids_cuda_buffers_release(struct ids_cuda_buffers *buffers);
/* How many CUPTI has. */
size_t ids_cuda_buffers_out(struct ids_cuda_buffers *buffers);

/* For CUPTI's callbacks. NULL: none is free. */
uint8_t *ids_cuda_buffers_give(struct ids_cuda_buffers *buffers);
void ids_cuda_buffers_come(struct ids_cuda_buffers *buffers, uint8_t *at, size_t valid);

/* The full one that came first: 1, or 0 when there is none; `wait`: until one comes or ids_cuda_buffers_end. */
int ids_cuda_buffers_next(struct ids_cuda_buffers *buffers, int wait, struct ids_cuda_full *ret_full);
/* It was drained. */
void ids_cuda_buffers_back(struct ids_cuda_buffers *buffers, const struct ids_cuda_full *full);
/* Wakes who waits. */
void ids_cuda_buffers_end(struct ids_cuda_buffers *buffers);

#endif
