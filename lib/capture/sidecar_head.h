/* sidecar_head.h - what the record of a capture says (sidecar.h), read back: also by a program that cannot capture.
 */
#ifndef IDS_LIB_CAPTURE_SIDECAR_HEAD_H
#define IDS_LIB_CAPTURE_SIDECAR_HEAD_H

#include "lib/wire/sidecar_name.h"

#include <stddef.h>

/* Whether the folder's sidecar says that the capture ended. */
int ids_sidecar_is_ended(const char *folder);
/* Why the capture of that folder recorded less than was asked for; empty where its sidecar does not say it. */
void ids_sidecar_missed(const char *folder, char *buffer, size_t size);

#endif
