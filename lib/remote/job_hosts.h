/* job_hosts.h - the hosts of a job: a file with one a line, or what Slurm says. */
#ifndef IDS_LIB_REMOTE_JOB_HOSTS_H
#define IDS_LIB_REMOTE_JOB_HOSTS_H

#include "lib/attach/hosts.h"

/* One host a line, HOST or HOST:PORT; what follows it (slots of an MPI hostfile) and lines with # are passed over. */
int ids_job_hosts_file(const char *path, const char *port, struct ids_hosts *hosts, struct ids_error *err);
/* By squeue and scontrol, which must be in PATH. */
int ids_job_hosts_slurm(const char *job, const char *port, struct ids_hosts *hosts, struct ids_error *err);

#endif
