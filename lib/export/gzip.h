/* gzip.h - an output in front of another one that packs what passes through, on threads of its own.
 *
 * One gzip member (RFC 1952) of blocks that are deflated side by side: each begins without a history and ends at a
 * byte, so that they need only be put one behind the other. */
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
