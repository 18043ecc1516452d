/* session.h - the collector "pjrt": the vendor's session for the agent. */
#ifndef IDS_COLLECTORS_PJRT_SESSION_H
#define IDS_COLLECTORS_PJRT_SESSION_H

#include <stddef.h>

/* The agent's handle, which is ids_pjrt.handle; or 0 with the reason. */
int ids_session_pjrt_register(int is_hooked, char *why, size_t why_size);
/* In the child of a fork. */
void ids_session_forget(void);

#endif
