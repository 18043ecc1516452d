/* hardware.h - what kind of multiprocessors a GPU has, from what the file says of it, and what of it a kernel fills. */
#ifndef IDS_LIB_MODEL_HARDWARE_H
#define IDS_LIB_MODEL_HARDWARE_H

#include "lib/model/trace.h"

/* Fills in device->multiprocessor from its vendor, model and capability; NULL where these do not tell. */
void ids_hardware_find(const struct ids_trace *trace, struct ids_device *device);

/* How the launch fills such a device: occupancy (unless the file gave one), its limit, and the waves of blocks.
 * `device` may be NULL. */
void ids_hardware_fill(const struct ids_device *device, struct ids_shape *shape);

/* The share of the kernel's time that its last, partial wave of blocks leaves the device idle, were each wave as long;
 * of a grid of less than a wave the share of the multiprocessors that get no block. 0 where that is unknown. */
double ids_tail_share(const struct ids_shape *shape);

#endif
