/* checkup.h - what `idsprof capture` would find on this machine: accelerators, libraries, the Python, the place it
 * writes to.
 *
 * Nothing is loaded into this process and no device is opened for work: files are looked at, and one Python is asked.
 */
#ifndef IDS_LIB_CAPTURE_CHECKUP_H
#define IDS_LIB_CAPTURE_CHECKUP_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

enum ids_check_state {
    IDS_CHECK_OK,
    IDS_CHECK_NONE,    /* not here, which is no fault: no GPU in a machine without one */
    IDS_CHECK_NOTE,    /* works, and something is worth knowing */
    IDS_CHECK_PROBLEM, /* does not work, and could */
};

struct ids_finding {
    const char *id;    /* stable: "gpu.devices" */
    const char *title; /* for people: "GPUs" */
    enum ids_check_state state;
    const char *what, *remedy; /* a clause each; remedy NULL: nothing to do */
};

/* What is looked at. */
struct ids_checkup_options {
    const char *root; /* in front of /dev, /proc and /usr: "" but in tests */
    const char *home; /* of the agent and the hook, NULL: not found, and why_no_home says why */
    const char *why_no_home;
    const char *python; /* a program, found as a shell finds it */
    const char *output; /* the folder for captures */
};

struct ids_checkup {
    struct ids_arena arena; /* of all texts */
    struct ids_finding *findings;
    size_t count, room;
    /* What the verdict rests on. */
    int has_hook, has_jax, can_write; /* jax programs are recorded when all three hold */
    int gpus, gpu_plugin, tpus, tpu_plugin;
    const char *jax, *site; /* its version; folders of the Python's packages, separated by ':' */
};

int ids_checkup(const struct ids_checkup_options *options, struct ids_checkup *ret_checkup, struct ids_error *err);
void ids_checkup_done(struct ids_checkup *checkup);
const char *ids_check_state_name(enum ids_check_state state);
/* The platform that could be recorded: "gpu", "tpu", "cpu", NULL behind the last. */
const char *ids_checkup_can(const struct ids_checkup *checkup, int i);

#endif
