/* asked.h - what a part of a run (builder_part.c) met first among its own events: devices, ops and shapes.
 *
 * It gave them numbers of its own. The same is asked of the run's own dimensions when the part is taken over, in the
 * same order, so that there they get the numbers that they would have got if there had been no part.
 */
#ifndef IDS_LIB_MODEL_ASKED_H
#define IDS_LIB_MODEL_ASKED_H

#include "lib/base/error.h"
#include "lib/base/intern.h"

#include <stddef.h>
#include <stdint.h>

enum ids_asked_what { IDS_ASKED_DEVICE, IDS_ASKED_OP, IDS_ASKED_ANNOTATED, IDS_ASKED_SHAPE, IDS_ASKED_KINDS };

struct ids_asked_one {
    enum ids_asked_what what;
    union {
        struct {
            const char *plane;
            int64_t ordinal;
        } device; /* ids_cpu_device */
        struct {
            uint64_t program_id;
            uint32_t module, name; /* texts */
        } op;                      /* ids_op_of */
        struct ids_text annotated; /* ids_op_of_annotation */
        struct {
            uint64_t device_kind;
            uint32_t details, number; /* a text; of the part's shapes */
        } shape;                      /* ids_shape_of */
    };
};

struct ids_asked {
    struct ids_asked_one *at;
    size_t count, room;
};

/* Notes it; `asked` is NULL where nobody asks again. 0, or IDS_NOMEM. */
int ids_asked_note(struct ids_asked *asked, const struct ids_asked_one *one, struct ids_error *err);
/* For what depends on all that was read before: 0, or a failure in a part, which is read again in order then. */
int ids_asked_in_order(const struct ids_asked *asked, struct ids_error *err);
#endif
