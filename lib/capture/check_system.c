/* The machine as a program finds it: a Linux inside Windows (WSL), the file system of the captures, the limits of a
 * container or a batch job (control groups). */
#include "lib/capture/checkup_parts.h"

#include "lib/base/decimal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { LINE = 4096, WORD = 256 };
#define LITTLE_MEMORY (2.0 * (1 << 30))

/* ---- small files ---- */

static int read_line(const char *root, const char *path, char *line, size_t size) {
    char whole[PATH_MAX];
    if (snprintf(whole, sizeof whole, "%s%s", root, path) >= (int)sizeof whole) return 0;
    FILE *file = fopen(whole, "re");
    int found = file && fgets(line, (int)size, file);
    if (file) fclose(file);
    if (found) line[strcspn(line, "\n")] = '\0';
    return found;
}

int ids_check_is_wsl(const char *root) {
    char release[WORD];
    return read_line(root, "/proc/sys/kernel/osrelease", release, sizeof release) && strcasestr(release, "microsoft");
}

/* ---- the file system of the captures ---- */

struct mount {
    char point[PATH_MAX], type[WORD], source[WORD];
};

/* In mountinfo a space and the like stand as three octal digits. */
static void unescape(char *text) {
    char *to = text;
    for (const char *at = text; *at; at++, to++) {
        int is_code = at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' && at[2] <= '7' && at[3] >= '0' &&
                      at[3] <= '7';
        *to = is_code ? (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + at[3] - '0') : *at;
        if (is_code) at += 3;
    }
    *to = '\0';
}

/* A line of /proc/self/mountinfo: "36 35 0:43 / /mnt rw - nfs4 server:/export rw" (proc_pid_mountinfo(5)). */
static int read_mount(char *line, struct mount *mount) {
    const char *parts = strstr(line, " - ");
    if (!parts || sscanf(line, "%*s %*s %*s %*s %4095s", mount->point) != 1) return 0;
    if (sscanf(parts, " - %255s %255s", mount->type, mount->source) != 2) return 0;
    unescape(mount->point);
    return 1;
}

static int is_below(const char *path, const char *point) {
    size_t length = strlen(point);
    while (length && point[length - 1] == '/') length--;
    return !strncmp(path, point, length) && (!path[length] || path[length] == '/');
}

/* The mount that a path lies in: the longest one, of equal ones the last, which covers the others. */
static int find_mount(const char *root, const char *path, struct mount *ret_mount) {
    char whole[PATH_MAX], line[LINE];
    struct mount mount;
    size_t longest = 0;
    if (snprintf(whole, sizeof whole, "%s/proc/self/mountinfo", root) >= (int)sizeof whole) return 0;
    FILE *file = fopen(whole, "re");
    while (file && fgets(line, sizeof line, file)) {
        if (!read_mount(line, &mount) || !is_below(path, mount.point) || strlen(mount.point) < longest) continue;
        longest = strlen(mount.point);
        *ret_mount = mount;
    }
    if (file) fclose(file);
    return longest > 0;
}

static int is_any(const char *word, const char *const *words) {
    for (; *words; words++) {
        if (!strcmp(word, *words)) return 1;
    }
    return 0;
}

void ids_check_mount(const struct ids_checkup_options *options, const char *there, struct ids_checkup *checkup) {
    static const char *const network[] = {"nfs",        "nfs4",   "cifs",     "smb3",           "smbfs",
                                          "fuse.sshfs", "lustre", "gpfs",     "ceph",           "afs",
                                          "beegfs",     "pvfs",   "orangefs", "fuse.glusterfs", NULL};
    static const char *const windows[] = {"9p", "drvfs", "v9fs", NULL};
    char path[PATH_MAX];
    struct mount mount;
    if (!realpath(there, path) || !find_mount(options->root, path, &mount)) return;
    if (is_any(mount.type, windows) && ids_check_is_wsl(options->root)) {
        ids_check_add(checkup, "place.mount", "file system", IDS_CHECK_NOTE,
                      ids_check_text(checkup, "%s is a disk of Windows, on which files are slow to make", mount.point),
                      "choose a folder of Linux with -o DIR, such as one below ~");
    } else if (is_any(mount.type, network)) {
        ids_check_add(checkup, "place.mount", "file system", IDS_CHECK_NOTE,
                      ids_check_text(checkup,
                                     "%s is on the network (%s, %s): the program waits while a window is written",
                                     mount.point, mount.type, mount.source),
                      "choose a folder of a local disk with -o DIR if that takes long, unless ranks on other machines "
                      "share it");
    } else if (!strcmp(mount.type, "tmpfs") || !strcmp(mount.type, "ramfs")) {
        ids_check_add(checkup, "place.mount", "file system", IDS_CHECK_NOTE,
                      ids_check_text(checkup,
                                     "%s is memory (%s): captures take it from programs, and are lost at the next "
                                     "start",
                                     mount.point, mount.type),
                      "choose a folder of a disk with -o DIR");
    }
}

/* ---- control groups ---- */

/* Where the group of this process is: "4:memory:/job" of version 1, "0::/job" of version 2. */
static int find_group(const char *root, const char *controller, char group[PATH_MAX], int *is_second) {
    char whole[PATH_MAX], line[LINE];
    int found = 0;
    if (snprintf(whole, sizeof whole, "%s/proc/self/cgroup", root) >= (int)sizeof whole) return 0;
    FILE *file = fopen(whole, "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
        if (!path) continue;
        *path++ = '\0';
        int is_named = 0;
        for (char *rest = list + 1, *word; (word = strsep(&rest, ","));) is_named |= !strcmp(word, controller);
        if (!is_named && (list[1] || found)) continue;
        snprintf(group, PATH_MAX, "%s", path);
        found = 1;
        *is_second = !is_named;
        if (is_named) break;
    }
    if (file) fclose(file);
    return found;
}

/* A value of the group or the nearest one above it that has the file: a container may not see its own name. */
static int read_group(const char *root, const char *controller, const char *first, const char *second, char *line,
                      size_t size) {
    char group[PATH_MAX], path[2 * PATH_MAX];
    int is_second = 0;
    if (!find_group(root, controller, group, &is_second)) return 0;
    const char *name = is_second ? second : first;
    for (size_t length = strlen(group);; length--) {
        while (length && group[length - 1] == '/') length--;
        snprintf(path, sizeof path, "/sys/fs/cgroup%s%s%.*s/%s", is_second ? "" : "/", is_second ? "" : controller,
                 (int)length, group, name);
        if (read_line(root, path, line, size) && strncmp(line, "max", 3) != 0 && *line != '-') return 1;
        while (length && group[length - 1] != '/') length--;
        if (!length) return 0;
    }
}

/* The whole number at the begin of a text, behind blanks; -1 where there is none. *ret_rest is what follows. */
static double number_at(const char *text, const char **ret_rest) {
    int64_t number;
    text += strspn(text, " \t");
    size_t length = strspn(text, "0123456789");
    if (ret_rest) *ret_rest = text + length;
    return length && ids_decimal_integer(text, length, &number) == 1 ? (double)number : -1;
}

static void check_memory(const struct ids_checkup_options *options, struct ids_checkup *checkup) {
    char limit_text[WORD], used_text[WORD];
    if (!read_group(options->root, "memory", "memory.limit_in_bytes", "memory.max", limit_text, sizeof limit_text))
        return;
    double limit = number_at(limit_text, NULL), used = 0;
    double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (limit <= 0 || limit >= machine) return; /* version 1 says 2^63 for none */
    if (read_group(options->root, "memory", "memory.usage_in_bytes", "memory.current", used_text, sizeof used_text))
        used = number_at(used_text, NULL);
    int is_little = limit - used < LITTLE_MEMORY;
    ids_check_add(checkup, "limits.memory", "memory limit", IDS_CHECK_NOTE,
                  ids_check_text(checkup, "the container or batch job may use %.1f GB, and uses %.1f GB", limit / 1e9,
                                 used / 1e9),
                  is_little ? "an open window keeps what it records in memory: fewer --steps, or a smaller "
                              "--max-window-bytes"
                            : NULL);
}

static void check_cpus(const struct ids_checkup_options *options, struct ids_checkup *checkup) {
    char text[WORD], period_text[WORD] = "";
    if (!read_group(options->root, "cpu", "cpu.cfs_quota_us", "cpu.max", text, sizeof text)) return;
    const char *rest;
    double quota = number_at(text, &rest), period = number_at(rest, NULL);
    if (period <= 0 &&
        read_group(options->root, "cpu", "cpu.cfs_period_us", "cpu.max", period_text, sizeof period_text))
        period = number_at(period_text, NULL);
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (quota <= 0 || period <= 0 || quota / period >= (double)cpus) return;
    ids_check_add(checkup, "limits.cpu", "CPU limit", IDS_CHECK_NOTE,
                  ids_check_text(checkup, "the container or batch job may use %.1f of %ld CPUs", quota / period, cpus),
                  "threads that use more are stopped for a while, and a profile shows it as waits: give the job more "
                  "CPUs, or the program fewer threads");
}

void ids_check_limits(const struct ids_checkup_options *options, struct ids_checkup *checkup) {
    check_memory(options, checkup);
    check_cpus(options, checkup);
}
