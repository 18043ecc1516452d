/* gzip.h - an output that compresses its input on several threads for the next output.
 *
 * It writes one gzip member (RFC 1952). Blocks are deflated in parallel: each begins without a history and ends at a
 * byte, so they only need to be concatenated. */
#ifndef IDS_LIB_EXPORT_GZIP_H
#define IDS_LIB_EXPORT_GZIP_H

#include "lib/export/out.h"

struct ids_gzip;

int ids_gzip_new(struct ids_out *next, struct ids_gzip **ret_gzip, struct ids_error *err);
struct ids_out *ids_gzip_out(struct ids_gzip *gzip);
/* Writes what is left. */
int ids_gzip_finish(struct ids_gzip *gzip, struct ids_error *err);
void ids_gzip_free(struct ids_gzip *gzip);

#endif
