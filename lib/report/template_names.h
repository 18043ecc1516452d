/* template_names.h - names that C++ gives its templates, short.
 *
 * A kernel of PyTorch is called "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<...>,
 * ...>( int, ...)", several hundred letters long, and cut in the middle all of them look alike. What tells is the
 * function and what it computes with: "vectorized_elementwise_kernel<AUnaryFunctor<MulFunctor>, BFloat16>". So are
 * names of NVIDIA's products, without their schedule, and lists of paths, without what they repeat. */
#ifndef IDS_LIB_REPORT_TEMPLATE_NAMES_H
#define IDS_LIB_REPORT_TEMPLATE_NAMES_H

#include "lib/base/arena.h"

#include <stddef.h>

/* The same of one, which may look as another one does. */
const char *ids_template_name_in_short(const char *name, int columns, struct ids_arena *arena);
/* Shortens in place those of the texts that are such names and longer than `columns`; different ones stay different. */
void ids_template_names_shorten(const char **texts, size_t count, int columns, struct ids_arena *arena);

#endif
