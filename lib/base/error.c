#include "lib/base/error.h"

#include "lib/base/memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int(ids_fail)(struct ids_error *err, int code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    err->code = code;
    if (code == IDS_NOMEM) ids_memory_refused();
    return code;
}

int(ids_fail_system)(struct ids_error *err, const char *format, ...) {
    int number = errno;
    char reason[128] = "out of memory", what[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (number != ENOMEM) snprintf(reason, sizeof reason, "%s", strerror(number));
    (ids_fail)(err, number == ENOMEM ? IDS_NOMEM : IDS_IO, "%s", reason);
    return ids_error_at(err, "%s", what);
}

int ids_error_at(struct ids_error *err, const char *format, ...) {
    char before[sizeof err->text];
    char whole[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(before, sizeof before, format, args);
    va_end(args);
    size_t used = strlen(before), rest = strlen(err->text);
    /* Of a place that is too long the end goes: the reason is worth more, up to three quarters of the room. */
    size_t reason = rest < sizeof whole / 4 * 3 ? rest : sizeof whole / 4 * 3;
    if (used > sizeof whole - 3 - reason) used = sizeof whole - 3 - reason;
    memcpy(whole, before, used);
    memcpy(whole + used, ": ", 2);
    used += 2;
    if (rest > sizeof whole - 1 - used) rest = sizeof whole - 1 - used;
    memcpy(whole + used, err->text, rest);
    whole[used + rest] = '\0';
    memcpy(err->text, whole, used + rest + 1);
    return err->code;
}
