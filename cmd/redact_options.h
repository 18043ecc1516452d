/* redact_options.h - options of the commands that can take names out of what they write. */
#ifndef IDS_CMD_REDACT_OPTIONS_H
#define IDS_CMD_REDACT_OPTIONS_H

#include "lib/cli/opt.h"
#include "lib/redact/redactor.h"

struct ids_redact_options {
    int redact, names;
    const char *key;
};

/* Rows of a command's table; `field` is its member of that struct. */
#define IDS_OPT_REDACT(type, field)                                                                               \
    {                                                                                                             \
        IDS_OPT_FLAG, 0, "redact", NULL, "take names of people, hosts, files and arguments out, to give it away", \
            offsetof(type, field.redact), NULL                                                                    \
    }
#define IDS_OPT_REDACT_NAMES(type, field) \
    { IDS_OPT_FLAG, 0, "redact-names", NULL, "those of ops and functions too", offsetof(type, field.names), NULL }
#define IDS_OPT_REDACT_KEY(type, field)                                                            \
    {                                                                                              \
        IDS_OPT_TEXT, 0, "redact-key", "FILE", "a secret file, for the same words in each output", \
            offsetof(type, field.key), NULL                                                        \
    }
#define IDS_REDACT_OPTIONS(type, field) \
    IDS_OPT_REDACT(type, field), IDS_OPT_REDACT_NAMES(type, field), IDS_OPT_REDACT_KEY(type, field)

int ids_redact_wanted(const struct ids_redact_options *options);
/* A redactor with the key of the file, or with one that nobody will know. 0, or a code. */
int ids_redact_begin(const struct ids_redact_options *options, struct ids_redactor *ret_redactor,
                     struct ids_error *err);

#endif
