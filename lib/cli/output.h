/* output.h - files that are written whole or not at all.
 *
 * An output goes to a temporary name in its folder and gets its own when it is whole. An interrupted program leaves
 * nothing either, and what a killed one left is removed by the next that writes into the folder.
 * Files that belong together are a set: they get their names together, after the last one is whole, and a set that
 * fails leaves neither a file nor the folder that was made for it.
 */
#ifndef IDS_LIB_CLI_OUTPUT_H
#define IDS_LIB_CLI_OUTPUT_H

#include "lib/base/keymap.h"
#include "lib/export/out.h"

#include <signal.h>

#include <stdint.h>
#include <stdio.h>

struct ids_output_set;

struct ids_output {
    struct ids_out out;         /* first, so that it can be written to */
    struct ids_output_set *set; /* NULL: a file on its own */
    char *path, *temporary;
    int fd, force;
    int lock; /* a duplicate of fd, which keeps the temporary file ours until it has its name (unfinished.h) */
    uint64_t bytes;
    struct ids_error failure; /* of a stream into it */
    int failed;
    int reader_left; /* standard output: nobody reads it any more, which is no error to speak of */
};

struct ids_output_set {
    const char *folder; /* "-": standard output, which holds whatever was written to it */
    int force, made_folder;
    struct ids_output_entry {
        char *path, *temporary;
    } * at; /* whole, but still without their names */
    size_t count, room;
    struct ids_keymap by_path;
};

/* Makes sure that there is such a folder. */
int ids_output_set_begin(const char *folder, int force, struct ids_output_set *ret_set, struct ids_error *err);
/* As ids_output_open; two files of one name are IDS_USAGE. */
int ids_output_set_open(struct ids_output_set *set, const char *name, struct ids_output *ret_output,
                        struct ids_error *err);
/* The finished file of that name, as it lies now; NULL for none. */
const char *ids_output_set_find(const struct ids_output_set *set, const char *name);
/* With code 0 all files get their names, else nothing of them stays. Returns the code, or that of a failure here. */
int ids_output_set_end(struct ids_output_set *set, int code, struct ids_error *err);

/* Removes what killed programs left in the folder. A set does so where it begins. */
void ids_output_sweep(const char *folder);
/* IDS_USAGE when the file is there already, and not `force`, or what is there is a folder or a device. `folder` "-"
 * is standard output, whatever the name. */
int ids_output_check(const char *folder, const char *name, int force, struct ids_error *err);
/* The path of a file as a folder, which is the caller's to free, and a name in it; "-" is standard output. */
int ids_output_split(const char *option, const char *path, char **ret_folder, const char **ret_name,
                     struct ids_error *err);
int ids_output_open(const char *folder, const char *name, int force, struct ids_output *ret_output,
                    struct ids_error *err);
/* Ends the output: with code 0 it gets its name, else nothing of it stays. Returns the code, or that of a failure here.
 * path stays until ids_output_done. */
int ids_output_close(struct ids_output *output, int code, struct ids_error *err);
void ids_output_done(struct ids_output *output);
/* A stream into the output, for what writes text. Its end reports what failed; NULL, for which it is given too, is
 * IDS_NO_MEMORY. */
FILE *ids_output_stream(struct ids_output *output);
int ids_output_stream_end(FILE *stream, struct ids_output *output, struct ids_error *err);

/* Holds back the signals that end the program, from before a file is made until ids_output_watch knows of it. */
void ids_output_hold(sigset_t *ret_before);
void ids_output_let(const sigset_t *before);
/* One more file that a signal which ends the program removes; "" forgets all. Outputs use it too. */
void ids_output_watch(const char *path);

/* Removes that file, at a place from which nobody can end the output. */
void ids_output_abandon(void);

#endif
