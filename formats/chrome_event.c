#include "formats/chrome_event.h"

#include "lib/base/decimal.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { PICOSECOND_PLACES = 6 }; /* of a microsecond */

static int is(const struct ids_json_span *span, const char *text, size_t length) {
    return span->length == length && !memcmp(span->at, text, length);
}

/* A place for one more member, which counts once member_count is raised: keys and values are read where they stay. NULL when memory
 * ran out. */
static struct ids_chrome_member *next_member(struct ids_chrome_event *event) {
    struct ids_chrome_member *member = IDS_PUSH(event->members, event->member_count, event->room);
    if (member) event->member_count--;
    return member;
}

/* The members of `args`. */
static enum ids_json_result read_args(struct ids_json_scan *scan, struct ids_chrome_event *event, int *ret_no_memory) {
    int first = 1;
    if (event->args_count) { /* `args` twice: the last one counts, as for every member */
        size_t behind = event->args_at + event->args_count;
        memmove(event->members + event->args_at, event->members + behind,
                (event->member_count - behind) * sizeof *event->members);
        event->member_count -= event->args_count;
    }
    event->args_at = event->member_count;
    scan->at++;
    for (;;) {
        struct ids_chrome_member *member = next_member(event);
        event->args_count = event->member_count - event->args_at;
        *ret_no_memory = !member;
        if (!member) return IDS_JSON_BAD;
        enum ids_json_result result = ids_json_member(scan, &first, &member->key);
        if (result == IDS_JSON_END) return IDS_JSON_OK;
        if (result == IDS_JSON_OK) result = ids_json_value(scan, &member->value);
        if (result != IDS_JSON_OK) return result;
        event->member_count++;
    }
}

/* Where the value of a member goes that the reader understands, NULL for the others. */
static struct ids_json_span *place_of(struct ids_chrome_event *event, const struct ids_json_span *key) {
    switch (key->length) {
    case 2:
        return is(key, "ts", 2) ? &event->ts : NULL;
    case 3:
        return is(key, "dur", 3)   ? &event->dur
               : is(key, "pid", 3) ? &event->pid
               : is(key, "tid", 3) ? &event->tid
                                   : NULL;
    case 4:
        return is(key, "name", 4) ? &event->name : NULL;
    default:
        return NULL;
    }
}

/* Behind the key of `member`, which is the next one of the event and becomes one if the reader does not understand it. */
static enum ids_json_result read_member(struct ids_json_scan *scan, struct ids_chrome_member *member,
                                        struct ids_chrome_event *event, int *ret_no_memory) {
    const struct ids_json_span *key = &member->key;
    struct ids_json_span *place = place_of(event, key);
    if (place) return ids_json_value(scan, place);
    if (is(key, "args", 4)) {
        enum ids_json_result result = ids_json_space(scan);
        if (result != IDS_JSON_OK) return result;
        if (*scan->at == '{') return read_args(scan, event, ret_no_memory);
    }
    const struct ids_json_span *value = &member->value;
    enum ids_json_result result = ids_json_value(scan, &member->value);
    if (result != IDS_JSON_OK) return result;
    if (is(key, "ph", 2)) {
        event->phase = value->type == IDS_JSON_STRING && value->length == 1 ? *value->at : '?';
        return IDS_JSON_OK;
    }
    if (is(key, "cat", 3)) event->cat = *value;
    if (is(key, "id", 2) || (is(key, "id2", 3) && event->id.type == IDS_JSON_NONE)) event->id = *value;
    event->member_count++;
    return IDS_JSON_OK;
}

enum ids_json_result ids_chrome_event_read(struct ids_json_scan *scan, struct ids_chrome_event *event,
                                           int *ret_no_memory) {
    const char *start = scan->at;
    struct ids_chrome_member *members = event->members;
    size_t room = event->room;
    *event = (struct ids_chrome_event){.members = members, .room = room};
    *ret_no_memory = 0;
    scan->at++;
    for (int first = 1;;) {
        struct ids_chrome_member *member = next_member(event);
        *ret_no_memory = !member;
        if (!member) return IDS_JSON_BAD;
        enum ids_json_result result = ids_json_member(scan, &first, &member->key);
        if (result == IDS_JSON_END) return IDS_JSON_OK;
        if (result == IDS_JSON_OK) result = read_member(scan, member, event, ret_no_memory);
        if (result == IDS_JSON_OK) continue;
        if (result == IDS_JSON_MORE) scan->at = start;
        return result;
    }
}

void ids_chrome_event_done(struct ids_chrome_event *event) {
    free(event->members);
    *event = (struct ids_chrome_event){0};
}

int ids_chrome_integer(const struct ids_json_span *span, int64_t *ret_value) {
    return (span->type == IDS_JSON_NUMBER || span->type == IDS_JSON_STRING) &&
           ids_decimal_integer(span->at, span->length, ret_value) == 1;
}

int ids_chrome_time(const struct ids_json_span *span, __int128 *ret_ps) {
    return (span->type == IDS_JSON_NUMBER || span->type == IDS_JSON_STRING) &&
           !ids_decimal_scaled(span->at, span->length, PICOSECOND_PLACES, ret_ps);
}

int ids_chrome_scratch_reset(struct ids_chrome_scratch *scratch, size_t length) {
    scratch->used = 0;
    if (length <= scratch->room) return 0;
    char *at = realloc(scratch->at, length + length / 2);
    if (!at) return -1;
    scratch->at = at;
    scratch->room = length + length / 2;
    return 0;
}

struct ids_text ids_chrome_text(struct ids_chrome_scratch *scratch, const struct ids_json_span *span) {
    int nested = span->type == IDS_JSON_OBJECT || span->type == IDS_JSON_ARRAY;
    if (!nested && !span->escaped) return (struct ids_text){span->at, (uint32_t)span->length};
    char *to = scratch->at + scratch->used;
    size_t length = nested ? ids_json_minify(span, to) : ids_json_unescape(span, to);
    scratch->used += length;
    return (struct ids_text){to, (uint32_t)length};
}

void ids_chrome_value(struct ids_chrome_scratch *scratch, const struct ids_json_span *span, struct ids_arg *ret_arg) {
    if (span->type == IDS_JSON_NULL || span->type == IDS_JSON_NONE) {
        ret_arg->type = IDS_VALUE_NONE;
        return;
    }
    if (span->type == IDS_JSON_NUMBER) {
        int integer = ids_decimal_integer(span->at, span->length, &ret_arg->i);
        if (integer) {
            ret_arg->type = integer == 1 ? IDS_VALUE_INT : IDS_VALUE_UINT;
            return;
        }
        if (!ids_decimal_real(span->at, span->length, &ret_arg->d)) {
            ret_arg->type = IDS_VALUE_REAL;
            return;
        }
    }
    struct ids_text text = ids_chrome_text(scratch, span);
    ret_arg->type = IDS_VALUE_CHARS;
    ret_arg->chars = text.at;
    ret_arg->length = text.length;
}
