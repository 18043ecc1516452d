#include "lib/run/run_label.h"

#include "lib/run/format_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum { LEVELS = 3, STAMP_DIGITS = 6 /* and more: a date or a time, no number of anything */, PATH_BYTES = 4096 };

struct part {
    const char *at;
    size_t length;
};

static int part_is(struct part part, const char *word) {
    return strlen(word) == part.length && !strncasecmp(part.at, word, part.length);
}

static int is_one_of(struct part part, const char *const *words) {
    for (; *words; words++) {
        if (part_is(part, *words)) return 1;
    }
    return 0;
}

/* ---- words of a folder's name ---- */

static size_t digits_of(struct part part) {
    size_t count = 0;
    while (count < part.length && isdigit((unsigned char)part.at[count])) count++;
    return count;
}

/* The number that the first `digits` of the word are; -1 when it is too large to mean anything. */
static int64_t number_of(struct part part, size_t digits) {
    int64_t number = 0;
    for (size_t i = 0; i < digits; i++) {
        if (number > INT64_C(100000000000)) return -1;
        number = number * 10 + (part.at[i] - '0');
    }
    return number;
}

/* What the word calls devices; NULL when it is none for them. */
static const char *names_devices(struct part part) {
    static const char *const gpus[] = {"gpu", "gpus", NULL}, *const tpus[] = {"tpu", "tpus", NULL};
    static const char *const devices[] = {"dev", "device", "devices", "chip", "chips", "core", "cores", NULL};
    return is_one_of(part, gpus) ? "GPU" : is_one_of(part, tpus) ? "TPU" : is_one_of(part, devices) ? "device" : NULL;
}

static int says_nothing(struct part part) {
    static const char *const words[] = {
        "trace", "traces",  "profile", "profiles", "profiling", "run",         "runs",   "log",
        "logs",  "plugins", "tb",      "out",      "output",    "outputs",     "result", "results",
        "steps", "global",  "tmp",     "data",     "pt",        "tensorboard", "json",   "archive",
        "tar",   "tgz",     "gz",      "zst",      "xz",        "zip",         NULL};
    return is_one_of(part, words);
}

/* A number with its word behind it ("4gpu") or as the next word ("4_gpu"). Returns how many words that were. */
static int read_devices(struct part word, struct part next, struct ids_run_label *label) {
    size_t digits = digits_of(word);
    if (!digits || digits > 5) return 0;
    struct part rest = {word.at + digits, word.length - digits};
    const char *what = names_devices(rest.length ? rest : next);
    if (!what) return 0;
    if (label->gpus < 0) {
        label->gpus = number_of(word, digits);
        label->what = what;
    }
    return rest.length ? 1 : 2;
}

/* "step100", "step_100" */
static int read_step(struct part word, struct part next, struct ids_run_label *label) {
    if (word.length < 4 || strncasecmp(word.at, "step", 4) != 0) return 0;
    struct part rest = {word.at + 4, word.length - 4};
    int one = rest.length && digits_of(rest) == rest.length;
    if (!one && (rest.length || !next.length || digits_of(next) != next.length)) return 0;
    if (!one) rest = next;
    if (label->step < 0) label->step = number_of(rest, rest.length);
    return one ? 1 : 2;
}

static struct part next_word(struct part *rest) {
    static const char between[] = "_-. =";
    while (rest->length && strchr(between, *rest->at)) {
        rest->at++;
        rest->length--;
    }
    struct part word = {rest->at, 0};
    while (word.length < rest->length && !strchr(between, rest->at[word.length])) word.length++;
    rest->at += word.length;
    rest->length -= word.length;
    return word;
}

/* ---- times in names ---- */

/* The fields of a time from `at` on, with one character or none between any two; the number of letters read, 0 when it
 * is no time. Of `count` fields 3 are a day, 6 a moment. */
static size_t read_fields(struct part part, size_t at, int count, int64_t *ret_time_s) {
    static const int widths[] = {4, 2, 2, 2, 2, 2};
    int fields[6] = {0};
    size_t begin = at;
    for (int i = 0; i < count; i++) {
        if (i && at < part.length && !isdigit((unsigned char)part.at[at])) at++;
        for (int k = 0; k < widths[i]; k++, at++) {
            if (at >= part.length || !isdigit((unsigned char)part.at[at])) return 0;
            fields[i] = fields[i] * 10 + (part.at[at] - '0');
        }
    }
    if (at < part.length && isdigit((unsigned char)part.at[at])) return 0;
    struct tm tm = {.tm_year = fields[0] - 1900,
                    .tm_mon = fields[1] - 1,
                    .tm_mday = fields[2],
                    .tm_hour = fields[3],
                    .tm_min = fields[4],
                    .tm_sec = fields[5]};
    struct tm wanted = tm;
    *ret_time_s = timegm(&tm); /* some zone; the clock's own is not known */
    int is_time = tm.tm_mon == wanted.tm_mon && tm.tm_mday == wanted.tm_mday && tm.tm_hour == wanted.tm_hour;
    return is_time ? at - begin : 0;
}

/* 2026_01_02_03_04_05, with any character or none between. 0 when it is something else. */
static int read_stamp(struct part part, struct ids_run_label *label) {
    int64_t time_s;
    if (read_fields(part, 0, 6, &time_s) != part.length || !part.length) return 0;
    label->time_s = time_s;
    label->time_source = IDS_TIME_OF_FOLDER;
    return 1;
}

/* Where in a name a day lies, with the time of the day or without: "2026-09-01", "nightly_20260901T040000". Numbers
 * that are no day of this century's years from 2015 on are something else. */
static struct part find_day(struct part part, int64_t *ret_time_s) {
    enum { FIRST_S = 1420070400, LAST_S = INT64_C(4102444800) }; /* 2015, 2100 */
    for (size_t at = 0; at < part.length; at++) {
        if (!isdigit((unsigned char)part.at[at]) || (at && isdigit((unsigned char)part.at[at - 1]))) continue;
        size_t length = read_fields(part, at, 6, ret_time_s);
        if (!length) length = read_fields(part, at, 3, ret_time_s);
        if (length && *ret_time_s >= FIRST_S && *ret_time_s < LAST_S) return (struct part){part.at + at, length};
    }
    return (struct part){part.at, 0};
}

static void read_day(struct part part, struct ids_run_label *label) {
    int64_t time_s;
    if (label->time_source != IDS_TIME_OF_FILE || !find_day(part, &time_s).length) return;
    label->time_s = time_s;
    label->time_source = IDS_TIME_OF_FOLDER;
}

/* ---- one folder ---- */

static void read_words(struct part component, struct ids_run_label *label, char *method, size_t size) {
    struct part word = next_word(&component);
    while (word.length) {
        struct part next = next_word(&component);
        int used = read_devices(word, next, label);
        if (!used) used = read_step(word, next, label);
        if (used == 2) next = next_word(&component);
        if (!used && !says_nothing(word) && digits_of(word) < STAMP_DIGITS) {
            size_t length = strlen(method);
            snprintf(method + length, size - length, "%s%.*s", length ? "_" : "", (int)word.length, word.at);
        }
        word = next;
    }
}

/* A day in its name is no word of the method. */
static void read_component(struct part component, struct ids_run_label *label) {
    char method[sizeof label->method] = "";
    int64_t unused;
    struct part day = find_day(component, &unused);
    size_t before = (size_t)(day.at - component.at), behind = before + day.length; /* 0 and 0 where there is no day */
    read_words((struct part){component.at, before}, label, method, sizeof method);
    read_words((struct part){component.at + behind, component.length - behind}, label, method, sizeof method);
    if (!label->method[0]) memcpy(label->method, method, sizeof method);
}

/* ---- the path ---- */

/* The component before `*length`, which is moved to its front. Empty at the beginning of the path. */
static struct part last_part(const char *path, size_t *length) {
    while (*length && path[*length - 1] == '/') --*length;
    size_t end = *length;
    while (*length && path[*length - 1] != '/') --*length;
    return (struct part){path + *length, end - *length};
}

static void read_file_time(const struct ids_run_files *run, struct ids_run_label *label) {
    int64_t newest = 0;
    for (size_t i = 0; i < run->file_count; i++) {
        if (run->files[i].written_ns > newest) newest = run->files[i].written_ns;
    }
    label->time_s = newest / 1000000000;
}

static void print_time(struct ids_run_label *label) {
    struct tm tm;
    time_t seconds = (time_t)label->time_s;
    if (seconds <= 0 || !gmtime_r(&seconds, &tm)) return;
    strftime(label->time, sizeof label->time, "%Y-%m-%d %H:%M:%S", &tm);
}

void ids_label_recorded(struct ids_run_label *label, int64_t unix_ns) {
    label->time_s = unix_ns / 1000000000;
    label->time_source = IDS_TIME_OF_RECORDING;
    print_time(label);
}

const char *ids_time_source_name(enum ids_time_source source) {
    static const char *const names[] = {"file", "folder", "recording"};
    return (unsigned)source < sizeof names / sizeof *names ? names[source] : "unknown";
}

void ids_label_run(const struct ids_run_files *run, struct ids_run_label *ret_label) {
    char absolute[PATH_BYTES] = "";
    *ret_label = (struct ids_run_label){.gpus = -1, .step = -1};
    if (run->path[0] != '/' && !getcwd(absolute, sizeof absolute)) absolute[0] = '\0';
    size_t length = strlen(absolute);
    snprintf(absolute + length, sizeof absolute - length, "/%s", run->path);
    length = strlen(absolute);
    struct part part = last_part(absolute, &length);
    if (run->file_count && !strcmp(run->path, run->files[0].path)) {
        part.length = ids_length_without_format(part.at, part.length);
    } else if (read_stamp(part, ret_label)) {
        part = last_part(absolute, &length);
    }
    if (ret_label->time_source == IDS_TIME_OF_FILE) {
        size_t above = length;
        struct part folder = last_part(absolute, &above);
        if (read_stamp(folder, ret_label)) part = last_part(absolute, &length);
        read_day(part, ret_label);
        read_day(folder, ret_label);
    }
    if (ret_label->time_source == IDS_TIME_OF_FILE) read_file_time(run, ret_label);
    print_time(ret_label);
    for (int level = 0; level < LEVELS && part.length; part = last_part(absolute, &length)) {
        if (part_is(part, ".") || part_is(part, "plugins") || part_is(part, "profile")) continue;
        if (part_is(part, "..")) break;
        read_component(part, ret_label);
        level++;
    }
}
