/* remote_exec.h - a profiler server in a Python that has none: since 3.14 another process may have a script run in it
 * (sys.remote_exec), which needs the permission that a debugger needs. */
#ifndef IDS_LIB_ATTACH_REMOTE_EXEC_H
#define IDS_LIB_ATTACH_REMOTE_EXEC_H

#include "lib/attach/hosts.h"

#include <stdint.h>

/* Has process `pid` start jax's profiler server at a free port, waits until it listens, and adds it as a host. What is
 * needed and not there is said: IDS_UNSUPPORTED. */
int ids_remote_exec_server(int64_t pid, struct ids_hosts *hosts, struct ids_error *err);
/* Has it end that server. */
void ids_remote_exec_end(int64_t pid, const struct ids_host *server);

#endif
