#include "lib/model/waste.h"

#include "lib/base/keymap.h"
#include "lib/hlo/opcode.h"
#include "lib/hlo/scope.h"
#include "lib/model/waste_attention.h"

#include <stdlib.h>
#include <string.h>

/* --- by names --------------------------------------------------------------------------------------------------- */

static enum ids_waste of_opcode(const char *opcode) {
    static const struct {
        const char *opcode;
        enum ids_waste waste;
    } table[] = {
        {"copy", IDS_WASTE_LAYOUT},     {"transpose", IDS_WASTE_LAYOUT}, {"data formatting", IDS_WASTE_LAYOUT},
        {"convert", IDS_WASTE_CONVERT}, {"pad", IDS_WASTE_PAD},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!strcmp(opcode, table[i].opcode)) return table[i].waste;
    }
    return IDS_NO_WASTE;
}

/* PyTorch's calls, of which the innermost one launched: aten::to calls aten::copy_, and so does aten::contiguous. */
static enum ids_waste of_calls(const char *path) {
    static const struct {
        const char *call;
        enum ids_waste waste;
    } table[] = {
        {"aten::_to_copy", IDS_WASTE_CONVERT},  {"aten::to", IDS_WASTE_CONVERT},
        {"aten::contiguous", IDS_WASTE_LAYOUT}, {"aten::clone", IDS_WASTE_LAYOUT},
        {"aten::copy_", IDS_WASTE_LAYOUT},      {"aten::constant_pad_nd", IDS_WASTE_PAD},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *at = strstr(path, table[i].call);
        const char *end = at ? at + strlen(table[i].call) : NULL;
        if (at && (*end == '/' || !*end) && (at == path || at[-1] == '/')) return table[i].waste;
    }
    return IDS_NO_WASTE;
}

static enum ids_waste of_names(const struct ids_trace *trace, const struct ids_op *op) {
    const char *place = ids_trace_text(trace, op->framework_name);
    if (op->container || op->marker) return IDS_NO_WASTE;
    if (!strcmp(ids_op_pass(trace, op), "recomputed")) return IDS_WASTE_RECOMPUTED;
    if (op->framework) return of_calls(place);
    enum ids_waste waste = of_opcode(ids_trace_text(trace, op->category));
    return waste ? waste : of_opcode(ids_trace_text(trace, op->opcode));
}

/* Where the text of an instruction has its operand's shape: behind the opcode's parenthesis. NULL: nowhere. */
static const char *operand_in(const char *text) {
    const char *at = strstr(text, " = ");
    for (at = at ? at + 3 : NULL; at && *at && *at != ' '; at++) {
        if (*at == '{') at = strchr(at, '}');
        if (!at) return NULL;
    }
    const char *open = at && *at ? strchr(at, '(') : NULL;
    return open && open[1] && open[1] != '%' ? open + 1 : NULL;
}

/* "bf16[8,128]{0,1} -> bf16[8,128]{1,0}" of a TPU's op, whose text has both. 0, or -1 when memory ran out. */
static int say_what_moves(struct ids_trace *trace, struct ids_op *op) {
    enum { MOST = 200 };
    const char *text = ids_trace_text(trace, op->long_name), *result = strstr(text, " = "), *from = operand_in(text);
    char why[2 * MOST + 8];
    static const char into[] = {' ', '-', '>', ' '};
    if (!result || !from) return 0;
    size_t result_length = strcspn(result + 3, " "), from_length = strcspn(from, " ");
    if (result_length > MOST || from_length > MOST || !from_length) return 0;
    memcpy(why, from, from_length);
    memcpy(why + from_length, into, sizeof into);
    memcpy(why + from_length + sizeof into, result + 3, result_length);
    op->waste_why = ids_intern(&trace->strings, why, from_length + sizeof into + result_length);
    return op->waste_why == IDS_NO_TEXT ? -1 : 0;
}

/* --- what is begun and at once waited for ----------------------------------------------------------------------- */

struct pairing {
    struct ids_keymap starts; /* module and name of an op that begins something -> its index + 1 */
    struct pair {
        uint32_t start; /* of an op that waits: what it waits for; IDS_NONE */
        uint32_t first; /* the first op of its name in this program, on any device */
        uint64_t waits, alone;
        int64_t ended_ps; /* of an op that begins: when it last did */
    } * of;
};

/* "%copy-start.3" of "... copy-done((...) %copy-start.3)": the name of the last operand. */
static struct ids_text waited_for(const char *text) {
    const char *open = strstr(text, "-done(");
    const char *name = open ? strchr(open, '%') : NULL;
    if (!name) return (struct ids_text){0};
    size_t length = strcspn(++name, "), ");
    return (struct ids_text){name, (uint32_t)length};
}

static int waits(const struct ids_trace *trace, const struct ids_op *op) {
    return ids_opcode_is_wait(ids_strings_text(&trace->strings, op->opcode ? op->opcode : op->category));
}

static int add_pairs(struct ids_trace *trace, struct pairing *pairing) {
    int any = 0;
    for (uint32_t i = 0; i < trace->op_count; i++) {
        const struct ids_op *op = &trace->ops[i];
        uint64_t key = ids_key_of(op->module, op->name);
        if (op->marker && !waits(trace, op) && ids_keymap_add(&pairing->starts, key, i) < 0) return -1;
    }
    for (uint32_t i = 0; i < trace->op_count; i++) {
        const struct ids_op *op = &trace->ops[i];
        pairing->of[i].start = IDS_NONE;
        if (!op->marker || !waits(trace, op)) continue;
        struct ids_text name = waited_for(ids_trace_text(trace, op->long_name));
        uint32_t text = name.length ? ids_strings_find(&trace->strings, name.at, name.length) : IDS_NO_TEXT;
        uint64_t start;
        if (text == IDS_NO_TEXT || !ids_keymap_get(&pairing->starts, ids_key_of(op->module, text), &start)) continue;
        pairing->of[i].start = (uint32_t)start;
        any = 1;
    }
    return any;
}

static void count_waits(const struct ids_trace *trace, const struct ids_events *events, struct pair *of) {
    int64_t worked_ps = INT64_MIN; /* when an op that is no half of one last began */
    ids_events_turn(events);
    for (size_t i = 0; i < events->count; i++) {
        const struct ids_event *event = &events->at[i];
        const struct ids_op *op = event->op == IDS_NONE ? NULL : &trace->ops[event->op];
        if (!op || !op->marker) {
            worked_ps = event->start_ps;
            continue;
        }
        struct pair *pair = &of[event->op];
        pair->ended_ps = event->end_ps;
        if (pair->start == IDS_NONE) continue;
        pair->waits++;
        pair->alone += worked_ps < of[pair->start].ended_ps;
    }
}

/* Devices that run one program have one schedule: the first op of a name has the counts of all of them. */
static int sum_devices(const struct ids_trace *trace, struct pair *of) {
    struct ids_keymap schedules = {0};
    int failed = 0;
    for (uint32_t i = 0; i < trace->op_count && !failed; i++) {
        const struct ids_op *op = &trace->ops[i];
        const struct ids_module *module = op->module == IDS_NONE ? NULL : &trace->modules[op->module];
        if (of[i].start == IDS_NONE) continue;
        uint64_t program = module ? ids_key_of(module->name, module->program_id) : 0;
        uint64_t *first = ids_keymap_at(&schedules, ids_key_of(program, ids_key_of(op->name, op->long_name)));
        failed = !first;
        if (failed) break;
        if (!*first) *first = (uint64_t)i + 1;
        of[i].first = (uint32_t)(*first - 1);
        if (of[i].first == i) continue;
        of[of[i].first].waits += of[i].waits;
        of[of[i].first].alone += of[i].alone;
    }
    ids_keymap_done(&schedules);
    return failed;
}

/* Where a recording lost events, a wait may seem to have work before it that ran after it: nearly all must be alone. */
static int is_alone(const struct pair *pair) {
    return pair->waits && pair->alone >= pair->waits - pair->waits / 10;
}

static int find_serial(struct ids_trace *trace) {
    struct pairing pairing = {.of = calloc(trace->op_count + 1, sizeof *pairing.of)};
    int any = pairing.of ? add_pairs(trace, &pairing) : -1;
    for (size_t d = 0; d < trace->device_count && any > 0; d++)
        count_waits(trace, &trace->devices[d].activity, pairing.of);
    if (any > 0 && sum_devices(trace, pairing.of)) any = -1;
    for (size_t i = 0; i < trace->op_count && any > 0; i++) {
        const struct pair *pair = &pairing.of[i];
        if (pair->start == IDS_NONE || !is_alone(&pairing.of[pair->first])) continue;
        trace->ops[i].waste = IDS_WASTE_SERIAL;
        trace->ops[i].waste_why = trace->ops[pair->start].name;
    }
    ids_keymap_done(&pairing.starts);
    free(pairing.of);
    return any < 0 ? -1 : 0;
}

static int is_of_cpu(const struct ids_trace *trace) {
    for (size_t d = 0; d < trace->device_count; d++) {
        if (trace->devices[d].kind != IDS_DEVICE_CPU && trace->devices[d].activity.count) return 0;
    }
    return 1;
}

int ids_wastes_find(struct ids_trace *trace) {
    int has_markers = 0, failed = 0, is_cpu = is_of_cpu(trace);
    for (size_t i = 0; i < trace->op_count && !failed; i++) {
        struct ids_op *op = &trace->ops[i];
        has_markers |= op->marker;
        /* XLA has no fused attention on a CPU: there is nothing else to be done. And others turn tiles over on the
         * chip. */
        if (op->waste == (is_cpu ? IDS_WASTE_ATTENTION : IDS_WASTE_TRANSPOSED))
            op->waste = IDS_NO_WASTE, op->waste_why = 0;
        if (op->waste) continue;
        op->waste = (uint8_t)of_names(trace, op);
        int moves = op->waste == IDS_WASTE_LAYOUT || op->waste == IDS_WASTE_CONVERT || op->waste == IDS_WASTE_PAD;
        if (moves && !op->framework) failed = say_what_moves(trace, op);
    }
    if (!failed) failed = ids_wastes_find_attention(trace);
    return failed || !has_markers ? failed : find_serial(trace);
}
