/* opener.h - what opens an address on the machine at which the user sits. */
#ifndef IDS_LIB_VIEW_OPENER_H
#define IDS_LIB_VIEW_OPENER_H

#include "lib/base/error.h"

enum ids_opener_kind {
    IDS_OPENER_NONE,    /* nothing here opens addresses */
    IDS_OPENER_REMOTE,  /* the user came by ssh, and the browser is at the other end */
    IDS_OPENER_PROGRAM, /* a program takes the address */
    IDS_OPENER_WINDOWS, /* WSL: a program of Windows, which wants its own paths (`wslpath -w`) */
};

enum { IDS_OPENER_BYTES = 4096 };

struct ids_opener {
    enum ids_opener_kind kind;
    char program[IDS_OPENER_BYTES]; /* a path, or $BROWSER's command */
    int is_missing;                 /* $BROWSER names nothing that is there */
    int has_place;                  /* the command has %s where the address goes, and is for a shell */
};

/* By the environment: $BROWSER, WSL, a display, ssh. */
void ids_opener_find(struct ids_opener *ret_opener);

/* Has the address, or the file at that path, opened, and waits for the program, which mostly ends at once. */
int ids_opener_open(const struct ids_opener *opener, const char *address, struct ids_error *err);

/* Whether a shell would find a program of this name; its path. */
int ids_opener_in_path(const char *name, char path[IDS_OPENER_BYTES]);

#endif
