#include "lib/report/value_json.h"

#include <string.h>

enum { PS_PLACES = 12 };

void ids_value_json(struct ids_json *json, struct ids_value value) {
    if (value.missing) {
        ids_json_null(json);
        return;
    }
    switch ((enum ids_unit)value.unit) {
    case IDS_UNIT_NONE:
        ids_json_text(json, value.text);
        break;
    case IDS_UNIT_TIME:
        ids_json_decimal(json, value.i, PS_PLACES);
        break;
    case IDS_UNIT_COUNT:
    case IDS_UNIT_BYTES:
        ids_json_int(json, value.i);
        break;
    case IDS_UNIT_RATIO:
    case IDS_UNIT_RATE:
    case IDS_UNIT_NUMBER:
    case IDS_UNIT_FLOPS:
        ids_json_real(json, value.d);
        break;
    case IDS_UNIT_TRUTH:
        ids_json_bool(json, value.i != 0);
        break;
    }
}

static int is_part_of(const char *id, const char *whole) {
    size_t length = strlen(whole);
    return !strncmp(id, whole, length) && id[length] == '.';
}

static int has_parts(const struct ids_report *report, const char *id) {
    for (size_t i = 0; i < report->property_count; i++) {
        if (is_part_of(report->properties[i].id, id)) return 1;
    }
    return 0;
}

int ids_property_is_part(const struct ids_report *report, const char *id) {
    for (size_t i = 0; i < report->property_count; i++) {
        if (is_part_of(id, report->properties[i].id)) return 1;
    }
    return 0;
}

void ids_property_json(struct ids_json *json, const struct ids_report *report, const char *id) {
    const struct ids_value *value = ids_report_find_property(report, id);
    const struct ids_value whole = value ? *value : ids_no_value(IDS_UNIT_NONE);
    ids_json_key(json, id);
    if (!has_parts(report, id)) {
        ids_value_json(json, whole);
        return;
    }
    ids_json_object(json, IDS_JSON_INLINE);
    ids_json_key(json, "text");
    ids_value_json(json, whole);
    for (size_t i = 0; i < report->property_count; i++) {
        if (!is_part_of(report->properties[i].id, id)) continue;
        ids_json_key(json, report->properties[i].id + strlen(id) + 1);
        ids_value_json(json, report->properties[i].value);
    }
    ids_json_end(json);
}
