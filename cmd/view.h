/* view.h - what the files of the command view share. */
#ifndef IDS_CMD_VIEW_H
#define IDS_CMD_VIEW_H

#include "lib/base/error.h"
#include "lib/view/file_server.h"
#include "lib/view/opener.h"

#include <limits.h>
#include <stdint.h>

struct ids_view_options {
    const char *run;
    int ui, no_open, live;
    int64_t port, wait_ps;
};

/* A run that is to be seen. */
struct ids_view {
    const struct ids_view_options *options;
    const char *path; /* of the run, as it was given */
    struct ids_opener opener;
    int port;              /* 0: any */
    char folder[PATH_MAX]; /* in the cache; what is made for this run begins with `key` */
    char key[17];
};

/* Runs a command of this program, without its output: `report`, or `extract`. */
int ids_view_run_self(const struct ids_view *view, const char *command, const char *const *more, struct ids_error *err);
/* Says where it is, or has it opened. */
int ids_view_show(const struct ids_view *view, const char *address, struct ids_error *err);
/* Serves a file for one browser, and what is asked, until nobody asks: the command's status, or a code. `address` is
 * what is opened, in which %s stands for that of the file. The server closes its file. */
int ids_view_serve(const struct ids_view *view, const struct ids_file_server_params *params, const char *address,
                   struct ids_error *err);
/* A file, or a folder with all that is in it. */
void ids_view_remove(const char *path);

/* view_live.c: the page at that path, with every event of what it shows. */
int ids_view_live(struct ids_view *view, const char *page, struct ids_error *err);

/* view_ui.c: other programs' views. */
int ids_view_perfetto(struct ids_view *view, struct ids_error *err);
int ids_view_server(struct ids_view *view, const char *program, struct ids_error *err);

#endif
