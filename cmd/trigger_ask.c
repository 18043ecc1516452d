#include "cmd/trigger_ask.h"

#include "lib/cli/say.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Who may answer for a process: its terminal, or without one its session, which is another one for each login, job and
 * service. */
struct place {
    long terminal, session; /* 0: none, or not known */
};

static struct place place_of(int64_t process) {
    char path[64], text[1024];
    struct place place = {0};
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)process);
    FILE *file = fopen(path, "re");
    if (!file) return place;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *behind = strrchr(text, ')'); /* a program's name may hold anything */
    if (behind && sscanf(behind + 1, " %*c %*d %*d %ld %ld", &place.session, &place.terminal) != 2)
        place = (struct place){0};
    return place;
}

int ids_trigger_is_elsewhere(const struct ids_targets *targets) {
    struct place here = place_of(getpid());
    for (size_t i = 0; i < targets->count; i++) {
        struct place there = place_of(targets->at[i].pid);
        if (there.terminal != here.terminal || (!here.terminal && there.session != here.session)) return 1;
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
