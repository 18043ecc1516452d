#include "collectors/common/own_memory.h"

#include "collectors/common/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Of the process that opened it: a forked child has the file of its parent's memory. */
static struct {
    pid_t pid;
    struct ids_own_file own; /* of /proc/self/mem; -1: process_vm_readv does it */
} memory = {.own = IDS_NO_FILE};

static int read_by_call(pid_t pid, uintptr_t address, void *to, size_t size) {
    struct iovec into = {to, size}, from = {(void *)address, size}; /* NOLINT(performance-no-int-to-ptr) */
    return process_vm_readv(pid, &into, 1, &from, 1, 0) == (ssize_t)size ? 0 : -1;
}

static int read_by_file(int file, uintptr_t address, void *to, size_t size) {
    return pread(file, to, size, (off_t)address) == (ssize_t)size ? 0 : -1;
}

int ids_own_memory_open(char *why, size_t why_size) {
    static const char probe[] = "idsprof";
    char read[sizeof probe] = "";
    pid_t pid = getpid();
    if (memory.pid == pid && (memory.own.file < 0 || ids_own_file_is_there(&memory.own))) return 0;
    memory.pid = 0;
    ids_own_file_close(&memory.own);
    int failed = read_by_call(pid, (uintptr_t)probe, read, sizeof read), error = errno;
    if (failed) {
        memory.own = ids_own_file_of(open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
        failed = memory.own.file < 0 || read_by_file(memory.own.file, (uintptr_t)probe, read, sizeof read);
    }
    if (failed || strcmp(read, probe) != 0) {
        snprintf(why, why_size,
                 "the process may not read its own memory: process_vm_readv (%s) and /proc/self/mem are refused; allow "
                 "one of them in the container's seccomp profile",
                 strerror(error));
        ids_own_file_close(&memory.own);
        return -1;
    }
    memory.pid = pid;
    return 0;
}

int ids_own_memory(uintptr_t address, void *to, size_t size) {
    if (!address || address + size < address) return -1;
    return memory.own.file >= 0 ? read_by_file(memory.own.file, address, to, size)
                                : read_by_call(memory.pid, address, to, size);
}

int ids_own_memory_pieces(const struct ids_own_piece *pieces, int count) {
    struct iovec into[IDS_OWN_PIECES], from[IDS_OWN_PIECES];
    size_t size = 0;
    if (count > IDS_OWN_PIECES) return -1;
    if (memory.own.file >= 0) {
        for (int i = 0; i < count; i++) {
            if (ids_own_memory(pieces[i].from, pieces[i].to, pieces[i].size)) return -1;
        }
        return 0;
    }
    for (int i = 0; i < count; i++) {
        into[i] = (struct iovec){pieces[i].to, pieces[i].size};
        from[i] = (struct iovec){(void *)pieces[i].from, pieces[i].size}; /* NOLINT(performance-no-int-to-ptr) */
        size += pieces[i].size;
    }
    return process_vm_readv(memory.pid, into, (unsigned long)count, from, (unsigned long)count, 0) == (ssize_t)size
               ? 0
               : -1;
}
