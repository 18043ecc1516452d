#include "analyzers/piece.h"

#include "lib/base/saturate.h"

/* Of accounts beyond its room a piece has no part: pieces of more are not made. */
void ids_piece_add_part(struct ids_piece *piece, const struct ids_piece_part *more) {
    size_t p = 0;
    while (p < piece->part_count && piece->parts[p].account != more->account) p++;
    if (p == IDS_PIECE_PARTS) return;
    struct ids_piece_part *part = &piece->parts[p];
    if (p == piece->part_count) piece->parts[piece->part_count++] = (struct ids_piece_part){.account = more->account};
    ids_sum(&part->ps, more->ps);
    if (!part->most || more->most_ps > part->most_ps) part->most = more->most, part->most_ps = more->most_ps;
}

void ids_piece_order_parts(struct ids_piece *piece) {
    for (size_t i = 1; i < piece->part_count; i++) {
        struct ids_piece_part moved = piece->parts[i];
        size_t to = i;
        for (; to && piece->parts[to - 1].ps < moved.ps; to--) piece->parts[to] = piece->parts[to - 1];
        piece->parts[to] = moved;
    }
}

void ids_piece_see_longest(struct ids_piece *piece, const struct ids_ledger_entry *entry) {
    if (entry && (!piece->longest || entry->longest_ps > piece->longest->longest_ps)) piece->longest = entry;
}

void ids_piece_take(struct ids_piece *piece, const struct ids_piece *other) {
    for (size_t p = 0; p < other->part_count; p++) ids_piece_add_part(piece, &other->parts[p]);
    ids_piece_see_longest(piece, other->longest);
    ids_sum(&piece->time_ps, other->time_ps);
    ids_sum(&piece->others_ps, other->others_ps);
    ids_sum(&piece->recorded_ps, other->recorded_ps);
    ids_sum(&piece->known_ps, other->known_ps);
}

void ids_piece_join(struct ids_piece *longest, struct ids_piece *other) {
    ids_piece_take(longest, other);
    ids_sum(&longest->most_ps, other->time_ps);
    longest->intervals += other->intervals;
    other->time_ps = 0;
}
