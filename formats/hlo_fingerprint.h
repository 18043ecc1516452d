/* hlo_fingerprint.h - what an HLO instruction computes, as a number that does not depend on how it is called.
 *
 * Two instructions have the same fingerprint when they have the same opcode, result shape, attributes (dimensions, windows, a dot's
 * and a gather's dimension numbers, fusion kind, custom call target), the same shapes of operands, and call computations of the same structure.
 * Names, numbers, layouts, source lines, constants' values and replica groups take no part, so that a program compiled again after a
 * change elsewhere keeps the fingerprints of what stayed.
 */
#ifndef IDS_FORMATS_HLO_FINGERPRINT_H
#define IDS_FORMATS_HLO_FINGERPRINT_H

#include "lib/base/keymap.h"
#include "lib/wire/pb_wire.h"

struct ids_hlo_fingerprints {
    struct ids_keymap by_id; /* instruction id + 1 -> fingerprint */
};

/* Of all instructions of a serialized HloModuleProto, those of fusions too; what is damaged has none. 0, or -1 when memory ran
 * out. */
int ids_hlo_fingerprints_make(struct ids_pb module, struct ids_hlo_fingerprints *ret_fingerprints);
/* 0: unknown. */
uint64_t ids_hlo_fingerprint_of(const struct ids_hlo_fingerprints *fingerprints, uint64_t instruction_id);
void ids_hlo_fingerprints_done(struct ids_hlo_fingerprints *fingerprints);

#endif
