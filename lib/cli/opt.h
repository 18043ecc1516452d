/* opt.h - the options of a command, in one table.
 *
 * The table gives the parsing (getopt_long underneath), the text of -h, the completion scripts and, through
 * tests/cli/test_manual.py, the check that the manual page agrees. Values land in the command's own struct, at
 * `offset`. Every command has -h, --help without saying so.
 */
#ifndef IDS_LIB_CLI_OPT_H
#define IDS_LIB_CLI_OPT_H

#include "lib/base/error.h"
#include "lib/cli/nearest.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum ids_opt_type {
    IDS_OPT_FLAG,   /* int: 1 when given */
    IDS_OPT_COUNT,  /* int64_t: a whole number, not negative */
    IDS_OPT_TIME,   /* int64_t picoseconds: "10us", "1.5ms", "2s"; exact */
    IDS_OPT_SIZE,   /* int64_t bytes: "500M", "8G", "1.5T" (powers of 1024) */
    IDS_OPT_TEXT,   /* const char *; one of the choices when there are any */
    IDS_OPT_TEXTS,  /* struct ids_opt_texts: may be given several times */
    IDS_OPT_CHOICE, /* int: the index of the choice */
};

enum { IDS_OPT_TEXTS_MAX = 32 };
/* Or-ed to an offset: it is one into ids_reading (reading.h). */
#define IDS_OPT_SHARED ((size_t)1 << 30)
struct ids_opt_texts {
    const char *at[IDS_OPT_TEXTS_MAX];
    size_t count;
};

struct ids_opt {
    enum ids_opt_type type;
    char short_name;       /* 0: none */
    const char *long_name; /* "top" */
    const char *arg;       /* "N", as help and manual call it; NULL for a flag */
    const char *help;      /* one line */
    size_t offset;
    ids_choice_fn *choice; /* NULL: anything */
};

/* Parses argv[1...] into `values`, which hold the defaults. Returns the index of the first operand (options and
 * operands may be mixed; argv is reordered), IDS_OPT_HELP when help was asked for, or IDS_USAGE. */
enum { IDS_OPT_HELP = 0 };
int ids_opt_parse(const struct ids_opt *opts, int opt_count, int argc, char **argv, void *values,
                  struct ids_error *err);
/* The same, but the first operand ends the options: what follows belongs to another program. */
int ids_opt_parse_leading(const struct ids_opt *opts, int opt_count, int argc, char **argv, void *values,
                          struct ids_error *err);
/* One line an option, aligned. */
void ids_opt_help(const struct ids_opt *opts, int opt_count, FILE *out);

/* The index of the word, or of the one word that begins so where there are few; else an error that lists them, or
 * the nearest of many. */
int ids_parse_choice(const char *text, ids_choice_fn *choice, int *ret_index, struct ids_error *err);

#endif
