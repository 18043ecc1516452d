#include "collectors/common/process.h"

#include "collectors/common/secrets.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ARGV_BYTES = 2048, MASKED_BYTES = 2 * ARGV_BYTES + 64 };

void ids_process_host(char host[IDS_HOST_BYTES]) {
    if (gethostname(host, IDS_HOST_BYTES)) host[0] = '\0';
    host[IDS_HOST_BYTES - 1] = '\0';
    for (char *at = host; *at; at++) {
        int plain = (*at >= '0' && *at <= '9') || ((*at | 32) >= 'a' && (*at | 32) <= 'z') || *at == '-' || *at == '.';
        if (!plain) *at = '_';
    }
    if (!host[0] || host[0] == '.') memcpy(host, "host", sizeof "host");
}

int64_t ids_process_rank(void) {
    static const char *const names[] = {"RANK",     "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                        "PMI_RANK", "SLURM_PROCID",         "JAX_PROCESS_ID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (!text || !*text) continue;
        char *end;
        long rank = strtol(text, &end, 10);
        if (!*end && rank >= 0) return rank;
    }
    return -1;
}

int ids_process_hello(struct ids_hello_file *hello, const char *session, const char *host, int pid) {
    snprintf(hello->path, sizeof hello->path, "%s/.idsprof/%s.%d.hello", session, host, pid);
    return ids_hello_open(hello);
}

/* Texts each ended by a zero byte; the last one may be cut. */
static size_t read_arguments(char *text, size_t size) {
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, size - 1);
    if (file >= 0) close(file);
    if (length <= 0) return 0;
    text[length] = '\0';
    return (size_t)length;
}

/* The arguments with secrets masked, which makes them longer at times; how many bytes. */
static size_t read_masked(char *masked, size_t size) {
    char text[ARGV_BYTES];
    struct ids_secrets secrets = {0};
    size_t bytes = read_arguments(text, sizeof text), used = 0;
    for (size_t at = 0; at < bytes && used + 1 < size; at += strlen(text + at) + 1) {
        ids_secrets_mask(&secrets, text + at, masked + used, size - used);
        used += strlen(masked + used) + 1;
    }
    return used;
}

void ids_process_facts(struct ids_hello *line) {
    char text[MASKED_BYTES];
    ids_hello_number(line, "pid", getpid());
    ids_hello_number(line, "ppid", getppid());
    ssize_t length = readlink("/proc/self/exe", text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    ids_hello_text(line, "exe", text);
    size_t bytes = read_masked(text, sizeof text);
    ids_hello_texts(line, "argv", text, bytes);
}

void ids_process_command(char *text, size_t size) {
    size_t length = size ? read_masked(text, size) : 0;
    for (size_t i = 0; i + 1 < length; i++) {
        if (!text[i]) text[i] = ' ';
    }
    if (!length && size) text[0] = '\0';
}

static int64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t ids_monotonic_ns(void) {
    return read_clock(CLOCK_MONOTONIC);
}

int64_t ids_realtime_ns(void) {
    return read_clock(CLOCK_REALTIME);
}

int64_t ids_process_memory(void) {
    char text[128], *end;
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0) return 0;
    text[length] = '\0';
    strtoll(text, &end, 10); /* the address space */
    int64_t resident = strtoll(end, &end, 10), shared = strtoll(end, &end, 10);
    return (resident - shared) * sysconf(_SC_PAGESIZE);
}
