/* python_names.h - what people call the function of a code object: with its class, "EMA.update", and what is written
 * inside a function without a name of its own, a comprehension or a lambda, as that function. */
#ifndef IDS_COLLECTORS_COMMON_PYTHON_NAMES_H
#define IDS_COLLECTORS_COMMON_PYTHON_NAMES_H

#include "collectors/common/python_source.h"

enum { IDS_PYTHON_NAME = 256 };

/* Whether Python made a function of what is none: a comprehension, a generator expression or a lambda. */
int ids_python_is_inline(const char *name);

/* The name out of co_qualname: "Trainer.fit.<locals>.<listcomp>" is "Trainer.fit", "f.<locals>.Hook.write" is
 * "Hook.write". */
void ids_python_short_name(const char *qualified, char name[IDS_PYTHON_NAME]);

/* The name of a code object. Before Python 3.11, which has no co_qualname, it is read in the source: by the lines above
 * the function that stand further left. */
void ids_python_name(struct ids_python_sources *sources, const struct ids_python_code *code,
                     char name[IDS_PYTHON_NAME]);

#endif
