#include "collectors/common/hello.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { LINE_END = 3, ESCAPE_BYTES = 6 }; /* "}\n" and a quote of a text that was cut */

static void put(struct ids_hello *line, const char *bytes, size_t length) {
    size_t room = sizeof line->text - LINE_END - line->length;
    if (length > room) length = room;
    memcpy(line->text + line->length, bytes, length);
    line->length += length;
}

/* As much of the text as fits, in whole escapes, with its quotes. */
static void put_quoted(struct ids_hello *line, const char *text) {
    put(line, "\"", 1);
    for (; *text && line->length + ESCAPE_BYTES + LINE_END < sizeof line->text; text++) {
        unsigned char c = (unsigned char)*text;
        char escaped[ESCAPE_BYTES + 1];
        if (c == '"' || c == '\\') {
            snprintf(escaped, sizeof escaped, "\\%c", c);
        } else if (c < 0x20 || c == 0x7f) {
            snprintf(escaped, sizeof escaped, "\\u%04x", c);
        } else {
            escaped[0] = (char)c;
            escaped[1] = '\0';
        }
        put(line, escaped, strlen(escaped));
    }
    line->text[line->length++] = '"';
}

/* ,"key": when all of it and a short value fit: a line that is full takes no more keys. */
static int put_key(struct ids_hello *line, const char *key) {
    if (line->length + strlen(key) + 32 > sizeof line->text - LINE_END) return -1;
    put(line, ",\"", 2);
    put(line, key, strlen(key));
    put(line, "\":", 2);
    return 0;
}

void ids_hello_begin(struct ids_hello *line, const char *event) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    long long ns = (long long)now.tv_sec * 1000000000 + now.tv_nsec;
    line->length = (size_t)snprintf(line->text, sizeof line->text, "{\"t\":%lld", ns);
    ids_hello_text(line, "event", event);
}

void ids_hello_text(struct ids_hello *line, const char *key, const char *value) {
    if (!put_key(line, key)) put_quoted(line, value ? value : "");
}

void ids_hello_number(struct ids_hello *line, const char *key, int64_t value) {
    char digits[24];
    if (put_key(line, key)) return;
    put(line, digits, (size_t)snprintf(digits, sizeof digits, "%lld", (long long)value));
}

void ids_hello_texts(struct ids_hello *line, const char *key, const char *texts, size_t length) {
    if (put_key(line, key)) return;
    put(line, "[", 1);
    for (size_t at = 0; at < length; at += strnlen(texts + at, length - at) + 1) {
        if (line->length + 64 > sizeof line->text - LINE_END) break;
        if (at) put(line, ",", 1);
        put_quoted(line, texts + at);
    }
    line->text[line->length++] = ']';
}

/* Beyond a limit on file sizes the system sends a signal that ends the program, which is none of its business. */
static int would_end_program(int file, size_t length) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY) return 0;
    off_t end = lseek(file, 0, SEEK_END);
    return end < 0 || (rlim_t)end + length > limit.rlim_cur;
}

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER; /* a job and who has the agent's lock may both write */

/* -1. The launcher is to know that lines are missing: a link takes no descriptor, and no bytes of a file. */
static int give_up(const struct ids_hello_file *hello, int why) {
    char mark[IDS_HELLO_PATH + sizeof IDS_HELLO_UNWRITTEN], number[16];
    snprintf(mark, sizeof mark, "%s" IDS_HELLO_UNWRITTEN, hello->path);
    snprintf(number, sizeof number, "%d", why);
    if (symlink(number, mark) && errno != EEXIST) mark[0] = '\0'; /* nothing else can be done */
    errno = why;
    return -1;
}

static int open_file(struct ids_hello_file *hello) {
    hello->own = ids_own_file_of(open(hello->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    return hello->own.file < 0 ? give_up(hello, errno) : hello->own.file;
}

int ids_hello_open(struct ids_hello_file *hello) {
    static const pthread_mutex_t free_mutex = PTHREAD_MUTEX_INITIALIZER;
    opening = free_mutex; /* in the child of a fork it may be taken by a thread that is not there */
    return open_file(hello) < 0 ? -1 : 0;
}

static int file_of(struct ids_hello_file *hello) {
    pthread_mutex_lock(&opening);
    int file = ids_own_file_is_there(&hello->own) ? hello->own.file : open_file(hello);
    pthread_mutex_unlock(&opening);
    return file;
}

int ids_hello_end(struct ids_hello *line, struct ids_hello_file *hello) {
    int file = file_of(hello);
    if (file < 0) return -1;
    memcpy(line->text + line->length, "}\n", 2);
    line->length += 2;
    if (would_end_program(file, line->length)) return give_up(hello, EFBIG);
    ssize_t written;
    do {
        written = write(file, line->text, line->length);
    } while (written < 0 && errno == EINTR);
    if (written == (ssize_t)line->length) return 0;
    return give_up(hello, written < 0 ? errno : ENOSPC);
}
