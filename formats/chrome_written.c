#include "formats/chrome_written.h"

#include "lib/base/vec.h"
#include "lib/wire/base64.h"

#include <stdlib.h>
#include <string.h>

struct written {
    struct ids_chrome_places *places;
    struct ids_chrome_scratch scratch;
    int is_ours;
    uint32_t host;
    struct ids_error *err;
    int code;
};

static struct ids_json_scan scan_of(const struct ids_json_span *value) {
    return (struct ids_json_scan){.at = value->at + 1, .end = value->at + value->length, .whole = 1};
}

static int is(const struct ids_json_span *key, const char *name) {
    return ids_text_is((struct ids_text){key->at, (uint32_t)key->length}, name);
}

static uint32_t intern(struct written *written, struct ids_text text) {
    uint32_t id = ids_intern(written->places->sink->strings, text.at, text.length);
    if (id == IDS_NO_TEXT) written->code = ids_no_memory(written->err);
    return id;
}

/* The next member of an object; 0 at its end, and when memory ran out. */
static int next_member(struct written *written, struct ids_json_scan *scan, int *first, struct ids_json_span *ret_key,
                       struct ids_json_span *ret_value) {
    if (written->code) return 0;
    return ids_json_member(scan, first, ret_key) == IDS_JSON_OK && ids_json_value(scan, ret_value) == IDS_JSON_OK;
}

/* The next element of an array; 0 at its end. */
static int next_element(struct written *written, struct ids_json_scan *scan, struct ids_json_span *ret_value) {
    if (written->code || ids_json_space(scan) != IDS_JSON_OK) return 0;
    if (*scan->at == ',') scan->at++;
    return ids_json_space(scan) == IDS_JSON_OK && *scan->at != ']' && ids_json_value(scan, ret_value) == IDS_JSON_OK;
}

/* Bytes stand as "base64:..."; they are kept where texts are, for the window that they lie in moves on. */
static int is_binary(struct written *written, struct ids_arg *arg) {
    static const char mark[] = "base64:";
    enum { MARK = sizeof mark - 1 };
    struct ids_text text = {arg->chars, arg->length};
    if (!ids_text_begins(text, mark)) return 0;
    unsigned char *bytes = malloc(arg->length);
    ptrdiff_t length = bytes ? ids_base64_read(arg->chars + MARK, arg->length - MARK, bytes) : -1;
    if (!bytes) written->code = ids_no_memory(written->err);
    if (length >= 0) {
        uint32_t kept = intern(written, (struct ids_text){(const char *)bytes, (uint32_t)length});
        if (!written->code) text = ids_strings_text(written->places->sink->strings, kept);
        arg->type = IDS_VALUE_BYTES;
        arg->chars = text.at;
        arg->length = text.length;
    }
    free(bytes);
    return length >= 0;
}

static void read_stat(struct written *written, struct ids_chrome_stats *stats, const struct ids_json_span *object) {
    struct ids_json_scan scan = scan_of(object);
    struct ids_json_span key, value;
    int first = 1;
    while (next_member(written, &scan, &first, &key, &value)) {
        struct ids_arg *arg = IDS_PUSH(stats->args, stats->count, stats->room);
        if (!arg) {
            written->code = ids_no_memory(written->err);
            return;
        }
        ids_chrome_value(&written->scratch, &value, arg);
        if (arg->type == IDS_VALUE_CHARS && !is_binary(written, arg)) { /* the window that it lies in moves on */
            arg->text = intern(written, (struct ids_text){arg->chars, arg->length});
            arg->type = IDS_VALUE_TEXT;
            arg->length = 0;
        }
        arg->key = intern(written, ids_chrome_text(&written->scratch, &key));
    }
}

static void read_plane(struct written *written, const struct ids_json_span *object) {
    struct ids_chrome_places *places = written->places;
    struct ids_json_scan scan = scan_of(object);
    struct ids_json_span key, value, element;
    struct ids_chrome_stats stats = {0};
    int first = 1;
    int64_t pid = -1;
    while (next_member(written, &scan, &first, &key, &value)) {
        if (is(&key, "pid") && !ids_chrome_integer(&value, &pid)) pid = -1;
        if (!is(&key, "stats") || value.type != IDS_JSON_ARRAY) continue;
        for (struct ids_json_scan list = scan_of(&value); next_element(written, &list, &element);) {
            if (element.type == IDS_JSON_OBJECT) read_stat(written, &stats, &element);
        }
    }
    struct ids_chrome_stats *added = NULL;
    if (pid >= 0 && !written->code) {
        added = IDS_PUSH(places->stats, places->stats_count, places->stats_room);
        if (!added || ids_keymap_add(&places->stats_of, ids_key_of((uint64_t)pid, 0), places->stats_count) < 0)
            written->code = ids_no_memory(written->err);
    }
    if (added)
        *added = stats;
    else
        free(stats.args);
}

/* Whether idsprof wrote it, and for which host: the members that stand before the planes. */
static void read_head(struct written *written, const struct ids_json_span *key, const struct ids_json_span *value) {
    if (value->type != IDS_JSON_STRING) return;
    struct ids_text text = ids_chrome_text(&written->scratch, value);
    if (is(key, "written_by")) written->is_ours = ids_text_begins(text, "idsprof ");
    if (is(key, "host") && written->is_ours && text.length) written->host = intern(written, text);
}

int ids_chrome_written(struct ids_chrome_places *places, const struct ids_json_span *value, uint32_t *ret_host,
                       struct ids_error *err) {
    struct written written = {.places = places, .err = err};
    struct ids_json_span key, member, element;
    int first = 1;
    *ret_host = 0;
    if (value->type != IDS_JSON_OBJECT) return 0;
    if (ids_chrome_scratch_reset(&written.scratch, value->length)) return ids_no_memory(err);
    struct ids_json_scan scan = scan_of(value);
    while (next_member(&written, &scan, &first, &key, &member)) {
        read_head(&written, &key, &member);
        if (!written.is_ours || !is(&key, "planes") || member.type != IDS_JSON_ARRAY) continue;
        for (struct ids_json_scan list = scan_of(&member); next_element(&written, &list, &element);) {
            if (element.type == IDS_JSON_OBJECT) read_plane(&written, &element);
        }
    }
    free(written.scratch.at);
    places->is_written = (uint8_t)written.is_ours;
    *ret_host = written.host;
    return written.code;
}
