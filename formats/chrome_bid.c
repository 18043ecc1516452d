#include "formats/chrome_bid.h"

#include "lib/base/intern.h"
#include "lib/wire/json_scan.h"

#include <string.h>

static int is_key(const struct ids_json_span *key, const char *text) {
    return ids_text_is((struct ids_text){key->at, (uint32_t)key->length}, text);
}

/* Passes the value in front of the scan. */
static enum ids_json_result pass_value(struct ids_json_scan *scan) {
    struct ids_json_span value;
    return ids_json_value(scan, &value);
}

/* By its keys: writers put any number of members, and of any size, before the list. */
static int object_bid(struct ids_json_scan *scan, int *more) {
    static const char *const telling[] = {"deviceProperties", "schemaVersion", "displayTimeUnit", "distributedInfo",
                                          "systemTraceEvents"};
    struct ids_json_span key;
    int first = 1, bid = 0;
    for (;;) {
        enum ids_json_result result = ids_json_member(scan, &first, &key);
        if (result == IDS_JSON_END) return 0;
        if (result == IDS_JSON_OK && is_key(&key, "traceEvents")) {
            result = ids_json_space(scan);
            if (result == IDS_JSON_MORE || *scan->at == '[') return 90;
        }
        for (size_t i = 0; result == IDS_JSON_OK && i < sizeof telling / sizeof *telling; i++) {
            if (is_key(&key, telling[i])) bid = 60;
        }
        if (result == IDS_JSON_OK) result = pass_value(scan);
        *more = result == IDS_JSON_MORE;
        if (result != IDS_JSON_OK) return bid;
    }
}

/* 1 when the object in front of the scan has a phase, as events have; *ret_members is whether it has any member. */
static int is_event(struct ids_json_scan *scan, int *ret_members, enum ids_json_result *ret_result) {
    struct ids_json_span key;
    int first = 1;
    scan->at++;
    do {
        *ret_result = ids_json_member(scan, &first, &key);
        if (*ret_result == IDS_JSON_OK && is_key(&key, "ph")) return 1;
        if (*ret_result == IDS_JSON_OK) *ret_result = pass_value(scan);
    } while (*ret_result == IDS_JSON_OK);
    *ret_members = !first;
    return 0;
}

/* The bare array, by its first elements. */
static int array_bid(struct ids_json_scan *scan, int *more) {
    enum { ELEMENTS = 64 };
    int others = 0;
    for (int i = 0; i < ELEMENTS; i++) {
        int members = 0;
        enum ids_json_result result = ids_json_space(scan);
        if (result == IDS_JSON_OK && *scan->at == '{') {
            if (is_event(scan, &members, &result)) return 90;
            if (result == IDS_JSON_END) {
                others += members;
                result = IDS_JSON_OK;
            }
        } else if (result == IDS_JSON_OK) {
            result = pass_value(scan);
        }
        if (result == IDS_JSON_OK) result = ids_json_space(scan);
        *more = result == IDS_JSON_MORE && !others;
        if (result != IDS_JSON_OK || *scan->at != ',') return 0;
        scan->at++;
    }
    return 0;
}

int ids_chrome_bid(const uint8_t *head, size_t length, int *more) {
    size_t mark = length >= 3 && !memcmp(head, "\xef\xbb\xbf", 3) ? 3 : 0;
    struct ids_json_scan scan = {.at = (const char *)head + mark, .end = (const char *)head + length};
    *more = ids_json_space(&scan) == IDS_JSON_MORE && length > 0;
    if (scan.at == scan.end || (*scan.at != '{' && *scan.at != '[')) return 0;
    return *scan.at++ == '{' ? object_bid(&scan, more) : array_bid(&scan, more);
}
