#include "lib/capture/collectors.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct collector_file {
    const char *path, *records;
    int is_library;
} files[IDS_COLLECTOR_FILES] = {
    [IDS_FILE_HOOK] = {"python/sitecustomize.py", "jax programs", 0},
    [IDS_FILE_PJRT] = {"libidsprof_pjrt.so", "calls of PJRT plugins", 1},
    [IDS_FILE_CUDA] = {"libidsprof_cuda.so", "CUDA programs without jax", 1},
};

/* ---- whether the dynamic linker could load it ---- */

static int read_head(int file, Elf64_Ehdr *head) {
    return pread(file, head, sizeof *head, 0) == (ssize_t)sizeof *head && !memcmp(head->e_ident, ELFMAG, SELFMAG) ? 0
                                                                                                                  : -1;
}

/* The machine of this program, which is that of the programs that it starts. */
static int is_of_this_machine(const Elf64_Ehdr *head) {
    Elf64_Ehdr own;
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (self < 0) return 1;
    int unknown = read_head(self, &own);
    close(self);
    return unknown || (own.e_machine == head->e_machine && own.e_ident[EI_CLASS] == head->e_ident[EI_CLASS]);
}

/* NULL, or what is wrong with an open library. The linker puts the section table last, so a copy that was cut lacks
 * it. */
static const char *fault_of_library(int file) {
    Elf64_Ehdr head;
    struct stat status;
    if (fstat(file, &status) || read_head(file, &head)) return "is no library";
    if (!is_of_this_machine(&head)) return "is for another machine";
    if (head.e_shoff + (Elf64_Off)head.e_shnum * head.e_shentsize > (Elf64_Off)status.st_size) return "is cut short";
    return NULL;
}

int ids_collector_check(const char *home, enum ids_collector_file which, char *why, size_t size) {
    char path[PATH_MAX];
    const char *fault = NULL;
    snprintf(path, sizeof path, "%s/%s", home, files[which].path);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        fault = errno == ENOENT ? "is missing" : strerror(errno);
    } else {
        if (files[which].is_library) fault = fault_of_library(file);
        close(file);
    }
    /* PYTHONPATH and LD_AUDIT are lists that a colon separates, and know no quotes. */
    if (!fault && which != IDS_FILE_CUDA && strchr(home, ':')) fault = "is in a folder with ':' in its name";
    if (fault) snprintf(why, size, "%s %s", files[which].path, fault);
    return fault ? -1 : 0;
}

int ids_collectors_missing(const char *home, char *text, size_t size) {
    char why[PATH_MAX];
    int count = 0;
    size_t used = (size_t)snprintf(text, size, "in '%s' ", home);
    for (int i = 0; i < IDS_COLLECTOR_FILES; i++) {
        if (!ids_collector_check(home, (enum ids_collector_file)i, why, sizeof why)) continue;
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s (%s are not recorded)", count ? ", " : "", why,
                                     files[i].records);
        count++;
    }
    return count;
}
