#include "lib/capture/session_of.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char variable[] = "IDSPROF_SESSION=";
enum { ENVIRONMENT_BYTES = 1 << 20, NUMBER_DIGITS = 10 };

/* The environment with which the process began: each variable ends with a zero byte. */
static size_t read_environment(const char *process, char *bytes, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%.*s/environ", NUMBER_DIGITS, process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    while (file >= 0 && length + 1 < size) {
        ssize_t got = read(file, bytes + length, size - 1 - length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        length += (size_t)got;
    }
    if (file >= 0) close(file);
    bytes[length] = '\0';
    return length;
}

int ids_session_of(const char *process, char *session, size_t size) {
    size_t digits = strspn(process, "0123456789");
    if (!digits || digits > NUMBER_DIGITS || process[digits]) return -1;
    char *bytes = malloc(ENVIRONMENT_BYTES);
    size_t length = bytes ? read_environment(process, bytes, ENVIRONMENT_BYTES) : 0;
    int found = -1;
    for (size_t at = 0; at < length && found; at += strlen(bytes + at) + 1) {
        const char *value = bytes + at + sizeof variable - 1;
        if (strncmp(bytes + at, variable, sizeof variable - 1) != 0 || strlen(value) >= size) continue;
        memcpy(session, value, strlen(value) + 1);
        found = 0;
    }
    free(bytes);
    return found;
}
