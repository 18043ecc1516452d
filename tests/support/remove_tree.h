/* remove_tree.h - a test's folder and all that is in it goes away again. */
#ifndef IDS_TESTS_SUPPORT_REMOVE_TREE_H
#define IDS_TESTS_SUPPORT_REMOVE_TREE_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline void remove_tree(const char *path) {
    DIR *stream = opendir(path);
    struct dirent *entry;
    while (stream && (entry = readdir(stream))) {
        char below[1024];
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (snprintf(below, sizeof below, "%s/%s", path, entry->d_name) >= (int)sizeof below) continue;
        if (unlink(below)) remove_tree(below);
    }
    if (stream) closedir(stream);
    rmdir(path);
}

#endif
