/* Parent, depth and self time of rows, as lib/model/nesting.h has it. Counters and arrows lie in an event, and
 * nothing lies in them. */
#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/events/event_parts.h"
#include "lib/model/nesting.h"

enum { DEPTH_MOST = 1 << 20 }; /* of events that are open at once; deeper ones are siblings */

static int close_innermost(struct ids_row_sorter *sorter, ids_row_closed *closed, void *context,
                           struct ids_error *err) {
    const struct ids_open_row *open = &sorter->stack[--sorter->depth];
    if (!open->children_ps) return 0;
    return closed(context, open->where, ids_self_time(open->duration_ps, open->children_ps), err);
}

int ids_nest_next(struct ids_row_sorter *sorter, struct ids_row *row, uint64_t index, uint64_t where,
                  ids_row_closed *closed, void *context, struct ids_error *err) {
    int64_t end_ps = row->start_ps;
    ids_sum(&end_ps, row->duration_ps > 0 ? row->duration_ps : 0);
    row->self_ps = row->duration_ps;
    while (sorter->depth) {
        const struct ids_open_row *open = &sorter->stack[sorter->depth - 1];
        if (ids_nesting_of(row->start_ps, end_ps, open->end_ps) == IDS_NESTING_INSIDE) break;
        int code = close_innermost(sorter, closed, context, err);
        if (code) return code;
    }
    struct ids_open_row *parent = sorter->depth ? &sorter->stack[sorter->depth - 1] : NULL;
    row->parent = parent ? parent->index : 0;
    row->depth = (uint32_t)sorter->depth;
    if (row->form != IDS_FORM_SLICE || sorter->depth >= DEPTH_MOST || row->duration_ps < 0) return 0;
    if (parent) ids_sum(&parent->children_ps, row->duration_ps);
    struct ids_open_row *open = IDS_PUSH(sorter->stack, sorter->depth, sorter->stack_room);
    if (!open) return ids_no_memory(err);
    *open = (struct ids_open_row){
        .end_ps = end_ps, .duration_ps = row->duration_ps, .where = where, .index = (uint32_t)index + 1};
    return 0;
}

int ids_nest_end(struct ids_row_sorter *sorter, ids_row_closed *closed, void *context, struct ids_error *err) {
    int code = 0;
    while (sorter->depth && !code) code = close_innermost(sorter, closed, context, err);
    sorter->depth = 0;
    return code;
}
