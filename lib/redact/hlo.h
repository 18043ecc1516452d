/* hlo.h - a compiled program (HloProto) as others may see it. */
#ifndef IDS_LIB_REDACT_HLO_H
#define IDS_LIB_REDACT_HLO_H

#include "lib/redact/redactor.h"

/* Appends the program with its texts rewritten. Only fields that this program knows are in it: what the others say,
 * constants among them, nobody can tell. Nothing where it is no program. */
void ids_redact_program(struct ids_redactor *redactor, const void *bytes, size_t length, struct ids_buffer *out);

#endif
