/* fuzz_archive.c - an archive: its list, and every member that is listed, in order and again backwards. Whatever a read
 * gives is the same both times, and no path in the list leads out of it. */
#include "lib/io/archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEMBERS = 16,
    CHECKED_BYTES = 4096,
    LARGEST = 1 << 20, /* what unpacks to more is let through up to 1 GiB: too slow to be read again and again */
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void die(const char *why, const char *path) {
    fprintf(stderr, "fuzz_archive: %s: '%s'\n", why, path);
    abort();
}

static void check_path(const char *path) {
    if (!*path || *path == '/' || strlen(path) > 1024) die("a path that should have been left out", path);
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (!strncmp(at, "..", 2) && (!at[2] || at[2] == '/')) die("a path that climbs", path);
    }
}

/* A number that stands for what came out: the code, the size, whether cut, and the first bytes. */
static uint64_t read_member(struct ids_archive *archive, const struct ids_member *member) {
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_source *source = NULL;
    uint8_t head[CHECKED_BYTES];
    size_t got = 0;
    int code = ids_archive_read(archive, member, member->path, &source, &err);
    if (code) return (uint64_t)code;
    uint64_t sum = ids_source_size(source) * 2 + (ids_source_cut(source) != NULL);
    code = ids_source_copy(source, 0, head, sizeof head, &got, &err);
    for (size_t i = 0; i < got; i++) sum = sum * 31 + head[i];
    code = ids_source_head(source, head, sizeof head, &got, &err); /* unpacks gzip; may fail */
    ids_source_close(source);
    return sum;
}

static void read_all(struct ids_archive *archive, const struct ids_member_list *list) {
    uint64_t sums[MEMBERS];
    size_t count = list->count < MEMBERS ? list->count : MEMBERS;
    for (size_t i = 0; i < list->count; i++) {
        check_path(list->members[i].path);
        if (list->members[i].size > LARGEST) return;
    }
    for (size_t i = 0; i < count; i++) sums[i] = read_member(archive, &list->members[i]);
    for (size_t i = count; i--;) {
        uint8_t head[100];
        size_t got;
        struct ids_error err = IDS_ERROR_INIT;
        ids_archive_peek(archive, &list->members[i], head, sizeof head, &got, &err);
        if (read_member(archive, &list->members[i]) != sums[i]) die("read twice, not the same", list->members[i].path);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_source *source;
    struct ids_archive *archive;
    struct ids_member_list list;
    int looks;
    if (ids_source_memory(bytes, length, &source, &err)) return 0;
    ids_archive_looks(source, &looks, &err);
    if (ids_archive_open(source, &archive, &err)) return 0;
    if (!ids_archive_list(archive, &list, &err)) {
        char text[200];
        for (int kind = 0; kind < IDS_LEFT_KINDS; kind++) {
            ids_left_out_text(&list, (enum ids_left_out)kind, text, sizeof text);
        }
        read_all(archive, &list);
        ids_member_list_done(&list);
    }
    ids_archive_close(archive);
    return 0;
}
