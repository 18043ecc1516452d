#include "lib/capture/variables.h"

#include "lib/base/vec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES = 1 << 20 };

static size_t name_length(const char *variable) {
    return strcspn(variable, "=");
}

static char **find(const struct ids_variables *variables, const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < variables->count; i++) {
        char *at = variables->at[i];
        if (name_length(at) == length && !memcmp(at, name, length)) return &variables->at[i];
    }
    return NULL;
}

/* Takes the text over, and keeps the list ended by NULL. */
static int add(struct ids_variables *variables, char *text, struct ids_error *err) {
    char **last = text ? IDS_PUSH(variables->at, variables->count, variables->room) : NULL;
    if (!last) {
        free(text);
        return ids_no_memory(err);
    }
    *last = text;
    char **end = IDS_PUSH(variables->at, variables->count, variables->room);
    if (!end) return ids_no_memory(err);
    *end = NULL;
    variables->count--;
    return 0;
}

int ids_variables_copy(struct ids_variables *ret_variables, char *const *from, struct ids_error *err) {
    int code = 0;
    *ret_variables = (struct ids_variables){0};
    for (; from && *from && !code; from++) code = add(ret_variables, strdup(*from), err);
    if (code) ids_variables_done(ret_variables);
    return code;
}

void ids_variables_done(struct ids_variables *variables) {
    for (size_t i = 0; i < variables->count; i++) free(variables->at[i]);
    free(variables->at);
    *variables = (struct ids_variables){0};
}

const char *ids_variables_get(const struct ids_variables *variables, const char *name) {
    char **found = find(variables, name);
    return found ? *found + strlen(name) + 1 : NULL;
}

int ids_variables_set(struct ids_variables *variables, const char *name, const char *value, struct ids_error *err) {
    char *text = NULL;
    if (asprintf(&text, "%s=%s", name, value) < 0) return ids_no_memory(err);
    char **found = find(variables, name);
    if (!found) return add(variables, text, err);
    free(*found);
    *found = text;
    return 0;
}

int ids_variables_prepend(struct ids_variables *variables, const char *name, const char *value, char separator,
                          struct ids_error *err) {
    const char *before = ids_variables_get(variables, name);
    char *joined = NULL;
    if (!before || !*before) return ids_variables_set(variables, name, value, err);
    if (asprintf(&joined, "%s%c%s", value, separator, before) < 0) return ids_no_memory(err);
    int code = ids_variables_set(variables, name, joined, err);
    free(joined);
    return code;
}

/* ---- a file of them ---- */

static char *trim(char *text) {
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length && strchr(" \t\r", text[length - 1])) text[--length] = '\0';
    return text;
}

static char *unquote(char *value) {
    size_t length = strlen(value);
    int quoted = length >= 2 && (value[0] == '"' || value[0] == '\'') && value[length - 1] == value[0];
    if (!quoted) return value;
    value[length - 1] = '\0';
    return value + 1;
}

static int is_name(const char *name) {
    if (!*name || (*name >= '0' && *name <= '9')) return 0;
    for (; *name; name++) {
        if (*name != '_' && !(*name >= '0' && *name <= '9') && !((*name | 32) >= 'a' && (*name | 32) <= 'z')) return 0;
    }
    return 1;
}

static int read_line(struct ids_variables *variables, char *line, struct ids_error *err) {
    line = trim(line);
    if (!*line || *line == '#') return 0;
    if (!strncmp(line, "export ", 7)) line = trim(line + 7);
    char *equals = strchr(line, '=');
    if (!equals) return ids_fail(err, IDS_USAGE, "'%s' is not NAME=value", line);
    *equals = '\0';
    char *name = trim(line);
    if (!is_name(name)) return ids_fail(err, IDS_USAGE, "'%s' cannot be the name of a variable", name);
    if (find(variables, name)) return 0;
    return ids_variables_set(variables, name, unquote(trim(equals + 1)), err);
}

static int read_lines(struct ids_variables *variables, char *text, struct ids_error *err) {
    int number = 1;
    for (char *next; text; text = next, number++) {
        next = strchr(text, '\n');
        if (next) *next++ = '\0';
        int code = read_line(variables, text, err);
        if (!code) continue;
        ids_error_at(err, "line %d", number);
        return code;
    }
    return 0;
}

int ids_variables_read(struct ids_variables *variables, const char *path, struct ids_error *err) {
    FILE *file = fopen(path, "re");
    if (!file) return ids_fail_system(err, "cannot open '%s'", path);
    char *text = malloc(FILE_BYTES + 1);
    size_t length = text ? fread(text, 1, FILE_BYTES + 1, file) : 0;
    int why = ferror(file) ? errno : 0;
    fclose(file);
    int code;
    if (!text) {
        code = ids_no_memory(err);
    } else if (why) {
        code = ids_fail(err, IDS_IO, "cannot read it: %s", strerror(why));
    } else if (length > FILE_BYTES || memchr(text, '\0', length)) {
        code = ids_fail(err, IDS_USAGE, length > FILE_BYTES ? "it has more than 1 MiB" : "it has zero bytes");
    } else {
        text[length] = '\0';
        code = read_lines(variables, text, err);
    }
    free(text);
    if (code) ids_error_at(err, "'%s'", path);
    return code;
}

/* ---- PROFILE_* ---- */

static int read_count(const struct ids_variables *variables, const char *name, int64_t *ret_count,
                      struct ids_error *err) {
    const char *text = ids_variables_get(variables, name);
    *ret_count = -1;
    if (!text || !*text) return 0;
    int64_t count = 0;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9' || __builtin_mul_overflow(count, 10, &count) ||
            __builtin_add_overflow(count, *at - '0', &count)) {
            return ids_fail(err, IDS_USAGE, "%s is '%s', which is not a number of steps", name, text);
        }
    }
    *ret_count = count;
    return 0;
}

static int read_switch(const char *text, int *ret_on, struct ids_error *err) {
    static const char *const on[] = {"1", "true", "yes", "on"}, *const off[] = {"0", "false", "no", "off"};
    *ret_on = -1;
    if (!text || !*text) return 0;
    for (size_t i = 0; i < sizeof on / sizeof *on; i++) {
        if (!strcasecmp(text, on[i])) *ret_on = 1;
        if (!strcasecmp(text, off[i])) *ret_on = 0;
    }
    if (*ret_on >= 0) return 0;
    return ids_fail(err, IDS_USAGE, "PROFILE_ENABLED is '%s', which is neither 1, true, yes, on nor 0, false, no, off",
                    text);
}

/* Windows by steps are what the other variables describe; on a trigger; or none. */
static int read_mode(const char *text, struct ids_profile_variables *variables, struct ids_error *err) {
    static const char *const steps[] = {"auto", "step", "steps"}, *const trigger[] = {"trigger", "manual"},
                             *const off[] = {"off", "none", "disabled"};
    variables->trigger = 0;
    if (!text || !*text) return 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (!strcasecmp(text, steps[i])) return 0;
    }
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        if (strcasecmp(text, off[i]) != 0) continue;
        variables->enabled = 0;
        return 0;
    }
    for (size_t i = 0; i < sizeof trigger / sizeof *trigger; i++) variables->trigger |= !strcasecmp(text, trigger[i]);
    if (variables->trigger) return 0;
    return ids_fail(err, IDS_USAGE,
                    "PROFILE_MODE is '%s', and capture knows steps, trigger and off; unset it, and choose by options",
                    text);
}

int ids_profile_variables(const struct ids_variables *variables, struct ids_profile_variables *ret,
                          struct ids_error *err) {
    int code = read_switch(ids_variables_get(variables, "PROFILE_ENABLED"), &ret->enabled, err);
    if (!code) code = read_mode(ids_variables_get(variables, "PROFILE_MODE"), ret, err);
    if (!code) code = read_count(variables, "PROFILE_START_STEP", &ret->start_step, err);
    if (!code) code = read_count(variables, "PROFILE_INTERVAL", &ret->interval, err);
    if (!code) code = read_count(variables, "PROFILE_DURATION", &ret->duration, err);
    ret->dir = ids_variables_get(variables, "PROFILE_DIR");
    if (ret->dir && !*ret->dir) ret->dir = NULL;
    return code;
}
