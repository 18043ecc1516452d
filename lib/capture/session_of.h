/* session_of.h - the folder of the capture under which a process runs, by its environment. */
#ifndef IDS_LIB_CAPTURE_SESSION_OF_H
#define IDS_LIB_CAPTURE_SESSION_OF_H

#include <stddef.h>

/* `process` is its number as text. 0, or -1 when it is none, may not be read, or runs under no capture. */
int ids_session_of(const char *process, char *session, size_t size);

#endif
