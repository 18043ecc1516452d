/* matrix_units.h - whether a GPU kernel computes on the matrix units of its device (NVIDIA's Tensor Cores, AMD's MFMA),
 * by what libraries call their kernels. No file records it, and most names do not tell.
 */
#ifndef IDS_LIB_MODEL_MATRIX_UNITS_H
#define IDS_LIB_MODEL_MATRIX_UNITS_H

#include "lib/model/trace.h"

enum ids_matrix_use {
    IDS_MATRIX_UNKNOWN,
    IDS_MATRIX_USED,   /* the name has an instruction of them, or belongs to a library that always uses them */
    IDS_MATRIX_UNUSED, /* the name says that a matrix product or convolution runs on the ordinary units */
    IDS_MATRIX_MISSED, /* of events: unused, though the device has units for that type */
};

/* By the name alone: UNKNOWN, USED or UNUSED. */
enum ids_matrix_use ids_matrix_use_of_name(struct ids_text kernel);

/* The same of a kernel that ran: an unused one is MISSED where its device has units for what it multiplies. */
enum ids_matrix_use ids_matrix_use(const struct ids_trace *trace, const struct ids_event *event);

const char *ids_matrix_use_name(enum ids_matrix_use use); /* "used", "not used", "missed"; NULL unknown */

#endif
