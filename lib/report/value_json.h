/* value_json.h - values and properties as JSON, in every output that has some. */
#ifndef IDS_LIB_REPORT_VALUE_JSON_H
#define IDS_LIB_REPORT_VALUE_JSON_H

#include "lib/report/report.h"
#include "lib/wire/json_writer.h"

/* SI units; null where there is none. */
void ids_value_json(struct ids_json *json, struct ids_value value);

/* Whether a property is a part of another one, as "devices.count" is of "devices". */
int ids_property_is_part(const struct ids_report *report, const char *id);
/* Key and value; null where there is none. "devices", and "devices.count" and the like, are one object, with the
 * sentence for people as its text. */
void ids_property_json(struct ids_json *json, const struct ids_report *report, const char *id);

#endif
