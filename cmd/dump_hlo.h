/* dump_hlo.h - the programs of a profile as their graphs have them, in JSON: one array, an object a program. */
#ifndef IDS_CMD_DUMP_HLO_H
#define IDS_CMD_DUMP_HLO_H

#include "lib/base/error.h"

#include <stdio.h>

int ids_dump_hlo(const char *path, FILE *out, struct ids_error *err);

#endif
