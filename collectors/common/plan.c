#include "collectors/common/plan.h"

#include <stdio.h>
#include <string.h>

enum { SECOND_NS = 1000000000, WINDOW_BYTES = 256 << 20, MAX_COST = 10000 };

struct field {
    const char *key;
    size_t offset, size; /* size 0: an int64_t; else a text with so much room */
};

#define NUMBER(name) \
    { #name, offsetof(struct ids_plan, name), 0 }
#define TEXT(name) \
    { #name, offsetof(struct ids_plan, name), sizeof(((struct ids_plan *)0)->name) }
static const struct field fields[] = {
    NUMBER(start_step),
    NUMBER(steps),
    NUMBER(every),
    NUMBER(every_ns),
    NUMBER(when_ratio),
    NUMBER(when_ns),
    NUMBER(keep_slowest),
    NUMBER(max_cost),
    NUMBER(max),
    NUMBER(delay_ns),
    NUMBER(duration_ns),
    NUMBER(trigger),
    NUMBER(warmup),
    NUMBER(max_size),
    NUMBER(stop_timeout_ns),
    NUMBER(host_level),
    NUMBER(device_level),
    NUMBER(python_level),
    NUMBER(memory),
    NUMBER(stacks),
    NUMBER(launcher),
    TEXT(run),
    NUMBER(max_window_bytes),
    TEXT(range),
    TEXT(wrap),
    TEXT(ranks),
    TEXT(step_executable),
    TEXT(cuda_graph),
    TEXT(profile_options),
};
enum { FIELDS = sizeof fields / sizeof *fields };

void ids_plan_default(struct ids_plan *plan) {
    memset(plan, 0, sizeof *plan);
    plan->start_step = 153;
    plan->steps = 5;
    plan->max = 1;
    plan->max_cost = MAX_COST;
    plan->max_window_bytes = -1;
    plan->stop_timeout_ns = 60LL * SECOND_NS;
    plan->host_level = 2;
    plan->device_level = 1;
    plan->stacks = 500;
    memcpy(plan->cuda_graph, "node", sizeof "node");
}

int64_t ids_window_bytes(const struct ids_plan *plan) {
    if (plan->max_window_bytes >= 0) return plan->max_window_bytes;
    return plan->start_step >= 0 && !plan->duration_ns ? 0 : WINDOW_BYTES;
}

int ids_plan_judges(const struct ids_plan *plan) {
    return plan->when_ratio || plan->when_ns || plan->keep_slowest;
}

static const struct field *find_field(const char *key, size_t length) {
    for (size_t i = 0; i < FIELDS; i++) {
        if (strlen(fields[i].key) == length && !memcmp(fields[i].key, key, length)) return &fields[i];
    }
    return NULL;
}

/* A whole number, or -1, which stands for "none". */
static int parse_number(const char *at, size_t length, int64_t *ret_number) {
    int64_t number = 0;
    if (length == 2 && at[0] == '-' && at[1] == '1') {
        *ret_number = -1;
        return 0;
    }
    if (!length) return -1;
    for (const char *end = at + length; at < end; at++) {
        if (*at < '0' || *at > '9') return -1;
        if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *at - '0', &number))
            return -1;
    }
    *ret_number = number;
    return 0;
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

static int parse_text(const char *at, size_t length, char *text, size_t size) {
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        char c = at[i];
        if (c == '%') {
            int high = i + 2 < length ? hex_digit(at[i + 1]) : -1;
            int low = high >= 0 ? hex_digit(at[i + 2]) : -1;
            if (low < 0 || high + low == 0) return -1;
            c = (char)(high << 4 | low);
            i += 2;
        }
        if (used + 1 >= size) return -1;
        text[used++] = c;
    }
    text[used] = '\0';
    return 0;
}

static int parse_field(const char *at, size_t length, struct ids_plan *plan, char *why, size_t why_size) {
    const char *equals = memchr(at, '=', length);
    if (!equals) {
        snprintf(why, why_size, "'%.*s' in the plan has no value", (int)length, at);
        return -1;
    }
    const struct field *field = find_field(at, (size_t)(equals - at));
    if (!field) return 0;
    size_t value = length - (size_t)(equals + 1 - at);
    char *place = (char *)plan + field->offset;
    int failed;
    if (field->size) {
        failed = parse_text(equals + 1, value, place, field->size);
    } else {
        int64_t number;
        failed = parse_number(equals + 1, value, &number);
        if (!failed) memcpy(place, &number, sizeof number);
    }
    if (failed) snprintf(why, why_size, "the plan's %s is not understood: '%.*s'", field->key, (int)value, equals + 1);
    return failed;
}

int ids_plan_parse(const char *text, struct ids_plan *ret_plan, char *why, size_t why_size) {
    ids_plan_default(ret_plan);
    if (strnlen(text, IDS_PLAN_BYTES) == IDS_PLAN_BYTES) {
        snprintf(why, why_size, "the plan has more than %d bytes", IDS_PLAN_BYTES);
        return -1;
    }
    while (*text) {
        size_t length = strcspn(text, ";");
        if (length && parse_field(text, length, ret_plan, why, why_size)) return -1;
        text += length + (text[length] == ';');
    }
    if (!ids_ranks_valid(ret_plan->ranks)) {
        snprintf(why, why_size, "the plan's ranks are not a list such as 0,4-7: '%s'", ret_plan->ranks);
        return -1;
    }
    return 0;
}

/* ---- writing ---- */

struct writer {
    char *at;
    size_t length, size; /* length goes on when nothing fits any more */
};

static void put(struct writer *to, const char *text, size_t length) {
    if (to->length + length < to->size) memcpy(to->at + to->length, text, length);
    to->length += length;
}

static void put_escaped(struct writer *to, const char *text) {
    static const char digits[] = "0123456789ABCDEF";
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        char escaped[3] = {'%', digits[c >> 4], digits[c & 15]};
        if (c == '%' || c == ';' || c < 0x20 || c == 0x7f) {
            put(to, escaped, sizeof escaped);
        } else {
            put(to, text, 1);
        }
    }
}

static void put_number(struct writer *to, const char *place) {
    char digits[24];
    int64_t number;
    memcpy(&number, place, sizeof number);
    put(to, digits, (size_t)snprintf(digits, sizeof digits, "%lld", (long long)number));
}

static int end_writer(const struct writer *to) {
    if (to->length >= to->size) return -1;
    to->at[to->length] = '\0';
    return (int)to->length;
}

int ids_plan_format(const struct ids_plan *plan, char *buffer, size_t size) {
    struct writer to = {.at = buffer, .size = size};
    for (size_t i = 0; i < FIELDS; i++) {
        const char *place = (const char *)plan + fields[i].offset;
        if (i) put(&to, ";", 1);
        put(&to, fields[i].key, strlen(fields[i].key));
        put(&to, "=", 1);
        if (fields[i].size) {
            put_escaped(&to, place);
        } else {
            put_number(&to, place);
        }
    }
    return end_writer(&to);
}

int ids_plan_value(const struct ids_plan *plan, const char *key, char *buffer, size_t size) {
    const struct field *field = find_field(key, strlen(key));
    if (!field) return -1;
    struct writer to = {.at = buffer, .size = size};
    const char *place = (const char *)plan + field->offset;
    if (field->size) {
        put(&to, place, strlen(place));
    } else {
        put_number(&to, place);
    }
    return end_writer(&to);
}

/* ---- ranks ---- */

static int read_rank(const char **at, int64_t *ret_rank) {
    size_t length = strspn(*at, "0123456789");
    if (parse_number(*at, length, ret_rank)) return -1;
    *at += length;
    return 0;
}

/* Passes "4" or "4-7", and the comma behind it. -1 when there is neither. */
static int read_range(const char **at, int64_t *ret_first, int64_t *ret_last) {
    if (read_rank(at, ret_first)) return -1;
    *ret_last = *ret_first;
    if (**at == '-') {
        ++*at;
        if (read_rank(at, ret_last) || *ret_last < *ret_first) return -1;
    }
    if (**at == ',' && (*at)[1]) {
        ++*at;
    } else if (**at) {
        return -1;
    }
    return 0;
}

int ids_ranks_valid(const char *text) {
    int64_t first, last;
    while (*text) {
        if (read_range(&text, &first, &last)) return 0;
    }
    return 1;
}

int ids_ranks_have(const char *text, int64_t rank) {
    int64_t first, last;
    if (!*text) return 1;
    while (*text) {
        if (read_range(&text, &first, &last)) return 0;
        if (rank >= first && rank <= last) return 1;
    }
    return 0;
}
