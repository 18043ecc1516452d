/* cause.h - one cause of a change of the step time. */
#ifndef IDS_LIB_COMPARE_CAUSE_H
#define IDS_LIB_COMPARE_CAUSE_H

#include "lib/compare/difference.h"
#include "lib/compare/match.h"
#include "lib/compare/programs.h"

enum ids_cause_kind {
    IDS_CAUSE_CULPRIT,   /* one culprit, or an account without any */
    IDS_CAUSE_OP,        /* one op, with its counterpart on the other side where it has one */
    IDS_CAUSE_SCOPE,     /* ops of one scope that came, went, or compute something else */
    IDS_CAUSE_SHAPES,    /* the same of a whole program, whose shapes all changed alike: a batch twice as large */
    IDS_CAUSE_DIMENSION, /* the same of what one dimension of the model changed, in whatever scopes */
    IDS_CAUSE_OTHERS,    /* culprits of one account, each too small to be told */
    IDS_CAUSE_EVEN,      /* what all ops that both sides have became slower or faster by */
    IDS_CAUSE_HOST, /* time of the host, where the Python tracer recorded one side alone: it slows the host, and gives
                     * its time other names */
    IDS_CAUSE_LAUNCHES, /* what one function of the program launches */
    IDS_CAUSE_LAYERS,   /* one op in several layers, which does the same on both sides and changed alike */
    IDS_CAUSE_PROGRAM,  /* a program that one side alone has; with those that do its work op by op on the other one */
    IDS_CAUSE_ACCOUNT,  /* an account, where the sides' culprits cannot be held against each other */
};
const char *ids_cause_kind_name(enum ids_cause_kind kind); /* "culprit" */

struct ids_cause {
    enum ids_cause_kind kind;
    const char *account;         /* "host.python" */
    const char *culprit, *where; /* the reports' words, of a scope its name; NULL: nobody is known */
    const char *source;          /* the line of an op's source, of several the one that tells most; NULL: not known */
    const char *call_before;     /* what side a called in its place, in the same function; NULL */
    const char *name_before, *file_before; /* of a function that side a has under another name, in another file */
    int is_place_before; /* `where` and `source` are side a's: in side b's files something else stands there */
    const struct ids_match *match;            /* of an op that both sides have; NULL: none */
    const struct ids_program_change *program; /* that one side alone has; NULL */
    int may_be_unseen; /* so few samples saw a function on one side that the other one may have it too */
    const char *note;  /* what samples of stacks say of a function of the program; NULL */
    int is_in_a, is_in_b;
    size_t count;                   /* entries of the ledgers put together */
    size_t by_chance;               /* of small ones, those that are not small, but may be chance */
    size_t added, removed, changed; /* of them, those on one side only, and those that compute something else */
    long recomputed;     /* an op is computed again for the backward pass; of several, so many more of those added than
                          * of those removed are */
    size_t beside;       /* and those that compute the same at the same moments, on cores that they share */
    double hidden_ps;    /* of what only one side has: its time at which others ran too, and by which those
                          * became slower */
    double exposed_ps;   /* of a wait that one side alone has: the time of functions beside which the device
                          * works on the other side */
    double a_ps, b_ps;   /* mean per step (or window) and device */
    double change_ps;    /* b - a, less what an even change accounts for */
    double factor;       /* of an even change */
    double no_core[2];   /* of one that the machine's load makes: cores.h's share of each side; else 0 */
    double largest_ps;   /* of several ops put together: the change of the one that tells most */
    const char *largest; /* its name */
    int is_consequence;  /* its ops only have other operands, because others of the program came or went */
    int is_made;         /* ops without a place in the program: the compiler made them (a copy) */
    double rank;         /* what is left of the change after what the spread alone can make of it */
    struct ids_interval interval; /* of change_ps */
    enum ids_verdict verdict;     /* improvement, regression: less or more time */
};

/* Ops put together, because the program says that they belong together. */
int ids_cause_is_group(const struct ids_cause *cause);
/* The program says of this cause that it does something else: another shape or computation, more executions, ops that
 * came or went. That needs no statistics. */
int ids_cause_is_structural(const struct ids_cause *cause);
int ids_match_is_structural(const struct ids_match *match);
/* What the program says, and that it compiled, is so, however few steps it made long. */
int ids_cause_is_fact(const struct ids_cause *cause);

/* What is left of a change after what the spread alone can make of it: c³ / (c² + e²) of a change c whose error e is
 * three standard errors. (Over the steps of one recording it is one: what a single step cost was there.) What the
 * program itself says counts half as much again (ops that only have other operands, where others came, do not): where
 * ops came or were replaced others became slower for it, which share the cores, the memory and its cache with them;
 * where they are seen to, that time counts too. So does what a wait keeps the device from. Many small ones put
 * together are no cause: 0. */
double ids_cause_rank(const struct ids_cause *cause, int by_run);
/* A function of the program, no wait, in which one side alone has time, but for a hundredth, and enough samples. */
int ids_cause_has_come_or_gone(const struct ids_cause *cause);
/* Its interval holds zero, and it is no fact, nor a function of the program in which one side alone has time: few steps
 * have it, but they had it. Nor a wait that is seen to keep the device from its work. */
int ids_cause_may_be_chance(const struct ids_cause *cause);
/* The order of causes: by `rank`, of which those that may be chance count a tenth, then by the change. Less than 0:
 * `left` comes first. */
int ids_cause_order(const struct ids_cause *left, const struct ids_cause *right);
/* Whether it is more than that error, or the program says it. */
int ids_cause_is_beyond_chance(const struct ids_cause *cause, int by_run);

#endif
