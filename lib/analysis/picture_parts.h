/* picture_parts.h - what the files that make a picture share (picture_making.h).
 *
 * The ledger keeps no intervals, so the picture takes them as they come (picture_accounts.c). When the analysis is
 * done, the stretches of time that matter are chosen (picture_stretches.c), and the trace's events become marks
 * (picture_rows.c), which then get their names (picture_whats.c).
 */
#ifndef IDS_LIB_ANALYSIS_PICTURE_PARTS_H
#define IDS_LIB_ANALYSIS_PICTURE_PARTS_H

#include "lib/analysis/context.h"
#include "lib/analysis/picture.h"

struct ids_picture_making {
    const struct ids_analysis *analysis;
    struct ids_picture *picture;
    struct ids_picture_stretch *stretches;
    size_t stretch_count, stretch_room;
    struct ids_keymap whats;  /* what a mark is of -> its index + 1 */
    uint32_t *row_of_track;   /* of the threads: index + 1 */
    uint32_t *row_of_stream;  /* of what a device's track holds: index + 1 */
    struct ids_lane *account; /* by active device: its intervals */
    size_t account_room, account_marks;
    int64_t account_least_ps;
    size_t visited; /* intervals so far */
    struct ids_picture_awaited {
        size_t interval; /* by its number */
        uint32_t entry;  /* which is told later; IDS_NONE: not yet */
    } * awaited;
    size_t awaited_count, awaited_room;
};

/* The parts; 0, or -1 when memory ran out. */

struct ids_ledger_visitor ids_picture_account_visitor(struct ids_picture_making *making);
void ids_picture_accounts_done(struct ids_picture_making *making);
/* The entry of a mark of the ledger; IDS_NONE: unknown. */
uint32_t ids_picture_entry(const struct ids_picture_making *making, uint32_t what);

/* All rows with their marks, under the stretches of `making`. */
int ids_picture_rows(struct ids_picture_making *making);
/* Chooses what is seen in detail, and makes the rows. */
int ids_picture_choose(struct ids_picture_making *making);
/* Names the marks of single events, and finds the rows of their launches. */
int ids_picture_name(struct ids_picture_making *making);

#endif
