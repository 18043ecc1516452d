/* structure.h - what two sides compute differently, as their compiled programs say it: certain, whatever the times are.
 *
 * Of the ops that were matched: other shapes, another number of executions, ops that came and went, scope by scope. Of
 * the programs (the report's table program_facts): arguments, donation, shardings, collectives, custom calls, what is
 * computed a second time. A program that was renamed is one row, and not one that came and one that went.
 */
#ifndef IDS_LIB_COMPARE_STRUCTURE_H
#define IDS_LIB_COMPARE_STRUCTURE_H

#include "lib/compare/programs.h"
#include "lib/compare/shape_change.h"

struct ids_structure_row {
    const char
        *what; /* "shape", "batch", "element_type", "dimension", "ops", "executions", "program", "jit", "renamed",
                * "renumbered" or one of program_facts' */
    const char *where;  /* a scope, an argument, a program; NULL: not known */
    const char *before; /* NULL: there was none */
    const char *after;  /* NULL: there is none */
    double count;       /* instructions, or ops, that it is said of */
    double weight_ps;   /* the time of the ops concerned; of facts 0 */
};

struct ids_structure {
    struct ids_structure_row *at; /* programs and facts first, then ops, the most time first */
    size_t count, room;
    size_t like_count;            /* so many shapes, of ops or else of arguments, changed alike; 0: they did not */
    struct ids_shape_change like; /* how */
    struct ids_dimension_change dimensions[IDS_DIMENSIONS_MOST]; /* where not all changed alike */
    size_t dimension_count;
    struct ids_programs programs; /* that one side alone has; none of a slice */
};

/* `of_programs`: with what the programs say as a whole, else of the matched ops alone. Texts live in `texts` or the
 * sides' reports. */
int ids_structure_make(const struct ids_side *a, const struct ids_side *b, const struct ids_matches *ops,
                       int of_programs, struct ids_report *texts, struct ids_structure *ret_structure,
                       struct ids_error *err);
void ids_structure_done(struct ids_structure *structure);

#endif
