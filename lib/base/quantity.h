/* quantity.h - numbers with their units, as people write them: "10us", "1.5ms", "500M", "2%", "12". Errors are
 * IDS_USAGE and quote the text. */
#ifndef IDS_LIB_BASE_QUANTITY_H
#define IDS_LIB_BASE_QUANTITY_H

#include "lib/base/error.h"

#include <stdint.h>

/* Picoseconds, exact: no rounding through a double. A time needs its unit, unless it is 0. */
int ids_parse_time(const char *text, int64_t *ret_ps, struct ids_error *err);
/* Bytes, of which K, M, G and T are powers of 1024. */
int ids_parse_size(const char *text, int64_t *ret_bytes, struct ids_error *err);
/* "2%" or "0.5 %" or "0.02"; "2" is refused, because it would be 200 %. */
int ids_parse_share(const char *text, double *ret_share, struct ids_error *err);
/* A whole number, not negative. */
int ids_parse_count(const char *text, int64_t *ret_count, struct ids_error *err);

#endif
