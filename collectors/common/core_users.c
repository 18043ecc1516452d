#include "collectors/common/core_users.h"

#include "collectors/common/machine_load.h"
#include "collectors/common/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 1024, THOUSAND = 1000, NOTED = 50, DEPTH = 64 };

/* --- what the kernel says --------------------------------------------------------------------------------------- */

/* "12 (a (b) c) S 1 ...": the command may hold anything, so its end is the last bracket. Fields as in proc(5): 4 the
 * parent, 14 and 15 user and system time, 16 and 17 those of children that were waited for. */
int ids_core_user_parse(const char *text, struct ids_core_user *ret_user) {
    enum { PARENT = 4, USER = 14, CHILDREN = 16, LAST = 17 };
    const char *open = strchr(text, '('), *close = open ? strrchr(open, ')') : NULL;
    if (!close || close[1] != ' ') return 0;
    *ret_user = (struct ids_core_user){.pid = strtoll(text, NULL, 10)};
    size_t length = (size_t)(close - open - 1);
    if (length >= IDS_CORE_COMMAND) length = IDS_CORE_COMMAND - 1;
    memcpy(ret_user->command, open + 1, length);
    const char *at = close + 2; /* field 3 */
    for (int field = 3; field < LAST; field++) {
        at = strchr(at, ' ');
        if (!at) return 0;
        int64_t number = strtoll(++at, NULL, 10);
        if (field + 1 == PARENT) ret_user->parent = number;
        if (field + 1 == USER || field + 1 == USER + 1) ret_user->ticks += number;
        if (field + 1 == CHILDREN || field + 1 == LAST) ret_user->waited_ticks += number;
    }
    return ret_user->pid > 0;
}

static int read_text(int folder, const char *path, char text[TEXT]) {
    int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, TEXT - 1) : 0;
    if (file >= 0) close(file);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static int read_user(int folder, const char *pid, struct ids_core_user *ret_user) {
    char path[64], text[TEXT];
    snprintf(path, sizeof path, "%.20s/stat", pid);
    if (!read_text(folder, path, text) || !ids_core_user_parse(text, ret_user)) return 0;
    ret_user->when_ns = ids_monotonic_ns();
    return 1;
}

static int begin(struct ids_core_users *users) {
    char text[TEXT];
    int64_t idle;
    if (!(users->folder = opendir("/proc"))) return 0;
    users->when_ns = ids_monotonic_ns();
    return read_text(dirfd(users->folder), "stat", text) && ids_proc_stat_parse(text, &users->busy_ticks, &idle);
}

int ids_core_users_read(struct ids_core_users *users, size_t most) {
    if (users->is_read) return 1;
    if (!users->folder && !begin(users)) {
        ids_core_users_forget(users);
        return users->is_read = 1;
    }
    const struct dirent *entry = NULL;
    while (most && users->count < IDS_CORE_USERS && (entry = readdir(users->folder))) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
        users->count += (size_t)read_user(dirfd(users->folder), entry->d_name, &users->at[users->count]);
        most--;
    }
    if (entry && users->count < IDS_CORE_USERS) return 0;
    closedir(users->folder);
    users->folder = NULL;
    return users->is_read = 1;
}

void ids_core_users_forget(struct ids_core_users *users) {
    if (users->folder) closedir(users->folder);
    users->folder = NULL;
    users->count = 0;
    users->is_read = 0;
}

/* --- who had how much ------------------------------------------------------------------------------------------- */

static const struct ids_core_user *find(const struct ids_core_users *users, int64_t pid) {
    for (size_t i = 0; i < users->count; i++) {
        if (users->at[i].pid == pid) return &users->at[i];
    }
    return NULL;
}

static int is_started_by(const struct ids_core_users *users, const struct ids_core_user *user, int64_t pid) {
    for (int depth = 0; user && depth < DEPTH; depth++) {
        if (user->parent == pid) return 1;
        user = find(users, user->parent);
    }
    return 0;
}

static int64_t thousandths(int64_t ticks, int64_t tick_ns, int64_t took_ns) {
    if (ticks <= 0 || took_ns <= 0) return 0;
    return (int64_t)((double)ticks * (double)tick_ns * THOUSAND / (double)took_ns);
}

struct sum {
    const struct ids_core_users *before, *now;
    int64_t pid, tick_ns;
    /* By process of `now`. */
    int64_t had[IDS_CORE_USERS];
    uint8_t is_started[IDS_CORE_USERS];
};

/* One that is new had run for no time. */
static int64_t had(const struct sum *sum, const struct ids_core_user *user) {
    const struct ids_core_user *before = find(sum->before, user->pid);
    int64_t ticks = before && before->ticks <= user->ticks ? before->ticks : 0;
    return thousandths(user->ticks - ticks, sum->tick_ns, user->when_ns - (before ? before : sum->before->at)->when_ns);
}

/* Of processes that have ended the kernel tells the parent's sum, from their begin on. */
static int64_t had_by_ended(const struct sum *sum, const struct ids_core_user *own) {
    const struct ids_core_user *before = find(sum->before, sum->pid);
    int64_t ticks = own->waited_ticks - before->waited_ticks;
    for (size_t i = 0; i < sum->before->count; i++) {
        const struct ids_core_user *user = &sum->before->at[i];
        if (is_started_by(sum->before, user, sum->pid) && !find(sum->now, user->pid)) ticks -= user->ticks;
    }
    return thousandths(ticks, sum->tick_ns, own->when_ns - before->when_ns);
}

/* The command whose processes had most, of those that the process started, or of the others. */
static void name_most(const struct sum *sum, int is_started, char command[IDS_CORE_COMMAND]) {
    const struct ids_core_users *now = sum->now;
    int64_t most = NOTED - 1;
    for (size_t i = 0; i < now->count; i++) {
        int64_t together = 0;
        if (!sum->had[i] || sum->is_started[i] != is_started || now->at[i].pid == sum->pid) continue;
        for (size_t j = 0; j < now->count; j++) {
            if (sum->had[j] && sum->is_started[j] == is_started && now->at[j].pid != sum->pid &&
                !strcmp(now->at[i].command, now->at[j].command))
                together += sum->had[j];
        }
        if (together <= most) continue;
        most = together;
        memcpy(command, now->at[i].command, IDS_CORE_COMMAND);
    }
}

struct ids_core_shares ids_core_users_since(const struct ids_core_users *before, const struct ids_core_users *now,
                                            int64_t pid, int64_t tick_ns) {
    struct sum sum = {.before = before, .now = now, .pid = pid, .tick_ns = tick_ns};
    const struct ids_core_user *own = find(now, pid);
    struct ids_core_shares shares = {0};
    if (!own || !find(before, pid) || tick_ns <= 0) return shares;
    shares.cores = sysconf(_SC_NPROCESSORS_ONLN);
    shares.started = had_by_ended(&sum, own);
    for (size_t i = 0; i < now->count; i++) {
        sum.had[i] = had(&sum, &now->at[i]);
        sum.is_started[i] = (uint8_t)is_started_by(now, &now->at[i], pid);
        if (now->at[i].pid == pid) shares.own = sum.had[i];
        if (!sum.is_started[i]) continue;
        shares.started += sum.had[i];
        shares.started_count += sum.had[i] >= NOTED;
    }
    int64_t busy = thousandths(now->busy_ticks - before->busy_ticks, tick_ns, now->when_ns - before->when_ns);
    shares.others = busy > shares.own + shares.started ? busy - shares.own - shares.started : 0;
    name_most(&sum, 1, shares.started_command);
    name_most(&sum, 0, shares.others_command);
    return shares;
}
