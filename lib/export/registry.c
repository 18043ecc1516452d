/* registry.c - the list of export formats, out of exports.def. */
#include "lib/export/export.h"

#include <string.h>

#define IDS_EXPORT(name) extern const struct ids_export_format ids_##name##_export;
#include "lib/export/exports.def"
#undef IDS_EXPORT

const struct ids_export_format *const ids_export_formats[] = {
#define IDS_EXPORT(name) &ids_##name##_export,
#include "lib/export/exports.def"
#undef IDS_EXPORT
};
const int ids_export_format_count = (int)(sizeof ids_export_formats / sizeof *ids_export_formats);

const struct ids_export_format *ids_export_format_find(const char *name) {
    for (int i = 0; i < ids_export_format_count; i++) {
        if (!strcmp(ids_export_formats[i]->name, name)) return ids_export_formats[i];
    }
    return NULL;
}
