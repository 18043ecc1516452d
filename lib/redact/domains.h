/* domains.h - which names with dots are machines'. */
#ifndef IDS_LIB_REDACT_DOMAINS_H
#define IDS_LIB_REDACT_DOMAINS_H

#include "lib/base/intern.h"

/* Whether a name such as "node7.cluster.example.org" is a machine's: not a version, a module or an op. */
int ids_is_domain(struct ids_text name);

#endif
