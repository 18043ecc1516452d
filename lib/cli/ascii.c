#include "lib/cli/ascii.h"

#include "lib/report/layout.h"
#include "lib/wire/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { CHUNK = 4096, LONGEST_CHARACTER = 4 };

int ids_ascii_wanted(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);
        if (locale && *locale) return !strcasestr(locale, "UTF-8") && !strcasestr(locale, "UTF8");
    }
    return 0;
}

/* What stands for a character; as wide as it is, because tables are laid out already. */
static const char *ascii_of(uint32_t character) {
    static const struct {
        uint32_t character;
        char ascii[2];
    } likes[] = {{0xb7, "-"},    {0xd7, "x"},    {0xf7, "/"},   {0xb5, "u"},   {0x3bc, "u"},  {0x2010, "-"},
                 {0x2011, "-"},  {0x2012, "-"},  {0x2013, "-"}, {0x2014, "-"}, {0x2018, "'"}, {0x2019, "'"},
                 {0x201c, "\""}, {0x201d, "\""}, {0x2026, "~"}, {0x2190, "<"}, {0x2192, ">"}, {0x2212, "-"},
                 {0x2581, "_"},  {0x2582, "."},  {0x2583, "-"}, {0x2584, "="}, {0x2585, "+"}, {0x2586, "*"},
                 {0x2587, "%"},  {0x2588, "#"},  {0x2591, "."}, {0x2592, "/"}, {0x2593, "%"}, {0x259a, ";"},
                 {0x259e, ":"},  {0x2264, "<"},  {0x2265, ">"}, {0xa0, " "}};
    for (size_t i = 0; i < sizeof likes / sizeof *likes; i++) {
        if (likes[i].character == character) return likes[i].ascii;
    }
    return "?";
}

struct ascii_stream {
    int fd;
    char begun[LONGEST_CHARACTER]; /* of a character whose end comes with the next write */
    size_t begun_length;
};

static int write_all(int fd, const char *bytes, size_t length) {
    while (length) {
        ssize_t n = write(fd, bytes, length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        bytes += n;
        length -= (size_t)n;
    }
    return 0;
}

static size_t character_bytes(unsigned char first) {
    return first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 1;
}

/* Translates as much as ends inside of `length`. Returns how many bytes were taken, -1 when writing failed. */
static ssize_t translate(const struct ascii_stream *stream, const char *bytes, size_t length) {
    char out[CHUNK];
    size_t at = 0, used = 0;
    while (at < length) {
        uint32_t character;
        int valid;
        if ((unsigned char)bytes[at] < 0x80) {
            out[used++] = bytes[at++];
        } else {
            if (at + character_bytes((unsigned char)bytes[at]) > length) break;
            size_t taken = ids_utf8_next(bytes + at, length - at, &character, &valid);
            char one[LONGEST_CHARACTER + 1] = "";
            memcpy(one, bytes + at, taken < LONGEST_CHARACTER ? taken : LONGEST_CHARACTER);
            for (int columns = valid ? ids_text_columns(one) : 1; columns > 0; columns--)
                out[used++] = valid ? *ascii_of(character) : '?';
            at += taken;
        }
        if (used + 2 < sizeof out) continue;
        if (write_all(stream->fd, out, used)) return -1;
        used = 0;
    }
    return write_all(stream->fd, out, used) ? -1 : (ssize_t)at;
}

static ssize_t ascii_write(void *cookie, const char *bytes, size_t length) {
    struct ascii_stream *stream = cookie;
    size_t taken = 0;
    while (stream->begun_length && taken < length) {
        stream->begun[stream->begun_length++] = bytes[taken++];
        ssize_t done = translate(stream, stream->begun, stream->begun_length);
        if (done < 0) return 0;
        if (done) {
            stream->begun_length -= (size_t)done;
            memmove(stream->begun, stream->begun + done, stream->begun_length);
        }
    }
    ssize_t done = translate(stream, bytes + taken, length - taken);
    if (done < 0) return 0; /* what stdio takes for an error */
    taken += (size_t)done;
    if (length - taken < LONGEST_CHARACTER) {
        memcpy(stream->begun, bytes + taken, length - taken);
        stream->begun_length = length - taken;
    }
    return (ssize_t)length;
}

static FILE *ascii_file(struct ascii_stream *stream, char *buffer, int mode, size_t size) {
    const cookie_io_functions_t functions = {.write = ascii_write};
    FILE *file = fopencookie(stream, "w", functions);
    if (file) setvbuf(file, buffer, mode, size);
    return file;
}

/* glibc's stdout is a variable. Where it is a constant, as in musl, the program's words stay UTF-8. */
void ids_ascii_output(int and_stdout) {
#ifdef __GLIBC__
    static struct ascii_stream output = {.fd = STDOUT_FILENO}, messages = {.fd = STDERR_FILENO};
    static char output_buffer[256 * 1024], messages_buffer[BUFSIZ];
    FILE *file = ascii_file(&messages, messages_buffer, _IOLBF, sizeof messages_buffer);
    if (file) stderr = file;
    file = and_stdout ? ascii_file(&output, output_buffer, _IOFBF, sizeof output_buffer) : NULL;
    if (file) stdout = file;
#else
    (void)ascii_file;
    (void)and_stdout;
#endif
}
