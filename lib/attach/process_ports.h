/* process_ports.h - where a process of this machine listens: a profiler server is one of these ports. */
#ifndef IDS_LIB_ATTACH_PROCESS_PORTS_H
#define IDS_LIB_ATTACH_PROCESS_PORTS_H

#include "lib/attach/hosts.h"

#include <stdint.h>

/* Adds them as hosts of this machine. IDS_NOT_FOUND where there is no such process; what may not be looked into is an
 * error that says so. A process that listens nowhere adds none. */
int ids_process_ports(int64_t pid, struct ids_hosts *hosts, struct ids_error *err);

#endif
