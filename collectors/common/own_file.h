/* own_file.h - a descriptor of ours in a process that is not: the program may close it (daemons close all that they
 * do not know) and open a file of its own under the same number, into which nothing of ours may go.
 *
 * So before each use it is asked whether the number still is what was opened, by device and inode; an eventfd has no
 * inode of its own, a socket has one. A program that closes and opens between the question and the use is not held off.
 */
#ifndef IDS_COLLECTORS_COMMON_OWN_FILE_H
#define IDS_COLLECTORS_COMMON_OWN_FILE_H

#include <stdint.h>

struct ids_own_file {
    int file; /* -1: none */
    uint64_t device, inode;
};

#define IDS_NO_FILE \
    { .file = -1 }

/* What was just opened, or -1, gets a high number: a program may expect the low ones for its own files, and closes
 * these when it closes all that it does not know. Where no high one is free it keeps its number, if that is not 0, 1
 * or 2. */
int ids_own_file_moved_up(int file);
/* Of what was just opened, or -1; it is moved up. */
struct ids_own_file ids_own_file_of(int file);
int ids_own_file_is_there(const struct ids_own_file *own);
/* Closes it if it is there. */
void ids_own_file_close(struct ids_own_file *own);

/* What one thread rings and another polls for: a pair of sockets, of which one also hears that the program closed the
 * other. A pipe would end the program (SIGPIPE) that has closed one end when the other is written to. */
struct ids_bell {
    struct ids_own_file heard, rung;
};

#define IDS_NO_BELL \
    { IDS_NO_FILE, IDS_NO_FILE }

/* 0, or -1 with errno, and then it has no files. */
int ids_bell_make(struct ids_bell *bell);
int ids_bell_is_there(const struct ids_bell *bell);
void ids_bell_ring(const struct ids_bell *bell);
void ids_bell_hush(const struct ids_bell *bell);
void ids_bell_close(struct ids_bell *bell);

#endif
