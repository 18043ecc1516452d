/* unpack_limit.h - how much a packed file may unpack to: one rule for gzip, zip, packed tars and gzip inside them. A
 * few megabytes must not fill the disk or the memory.
 *
 * Real traces unpack to 15 to 20 times their size, deflate can reach 1,032 times. So 256 MiB are always allowed, and
 * above that 200 times the packed bytes that were read, up to 256 GiB. In an archive the rule applies to all members
 * together and to each member with the bytes that were read for it; gzip inside a member counts from these too. A user
 * who trusts the file can set the limit.
 */
#ifndef IDS_LIB_IO_UNPACK_LIMIT_H
#define IDS_LIB_IO_UNPACK_LIMIT_H

#include "lib/base/error.h"

#include <stdint.h>

/* Of this process, from now on: this many bytes for each packed file, whatever its size; 0 for the rule above. */
void ids_unpack_limit_set(uint64_t bytes);
/* What the user allowed; 0 for the rule. */
uint64_t ids_unpack_limit(void);

/* IDS_LIMIT when `packed` bytes may not become `unpacked` ones. `what` begins the message ("gzip"). */
int ids_unpack_check(const char *what, uint64_t packed, uint64_t unpacked, struct ids_error *err);

#endif
