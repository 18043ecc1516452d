/* folder.h - a folder for each test of a suite (IDS_RUN_FIXTURE), and paths in it. */
#ifndef IDS_TESTS_SUPPORT_FOLDER_H
#define IDS_TESTS_SUPPORT_FOLDER_H

#include "tests/support/remove_tree.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static char folder[64];

static inline void make_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/idsprof-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static inline void remove_folder(void) {
    remove_tree(folder);
}

/* One of the last four that were asked for. */
static inline const char *in_folder(const char *name) {
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline int count_files(const char *path) {
    DIR *stream = opendir(path);
    int count = -2; /* . and .. */
    ck_assert_ptr_nonnull(stream);
    while (readdir(stream)) count++;
    closedir(stream);
    return count;
}

#endif
