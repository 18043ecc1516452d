#include "lib/analysis/picture_making.h"

#include "lib/analysis/picture_parts.h"

#include <stdlib.h>

int ids_picture_begin(const struct ids_analysis *analysis, struct ids_picture *picture,
                      struct ids_picture_making **ret_making, struct ids_ledger_visitor *ret_visitor,
                      struct ids_error *err) {
    struct ids_picture_making *making = calloc(1, sizeof *making);
    if (!making) return ids_no_memory(err);
    making->analysis = analysis;
    making->picture = picture;
    making->account_room = analysis->busy_count;
    making->account = calloc(analysis->busy_count + 1, sizeof *making->account);
    making->row_of_track = calloc(analysis->trace->track_count + 1, sizeof *making->row_of_track);
    making->row_of_stream = calloc(analysis->trace->track_count + 1, sizeof *making->row_of_stream);
    *ret_making = making;
    *ret_visitor = ids_picture_account_visitor(making);
    return making->account && making->row_of_track && making->row_of_stream ? 0 : ids_no_memory(err);
}

int ids_picture_end(struct ids_picture_making *making, int make, struct ids_error *err) {
    if (!making) return 0;
    const struct ids_analysis *analysis = making->analysis;
    struct ids_picture *picture = making->picture;
    picture->zero_ps = analysis->first_ps;
    picture->start_ps = analysis->start_ps;
    picture->end_ps = analysis->end_ps;
    picture->events = analysis->trace->event_count;
    int failed = make && (ids_intern_z(&picture->texts, "") == IDS_NO_TEXT || ids_picture_choose(making) ||
                          ids_picture_name(making));
    if (failed || !make) ids_picture_done(picture);
    ids_picture_accounts_done(making);
    ids_keymap_done(&making->whats);
    free(making->stretches);
    free(making->row_of_track);
    free(making->row_of_stream);
    free(making);
    return failed ? ids_no_memory(err) : 0;
}
