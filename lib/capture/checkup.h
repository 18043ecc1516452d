/* checkup.h - what `idsprof capture` would find on this machine: accelerators, libraries, the Python, the output
 * folder.
 *
 * It reads files and runs one Python. It loads nothing into this process and opens no device.
 */
#ifndef IDS_LIB_CAPTURE_CHECKUP_H
#define IDS_LIB_CAPTURE_CHECKUP_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

enum ids_check_state {
    IDS_CHECK_OK,
    IDS_CHECK_NONE,    /* absent, and that is fine: no GPU in a machine without one */
    IDS_CHECK_NOTE,    /* works, with a remark */
    IDS_CHECK_PROBLEM, /* does not work, but could */
};

struct ids_finding {
    const char *id;    /* stable: "gpu.devices" */
    const char *title; /* for people: "GPUs" */
    enum ids_check_state state;
    const char *what, *remedy; /* a clause each; remedy NULL: nothing to do */
};

/* What to check. */
struct ids_checkup_options {
    const char *root; /* prefix of /dev, /proc and /usr: "" except in tests */
    const char *home; /* folder of the agent and the hook; NULL: not found, see why_no_home */
    const char *why_no_home;
    const char *python; /* a program, searched for in PATH */
    const char *output; /* the folder for captures */
};

struct ids_checkup {
    struct ids_arena arena; /* owns all texts */
    struct ids_finding *findings;
    size_t count, room;
    /* The facts behind the verdict. */
    int has_hook, has_jax, can_write; /* jax programs are recorded if all three hold */
    int gpus, gpu_plugin, tpus, tpu_plugin;
    const char *jax, *site; /* its version; folders of the Python's packages, separated by ':' */
};

int ids_checkup(const struct ids_checkup_options *options, struct ids_checkup *ret_checkup, struct ids_error *err);
void ids_checkup_done(struct ids_checkup *checkup);
const char *ids_check_state_name(enum ids_check_state state);
/* The platform that could be recorded: "gpu", "tpu", "cpu", NULL after the last. */
const char *ids_checkup_can(const struct ids_checkup *checkup, int i);

#endif
