#include "collectors/cuda/buffers.h"

#include <sys/mman.h>

int ids_cuda_buffers_take(struct ids_cuda_buffers *buffers) {
    pthread_mutex_lock(&buffers->lock);
    int first = !buffers->memory; /* else CUPTI kept some: the rest goes round as it did */
    for (size_t count = IDS_CUDA_BUFFERS; count && !buffers->memory; count /= 2) {
        void *memory = mmap(NULL, count * IDS_CUDA_BUFFER_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) continue;
        buffers->memory = memory;
        buffers->count = count;
    }
    buffers->refused = buffers->returned = 0;
    buffers->over = buffers->closed = 0;
    while (buffers->full_count) buffers->free[buffers->free_count++] = buffers->full[--buffers->full_count].at;
    for (size_t i = buffers->count; first && i-- > 0;)
        buffers->free[buffers->free_count++] = buffers->memory + i * IDS_CUDA_BUFFER_BYTES;
    int failed = !buffers->memory;
    pthread_mutex_unlock(&buffers->lock);
    return failed ? -1 : 0;
}

void ids_cuda_buffers_release(struct ids_cuda_buffers *buffers) {
    pthread_mutex_lock(&buffers->lock);
    buffers->closed = 1;
    if (buffers->memory && buffers->free_count + buffers->full_count == buffers->count) {
        munmap(buffers->memory, buffers->count * IDS_CUDA_BUFFER_BYTES);
        buffers->memory = NULL;
        buffers->count = buffers->free_count = buffers->full_count = 0;
    }
    pthread_mutex_unlock(&buffers->lock);
}

size_t ids_cuda_buffers_out(struct ids_cuda_buffers *buffers) {
    pthread_mutex_lock(&buffers->lock);
    size_t out = buffers->count - buffers->free_count - buffers->full_count;
    pthread_mutex_unlock(&buffers->lock);
    return out;
}

uint8_t *ids_cuda_buffers_give(struct ids_cuda_buffers *buffers) {
    pthread_mutex_lock(&buffers->lock);
    uint8_t *at = buffers->free_count && !buffers->closed ? buffers->free[--buffers->free_count] : NULL;
    buffers->refused += !at;
    pthread_mutex_unlock(&buffers->lock);
    return at;
}

void ids_cuda_buffers_come(struct ids_cuda_buffers *buffers, uint8_t *at, size_t valid) {
    pthread_mutex_lock(&buffers->lock);
    size_t offset = (size_t)((uintptr_t)at - (uintptr_t)buffers->memory);
    int ours = buffers->memory && (uintptr_t)at >= (uintptr_t)buffers->memory &&
               offset < buffers->count * IDS_CUDA_BUFFER_BYTES && offset % IDS_CUDA_BUFFER_BYTES == 0;
    /* A buffer of a window before, whose memory is gone, has no place. */
    if (ours && valid && valid <= IDS_CUDA_BUFFER_BYTES && buffers->full_count < IDS_CUDA_BUFFERS) {
        buffers->full[buffers->full_count++] = (struct ids_cuda_full){at, valid};
        buffers->returned++;
        pthread_cond_signal(&buffers->changed);
    } else if (ours && buffers->free_count < IDS_CUDA_BUFFERS) {
        buffers->free[buffers->free_count++] = at;
    }
    pthread_mutex_unlock(&buffers->lock);
}

int ids_cuda_buffers_next(struct ids_cuda_buffers *buffers, int wait, struct ids_cuda_full *ret_full) {
    pthread_mutex_lock(&buffers->lock);
    while (wait && !buffers->full_count && !buffers->over) pthread_cond_wait(&buffers->changed, &buffers->lock);
    int there = buffers->full_count > 0;
    if (there) {
        *ret_full = buffers->full[0];
        buffers->full_count--;
        for (size_t i = 0; i < buffers->full_count; i++) buffers->full[i] = buffers->full[i + 1];
    }
    pthread_mutex_unlock(&buffers->lock);
    return there;
}

void ids_cuda_buffers_back(struct ids_cuda_buffers *buffers, const struct ids_cuda_full *full) {
    pthread_mutex_lock(&buffers->lock);
    if (buffers->free_count < IDS_CUDA_BUFFERS) buffers->free[buffers->free_count++] = full->at;
    pthread_mutex_unlock(&buffers->lock);
}

void ids_cuda_buffers_end(struct ids_cuda_buffers *buffers) {
    pthread_mutex_lock(&buffers->lock);
    buffers->over = 1;
    pthread_cond_broadcast(&buffers->changed);
    pthread_mutex_unlock(&buffers->lock);
}
