#include "cmd/report_command.h"

#include "lib/wire/shell_quote.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* In the largest unit that leaves no fraction: what is read back is the same time. */
static void put_time(int64_t time_ps, char *text, size_t size) {
    static const struct {
        const char *unit;
        int64_t ps;
    } units[] = {{"s", 1000000000000}, {"ms", 1000000000}, {"us", 1000000}, {"ns", 1000}, {"ps", 1}};
    size_t i = 0;
    while (time_ps % units[i].ps) i++;
    snprintf(text, size, "%" PRId64 "%s", time_ps / units[i].ps, units[i].unit);
}

void ids_command_again(const char *name, const char *path, const struct ids_given_option *options, size_t count,
                       char *buffer, size_t size) {
    size_t used = (size_t)snprintf(buffer, size, "idsprof %s ", name);
    ids_shell_quote(path, buffer + used, size - used);
    for (size_t i = 0; i < count; i++) {
        char time[32] = "";
        const char *text = options[i].text ? options[i].text : time;
        if (!options[i].text && options[i].time_ps < 0) continue;
        if (!options[i].text) put_time(options[i].time_ps, time, sizeof time);
        used = strlen(buffer);
        used += (size_t)snprintf(buffer + used, size - used, " --%s ", options[i].name);
        if (used < size) ids_shell_quote(text, buffer + used, size - used);
    }
}
