/* view_events.h - events of a stretch of time out of the database of events, as JSON for timeline_live.js:
 *
 *   {"rows": [{"track": 7, "deeper": 0, "lanes": [{"gap": [...], "time": [...], "what": [...]}]}],
 *    "name": [...], "path": [...], "account": [...]}
 *
 * in picoseconds of the run; lanes and `gap` as in lib/report/html/timeline.h, `what` is an index of the last three.
 * `account` is one of devices, or null of what threads did. {"too_many": N}: more events than are sent at once. */
#ifndef IDS_CMD_VIEW_EVENTS_H
#define IDS_CMD_VIEW_EVENTS_H

#include "lib/events/query.h"

extern const char *const ids_view_event_keys[];
enum { IDS_VIEW_EVENTS_MOST = 50000, IDS_VIEW_TRACKS_MOST = 64, IDS_VIEW_LANES_MOST = 64 };

/* An answer of a file server (lib/view/file_server.h). */
char *ids_view_events(void *query, const char *const *values, size_t *ret_length);

#endif
