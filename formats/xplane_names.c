/* xplane_names.c - the tables of a plane that its events and stats refer to, and its own stats. */
#include "formats/hlo.h"
#include "formats/xplane_parts.h"
#include "lib/base/vec.h"
#include "lib/fields/xspace.h"
#include "lib/model/keys.h"

#include <inttypes.h>
#include <stdio.h>

/* A map entry: its bytes, its key, and its value's bytes (empty when absent). 1; 0 where the file does not hold the
 * entry; or a code. */
static int read_entry(struct ids_xplane_reader *reader, struct ids_span_bytes span, const uint8_t **ret_bytes,
                      uint64_t *ret_key, struct ids_pb *ret_value, struct ids_error *err) {
    *ret_key = 0;
    *ret_value = (struct ids_pb){NULL, NULL};
    int code = ids_pb_file_bytes(&reader->file, span, ret_bytes, err);
    const uint8_t *bytes = *ret_bytes;
    if (code || !bytes) return code;
    struct ids_pb pb = {bytes, bytes + span.length};
    struct ids_pb_field field;
    int more;
    *ret_value = (struct ids_pb){bytes, bytes};
    while ((more = ids_pb_next(&pb, &field)) > 0) {
        if (field.number == ENTRY_KEY && field.wire == IDS_PB_VARINT) *ret_key = field.value;
        if (field.number == ENTRY_VALUE && field.wire == IDS_PB_BYTES) *ret_value = ids_pb_inside(&field);
    }
    return more < 0 ? ids_xplane_corrupt(err, span.at, "malformed metadata entry") : 1;
}

static int ids_xplane_read_stat_metadata(struct ids_xplane_reader *reader, struct ids_span_bytes span,
                                         struct ids_error *err) {
    const uint8_t *bytes = NULL;
    uint64_t key;
    struct ids_pb value;
    int code = read_entry(reader, span, &bytes, &key, &value, err);
    if (code <= 0) return code;
    struct ids_pb_field field;
    int more;
    uint32_t text = 0;
    while ((more = ids_pb_next(&value, &field)) > 0) {
        if (field.number != META_NAME || field.wire != IDS_PB_BYTES) continue;
        text = ids_intern(reader->sink->strings, (const char *)field.bytes, (size_t)field.value);
        if (text == IDS_NO_TEXT) return ids_no_memory(err);
    }
    if (text == IDS_KEY_FORM) reader->has_forms = true;
    if (more < 0) return ids_xplane_corrupt(err, span.at, "malformed stat metadata");
    return ids_idmap_set(&reader->stat_texts, key, text) ? ids_no_memory(err) : 0;
}

/* The program's id: the number in "jit_f(123)", by which events name it, or else the metadata's key. */
static uint64_t program_of(struct ids_text name, uint64_t key) {
    if (name.length < 3 || name.at[name.length - 1] != ')') return key;
    uint64_t id = 0, scale = 1;
    size_t at = name.length - 1;
    while (at > 0 && name.at[at - 1] >= '0' && name.at[at - 1] <= '9') {
        id += (uint64_t)(name.at[--at] - '0') * scale;
        scale *= 10;
    }
    return at > 0 && at < name.length - 1u && name.at[at - 1] == '(' ? id : key;
}

/* Notes the graph of a name for later. `bytes`: of the name, which begins at `offset` of the file. */
static int read_hlo(struct ids_xplane_reader *reader, const struct ids_name_info *name, uint64_t key, uint64_t offset,
                    const uint8_t *bytes, struct ids_error *err) {
    for (size_t i = 0; i < name->arg_count; i++) {
        const struct ids_arg *arg = &name->args[i];
        if (arg->type != IDS_VALUE_BYTES || (arg->key != IDS_KEY_HLO_PROTO && arg->key != IDS_KEY_HLO_PROTO_OLD))
            continue;
        const struct ids_sink_ops *ops = reader->sink->ops;
        uint64_t program_id = program_of(ids_strings_text(reader->sink->strings, name->text), key);
        const struct ids_program program = {name->text, program_id, arg->chars, arg->length};
        int code = ops->program ? ops->program(reader->sink, &program, err) : 0;
        if (code) return code;
        if (!ops->hlo) continue;
        const struct ids_xplane_program later = {
            .graph = {offset + (uint64_t)((const uint8_t *)arg->chars - bytes), arg->length},
            .id = program_id,
            .name_at = offset,
        };
        code = ids_xplane_programs_add(reader, &later, err);
        if (code) return code;
    }
    return 0;
}

int ids_xplane_read_event_metadata(struct ids_xplane_reader *reader, struct ids_span_bytes span,
                                   struct ids_error *err) {
    const uint8_t *bytes = NULL;
    uint64_t key;
    struct ids_pb value;
    int code = read_entry(reader, span, &bytes, &key, &value, err);
    if (code <= 0) return code;
    struct ids_name_info name = {.plane = reader->plane_id, .id = (int64_t)key};
    reader->arg_count = 0;
    struct ids_pb_field field;
    int more;
    while ((more = ids_pb_next(&value, &field)) > 0) {
        if (field.wire != IDS_PB_BYTES) continue;
        if (field.number == META_STATS) {
            code = ids_xplane_read_stat(reader, ids_pb_inside(&field), span.at, err);
            if (code) return code;
        } else if (field.number == META_NAME || field.number == META_DISPLAY_NAME) {
            uint32_t text = ids_intern(reader->sink->strings, (const char *)field.bytes, (size_t)field.value);
            if (text == IDS_NO_TEXT) return ids_no_memory(err);
            *(field.number == META_NAME ? &name.text : &name.display) = text;
        }
    }
    if (more < 0) return ids_xplane_corrupt(err, span.at, "malformed event metadata");
    name.args = reader->args;
    name.arg_count = reader->arg_count;
    uint32_t id;
    code = reader->sink->ops->name(reader->sink, &name, &id, err);
    if (code) return code;
    if (ids_idmap_set(&reader->event_names, key, id)) return ids_no_memory(err);
    return read_hlo(reader, &name, key, span.at, bytes, err);
}

/* Reads the stat metadata and the plane's stats: into reader->stat_texts and reader->args. */
int ids_xplane_read_plane_stats(struct ids_xplane_reader *reader, const struct ids_xplane_plane *plane,
                                struct ids_error *err) {
    ids_idmap_done(&reader->stat_texts);
    reader->has_forms = false;
    for (size_t i = 0; i < plane->stat_metadata.count; i++) {
        int code = ids_xplane_read_stat_metadata(reader, plane->stat_metadata.at[i], err);
        if (code) return code;
    }
    for (size_t id = 0; id < IDS_XPLANE_IDS_OF_A_BYTE; id++)
        reader->near_stat_texts[id] = id < 0x80 ? ids_idmap_get(&reader->stat_texts, id) : IDS_IDMAP_NONE;
    reader->arg_count = 0;
    for (size_t i = 0; i < plane->stats.count; i++) {
        const uint8_t *bytes;
        struct ids_span_bytes span = plane->stats.at[i];
        int code = ids_pb_file_bytes(&reader->file, span, &bytes, err);
        if (code) return code;
        if (!bytes) continue;
        code = ids_xplane_read_stat(reader, (struct ids_pb){bytes, bytes + span.length}, span.at, err);
        if (code) return code;
        /* Later windows move the bytes away: texts of plane stats are few, so they are interned. */
        struct ids_arg *arg = &reader->args[reader->arg_count - 1];
        if (arg->type != IDS_VALUE_CHARS && arg->type != IDS_VALUE_BYTES) continue;
        uint32_t text = ids_intern(reader->sink->strings, arg->chars, arg->length);
        if (text == IDS_NO_TEXT) return ids_no_memory(err);
        arg->chars = ids_strings_z(reader->sink->strings, text);
    }
    return 0;
}
