/* fingerprint.h - what an HLO instruction computes, as a number that does not depend on how it is called.
 *
 * Two instructions have the same fingerprint when they have the same opcode, result shape, attributes (dimensions,
 * windows, a dot's and a gather's dimension numbers, fusion kind, custom call target), the same shapes of operands, and
 * call computations of the same structure. Names, numbers, layouts, source lines, constants' values and replica groups
 * take no part, so that a program compiled again after a change elsewhere keeps the fingerprints of what stayed.
 */
#ifndef IDS_LIB_HLO_FINGERPRINT_H
#define IDS_LIB_HLO_FINGERPRINT_H

#include "lib/hlo/module.h"

/* Sets the fingerprint of every computation and instruction; shapes have theirs. A call counts only where its
 * computation comes before it, and an operand where it comes before its user, which is the order that XLA writes: so
 * circles end. */
void ids_hlo_fingerprint(struct ids_hlo_module *module);

#endif
