#include "lib/export/args_json.h"

#include "lib/base/vec.h"
#include "lib/model/keys.h"
#include "lib/wire/json_put.h"

#include <stdlib.h>

void ids_args_json_done(struct ids_args_json *args) {
    ids_arena_done(&args->arena);
    ids_buffer_done(&args->scratch);
    free(args->keys);
    free(args->names);
}

void ids_args_json_put_value(const struct ids_strings *strings, struct ids_buffer *buffer, const struct ids_arg *arg) {
    switch (arg->type) {
    case IDS_VALUE_INT:
        ids_json_put_int(buffer, arg->i);
        break;
    case IDS_VALUE_UINT:
        ids_json_put_uint(buffer, arg->u);
        break;
    case IDS_VALUE_REAL:
        ids_json_put_real(buffer, arg->d);
        break;
    case IDS_VALUE_TEXT: {
        struct ids_text text = ids_strings_text(strings, arg->text);
        ids_json_put_text(buffer, text.at, text.length);
        break;
    }
    case IDS_VALUE_CHARS:
        ids_json_put_text(buffer, arg->chars, arg->length);
        break;
    case IDS_VALUE_BYTES:
        ids_json_put_binary(buffer, arg->chars, arg->length);
        break;
    case IDS_VALUE_REF:
        IDS_BUFFER_PUT(buffer, "\"ref:");
        ids_json_put_uint(buffer, arg->u);
        ids_buffer_byte(buffer, '"');
        break;
    default:
        IDS_BUFFER_PUT(buffer, "null");
    }
}

static int grow_keys(struct ids_args_json *args, uint32_t key) {
    size_t room = args->key_room ? args->key_room : 256;
    while (room <= key) room *= 2;
    struct ids_args_json_key *keys = realloc(args->keys, room * sizeof *keys);
    if (!keys) return -1;
    memset(keys + args->key_room, 0, (room - args->key_room) * sizeof *keys);
    args->keys = keys;
    args->key_room = room;
    return 0;
}

/* The key's place, its text made; NULL when memory ran out. */
static struct ids_args_json_key *key_of(struct ids_args_json *args, uint32_t id) {
    if (id >= args->key_room && grow_keys(args, id)) return NULL;
    struct ids_args_json_key *key = &args->keys[id];
    if (key->text) return key;
    struct ids_text text = ids_strings_text(args->strings, id);
    args->scratch.length = 0;
    ids_json_put_text(&args->scratch, text.at, text.length);
    ids_buffer_byte(&args->scratch, ':');
    if (args->scratch.failed) return NULL;
    key->text = ids_arena_copy(&args->arena, args->scratch.at, args->scratch.length);
    key->length = (uint32_t)args->scratch.length;
    return key->text ? key : NULL;
}

/* --- names ------------------------------------------------------------------------------------------------------ */

static int is_program(const struct ids_arg *arg) {
    return arg->type == IDS_VALUE_BYTES && (arg->key == IDS_KEY_HLO_PROTO || arg->key == IDS_KEY_HLO_PROTO_OLD);
}

static int add_piece(struct ids_args_json *args, struct ids_args_json_piece *piece, const struct ids_arg *arg) {
    const struct ids_args_json_key *key = key_of(args, arg->key);
    if (!key) return -1;
    args->scratch.length = 0;
    ids_buffer_put(&args->scratch, key->text, key->length);
    ids_args_json_put_value(args->strings, &args->scratch, arg);
    if (args->scratch.failed || args->scratch.length > UINT32_MAX) return -1;
    piece->key = arg->key;
    piece->length = (uint32_t)args->scratch.length;
    piece->text = ids_arena_copy(&args->arena, args->scratch.at, args->scratch.length);
    return piece->text ? 0 : -1;
}

/* Of two stats with one key the first is kept. */
static int has_piece(const struct ids_args_json_name *name, uint32_t key) {
    for (uint32_t i = 0; i < name->piece_count; i++) {
        if (name->pieces[i].key == key) return 1;
    }
    return 0;
}

/* More stats than this are no name's. */
enum { NAME_ARGS_MAX = 4096 };

int ids_args_json_add_name(struct ids_args_json *args, const struct ids_name_info *info, struct ids_error *err) {
    struct ids_args_json_name *name = IDS_PUSH(args->names, args->name_count, args->name_room);
    if (!name) return ids_no_memory(err);
    *name = (struct ids_args_json_name){0};
    struct ids_text label = ids_strings_text(args->strings, info->display ? info->display : info->text);
    args->scratch.length = 0;
    ids_json_put_text(&args->scratch, label.at, label.length);
    if (args->scratch.failed) return ids_no_memory(err);
    name->label = ids_arena_copy(&args->arena, args->scratch.at, args->scratch.length);
    name->label_length = (uint32_t)args->scratch.length;
    size_t count = info->arg_count < NAME_ARGS_MAX ? info->arg_count : NAME_ARGS_MAX;
    struct ids_args_json_piece *pieces = ids_arena_alloc(&args->arena, (count + 1) * sizeof *pieces);
    if (!name->label || !pieces) return ids_no_memory(err);
    name->pieces = pieces;
    int long_name = info->display && info->text && info->display != info->text;
    for (size_t i = 0; i < count; i++) {
        const struct ids_arg *arg = &info->args[i];
        if (is_program(arg) || has_piece(name, arg->key)) continue;
        if (arg->key == IDS_KEY_LONG_NAME) long_name = 0;
        if (add_piece(args, &pieces[name->piece_count], arg)) return ids_no_memory(err);
        name->piece_count++;
    }
    if (!long_name) return 0;
    const struct ids_arg arg = {.key = IDS_KEY_LONG_NAME, .type = IDS_VALUE_TEXT, .text = info->text};
    return add_piece(args, &pieces[name->piece_count++], &arg) ? ids_no_memory(err) : 0;
}

/* --- events ----------------------------------------------------------------------------------------------------- */

/* The key for the n-th time: "name #2". */
static void put_again(struct ids_buffer *buffer, const struct ids_args_json_key *key) {
    ids_buffer_put(buffer, key->text, key->length - 2); /* without the quote and the colon */
    IDS_BUFFER_PUT(buffer, " #");
    ids_json_put_uint(buffer, key->times);
    IDS_BUFFER_PUT(buffer, "\":");
}

int ids_args_json_put(struct ids_args_json *args, struct ids_buffer *buffer, const struct ids_slice *slice,
                      uint64_t skip, struct ids_error *err) {
    const struct ids_args_json_name *name = &args->names[slice->name];
    uint32_t serial = ++args->serial;
    int first = 1;
    for (uint32_t i = 0; i < slice->arg_count; i++) {
        const struct ids_arg *arg = &slice->args[i];
        if (i < 64 && skip >> i & 1) continue;
        struct ids_args_json_key *key = key_of(args, arg->key);
        if (!key) return ids_no_memory(err);
        if (key->seen != serial) {
            key->seen = serial;
            key->times = 0;
        }
        if (!first) ids_buffer_byte(buffer, ',');
        first = 0;
        if (++key->times == 1)
            ids_buffer_put(buffer, key->text, key->length);
        else
            put_again(buffer, key);
        ids_args_json_put_value(args->strings, buffer, arg);
    }
    for (uint32_t i = 0; i < name->piece_count; i++) {
        const struct ids_args_json_piece *piece = &name->pieces[i];
        if (args->keys[piece->key].seen == serial) continue;
        if (!first) ids_buffer_byte(buffer, ',');
        first = 0;
        ids_buffer_put(buffer, piece->text, piece->length);
    }
    return 0;
}
