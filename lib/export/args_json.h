/* args_json.h - the args of events as members of a JSON object, those that all events of a name share behind the
 * event's own.
 *
 * Integers of both kinds and doubles are numbers that read back as the same, texts are strings, a stat without a value
 * is null, bytes are "base64:...", a reference to a text that the file lacks is "ref:<number>". A key that an event has
 * twice gets " #2" (and so on) behind its name; a shared arg whose key the event has too gives way. Programs
 * (hlo_proto) are left out.
 */
#ifndef IDS_LIB_EXPORT_ARGS_JSON_H
#define IDS_LIB_EXPORT_ARGS_JSON_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/model/sink.h"

struct ids_args_json_key {
    const char *text; /* escaped, with quotes and colon; NULL until it is needed */
    uint32_t length;
    uint32_t seen, times; /* the last event that had it, and how often so far */
};

struct ids_args_json_piece {
    uint32_t key, length;
    const char *text; /* "key":value */
};

struct ids_args_json_name {
    const char *label; /* what its events are called: a JSON string, with quotes */
    uint32_t label_length;
    uint32_t piece_count;
    const struct ids_args_json_piece *pieces;
};

struct ids_args_json {
    const struct ids_strings *strings;
    struct ids_arena arena;
    struct ids_args_json_key *keys; /* by text */
    size_t key_room;
    struct ids_args_json_name *names; /* by the order of ids_args_json_add_name */
    size_t name_count, name_room;
    uint32_t serial;
    struct ids_buffer scratch;
};

void ids_args_json_done(struct ids_args_json *args);
/* Keeps what all events of the name have in common; its number is name_count before. Where there is a display name,
 * events are called that, and the name becomes the arg "long_name", unless the stats have one. */
int ids_args_json_add_name(struct ids_args_json *args, const struct ids_name_info *info, struct ids_error *err);
/* Puts "key":value,... without braces. `skip`: bit i leaves out the event's arg i, of the first 64. */
int ids_args_json_put(struct ids_args_json *args, struct ids_buffer *buffer, const struct ids_slice *slice,
                      uint64_t skip, struct ids_error *err);
/* One value. */
void ids_args_json_put_value(const struct ids_strings *strings, struct ids_buffer *buffer, const struct ids_arg *arg);

#endif
