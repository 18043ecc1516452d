/* own_program.h - the file that this process runs. */
#ifndef IDS_LIB_BASE_OWN_PROGRAM_H
#define IDS_LIB_BASE_OWN_PROGRAM_H

/* A path that leads to it, which can be opened, executed and resolved. Of the process, never freed. */
const char *ids_own_program(void);

#endif
