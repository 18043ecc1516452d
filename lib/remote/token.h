/* token.h - the secret that lets a machine open windows on another: a file that only its user may read.
 *
 * The default is $XDG_CONFIG_HOME/idsprof/token, or ~/.config/idsprof/token: with a home that all hosts share, they
 * have the same one. It is made where it is missing.
 */
#ifndef IDS_LIB_REMOTE_TOKEN_H
#define IDS_LIB_REMOTE_TOKEN_H

#include "lib/base/error.h"

enum { IDS_TOKEN_LENGTH = 64, IDS_TOKEN_BYTES = IDS_TOKEN_LENGTH + 1 };

/* Reads FILE, or the default where it is NULL. With `make`, a missing one is made with random digits. A file that
 * others may read, or that belongs to another user, is refused. */
int ids_token_read(const char *file, int make, char token[IDS_TOKEN_BYTES], struct ids_error *err);
/* Whether they are the same, in a time that does not depend on where they differ. */
int ids_token_is(const char token[IDS_TOKEN_BYTES], const char *offered);

#endif
