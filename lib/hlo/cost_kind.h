/* cost_kind.h - how the cost of an instruction follows from its opcode. */
#ifndef IDS_LIB_HLO_COST_KIND_H
#define IDS_LIB_HLO_COST_KIND_H

#include "lib/base/intern.h"

enum ids_cost_kind {
    IDS_COST_MOVE,  /* reads its operands and writes its result, and computes nothing; also what is not known here */
    IDS_COST_FREE,  /* names a value, or waits for one */
    IDS_COST_ALIAS, /* the same as its operand, value by value; moves as IDS_COST_MOVE does */
    IDS_COST_PART,  /* get-tuple-element */
    IDS_COST_TUPLE,
    IDS_COST_BITCAST,
    IDS_COST_ELEMENTS, /* an operation for each element of its result */
    IDS_COST_TRANSCENDENTAL,
    IDS_COST_SLICE,  /* slice, dynamic-slice, gather: of its first operand only as much as its result */
    IDS_COST_UPDATE, /* dynamic-update-slice */
    IDS_COST_SCATTER,
    IDS_COST_DOT,
    IDS_COST_CONVOLUTION,
    IDS_COST_REDUCE,
    IDS_COST_REDUCE_WINDOW,
    IDS_COST_SELECT_AND_SCATTER,
    IDS_COST_MAP,
    IDS_COST_SORT,
    IDS_COST_FFT,
    IDS_COST_TRIANGULAR_SOLVE,
    IDS_COST_CHOLESKY,
    IDS_COST_RANDOM,
    IDS_COST_ALL_REDUCE,
    IDS_COST_START, /* its result holds its operand: all-gather-start, collective-permute-start */
    IDS_COST_COPY_START,
    IDS_COST_FUSION,
    IDS_COST_CALL,
    IDS_COST_WHILE,
    IDS_COST_CONDITIONAL,
    IDS_COST_CUSTOM,
    IDS_COST_CONSTANT,
    IDS_COST_PARAMETER,
};

enum ids_cost_kind ids_cost_kind_of(struct ids_text opcode);

#endif
