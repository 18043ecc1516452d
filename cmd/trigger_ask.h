/* trigger_ask.h - before `idsprof trigger` acts on a program that nobody named, of another terminal, it asks. */
#ifndef IDS_CMD_TRIGGER_ASK_H
#define IDS_CMD_TRIGGER_ASK_H

#include "lib/capture/targets.h"

/* Whether a program was started from another terminal than this one. */
int ids_trigger_is_elsewhere(const struct ids_targets *targets);
/* Asks; 1: yes. 0 too where nobody can answer. */
int ids_trigger_confirm(int stop);

#endif
