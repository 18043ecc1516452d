/* far.h - memory that lies in a file: for what is large, and read part by part. Addresses stay as they are, and what is
 * not read at the moment needs no memory: its pages are let go, and come back out of the file when they are read again.
 *
 * The file is the caller's own, so that nobody can make it shorter. Bytes are written before they are mapped: a disk
 * that is full is seen then, and not when a page is touched.
 */
#ifndef IDS_LIB_BASE_FAR_H
#define IDS_LIB_BASE_FAR_H

#include <stddef.h>
#include <stdint.h>

struct ids_far;

/* `fd`: an empty file for reading and writing, which is closed with the rest. Once `most_bytes` were read (see
 * ids_far_turn), the pages are let go. NULL when memory ran out; then fd is the caller's. */
struct ids_far *ids_far_new(int fd, size_t most_bytes);
/* All that it holds is gone. */
void ids_far_free(struct ids_far *far);

/* Puts bytes behind those that were put before; they can be read once they are mapped. *ret_at is where they lie among
 * those that are not mapped yet, at a multiple of 64. -1 when the disk, or a limit on the size of files, has no
 * room. */
int ids_far_put(struct ids_far *far, const void *bytes, size_t length, size_t *ret_at);
/* Maps what was put since the last time: its address, with room to write. NULL when that was refused. Who puts several
 * arrays and maps them together does it beside no other thread that puts some; all other calls may come from any. */
void *ids_far_map(struct ids_far *far);
/* What was put since the last ids_far_map is gone. */
void ids_far_forget(struct ids_far *far);
/* Moves an array that malloc gave there, and frees it: the new address, or the old one where that was refused, or where
 * the array is too small to be worth it. `far` may be NULL. */
void *ids_far_keep(struct ids_far *far, void *array, size_t bytes);
/* Whether the address is of an array there; `far` may be NULL. */
int ids_far_has(struct ids_far *far, const void *address);
/* An array there that is changed from end to end: a copy of it, which the caller changes, and which ids_far_changed
 * writes back. A page that is written to where it is mapped costs the kernel ten times as much as one that is written
 * by write(). The array itself, where there is no memory for a copy. From any thread; meanwhile the array is as it
 * was. */
void *ids_far_change(struct ids_far *far, void *array, size_t bytes);
void ids_far_changed(struct ids_far *far, void *array, void *opened, size_t bytes);
/* Bytes that are mapped. */
uint64_t ids_far_bytes(const struct ids_far *far);
/* How often the pages were let go. */
uint64_t ids_far_turns(const struct ids_far *far);

/* Says that so many bytes are read next. Whenever they are more than most_bytes together, the pages of all that was
 * read before are let go. From any thread; who reads meanwhile only gets them back. */
void ids_far_turn(struct ids_far *far, size_t bytes);

/* Below this an array is not worth a mapping of its own. */
enum { IDS_FAR_LEAST_BYTES = 64 << 10 };

#endif
