/* checkup_parts.h - internal parts of checkup.h and how they report their findings. */
#ifndef IDS_LIB_CAPTURE_CHECKUP_PARTS_H
#define IDS_LIB_CAPTURE_CHECKUP_PARTS_H

#include "lib/capture/checkup.h"

/* A text owned by the checkup; "" if memory ran out. */
const char *ids_check_text(struct ids_checkup *checkup, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ids_check_add(struct ids_checkup *checkup, const char *id, const char *title, enum ids_check_state state,
                   const char *what, const char *remedy);

void ids_check_devices(const struct ids_checkup_options *options, struct ids_checkup *checkup);
void ids_check_python(const struct ids_checkup_options *options, struct ids_checkup *checkup);
void ids_check_collectors(const struct ids_checkup_options *options, struct ids_checkup *checkup);
void ids_check_libraries(const struct ids_checkup_options *options, struct ids_checkup *checkup); /* after Python */
void ids_check_variables(struct ids_checkup *checkup);
void ids_check_tools(const struct ids_checkup_options *options, struct ids_checkup *checkup); /* after devices */
/* check_system.c: a Linux inside Windows; the file system that a folder lies in; limits of memory and CPUs. */
int ids_check_is_wsl(const char *root);
void ids_check_mount(const struct ids_checkup_options *options, const char *there, struct ids_checkup *checkup);
void ids_check_limits(const struct ids_checkup_options *options, struct ids_checkup *checkup);
void ids_check_place(const struct ids_checkup_options *options, struct ids_checkup *checkup);

/* Calls `visit` for each file below the root that matches a pattern of *, ? and [], in no particular order. */
void ids_check_files(const char *root, const char *pattern, void (*visit)(void *context, const char *path),
                     void *context);

#endif
