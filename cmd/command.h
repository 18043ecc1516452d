/* command.h - what a subcommand is: one file in cmd/, one line in commands.def.
 *
 * main.c copies the defaults, parses the options over them, checks the operands and calls `run`, which returns the exit
 * status (0 done, 1 "the answer is no", 2 error) or a negative ids_code with `err` set, which main.c prints.
 */
#ifndef IDS_CMD_COMMAND_H
#define IDS_CMD_COMMAND_H

#include "lib/cli/opt.h"

enum { IDS_EXIT_DONE = 0, IDS_EXIT_NO = 1, IDS_EXIT_ERROR = 2 };

struct ids_command {
    const char *operands;          /* "RUN", "PATH...", for the usage line */
    int least, most;               /* operands; most -1: any number */
    ids_choice_fn *operand_choice; /* for completion; NULL: files */
    const struct ids_opt *opts;
    int opt_count;
    const void *defaults; /* the values that `offset` of the options points into */
    size_t values_bytes;
    int hidden;          /* in no help, no completion and no manual */
    int leading;         /* options end at the first operand, which is a program with arguments of its own */
    int passes_status;   /* the exit status is that program's, also when memory ran out beside it */
    const char *lacking; /* why this build has not got it, else NULL; said whatever its options are */
    int (*run)(const void *values, char *const *operands, int operand_count, struct ids_error *err);
};

struct ids_command_entry {
    const char *name, *about;
    const struct ids_command *command;
};

extern const struct ids_command_entry ids_commands[];
extern const int ids_command_count;

const struct ids_command_entry *ids_command_find(const char *name);
/* The names of the commands that are not hidden. */
const char *ids_command_choice(int i);
/* The text of `idsprof NAME -h`, and of `idsprof -h`. */
void ids_command_usage(const struct ids_command_entry *entry, FILE *out);
void ids_program_usage(FILE *out);

/* In an initialiser: the option table and its length. */
#define IDS_OPTIONS(table) .opts = (table), .opt_count = (int)(sizeof(table) / sizeof *(table))

#endif
