/* part_numbers.h - what a part of a run (builder_part.c) numbered by itself, as the run numbers it.
 *
 * Events are millions, so theirs are changed where they are copied next, not in a pass of its own.
 */
#ifndef IDS_LIB_MODEL_PART_NUMBERS_H
#define IDS_LIB_MODEL_PART_NUMBERS_H

#include "lib/model/trace.h"

#include <stdlib.h>

struct ids_part_numbers {
    uint32_t first_device, first_op; /* the part's own ones; those before them have one number in both */
    uint32_t *devices, *ops, *shapes;
};

static inline void ids_part_numbers_free(struct ids_part_numbers *numbers) {
    if (!numbers) return;
    free(numbers->devices);
    free(numbers->ops);
    free(numbers->shapes);
    free(numbers);
}

static inline uint32_t ids_device_in_whole(const struct ids_part_numbers *numbers, uint32_t device) {
    return device == IDS_NONE || device < numbers->first_device ? device
                                                                : numbers->devices[device - numbers->first_device];
}

static inline uint32_t ids_op_in_whole(const struct ids_part_numbers *numbers, uint32_t op) {
    return op == IDS_NONE || op < numbers->first_op ? op : numbers->ops[op - numbers->first_op];
}

/* An event of a device. */
static inline void ids_event_to_whole(const struct ids_part_numbers *numbers, struct ids_event *event) {
    event->device = ids_device_in_whole(numbers, event->device);
    event->op = ids_op_in_whole(numbers, event->op);
    if (event->shape != IDS_NONE) event->shape = numbers->shapes[event->shape];
}

#endif
