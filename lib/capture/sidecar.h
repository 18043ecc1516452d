/* sidecar.h - idsprof-run.json, the record of a capture: the command, the request, the messages of each process, and
 * the result.
 *
 * It is written when the program starts (state "running") and again when it has ended (state "ended"), each time whole
 * or not at all. idsprof-collectors(7) names its fields. Only its user may read it, and secrets in command lines are
 * masked (secrets.h).
 */
#ifndef IDS_LIB_CAPTURE_SIDECAR_H
#define IDS_LIB_CAPTURE_SIDECAR_H

#include "lib/capture/capture_record.h"
#include "lib/wire/json_writer.h"
#include "lib/wire/sidecar_name.h"

int ids_sidecar_write(const struct ids_capture_record *record, struct ids_error *err);
/* That of a sweep: its parts, one folder for each number of devices. */
int ids_sidecar_write_sweep(const char *folder, char *const *command, time_t started, const int64_t *devices,
                            char *const *parts, size_t count, int ended, struct ids_error *err);
/* That of a capture that has ended and had no program of its own: `put` writes its members. */
int ids_sidecar_write_ended(const char *folder, void (*put)(struct ids_json *json, const void *what), const void *what,
                            struct ids_error *err);
/* Whether the folder holds a sidecar that says the capture has ended. */
int ids_sidecar_is_ended(const char *folder);

#endif
