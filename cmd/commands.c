/* The list of commands, out of commands.def, and their help. */
#include "cmd/command.h"

#include <string.h>

#define IDS_COMMAND(name, about) extern const struct ids_command ids_##name##_command;
#include "cmd/commands.def"
#undef IDS_COMMAND

const struct ids_command_entry ids_commands[] = {
#define IDS_COMMAND(name, about) {#name, about, &ids_##name##_command},
#include "cmd/commands.def"
#undef IDS_COMMAND
};
const int ids_command_count = (int)(sizeof ids_commands / sizeof *ids_commands);

const struct ids_command_entry *ids_command_find(const char *name) {
    for (int i = 0; i < ids_command_count; i++) {
        if (!strcmp(ids_commands[i].name, name)) return &ids_commands[i];
    }
    return NULL;
}

const char *ids_command_choice(int i) {
    for (int c = 0; c < ids_command_count; c++) {
        if (!ids_commands[c].command->hidden && !i--) return ids_commands[c].name;
    }
    return NULL;
}

void ids_command_usage(const struct ids_command_entry *entry, FILE *out) {
    const struct ids_command *command = entry->command;
    fprintf(out, "usage: idsprof %s%s%s%s\n", entry->name, command->opt_count ? " [options]" : "",
            *command->operands ? " " : "", command->operands);
    fprintf(out, "%s\n\n", entry->about);
    ids_opt_help(command->opts, command->opt_count, out);
}

void ids_program_usage(FILE *out) {
    fputs("usage: idsprof COMMAND [options] ...\n"
          "Reads JAX/XLA profiles and says how busy the devices were, why they waited, and what to do.\n\n",
          out);
    for (int i = 0; i < ids_command_count; i++) {
        if (ids_commands[i].command->hidden) continue;
        const char *about = ids_commands[i].command->lacking ? "(not in this build)" : ids_commands[i].about;
        fprintf(out, "  %-11s %s\n", ids_commands[i].name, about);
    }
    fputs("\n  -h, --help     this text; after a command, its own\n"
          "  -V, --version  the version\n\n"
          "start with:  idsprof report RUN\n",
          out);
}
