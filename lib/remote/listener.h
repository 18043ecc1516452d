/* listener.h - what `idsprof capture --listen` adds to a launcher: a port at which other machines open and end windows
 * in the processes of this capture.
 *
 * Lines of text, one connection for one window:
 *   -> idsprof 1 TOKEN            <- ok PROCESSES      or: no WHY
 *   -> start NS [WISH], or stop NS    <- PID yes WINDOW, or PID no WHY, for each process; then: end
 * WISH is as the control socket of a process has it (control.h). NS is how long from now, so that hosts whose clocks
 * differ open together. A thread of its own serves each connection; a line is bounded, and so is the time that it may
 * take.
 */
#ifndef IDS_LIB_REMOTE_LISTENER_H
#define IDS_LIB_REMOTE_LISTENER_H

#include "lib/base/error.h"
#include "lib/remote/token.h"

#define IDS_LISTENER_PORT "9013" /* of trigger's hosts that name none */
enum { IDS_LISTENER_LINE = 512 };

struct ids_listener;

/* "[ADDRESS:]PORT", an IPv6 address in brackets; the address is 127.0.0.1 where none is given. The token is read from
 * `token_file` (NULL: the user's own), and made where there is none. */
int ids_listener_begin(const char *place, const char *token_file, struct ids_listener **ret_listener,
                       struct ids_error *err);
void ids_listener_end(struct ids_listener *listener);

#endif
