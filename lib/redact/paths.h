/* paths.h - paths in texts: where one ends, and what of it is public. */
#ifndef IDS_LIB_REDACT_PATHS_H
#define IDS_LIB_REDACT_PATHS_H

#include "lib/base/buffer.h"
#include "lib/redact/learned.h"

/* How many bytes of `text` from `at` on are a path, 0 for none. `whole`: all of the text is one if it begins so.
 * `no_file_before` is 0 at first and stays the caller's for all places of a text: up to there no name of a file
 * begins. */
size_t ids_path_at(struct ids_text text, size_t at, int whole, size_t *no_file_before);
/* Appends a path with its parts taken out; learns the users of home folders. */
void ids_redact_path(struct ids_redactor *redactor, struct ids_text path, struct ids_buffer *out);

#endif
