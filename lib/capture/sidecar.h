/* sidecar.h - idsprof-run.json, the record of a capture: the command, the request, the messages of each process, and
 * the result.
 *
 * It is written atomically when the program starts (state "running") and again after it ended (state "ended").
 * idsprof-collectors(7) describes its fields. Only its user may read it, and secrets in command lines are masked
 * (secrets.h).
 */
#ifndef IDS_LIB_CAPTURE_SIDECAR_H
#define IDS_LIB_CAPTURE_SIDECAR_H

#include "lib/capture/capture_record.h"
#include "lib/wire/json_writer.h"
#include "lib/wire/sidecar_name.h"

int ids_sidecar_write(const struct ids_capture_record *record, struct ids_error *err);
/* The sidecar of a sweep: its parts, one folder per number of devices. */
int ids_sidecar_write_sweep(const char *folder, char *const *command, time_t started, const int64_t *devices,
                            char *const *parts, size_t count, int ended, struct ids_error *err);
/* The sidecar of an ended capture without a program of its own: `put` writes its members. */
int ids_sidecar_write_ended(const char *folder, void (*put)(struct ids_json *json, const void *what), const void *what,
                            struct ids_error *err);

#endif
