#include "lib/attach/process_ports.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOCKETS_MAX = 65536, PATH_BYTES = 320, LINE_BYTES = 512, LISTENS = 0x0a, IPV4_DIGITS = 8 };

struct inodes {
    uint64_t *at;
    size_t count;
};

/* The sockets that it has open. */
static int read_inodes(int64_t pid, struct inodes *ret_inodes, struct ids_error *err) {
    char path[PATH_BYTES], to[64];
    snprintf(path, sizeof path, "/proc/%" PRId64 "/fd", pid);
    DIR *folder = opendir(path);
    if (!folder && errno == ENOENT) return ids_fail(err, IDS_NOT_FOUND, "there is no process %" PRId64, pid);
    if (!folder)
        return ids_fail_system(
            err, "cannot look into process %" PRId64 " (it must be one of this user, or this user root)", pid);
    ret_inodes->at = calloc(SOCKETS_MAX, sizeof *ret_inodes->at);
    for (struct dirent *entry; ret_inodes->at && ret_inodes->count < SOCKETS_MAX && (entry = readdir(folder));) {
        snprintf(path, sizeof path, "/proc/%" PRId64 "/fd/%s", pid, entry->d_name);
        ssize_t length = readlink(path, to, sizeof to - 1);
        if (length < 0) continue;
        to[length] = '\0';
        uint64_t inode = 0;
        if (sscanf(to, "socket:[%" SCNu64 "]", &inode) == 1) ret_inodes->at[ret_inodes->count++] = inode;
    }
    closedir(folder);
    return ret_inodes->at ? 0 : ids_no_memory(err);
}

static int has(const struct inodes *inodes, uint64_t inode) {
    for (size_t i = 0; i < inodes->count; i++) {
        if (inodes->at[i] == inode) return 1;
    }
    return 0;
}

/* One that listens on all addresses is reached by this machine's own; others only by theirs, of which 127.0.0.1 and ::1
 * are the usual ones. A port that listens twice is one. */
static int add_port(struct ids_hosts *hosts, const char *address, unsigned port, struct ids_error *err) {
    static const char own6[] = "00000000000000000000000001000000";
    char name[32];
    int is_six = strlen(address) > IPV4_DIGITS && !strcmp(address, own6);
    struct ids_error twice = IDS_ERROR_INIT;
    int length = snprintf(name, sizeof name, is_six ? "[::1]:%u" : "127.0.0.1:%u", port);
    int code = ids_hosts_add(hosts, name, (size_t)length, NULL, &twice);
    return code == IDS_USAGE ? 0 : code ? ids_error_pass(err, &twice) : 0;
}

/* Lines of /proc/PID/net/tcp: "  0: 0100007F:2694 00000000:0000 0A ... uid timeout inode". */
static int read_table(int64_t pid, const char *table, const struct inodes *inodes, struct ids_hosts *hosts,
                      struct ids_error *err) {
    char path[PATH_BYTES], line[LINE_BYTES], address[33];
    unsigned port, state;
    uint64_t inode;
    int code = 0;
    snprintf(path, sizeof path, "/proc/%" PRId64 "/net/%s", pid, table);
    FILE *file = fopen(path, "re");
    if (!file) return 0; /* no IPv6 here */
    while (!code && fgets(line, sizeof line, file)) {
        int read =
            sscanf(line, " %*u: %32[0-9A-F]:%x %*s %x %*s %*s %*s %*s %*s %" SCNu64, address, &port, &state, &inode);
        if (read == 4 && state == LISTENS && has(inodes, inode)) code = add_port(hosts, address, port, err);
    }
    fclose(file);
    return code;
}

int ids_process_ports(int64_t pid, struct ids_hosts *hosts, struct ids_error *err) {
    struct inodes inodes = {0};
    int code = read_inodes(pid, &inodes, err);
    if (!code) code = read_table(pid, "tcp", &inodes, hosts, err);
    if (!code) code = read_table(pid, "tcp6", &inodes, hosts, err);
    free(inodes.at);
    return code;
}
