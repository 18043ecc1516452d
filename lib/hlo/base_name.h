/* base_name.h - the part of an op's name that another compilation keeps. */
#ifndef IDS_LIB_HLO_BASE_NAME_H
#define IDS_LIB_HLO_BASE_NAME_H

#include <stddef.h>

/* "fusion" of "fusion.3" and "fusion.3.1", "loop_add_fusion" of "loop_add_fusion_12": the length of the name without
 * its numbers. */
size_t ids_base_name(const char *name);

#endif
