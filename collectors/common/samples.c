#include "collectors/common/samples.h"

#include <stdlib.h>
#include <string.h>

void ids_samples_done(struct ids_samples *samples) {
    for (size_t i = 0; i < samples->thread_count; i++) {
        free(samples->threads[i].runs);
        free(samples->threads[i].waits);
    }
    free(samples->threads);
    free(samples->calls);
    *samples = (struct ids_samples){0};
}

/* Room for `more` items behind `count`; NULL when there is no memory. */
static void *with_room(void *at, size_t count, size_t more, size_t *room, size_t size) {
    if (count + more <= *room) return at;
    size_t wanted = *room ? 2 * *room : 64;
    while (wanted < count + more) wanted *= 2;
    void *grown = realloc(at, wanted * size);
    if (grown) *room = wanted;
    return grown;
}

static struct ids_sampled_thread *thread_of(struct ids_samples *samples, const struct ids_python_stack *stack) {
    for (size_t i = 0; i < samples->thread_count; i++) {
        struct ids_sampled_thread *thread = &samples->threads[i];
        if (thread->pthread == stack->pthread && thread->tid == stack->tid) return thread;
    }
    if (samples->thread_count == IDS_SAMPLED_THREADS) return NULL;
    struct ids_sampled_thread *grown =
        with_room(samples->threads, samples->thread_count, 1, &samples->thread_room, sizeof *grown);
    if (!grown) return NULL;
    samples->threads = grown;
    grown += samples->thread_count++;
    *grown = (struct ids_sampled_thread){.pthread = stack->pthread, .tid = stack->tid};
    return grown;
}

static int goes_on(const struct ids_samples *samples, const struct ids_sample_run *run,
                   const struct ids_python_stack *stack, uint32_t number) {
    return run->last + 1 == number && run->depth == (uint32_t)stack->depth && run->waits == stack->waits &&
           !memcmp(samples->calls + run->calls, stack->calls, run->depth * sizeof *stack->calls);
}

static void lengthen(struct ids_sample_run *run, uint32_t number, int64_t when_ns) {
    run->last = number;
    run->last_ns = when_ns;
}

size_t ids_samples_add(struct ids_samples *samples, const struct ids_python_stack *stack, uint32_t number,
                       int64_t when_ns) {
    struct ids_sampled_thread *thread = thread_of(samples, stack);
    struct ids_sample_run *last = thread && thread->count ? &thread->runs[thread->count - 1] : NULL;
    int is_same = last && goes_on(samples, last, stack, number);
    if (is_same && !stack->woke) {
        lengthen(last, number, when_ns);
        return (size_t)(thread - samples->threads);
    }
    size_t depth = (size_t)stack->depth;
    struct ids_sample_run *runs =
        thread ? with_room(thread->runs, thread->count, 1, &thread->room, sizeof *runs) : NULL;
    if (runs) thread->runs = runs;
    struct ids_python_call *calls =
        runs && samples->call_count + depth <= IDS_SAMPLED_CALLS
            ? with_room(samples->calls, samples->call_count, depth, &samples->call_room, sizeof *calls)
            : NULL;
    if (!calls) {
        samples->dropped++;
        return SIZE_MAX;
    }
    samples->calls = calls;
    memcpy(calls + samples->call_count, stack->calls, depth * sizeof *calls);
    runs[thread->count++] = (struct ids_sample_run){
        number, number, when_ns, when_ns, (uint32_t)samples->call_count, (uint32_t)depth, stack->waits, is_same};
    samples->call_count += depth;
    return (size_t)(thread - samples->threads);
}

int ids_samples_again(struct ids_samples *samples, size_t place, uint32_t number, int64_t when_ns) {
    struct ids_sampled_thread *thread = place < samples->thread_count ? &samples->threads[place] : NULL;
    struct ids_sample_run *last = thread && thread->count ? &thread->runs[thread->count - 1] : NULL;
    if (!last || last->last + 1 != number) return -1;
    lengthen(last, number, when_ns);
    return 0;
}

void ids_samples_wait(struct ids_samples *samples, size_t place, struct ids_core_wait wait) {
    if (place >= samples->thread_count) return;
    struct ids_sampled_thread *thread = &samples->threads[place];
    struct ids_core_wait *waits = with_room(thread->waits, thread->wait_count, 1, &thread->wait_room, sizeof *waits);
    if (!waits) return;
    thread->waits = waits;
    /* Times are estimates: one begins no sooner than the one before has ended. */
    if (thread->wait_count && wait.start_ns < waits[thread->wait_count - 1].end_ns)
        wait.start_ns = waits[thread->wait_count - 1].end_ns;
    if (wait.start_ns < wait.end_ns) waits[thread->wait_count++] = wait;
}
