/* No process loaded a collector, or none used what the collectors wait for. */
#include "lib/capture/outcome_parts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DOCTOR_REMEDY "idsprof doctor says what could be recorded here"

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static int looks_like_python(const char *program) {
    return !strncmp(program, "python", 6) || !strncmp(program, "pypy", 4);
}

/* ---- how Python was started ---- */

struct python_start {
    char flag;          /* the letter among I, E and S that keeps a sitecustomize out; 0: none */
    const char *script; /* NULL: -c, -m, standard input */
};

static struct python_start read_python_start(char *const *command) {
    struct python_start start = {0};
    int i = 1;
    for (; command[i] && command[i][0] == '-' && command[i][1]; i++) {
        if (!strcmp(command[i], "--")) {
            i++;
            break;
        }
        if (command[i][1] == '-') continue;
        const char *found = strpbrk(command[i] + 1, "IEScmWX");
        while (found && strchr("IES", *found)) {
            if (!start.flag) start.flag = *found;
            found = strpbrk(found + 1, "IEScmWX");
        }
        if (found && (*found == 'c' || *found == 'm')) return start;
        if (found && !found[1]) i++; /* -W and -X take the next word */
        if (!command[i]) return start;
    }
    if (command[i] && strcmp(command[i], "-") != 0) start.script = command[i];
    return start;
}

/* ---- programs that start others without the environment ---- */

static const struct {
    const char *program, *option; /* option NULL: always, but for `unless` */
    const char *unless;
} clearing[] = {{"env", "-i", NULL},    {"env", "-", NULL},      {"env", "--ignore-environment", NULL},
                {"su", "-", NULL},      {"su", "-l", NULL},      {"su", "--login", NULL},
                {"runuser", "-", NULL}, {"runuser", "-l", NULL}, {"sudo", NULL, "-E"},
                {"doas", NULL, NULL},   {"ssh", NULL, NULL},     {"docker", NULL, NULL},
                {"podman", NULL, NULL}, {"kubectl", NULL, NULL}, {"systemd-run", NULL, NULL}};
enum { CLEARING = sizeof clearing / sizeof *clearing };

/* The next word of a command line that a shell would split; 0 at the end. */
static int next_word(const char **at, char *word, size_t size) {
    *at += strspn(*at, " \t\n;&|()'\"`");
    size_t length = strcspn(*at, " \t\n;&|()'\"`");
    snprintf(word, size, "%.*s", (int)length, *at);
    *at += length;
    return length > 0;
}

/* `word` and the one after it: "env -i", "sudo"; NULL when they leave the environment as it is. */
static const char *clears(struct ids_outcome_work *outcome, const char *word, const char *after) {
    for (size_t i = 0; i < CLEARING; i++) {
        if (strcmp(base_name(word), clearing[i].program) != 0) continue;
        if (clearing[i].unless && !strncmp(after, clearing[i].unless, strlen(clearing[i].unless))) continue;
        if (!clearing[i].option) return clearing[i].program;
        if (!strcmp(after, clearing[i].option))
            return ids_outcome_text(outcome, "%s %s", clearing[i].program, clearing[i].option);
    }
    return NULL;
}

/* The word of the command that does so, also inside the text of a shell's -c. */
static const char *clearing_command(struct ids_outcome_work *outcome) {
    char word[256] = "", after[256];
    const char *found = NULL;
    for (char *const *text = outcome->record->command; *text && !found; text++) {
        const char *at = *text;
        while (!found && next_word(&at, after, sizeof after)) {
            found = clears(outcome, word, after);
            memcpy(word, after, sizeof word);
        }
    }
    return found ? found : clears(outcome, word, "");
}

/* ---- reasons ---- */

/* The driver loads only one tool. */
static int beside_rival(struct ids_outcome_work *outcome) {
    const char *rival = outcome->record->rival;
    if (!rival) return 0;
    ids_outcome_set(outcome, "other_tool",
                    ids_outcome_text(outcome,
                                     "CUDA_INJECTION64_PATH names another tool, '%s', so CUDA work was not recorded",
                                     rival),
                    "unset CUDA_INJECTION64_PATH");
    return 1;
}

/* Python came up, and it was not with an environment of ours that it did something that is recorded. */
static void without_jax(struct ids_outcome_work *outcome) {
    const char *failure = ids_outcome_failure(outcome);
    if (failure) {
        ids_outcome_set(
            outcome, "failed",
            ids_outcome_text(outcome, "the program used neither jax nor CUDA where it was seen, and ended%s", failure),
            ids_outcome_failure_remedy(outcome));
    } else {
        ids_outcome_set(outcome, "no_jax",
                        "the program used neither jax nor CUDA in the processes that idsprof came into; one that was "
                        "started without its environment is not seen",
                        DOCTOR_REMEDY "; what starts programs with an environment of its own should pass this one on");
    }
}

static int has_no_script(struct ids_outcome_work *outcome, const struct python_start *start) {
    if (!start->script || !ids_outcome_failure(outcome) || !access(start->script, F_OK)) return 0;
    ids_outcome_set(outcome, "no_script", ids_outcome_text(outcome, "there is no script '%s'", start->script),
                    "name a script that exists, from this folder");
    return 1;
}

static int without_environment(struct ids_outcome_work *outcome) {
    const char *clearer = outcome->record->seen->pythons ? NULL : clearing_command(outcome);
    if (!clearer) return 0;
    ids_outcome_set(outcome, "environment",
                    ids_outcome_text(outcome,
                                     "'%s' starts programs without the environment, by which idsprof comes into them",
                                     clearer),
                    ids_outcome_text(outcome, "put capture behind it: %s ... idsprof capture -- PROGRAM", clearer));
    return 1;
}

void ids_outcome_never_loaded(struct ids_outcome_work *outcome) {
    const struct ids_capture_record *record = outcome->record;
    const char *program = base_name(record->command[0]), *failure = ids_outcome_failure(outcome);
    struct python_start start = {0};
    if (looks_like_python(program)) start = read_python_start(record->command);
    if (has_no_script(outcome, &start)) return;
    if (start.flag) {
        ids_outcome_set(
            outcome, "python_flag",
            ids_outcome_text(outcome, "%s -%c keeps idsprof's hook out of the program", program, start.flag),
            ids_outcome_text(outcome, "start it without -%c", start.flag));
    } else if (record->seen->failure) {
        ids_outcome_set(outcome, "hook_failed",
                        ids_outcome_text(outcome, "idsprof's hook could not start: %s", record->seen->failure),
                        "idsprof doctor looks for what is in its way");
    } else if (ids_outcome_without_collector(outcome) || beside_rival(outcome) || without_environment(outcome) ||
               (!record->seen->pythons && ids_outcome_replaced_path(outcome))) {
        return;
    } else if (record->seen->pythons) {
        without_jax(outcome);
    } else if (looks_like_python(program)) {
        ids_outcome_set(outcome, "hook_not_loaded",
                        "idsprof's hook did not start in this Python: it needs PYTHONPATH, and runs as its "
                        "sitecustomize",
                        "idsprof doctor looks for what is in its way");
    } else {
        ids_outcome_set(outcome, "no_python",
                        ids_outcome_text(outcome,
                                         "no Python started under %s with the environment that idsprof gave it, nor "
                                         "did anything use CUDA%s%s",
                                         program, failure ? "; it ended" : "", failure ? failure : ""),
                        "only programs that use jax, PyTorch or CUDA are recorded; where one starts with a PYTHONPATH "
                        "of its own, add to the one that is there");
    }
}
