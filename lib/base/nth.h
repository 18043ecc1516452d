/* nth.h - a number by its rank, as a median: without putting all in order. */
#ifndef IDS_LIB_BASE_NTH_H
#define IDS_LIB_BASE_NTH_H

#include <stddef.h>
#include <stdint.h>

/* The number that would be at[n] if all were in order, n < count; they change places. */
int64_t ids_nth(int64_t *at, size_t count, size_t n);

#endif
