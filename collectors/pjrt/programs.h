/* programs.h - the programs that were compiled or loaded: their names, which loaded executable is which, and their
 * optimised HLO.
 *
 * A program is a number from 1; IDS_NO_PROGRAM (0) stands for one too many. Adding happens in the program's compile
 * calls, looking up in its execute calls, which take no lock. HLO lies in an unlinked file in the session's folder, not
 * in the program's memory.
 */
#ifndef IDS_COLLECTORS_PJRT_PROGRAMS_H
#define IDS_COLLECTORS_PJRT_PROGRAMS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
    IDS_PROGRAMS = 4096,
    IDS_PROGRAM_NAME = 200,
    IDS_LOADED = 8192,         /* executables that live at the same time, half of it */
    IDS_PROGRAM_HLO = 64 << 20 /* bytes of one; a larger one is left out */
};
#define IDS_PROGRAMS_HLO ((int64_t)1 << 28) /* of all: it lies on the disk of the capture's folder */

struct ids_program {
    char name[IDS_PROGRAM_NAME];
    int64_t code_size;        /* of the machine code, -1: not known */
    int64_t hlo_at, hlo_size; /* in the file; size 0: none */
    uint64_t hlo_id;          /* the module's own */
    int64_t collectives;      /* in it; -1: not known */
    int is_step;              /* its executions are steps */
    atomic_llong executions;  /* all there were */
    atomic_llong in_window;   /* the number of the first execution in the open window + 1, 0: none */
};

/* `pattern` is --step-executable, "" for all. 0, or -1 with the reason: then every executable's executions are
 * steps. */
int ids_programs_begin(const char *pattern, char *why, size_t why_size);
/* A new program of that name. */
uint32_t ids_programs_add(const char *name, size_t length);
/* 0 is one as well, without a name. */
struct ids_program *ids_programs_at(uint32_t program);
uint32_t ids_programs_count(void);

/* Keeps a serialized HloModuleProto; or an HloModuleProtoWithConfig, of which that is field 1. 0, or -1: there is no
 * room. What is in it is counted all the same. */
int ids_programs_keep_hlo(uint32_t program, const void *bytes, size_t size, int with_config);
/* A copy of it to be freed, or NULL. */
void *ids_programs_hlo(const struct ids_program *program);

void ids_programs_loaded(const void *executable, uint32_t program);
void ids_programs_unloaded(const void *executable);
/* The program of a loaded executable; IDS_NO_PROGRAM when it is not known. */
uint32_t ids_programs_of(const void *executable);

/* In the child of a fork. */
void ids_programs_forget(void);

#endif
