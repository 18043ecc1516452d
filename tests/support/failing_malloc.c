/* failing_malloc.so - for LD_PRELOAD: lets one allocation of idsprof fail, or all from one on.
 *
 *   IDS_FAIL_AT=N      the N-th allocation after main began fails, counted from 1
 *   IDS_FAIL_ON=1      so do all behind it
 *   IDS_FAIL_COUNT=F   at the end the number of allocations is written to the file F
 *   IDS_FAIL_STACKS=F  at the end "first last times" of each chain of calls that allocates, a line each, is written to
 *                      the file F
 *
 * The program is found by its name, because the variables reach its children too. What the allocator beneath is
 * (glibc's, or that of a sanitizer) is asked by weak names, because dlsym would allocate. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BENEATH(type, name, parameters)   \
    extern type __libc_##name parameters; \
    extern type __interceptor_##name parameters __attribute__((weak));
BENEATH(void *, malloc, (size_t))
BENEATH(void *, calloc, (size_t, size_t))
BENEATH(void *, realloc, (void *, size_t))
BENEATH(void *, memalign, (size_t, size_t))
BENEATH(void, free, (void *))
#define CALL(name, ...) (__interceptor_##name ? __interceptor_##name(__VA_ARGS__) : __libc_##name(__VA_ARGS__))

static int counting;
static long first, is_on;
static atomic_long made;

/* ---- chains of calls ---- */

enum { DEEPEST = 200, SEEN_MAX = 1 << 18 };

static int by_stack;
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;
static struct seen_stack {
    uint64_t hash; /* of the return addresses; 0: none is here */
    long first, last, times;
} seen_stacks[SEEN_MAX];
static _Thread_local int in_backtrace;

static void note_stack(long number) {
    void *frames[DEEPEST];
    if (in_backtrace) return;
    in_backtrace = 1;
    int count = backtrace(frames, DEEPEST);
    uint64_t hash = 14695981039346656037U;
    for (int i = 0; i < count; i++) hash = (hash ^ (uintptr_t)frames[i]) * 1099511628211U;
    if (!hash) hash = 1;
    pthread_mutex_lock(&seen_lock);
    size_t at = (size_t)(hash % SEEN_MAX), tries = 0;
    while (seen_stacks[at].hash && seen_stacks[at].hash != hash && tries++ < SEEN_MAX) at = (at + 1) % SEEN_MAX;
    if (tries >= SEEN_MAX) abort();
    struct seen_stack *seen = &seen_stacks[at];
    if (!seen->hash) *seen = (struct seen_stack){.hash = hash, .first = number};
    seen->last = number;
    seen->times++;
    pthread_mutex_unlock(&seen_lock);
    in_backtrace = 0;
}

static int refused(void) {
    if (!counting) return 0;
    long number = atomic_fetch_add_explicit(&made, 1, memory_order_relaxed) + 1;
    if (by_stack) note_stack(number);
    if (!first || number < first || (number > first && !is_on)) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) {
    return refused() ? NULL : CALL(malloc, size);
}

void *calloc(size_t count, size_t size) {
    return refused() ? NULL : CALL(calloc, count, size);
}

void *realloc(void *was, size_t size) {
    return refused() ? NULL : CALL(realloc, was, size);
}

void *reallocarray(void *was, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(was, bytes);
}

void *memalign(size_t alignment, size_t size) {
    return refused() ? NULL : CALL(memalign, alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void **ret_at, size_t alignment, size_t size) {
    void *at = memalign(alignment, size);
    if (!at) return ENOMEM;
    *ret_at = at;
    return 0;
}

void free(void *at) {
    CALL(free, at);
}

/* A sanitizer's own does not pass by malloc. */
char *strdup(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

char *strndup(const char *text, size_t most) {
    size_t length = strnlen(text, most);
    char *copy = malloc(length + 1);
    if (!copy) return NULL;
    copy[length] = '\0';
    return memcpy(copy, text, length);
}

static int open_named(const char *variable) {
    const char *path = getenv(variable);
    return path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
}

static void say_count(void) {
    counting = 0;
    int count = open_named("IDS_FAIL_COUNT"), stacks = open_named("IDS_FAIL_STACKS");
    if (count >= 0) {
        dprintf(count, "%ld\n", atomic_load(&made));
        close(count);
    }
    for (int i = 0; stacks >= 0 && i < SEEN_MAX; i++) {
        const struct seen_stack *seen = &seen_stacks[i];
        if (seen->hash) dprintf(stacks, "%ld %ld %ld\n", seen->first, seen->last, seen->times);
    }
    if (stacks >= 0) close(stacks);
}

static int is_idsprof(void) {
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    static const char name[] = "/idsprof";
    return length >= (ssize_t)(sizeof name - 1) && !memcmp(path + length - (sizeof name - 1), name, sizeof name - 1);
}

typedef int main_function(int, char **, char **);
static main_function *real_main;

static int counted_main(int argc, char **argv, char **environment) {
    const char *at = getenv("IDS_FAIL_AT"), *on = getenv("IDS_FAIL_ON");
    first = at ? atol(at) : 0;
    is_on = on != NULL;
    if (is_idsprof()) {
        void *frame[1];
        by_stack = getenv("IDS_FAIL_STACKS") != NULL && backtrace(frame, 1) >= 0; /* the first call loads a library */
        atexit(say_count);
        counting = 1;
    }
    return real_main(argc, argv, environment);
}

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end) {
    typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
    union {
        void *object;
        start_function *call;
    } start = {dlsym(RTLD_NEXT, "__libc_start_main")};
    real_main = main;
    return start.call(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}
