/* Parent, depth and self time of rows, as lib/model/nesting.h has it. Counters and arrows lie in an event, and
 * nothing lies in them. */
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/events/event_parts.h"
#include "lib/model/nesting.h"

enum { DEPTH_MOST = 1 << 20 }; /* of events that are open at once; deeper ones are siblings */

static int close_innermost(struct ids_row_desk *desk, ids_row_closed *closed, void *context, struct ids_error *err) {
    const struct ids_open_row *open = &desk->stack[--desk->depth];
    if (!open->children_ps) return 0;
    return closed(context, open->where, ids_self_time(open->duration_ps, open->children_ps), err);
}

int ids_nest_next(struct ids_row_desk *desk, struct ids_row *row, uint64_t index, uint64_t where,
                  ids_row_closed *closed, void *context, struct ids_error *err) {
    int64_t end_ps = row->start_ps;
    ids_sum(&end_ps, row->duration_ps > 0 ? row->duration_ps : 0);
    row->self_ps = row->duration_ps;
    while (desk->depth) {
        const struct ids_open_row *open = &desk->stack[desk->depth - 1];
        if (ids_nesting_of(row->start_ps, end_ps, open->end_ps) == IDS_NESTING_INSIDE) break;
        int code = close_innermost(desk, closed, context, err);
        if (code) return code;
    }
    struct ids_open_row *parent = desk->depth ? &desk->stack[desk->depth - 1] : NULL;
    row->parent = parent ? parent->index : 0;
    row->depth = (uint32_t)desk->depth;
    if (row->form != IDS_FORM_SLICE || desk->depth >= DEPTH_MOST || row->duration_ps < 0) return 0;
    if (parent) ids_sum(&parent->children_ps, row->duration_ps);
    struct ids_open_row *open = IDS_PUSH(desk->stack, desk->depth, desk->stack_room);
    if (!open) return ids_no_memory(err);
    *open = (struct ids_open_row){
        .end_ps = end_ps, .duration_ps = row->duration_ps, .where = where, .index = (uint32_t)index + 1};
    return 0;
}

int ids_nest_end(struct ids_row_desk *desk, ids_row_closed *closed, void *context, struct ids_error *err) {
    int code = 0;
    while (desk->depth && !code) code = close_innermost(desk, closed, context, err);
    desk->depth = 0;
    return code;
}
