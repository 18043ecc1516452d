/* Where a stat goes. Most values repeat: a set of stats is stored once, and events name it. Numbers that say what
 * belongs together (run_id, _p, _c, correlation_id) are columns. A stat that has another value in nearly every event
 * would make each set a new one; it leaves the sets as soon as that shows, and becomes a row of its event. */
#include "lib/events/event_parts.h"

#include "lib/base/vec.h"
#include "lib/model/keys.h"
#include "lib/store/db.h"
#include "lib/wire/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NEAR_KEYS = 4096,      /* keys with a number below are looked up in an array */
    WINDOW = 4096,         /* sets between two looks at whether they repeat */
    SEEN = 1024,           /* values of a stat that are remembered, to tell new ones */
    WATCHED = 512,         /* stats that may be in sets: 8 KiB each; others are extra at once */
    SETS_BYTES = 48 << 20, /* of sets that are remembered; then all are forgotten, and some are written twice */
    SETS_MOST = 1 << 20,
};

struct stat {
    uint32_t key;
    uint8_t type, extra, column; /* column: enum ids_link_stat + 1, 0 none */
    uint8_t is_used;             /* by an event */
    uint32_t uses, fresh;        /* by sets that were new in this window */
    uint64_t *seen;              /* SEEN hashes of values */
};

/* Where the set is that the last event of a name had: most events of a name have the same one. */
struct hint {
    size_t at;
    uint32_t bytes, id; /* id 0: none */
};

struct set {
    uint64_t hash;
    size_t at;
    uint32_t bytes, id; /* id 0: free */
};

struct ids_event_stats {
    sqlite3 *db;
    const struct ids_strings *strings;
    struct ids_row_numbers *numbers;
    struct ids_spill *spill;
    int64_t first_stat, first_set;
    sqlite3_stmt *insert_set, *insert_extra;
    struct stat *stats;
    size_t stat_count, stat_room;
    uint32_t near[NEAR_KEYS][8]; /* index + 1 in `stats`, by key and type */
    struct ids_keymap far;
    uint32_t column_stat[IDS_LINK_STATS]; /* index + 1 of the stat that is this column; 0 not known yet */
    struct ids_buffer packed, extra; /* of the event at hand: struct ids_arg and bytes, key replaced by stat index */
    struct set *sets;
    size_t set_count, set_room; /* room is a power of 2 */
    struct ids_buffer set_bytes;
    struct hint *hints; /* by name */
    size_t hint_count;
    uint32_t last_set;
    uint32_t window_sets, window_fresh;
    int was_fresh; /* the window before was too */
};

/* ---- values ---- */

static int is_utf8(const char *text, size_t length) {
    size_t at = 0;
    for (; at + 8 <= length; at += 8) { /* ASCII without zero bytes, which nearly all is, eight at a time */
        uint64_t word;
        memcpy(&word, text + at, 8);
        if (((word | (word - 0x0101010101010101u)) & 0x8080808080808080u) != 0) break;
    }
    while (at < length) {
        uint32_t character;
        int valid;
        at += ids_utf8_next(text + at, length - at, &character, &valid);
        if (!valid || !character) return 0;
    }
    return 1;
}

int ids_bind_text(sqlite3_stmt *statement, int column, const char *text, size_t length) {
    if (is_utf8(text, length)) return sqlite3_bind_text64(statement, column, text, length, SQLITE_STATIC, SQLITE_UTF8);
    return sqlite3_bind_blob64(statement, column, text, length, SQLITE_STATIC);
}

static int bind_value(const struct ids_event_stats *stats, sqlite3_stmt *statement, int column,
                      const struct ids_arg *arg, const char *chars) {
    struct ids_text text;
    switch (arg->type) {
    case IDS_VALUE_INT:
    case IDS_VALUE_UINT:
    case IDS_VALUE_REF:
        return sqlite3_bind_int64(statement, column, arg->i);
    case IDS_VALUE_REAL:
        if (isnan(arg->d)) return sqlite3_bind_blob(statement, column, &arg->d, sizeof arg->d, SQLITE_TRANSIENT);
        return sqlite3_bind_double(statement, column, arg->d);
    case IDS_VALUE_TEXT:
        text = ids_strings_text(stats->strings, arg->text);
        return ids_bind_text(statement, column, text.at, text.length);
    case IDS_VALUE_CHARS:
        return ids_bind_text(statement, column, chars, arg->length);
    case IDS_VALUE_BYTES:
        if (!arg->length) return sqlite3_bind_zeroblob(statement, column, 0);
        return sqlite3_bind_blob64(statement, column, chars, arg->length, SQLITE_STATIC);
    default:
        return sqlite3_bind_null(statement, column);
    }
}

static int is_outside(const struct ids_arg *arg) {
    return arg->type == IDS_VALUE_CHARS || arg->type == IDS_VALUE_BYTES;
}

static int put_row(struct ids_event_stats *stats, sqlite3_stmt *statement, int64_t owner, int64_t ordinal, int64_t stat,
                   const struct ids_arg *arg, const char *chars, struct ids_error *err) {
    if (is_outside(arg) && arg->length > 900000000)
        return ids_fail(err, IDS_LIMIT, "a stat of %u bytes: SQLite takes 900 MB", arg->length);
    sqlite3_bind_int64(statement, 1, owner);
    sqlite3_bind_int64(statement, 2, ordinal);
    sqlite3_bind_int64(statement, 3, stat);
    if (bind_value(stats, statement, 4, arg, chars) != SQLITE_OK) return ids_db_fail(stats->db, err);
    sqlite3_step(statement);
    return sqlite3_reset(statement) == SQLITE_OK ? 0 : ids_db_fail(stats->db, err);
}

/* ---- which stat ---- */

/* Text is text, whether it was interned or not. */
static uint8_t plain_type(const struct ids_arg *arg) {
    return arg->type == IDS_VALUE_CHARS ? (uint8_t)IDS_VALUE_TEXT : arg->type;
}

/* A column is of the first stat that has a number for it; others of the same key stay stats. */
static void choose_column(struct ids_event_stats *stats, uint32_t number) {
    struct stat *stat = &stats->stats[number - 1];
    int column = ids_link_stat_of(stat->key);
    if (column < 0 || (stat->type != IDS_VALUE_INT && stat->type != IDS_VALUE_UINT)) return;
    if (stats->column_stat[column]) return;
    stats->column_stat[column] = number;
    stat->column = (uint8_t)(column + 1);
}

static struct stat *add_stat(struct ids_event_stats *stats, uint32_t key, uint8_t type) {
    if (stats->stat_count >= UINT32_MAX - 1) return NULL;
    struct stat *stat = IDS_PUSH(stats->stats, stats->stat_count, stats->stat_room);
    if (!stat) return NULL;
    *stat = (struct stat){.key = key, .type = type, .extra = stats->stat_count > WATCHED};
    stats->numbers->stat++;
    return stat;
}

/* Index + 1 of the stat, 0 when memory ran out. */
static uint32_t stat_of(struct ids_event_stats *stats, const struct ids_arg *arg) {
    uint8_t type = plain_type(arg);
    if (arg->key < NEAR_KEYS) {
        uint32_t *place = &stats->near[arg->key][type & 7];
        if (!*place && add_stat(stats, arg->key, type)) *place = (uint32_t)stats->stat_count;
        return *place;
    }
    uint64_t *place = ids_keymap_at(&stats->far, (uint64_t)arg->key << 3 | type);
    if (!place) return 0;
    if (!*place && add_stat(stats, arg->key, type)) *place = stats->stat_count;
    return (uint32_t)*place;
}

/* ---- sets ---- */

static void forget_sets(struct ids_event_stats *stats) {
    memset(stats->sets, 0, stats->set_room * sizeof *stats->sets);
    if (stats->hints) memset(stats->hints, 0, stats->hint_count * sizeof *stats->hints);
    stats->set_count = 0;
    stats->set_bytes.length = 0;
}

static int grow_sets(struct ids_event_stats *stats) {
    size_t room = stats->set_room ? stats->set_room * 2 : 1024;
    struct set *sets = calloc(room, sizeof *sets);
    if (!sets) return -1;
    for (size_t i = 0; i < stats->set_room; i++) {
        if (!stats->sets[i].id) continue;
        size_t slot = stats->sets[i].hash & (room - 1);
        while (sets[slot].id) slot = (slot + 1) & (room - 1);
        sets[slot] = stats->sets[i];
    }
    free(stats->sets);
    stats->sets = sets;
    stats->set_room = room;
    return 0;
}

/* Where the packed set is, or the free place for it. */
static struct set *find_set(struct ids_event_stats *stats, uint64_t hash) {
    size_t slot = hash & (stats->set_room - 1);
    for (;; slot = (slot + 1) & (stats->set_room - 1)) {
        struct set *set = &stats->sets[slot];
        if (!set->id) return set;
        if (set->hash == hash && set->bytes == stats->packed.length &&
            !memcmp(stats->set_bytes.at + set->at, stats->packed.at, set->bytes))
            return set;
    }
}

/* A row for each arg that is packed in `bytes`, where struct ids_arg stand before the bytes that they mean. */
static int put_packed(struct ids_event_stats *stats, sqlite3_stmt *statement, int64_t owner, const char *bytes,
                      size_t count, struct ids_error *err) {
    const char *chars = bytes + count * sizeof(struct ids_arg);
    int code = 0;
    for (size_t i = 0; i < count && !code; i++) {
        struct ids_arg arg;
        memcpy(&arg, bytes + i * sizeof arg, sizeof arg);
        code = put_row(stats, statement, owner, (int64_t)i, stats->first_stat + arg.key, &arg, chars, err);
        if (is_outside(&arg)) chars += arg.length;
    }
    return code;
}

/* ---- which stats stay in sets ---- */

/* The value in one word: all of a number, the text's number, nothing of what lies outside. */
static uint64_t word_of(const struct ids_arg *arg) {
    if (arg->type == IDS_VALUE_TEXT) return arg->text;
    return is_outside(arg) || arg->type == IDS_VALUE_NONE ? 0 : arg->u;
}

/* Values that are new, as far as SEEN hashes tell. */
static int watch(struct stat *stat, const struct ids_arg *arg, const char *chars) {
    if (!stat->seen && !(stat->seen = calloc(SEEN, sizeof *stat->seen))) return -1;
    uint64_t hash = is_outside(arg) ? ids_hash_bytes(chars, arg->length) : ids_key_of(arg->type, word_of(arg));
    uint64_t *place = &stat->seen[hash % SEEN];
    stat->uses++;
    stat->fresh += *place != hash;
    *place = hash;
    return 0;
}

/* What made the set new that is packed. */
static int watch_packed(struct ids_event_stats *stats, size_t count) {
    const char *chars = stats->packed.at + count * sizeof(struct ids_arg);
    for (size_t i = 0; i < count; i++) {
        struct ids_arg arg;
        memcpy(&arg, stats->packed.at + i * sizeof arg, sizeof arg);
        if (watch(&stats->stats[arg.key], &arg, chars)) return -1;
        if (is_outside(&arg)) chars += arg.length;
    }
    return 0;
}

/* When half of the sets were new, stats of which half of the values in these were new leave. When that happens twice
 * and no stat is to blame, the one with most new values goes. */
static void judge_window(struct ids_event_stats *stats) {
    int is_fresh = stats->window_fresh * 2 > stats->window_sets;
    struct stat *worst = NULL;
    int left = 0;
    for (size_t i = 0; i < stats->stat_count; i++) {
        struct stat *stat = &stats->stats[i];
        if (is_fresh && !stat->extra && stat->uses > WINDOW / 8) {
            if (stat->fresh * 2 > stat->uses) left += stat->extra = 1;
            if (!worst || stat->fresh > worst->fresh) worst = stat;
        }
        stat->uses = stat->fresh = 0;
        if (!stat->extra) continue;
        free(stat->seen);
        stat->seen = NULL;
    }
    if (is_fresh && stats->was_fresh && !left && worst) worst->extra = 1;
    stats->was_fresh = is_fresh && !left;
    stats->window_sets = stats->window_fresh = 0;
}

/* The set that is packed into a free place: the one that was found, or where all are forgotten, another one. */
static int add_set(struct ids_event_stats *stats, struct set **place, uint64_t hash, size_t count,
                   struct ids_error *err) {
    const struct ids_buffer *packed = &stats->packed;
    if (stats->set_bytes.length + packed->length > SETS_BYTES || stats->set_count >= SETS_MOST) {
        forget_sets(stats);
        *place = find_set(stats, hash);
    }
    struct set *set = *place;
    if (stats->last_set == UINT32_MAX - 1) return ids_fail(err, IDS_LIMIT, "more than four billion sets of stats");
    *set = (struct set){hash, stats->set_bytes.length, (uint32_t)packed->length, ++stats->last_set};
    ids_buffer_put(&stats->set_bytes, packed->at, packed->length);
    if (stats->set_bytes.failed || watch_packed(stats, count)) return ids_no_memory(err);
    stats->set_count++;
    stats->window_fresh++;
    stats->numbers->set++;
    return put_packed(stats, stats->insert_set, stats->first_set + set->id - 1, packed->at, count, err);
}

static struct hint *hint_of(struct ids_event_stats *stats, uint32_t name) {
    if (name >= stats->hint_count) {
        size_t count = (size_t)name + name / 2 + 256;
        struct hint *grown = realloc(stats->hints, count * sizeof *grown);
        if (!grown) return NULL;
        memset(grown + stats->hint_count, 0, (count - stats->hint_count) * sizeof *grown);
        stats->hints = grown;
        stats->hint_count = count;
    }
    return &stats->hints[name];
}

static int is_hinted(const struct ids_event_stats *stats, const struct hint *hint) {
    return hint->id && hint->bytes == stats->packed.length &&
           !memcmp(stats->set_bytes.at + hint->at, stats->packed.at, hint->bytes);
}

/* The set of the `count` stats that are packed, which are an event's of that name. */
static int intern_set(struct ids_event_stats *stats, uint32_t name, size_t count, uint32_t *ret_set,
                      struct ids_error *err) {
    struct hint *hint = hint_of(stats, name);
    if (!hint || (stats->set_count * 2 >= stats->set_room && grow_sets(stats))) return ids_no_memory(err);
    stats->window_sets++;
    if (!is_hinted(stats, hint)) {
        uint64_t hash = ids_hash_bytes(stats->packed.at, stats->packed.length);
        struct set *set = find_set(stats, hash);
        int code = set->id ? 0 : add_set(stats, &set, hash, count, err);
        if (code) return code;
        *hint = (struct hint){set->at, set->bytes, set->id};
    }
    *ret_set = hint->id;
    if (stats->window_sets == WINDOW) judge_window(stats);
    return 0;
}

/* ---- an event ---- */

/* Struct ids_arg first, then bytes: two passes. Padding is zero, so that equal sets are equal bytes. Whole words are
 * written, for what is written in smaller pieces must leave the store buffer before it is read as words, by the hash
 * at once. */
static void pack(struct ids_buffer *buffer, const struct ids_arg *arg, uint32_t stat) {
    union {
        struct ids_arg arg;
        uint64_t words[3];
    } *to = (void *)ids_buffer_space(buffer, sizeof *to);
    _Static_assert(sizeof *to == 24 && offsetof(struct ids_arg, type) == 4 && offsetof(struct ids_arg, length) == 8 &&
                       offsetof(struct ids_arg, u) == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
                   "the words of an arg");
    if (!to) return;
    to->words[0] = stat | (uint64_t)arg->type << 32;
    to->words[1] = is_outside(arg) ? arg->length : 0;
    to->words[2] = word_of(arg);
    buffer->length += sizeof *to;
}

static int take_one(struct ids_event_stats *stats, const struct ids_arg *arg, struct ids_row_rare *rare,
                    struct ids_error *err) {
    uint32_t number = stat_of(stats, arg);
    if (!number) return ids_no_memory(err);
    struct stat *stat = &stats->stats[number - 1];
    if (!stat->is_used) choose_column(stats, number);
    stat->is_used = 1;
    if (stat->column && !ids_link_has(&rare->links, stat->column - 1)) {
        ids_link_set(&rare->links, stat->column - 1, arg->i);
        return 0;
    }
    if (stat->extra) {
        pack(&stats->extra, arg, number - 1);
        rare->extra_count++;
        return 0;
    }
    pack(&stats->packed, arg, number - 1);
    return 0;
}

/* The bytes that packed args mean: of those of the event that are in `buffer`. */
static void pack_bytes(struct ids_buffer *buffer, size_t count, const struct ids_slice *slice,
                       const struct ids_event_stats *stats, int extra) {
    if (!count) return;
    for (uint32_t i = 0; i < slice->arg_count; i++) {
        const struct ids_arg *arg = &slice->args[i];
        if (!is_outside(arg)) continue;
        uint32_t number = arg->key < NEAR_KEYS ? stats->near[arg->key][plain_type(arg) & 7] : 0;
        if (!number) {
            uint64_t found = 0;
            ids_keymap_get(&stats->far, (uint64_t)arg->key << 3 | plain_type(arg), &found);
            number = (uint32_t)found;
        }
        if (number && stats->stats[number - 1].extra == extra) ids_buffer_put(buffer, arg->chars, arg->length);
    }
}

int ids_event_stats_take(struct ids_event_stats *stats, const struct ids_slice *slice, uint32_t *ret_set,
                         struct ids_row_rare *ret_rare, int *ret_has_rare, struct ids_error *err) {
    *ret_rare = (struct ids_row_rare){0};
    *ret_set = 0;
    stats->packed.length = stats->extra.length = 0;
    int code = 0;
    for (uint32_t i = 0; i < slice->arg_count && !code; i++) code = take_one(stats, &slice->args[i], ret_rare, err);
    if (code) return code;
    size_t packed = stats->packed.length / sizeof(struct ids_arg);
    pack_bytes(&stats->packed, packed, slice, stats, 0);
    pack_bytes(&stats->extra, ret_rare->extra_count, slice, stats, 1);
    if (stats->packed.failed || stats->extra.failed) return ids_no_memory(err);
    if (stats->packed.length > UINT32_MAX || stats->extra.length > UINT32_MAX)
        return ids_fail(err, IDS_LIMIT, "an event of more than 4 GiB");
    if (ret_rare->extra_count) {
        ret_rare->extra_at = ids_spill_length(stats->spill);
        ret_rare->extra_bytes = (uint32_t)stats->extra.length;
        code = ids_spill_append(stats->spill, stats->extra.at, stats->extra.length, err);
        if (code) return code;
    }
    *ret_has_rare = ret_rare->links.has || ret_rare->extra_count;
    return packed ? intern_set(stats, slice->name, packed, ret_set, err) : 0;
}

int ids_event_stats_put_extra(struct ids_event_stats *stats, int64_t event, const struct ids_row_rare *rare,
                              struct ids_error *err) {
    const uint8_t *bytes;
    int code = ids_spill_read(stats->spill, rare->extra_at, rare->extra_bytes, &bytes, err);
    return code ? code : put_packed(stats, stats->insert_extra, event, (const char *)bytes, rare->extra_count, err);
}

int ids_event_stats_put(struct ids_event_stats *stats, sqlite3_stmt *statement, int64_t owner,
                        const struct ids_arg *args, size_t count, struct ids_error *err) {
    int code = 0;
    for (size_t i = 0; i < count && !code; i++) {
        uint32_t number = stat_of(stats, &args[i]);
        if (!number) return ids_no_memory(err);
        code =
            put_row(stats, statement, owner, (int64_t)i, stats->first_stat + number - 1, &args[i], args[i].chars, err);
    }
    return code;
}

/* ---- life ---- */

static const char *type_name(uint8_t type) {
    static const char *const names[] = {
        [IDS_VALUE_NONE] = "none", [IDS_VALUE_INT] = "int",     [IDS_VALUE_UINT] = "uint", [IDS_VALUE_REAL] = "real",
        [IDS_VALUE_TEXT] = "text", [IDS_VALUE_BYTES] = "bytes", [IDS_VALUE_REF] = "ref"};
    return names[type];
}

static int finish_columns(struct ids_event_stats *stats, struct ids_error *err) {
    static const char *const names[] = {"run_id", "producer_id", "consumer_id", "correlation_id"};
    sqlite3_stmt *insert = NULL;
    if (sqlite3_prepare_v2(stats->db, "INSERT INTO event_column VALUES (?,?,?)", -1, &insert, NULL) != SQLITE_OK)
        return ids_db_fail(stats->db, err);
    int code = 0;
    for (int i = 0; i < IDS_LINK_STATS && !code; i++) {
        if (!stats->column_stat[i]) continue;
        sqlite3_bind_int64(insert, 1, stats->numbers->run);
        sqlite3_bind_text(insert, 2, names[i], -1, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 3, stats->first_stat + stats->column_stat[i] - 1);
        sqlite3_step(insert);
        if (sqlite3_reset(insert) != SQLITE_OK) code = ids_db_fail(stats->db, err);
    }
    sqlite3_finalize(insert);
    return code;
}

int ids_event_stats_finish(struct ids_event_stats *stats, struct ids_error *err) {
    sqlite3_stmt *insert = NULL;
    if (sqlite3_prepare_v2(stats->db, "INSERT INTO stat VALUES (?,?,?)", -1, &insert, NULL) != SQLITE_OK)
        return ids_db_fail(stats->db, err);
    int code = 0;
    for (size_t i = 0; i < stats->stat_count && !code; i++) {
        struct ids_text key = ids_strings_text(stats->strings, stats->stats[i].key);
        sqlite3_bind_int64(insert, 1, stats->first_stat + (int64_t)i);
        ids_bind_text(insert, 2, key.at, key.length);
        sqlite3_bind_text(insert, 3, type_name(stats->stats[i].type), -1, SQLITE_STATIC);
        sqlite3_step(insert);
        if (sqlite3_reset(insert) != SQLITE_OK) code = ids_db_fail(stats->db, err);
    }
    sqlite3_finalize(insert);
    return code ? code : finish_columns(stats, err);
}

int ids_event_stats_new(sqlite3 *db, const struct ids_strings *strings, struct ids_row_numbers *numbers,
                        struct ids_spill *spill, struct ids_event_stats **ret_stats, struct ids_error *err) {
    struct ids_event_stats *stats = calloc(1, sizeof *stats);
    if (!stats) return ids_no_memory(err);
    stats->db = db;
    stats->strings = strings;
    stats->numbers = numbers;
    stats->spill = spill;
    stats->first_stat = numbers->stat + 1;
    stats->first_set = numbers->set + 1;
    if (sqlite3_prepare_v2(db, "INSERT INTO stat_set VALUES (?,?,?,?)", -1, &stats->insert_set, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "INSERT INTO event_stat VALUES (?,?,?,?)", -1, &stats->insert_extra, NULL) !=
            SQLITE_OK) {
        ids_db_fail(db, err);
        ids_event_stats_free(stats);
        return err->code;
    }
    *ret_stats = stats;
    return 0;
}

void ids_event_stats_free(struct ids_event_stats *stats) {
    if (!stats) return;
    sqlite3_finalize(stats->insert_set);
    sqlite3_finalize(stats->insert_extra);
    for (size_t i = 0; i < stats->stat_count; i++) free(stats->stats[i].seen);
    free(stats->stats);
    ids_keymap_done(&stats->far);
    ids_buffer_done(&stats->packed);
    ids_buffer_done(&stats->extra);
    ids_buffer_done(&stats->set_bytes);
    free(stats->sets);
    free(stats->hints);
    free(stats);
}
