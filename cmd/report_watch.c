#include "cmd/report_watch.h"

#include "cmd/command.h"
#include "cmd/engine.h"
#include "lib/cli/progress.h"
#include "lib/cli/say.h"
#include "lib/run/watch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
    (void)number;
    interrupted = 1;
}

static int must_be_folder(const char *path, struct ids_error *err) {
    struct stat status;
    if (stat(path, &status)) return ids_fail_system(err, "'%s'", path);
    if (S_ISDIR(status.st_mode)) return 0;
    return ids_fail(err, IDS_USAGE, "'%s': --watch follows a folder into which a job records", path);
}

/* A screen for the newest report; in a pipe one behind the other. */
static void begin_block(int count) {
    if (isatty(STDOUT_FILENO))
        fputs("\033[H\033[2J", stdout);
    else if (count)
        fputc('\n', stdout);
}

/* What cannot be read is said, and the next window may be better. */
static int print_block(ids_report_once_fn *once, const void *options, const char *run, int count,
                       struct ids_error *err) {
    char whole[IDS_ERROR_WHOLE];
    begin_block(count);
    int code = once(options, run, err);
    ids_progress_end();
    fflush(stdout);
    if (code >= 0 || code == IDS_NOMEM || code == IDS_USAGE) return code;
    ids_say("report", "%s", ids_error_whole(err, whole));
    return 0;
}

static int follow(struct ids_watch *watch, struct ids_engine *engine, ids_report_once_fn *once, const void *options,
                  struct ids_error *err) {
    const struct timespec pause = {.tv_nsec = 500000000};
    int count = 0;
    while (!interrupted && !ferror(stdout)) {
        char *run = NULL;
        int code = ids_watch_look(watch, engine, &run, err);
        if (code > 0) code = print_block(once, options, run, count++, err);
        free(run);
        if (code) return code;
        if (!count && !watch->seen) {
            ids_say("report", "waiting for the first window in '%s'", watch->path);
            watch->seen = 1;
        }
        nanosleep(&pause, NULL);
    }
    return 0;
}

int ids_report_watch(const char *folder, int no_cache, ids_report_once_fn *once, const void *options,
                     struct ids_error *err) {
    struct ids_watch watch = {.path = folder};
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND},
                     before; /* the second one ends the program */
    int code = must_be_folder(folder, err);
    if (code) return code;
    struct ids_engine engine = ids_command_engine("report", no_cache);
    sigaction(SIGINT, &action, &before);
    code = follow(&watch, &engine, once, options, err);
    sigaction(SIGINT, &before, NULL);
    ids_engine_done(&engine);
    return code ? code : IDS_EXIT_DONE;
}
