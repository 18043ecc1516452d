/* sampled_gaps.h - what a thread does in a gap between its events, by the samples that fell into such gaps.
 *
 * The same gap comes in each step: between the same events, about as long. One alone has few samples or none, and one
 * sample says nothing of what is done beside what it saw. All of them together say how large the part of each function
 * is. So a gap into which few samples fell is divided by what was seen in it, and by the parts of its kind, in the
 * order in which they come. */
#ifndef IDS_LIB_MODEL_SAMPLED_GAPS_H
#define IDS_LIB_MODEL_SAMPLED_GAPS_H

#include "lib/base/keymap.h"
#include "lib/model/trace.h"

enum { IDS_GAP_PIECES = 8 };

struct ids_gap_sample {
    int64_t when_ps;
    int64_t weight_ps; /* half of the time since the sample before, and until the next one */
    size_t turn;       /* of the gap; SIZE_MAX: it says nothing of one */
    uint32_t doing;
    uint32_t function; /* index, IDS_NONE */
};

/* Of one kind of gap. */
struct ids_gap_function {
    uint32_t doing;     /* that most of its samples saw */
    uint32_t next;      /* of this kind, in the order in which they come in the gap; IDS_NONE */
    uint64_t most;      /* samples that saw it */
    int64_t weight_ps;  /* of all its samples */
    double position;    /* sum over samples: where in the gap, from 0 to 1, times the weight */
    size_t gaps;        /* that have a sample of it */
    int64_t gaps_ps;    /* their time */
    int64_t own_ps;     /* weight of the samples in the gap that is being divided */
    size_t turn;        /* the last gap that has a sample of it */
    uint8_t is_unusual; /* it is not done in each of these gaps */
};

struct ids_gap_kind {
    uint32_t first; /* function */
    size_t gaps, sampled;
    int64_t time_ps;             /* of the gaps */
    int64_t weight_ps, usual_ps; /* of all samples, of those that saw usual functions */
    size_t turn;                 /* the last gap with a sample */
};

struct ids_sampled_gaps {
    const struct ids_trace *trace;
    const struct ids_timeline *recorded; /* the thread's events */
    struct ids_gap_sample *samples;
    size_t sample_count, sample_room;
    struct ids_gap_kind *kinds;
    size_t kind_count, kind_room;
    struct ids_gap_function *functions;
    size_t function_count, function_room;
    struct ids_keymap kind_numbers;     /* a kind's key -> its index + 1 */
    struct ids_keymap function_numbers; /* a kind and a function -> its index + 1 */
    struct ids_keymap doings;           /* ... and a doing -> its samples */
};

/* What is done in a gap, one after the other. */
struct ids_gap_pieces {
    size_t count;
    struct {
        int64_t from_ps;
        uint32_t doing;
    } at[IDS_GAP_PIECES];
};

void ids_sampled_gaps_done(struct ids_sampled_gaps *gaps);
/* At that moment a sample saw the thread do this; in order of time. 0, or -1 when memory ran out. */
int ids_sampled_gaps_add(struct ids_sampled_gaps *gaps, int64_t when_ps, uint32_t doing);
/* After the last one. 0, or -1 when memory ran out. */
int ids_sampled_gaps_settle(struct ids_sampled_gaps *gaps);
/* How that turn of the events is divided, if it is a gap. `period_ps` is the time from one sample to the next there.
 * No pieces: it is none, or its own samples say enough, or no sample fell into its kind. */
void ids_sampled_gaps_divide(const struct ids_sampled_gaps *gaps, size_t turn, int64_t period_ps,
                             struct ids_gap_pieces *ret_pieces);

#endif
