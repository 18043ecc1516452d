/* trigger_hosts.h - `idsprof trigger --hosts`, `--slurm`: the launchers of a job's hosts. */
#ifndef IDS_CMD_TRIGGER_HOSTS_H
#define IDS_CMD_TRIGGER_HOSTS_H

#include "lib/base/error.h"

#include <stdint.h>

struct ids_trigger_hosts {
    const char *file, *slurm, *token; /* NULL: not given */
    int64_t port;                     /* -1: not given */
};

/* Gives the exit status, or a negative code. */
int ids_trigger_hosts(const struct ids_trigger_hosts *options, const char *request, struct ids_error *err);

#endif
