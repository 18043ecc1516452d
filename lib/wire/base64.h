/* base64.h - bytes out of base64 (RFC 4648), as ids_json_put_binary writes them. */
#ifndef IDS_LIB_WIRE_BASE64_H
#define IDS_LIB_WIRE_BASE64_H

#include <stddef.h>

/* Decodes `length` characters into `ret_bytes`, which has room for three quarters of them. The number of bytes, or -1
 * when it is no base64 or not padded. May decode in place. */
ptrdiff_t ids_base64_read(const char *at, size_t length, unsigned char *ret_bytes);

#endif
