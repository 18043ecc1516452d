#include "lib/cli/progress.h"

#include "lib/report/layout.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { QUIET_MS = 1000, REPEAT_MS = 250 };

/* A thread of its own, since the reader is busy inside a format and tells nobody how far it is. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    int running, ending, shown;
    struct timespec begun;
    char what[160];
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static struct timespec after_ms(struct timespec when, long ms) {
    when.tv_sec += ms / 1000;
    when.tv_nsec += ms % 1000 * 1000000;
    if (when.tv_nsec >= 1000000000) {
        when.tv_sec++;
        when.tv_nsec -= 1000000000;
    }
    return when;
}

static void *show(void *unused) {
    (void)unused;
    pthread_mutex_lock(&progress.lock);
    struct timespec next = after_ms(progress.begun, QUIET_MS);
    while (!progress.ending) {
        if (pthread_cond_timedwait(&progress.wake, &progress.lock, &next) == 0) continue;
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        struct ids_arena arena = {0};
        fprintf(stderr, "\r\033[K%s  %lld s", ids_text_clean(&arena, progress.what),
                (long long)(now.tv_sec - progress.begun.tv_sec));
        ids_arena_done(&arena);
        fflush(stderr);
        progress.shown = 1;
        next = after_ms(now, REPEAT_MS);
    }
    pthread_mutex_unlock(&progress.lock);
    return NULL;
}

void ids_progress(const char *format, ...) {
    if (!isatty(STDERR_FILENO)) return;
    pthread_mutex_lock(&progress.lock);
    va_list args;
    va_start(args, format);
    vsnprintf(progress.what, sizeof progress.what, format, args);
    va_end(args);
    if (!progress.running) {
        clock_gettime(CLOCK_REALTIME, &progress.begun);
        progress.ending = 0;
        progress.shown = 0;
        progress.running = pthread_create(&progress.thread, NULL, show, NULL) == 0;
    }
    pthread_mutex_unlock(&progress.lock);
}

void ids_progress_end(void) {
    if (!progress.running) return;
    pthread_mutex_lock(&progress.lock);
    progress.ending = 1;
    pthread_cond_signal(&progress.wake);
    pthread_mutex_unlock(&progress.lock);
    pthread_join(progress.thread, NULL);
    progress.running = 0;
    if (!progress.shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
}
