/* error.h - how a fallible function says what went wrong.
 *
 * A fallible function returns 0 or a negative enum ids_code and takes `struct ids_error *err` last. The one who
 * notices writes what failed and why with ids_fail(); each level that knows more about the place adds it in front
 * with ids_error_at(), so that a message reads from the outside in:
 *   report: 'run1/x.xplane.pb': plane 3 ('/device:GPU:0'): varint runs past the end (offset 8812)
 * The buffer is fixed, so that out-of-memory can be said too; a message too long is cut, never lost.
 */
#ifndef IDS_LIB_BASE_ERROR_H
#define IDS_LIB_BASE_ERROR_H

#include <stddef.h>

enum ids_code {
    IDS_OK = 0,
    IDS_NOMEM = -1,       /* memory could not be had */
    IDS_IO = -2,          /* the system refused (open, read, write, no space) */
    IDS_CORRUPT = -3,     /* the bytes contradict the format */
    IDS_TRUNCATED = -4,   /* the bytes end before the format does, and nothing could be kept */
    IDS_UNSUPPORTED = -5, /* a thing no format of ours knows */
    IDS_LIMIT = -6,       /* a named limit would be passed */
    IDS_USAGE = -7,       /* the caller asked for something that does not exist */
    IDS_NOT_FOUND = -8,   /* nothing there: an empty folder, a missing run, a cold cache */
};

struct ids_error {
    int code;       /* the enum ids_code of the failure; 0 when none */
    char text[512]; /* the message, no newline at the end */
    char hint[128]; /* what to do at the command line, which libidsprof leaves out; mostly empty */
};

#define IDS_ERROR_INIT \
    {                  \
        0, {0}, {      \
            0          \
        }              \
    }

/* Sets the message and returns `code`, so that `return ids_fail(err, IDS_CORRUPT, "...")` is the whole error path. */
int ids_fail(struct ids_error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* What the system refused, with its reason (errno) behind: IDS_NOMEM where that is memory, else IDS_IO. */
int ids_fail_system(struct ids_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The failure of another call, as it is. Returns its code. */
static inline int ids_error_pass(struct ids_error *err, const struct ids_error *from) {
    *err = *from;
    return from->code;
}

/* Adds what helps at the command line: a message itself names no command and no option, because programs that use the
 * library show it too. Returns the code that is there. */
int ids_hint(struct ids_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "message (hint)", for a command line; `room` of IDS_ERROR_WHOLE bytes. */
enum { IDS_ERROR_WHOLE = sizeof((struct ids_error *)NULL)->text + sizeof((struct ids_error *)NULL)->hint + 4 };
const char *ids_error_whole(const struct ids_error *err, char *room);

#ifdef __clang_analyzer__ /* it does not see into error.c, and would follow paths on which a failure returns 0 */
#define ids_fail(err, code, ...) ((ids_fail)((err), (code), __VA_ARGS__), (code))
#define ids_fail_system(err, ...) ((ids_fail_system)((err), __VA_ARGS__), IDS_IO)
#endif

/* The one message that needs no more than itself. */
static inline int ids_no_memory(struct ids_error *err) {
    return ids_fail(err, IDS_NOMEM, "out of memory");
}

/* Puts "where: " in front of the message and returns the code that is there. */
int ids_error_at(struct ids_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
