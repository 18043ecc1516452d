/* apple.h - what glibc has and macOS has under another name or not at all. CMake forces it into every source on Apple's
 * systems and nowhere else, so that no source asks for which system it is compiled. */
#ifndef IDS_LIB_BASE_APPLE_H
#define IDS_LIB_BASE_APPLE_H

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xlocale.h>

extern char **environ;

#define st_mtim st_mtimespec
#define st_ctim st_ctimespec

/* Advice to the kernel, of which nothing depends. */
enum { POSIX_FADV_SEQUENTIAL = 2, SYNC_FILE_RANGE_WRITE = 2 };
#define posix_fadvise(file, at, length, advice) ((void)(file))
#define sync_file_range(file, at, length, how) ((void)(file), (void)(at), (void)(length))

/* Without a file that never had a name, open() is refused a folder, and the caller makes one whose name it takes
 * away. */
#define O_TMPFILE 0
/* One descriptor of `view`, open while a port is tried. */
#define SOCK_CLOEXEC 0
/* Signals of the terminal: they reach the child as they reach us. */
#define SI_KERNEL 0
/* Signals carry no value there. */
#define sigqueue(process, number, value) ((void)(value), kill(process, number))

/* Not in one step there: a program that another thread starts meanwhile has them too. */
static inline int ids_apple_pipe2(int ends[2], int flags) {
    int failed = pipe(ends);
    for (int i = 0; !failed && i < 2; i++) {
        if (flags & O_CLOEXEC) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        if (flags & O_NONBLOCK) fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
    return failed;
}
#define pipe2 ids_apple_pipe2

/* No set of processors that a process may run on: the caller asks how many there are. */
typedef struct {
    int none;
} cpu_set_t;
#define sched_getaffinity(process, bytes, set) ((set)->none = -1)
#define CPU_COUNT(set) ((set)->none)

static inline void *ids_apple_memrchr(const void *bytes, int byte, size_t length) {
    for (const unsigned char *at = (const unsigned char *)bytes + length; at != (const unsigned char *)bytes;)
        if (*--at == (unsigned char)byte) return (void *)(uintptr_t)at;
    return NULL;
}
#define memrchr ids_apple_memrchr

/* qsort_r with the arguments of glibc. */
struct ids_apple_order {
    int (*compare)(const void *, const void *, void *);
    void *own;
};

static inline int ids_apple_compare(void *order, const void *a, const void *b) {
    const struct ids_apple_order *of = order;
    return of->compare(a, b, of->own);
}

static inline void ids_apple_qsort_r(void *rows, size_t count, size_t bytes,
                                     int (*compare)(const void *, const void *, void *), void *own) {
    struct ids_apple_order order = {compare, own};
    qsort_r(rows, count, bytes, &order, ids_apple_compare);
}
#define qsort_r ids_apple_qsort_r

/* fopencookie, as far as it is used: streams that are written. */
typedef struct {
    ssize_t (*write)(void *own, const char *bytes, size_t length);
    int (*close)(void *own);
} cookie_io_functions_t;

struct ids_apple_cookie {
    void *own;
    cookie_io_functions_t calls;
};

static inline int ids_apple_cookie_write(void *cookie, const char *bytes, int length) {
    const struct ids_apple_cookie *of = cookie;
    ssize_t written = of->calls.write(of->own, bytes, (size_t)length);
    return length && !written ? -1 : (int)written; /* glibc's writers say 0 for a failure */
}

static inline int ids_apple_cookie_close(void *cookie) {
    struct ids_apple_cookie *of = cookie;
    int failed = of->calls.close ? of->calls.close(of->own) : 0;
    free(of);
    return failed;
}

static inline FILE *fopencookie(void *own, const char *mode, cookie_io_functions_t calls) {
    (void)mode;
    struct ids_apple_cookie *cookie = malloc(sizeof *cookie);
    if (!cookie) return NULL;
    *cookie = (struct ids_apple_cookie){own, calls};
    FILE *file = funopen(cookie, NULL, ids_apple_cookie_write, NULL, ids_apple_cookie_close);
    if (!file) free(cookie);
    return file;
}

#endif
