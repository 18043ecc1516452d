/* plugin.h - which plugin the interposer stands for, and loading it. */
#ifndef IDS_COLLECTORS_PJRT_PLUGIN_H
#define IDS_COLLECTORS_PJRT_PLUGIN_H

#include "collectors/pjrt/pjrt_abi.h"

#include <stddef.h>

enum { IDS_PLUGIN_PATH = 4096 };

/* Writes the path. It is, in this order:
 *   $IDSPROF_PJRT_PLUGIN, which the Python hook sets while a plugin is loaded ("": what comes next here);
 *   what the auditor (audit.c) found the program asking for;
 *   $IDSPROF_PJRT_LIBRARY, $IDSPROF_TPU_LIBRARY, what PJRT_LIBRARY_PATH or TPU_LIBRARY_PATH was before the launcher or
 *   the hook set it to us.
 * Nothing is searched for: a plugin that we find and the program would not (another Python's libtpu) would take its
 * devices away. 0, or -1 with the reason. */
int ids_plugin_find(char path[IDS_PLUGIN_PATH], char *why, size_t why_size);

/* Loads it and calls its GetPjrtApi. NULL with the reason. It is loaded as dir/./base, which an auditor of ours
 * leaves alone. */
const struct pjrt_table *ids_plugin_load(const char *path, char *why, size_t why_size);

/* A table all of whose functions fail with `why`, for a program that must be told so: there is no plugin. Of the
 * last call. */
const struct pjrt_table *ids_plugin_none(const char *why);

/* The file in which the auditor leaves the path for the library in the program: 0, or -1 without a session. */
int ids_plugin_note(char path[IDS_PLUGIN_PATH]);

#endif
