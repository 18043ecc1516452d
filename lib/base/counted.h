/* counted.h - a number and what it counts: "1 step", "2,204 steps". */
#ifndef IDS_LIB_BASE_COUNTED_H
#define IDS_LIB_BASE_COUNTED_H

#include <stdint.h>

enum { IDS_COUNTED_ROOM = 96 };

/* The number with commas between the thousands, and the noun in the number that agrees. `noun` is the singular of a
 * regular noun, and what precedes it ("device event"). Returns `buffer`. */
char *ids_counted(uint64_t count, const char *noun, char buffer[IDS_COUNTED_ROOM]);

/* The same for an argument of printf: lives as long as the block that it stands in. */
#define IDS_COUNTED(count, noun) ids_counted((uint64_t)(count), noun, (char[IDS_COUNTED_ROOM]){0})

#endif
