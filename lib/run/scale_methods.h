/* scale_methods.h - from what a user names to the configurations of each method: runs on 1, 2, 4, 8 devices.
 *
 * Several operands are a configuration each. One operand, or one that holds runs on different numbers of devices (the
 * folder of a sweep, a log folder), is divided: by the method and the number of devices that the paths of its runs say
 * (run_label.h), else by the devices that were recorded.
 */
#ifndef IDS_LIB_RUN_SCALE_METHODS_H
#define IDS_LIB_RUN_SCALE_METHODS_H

#include "lib/run/open_sides.h"

struct ids_scale_method {
    const char *name; /* "" where paths tell no methods apart */
    struct ids_side **sides;
    double *devices; /* of each side; 0: as recorded */
    size_t count;    /* of sides, at least 2 */
};

struct ids_scale_methods {
    struct ids_scale_method *at;
    size_t count;
    struct ids_open_sides opened;
    struct ids_scale_sorted *sorted; /* what `at` points into */
};

/* `devices`: the numbers that the user gave, one an operand ("1,2,4,8"), or NULL. Runs without steps, and methods with
 * one number of devices alone, are left out of folders with a note. The operands must outlive the methods, which are
 * the caller's to end when 0 is returned. */
int ids_scale_methods_open(struct ids_engine *engine, char *const *operands, int count, const char *devices,
                           struct ids_scale_methods *ret_methods, struct ids_error *err);
void ids_scale_methods_done(struct ids_scale_methods *methods);

#endif
