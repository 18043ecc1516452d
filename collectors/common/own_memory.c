#include "collectors/common/own_memory.h"

#include <sys/uio.h>
#include <unistd.h>

int ids_own_memory(uintptr_t address, void *to, size_t size) {
    struct iovec into = {to, size}, from = {(void *)address, size}; /* NOLINT(performance-no-int-to-ptr) */
    if (!address || address + size < address) return -1;
    return process_vm_readv(getpid(), &into, 1, &from, 1, 0) == (ssize_t)size ? 0 : -1;
}
