#include "lib/model/passing.h"

#define IDS_SINK_CALL(name, params, args)                                                        \
    static int pass_##name(struct ids_sink *sink, IDS_SINK_LIST params, struct ids_error *err) { \
        struct ids_sink *next = ((struct ids_passing *)sink)->next;                              \
        return next->ops->name(next, IDS_SINK_LIST args, err);                                   \
    }
#include "lib/model/sink_calls.def"

void ids_passing_init(struct ids_passing *passing, struct ids_sink *next, const struct ids_sink_ops *own) {
    *passing = (struct ids_passing){.next = next};
#define IDS_SINK_CALL(name, params, args) \
    if (next->ops->name) passing->ops.name = own->name ? own->name : pass_##name;
#include "lib/model/sink_calls.def"
    passing->sink = (struct ids_sink){.ops = &passing->ops, .strings = next->strings, .complete = 1};
}
