#include "lib/base/random.h"

#include <fcntl.h>
#include <unistd.h>

/* getrandom() is newer than the C libraries of clusters. */
int ids_random_bytes(void *bytes, size_t length, struct ids_error *err) {
    int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    ssize_t count = file < 0 ? -1 : read(file, bytes, length);
    int code = count == (ssize_t)length ? 0 : ids_fail_system(err, "no random numbers from /dev/urandom");
    if (file >= 0) close(file);
    return code;
}
