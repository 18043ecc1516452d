/* programs.h - programs that one side alone has: one that is new, or one that a function was compiled to, which the
 * other side runs op by op.
 *
 * A function that is no longer under jax.jit launches a small program for each of its ops: jit_normalize becomes
 * jit__mean, jit_subtract, jit_tanh and others. That is one change, and none of these is the old program under another
 * name.
 */
#ifndef IDS_LIB_COMPARE_PROGRAMS_H
#define IDS_LIB_COMPARE_PROGRAMS_H

#include "lib/base/keymap.h"
#include "lib/compare/match.h"

struct ids_program_change {
    const char *name;     /* the program: "jit_normalize"; NULL: a function that was in no program (`where`) */
    const char *function; /* "normalize" */
    const char *where;    /* "train.py:26" of a function that one side alone runs op by op; NULL */
    int side;             /* that has it: 0: it is gone, 1: it is new */
    size_t ops;           /* of it */
    size_t part_count;    /* the programs of the other side that do its work op by op, of a function with `where` those
                           * of its own side; 0: none does */
    const char *parts;    /* "jit__mean, jit_tanh, ..."; "" without any */
};

struct ids_programs {
    struct ids_program_change *at;
    size_t count, room;
    struct ids_keymap numbers[2]; /* of a program of either side: the change that it is of + 1 */
};

/* Of programs that were not renamed, and of which no op is found in another program of the other side. Texts live in
 * `texts`. 0, or -1 when memory ran out; ids_programs_done in either case. */
int ids_programs_find(const struct ids_side *a, const struct ids_side *b, const struct ids_matches *ops,
                      struct ids_report *texts, struct ids_programs *ret_programs);
void ids_programs_done(struct ids_programs *programs);

/* The change that a program, an op, or a pair of ops with the programs of both is of; NULL: none. */
const struct ids_program_change *ids_programs_change_of(const struct ids_programs *programs, int side,
                                                        const char *module);
const struct ids_program_change *ids_programs_change_of_match(const struct ids_programs *programs,
                                                              const struct ids_match *match);

/* "jit_evaluate: new program, 12 ops", "normalize no longer under jit: 8 programs (jit__mean, ...)",
 * "accuracy (train.py:26): 7 new programs op by op (jit_gather, ...)"; in `texts`. */
const char *ids_program_words(const struct ids_program_change *program, struct ids_report *texts);

#endif
