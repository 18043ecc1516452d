/* data_lines.h - lines of the program that move data between the host and a device, each of which is one cause.
 *
 * The ledger books what such a line does to several accounts: it puts data or fetches it, waits until that is done, and
 * the device copies. Who mends the line wins all of it. Where one function fetches and puts as many bytes back, it is
 * one trip of the same data.
 */
#ifndef IDS_ANALYZERS_DATA_LINES_H
#define IDS_ANALYZERS_DATA_LINES_H

#include "analyzers/piece.h"

/* Joins the first `count` pieces, the longest first: what has joined another one has no time left. */
void ids_data_lines_join(const struct ids_analysis *analysis, struct ids_pieces *pieces, size_t count);

#endif
