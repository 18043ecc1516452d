#include "lib/base/own_program.h"

#ifdef __APPLE__

#include <limits.h>
#include <mach-o/dyld.h>
#include <pthread.h>
#include <stdint.h>

static char path[PATH_MAX];

static void find(void) {
    uint32_t size = sizeof path;
    if (_NSGetExecutablePath(path, &size)) *path = '\0'; /* too long: then nothing lies there */
}

const char *ids_own_program(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    return path;
}

#else

const char *ids_own_program(void) {
    return "/proc/self/exe";
}

#endif
