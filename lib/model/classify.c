#include "lib/model/classify.h"

#include "lib/hlo/op_text.h"

#include <string.h>

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Where `word` (lower case) stands in the text, in any case; NULL when it does not. */
static const char *find_word(struct ids_text text, const char *word) {
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= text.length; i++) {
        size_t same = 0;
        while (same < length && lower(text.at[i + same]) == word[same]) same++;
        if (same == length) return text.at + i;
    }
    return NULL;
}

/* --- collectives ------------------------------------------------------------------------------------------------ */

/* The word of a collective in any name: a kernel's, a call's, an annotation's. */
static enum ids_collective collective_of_word(struct ids_text name) {
    static const struct {
        const char *word;
        enum ids_collective collective;
    } table[] = {
        {"allreduce", IDS_ALL_REDUCE},
        {"all_reduce", IDS_ALL_REDUCE},
        {"reducescatter", IDS_REDUCE_SCATTER},
        {"reduce_scatter", IDS_REDUCE_SCATTER},
        {"allgather", IDS_ALL_GATHER},
        {"all_gather", IDS_ALL_GATHER},
        {"alltoall", IDS_ALL_TO_ALL},
        {"all_to_all", IDS_ALL_TO_ALL},
        {"permute", IDS_PERMUTE},
        {"sendrecv", IDS_SEND_RECV},
        {"send", IDS_SEND_RECV},
        {"recv", IDS_SEND_RECV},
        {"broadcast", IDS_BROADCAST},
        {"cross_device_reduce", IDS_ALL_REDUCE},
        {"oneshot", IDS_ALL_REDUCE},
        {"one_shot", IDS_ALL_REDUCE},
        {"twoshot", IDS_ALL_REDUCE},
        {"two_shot", IDS_ALL_REDUCE},
        {"multimem", IDS_ALL_REDUCE},
        {"reduce", IDS_REDUCE},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (find_word(name, table[i].word)) return table[i].collective;
    }
    return IDS_NO_COLLECTIVE;
}

enum ids_collective ids_collective_of_kernel(struct ids_text name) {
    static const char *const libraries[] = {"nccl",
                                            "rccl",
                                            "nvshmem",
                                            "oneshot",
                                            "one_shot",
                                            "twoshot",
                                            "two_shot",
                                            "multimem",
                                            "cross_device_reduce",
                                            "all_reduce_kernel",
                                            "allreducekernel",
                                            "collective_kernel"};
    int found = 0;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !found; i++)
        found = find_word(name, libraries[i]) != NULL;
    if (!found) return IDS_NO_COLLECTIVE;
    enum ids_collective collective = collective_of_word(name);
    if (collective) return collective;
    if (ids_text_begins(name, "ncclDevKernel") || ids_text_begins(name, "ncclKernel")) return IDS_OTHER_COLLECTIVE;
    return IDS_NO_COLLECTIVE; /* a library's helper kernel, such as a memory fill */
}

enum ids_collective ids_collective_of_call(struct ids_text name) {
    enum ids_collective collective = collective_of_word(name);
    if (collective) return collective;
    if (find_word(name, "gather")) return IDS_GATHER;
    if (find_word(name, "scatter")) return IDS_SCATTER;
    if (find_word(name, "barrier")) return IDS_ALL_REDUCE; /* ProcessGroupNCCL makes it of one */
    return IDS_NO_COLLECTIVE;
}

enum ids_collective ids_collective_of_annotation(struct ids_text name) {
    const char *colon = name.length ? memchr(name.at, ':', name.length) : NULL;
    if (!colon || colon - name.at < 4 || memcmp(colon - 3, "ccl", 3) != 0) return IDS_NO_COLLECTIVE;
    return ids_collective_of_call((struct ids_text){colon + 1, (uint32_t)(name.at + name.length - colon - 1)});
}

void ids_op_classify(struct ids_op *op, struct ids_text category, enum ids_class_rule rule) {
    op->class = IDS_CLASS_COMPUTE;
    op->class_rule = (uint8_t)(category.length ? rule : IDS_RULE_DEFAULT);
    op->marker = (uint8_t)ids_opcode_is_marker(category);
    op->container = (uint8_t)ids_opcode_is_container(category);
    op->collective = (uint8_t)ids_collective_of_opcode(category);
    if (ids_opcode_is_wait(category))
        op->class = IDS_CLASS_STALL;
    else if (op->collective)
        op->class = IDS_CLASS_COLLECTIVE;
    else if (ids_opcode_is_transfer(category))
        op->class = IDS_CLASS_COPY;
}

/* --- copies ----------------------------------------------------------------------------------------------------- */

enum ids_direction ids_copy_start_direction(struct ids_text text, int64_t *ret_bytes) {
    *ret_bytes = -1;
    const char *at = memchr(text.at, '(', text.length), *end = text.at + text.length;
    if (!at) return IDS_NO_DIRECTION;
    at++;
    int64_t to_bytes, from_bytes;
    int to_host, from_host;
    if (ids_hlo_array_shape(&at, end, &to_bytes, &to_host)) return IDS_NO_DIRECTION;
    while (at < end && (*at == ',' || *at == ' ')) at++;
    if (ids_hlo_array_shape(&at, end, &from_bytes, &from_host) || to_host == from_host) return IDS_NO_DIRECTION;
    *ret_bytes = to_bytes;
    return to_host ? IDS_D2H : IDS_H2D;
}

enum ids_direction ids_direction_in(struct ids_text text) {
    static const struct {
        const char *word;
        enum ids_direction direction;
    } table[] = {
        {"h2d", IDS_H2D},
        {"htod", IDS_H2D},
        {"m2d", IDS_H2D}, /* Level Zero: memory of the host */
        {"d2h", IDS_D2H},
        {"dtoh", IDS_D2H},
        {"d2m", IDS_D2H},
        {"d2d", IDS_D2D},
        {"dtod", IDS_D2D},
        {"p2p", IDS_P2P},
        {"ptop", IDS_P2P},
        {"hosttodevice", IDS_H2D},
        {"host_to_device", IDS_H2D},
        {"devicetohost", IDS_D2H},
        {"device_to_host", IDS_D2H},
        {"devicetodevice", IDS_D2D},
        {"device_to_device", IDS_D2D},
        {"peertopeer", IDS_P2P},
        {"peer_to_peer", IDS_P2P},
        {"hosttohost", IDS_H2H},
        {"host_to_host", IDS_H2H},
        {"h2h", IDS_H2H},
        {"htoh", IDS_H2H},
        {"peer", IDS_P2P},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (find_word(text, table[i].word)) return table[i].direction;
    }
    return IDS_NO_DIRECTION;
}

int ids_is_stream(struct ids_text name) {
    if (ids_text_begins(name, "Stream #")) return 1;
    if (!ids_text_begins(name, "stream ") && !ids_text_begins(name, "Stream ") && !ids_text_begins(name, "thread "))
        return 0;
    size_t at = sizeof "stream " - 1;
    while (at < name.length && name.at[at] >= '0' && name.at[at] <= '9') at++;
    while (at < name.length && name.at[at] == ' ') at++;
    return at == name.length;
}

enum ids_direction ids_direction_of_name(struct ids_text name) {
    if (ids_text_begins(name, "Memset") || ids_text_begins(name, "hipMemset") || ids_text_begins(name, "cudaMemset") ||
        ids_text_begins(name, "cuMemset")) {
        return IDS_MEMSET;
    }
    if (!ids_text_begins(name, "Memcpy") && !ids_text_begins(name, "hipMemcpy") &&
        !ids_text_begins(name, "cudaMemcpy") && !ids_text_begins(name, "cuMemcpy") && !ids_text_begins(name, "Copy")) {
        return IDS_NO_DIRECTION;
    }
    return ids_direction_in(name);
}

int ids_is_queue_wait(struct ids_text name) {
    return ids_text_is(name, "event_wait") || ids_text_is(name, "event_record");
}

char ids_rocclr_kernel(struct ids_text name) {
    if (ids_text_begins(name, "__amd_rocclr_copy")) return 'c';
    if (ids_text_begins(name, "__amd_rocclr_fill")) return 's';
    return 0;
}

/* --- details: "key:value key:value" ----------------------------------------------------------------------------- */

/* The value behind "key:" at the start of a word; 0 length when it is not there. */
static struct ids_text detail(struct ids_text details, const char *key) {
    size_t length = strlen(key);
    for (size_t at = 0; at < details.length;) {
        size_t end = at;
        while (end < details.length && details.at[end] != ' ') end++;
        if (end - at > length && details.at[at + length] == ':' && !memcmp(details.at + at, key, length)) {
            return (struct ids_text){details.at + at + length + 1, (uint32_t)(end - at - length - 1)};
        }
        at = end + 1;
    }
    return (struct ids_text){"", 0};
}

/* Leading digits as a number; -1 when there are none or too many. Moves the text behind them. */
static int64_t take_number(struct ids_text *text) {
    int64_t value = -1;
    while (text->length && *text->at >= '0' && *text->at <= '9') {
        if (value > INT64_MAX / 10 - 10) return -1;
        value = (value < 0 ? 0 : value * 10) + (*text->at - '0');
        text->at++;
        text->length--;
    }
    return value;
}

static int64_t detail_number(struct ids_text details, const char *key) {
    struct ids_text value = detail(details, key);
    return take_number(&value);
}

void ids_copy_details(struct ids_text details, struct ids_event *event) {
    int64_t bytes = detail_number(details, "size");
    if (bytes < 0) bytes = detail_number(details, "num_bytes");
    event->value = bytes > 0 ? bytes : -1; /* AMD's writer says size:0 for every copy it does not know */
    int64_t asynchronous = detail_number(details, "async");
    event->asynchronous = asynchronous < 0 ? 2 : asynchronous > 0;
    struct ids_text from = detail(details, "kind_src"), to = detail(details, "kind_dst");
    event->pinned = ids_text_begins(from, "pinned") || ids_text_begins(to, "pinned")       ? 1
                    : ids_text_begins(from, "pageable") || ids_text_begins(to, "pageable") ? 0
                                                                                           : 2;
}

void ids_launch_triple(struct ids_text text, int64_t ret_values[3]) {
    if (text.length && *text.at == '[') text.at++, text.length--;
    for (int i = 0; i < 3; i++) {
        ret_values[i] = take_number(&text);
        if (ret_values[i] <= 0 || ret_values[i] > INT32_MAX) ret_values[i] = -1;
        if (text.length && *text.at == ',') text.at++, text.length--;
    }
}

static void detail_triple(struct ids_text details, const char *key, int64_t ret_values[3]) {
    ids_launch_triple(detail(details, key), ret_values);
}

void ids_kernel_details(struct ids_text details, struct ids_shape *ret_shape) {
    enum { REGISTERS_LIMIT = 1024 }; /* no GPU has more than 512 a thread (AMD's vector and accumulation registers) */
    *ret_shape = (struct ids_shape){0}; /* which ranks take part stands elsewhere, if anywhere */
    ret_shape->registers = detail_number(details, "regs");
    if (ret_shape->registers > REGISTERS_LIMIT || ret_shape->registers == 0) ret_shape->registers = -1;
    int garbage = ret_shape->registers < 0 && detail(details, "regs").length;
    ret_shape->static_shared_bytes = detail_number(details, "static_shared");
    ret_shape->dynamic_shared_bytes = detail_number(details, "dynamic_shared");
    if (ret_shape->static_shared_bytes < 0) ret_shape->static_shared_bytes = detail_number(details, "shm");
    if (ret_shape->static_shared_bytes < 0) ret_shape->static_shared_bytes = detail_number(details, "group_mem");
    if (garbage) ret_shape->static_shared_bytes = ret_shape->dynamic_shared_bytes = -1;
    detail_triple(details, "grid", ret_shape->grid);
    detail_triple(details, "block", ret_shape->block);
    struct ids_text occupancy = detail(details, "occ_pct");
    double percent = (double)take_number(&occupancy);
    if (percent >= 0 && occupancy.length > 1 && *occupancy.at == '.') {
        occupancy.at++;
        occupancy.length--;
        for (double digit = 0.1; occupancy.length && *occupancy.at >= '0' && *occupancy.at <= '9'; digit /= 10) {
            percent += digit * (*occupancy.at++ - '0');
            occupancy.length--;
        }
    }
    ret_shape->occupancy = percent > 0 && percent <= 100 ? percent / 100 : -1;
}

int64_t ids_dtype_bytes(struct ids_text dtype) {
    static const struct {
        const char *name;
        int64_t bytes;
    } table[] = {{"Float", 4}, {"Half", 2},  {"BFloat16", 2}, {"Double", 8}, {"Byte", 1},          {"Char", 1},
                 {"Bool", 1},  {"Short", 2}, {"Int", 4},      {"Long", 8},   {"Float8_e4m3fn", 1}, {"Float8_e5m2", 1}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (ids_text_is(dtype, table[i].name)) return table[i].bytes;
    }
    return -1;
}

/* --- names of the classes --------------------------------------------------------------------------------------- */

const char *ids_cost_source_name(enum ids_cost_source source) {
    return source == IDS_COST_OF_FILE ? "file" : source == IDS_COST_OF_MODEL ? "model" : NULL;
}

const char *ids_op_known_name(enum ids_op_known known) {
    static const char *const names[IDS_OP_KNOWN_COUNT] = {"recorded", "by name", "by order"};
    return (unsigned)known < IDS_OP_KNOWN_COUNT ? names[known] : "unknown";
}

const char *ids_class_name(enum ids_class class) {
    static const char *const names[IDS_CLASS_COUNT] = {"compute", "collective", "copy", "stalled"};
    return (unsigned)class < IDS_CLASS_COUNT ? names[class] : "unknown";
}

const char *ids_direction_name(enum ids_direction direction) {
    static const char *const names[IDS_DIRECTION_COUNT] = {"H2D", "D2H", "D2D", "P2P", "memset", "H2H"};
    return (unsigned)direction < IDS_DIRECTION_COUNT ? names[direction] : "unknown";
}

const char *ids_collective_name(enum ids_collective collective) {
    static const char *const names[IDS_COLLECTIVE_COUNT] = {"none",       "all-reduce", "all-gather", "reduce-scatter",
                                                            "all-to-all", "permute",    "send/recv",  "broadcast",
                                                            "reduce",     "gather",     "scatter",    "collective"};
    return (unsigned)collective < IDS_COLLECTIVE_COUNT ? names[collective] : "unknown";
}

const char *ids_class_rule_name(enum ids_class_rule rule) {
    static const char *const names[IDS_RULE_COUNT] = {"default",         "hlo_category", "HLO opcode", "kernel name",
                                                      "collective args", "annotation",   "rendezvous"};
    return (unsigned)rule < IDS_RULE_COUNT ? names[rule] : "unknown";
}
