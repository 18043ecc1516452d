#include "lib/capture/seen.h"

#include "collectors/common/hello.h"
#include "lib/base/vec.h"
#include "lib/capture/line.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
        *argument = ids_line_copy(&seen->arena, &value);
        if (!*argument) *argument = "";
        if (ids_json_space(&scan) == IDS_JSON_OK && *scan.at == ',') scan.at++;
    }
}

static void read_loaded(struct ids_seen *seen, const struct ids_line *line, struct ids_seen_process *process) {
    process->pid = ids_line_number(line, "pid");
    process->ppid = ids_line_number(line, "ppid");
    process->rank = ids_line_number(line, "rank");
    process->host = ids_line_text(&seen->arena, line, "host");
    process->exe = ids_line_text(&seen->arena, line, "exe");
    process->socket = ids_line_text(&seen->arena, line, "socket");
    process->agent = ids_line_text(&seen->arena, line, "agent");
    if (!process->argv_count) read_arguments(seen, ids_line_find(line, "argv"), process);
}

static void read_steps(struct ids_seen *seen, const struct ids_line *line, struct ids_seen_process *process) {
    const char *source = ids_line_text(&seen->arena, line, "source");
    if (!source || (process->steps_source && !strcmp(process->steps_source, "annotation"))) return;
    process->steps_source = source;
    process->steps_name = ids_line_text(&seen->arena, line, "name");
    process->first_number = ids_line_number(line, "number");
}

/* The window of that number, made when it is not there. NULL when memory ran out. */
static struct ids_seen_window *find_window(struct ids_seen_process *process, int64_t number) {
    for (size_t i = 0; i < process->window_count; i++) {
        if (process->windows[i].number == number) return &process->windows[i];
    }
    struct ids_seen_window *window = IDS_PUSH(process->windows, process->window_count, process->window_room);
    if (!window) return NULL;
    *window = (struct ids_seen_window){.number = number};
    int64_t *const unknown[] = {&window->bytes,     &window->events,    &window->drops,       &window->first_step,
                                &window->last_step, &window->steps,     &window->begin_ns,    &window->end_ns,
                                &window->start_ns,  &window->stop_ns,   &window->publish_ns,  &window->waited_ns,
                                &window->rate,      &window->samples,   &window->threads,     &window->late,
                                &window->left_out,  &window->still,     &window->sampling_ns, &window->slow_step,
                                &window->slow_ns,   &window->median_ns, &window->slow_late_ns};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) *unknown[i] = -1;
    return window;
}

static void read_written(struct ids_seen *seen, const struct ids_line *line, struct ids_seen_window *window) {
    window->fate = IDS_SEEN_WRITTEN;
    window->closed_by = ids_line_text(&seen->arena, line, "by");
    window->path = ids_line_text(&seen->arena, line, "path");
    window->bytes = ids_line_number(line, "bytes");
    window->events = ids_line_number(line, "events");
    window->drops = ids_line_number(line, "drops");
    window->first_step = ids_line_number(line, "first_step");
    window->last_step = ids_line_number(line, "last_step");
    window->steps = ids_line_number(line, "steps");
    window->begin_ns = ids_line_number(line, "begin_ns");
    window->end_ns = ids_line_number(line, "end_ns");
    window->stop_ns = ids_line_number(line, "stop_ns");
    window->publish_ns = ids_line_number(line, "publish_ns");
    window->reason = ids_line_text(&seen->arena, line, "reason");
    window->slow_step = ids_line_number(line, "slow_step");
    window->slow_ns = ids_line_number(line, "slow_ns");
    window->slow_late_ns = ids_line_number(line, "slow_late_ns");
    window->median_ns = ids_line_number(line, "median_ns");
}

static void read_window(struct ids_seen *seen, const struct ids_line *line, struct ids_seen_process *process) {
    struct ids_seen_window *window = find_window(process, ids_line_number(line, "window"));
    if (!window) return;
    if (!window->collector) window->collector = ids_line_text(&seen->arena, line, "collector");
    if (ids_line_says(line, "event", "opened")) {
        window->opened_by = ids_line_text(&seen->arena, line, "by");
        window->first_step = ids_line_number(line, "step");
        window->start_ns = ids_line_number(line, "start_ns");
        window->is_of_block = ids_line_number(line, "block") == 1;
    } else if (ids_line_says(line, "event", "slow")) {
        window->waited_ns = ids_line_number(line, "waited_ns");
    } else if (ids_line_says(line, "event", "stacks")) {
        window->no_stacks = ids_line_text(&seen->arena, line, "why");
        window->rate = ids_line_number(line, "rate");
        window->samples = ids_line_number(line, "samples");
        window->threads = ids_line_number(line, "threads");
        window->late = ids_line_number(line, "late");
        window->left_out = ids_line_number(line, "dropped");
        window->still = ids_line_number(line, "still");
        window->sampling_ns = ids_line_number(line, "cpu_ns");
    } else if (ids_line_says(line, "event", "written")) {
        read_written(seen, line, window);
        const char *of = ids_line_text(&seen->arena, line, "of");
        process->is_named |= of && *of;
        if (of && *of) window->of = process->steps_name = of; /* the program may annotate others: epochs around steps */
    } else if (window->fate != IDS_SEEN_WRITTEN) {            /* what came late after all is not lost */
        window->fate = IDS_SEEN_LOST;
        window->closed_by = ids_line_text(&seen->arena, line, "by");
        window->why = ids_line_text(&seen->arena, line, "why");
    }
}

/* A window that was kept until a slower one came. */
static void read_removed(const struct ids_line *line, struct ids_seen_process *process) {
    int64_t number = ids_line_number(line, "window");
    for (size_t i = 0; i < process->window_count; i++) {
        if (process->windows[i].number != number) continue;
        memmove(&process->windows[i], &process->windows[i + 1],
                (process->window_count - i - 1) * sizeof *process->windows);
        process->window_count--;
        return;
    }
}

static void read_judged(const struct ids_line *line, struct ids_seen_process *process) {
    process->tried = ids_line_number(line, "tried");
    process->kept = ids_line_number(line, "kept");
    process->judged_steps = ids_line_number(line, "steps");
    process->slow = ids_line_number(line, "slow");
    process->slow_missed = ids_line_number(line, "slow_missed");
    process->missed_step = ids_line_number(line, "missed_step");
    process->missed_ns = ids_line_number(line, "missed_ns");
    process->missed_seen_ns = ids_line_number(line, "missed_seen_ns");
    process->judged_median_ns = ids_line_number(line, "median_ns");
    process->judged_cost_ns = ids_line_number(line, "cost_ns");
}

#define ADD(process, list, ...)                                                                                      \
    do {                                                                                                             \
        struct ids_seen_text *text_ = IDS_PUSH((process)->list##s, (process)->list##_count, (process)->list##_room); \
        if (text_) *text_ = (struct ids_seen_text){__VA_ARGS__};                                                     \
    } while (0)

static void read_event(struct ids_seen *seen, const struct ids_line *line, struct ids_seen_process *process) {
    if (ids_line_says(line, "event", "loaded")) {
        read_loaded(seen, line, process);
    } else if (ids_line_says(line, "event", "registered")) {
        ADD(process, collector, .key = ids_line_text(&seen->arena, line, "collector"));
    } else if (ids_line_says(line, "event", "said")) {
        ADD(process, fact, .key = ids_line_text(&seen->arena, line, "key"),
            .value = ids_line_text(&seen->arena, line, "value"));
    } else if (ids_line_says(line, "event", "steps")) {
        read_steps(seen, line, process);
    } else if (ids_line_says(line, "event", "opened") || ids_line_says(line, "event", "slow") ||
               ids_line_says(line, "event", "stacks") || ids_line_says(line, "event", "written") ||
               ids_line_says(line, "event", "lost")) {
        read_window(seen, line, process);
    } else if (ids_line_says(line, "event", "removed")) {
        read_removed(line, process);
    } else if (ids_line_says(line, "event", "judged")) {
        read_judged(line, process);
    } else if (ids_line_says(line, "event", "skipped")) {
        struct ids_seen_text *text = IDS_PUSH(process->skipped, process->skipped_count, process->skipped_room);
        if (text) {
            *text = (struct ids_seen_text){ids_line_text(&seen->arena, line, "collector"),
                                           ids_line_text(&seen->arena, line, "why"), ids_line_number(line, "window"),
                                           ids_line_number(line, "step")};
        }
    } else if (ids_line_says(line, "event", "profile")) {
        int begins = ids_line_number(line, "begins") > 0;
        if (begins) process->own_end = -1;
        *(begins ? &process->own_begin : &process->own_end) = ids_line_number(line, "step");
    } else if (ids_line_says(line, "event", "note")) {
        ADD(process, note, .value = ids_line_text(&seen->arena, line, "why"));
    } else if (ids_line_says(line, "event", "closed")) {
        const char *of = ids_line_text(&seen->arena, line, "of");
        if (of && *of && !process->is_named) process->steps_name = of;
        if (of && *of) process->front = of;
        process->is_closed = 1;
        process->reached = ids_line_number(line, "reached");
        process->number = ids_line_number(line, "number");
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

typedef void line_fn(struct ids_seen *seen, const struct ids_line *line, void *context);

static void each_line(struct ids_seen *seen, const char *text, size_t length, line_fn *call, void *context) {
    for (const char *end = text + length; text < end;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        struct ids_line line;
        if (!ids_line_parse(text, (size_t)(stop - text), &line)) {
            call(seen, &line, context);
        } else if (stop > text) {
            seen->broken_lines++;
        }
        text = stop + (newline != NULL);
    }
}

static struct ids_seen_process *new_process(struct ids_seen *seen) {
    struct ids_seen_process *process = IDS_PUSH(seen->processes, seen->count, seen->room);
    if (process)
        *process = (struct ids_seen_process){.pid = -1,
                                             .ppid = -1,
                                             .rank = -1,
                                             .first_number = -1,
                                             .reached = -1,
                                             .number = -1,
                                             .tried = -1,
                                             .own_begin = -1,
                                             .own_end = -1};
    return process;
}

/* A process that became another program (exec) says hello a second time in the same file, and is another one. */
static void hello_line(struct ids_seen *seen, const struct ids_line *line, void *context) {
    (void)context;
    struct ids_seen_process *process = &seen->processes[seen->count - 1];
    if (process->pid > 0 && ids_line_says(line, "event", "loaded") && seen->count < IDS_SEEN_PROCESSES) {
        process = new_process(seen);
        if (!process) return;
    }
    read_event(seen, line, process);
}

static void followed_line(struct ids_seen *seen, const struct ids_line *line, void *context) {
    (void)context;
    seen->pythons += ids_line_says(line, "event", "python");
    if (ids_line_says(line, "event", "failed") && !seen->failure)
        seen->failure = ids_line_text(&seen->arena, line, "why");
}

/* The errno to which the link points that a process leaves where it could not write (collectors/common/hello.h). */
static int read_mark(int folder, const char *name) {
    char number[16];
    ssize_t length = readlinkat(folder, name, number, sizeof number - 1);
    number[length > 0 ? length : 0] = '\0';
    int64_t why = strtoll(number, NULL, 10);
    return why > 0 && why < 4096 ? (int)why : 0;
}

/* The mark lies beside the file of the process that was read last. */
static void read_unwritten(int folder, const char *name, struct ids_seen *seen) {
    char mark[NAME_MAX + sizeof IDS_HELLO_UNWRITTEN];
    snprintf(mark, sizeof mark, "%s" IDS_HELLO_UNWRITTEN, name);
    seen->processes[seen->count - 1].unwritten = read_mark(folder, mark);
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
    if (!new_process(seen)) {
        free(text);
        return ids_no_memory(err);
    }
    each_line(seen, text, length, hello_line, NULL);
    read_unwritten(folder, name, seen);
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
        errno = why;
        if (why == ENOMEM) return ids_fail_system(err, "cannot read '%s'", session);
        return ids_fail(err, why == ENOENT ? IDS_NOT_FOUND : IDS_IO, "cannot read '%s': %s", session, strerror(why));
    }
    int code = 0;
    for (struct dirent *entry; !code && (entry = readdir(folder));) {
        if (ends_with(entry->d_name, ".hello")) code = read_process(dirfd(folder), entry->d_name, ret_seen, err);
        if (ends_with(entry->d_name, ".hello" IDS_HELLO_UNWRITTEN))
            ret_seen->unwritten = read_mark(dirfd(folder), entry->d_name);
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

const char *ids_seen_fact(const struct ids_seen_process *process, const char *key) {
    for (size_t i = 0; i < process->fact_count; i++) {
        if (process->facts[i].key && !strcmp(process->facts[i].key, key)) return process->facts[i].value;
    }
    return NULL;
}

const char *ids_seen_turn(const struct ids_seen_process *process, int64_t *ret_steps) {
    const char *function = ids_seen_fact(process, "turn function"), *steps = ids_seen_fact(process, "turn steps");
    *ret_steps = steps ? strtoll(steps, NULL, 10) : 0;
    return *ret_steps > 1 ? function : NULL;
}

int64_t ids_seen_turn_place(const struct ids_seen_process *process) {
    const char *place = ids_seen_fact(process, "turn place");
    int64_t every, number = place ? strtoll(place, NULL, 10) : -1;
    return ids_seen_turn(process, &every) && number < every ? number : -1;
}

int64_t ids_seen_windows(const struct ids_seen *seen, enum ids_seen_fate fate) {
    int64_t count = 0;
    for (size_t i = 0; i < seen->count; i++) {
        for (size_t w = 0; w < seen->processes[i].window_count; w++)
            count += seen->processes[i].windows[w].fate == fate;
    }
    return count;
}
