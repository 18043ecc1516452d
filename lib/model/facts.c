#include "lib/model/facts.h"

#include "lib/base/decimal.h"
#include "lib/model/keys.h"

#include <string.h>
#include <strings.h>

uint32_t ids_arg_text(struct ids_trace *trace, const struct ids_arg *arg) {
    if (arg->type == IDS_VALUE_TEXT) return arg->text;
    if (arg->type == IDS_VALUE_CHARS) return ids_intern(&trace->strings, arg->chars, arg->length);
    return 0;
}

struct ids_text ids_arg_chars(const struct ids_trace *trace, const struct ids_arg *arg) {
    if (arg->type == IDS_VALUE_TEXT) return ids_strings_text(&trace->strings, arg->text);
    if (arg->type == IDS_VALUE_CHARS) return (struct ids_text){arg->chars, arg->length};
    return (struct ids_text){"", 0};
}

int64_t ids_arg_int(const struct ids_trace *trace, const struct ids_arg *arg, int64_t otherwise) {
    if (arg->type == IDS_VALUE_INT || arg->type == IDS_VALUE_UINT) return arg->i;
    if (arg->type == IDS_VALUE_REAL && arg->d > -9e18 && arg->d < 9e18) return (int64_t)arg->d;
    struct ids_text text = ids_arg_chars(trace, arg);
    int64_t value;
    return ids_decimal_integer(text.at, text.length, &value) ? value : otherwise;
}

double ids_arg_real(const struct ids_trace *trace, const struct ids_arg *arg) {
    switch (arg->type) {
    case IDS_VALUE_REAL:
        return arg->d;
    case IDS_VALUE_INT:
        return (double)arg->i;
    case IDS_VALUE_UINT:
        return (double)arg->u;
    default: {
        struct ids_text text = ids_arg_chars(trace, arg);
        double value;
        return ids_decimal_real(text.at, text.length, &value) ? 0 : value;
    }
    }
}

static int ends_in(struct ids_text text, const char *word, size_t length) {
    return text.length >= length && !strncasecmp(text.at + text.length - length, word, length);
}

static int is_in_any_case(struct ids_text text, const char *word) {
    size_t length = strlen(word);
    return text.length == length && ends_in(text, word, length);
}

/* Kineto's categories, which it has written in more than one case ("Memcpy", "gpu_memcpy"). */
static void category(struct ids_text category, struct ids_facts *facts) {
    enum { WORD = 6 }; /* of "memcpy" */
    if (!category.length) return;
    const int last = category.at[category.length - 1] | 0x20; /* most end otherwise */
    facts->is_copy = last == 'y' && ends_in(category, "memcpy", WORD);
    facts->is_set = last == 't' && ends_in(category, "memset", WORD);
    switch (*category.at | 0x20) { /* most events of a file have one */
    case 'p':
        facts->is_python = is_in_any_case(category, "python_function");
        break;
    case 'u':
        facts->is_annotation = is_in_any_case(category, "user_annotation");
        break;
    case 'c':
        facts->is_op = is_in_any_case(category, "cpu_op");
        break;
    case 'o':
        facts->is_op = is_in_any_case(category, "operator");
        break;
    case 'f':
        facts->is_fwdbwd = is_in_any_case(category, "fwdbwd");
        break;
    default:
        break;
    }
}

int ids_facts_gather(struct ids_trace *trace, const struct ids_slice *slice, struct ids_facts *facts) {
    *facts = (struct ids_facts){.occupancy = -1,
                                .registers = -1,
                                .shared_memory = -1,
                                .message_elements = -1,
                                .result_elements = -1,
                                .python_parent = -1};
    for (uint32_t i = 0; i < slice->arg_count; i++) {
        const struct ids_arg *arg = &slice->args[i];
        switch (ids_key_spelt(&trace->spellings, &trace->strings, arg->key)) {
        case IDS_KEY_HLO_OP:
            facts->hlo_op = ids_arg_text(trace, arg);
            if (facts->hlo_op == IDS_NO_TEXT) return -1;
            break;
        case IDS_KEY_HLO_MODULE:
            facts->hlo_module = ids_arg_text(trace, arg);
            if (facts->hlo_module == IDS_NO_TEXT) return -1;
            break;
        case IDS_KEY_PROGRAM_ID:
            facts->program_id = (uint64_t)ids_arg_int(trace, arg, 0);
            break;
        case IDS_KEY_RUN_ID:
            facts->run_id = ids_arg_int(trace, arg, 0);
            facts->has_run_id = 1;
            break;
        case IDS_KEY_DEVICE_ORDINAL:
            facts->device_ordinal = ids_arg_int(trace, arg, 0);
            facts->has_ordinal = 1;
            break;
        case IDS_KEY_CORRELATION_ID:
        case IDS_KEY_CORRELATION:
            facts->correlation = (uint64_t)ids_arg_int(trace, arg, 0);
            facts->has_correlation = facts->correlation != 0;
            break;
        case IDS_KEY_PRODUCER_TYPE:
            facts->producer_type = ids_arg_int(trace, arg, 0);
            break;
        case IDS_KEY_PRODUCER_ID:
            facts->producer = (uint64_t)ids_arg_int(trace, arg, 0);
            facts->has_producer = 1;
            break;
        case IDS_KEY_CONSUMER_TYPE:
            facts->consumer_type = ids_arg_int(trace, arg, 0);
            break;
        case IDS_KEY_CONSUMER_ID:
            facts->consumer = (uint64_t)ids_arg_int(trace, arg, 0);
            facts->has_consumer = 1;
            break;
        case IDS_KEY_STEP_NUM:
            facts->step_num = ids_arg_int(trace, arg, 0);
            facts->has_step = 1;
            break;
        case IDS_KEY_STEP_NAME:
            facts->step_name = arg;
            break;
        case IDS_KEY_KERNEL_DETAILS:
            facts->kernel_details = arg;
            break;
        case IDS_KEY_MEMCPY_DETAILS:
        case IDS_KEY_MEMSET_DETAILS:
            facts->copy_details = arg;
            break;
        case IDS_KEY_TIME_SCALE:
            trace->time_scale_sum += ids_arg_real(trace, arg);
            trace->time_scale_count++;
            break;
        case IDS_KEY_OCCUPANCY_PCT:
            facts->occupancy = ids_arg_real(trace, arg) / 100;
            break;
        case IDS_KEY_SIZE:
        case IDS_KEY_BYTES:
            facts->size = ids_arg_int(trace, arg, -1); /* MapDmaBuffer says "5.37GB": no number */
            facts->has_size = facts->size >= 0;
            break;
        case IDS_KEY_LONG_NAME:
            facts->long_name = ids_arg_text(trace, arg);
            if (facts->long_name == IDS_NO_TEXT) return -1;
            break;
        case IDS_KEY_HLO_CATEGORY:
            facts->hlo_category = ids_arg_text(trace, arg);
            if (facts->hlo_category == IDS_NO_TEXT) return -1;
            break;
        case IDS_KEY_CATEGORY:
            facts->has_category = 1;
            category(ids_arg_chars(trace, arg), facts);
            break;
        case IDS_KEY_EXTERNAL_ID:
            facts->external = ids_arg_int(trace, arg, 0); /* 0 is none */
            break;
        case IDS_KEY_PYTHON_ID:
            facts->python_id = ids_arg_int(trace, arg, -1);
            facts->has_python_id = facts->python_id >= 0;
            break;
        case IDS_KEY_PYTHON_PARENT_ID:
            facts->python_parent = ids_arg_int(trace, arg, -1);
            break;
        case IDS_KEY_SEQUENCE_NUMBER:
            facts->sequence = ids_arg_int(trace, arg, -1);
            facts->has_sequence = facts->sequence >= 0;
            break;
        case IDS_KEY_FORWARD_THREAD:
            facts->forward_thread = ids_arg_int(trace, arg, 0);
            break;
        case IDS_KEY_ARROW_ID:
            facts->arrow = arg;
            break;
        case IDS_KEY_ANNOTATION:
            facts->annotation = arg;
            break;
        case IDS_KEY_DIRECTION:
            facts->direction = arg;
            break;
        case IDS_KEY_ROOT:
            facts->is_root = ids_arg_int(trace, arg, 0) != 0;
            break;
        case IDS_KEY_USER_ANNOTATION:
            facts->is_annotation = 1;
            break;
        case IDS_KEY_GRID:
            facts->grid = arg;
            break;
        case IDS_KEY_BLOCK:
            facts->block = arg;
            break;
        case IDS_KEY_REGISTERS_PER_THREAD:
            facts->registers = ids_arg_int(trace, arg, -1);
            break;
        case IDS_KEY_SHARED_MEMORY:
            facts->shared_memory = ids_arg_int(trace, arg, -1);
            break;
        case IDS_KEY_ACHIEVED_OCCUPANCY:
            facts->occupancy = ids_arg_real(trace, arg) / 100;
            break;
        case IDS_KEY_MESSAGE_ELEMENTS:
            facts->message_elements = ids_arg_int(trace, arg, -1);
            break;
        case IDS_KEY_RESULT_ELEMENTS:
            facts->result_elements = ids_arg_int(trace, arg, -1);
            break;
        case IDS_KEY_GROUP_SIZE:
            facts->group_size = ids_arg_int(trace, arg, 0);
            break;
        case IDS_KEY_COLLECTIVE_NAME:
            facts->collective_name = arg;
            break;
        case IDS_KEY_DTYPE:
            facts->dtype = arg;
            break;
        case IDS_KEY_GROUP_RANKS:
            facts->group_ranks = arg;
            break;
        case IDS_KEY_CUDA_GRAPH_ID:
        case IDS_KEY_CUDA_GRAPH_EXEC_ID:
            facts->in_graph = 1;
            break;
        default:
            break;
        }
    }
    return 0;
}
