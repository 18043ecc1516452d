/* sidecar_name.h - the file in a folder that says it is a capture: its record (lib/capture/sidecar.h), beside
 * plugins/profile with its runs. */
#ifndef IDS_LIB_WIRE_SIDECAR_NAME_H
#define IDS_LIB_WIRE_SIDECAR_NAME_H

#define IDS_SIDECAR "idsprof-run.json"

#endif
