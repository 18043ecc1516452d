/* asking.h - asks the launchers of many hosts (listener.h) to open or end a window, all at the same moment. */
#ifndef IDS_LIB_REMOTE_ASKING_H
#define IDS_LIB_REMOTE_ASKING_H

#include "lib/attach/dial.h"
#include "lib/remote/token.h"

enum { IDS_ASKED_LINE = 1024, IDS_ASKED_WHY = 256 };

enum ids_asked_state { IDS_ASKED_DIAL, IDS_ASKED_HELLO, IDS_ASKED_READY, IDS_ASKED_WAIT, IDS_ASKED_ENDED };

/* What a process did. */
struct ids_asked_process {
    int64_t pid;
    int is_done;      /* the window is open, or closed */
    const char *text; /* the window's number, or why not */
};

struct ids_asked {
    const struct ids_host *host;
    enum ids_asked_state state;
    char why[IDS_ASKED_WHY]; /* why the host failed; empty: it did not */
    const char *remedy;      /* NULL: none */
    struct ids_asked_process *processes;
    size_t process_count, process_room;
    int64_t sent_ns; /* of CLOCK_MONOTONIC */
    struct ids_dial dial;
    char line[IDS_ASKED_LINE];
    size_t line_length, received;
};

struct ids_asking {
    struct ids_arena arena;
    struct ids_asked *at; /* one for each host */
    size_t count;
    int64_t moment_realtime_ns; /* when the windows were to open, by this machine's clock */
};

/* `request`: "stop", or a start as control.h has it. */
int ids_asking_run(const struct ids_hosts *hosts, const char token[IDS_TOKEN_BYTES], const char *request,
                   struct ids_asking *ret_asking, struct ids_error *err);
void ids_asking_done(struct ids_asking *asking);

#endif
