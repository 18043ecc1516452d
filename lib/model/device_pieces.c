#include "lib/model/device_pieces.h"

#include "lib/base/parallel.h"
#include "lib/base/vec.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static void let_go(struct ids_device_piece *piece) {
    if (piece->slab)
        ids_slab_drop(piece->slab, piece->events.at, piece->events.room * sizeof *piece->events.at);
    else
        free(piece->events.at);
    piece->slab = NULL;
    piece->events = (struct ids_events){0};
}

void ids_device_pieces_done(struct ids_device_pieces *pieces) {
    for (size_t p = 0; p < pieces->count; p++) let_go(&pieces->at[p]);
    for (size_t n = 0; n < pieces->number_count; n++) ids_part_numbers_free(pieces->numbers[n]);
    free(pieces->numbers);
    free(pieces->at);
    free(pieces->shares);
    *pieces = (struct ids_device_pieces){0};
}

int ids_device_pieces_add(struct ids_device_pieces *pieces, uint32_t device, enum ids_device_list list,
                          struct ids_events *events) {
    size_t number = pieces->count;
    struct ids_device_piece *piece = IDS_PUSH(pieces->at, pieces->count, pieces->room);
    if (!piece) return -1;
    *piece = (struct ids_device_piece){.device = device, .list = list, .number = number, .events = *events};
    *events = (struct ids_events){0};
    return 0;
}

int ids_device_pieces_take(struct ids_device_pieces *pieces, struct ids_device_pieces *part,
                           struct ids_part_numbers *numbers) {
    struct ids_part_numbers **kept = IDS_PUSH(pieces->numbers, pieces->number_count, pieces->number_room);
    if (!kept) {
        ids_part_numbers_free(numbers);
        return -1;
    }
    *kept = numbers;
    for (size_t p = 0; p < part->count; p++) {
        struct ids_device_piece *from = &part->at[p];
        if (ids_device_pieces_add(pieces, ids_device_in_whole(numbers, from->device), (enum ids_device_list)from->list,
                                  &from->events))
            return -1;
        struct ids_device_piece *piece = &pieces->at[pieces->count - 1];
        piece->numbers = numbers;
        piece->slab = from->slab;
        from->slab = NULL;
    }
    return 0;
}

/* --- the ops of a thread ---------------------------------------------------------------------------------------- */

static int is_of_device(const struct ids_event *event) {
    return event->kind == IDS_KIND_OP && event->device != IDS_NONE;
}

/* How many each device has, where all are 0 before, and together. */
static int count_shares(struct ids_device_pieces *pieces, size_t device_count, const struct ids_events *events,
                        size_t *ret_count) {
    if (device_count > pieces->share_room) {
        struct ids_device_share *grown = realloc(pieces->shares, device_count * sizeof *grown);
        if (!grown) return -1;
        memset(grown + pieces->share_room, 0, (device_count - pieces->share_room) * sizeof *grown);
        pieces->shares = grown;
        pieces->share_room = device_count;
    }
    *ret_count = 0;
    for (size_t i = 0; i < events->count; i++) {
        if (!is_of_device(&events->at[i])) continue;
        pieces->shares[events->at[i].device].count++;
        ++*ret_count;
    }
    return 0;
}

/* The piece of the device, with room for its share: in the slab, where there is one. */
static struct ids_device_piece *piece_of(struct ids_device_pieces *pieces, uint32_t device, struct ids_slab *slab) {
    struct ids_device_share *share = &pieces->shares[device];
    if (!share->place) {
        struct ids_events none = {0};
        if (ids_device_pieces_add(pieces, device, IDS_LIST_ACTIVITY, &none)) return NULL;
        share->place = pieces->count;
        struct ids_device_piece *piece = &pieces->at[share->place - 1];
        struct ids_event *at =
            slab ? ids_slab_take(slab, share->count * sizeof *at) : ids_vec_new(share->count, sizeof *at);
        if (!at) return NULL;
        piece->slab = slab;
        piece->events.at = at;
        piece->events.room = share->count;
    }
    return &pieces->at[share->place - 1];
}

static int divide(struct ids_device_pieces *pieces, struct ids_slab *slab, struct ids_events *events,
                  size_t *ret_staying) {
    size_t staying = 0;
    uint64_t kinds = 0;
    for (size_t i = 0; i < events->count; i++) {
        const struct ids_event *event = &events->at[i];
        if (!is_of_device(event)) {
            if (staying != i) events->at[staying] = *event;
            staying++;
            kinds |= IDS_KINDS(event->kind);
            continue;
        }
        struct ids_device_piece *piece = piece_of(pieces, event->device, slab);
        if (!piece) return -1;
        piece->events.at[piece->events.count++] = *event;
    }
    events->kinds = kinds;
    *ret_staying = staying;
    return 0;
}

int ids_device_pieces_divide(struct ids_device_pieces *pieces, size_t device_count, struct ids_events *events,
                             size_t *ret_staying) {
    size_t first = pieces->count, count;
    if (count_shares(pieces, device_count, events, &count)) return -1;
    size_t bytes = count * sizeof *events->at;
    struct ids_slab *slab = bytes >= IDS_SLAB_LEAST_BYTES ? ids_slab_new(bytes) : NULL;
    int failed = divide(pieces, slab, events, ret_staying);
    if (slab) ids_slab_close(slab);
    for (size_t p = first; p < pieces->count; p++) pieces->shares[pieces->at[p].device] = (struct ids_device_share){0};
    return failed;
}

/* --- together --------------------------------------------------------------------------------------------------- */

static int by_list(const void *a, const void *b) {
    const struct ids_device_piece *left = a, *right = b;
    if (left->device != right->device) return left->device < right->device ? -1 : 1;
    if (left->list != right->list) return left->list < right->list ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

struct joining {
    struct ids_trace *trace;
    struct ids_device_piece *pieces;
    size_t *first; /* by list that has pieces: its first one, and one more for the end */
    atomic_int failed;
};

/* Which of two pieces goes on: the one whose next event begins first, of those that begin together the one that came
 * first. */
static int goes_on(const struct ids_device_piece *a, const struct ids_device_piece *b) {
    int64_t a_ps = a->events.at[a->taken].start_ps, b_ps = b->events.at[b->taken].start_ps;
    return a_ps != b_ps ? a_ps < b_ps : a->number < b->number;
}

/* Makes a heap of it again, of which only the first piece may be wrong. */
static void sift(struct ids_device_piece **heap, size_t count, size_t at) {
    struct ids_device_piece *piece = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && goes_on(heap[child + 1], heap[child])) child++;
        if (!goes_on(heap[child], piece)) break;
        heap[at] = heap[child];
    }
    heap[at] = piece;
}

/* Threads run ops of a device at the same time, so their pieces lie beside each other in time: what is copied is put in
 * order at once. */
static void merge(struct ids_device_piece **heap, size_t count, struct ids_event *to) {
    for (size_t at = count / 2; at-- > 0;) sift(heap, count, at);
    while (count) {
        struct ids_device_piece *piece = heap[0];
        const struct ids_device_piece *next = count > 1 ? heap[1] : NULL;
        if (count > 2 && goes_on(heap[2], next)) next = heap[2];
        do {
            *to = piece->events.at[piece->taken++];
            if (piece->numbers) ids_event_to_whole(piece->numbers, to);
            to++;
        } while (piece->taken < piece->events.count && (!next || goes_on(piece, next)));
        if (piece->taken == piece->events.count) {
            let_go(piece);
            heap[0] = heap[--count];
        }
        if (count) sift(heap, count, 0);
    }
}

static void join_list(void *context, size_t i) {
    struct joining *joining = context;
    struct ids_device_piece *pieces = &joining->pieces[joining->first[i]];
    size_t piece_count = joining->first[i + 1] - joining->first[i], count = 0, filled = 0;
    struct ids_events *all =
        ids_device_list(&joining->trace->devices[pieces->device], (enum ids_device_list)pieces->list);
    if (piece_count == 1 && !pieces->slab) {
        *all = pieces->events;
        pieces->events = (struct ids_events){0};
        for (size_t e = 0; e < all->count && pieces->numbers; e++) ids_event_to_whole(pieces->numbers, &all->at[e]);
        return;
    }
    struct ids_device_piece **heap = ids_vec_new(piece_count, sizeof(struct ids_device_piece *));
    for (size_t p = 0; p < piece_count && heap; p++) {
        count += pieces[p].events.count;
        if (pieces[p].events.count) heap[filled++] = &pieces[p];
    }
    *all = (struct ids_events){.at = ids_vec_new(count, sizeof *all->at)};
    if (all->at && heap) {
        all->count = all->room = count;
        merge(heap, filled, all->at);
    } else {
        atomic_store(&joining->failed, 1);
    }
    free(heap);
}

int ids_device_pieces_join(struct ids_device_pieces *pieces, struct ids_trace *trace, struct ids_error *err) {
    struct joining joining = {.trace = trace, .pieces = pieces->at};
    joining.first = calloc(pieces->count + 1, sizeof *joining.first);
    if (!joining.first) return ids_no_memory(err);
    size_t lists = 0;
    if (pieces->count) qsort(pieces->at, pieces->count, sizeof *pieces->at, by_list);
    for (size_t p = 0; p < pieces->count; p++) {
        const struct ids_device_piece *piece = &pieces->at[p];
        if (!p || piece->device != piece[-1].device || piece->list != piece[-1].list) joining.first[lists++] = p;
    }
    joining.first[lists] = pieces->count;
    if (trace->event_count >= ids_jobs_least_events())
        ids_parallel(lists, join_list, &joining);
    else
        for (size_t i = 0; i < lists; i++) join_list(&joining, i);
    free(joining.first);
    ids_device_pieces_done(pieces);
    return joining.failed ? ids_no_memory(err) : 0;
}
