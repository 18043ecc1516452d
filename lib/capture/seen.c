#include "lib/capture/seen.h"

#include "lib/base/vec.h"
#include "lib/wire/json_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the members of a line ---- */

struct member {
    const char *key;
    size_t key_length;
    struct ids_json_span value;
};

struct line {
    struct member members[40];
    size_t count;
};

static int parse_line(const char *text, size_t length, struct line *ret_line) {
    struct ids_json_scan scan = {.at = text, .end = text + length, .whole = 1};
    int first = 1;
    ret_line->count = 0;
    if (ids_json_space(&scan) != IDS_JSON_OK || *scan.at != '{') return -1;
    scan.at++;
    for (;;) {
        struct ids_json_span key;
        enum ids_json_result result = ids_json_member(&scan, &first, &key);
        if (result == IDS_JSON_END) return 0;
        if (result != IDS_JSON_OK || ret_line->count == sizeof ret_line->members / sizeof *ret_line->members) return -1;
        struct member *member = &ret_line->members[ret_line->count];
        if (ids_json_value(&scan, &member->value) != IDS_JSON_OK) return -1;
        member->key = key.at;
        member->key_length = key.length;
        ret_line->count++;
    }
}

static const struct ids_json_span *find(const struct line *line, const char *key) {
    for (size_t i = 0; i < line->count; i++) {
        const struct member *member = &line->members[i];
        if (member->key_length == strlen(key) && !memcmp(member->key, key, member->key_length)) return &member->value;
    }
    return NULL;
}

static int64_t number_of(const struct line *line, const char *key) {
    const struct ids_json_span *span = find(line, key);
    if (!span || span->type != IDS_JSON_NUMBER || !span->length) return -1;
    int64_t number = 0;
    for (size_t i = 0; i < span->length; i++) {
        if (span->at[i] < '0' || span->at[i] > '9' || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, span->at[i] - '0', &number)) {
            return -1;
        }
    }
    return number;
}

static const char *copy_span(struct ids_seen *seen, const struct ids_json_span *span) {
    char *text = span && span->type == IDS_JSON_STRING ? ids_arena_alloc(&seen->arena, span->length + 1) : NULL;
    if (text) text[ids_json_unescape(span, text)] = '\0';
    return text;
}

static const char *text_of(struct ids_seen *seen, const struct line *line, const char *key) {
    return copy_span(seen, find(line, key));
}

static int says(const struct line *line, const char *event) {
    const struct ids_json_span *span = find(line, "event");
    return span && span->length == strlen(event) && !memcmp(span->at, event, span->length);
}

/* ---- what a line says ---- */

static void read_arguments(struct ids_seen *seen, const struct ids_json_span *list, struct ids_seen_process *process) {
    size_t room = 0;
    if (!list || list->type != IDS_JSON_ARRAY) return;
    struct ids_json_scan scan = {.at = list->at + 1, .end = list->at + list->length, .whole = 1};
    while (ids_json_space(&scan) == IDS_JSON_OK && *scan.at != ']') {
        struct ids_json_span value;
        if (ids_json_value(&scan, &value) != IDS_JSON_OK) return;
        const char **argument = IDS_PUSH(process->argv, process->argv_count, room);
        if (!argument) return;
        *argument = copy_span(seen, &value);
        if (!*argument) *argument = "";
        if (ids_json_space(&scan) == IDS_JSON_OK && *scan.at == ',') scan.at++;
    }
}

static void read_loaded(struct ids_seen *seen, const struct line *line, struct ids_seen_process *process) {
    process->pid = number_of(line, "pid");
    process->ppid = number_of(line, "ppid");
    process->rank = number_of(line, "rank");
    process->host = text_of(seen, line, "host");
    process->exe = text_of(seen, line, "exe");
    process->socket = text_of(seen, line, "socket");
    process->agent = text_of(seen, line, "agent");
    if (!process->argv_count) read_arguments(seen, find(line, "argv"), process);
}

static void read_steps(struct ids_seen *seen, const struct line *line, struct ids_seen_process *process) {
    const char *source = text_of(seen, line, "source");
    if (!source || (process->steps_source && !strcmp(process->steps_source, "annotation"))) return;
    process->steps_source = source;
    process->steps_name = text_of(seen, line, "name");
    process->first_number = number_of(line, "number");
}

/* The window of that number, made when it is not there. NULL when memory ran out. */
static struct ids_seen_window *find_window(struct ids_seen_process *process, int64_t number) {
    for (size_t i = 0; i < process->window_count; i++) {
        if (process->windows[i].number == number) return &process->windows[i];
    }
    struct ids_seen_window *window = IDS_PUSH(process->windows, process->window_count, process->window_room);
    if (!window) return NULL;
    *window = (struct ids_seen_window){.number = number};
    int64_t *const unknown[] = {&window->bytes,     &window->events,  &window->drops,      &window->first_step,
                                &window->last_step, &window->steps,   &window->begin_ns,   &window->end_ns,
                                &window->start_ns,  &window->stop_ns, &window->publish_ns, &window->waited_ns};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) *unknown[i] = -1;
    return window;
}

static void read_written(struct ids_seen *seen, const struct line *line, struct ids_seen_window *window) {
    window->fate = IDS_SEEN_WRITTEN;
    window->closed_by = text_of(seen, line, "by");
    window->path = text_of(seen, line, "path");
    window->bytes = number_of(line, "bytes");
    window->events = number_of(line, "events");
    window->drops = number_of(line, "drops");
    window->first_step = number_of(line, "first_step");
    window->last_step = number_of(line, "last_step");
    window->steps = number_of(line, "steps");
    window->begin_ns = number_of(line, "begin_ns");
    window->end_ns = number_of(line, "end_ns");
    window->stop_ns = number_of(line, "stop_ns");
    window->publish_ns = number_of(line, "publish_ns");
}

static void read_window(struct ids_seen *seen, const struct line *line, struct ids_seen_process *process) {
    struct ids_seen_window *window = find_window(process, number_of(line, "window"));
    if (!window) return;
    if (!window->collector) window->collector = text_of(seen, line, "collector");
    if (says(line, "opened")) {
        window->opened_by = text_of(seen, line, "by");
        window->first_step = number_of(line, "step");
        window->start_ns = number_of(line, "start_ns");
    } else if (says(line, "slow")) {
        window->waited_ns = number_of(line, "waited_ns");
    } else if (says(line, "written")) {
        read_written(seen, line, window);
    } else if (window->fate != IDS_SEEN_WRITTEN) { /* what came late after all is not lost */
        window->fate = IDS_SEEN_LOST;
        window->closed_by = text_of(seen, line, "by");
        window->why = text_of(seen, line, "why");
    }
}

#define ADD(process, list, ...)                                                                                      \
    do {                                                                                                             \
        struct ids_seen_text *text_ = IDS_PUSH((process)->list##s, (process)->list##_count, (process)->list##_room); \
        if (text_) *text_ = (struct ids_seen_text){__VA_ARGS__};                                                     \
    } while (0)

static void read_event(struct ids_seen *seen, const struct line *line, struct ids_seen_process *process) {
    if (says(line, "loaded")) {
        read_loaded(seen, line, process);
    } else if (says(line, "registered")) {
        ADD(process, collector, .key = text_of(seen, line, "collector"));
    } else if (says(line, "said")) {
        ADD(process, fact, .key = text_of(seen, line, "key"), .value = text_of(seen, line, "value"));
    } else if (says(line, "steps")) {
        read_steps(seen, line, process);
    } else if (says(line, "opened") || says(line, "slow") || says(line, "written") || says(line, "lost")) {
        read_window(seen, line, process);
    } else if (says(line, "skipped")) {
        struct ids_seen_text *text = IDS_PUSH(process->skipped, process->skipped_count, process->skipped_room);
        if (text) {
            *text = (struct ids_seen_text){text_of(seen, line, "collector"), text_of(seen, line, "why"),
                                           number_of(line, "window")};
        }
    } else if (says(line, "note")) {
        ADD(process, note, .value = text_of(seen, line, "why"));
    } else if (says(line, "closed")) {
        process->is_closed = 1;
        process->reached = number_of(line, "reached");
        process->number = number_of(line, "number");
    }
}

/* ---- files ---- */

/* The whole file, at most IDS_SEEN_FILE_BYTES of it; NULL when it cannot be read. */
static char *read_file(int folder, const char *name, size_t *ret_length) {
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return NULL;
    char *text = NULL;
    size_t length = 0, room = 0;
    for (;;) {
        if (length == room) {
            char *grown = room >= IDS_SEEN_FILE_BYTES ? NULL : ids_vec_grow(text, &room, 1);
            if (!grown) break;
            text = grown;
        }
        ssize_t got = read(file, text + length, room - length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        length += (size_t)got;
    }
    close(file);
    *ret_length = length;
    return text;
}

typedef void line_fn(struct ids_seen *seen, const struct line *line, void *context);

static void each_line(struct ids_seen *seen, const char *text, size_t length, line_fn *call, void *context) {
    for (const char *end = text + length; text < end;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        struct line line;
        if (!parse_line(text, (size_t)(stop - text), &line)) {
            call(seen, &line, context);
        } else if (stop > text) {
            seen->broken_lines++;
        }
        text = stop + (newline != NULL);
    }
}

static void hello_line(struct ids_seen *seen, const struct line *line, void *context) {
    read_event(seen, line, context);
}

static void followed_line(struct ids_seen *seen, const struct line *line, void *context) {
    (void)context;
    seen->pythons += says(line, "python");
    if (says(line, "failed") && !seen->failure) seen->failure = text_of(seen, line, "why");
}

static int read_process(int folder, const char *name, struct ids_seen *seen, struct ids_error *err) {
    size_t length;
    if (seen->count == IDS_SEEN_PROCESSES) {
        seen->left_out++;
        return 0;
    }
    char *text = read_file(folder, name, &length);
    if (!text) {
        seen->left_out++;
        return 0;
    }
    struct ids_seen_process *process = IDS_PUSH(seen->processes, seen->count, seen->room);
    if (!process) {
        free(text);
        return ids_no_memory(err);
    }
    *process =
        (struct ids_seen_process){.pid = -1, .ppid = -1, .rank = -1, .first_number = -1, .reached = -1, .number = -1};
    each_line(seen, text, length, hello_line, process);
    free(text);
    return 0;
}

static void read_followed(int folder, struct ids_seen *seen) {
    size_t length;
    char *text = read_file(folder, "followed", &length);
    if (text) each_line(seen, text, length, followed_line, NULL);
    free(text);
}

static int ends_with(const char *name, const char *suffix) {
    size_t length = strlen(name), end = strlen(suffix);
    return length > end && !strcmp(name + length - end, suffix);
}

static int by_place(const void *a, const void *b) {
    const struct ids_seen_process *left = a, *right = b;
    int order = strcmp(left->host ? left->host : "", right->host ? right->host : "");
    if (order) return order;
    if (left->rank != right->rank) return left->rank < right->rank ? -1 : 1;
    return (left->pid > right->pid) - (left->pid < right->pid);
}

int ids_seen_read(const char *session, struct ids_seen *ret_seen, struct ids_error *err) {
    char *path = NULL;
    *ret_seen = (struct ids_seen){0};
    if (asprintf(&path, "%s/.idsprof", session) < 0) return ids_no_memory(err);
    DIR *folder = opendir(path);
    int why = errno;
    free(path);
    if (!folder) {
        return ids_fail(err, why == ENOENT ? IDS_NOT_FOUND : IDS_IO, "cannot read '%s': %s", session, strerror(why));
    }
    int code = 0;
    for (struct dirent *entry; !code && (entry = readdir(folder));) {
        if (ends_with(entry->d_name, ".hello")) code = read_process(dirfd(folder), entry->d_name, ret_seen, err);
    }
    read_followed(dirfd(folder), ret_seen);
    closedir(folder);
    if (ret_seen->count) qsort(ret_seen->processes, ret_seen->count, sizeof *ret_seen->processes, by_place);
    if (code) ids_seen_done(ret_seen);
    return code;
}

void ids_seen_done(struct ids_seen *seen) {
    for (size_t i = 0; i < seen->count; i++) {
        struct ids_seen_process *process = &seen->processes[i];
        free(process->argv);
        free(process->collectors);
        free(process->facts);
        free(process->skipped);
        free(process->notes);
        free(process->windows);
    }
    free(seen->processes);
    ids_arena_done(&seen->arena);
    *seen = (struct ids_seen){0};
}

int64_t ids_seen_windows(const struct ids_seen *seen, enum ids_seen_fate fate) {
    int64_t count = 0;
    for (size_t i = 0; i < seen->count; i++) {
        for (size_t w = 0; w < seen->processes[i].window_count; w++)
            count += seen->processes[i].windows[w].fate == fate;
    }
    return count;
}
