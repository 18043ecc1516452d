/* calls.h - the wrapped calls: what stands in the place of the plugin's functions. */
#ifndef IDS_COLLECTORS_PJRT_CALLS_H
#define IDS_COLLECTORS_PJRT_CALLS_H

#include "collectors/pjrt/pjrt_abi.h"

/* The function to put in place of the plugin's, NULL: none. */
pjrt_function *ids_pjrt_wrapper(enum pjrt_entry entry);

#endif
