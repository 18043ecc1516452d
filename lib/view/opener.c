#include "lib/view/opener.h"

#include "lib/base/buffer.h"
#include "lib/capture/child.h"
#include "lib/wire/shell_quote.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_set(const char *name) {
    const char *value = getenv(name);
    return value && *value;
}

int ids_opener_in_path(const char *name, char path[IDS_OPENER_BYTES]) {
    if (strchr(name, '/')) {
        snprintf(path, IDS_OPENER_BYTES, "%s", name);
        return !access(path, X_OK);
    }
    for (const char *at = getenv("PATH"); at && *at; at += strcspn(at, ":"), at += *at == ':') {
        int length = (int)strcspn(at, ":");
        if (snprintf(path, IDS_OPENER_BYTES, "%.*s/%s", length, at, name) < IDS_OPENER_BYTES && !access(path, X_OK))
            return 1;
    }
    return 0;
}

/* ---- which one ---- */

/* $BROWSER is a list of commands, as xdg-open and Python read it: the first that is there; %s is the address. */
static int from_browser(struct ids_opener *opener) {
    for (const char *at = getenv("BROWSER"); at && *at; at += strcspn(at, ":"), at += *at == ':') {
        char command[IDS_OPENER_BYTES], word[IDS_OPENER_BYTES];
        if (snprintf(command, sizeof command, "%.*s", (int)strcspn(at, ":"), at) >= (int)sizeof command) continue;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(command, " "), command);
        if (!ids_opener_in_path(word, opener->program)) continue;
        opener->has_place = strchr(command, ' ') != NULL || strstr(command, "%s") != NULL;
        if (opener->has_place) memcpy(opener->program, command, sizeof command);
        return 1;
    }
    return 0;
}

static int is_wsl(void) {
    char release[256] = "";
    if (is_set("WSL_DISTRO_NAME")) return 1;
    int fd = open("/proc/sys/kernel/osrelease", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, release, sizeof release - 1);
    if (fd >= 0) close(fd);
    return got > 0 && strcasestr(release, "microsoft");
}

static int is_remote(void) {
    return (is_set("SSH_CONNECTION") || is_set("SSH_TTY")) && !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY");
}

static enum ids_opener_kind find(struct ids_opener *opener) {
    if (from_browser(opener)) return IDS_OPENER_PROGRAM;
    opener->is_missing = is_set("BROWSER");
    if (is_wsl() && ids_opener_in_path("wslview", opener->program)) return IDS_OPENER_PROGRAM;
    if (is_wsl() && ids_opener_in_path("explorer.exe", opener->program)) return IDS_OPENER_WINDOWS;
    if (is_remote()) return IDS_OPENER_REMOTE;
    return ids_opener_in_path("xdg-open", opener->program) ? IDS_OPENER_PROGRAM : IDS_OPENER_NONE;
}

void ids_opener_find(struct ids_opener *ret_opener) {
    *ret_opener = (struct ids_opener){0};
    ret_opener->kind = find(ret_opener);
}

/* ---- opening ---- */

static int run(char *const words[], struct ids_error *err) {
    struct ids_child_end end;
    int code = ids_child_run(words, environ, &end, err);
    if (code) return ids_error_at(err, "'%s'", words[0]);
    int status = ids_child_status(&end);
    return status ? ids_fail(err, IDS_IO, "'%s' ended with status %d", words[0], status) : 0;
}

/* A command with words of its own: the address stands for %s, or behind it. */
static int run_command(const char *command, const char *address, struct ids_error *err) {
    struct ids_buffer line = {0};
    char quoted[IDS_OPENER_BYTES];
    int is_placed = 0;
    ids_shell_quote(address, quoted, sizeof quoted);
    for (const char *at = command; *at; at++) {
        if (at[0] == '%' && at[1] == 's') {
            ids_buffer_put(&line, quoted, strlen(quoted));
            is_placed = 1;
            at++;
        } else {
            ids_buffer_byte(&line, *at);
        }
    }
    if (!is_placed) {
        ids_buffer_byte(&line, ' ');
        ids_buffer_put(&line, quoted, strlen(quoted));
    }
    ids_buffer_byte(&line, '\0');
    char shell[] = "/bin/sh", option[] = "-c";
    char *words[] = {shell, option, line.at, NULL};
    int code = line.failed ? ids_no_memory(err) : run(words, err);
    ids_buffer_done(&line);
    return code;
}

/* explorer.exe wants the path as Windows has it, and says that it failed even where it did not. */
static int run_explorer(const struct ids_opener *opener, const char *address, struct ids_error *err) {
    char place[IDS_OPENER_BYTES];
    struct ids_buffer line = {0};
    int is_path = address[0] == '/';
    ids_shell_quote(address, place, sizeof place);
    const char *before = is_path ? " \"$(wslpath -w " : " ", *after = is_path ? ")\"; :" : "; :";
    char program[IDS_OPENER_BYTES];
    ids_shell_quote(opener->program, program, sizeof program);
    ids_buffer_put(&line, program, strlen(program));
    ids_buffer_put(&line, before, strlen(before));
    ids_buffer_put(&line, place, strlen(place));
    ids_buffer_put(&line, after, strlen(after) + 1);
    char shell[] = "/bin/sh", option[] = "-c";
    char *words[] = {shell, option, line.at, NULL};
    int code = line.failed ? ids_no_memory(err) : run(words, err);
    ids_buffer_done(&line);
    return code;
}

int ids_opener_open(const struct ids_opener *opener, const char *address, struct ids_error *err) {
    if (opener->kind == IDS_OPENER_WINDOWS) return run_explorer(opener, address, err);
    if (opener->has_place) return run_command(opener->program, address, err);
    char *program = strdup(opener->program), *copy = strdup(address);
    char *words[] = {program, copy, NULL};
    int code = program && copy ? run(words, err) : ids_no_memory(err);
    free(program);
    free(copy);
    return code;
}
