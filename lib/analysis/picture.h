/* picture.h - what a run did over time, as rows of marks for whoever draws it.
 *
 * A mark is one event, or many that are merged: how many, how much of its time they cover, and the account that leads.
 * Events are merged only where they are short for the stretch of time that they lie in (ids_picture_stretch), so that a
 * picture of any run has a bounded size, and long events and chosen steps are there one by one. Nothing is left out
 * without being counted.
 */
#ifndef IDS_LIB_ANALYSIS_PICTURE_H
#define IDS_LIB_ANALYSIS_PICTURE_H

#include "lib/base/error.h"
#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/model/account.h"

struct ids_mark {
    int64_t start_ps, end_ps;
    int64_t busy_ps;    /* of many: that they cover together */
    int64_t lead_ps;    /* of many: that the leading account covers */
    int64_t launch_ps;  /* when its launch began */
    uint32_t count;     /* 1: one event */
    uint32_t what;      /* of one: index + 1 of ids_picture.whats; 0 none */
    uint32_t launch;    /* of one: the row of the thread that launched it + 1; 0 unknown */
    uint8_t account;    /* enum ids_account, by which it is coloured */
    const void *source; /* of one, while the picture is made: what it is of */
};

/* Marks that do not overlap, in order of time. */
struct ids_lane {
    struct ids_mark *marks;
    size_t count, room;
    size_t stretch;                         /* that the last mark begins in */
    int64_t sums_ps[IDS_ACCOUNT_COUNT + 1]; /* of the last mark, by account */
};

/* From then on, what is shorter than `least_ps` is merged with its neighbours as far as that. */
struct ids_picture_stretch {
    int64_t from_ps, least_ps;
};

/* A counter's value from a moment on. */
struct ids_picture_point {
    int64_t at_ps;
    double value;
};

enum ids_picture_kind {
    IDS_ROW_GROUP, /* a host, a device: what is below it can be folded */
    IDS_ROW_STEPS,
    IDS_ROW_ACCOUNTS, /* the ledger of a device */
    IDS_ROW_GAPS,
    IDS_ROW_OPS,
    IDS_ROW_PROGRAMS,
    IDS_ROW_THREAD,
    IDS_ROW_COMPILATIONS,
    IDS_ROW_COUNTER,
    IDS_ROW_KINDS,
};

enum { IDS_PICTURE_LANES = 12 };

struct ids_picture_row {
    uint32_t label;   /* text */
    uint32_t key;     /* text: of a device, as tables call it; 0 none */
    uint32_t parent;  /* index + 1; 0 none */
    uint32_t track;   /* of one track of the trace: index + 1; 0 of more or none */
    uint8_t kind;     /* enum ids_picture_kind */
    uint8_t is_bytes; /* of a counter */
    uint32_t lane_count;
    struct ids_lane *lanes; /* room for IDS_PICTURE_LANES; NULL none */
    uint64_t deeper;        /* events that lie below the last lane, and are not in it */
    struct ids_picture_point *points;
    size_t point_count, point_room;
};

/* What marks are of; texts, 0 none. */
struct ids_picture_what {
    uint32_t name, path, source, detail;
    uint8_t account;
};

/* Stretches of time in which each event is there, or nearly. */
struct ids_picture_detail {
    int64_t from_ps, to_ps, least_ps;
    uint32_t why;  /* text */
    uint32_t rank; /* 0: it matters most */
};

struct ids_picture {
    int64_t budget_bytes; /* set by who asks for the picture: what it may take in a page; 0: what suits the run */
    struct ids_strings texts;
    struct ids_picture_row *rows;
    size_t row_count, row_room;
    struct ids_picture_what *whats;
    size_t what_count, what_room;
    struct ids_picture_detail *details; /* in order of time */
    size_t detail_count, detail_room;
    int64_t zero_ps;             /* from which times are counted, as in tables */
    int64_t start_ps, end_ps;    /* of the run's window; equal: nothing was recorded */
    int64_t least_ps;            /* of the window, where no detail is */
    uint64_t events, mark_count; /* of the file; in the picture */
    uint64_t thread_events;      /* of the file, of all threads: their rows show what they did, and not each of these */
};

void ids_picture_done(struct ids_picture *picture);

/* A row behind the others; NULL when memory ran out. Valid until the next one. */
struct ids_picture_row *ids_picture_add_row(struct ids_picture *picture, enum ids_picture_kind kind, uint32_t parent,
                                            const char *label);
/* The row's lane of that number, which is there afterwards; NULL when memory ran out. */
struct ids_lane *ids_picture_lane(struct ids_picture_row *row, uint32_t number);
/* Adds a mark behind the others of the lane: to the last one, where both are short, else as one of its own.
 * `stretches` are in order of time, and the first begins before any mark. 0, or -1 when memory ran out. The caller ends
 * the lane when it has all, which says what leads in the last one. */
int ids_lane_add(struct ids_lane *lane, const struct ids_picture_stretch *stretches, size_t stretch_count,
                 const struct ids_mark *mark);
void ids_lane_end(struct ids_lane *lane);
void ids_lane_done(struct ids_lane *lane);

#endif
