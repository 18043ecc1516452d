/* engine.h - what the engine says (lib/run/engine.h), as this program says it: on standard error. */
#ifndef IDS_CMD_ENGINE_H
#define IDS_CMD_ENGINE_H

#include "lib/run/engine.h"

/* For the one command that this process runs. To be ended with ids_engine_done. */
struct ids_engine ids_command_engine(const char *command, int no_cache);

#endif
