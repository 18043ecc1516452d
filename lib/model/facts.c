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

int64_t ids_arg_int_told(const struct ids_trace *trace, const struct ids_arg *arg, int64_t otherwise) {
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

/* The kinds of IDS_FACT. Numbers of JSON may be texts: one that is no number is as if it were not there. */
#define TAKE(field, otherwise) (facts->field = (__typeof__(facts->field))ids_arg_int(trace, arg, otherwise))
#define TAKE_ARG(field) facts->field = arg
#define TAKE_TEXT(field) \
    if ((facts->field = ids_arg_text(trace, arg)) == IDS_NO_TEXT) return -1
#define TAKE_NUMBER(field) TAKE(field, 0)
#define TAKE_COUNT(field) TAKE(field, -1)
#define TAKE_GIVEN(field) TAKE(field, 0), facts->has_##field = 1
#define TAKE_LINK(stat) ids_link_set(&facts->links, IDS_LINK_##stat, ids_arg_int(trace, arg, 0))
#define TAKE_NOT_NEGATIVE(field) TAKE(field, -1), facts->has_##field = facts->field >= 0 /* "5.37GB" is no number */
#define TAKE_PERCENT(field) facts->field = ids_arg_real(trace, arg) / 100
#define TAKE_IS_TRUE(field) facts->field = ids_arg_int(trace, arg, 0) != 0
#define TAKE_IS_THERE(field) facts->field = 1

int ids_facts_gather(struct ids_trace *trace, const struct ids_slice *slice, struct ids_facts *facts) {
    *facts = (struct ids_facts){.occupancy = -1,
                                .achieved = -1,
                                .registers = -1,
                                .shared_memory = -1,
                                .message_elements = -1,
                                .result_elements = -1,
                                .python_parent = -1};
    for (uint32_t i = 0; i < slice->arg_count; i++) {
        const struct ids_arg *arg = &slice->args[i];
        switch (ids_key_spelt(&trace->spellings, &trace->strings, arg->key)) {
#define IDS_KEY(id, text)
#define IDS_FACT(id, text, kind, field) \
    case IDS_KEY_##id:                  \
        TAKE_##kind(field);             \
        break;
#include "lib/model/keys.def"
        case IDS_KEY_TIME_SCALE:
            facts->time_scale = ids_arg_real(trace, arg);
            facts->has_time_scale = 1;
            break;
        case IDS_KEY_CATEGORY:
            facts->has_category = 1;
            category(ids_arg_chars(trace, arg), facts);
            break;
        default:
            break;
        }
    }
    return 0;
}
