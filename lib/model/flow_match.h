/* flow_match.h - of which instruction each kernel of an execution is, by the order in which its program runs them.
 *
 * A kernel that XLA made has the name of its instruction, or of another one that is the same computation, for which it
 * was made first. A library's kernel has the library's name. What an execution did is held against what its program
 * runs (lib/hlo/flow.h): all ways in which the one can be the other are followed, and a kernel is of an instruction
 * where it is of that one in every way. Nothing is said of an execution that fits in no way.
 */
#ifndef IDS_LIB_MODEL_FLOW_MATCH_H
#define IDS_LIB_MODEL_FLOW_MATCH_H

#include "lib/base/intern.h"
#include "lib/base/keymap.h"

#include <stddef.h>
#include <stdint.h>

struct ids_flow_item {
    uint32_t name;         /* of the instruction */
    uint32_t kernel;       /* what the kernel that is made of it is called */
    uint32_t begins, ends; /* of a loop: indices */
    uint64_t fingerprint;
    uint8_t runs, optional; /* enum ids_hlo_runs */
    /* By ids_flow_finish. */
    uint32_t next, leave; /* what comes behind it, and of a loop what comes instead; the count is the end */
    uint32_t same_kernel; /* another one with such a name, + 1; 0 none */
    uint32_t first_twin;  /* the first one that is the same computation; itself */
    uint8_t has_twin;     /* 1: another one is */
};

struct ids_flow {
    struct ids_flow_item *items; /* the caller's, in the order of the program */
    size_t count;
    struct ids_keymap by_kernel; /* text -> item + 1 */
};

/* What an execution did, in the order in which it was launched. */
struct ids_flow_work {
    uint32_t kernel; /* text: what it is called */
    uint32_t told;   /* the item that the file says it is of, + 1; 0 it says none */
    uint8_t kind;    /* IDS_KIND_KERNEL, IDS_KIND_COPY or IDS_KIND_SET */
};

/* What XLA calls the kernel of an instruction: the text's id, IDS_NO_TEXT when memory ran out. */
uint32_t ids_flow_kernel_name(struct ids_strings *strings, struct ids_text instruction);

/* 0, or -1 when memory ran out. */
int ids_flow_finish(struct ids_flow *flow);
void ids_flow_done(struct ids_flow *flow);

/* The only item that a kernel of that name can be of, + 1; 0: there is none, or there are more. */
uint32_t ids_flow_item_called(const struct ids_flow *flow, uint32_t kernel);
/* 1: the work fits, and ret_items has for each the item that it is of, + 1, or 0 where that is not determined. 0: it
 * does not fit; -1: memory ran out. */
int ids_flow_match(const struct ids_flow *flow, const struct ids_flow_work *work, size_t count, uint32_t *ret_items);

#endif
