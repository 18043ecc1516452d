/* process.h - what the agent knows of the process it lives in. */
#ifndef IDS_COLLECTORS_COMMON_PROCESS_H
#define IDS_COLLECTORS_COMMON_PROCESS_H

#include "collectors/common/hello.h"

#include <stddef.h>
#include <stdint.h>

enum { IDS_HOST_BYTES = 128 };

/* The host's name, without what cannot be in a file's name. */
void ids_process_host(char host[IDS_HOST_BYTES]);
/* The rank that the launchers of several processes give in the environment; -1: none. */
int64_t ids_process_rank(void);
/* Opens SESSION/.idsprof/<host>.<pid>.hello. 0, or -1 with errno. */
int ids_process_hello(struct ids_hello_file *hello, const char *session, const char *host, int pid);
/* Adds pid, ppid, exe and argv, in which secrets are masked (secrets.h). */
void ids_process_facts(struct ids_hello *line);
/* The command line in one text, cut where it is too long. */
void ids_process_command(char *text, size_t size);

/* The memory that the process holds without what it shares with files, in bytes; 0: not known. */
int64_t ids_process_memory(void);

int64_t ids_monotonic_ns(void);
int64_t ids_realtime_ns(void);

#endif
