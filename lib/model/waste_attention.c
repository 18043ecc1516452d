/* waste_attention.c - attention of a framework whose ops run one by one: two batched products with a softmax between
 * them, by the order of the kernels. lib/hlo/waste_attention.c finds it in the graphs of programs. */
#include "lib/model/waste_attention.h"

#include "lib/base/saturate.h"

#include <stdlib.h>

enum role {
    APART,    /* neither of these: it may stand between */
    PRODUCT,  /* of many matrices */
    SOFTMAX,  /* forward or backward */
    ELEMENTS, /* scales, masks or drops the scores */
    ENDS,     /* what attention has none of between its products */
};

static enum role role_of(struct ids_text name) {
    static const struct {
        const char *name;
        enum role role;
    } table[] = {
        {"aten::bmm", PRODUCT},
        {"aten::baddbmm", PRODUCT},
        {"aten::baddbmm_", PRODUCT},
        {"aten::_softmax", SOFTMAX},
        {"aten::_masked_softmax", SOFTMAX},
        {"aten::_softmax_backward_data", SOFTMAX},
        {"aten::_masked_softmax_backward", SOFTMAX},
        {"aten::mul", ELEMENTS},
        {"aten::mul_", ELEMENTS},
        {"aten::div", ELEMENTS},
        {"aten::div_", ELEMENTS},
        {"aten::add", ELEMENTS},
        {"aten::add_", ELEMENTS},
        {"aten::where", ELEMENTS},
        {"aten::masked_fill", ELEMENTS},
        {"aten::masked_fill_", ELEMENTS},
        {"aten::native_dropout", ELEMENTS},
        {"aten::native_dropout_backward", ELEMENTS},
        {"aten::mm", ENDS},
        {"aten::addmm", ENDS},
        {"aten::native_layer_norm", ENDS},
        {"aten::native_batch_norm", ENDS},
        {"aten::cudnn_convolution", ENDS},
        {"aten::miopen_convolution", ENDS},
        {"aten::topk", ENDS}, /* a router's */
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (ids_text_is(name, table[i].name)) return table[i].role;
    }
    return APART;
}

/* Time of an op, and of that what is between two such products. */
struct seen {
    int64_t all_ps, between_ps;
};

/* What ran since the last product. */
enum { MOST = 32 };
struct since {
    const struct ids_event *events[MOST];
    int count, any_product, any_softmax;
};

static void end_pattern(const struct since *since, struct seen *seen) {
    if (!since->any_product || !since->any_softmax) return;
    for (int i = 0; i < since->count; i++) ids_sum(&seen[since->events[i]->op].between_ps, since->events[i]->self_ps);
}

static void look_at(struct since *since, const struct ids_event *event, enum role role, struct seen *seen) {
    if (role == PRODUCT) {
        end_pattern(since, seen);
        *since = (struct since){.any_product = 1};
        return;
    }
    if (role == SOFTMAX || role == ELEMENTS) {
        if (since->count < MOST) since->events[since->count] = event;
        if (since->count < MOST) since->count++;
        since->any_softmax |= role == SOFTMAX;
        if (since->count < MOST) return;
    }
    if (role != APART) *since = (struct since){0}; /* it ends, or is too long to be one */
}

static void count_device(const struct ids_trace *trace, const struct ids_events *events, const uint8_t *roles,
                         struct seen *seen) {
    struct since since = {0};
    ids_events_turn(events);
    for (size_t i = 0; i < events->count; i++) {
        const struct ids_event *event = &events->at[i];
        if (event->op == IDS_NONE || !trace->ops[event->op].framework) continue;
        ids_sum(&seen[event->op].all_ps, event->self_ps);
        look_at(&since, event, (enum role)roles[event->op], seen);
    }
}

int ids_wastes_find_attention(struct ids_trace *trace) {
    static const char why[] = "scores in memory, between two batched products";
    uint8_t *roles = calloc(trace->op_count + 1, sizeof *roles);
    struct seen *seen = NULL;
    int products = 0, softmaxes = 0;
    uint32_t text = 0;
    for (size_t i = 0; i < trace->op_count && roles; i++) {
        if (trace->ops[i].framework) roles[i] = (uint8_t)role_of(ids_strings_text(&trace->strings, trace->ops[i].name));
        products |= roles[i] == PRODUCT;
        softmaxes |= roles[i] == SOFTMAX;
    }
    int any = products && softmaxes, failed = !roles;
    if (any) {
        seen = calloc(trace->op_count + 1, sizeof *seen);
        text = ids_intern(&trace->strings, why, sizeof why - 1);
        failed = !seen || text == IDS_NO_TEXT;
    }
    for (size_t d = 0; d < trace->device_count && any && !failed; d++)
        count_device(trace, &trace->devices[d].activity, roles, seen);
    for (size_t i = 0; i < trace->op_count && any && !failed; i++) {
        struct ids_op *op = &trace->ops[i];
        /* An op that also runs elsewhere is not told apart there: nearly all of it must be here. */
        if (op->waste || seen[i].between_ps <= seen[i].all_ps - seen[i].all_ps / 10) continue;
        op->waste = IDS_WASTE_ATTENTION;
        op->waste_why = text;
    }
    free(roles);
    free(seen);
    return failed ? -1 : 0;
}
