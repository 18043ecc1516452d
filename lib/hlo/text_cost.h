/* text_cost.h - what the text of a TPU op says of its cost, beside the figures that the file has of it. */
#ifndef IDS_LIB_HLO_TEXT_COST_H
#define IDS_LIB_HLO_TEXT_COST_H

#include "lib/base/intern.h"

struct ids_hlo_text_cost {
    double on_chip_bytes; /* of operands and results that lie in the memory of the core: S(1) and others */
    double main_bytes;    /* of the others, the host's left out */
    double copied_bytes;  /* of what starts an asynchronous copy: those of the main memory that it reads and writes */
    double product_flops; /* of the first two operands, if the result is their product as matrices; -1 it is none */
    uint8_t element;      /* of the first operand, as lib/hlo/element.h numbers types; 0 unknown */
    uint8_t narrower;     /* of a product of two types: the one of fewer bits, and `element` is the other; else 0 */
};

/* Returns 0 when the text is no op. One that is cut off gives what is there. */
int ids_hlo_text_cost(struct ids_text text, struct ids_hlo_text_cost *ret_cost);

#endif
