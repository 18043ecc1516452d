/* output.h - files that are written whole or not at all.
 *
 * An output goes to a temporary name in its folder and gets its own when it is whole. An interrupted program leaves nothing either.
 */
#ifndef IDS_CMD_OUTPUT_H
#define IDS_CMD_OUTPUT_H

#include "lib/export/out.h"

#include <stdint.h>

struct ids_output {
    struct ids_out out; /* first, so that it can be written to */
    char *path, *temporary;
    int fd, force;
    uint64_t bytes;
    int reader_left; /* standard output: nobody reads it any more, which is no error to speak of */
};

/* Makes sure that there is such a folder. */
int ids_output_folder(const char *folder, struct ids_error *err);
/* IDS_USAGE when the file is there already, and not `force`. `folder` "-" is standard output, whatever the name. */
int ids_output_check(const char *folder, const char *name, int force, struct ids_error *err);
int ids_output_open(const char *folder, const char *name, int force, struct ids_output *ret_output,
                    struct ids_error *err);
/* Ends the output: with code 0 it gets its name, else nothing of it stays. Returns the code, or that of a failure here.
 * path stays until ids_output_done. */
int ids_output_close(struct ids_output *output, int code, struct ids_error *err);
void ids_output_done(struct ids_output *output);

/* A file that a signal which ends the program removes; "" none. One at a time: outputs use it too. */
void ids_output_watch(const char *path);

#endif
