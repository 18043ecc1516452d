#include "lib/analysis/picture.h"

#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

void ids_lane_done(struct ids_lane *lane) {
    free(lane->marks);
    *lane = (struct ids_lane){0};
}

void ids_picture_done(struct ids_picture *picture) {
    for (size_t r = 0; r < picture->row_count; r++) {
        struct ids_picture_row *row = &picture->rows[r];
        for (uint32_t i = 0; i < row->lane_count; i++) ids_lane_done(&row->lanes[i]);
        free(row->lanes);
        free(row->points);
    }
    free(picture->rows);
    free(picture->whats);
    free(picture->details);
    ids_strings_done(&picture->texts);
    *picture = (struct ids_picture){.budget_bytes = picture->budget_bytes};
}

struct ids_picture_row *ids_picture_add_row(struct ids_picture *picture, enum ids_picture_kind kind, uint32_t parent,
                                            const char *label) {
    uint32_t text = ids_intern_z(&picture->texts, label);
    struct ids_picture_row *row =
        text == IDS_NO_TEXT ? NULL : IDS_PUSH(picture->rows, picture->row_count, picture->row_room);
    if (row) *row = (struct ids_picture_row){.label = text, .parent = parent, .kind = (uint8_t)kind};
    return row;
}

struct ids_lane *ids_picture_lane(struct ids_picture_row *row, uint32_t number) {
    if (!row->lanes) row->lanes = calloc(IDS_PICTURE_LANES, sizeof *row->lanes);
    if (!row->lanes) return NULL;
    if (number >= row->lane_count) row->lane_count = number + 1;
    return &row->lanes[number];
}

/* The account that leads: of what runs where most runs, else of what does not; as in a strip of letters. */
static void set_lead(struct ids_lane *lane, struct ids_mark *mark) {
    int most[2] = {IDS_NO_ACCOUNT, IDS_NO_ACCOUNT};
    int64_t sums_ps[2] = {0, 0};
    for (int a = 0; a <= IDS_ACCOUNT_COUNT; a++) {
        int idle = ids_account_is_idle((enum ids_account)a);
        sums_ps[idle] += lane->sums_ps[a];
        if (lane->sums_ps[a] > lane->sums_ps[most[idle]]) most[idle] = a;
    }
    mark->account = (uint8_t)most[sums_ps[1] > sums_ps[0]];
    mark->lead_ps = lane->sums_ps[mark->account];
}

void ids_lane_end(struct ids_lane *lane) {
    struct ids_mark *last = lane->count ? &lane->marks[lane->count - 1] : NULL;
    if (last && last->count > 1) set_lead(lane, last);
}

static int is_short(const struct ids_mark *mark, int64_t least_ps) {
    return mark->end_ps - mark->start_ps < least_ps;
}

int ids_lane_add(struct ids_lane *lane, const struct ids_picture_stretch *stretches, size_t stretch_count,
                 const struct ids_mark *mark) {
    struct ids_mark *last = lane->count ? &lane->marks[lane->count - 1] : NULL;
    size_t before = lane->stretch;
    while (lane->stretch + 1 < stretch_count && stretches[lane->stretch + 1].from_ps <= mark->start_ps) lane->stretch++;
    int64_t least_ps = stretches[lane->stretch].least_ps, own_ps = mark->count > 1 ? mark->busy_ps : 0;
    if (mark->count == 1) own_ps = mark->end_ps - mark->start_ps;
    /* A mark of nothing but a moment still is drawn; what leads must not be an account that nothing is of. */
    int64_t lead_ps = mark->count > 1 ? mark->lead_ps : own_ps + 1;
    if (last && before == lane->stretch && is_short(last, least_ps) && is_short(mark, least_ps) &&
        mark->end_ps - last->start_ps < least_ps) {
        if (last->count == 1) last->busy_ps = last->end_ps - last->start_ps;
        last->busy_ps += own_ps;
        last->count += mark->count;
        if (mark->end_ps > last->end_ps) last->end_ps = mark->end_ps;
        last->what = last->launch = 0;
        last->source = NULL;
        lane->sums_ps[mark->account] += lead_ps;
        return 0;
    }
    ids_lane_end(lane);
    struct ids_mark *added = IDS_PUSH(lane->marks, lane->count, lane->room);
    if (!added) return -1;
    *added = *mark;
    memset(lane->sums_ps, 0, sizeof lane->sums_ps);
    lane->sums_ps[mark->account] = lead_ps;
    return 0;
}
