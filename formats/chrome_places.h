/* chrome_places.h - the processes and threads of a Chrome trace: what metadata, wherever in the file it stands, says of
 * them, and the planes and tracks of the sink that they become when their first event comes. */
#ifndef IDS_FORMATS_CHROME_PLACES_H
#define IDS_FORMATS_CHROME_PLACES_H

#include "formats/chrome_event.h"

#include "lib/base/idmap.h"
#include "lib/base/keymap.h"

struct ids_chrome_process {
    uint64_t key;
    int64_t number; /* the pid where it is one */
    uint32_t text;  /* the pid as a text */
    uint32_t name, labels;
    int64_t sort_index;
    uint32_t plane;         /* the sink's, once `opened` */
    struct ids_idmap names; /* text -> the sink's name */
    uint8_t is_number, has_sort_index;
    uint8_t works, ranges, strange, unknown; /* it has a device's work, a counter profiler's ranges, slices of unknown
                                              * categories, and such with a stream (strange) */
    uint8_t gpu;                             /* Kineto's device: its name is its process's and says nothing */
    uint32_t maker;                          /* what kind of device it is, "MTIA"; 0: a GPU */
    uint8_t opened;
};

struct ids_chrome_thread {
    uint32_t process, name;
    int64_t id;
    uint8_t is_named; /* by metadata */
    uint32_t lane_of; /* index + 1 of the thread whose overlapping events lie here; 0: it stands for itself */
    uint32_t track;   /* the sink's, once `opened` */
    uint8_t opened;
    uint8_t is_accounts; /* of a device, written by idsprof: nothing of the run */
    uint8_t is_thread;   /* and not what lies over one, or a timeline of the process */
    int64_t last_ps;     /* the last time of any of its events */
};

/* One of Kineto's deviceProperties. */
struct ids_chrome_device {
    int64_t id;
    uint32_t name, vendor; /* the vendor of one without a name, where it shows; 0 */
    int64_t memory_bytes, cores, capability_major, capability_minor; /* -1 unknown */
};

/* What a plane that idsprof wrote had beside its events. */
struct ids_chrome_stats {
    struct ids_arg *args;
    size_t count, room;
};

struct ids_chrome_places {
    struct ids_sink *sink;
    struct ids_chrome_process *processes;
    size_t process_count, process_room;
    struct ids_chrome_thread *threads;
    size_t thread_count, thread_room;
    struct ids_keymap process_map, thread_map; /* key -> index */
    struct ids_chrome_device *devices;
    size_t device_count, device_room;
    struct ids_keymap device_map; /* id -> index */
    struct ids_chrome_stats *stats;
    size_t stats_count, stats_room;
    struct ids_keymap stats_of; /* pid -> index + 1 */
    uint8_t
        is_written; /* the file is one that idsprof wrote: its processes and threads are planes and tracks already */
};

void ids_chrome_places_done(struct ids_chrome_places *places);

/* The process of a pid, the thread of a tid in it; made when they are met first. The texts of the event they come from
 * are taken through `scratch`. A layer is a timeline beside the thread's own: 0 for that, else an interned text for
 * its name. */
int ids_chrome_process_of(struct ids_chrome_places *places, struct ids_chrome_scratch *scratch,
                          const struct ids_json_span *pid, uint32_t *ret_process, struct ids_error *err);
int ids_chrome_thread_of(struct ids_chrome_places *places, struct ids_chrome_scratch *scratch, uint32_t process,
                         const struct ids_json_span *tid, uint32_t layer, uint32_t *ret_thread, struct ids_error *err);
/* A timeline of a process that is no thread: its counters, its async events of a category. `name` is interned. */
int ids_chrome_timeline_of(struct ids_chrome_places *places, uint32_t process, uint32_t name, uint32_t *ret_thread,
                           struct ids_error *err);

/* A metadata event (phase M); *ret_known is 0 for one that means nothing here. */
int ids_chrome_metadata(struct ids_chrome_places *places, struct ids_chrome_scratch *scratch,
                        const struct ids_chrome_event *event, int *ret_known, struct ids_error *err);

/* Says which processes are devices, once all metadata and all that tells was met. */
int ids_chrome_find_devices(struct ids_chrome_places *places, struct ids_error *err);

/* Gives the thread's plane and track to the sink unless it has them. */
int ids_chrome_open(struct ids_chrome_places *places, uint32_t thread, struct ids_error *err);
/* Gives the sink all that metadata name, without an event too, where idsprof wrote the file. */
int ids_chrome_open_written(struct ids_chrome_places *places, struct ids_error *err);
/* The sink's name for an event of that process; its plane is open. */
int ids_chrome_name(struct ids_chrome_places *places, uint32_t process, struct ids_text text, uint32_t *ret_name,
                    struct ids_error *err);

#endif
