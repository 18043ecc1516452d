/* control_group.h - the limits that Linux's control groups set a process, of either version. */
#ifndef IDS_LIB_IO_CONTROL_GROUP_H
#define IDS_LIB_IO_CONTROL_GROUP_H

#include <stddef.h>
#include <stdint.h>

/* The least that `limit_in` says of the folders of the groups that the file `groups` (/proc/self/cgroup) names, and of
 * those above them; they lie below `root` (/sys/fs/cgroup). UINT64_MAX where none can be read. */
uint64_t ids_cgroup_least(const char *groups, const char *root, const char *controller,
                          uint64_t (*limit_in)(const char *folder, int version));

/* The begin of a small file of such a folder as a text; empty when it cannot be read. */
void ids_cgroup_text(const char *folder, const char *file, char *text, size_t room);

#endif
