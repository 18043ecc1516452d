#include "analyzers/data_lines.h"

#include "analyzers/framework.h"
#include "lib/base/saturate.h"

#include <stdlib.h>
#include <string.h>

enum way { NO_WAY, TO_DEVICE, TO_HOST };

struct lines {
    const struct ids_analysis *analysis;
    struct ids_pieces *pieces;
    size_t count;
};

static const char *text_of(const struct lines *lines, uint32_t text) {
    return text ? ids_strings_z(&lines->analysis->ledger.texts, text) : "";
}

/* Which way a piece moves data; a wait for other things than values moves none. */
static enum way way_of(const struct lines *lines, const struct ids_piece *piece) {
    const struct ids_ledger_entry *most = piece->most;
    if (piece->scope != IDS_REMEDY_OF_CULPRIT || !piece->time_ps || !most->culprit) return NO_WAY;
    const char *culprit = text_of(lines, most->culprit);
    if (piece->account == IDS_HOST_STAGING) return ids_remedy_is_fetch(culprit) ? TO_HOST : TO_DEVICE;
    return piece->account == IDS_HOST_SYNC && ids_remedy_takes_values(culprit) ? TO_HOST : NO_WAY;
}

/* "train.py:7, mostly in np.asarray": of the call that waits and moves data, here "asarray". */
static int is_in_call(const char *python, const char *call) {
    const char *in = strstr(python, "in "), *name = in && in > python ? strrchr(in, '.') : NULL;
    if (!in || strchr(in, ':') || !strchr(python, ',') || strchr(python, ',') > in) return 0;
    return !strcmp(name ? name + 1 : in + 3, call);
}

/* Where a GPU or TPU has nothing to do, a line that puts data on it ("block_until_ready(device_put(x))") waits for that
 * data. For a CPU's client it is put when the call returns: what the line waits for longer than it puts is something
 * else. */
static int is_own_wait(const struct lines *lines, const struct ids_piece *line, const struct ids_piece *wait) {
    if (lines->analysis->busy[lines->pieces->decider].device->kind != IDS_DEVICE_CPU) return 1;
    return way_of(lines, line) == TO_HOST || wait->time_ps <= line->time_ps;
}

/* What else the line does: it waits, or runs the Python between its calls, whose place is "train.py:7" where the line's
 * is "train.py:7 load". Of a function that runs longer in Python than a quarter of that, and not in the very call,
 * other lines may be meant. */
static int is_of_line(const struct lines *lines, const struct ids_piece *line, const struct ids_piece *other) {
    const struct ids_ledger_entry *most = other->most;
    if (other->scope != IDS_REMEDY_OF_CULPRIT || !other->time_ps || !most->where) return 0;
    if (way_of(lines, other) != NO_WAY && way_of(lines, other) != way_of(lines, line)) return 0;
    if (other->account == IDS_HOST_SYNC && !is_own_wait(lines, line, other)) return 0;
    if (other->account == IDS_HOST_SYNC || other->account == IDS_HOST_STAGING) return most->where == line->most->where;
    const char *place = text_of(lines, line->most->where), *python = text_of(lines, most->where);
    int is_own = is_in_call(python, text_of(lines, line->most->culprit));
    if (other->account != IDS_HOST_PYTHON || !(most->function || is_own)) return 0;
    if (!is_own && other->time_ps > line->time_ps / 4) return 0;
    size_t length = is_own ? strcspn(python, ",") : strlen(python);
    return !strncmp(place, python, length) && place[length] == ' ' &&
           !strcmp(place + length + 1, text_of(lines, most->culprit));
}

/* The longest of a line gives the piece its words; a wait for nothing in particular has none of its own. */
static void join_lines(const struct lines *lines) {
    struct ids_piece *at = lines->pieces->at;
    for (size_t i = 0; i < lines->count; i++) {
        if (way_of(lines, &at[i]) == NO_WAY || !at[i].most->where) continue;
        for (size_t k = 0; k < lines->count; k++) {
            if (k != i && is_of_line(lines, &at[i], &at[k])) ids_piece_join(&at[i], &at[k]);
        }
    }
}

static uint64_t a_step(const struct lines *lines, const struct ids_ledger_entry *entry) {
    uint64_t steps = lines->analysis->steps.count * lines->analysis->busy_count;
    return steps ? entry->intervals / steps : 0;
}

static int64_t mean_ps(const struct ids_ledger_entry *entry) {
    return entry->intervals ? ids_ledger_entry_time(entry) / (int64_t)entry->intervals : 0;
}

static int goes_through_many(const struct lines *lines, const struct ids_piece *piece) {
    const struct ids_ledger_entry *most = piece->most;
    if (piece->account != IDS_HOST_SYNC || piece->scope != IDS_REMEDY_OF_CULPRIT || !piece->time_ps) return 0;
    const struct ids_circumstances about = {.framework = ids_framework_of(lines->analysis->trace),
                                            .culprit = text_of(lines, most->culprit),
                                            .mean_ps = mean_ps(most),
                                            .a_step = a_step(lines, most)};
    return most->where && ids_remedy_goes_through_many(&about);
}

/* Of the same line ("train.py:7" of "train.py:7 <module>"), as often and as short. */
static int is_between_many(const struct lines *lines, const struct ids_piece *line, const struct ids_piece *other) {
    const struct ids_ledger_entry *most = other->most;
    if (other->account != IDS_HOST_PYTHON || other->scope != IDS_REMEDY_OF_CULPRIT || !other->time_ps) return 0;
    if (!most->where || a_step(lines, most) < IDS_REMEDY_MANY || mean_ps(most) >= IDS_REMEDY_SHORT_PS) return 0;
    const char *place = text_of(lines, line->most->where), *python = text_of(lines, most->where);
    size_t length = strcspn(python, ",");
    return !strncmp(place, python, length) && place[length] == ' ' &&
           !strcmp(place + length + 1, text_of(lines, most->culprit));
}

/* A wait that looks at hundreds of arrays, and the Python between them, in which they are made or let go. */
static void join_many(const struct lines *lines) {
    struct ids_piece *at = lines->pieces->at;
    for (size_t i = 0; i < lines->count; i++) {
        for (size_t k = 0; k < lines->count && goes_through_many(lines, &at[i]); k++) {
            if (is_between_many(lines, &at[i], &at[k])) ids_piece_join(&at[i], &at[k]);
        }
    }
}

/* The one line that moves data that way, beside which others have a tenth of that time at most; NULL: none does, or
 * several do. */
static struct ids_piece *only_line(const struct lines *lines, enum way way) {
    enum { OF_OTHERS = 10 };
    struct ids_piece *only = NULL;
    int64_t all_ps = 0;
    for (size_t i = 0; i < lines->count; i++) {
        struct ids_piece *piece = &lines->pieces->at[i];
        if (way_of(lines, piece) != way || !piece->most->where) continue;
        ids_sum(&all_ps, piece->time_ps);
        if (!only || piece->time_ps > only->time_ps) only = piece;
    }
    return only && only->time_ps >= all_ps - all_ps / OF_OTHERS ? only : NULL;
}

/* Copies whose line is not known, or is that one; an op's own (offloaded arrays) are another cause. */
static int is_copied_by(const struct ids_piece *line, const struct ids_piece *copies, enum way way) {
    if (copies->scope != IDS_REMEDY_OF_ACCOUNT || !copies->time_ps || copies->both_ways_ps) return 0;
    if (copies->account != (way == TO_HOST ? IDS_COPY_D2H : IDS_COPY_H2D) || copies->most->op) return 0;
    return !copies->most->where || copies->most->where == line->most->where;
}

/* What the client's threads do for a line has no place: where one line alone moves data that way, it is that one's, and
 * so are the copies. */
static void join_copies(const struct lines *lines, enum way way) {
    struct ids_piece *line = only_line(lines, way);
    for (size_t i = 0; line && i < lines->count; i++) {
        struct ids_piece *piece = &lines->pieces->at[i];
        int is_bare = way_of(lines, piece) == way && !piece->most->where;
        if (!is_bare && !is_copied_by(line, piece, way)) continue;
        ids_piece_join(line, piece);
        line->is_joined = 1;
    }
}

/* As many bytes go to the host as come back, within a percent: an array is looked at there, or cut. */
static int comes_back(const struct ids_busy *busy) {
    int64_t to_host = 0, to_device = 0;
    struct ids_cursor cursor = ids_busy_cursor(busy, &busy->device->activity);
    for (const struct ids_event *event; (event = ids_cursor_next(&cursor));) {
        if (event->kind != IDS_KIND_COPY || event->value <= 0) continue;
        if (event->direction == IDS_D2H) ids_sum(&to_host, event->value);
        if (event->direction == IDS_H2D) ids_sum(&to_device, event->value);
    }
    return to_host && llabs(to_host - to_device) <= to_host / 100;
}

void ids_data_lines_join(const struct ids_analysis *analysis, struct ids_pieces *pieces, size_t count) {
    const struct lines lines = {analysis, pieces, count};
    join_lines(&lines);
    join_many(&lines);
    join_copies(&lines, TO_DEVICE);
    join_copies(&lines, TO_HOST);
    struct ids_piece *there = only_line(&lines, TO_HOST), *back = only_line(&lines, TO_DEVICE);
    if (!there || !back || !there->most->function || there->most->function != back->most->function) return;
    if (!comes_back(&analysis->busy[pieces->decider])) return;
    ids_piece_join(there, back);
    there->is_joined = there->is_round_trip = 1;
}
