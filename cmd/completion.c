/* Completion scripts, out of the option tables: what is completed is what is parsed. */
#include "cmd/command.h"

#include <string.h>

static const char *shell_choice(int i) {
    static const char *const names[] = {"bash", "zsh", "fish", NULL};
    return names[i];
}

typedef void write_fn(const struct ids_command_entry *entry, FILE *out);

static void each_command(write_fn *write, FILE *out) {
    for (int i = 0; i < ids_command_count; i++) {
        if (!ids_commands[i].command->hidden) write(&ids_commands[i], out);
    }
}

static void put_choices(ids_choice_fn *choice, FILE *out) {
    for (int i = 0; choice(i); i++) fprintf(out, "%s%s", i ? " " : "", choice(i));
}

/* ---- bash ---- */

static void bash_command(const struct ids_command_entry *entry, FILE *out) {
    const struct ids_command *command = entry->command;
    fprintf(out, "    %s)\n        case $previous in\n", entry->name);
    for (int i = 0; i < command->opt_count; i++) {
        const struct ids_opt *opt = &command->opts[i];
        if (opt->type == IDS_OPT_FLAG) continue;
        fprintf(out, "        --%s", opt->long_name);
        if (opt->short_name) fprintf(out, "|-%c", opt->short_name);
        fputs(") words=\"", out);
        if (opt->choice) put_choices(opt->choice, out);
        fputs("\"; files=0;;\n", out);
    }
    fputs("        *) options=\"", out);
    for (int i = 0; i < command->opt_count; i++) fprintf(out, "--%s ", command->opts[i].long_name);
    fputs("--help\"", out);
    if (command->operand_choice) {
        fputs(" words=\"", out);
        put_choices(command->operand_choice, out);
        fputs("\" files=0", out);
    }
    fputs(";;\n        esac;;\n", out);
}

static void write_bash(FILE *out) {
    fputs("# bash completion for idsprof, made by `idsprof completion bash`\n"
          "_idsprof() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words= options= files=1\n"
          "    COMPREPLY=()\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    put_choices(ids_command_choice, out);
    fputs(" --help --version' -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    case ${COMP_WORDS[1]} in\n",
          out);
    each_command(bash_command, out);
    fputs("    *) return;;\n"
          "    esac\n"
          "    if [[ $word == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
          "    elif [[ -n $words ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "    elif ((files)); then\n"
          "        compopt -o filenames 2>/dev/null\n"
          "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
          "    fi\n"
          "}\n"
          "complete -F _idsprof idsprof\n",
          out);
}

/* ---- zsh ---- */

/* Within '...[help]...': quotes, brackets and colons mean something there. */
static void put_zsh_help(const char *help, FILE *out) {
    for (; *help; help++) {
        if (*help == '\'') {
            fputs("'\\''", out);
        } else {
            if (strchr("[]:\\", *help)) fputc('\\', out);
            fputc(*help, out);
        }
    }
}

static void zsh_option(const struct ids_opt *opt, FILE *out) {
    const char *often = opt->type == IDS_OPT_TEXTS ? "*" : "";
    for (int letter = 0; letter < 1 + (opt->short_name != 0); letter++) {
        fputs(" \\\n            '", out);
        if (letter) {
            fprintf(out, "%s-%c[", often, opt->short_name);
        } else {
            fprintf(out, "%s--%s[", often, opt->long_name);
        }
        put_zsh_help(opt->help, out);
        fputc(']', out);
        if (opt->arg) fprintf(out, ":%s:", opt->arg);
        if (opt->choice) {
            fputc('(', out);
            put_choices(opt->choice, out);
            fputc(')', out);
        }
        fputc('\'', out);
    }
}

static void zsh_command(const struct ids_command_entry *entry, FILE *out) {
    const struct ids_command *command = entry->command;
    fprintf(out, "    %s)\n        _arguments", entry->name);
    for (int i = 0; i < command->opt_count; i++) zsh_option(&command->opts[i], out);
    fputs(" \\\n            '(-h --help)'{-h,--help}'[this text]'", out);
    if (command->operand_choice) {
        fputs(" \\\n            '1::word:(", out);
        put_choices(command->operand_choice, out);
        fputs(")';;\n", out);
    } else {
        fprintf(out, " \\\n            '%s:run:_files';;\n", command->most < 0 ? "*" : "1");
    }
}

static void zsh_describe(const struct ids_command_entry *entry, FILE *out) {
    fprintf(out, "        '%s:", entry->name);
    put_zsh_help(entry->about, out);
    fputs("'\n", out);
}

static void write_zsh(FILE *out) {
    fputs("#compdef idsprof\n# made by `idsprof completion zsh`\n"
          "_idsprof() {\n"
          "    local -a commands=(\n",
          out);
    each_command(zsh_describe, out);
    fputs("    )\n"
          "    if ((CURRENT == 2)); then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    shift words\n"
          "    ((CURRENT--))\n"
          "    case $words[1] in\n",
          out);
    each_command(zsh_command, out);
    fputs("    esac\n}\n_idsprof \"$@\"\n", out);
}

/* ---- fish ---- */

static void put_fish_help(const char *help, FILE *out) {
    fputc('\'', out);
    for (; *help; help++) {
        if (strchr("'\\", *help)) fputc('\\', out);
        fputc(*help, out);
    }
    fputc('\'', out);
}

static void fish_command(const struct ids_command_entry *entry, FILE *out) {
    const struct ids_command *command = entry->command;
    fprintf(out, "complete -c idsprof -n __fish_use_subcommand -f -a %s -d ", entry->name);
    put_fish_help(entry->about, out);
    fputc('\n', out);
    for (int i = 0; i < command->opt_count; i++) {
        const struct ids_opt *opt = &command->opts[i];
        fprintf(out, "complete -c idsprof -n '__fish_seen_subcommand_from %s' -l %s", entry->name, opt->long_name);
        if (opt->short_name) fprintf(out, " -s %c", opt->short_name);
        if (opt->arg) fputs(" -x", out);
        if (opt->choice) {
            fputs(" -a '", out);
            put_choices(opt->choice, out);
            fputc('\'', out);
        }
        fputs(" -d ", out);
        put_fish_help(opt->help, out);
        fputc('\n', out);
    }
    if (!command->operand_choice) return;
    fprintf(out, "complete -c idsprof -n '__fish_seen_subcommand_from %s' -f -a '", entry->name);
    put_choices(command->operand_choice, out);
    fputs("'\n", out);
}

static void write_fish(FILE *out) {
    fputs("# fish completion for idsprof, made by `idsprof completion fish`\n", out);
    each_command(fish_command, out);
}

/* ---- */

static int completion_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    (void)values;
    (void)operand_count;
    static void (*const writers[])(FILE *) = {write_bash, write_zsh, write_fish};
    int index;
    int code = ids_parse_choice(operands[0], shell_choice, &index, err);
    if (code) return code;
    writers[index](stdout);
    return IDS_EXIT_DONE;
}

const struct ids_command ids_completion_command = {
    .operands = "SHELL",
    .least = 1,
    .most = 1,
    .operand_choice = shell_choice,
    .run = completion_run,
};
