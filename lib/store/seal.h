/* seal.h - a SQLite file with a checksum for every page, which shows whether the page is as it was written.
 *
 * After the last page comes a list with a checksum for each page (CRC-64 of its number and its bytes), and then a foot
 * with the number of pages and a checksum over the list. Opening the file checks the foot and the list, 8 bytes for
 * each page of 16 KiB. A page is checked when it is read, so a query pays only for the pages that it reads. SQLite and
 * its tools ignore everything after the pages that the header counts.
 *
 * CRC-64 because it finds every change of up to 64 bits in a row for certain, and isa-l makes 10 GB of it in a
 * second. */
#ifndef IDS_LIB_STORE_SEAL_H
#define IDS_LIB_STORE_SEAL_H

#include "lib/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct ids_seal {
    uint32_t page_bytes, pages;
    uint64_t *sums; /* one for each page */
};

/* Seals a SQLite file that nobody has open. Nothing is synced: what a power cut takes is found when it is read. */
int ids_seal_write(int fd, struct ids_error *err);

/* A regular file, neither through a link nor waiting for somebody at the other end of a pipe. A descriptor, or a code:
 * IDS_NOT_FOUND when there is none, IDS_CORRUPT when it is something else. */
int ids_sealed_open(const char *path, struct ids_error *err);
/* IDS_CORRUPT when the file has no seal, or another length than the seal says. */
int ids_seal_read(int fd, struct ids_seal *ret_seal, struct ids_error *err);
/* `number` counts from 0. */
int ids_seal_fits(const struct ids_seal *seal, uint32_t number, const void *page);
/* Reads all pages. IDS_CORRUPT says how many are damaged and which is the first. */
int ids_seal_check(int fd, const struct ids_seal *seal, struct ids_error *err);
void ids_seal_done(struct ids_seal *seal);

#endif
