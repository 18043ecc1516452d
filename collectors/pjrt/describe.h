/* describe.h - what a program and a client are, asked of the plugin. */
#ifndef IDS_COLLECTORS_PJRT_DESCRIBE_H
#define IDS_COLLECTORS_PJRT_DESCRIBE_H

#include <stdint.h>

/* A program for what was compiled, with its name, sizes and HLO. */
uint32_t ids_describe_loaded(void *loaded);
uint32_t ids_describe_executable(void *executable);
void ids_describe_client(void *client);

#endif
