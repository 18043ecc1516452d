/* xspace.h - field numbers of the profiles that XLA, JAX and TensorFlow write: tensorflow.profiler.XSpace and the
 * messages inside it.
 *
 * Source: tsl/profiler/protobuf/xplane.proto (the message is named above its numbers). The reader, the exporter and the
 * collectors take them from here. Only fields that one of them uses have a name. */
#ifndef IDS_LIB_FIELDS_XSPACE_H
#define IDS_LIB_FIELDS_XSPACE_H

/* XSpace; between errors and host names are warnings */
enum { SPACE_PLANES = 1, SPACE_ERRORS = 2, SPACE_HOSTNAMES = 4 };

/* XPlane */
enum {
    PLANE_ID = 1,
    PLANE_NAME = 2,
    PLANE_LINES = 3,
    PLANE_EVENT_METADATA = 4, /* a map, as the next */
    PLANE_STAT_METADATA = 5,
    PLANE_STATS = 6,
};

/* XLine */
enum { LINE_ID = 1, LINE_NAME = 2, LINE_TIMESTAMP_NS = 3, LINE_EVENTS = 4 };

/* XEvent: an offset or a number of occurrences, the last of both counts */
enum { EVENT_METADATA_ID = 1, EVENT_OFFSET_PS = 2, EVENT_DURATION_PS = 3, EVENT_STATS = 4, EVENT_OCCURRENCES = 5 };

/* XStat: a metadata id and one value */
enum {
    STAT_METADATA_ID = 1,
    STAT_DOUBLE = 2,
    STAT_UINT = 3,
    STAT_INT = 4,
    STAT_STR = 5,
    STAT_BYTES = 6,
    STAT_REF = 7, /* the text is the name of a stat metadata */
};

/* XEventMetadata; the first two are XStatMetadata's too */
enum { META_ID = 1, META_NAME = 2, META_DISPLAY_NAME = 4, META_STATS = 5 };

/* An entry of a map, which protobuf writes as a message. */
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2 };

#endif
