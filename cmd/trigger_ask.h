/* trigger_ask.h - before `idsprof trigger` acts on a program that nobody named, of another terminal, it asks. */
#ifndef IDS_CMD_TRIGGER_ASK_H
#define IDS_CMD_TRIGGER_ASK_H

#include "lib/capture/targets.h"

/* Whether somebody sits at a terminal here, and the programs were started from another one. */
int ids_trigger_is_elsewhere(const struct ids_targets *targets);
/* Asks; 1: yes. */
int ids_trigger_confirm(int stop);

#endif
