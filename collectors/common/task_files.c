#include "collectors/common/task_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int file_of(struct ids_task_files *files, uint64_t tid) {
    char path[64];
    for (int i = 0; i < files->count; i++) {
        if (files->at[i].tid == tid) return files->at[i].own.file;
    }
    if (!tid || files->count == IDS_TASK_FILES) return -1;
    snprintf(path, sizeof path, "/proc/self/task/%llu/%s", (unsigned long long)tid, files->name);
    files->at[files->count].tid = tid;
    files->at[files->count].own = ids_own_file_of(open(path, O_RDONLY | O_CLOEXEC));
    return files->at[files->count++].own.file;
}

int ids_task_files_read(struct ids_task_files *files, uint64_t tid, char *text, size_t text_size) {
    int file = file_of(files, tid);
    ssize_t length = file >= 0 ? pread(file, text, text_size - 1, 0) : 0;
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

void ids_task_files_close(struct ids_task_files *files) {
    for (int i = 0; i < files->count; i++) ids_own_file_close(&files->at[i].own);
    files->count = 0;
}
