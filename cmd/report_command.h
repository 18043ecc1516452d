/* report_command.h - the command that gives the same figures again, for the reader to go on from: the profile, and the
 * options that shape what is computed of it. */
#ifndef IDS_CMD_REPORT_COMMAND_H
#define IDS_CMD_REPORT_COMMAND_H

#include <stddef.h>
#include <stdint.h>

struct ids_given_option {
    const char *name; /* without its dashes */
    const char *text; /* NULL: a time, or not given */
    int64_t time_ps;  /* negative: not given */
};

/* "idsprof report 'my runs' --from 100ms", quoted for a shell. Cut where it is longer than the buffer. */
void ids_command_again(const char *name, const char *path, const struct ids_given_option *options, size_t count,
                       char *buffer, size_t size);

#endif
