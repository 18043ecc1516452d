/* extract_list.h - `idsprof extract --list`: what can be taken out of a run. */
#ifndef IDS_CMD_EXTRACT_LIST_H
#define IDS_CMD_EXTRACT_LIST_H

#include "lib/io/run_files.h"

int ids_extract_list(const struct ids_run_files *run, int json, struct ids_error *err);

#endif
