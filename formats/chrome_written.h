/* chrome_written.h - what `idsprof extract` says in otherData of a Chrome trace, which has no other place for it: the
 * host, and the stats of planes. */
#ifndef IDS_FORMATS_CHROME_WRITTEN_H
#define IDS_FORMATS_CHROME_WRITTEN_H

#include "formats/chrome_places.h"

/* Reads the member otherData; of other writers it says nothing here. *ret_host is a text, or 0. */
int ids_chrome_written(struct ids_chrome_places *places, const struct ids_json_span *value, uint32_t *ret_host,
                       struct ids_error *err);

#endif
