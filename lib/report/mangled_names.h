/* mangled_names.h - names of C++ as the linker has them, short: "_ZN5aiter9rms_quantIDF16bLi256EEEvPT_i" is
 * "rms_quant". ROCm's profilers leave the names of some kernels so. Form: the Itanium C++ ABI, "5.1 External Names". */
#ifndef IDS_LIB_REPORT_MANGLED_NAMES_H
#define IDS_LIB_REPORT_MANGLED_NAMES_H

#include "lib/base/arena.h"

/* The function, and the first types that it is made for; with its numbers, which tell two alike apart:
 * "rms_quant<256>". NULL where it is no such name. */
const char *ids_mangled_name_in_short(const char *name, int with_numbers, struct ids_arena *arena);

#endif
