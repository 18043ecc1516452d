#include "cmd/engine.h"

#include "lib/cli/output.h"
#include "lib/cli/progress.h"
#include "lib/cli/reading.h"
#include "lib/cli/say.h"

#include <signal.h>

static struct {
    const char *command;
    struct sigaction interrupt; /* what SIGINT did before SQL was set aside */
} speaker;

static void show_progress(void *own, const char *what) {
    (void)own;
    if (what) {
        ids_progress("%s", what);
    } else {
        ids_progress_end();
    }
}

static void say_note(void *own, const char *text) {
    (void)own;
    ids_say(speaker.command, "%s", text);
}

static void watch_file(void *own, const char *path) {
    (void)own;
    ids_output_watch(path);
}

/* What comes in the midst of a query takes none of its time, and an interrupt, which stops SQL, ends the program there
 * as in every import. */
static void watch_sql(void *own, enum ids_engine_sql what) {
    (void)own;
    const struct sigaction ends = {.sa_handler = SIG_DFL};
    switch (what) {
    case IDS_SQL_BEGINS:
        ids_reading_watch(speaker.command);
        break;
    case IDS_SQL_ENDS:
        ids_reading_unwatch();
        break;
    case IDS_SQL_PAUSES:
        ids_reading_pause();
        sigaction(SIGINT, &ends, &speaker.interrupt);
        break;
    case IDS_SQL_GOES_ON:
        sigaction(SIGINT, &speaker.interrupt, NULL);
        ids_reading_resume();
        break;
    }
}

struct ids_engine ids_command_engine(const char *command, int no_cache) {
    static const struct ids_engine_calls calls = {
        .progress = show_progress, .note = say_note, .filling = watch_file, .sql = watch_sql};
    speaker.command = command;
    return (struct ids_engine){.calls = &calls, .no_cache = no_cache};
}
