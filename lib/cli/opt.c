#include "lib/cli/opt.h"

#include "lib/base/quantity.h"
#include "lib/cli/reading.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { OPTS_MAX = 48, FEW_CHOICES = 32, LONG_ONLY = 0x100 };

/* ---- words ---- */

enum likeness { UNLIKE, BEGINS, SAME };

static enum likeness compare(const char *word, const char *choice) {
    for (; *word && *choice; word++, choice++) {
        if ((*word == '-' ? '_' : *word) != (*choice == '-' ? '_' : *choice)) return UNLIKE;
    }
    return *word ? UNLIKE : *choice ? BEGINS : SAME;
}

/* Where nothing comes near: what such a word looks like, one from each part of the list. */
static void few_of_all(ids_choice_fn *choice, int count, char *words, size_t size) {
    snprintf(words, size, " (one of %d, such as '%s', '%s', '%s', '%s')", count, choice(0), choice(count / 4),
             choice(count / 2), choice(count - 1));
}

int ids_parse_choice(const char *text, ids_choice_fn *choice, int *ret_index, struct ids_error *err) {
    int count = 0, beginning = 0;
    for (; choice(count); count++) {
        enum likeness likeness = *text ? compare(text, choice(count)) : UNLIKE;
        beginning += likeness == BEGINS;
        if (likeness == SAME || (likeness == BEGINS && beginning == 1)) *ret_index = count;
        if (likeness == SAME) return 0;
    }
    if (beginning == 1 && count <= FEW_CHOICES) return 0; /* an unmistakable beginning is enough */
    char words[512];
    if (count > FEW_CHOICES) {
        if (!ids_nearest(text, choice, "", words, sizeof words)) few_of_all(choice, count, words, sizeof words);
        return ids_fail(err, IDS_USAGE, "invalid value '%s'%s", text, words);
    }
    size_t used = 0;
    words[0] = '\0';
    for (int i = 0; i < count && used < sizeof words; i++) {
        int length = snprintf(words + used, sizeof words - used, "%s%s", i ? ", " : "", choice(i));
        if (length > 0) used += (size_t)length;
    }
    return ids_fail(err, IDS_USAGE, "invalid value '%s' (%s)", text, words);
}

/* Puts the value of one option where it belongs. */
static int set_value(const struct ids_opt *opt, const char *text, void *values, struct ids_error *err) {
    void *place = opt->offset & IDS_OPT_SHARED ? (char *)&ids_reading + (opt->offset & ~IDS_OPT_SHARED)
                                               : (char *)values + opt->offset;
    int index = 0;
    if (opt->choice) {
        int code = ids_parse_choice(text, opt->choice, &index, err);
        if (code) return code;
        text = opt->choice(index);
    }
    switch (opt->type) {
    case IDS_OPT_FLAG:
        *(int *)place = 1;
        return 0;
    case IDS_OPT_COUNT:
        return ids_parse_count(text, place, err);
    case IDS_OPT_TIME:
        return ids_parse_time(text, place, err);
    case IDS_OPT_SIZE:
        return ids_parse_size(text, place, err);
    case IDS_OPT_TEXT:
        *(const char **)place = text;
        return 0;
    case IDS_OPT_CHOICE:
        *(int *)place = index;
        return 0;
    case IDS_OPT_TEXTS: {
        struct ids_opt_texts *texts = place;
        if (texts->count == IDS_OPT_TEXTS_MAX)
            return ids_fail(err, IDS_USAGE, "given more than %d times", IDS_OPT_TEXTS_MAX);
        texts->at[texts->count++] = text;
        return 0;
    }
    }
    return ids_fail(err, IDS_USAGE, "an option of an unknown type");
}

/* ---- parsing ---- */

/* The table as getopt_long wants it. A long option's value is its index + LONG_ONLY, so that one list serves both. */
struct getopt_tables {
    struct option longs[OPTS_MAX + 2];
    char shorts[3 * OPTS_MAX + 10];
};

static void make_getopt_tables(const struct ids_opt *opts, int count, int leading, struct getopt_tables *ret) {
    size_t used = 0;
    if (leading) ret->shorts[used++] = '+';
    ret->shorts[used++] = ':'; /* tells a missing argument from an unknown option */
    for (int i = 0; i < count; i++) {
        int argument = opts[i].type == IDS_OPT_FLAG ? no_argument : required_argument;
        ret->longs[i] = (struct option){opts[i].long_name, argument, NULL, LONG_ONLY + i};
        if (!opts[i].short_name) continue;
        ret->shorts[used++] = opts[i].short_name;
        if (argument) ret->shorts[used++] = ':';
    }
    ret->shorts[used++] = 'h';
    ret->shorts[used] = '\0';
    ret->longs[count] = (struct option){"help", no_argument, NULL, 'h'};
    ret->longs[count + 1] = (struct option){0};
}

/* The long names, for suggestions: ids_nearest takes a function of an index alone. */
static const struct ids_opt *suggested_from;
static int suggested_count;
static const char *long_name_choice(int i) {
    return i < suggested_count ? suggested_from[i].long_name : i == suggested_count ? "help" : NULL;
}

static int fail_unknown(const struct ids_opt *opts, int count, const char *word, struct ids_error *err) {
    char near[256], name[64];
    if (strncmp(word, "--", 2) != 0) return ids_fail(err, IDS_USAGE, "unknown option '-%c'", optopt);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    int prefixes = 0;
    suggested_from = opts;
    suggested_count = count;
    for (int i = 0; long_name_choice(i); i++) {
        if (!strcmp(name, long_name_choice(i))) return ids_fail(err, IDS_USAGE, "option '--%s' takes no value", name);
        prefixes += !strncmp(name, long_name_choice(i), strlen(name));
    }
    ids_nearest(name, long_name_choice, "--", near, sizeof near);
    return ids_fail(err, IDS_USAGE, "%s option '--%s'%s", prefixes > 1 ? "ambiguous" : "unknown", name, near);
}

static const struct ids_opt *find_opt(const struct ids_opt *opts, int count, int value) {
    if (value >= LONG_ONLY && value - LONG_ONLY < count) return &opts[value - LONG_ONLY];
    for (int i = 0; i < count; i++) {
        if (opts[i].short_name && opts[i].short_name == value) return &opts[i];
    }
    return NULL;
}

static int parse(const struct ids_opt *opts, int opt_count, int leading, int argc, char **argv, void *values,
                 struct ids_error *err) {
    struct getopt_tables tables;
    if (opt_count > OPTS_MAX) return ids_fail(err, IDS_LIMIT, "a command with more than %d options", OPTS_MAX);
    make_getopt_tables(opts, opt_count, leading, &tables);
    optind = 0; /* GNU: begin anew, also after another parse */
    opterr = 0;
    int value;
    while ((value = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1) {
        if (value == 'h') return IDS_OPT_HELP;
        if (value == '?') return fail_unknown(opts, opt_count, argv[optind - 1], err);
        const struct ids_opt *opt = find_opt(opts, opt_count, value == ':' ? optopt : value);
        if (!opt) return ids_fail(err, IDS_USAGE, "unknown option '-%c'", optopt);
        /* The end of the options is no value, but where one is forgotten; --NAME=-- is one. */
        int is_forgotten = optarg == argv[optind - 1] && !strcmp(argv[optind - 1], "--");
        if (value == ':' || is_forgotten)
            return ids_fail(err, IDS_USAGE, "option '--%s' needs a value (%s)", opt->long_name, opt->arg);
        int code = set_value(opt, optarg, values, err);
        if (code) {
            ids_error_at(err, "--%s", opt->long_name);
            return code;
        }
    }
    return optind;
}

int ids_opt_parse(const struct ids_opt *opts, int opt_count, int argc, char **argv, void *values,
                  struct ids_error *err) {
    return parse(opts, opt_count, 0, argc, argv, values, err);
}

int ids_opt_parse_leading(const struct ids_opt *opts, int opt_count, int argc, char **argv, void *values,
                          struct ids_error *err) {
    return parse(opts, opt_count, 1, argc, argv, values, err);
}

/* ---- help ---- */

static int name_length(const struct ids_opt *opt) {
    return (int)strlen(opt->long_name) + (opt->arg ? (int)strlen(opt->arg) + 1 : 0);
}

static void help_line(FILE *out, char short_name, const char *long_name, const char *arg, const char *help, int width) {
    char letter[4] = "   ";
    if (short_name) snprintf(letter, sizeof letter, "-%c,", short_name);
    int used = (int)strlen(long_name) + (arg ? (int)strlen(arg) + 1 : 0);
    fprintf(out, "  %s --%s%s%s%*s  %s\n", letter, long_name, arg ? " " : "", arg ? arg : "", width - used, "", help);
}

void ids_opt_help(const struct ids_opt *opts, int opt_count, FILE *out) {
    int width = (int)strlen("help");
    for (int i = 0; i < opt_count; i++) width = name_length(&opts[i]) > width ? name_length(&opts[i]) : width;
    for (int i = 0; i < opt_count; i++) {
        help_line(out, opts[i].short_name, opts[i].long_name, opts[i].arg, opts[i].help, width);
    }
    help_line(out, 'h', "help", NULL, "this text", width);
}
