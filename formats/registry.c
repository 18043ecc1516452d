/* registry.c - the list of formats, out of formats.def. */
#include "lib/model/format.h"

#define IDS_FORMAT(name) extern const struct ids_format ids_##name##_format;
#include "formats/formats.def"
#undef IDS_FORMAT

const struct ids_format *const ids_formats[] = {
#define IDS_FORMAT(name) &ids_##name##_format,
#include "formats/formats.def"
#undef IDS_FORMAT
};
const int ids_format_count = sizeof ids_formats / sizeof *ids_formats;
