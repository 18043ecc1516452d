/* alike_names.h - names that differ in numbers only (layer_3/attn, layer_4/attn), and what several names have in
 * common. A number that belongs to a word, as in conv2d, counts as a part of it.
 */
#ifndef IDS_LIB_REPORT_ALIKE_NAMES_H
#define IDS_LIB_REPORT_ALIKE_NAMES_H

#include "lib/report/report.h"

/* The same for texts that differ in numbers only. */
uint64_t ids_hash_without_numbers(const char *text);
/* "train_step/layer_*\/attn": a * for each number. NULL when memory ran out, which the report then says. */
const char *ids_without_numbers(struct ids_report *report, const char *text);

/* What things that are put into one row are called, and where they are. Texts are the caller's and outlive it; {0} at
 * first. */
struct ids_alike_names {
    const char *name, *place; /* of the first one */
    size_t count;
    size_t same_name;                     /* bytes with which all names begin */
    uint8_t places_differ, places_unlike; /* unlike: in more than numbers */
};

void ids_alike_add(struct ids_alike_names *alike, const char *name, const char *place);
/* "fusion.*" of fusion.12 and fusion.17, else the one name. */
const char *ids_alike_name(struct ids_report *report, const struct ids_alike_names *alike);
/* The places without their numbers; the first one where they differ in more. NULL when memory ran out. */
const char *ids_alike_place(struct ids_report *report, const struct ids_alike_names *alike);
/* Places that differ in more are in one scope, "train_step/layer_*": with what two of them begin, whole parts of a path
 * without their numbers. NULL: with nothing, or memory ran out. */
const char *ids_common_scope(struct ids_report *report, const char *one, const char *other);

#endif
