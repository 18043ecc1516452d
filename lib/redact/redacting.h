/* redacting.h - a sink in front of another one that passes on what others may see. */
#ifndef IDS_LIB_REDACT_REDACTING_H
#define IDS_LIB_REDACT_REDACTING_H

#include "lib/model/sink.h"
#include "lib/redact/redactor.h"

struct ids_redacting;

/* The redactor stays the caller's. */
int ids_redacting_new(struct ids_sink *next, struct ids_redactor *redactor, struct ids_redacting **ret_redacting,
                      struct ids_error *err);
struct ids_sink *ids_redacting_sink(struct ids_redacting *redacting);
void ids_redacting_free(struct ids_redacting *redacting);

#endif
