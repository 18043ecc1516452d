/* memory_limit.h - how much memory this process may have: what the machine has, or less where a limit (setrlimit) or
 * the control group of a container or a batch job says so.
 *
 * Control groups: Documentation/admin-guide/cgroup-v2.rst (memory.max) and cgroup-v1/memory.rst (memory.limit_in_bytes)
 * of Linux.
 */
#ifndef IDS_LIB_IO_MEMORY_LIMIT_H
#define IDS_LIB_IO_MEMORY_LIMIT_H

#include <stdint.h>

/* Bytes. */
uint64_t ids_memory_limit(void);

/* The least limit of the groups that the file `groups` (/proc/self/cgroup) names, and of those above them; the groups
 * lie below `root` (/sys/fs/cgroup). UINT64_MAX where there is none that can be read. */
uint64_t ids_cgroup_memory_limit(const char *groups, const char *root);

#endif
