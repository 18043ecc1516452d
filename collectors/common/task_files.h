/* task_files.h - a file that the kernel has of each thread of this process (/proc/self/task/TID/NAME), opened once for
 * a window and read at each sample. */
#ifndef IDS_COLLECTORS_COMMON_TASK_FILES_H
#define IDS_COLLECTORS_COMMON_TASK_FILES_H

#include "collectors/common/own_file.h"

#include <stddef.h>
#include <stdint.h>

enum { IDS_TASK_FILES = 64 }; /* more threads are not asked about */

struct ids_task_files {
    const char *name;
    int count;
    struct {
        uint64_t tid;
        struct ids_own_file own;
    } at[IDS_TASK_FILES];
};

/* Its text; 1 when there is some, else 0. */
int ids_task_files_read(struct ids_task_files *files, uint64_t tid, char *text, size_t text_size);
void ids_task_files_close(struct ids_task_files *files);

#endif
