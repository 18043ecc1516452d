/* tracer_options.h - how a profile was recorded, as the stat profile_options of the plane "Task Environment" says. */
#ifndef IDS_LIB_MODEL_TRACER_OPTIONS_H
#define IDS_LIB_MODEL_TRACER_OPTIONS_H

#include <stddef.h>

struct ids_trace;

/* Reads a serialized tensorflow.ProfileOptions into trace->tracer_host, tracer_device and tracer_python, and how
 * long the profile was to last into its last host; proto3 leaves out what is 0. What is not understood changes
 * nothing. */
void ids_tracer_options_read(const void *bytes, size_t length, struct ids_trace *trace);

#endif
