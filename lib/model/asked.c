#include "lib/model/asked.h"

#include "lib/base/vec.h"
#include "lib/model/dimensions.h"

int ids_asked_note(struct ids_asked *asked, const struct ids_asked_one *one, struct ids_error *err) {
    if (!asked) return 0;
    struct ids_asked_one *noted = IDS_PUSH(asked->at, asked->count, asked->room);
    if (!noted) return ids_no_memory(err);
    *noted = *one;
    return 0;
}

int ids_asked_in_order(const struct ids_asked *asked, struct ids_error *err) {
    return asked ? ids_fail(err, IDS_UNSUPPORTED, "what it is depends on what was read before") : 0;
}

int ids_asked_again(struct ids_dimensions *dimensions, const struct ids_trace *from, const struct ids_asked_one *one,
                    uint32_t *ret_number, struct ids_error *err) {
    switch (one->what) {
    case IDS_ASKED_DEVICE:
        return ids_cpu_device(dimensions, one->device.plane, one->device.ordinal, ret_number, err);
    case IDS_ASKED_OP: {
        const struct ids_facts facts = {
            .hlo_op = one->op.name, .hlo_module = one->op.module, .program_id = one->op.program_id};
        return ids_op_of(dimensions, &facts, ret_number, err);
    }
    case IDS_ASKED_ANNOTATED:
        return ids_op_of_annotation(dimensions, one->annotated, ret_number, err);
    default:
        return ids_shape_known(dimensions, one->shape.details, one->shape.device_kind, &from->shapes[one->shape.number],
                               ret_number, err);
    }
}
