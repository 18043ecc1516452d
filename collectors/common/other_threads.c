#include "collectors/common/other_threads.h"

#include "collectors/common/thread_clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TEXT = 96 };

static int read_thread(int folder, const char *tid, struct ids_thread_times *ret_times) {
    char path[TEXT], text[TEXT];
    snprintf(path, sizeof path, "%.20s/schedstat", tid);
    int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0) close(file);
    text[length > 0 ? length : 0] = '\0';
    *ret_times = (struct ids_thread_times){.tid = strtoull(tid, NULL, 10)};
    return ids_schedstat_parse(text, &ret_times->ran_ns, &ret_times->waited_ns);
}

int ids_other_threads_read(struct ids_other_threads *threads, size_t most) {
    if (threads->is_read) return 1;
    if (!threads->tasks && !(threads->tasks = opendir("/proc/self/task"))) return threads->is_read = 1;
    const struct dirent *task = NULL;
    for (; most && threads->count < IDS_OTHER_THREADS && (task = readdir(threads->tasks)); most--) {
        if (task->d_name[0] == '.') continue;
        threads->count += (size_t)read_thread(dirfd(threads->tasks), task->d_name, &threads->at[threads->count]);
    }
    if (task && threads->count < IDS_OTHER_THREADS) return 0;
    closedir(threads->tasks);
    threads->tasks = NULL;
    return threads->is_read = 1;
}

void ids_other_threads_forget(struct ids_other_threads *threads) {
    if (threads->tasks) closedir(threads->tasks);
    threads->tasks = NULL;
    threads->count = 0;
    threads->is_read = 0;
}

/* As it was before; a new thread had run for no time. */
static struct ids_thread_times times_before(const struct ids_other_threads *before, uint64_t tid) {
    for (size_t i = 0; i < before->count; i++) {
        if (before->at[i].tid == tid) return before->at[i];
    }
    return (struct ids_thread_times){.tid = tid};
}

struct ids_thread_times ids_other_threads_since(const struct ids_other_threads *before,
                                                const struct ids_other_threads *now,
                                                int (*is_left_out)(const void *context, uint64_t tid),
                                                const void *context) {
    struct ids_thread_times sum = {0};
    for (size_t i = 0; i < now->count; i++) {
        const struct ids_thread_times *own = &now->at[i], then = times_before(before, own->tid);
        if (is_left_out(context, own->tid)) continue;
        if (own->ran_ns < then.ran_ns || own->waited_ns < then.waited_ns) continue; /* another thread of that number */
        sum.ran_ns += own->ran_ns - then.ran_ns;
        sum.waited_ns += own->waited_ns - then.waited_ns;
    }
    return sum;
}
