/* row_numbers.h - the numbers that rows of a database get next, over all runs in it. */
#ifndef IDS_LIB_EVENTS_ROW_NUMBERS_H
#define IDS_LIB_EVENTS_ROW_NUMBERS_H

#include <stdint.h>

struct ids_row_numbers {
    int64_t run, host, plane, track, name, stat, set, event;
};

#endif
