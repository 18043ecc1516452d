/* counters.h - what a file sampled over time: SM active, DRAM and NVLink share, clocks, power, throttling. Samples are
 * events of a line "_counters_" of an XSpace (XLA's sampling of CUDA's and ROCm's performance monitors, a TPU's P
 * state), and counters of a Chrome trace. Each numeric stat of such an event is the value of one series.
 *
 * Kineto's profiler of CUPTI's counters writes a slice of the category cuda_profiler_range for each kernel, whose args
 * are what was counted while it ran. It knows no times: the window is divided evenly among the ranges. So they are
 * values of counters, by the name of the kernel, and no activity.
 */
#ifndef IDS_LIB_MODEL_COUNTERS_H
#define IDS_LIB_MODEL_COUNTERS_H

#include "lib/model/trace.h"

/* Whether a line of that name holds samples. */
int ids_is_counter_line(struct ids_text line);

/* Whether it holds ranges of a counter profiler: a layer of a device's timeline (formats/chrome_places.h). */
int ids_is_range_line(struct ids_text line);

/* Whether any timeline does. */
int ids_has_ranges(const struct ids_trace *trace);

struct ids_counter_map {
    struct ids_keymap places; /* (track, name, stat) -> index of trace->counters + 1 */
    uint32_t *order;          /* of the samples that are kept: of which counter they are, as they came */
    size_t order_count, order_room;
};

void ids_counter_map_done(struct ids_counter_map *map);

/* Adds the values of one event, which lies on the track at that moment. 0, or -1 when memory ran out. */
int ids_counters_add(struct ids_counter_map *map, struct ids_trace *trace, uint32_t track, int64_t at_ps,
                     const struct ids_slice *slice);

/* Adds what another trace has of them, whose numbers are those of this one already; its samples are taken. 0, or -1
 * when memory ran out. */
int ids_counters_take(struct ids_counter_map *map, struct ids_trace *trace, const struct ids_counter_map *from_map,
                      struct ids_trace *from);

/* Puts the samples of each counter in order of time. */
void ids_counters_order(struct ids_trace *trace);

/* "name", or "name: series" where an event has several; in `room`. */
const char *ids_counter_name(const struct ids_trace *trace, const struct ids_counter *counter, char *room, size_t size);

#endif
