#include "cmd/trigger_ask.h"

#include "lib/cli/say.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The number of the terminal that controls a process, 0: none or not known. */
static long terminal_of(int64_t process) {
    char path[64], text[1024];
    long terminal = 0;
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)process);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *behind = strrchr(text, ')'); /* a program's name may hold anything */
    if (!behind || sscanf(behind + 1, " %*c %*d %*d %*d %ld", &terminal) != 1) return 0;
    return terminal;
}

int ids_trigger_is_elsewhere(const struct ids_targets *targets) {
    long here = terminal_of(getpid());
    for (size_t i = 0; i < targets->count; i++) {
        if (terminal_of(targets->at[i].pid) != here) return 1;
    }
    return 0;
}

int ids_trigger_confirm(int stop) {
    char answer[16] = "";
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) return 0; /* nobody is there to answer */
    ids_say("trigger", "%s? [y/N]", stop ? "end its window" : "open a window in it");
    if (!fgets(answer, sizeof answer, stdin)) return 0;
    return answer[0] == 'y' || answer[0] == 'Y';
}
