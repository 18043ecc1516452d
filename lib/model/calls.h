/* calls.h - which op of the framework, and which module of the program, launched a piece of device work (PyTorch's
 * Kineto traces).
 *
 * A launch gets the innermost op around it on its thread (aten::addmm), the outermost one (aten::linear), the modules
 * around that (MLP_0/Linear_1; if there are none, the regions that the program named), and the innermost Python frame.
 * Modules are those of the frames above by their ids (`Python parent id`), since recorded times of frames overlap a
 * little; what an op lies in is told by time. A backward op on a thread of autograd has the modules of its forward op:
 * by the arrow `fwdbwd`, else by the sequence number. Device work without a recorded launch, or with a launch outside
 * any op, belongs to the op whose number it has (`External id`).
 *
 * Only launches keep the result; frames and ops keep an id until their thread is read, and texts are interned. */
#ifndef IDS_LIB_MODEL_CALLS_H
#define IDS_LIB_MODEL_CALLS_H

#include "lib/base/keymap.h"
#include "lib/model/facts.h"
#include "lib/model/trace.h"

/* Where a forward op ran, for what runs backward. */
struct ids_forward {
    int64_t start_ps;
    uint32_t track;      /* IDS_NONE: several threads have that sequence number, and it tells nothing */
    uint32_t scope;      /* text */
    uint32_t checkpoint; /* text: the scope in which the checkpoint around it was called */
    uint64_t again;      /* it is computed again for the backward op of this key, itself a forward op; 0: it is not */
    uint8_t in_checkpoint;
};

struct ids_calls {
    struct ids_trace *trace;
    struct ids_call_mark *marks; /* of frames and numbered ops, by the number that their passing bears */
    size_t mark_count, mark_room;
    struct ids_keymap frame_of_id; /* (host, Python id) -> mark + 1 */
    struct ids_keymap scopes;      /* (scope, name) -> scope */
    struct ids_keymap map;         /* all of an ids_call -> its number + 1 */
    struct ids_keymap forward_map; /* (host, number) -> index of forwards + 1 */
    struct ids_keymap costs;       /* what a product was called with -> its cost + 1; 0: it is not told */
    struct ids_keymap inputs;      /* op + 1 -> inputs of its calls; UINT64_MAX: they differ, or are not known */
    struct ids_keymap external;    /* (host, External id) of an op -> the number of its call */
    struct ids_forward *forwards;
    size_t forward_count, forward_room;
    struct ids_call_arrow *arrows; /* fwdbwd */
    size_t arrow_count, arrow_room, ordered_arrows, next_arrow;
    struct ids_open_call *stack;
    size_t depth, room;
    uint64_t last_link; /* of the thread's autograd node before */
    uint32_t track;     /* that is visited */
    uint32_t *chain;    /* of frames that are being resolved */
    size_t chain_room;
};

/* Marks are told from the indices of kept records by this bit. */
enum { IDS_CALL_MARKS_LIMIT = 0x7ffffffe };
#define IDS_CALL_MARK 0x80000000u
/* What a mark takes, with its place in the map. */
enum { IDS_CALL_MARK_BYTES = 64 };

void ids_calls_done(struct ids_calls *calls);

/* While a track is read: the number to pass to ids_calls_visit for a host's event; IDS_NONE: nothing is kept of it.
 * And an arrow from a forward op, or to a backward one. 0, or -1 when memory ran out. */
int ids_calls_mark(struct ids_calls *calls, uint32_t host, uint32_t name, const struct ids_facts *facts,
                   uint32_t *ret_mark);
int ids_calls_arrow(struct ids_calls *calls, uint32_t host, uint32_t track, int64_t at_ps, int is_out,
                    const struct ids_facts *facts);

/* When a track is read: begins it, then is shown its events in order of start. `event` is the kept record, or NULL; a
 * launch gets its call and what it is to be joined with. 0, or -1 when memory ran out. */
int ids_calls_begin(struct ids_calls *calls, uint32_t track);
int ids_calls_visit(struct ids_calls *calls, int64_t start_ps, int64_t end_ps, uint32_t name, uint32_t mark,
                    struct ids_event *event);

/* The number of a call, from 1, which gets one if it has none. 0, or -1 when memory ran out. */
int ids_call_number(struct ids_calls *calls, const struct ids_call *call, uint32_t *ret_number);

/* When all is read: a launch on a thread of autograd, which consumed that link, gets the event around its forward op as
 * its cause, and its scope. */
int ids_calls_join(struct ids_calls *calls, uint64_t consumed, struct ids_event *launch);
/* The key by which work and its op name each other; 0 where the event names none. */
uint64_t ids_calls_external(uint32_t host, const struct ids_facts *facts);
/* The op of work on a device, whose own name stands for work that no op of the framework launched. IDS_NONE none. */
int ids_calls_op(struct ids_calls *calls, struct ids_keymap *ops, const struct ids_event *work, uint32_t *ret_op);

#endif
