/* format_names.h - what formats and their files are called, all of it from the registry of formats. */
#ifndef IDS_LIB_RUN_FORMAT_NAMES_H
#define IDS_LIB_RUN_FORMAT_NAMES_H

#include "lib/model/format.h"

#include <stddef.h>

/* The format to which the file's ending belongs; with `or_generic` also one that others use too. NULL: none. */
const struct ids_format *ids_format_named(const char *path, int or_generic);
/* The length of a file's name without what formats end their names with: "host" of "host.xplane.pb.gz". */
size_t ids_length_without_format(const char *name, size_t length);
/* "host" of "runs/host.xplane.pb"; "profile" for standard input. Longer than `room` it is cut. */
enum { IDS_STEM_BYTES = 512 };
void ids_profile_stem(const char *path, char *buffer, size_t room);
/* The same of a file that lies beside those of a run: without the ending that says so. Returns 0 where it has none. */
int ids_beside_stem(const char *path, char *buffer, size_t room);
/* Whether the word stands between the dots of an ending of some format or archive ("pb", "tgz"), in letters of either
 * case. */
int ids_is_ending_word(const char *word, size_t length);
/* `lacks` of the format with this title (the report's property `format`); NULL: nothing, or no such format. */
const char *ids_format_lacks(const char *title);
/* "an XSpace profile, *.xplane.pb, or ...": what idsprof reads. */
void ids_formats_expected(char *buffer, size_t room);

#endif
