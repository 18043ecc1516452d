/* picture_whats.c - what the marks of a picture are of: names, places, shapes, launches. */
#include "lib/analysis/picture_parts.h"

#include "lib/base/vec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What a key is of, so that numbers of two kinds are no one thing. */
enum { OF_EVENT = 1, OF_ENTRY, OF_NAME, OF_STEP, OF_COMPILATION };

enum { DETAIL = 400 };

static uint32_t text_of(struct ids_picture_making *making, struct ids_text text) {
    enum { LONGEST = 600 }; /* a page of names of a megabyte helps nobody */
    return ids_intern(&making->picture->texts, text.at ? text.at : "", text.length > LONGEST ? LONGEST : text.length);
}

static uint32_t of_trace(struct ids_picture_making *making, uint32_t text) {
    return text_of(making, ids_strings_text(&making->analysis->trace->strings, text));
}

static struct ids_text z(const char *text) {
    return (struct ids_text){text, (uint32_t)strlen(text)};
}

/* Adds to the words of a detail. */
static void note(char detail[DETAIL], const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(char detail[DETAIL], const char *format, ...) {
    size_t used = strlen(detail);
    if (used) used += (size_t)snprintf(detail + used, DETAIL - used, ", ");
    if (used >= DETAIL) return;
    va_list args;
    va_start(args, format);
    vsnprintf(detail + used, DETAIL - used, format, args);
    va_end(args);
}

static void note_text(struct ids_picture_making *making, char detail[DETAIL], uint32_t text) {
    const char *words = ids_trace_text(making->analysis->trace, text);
    if (*words) note(detail, "%.120s", words);
}

static void note_count(char detail[DETAIL], int64_t count, enum ids_unit unit, const char *noun) {
    char text[IDS_VALUE_ROOM];
    if (count >= 0) note(detail, "%s%s", ids_value_format(ids_int_value(unit, count), text, sizeof text), noun);
}

static void describe_op(struct ids_picture_making *making, const struct ids_op *op, char detail[DETAIL]) {
    note_text(making, detail, op->category ? op->category : op->opcode);
    note_text(making, detail, op->shape);
    if (op->module != IDS_NONE) note_text(making, detail, making->analysis->trace->modules[op->module].name);
    if (op->flops > 0) note_count(detail, op->flops, IDS_UNIT_COUNT, " operations");
    if (op->bytes_accessed > 0) note_count(detail, op->bytes_accessed, IDS_UNIT_BYTES, " read and written");
}

static void describe_shape(const struct ids_shape *shape, char detail[DETAIL]) {
    if (shape->grid[0] > 0)
        note(detail, "grid %" PRId64 "×%" PRId64 "×%" PRId64 ", block %" PRId64 "×%" PRId64 "×%" PRId64, shape->grid[0],
             shape->grid[1], shape->grid[2], shape->block[0], shape->block[1], shape->block[2]);
    if (shape->registers > 0) note(detail, "%" PRId64 " registers", shape->registers);
    if (shape->occupancy >= 0) note(detail, "occupancy %.0f %%", 100 * shape->occupancy);
}

static int describe_event(struct ids_picture_making *making, const struct ids_event *event,
                          struct ids_picture_what *what) {
    const struct ids_trace *trace = making->analysis->trace;
    char detail[DETAIL] = "";
    what->name = text_of(making, z(ids_event_name(trace, event)));
    if (event->kind == IDS_KIND_COMPILE) {
        struct ids_text function = ids_compiled_function(trace, event), why = ids_recompile_reason(trace, event);
        if (function.length) what->path = text_of(making, function);
        if (why.length) note(detail, "again, because %.*s", (int)(why.length < 300 ? why.length : 300), why.at);
    } else if (event->op != IDS_NONE) {
        const struct ids_op *op = &trace->ops[event->op];
        what->path = of_trace(making, op->framework_name);
        what->source = of_trace(making, op->source);
        describe_op(making, op, detail);
    }
    const uint32_t shape = ids_event_shape(event);
    if (shape != IDS_NONE) describe_shape(&trace->shapes[shape], detail);
    if (event->kind == IDS_KIND_COPY) note_count(detail, event->value, IDS_UNIT_BYTES, "");
    what->detail = text_of(making, z(detail));
    return what->name == IDS_NO_TEXT || what->path == IDS_NO_TEXT || what->source == IDS_NO_TEXT ||
                   what->detail == IDS_NO_TEXT
               ? -1
               : 0;
}

static int describe_entry(struct ids_picture_making *making, uint32_t entry, struct ids_picture_what *what) {
    const struct ids_ledger *ledger = &making->analysis->ledger;
    const struct ids_ledger_entry *is = &ledger->entries[entry];
    what->name = text_of(making, ids_strings_text(&ledger->texts, is->culprit));
    what->path = text_of(making, ids_strings_text(&ledger->texts, is->where));
    return what->name == IDS_NO_TEXT || what->path == IDS_NO_TEXT ? -1 : 0;
}

static int describe_name(struct ids_picture_making *making, const struct ids_name *name,
                         struct ids_picture_what *what) {
    struct ids_text text = ids_strings_text(&making->analysis->trace->strings, name->text);
    if (text.length > 1 && text.at[0] == '$') { /* of a Python frame: JAX's mark of one */
        text.at++;
        text.length--;
    }
    what->name = text_of(making, text);
    return what->name == IDS_NO_TEXT ? -1 : 0;
}

static int describe_step(struct ids_picture_making *making, const struct ids_step *step,
                         struct ids_picture_what *what) {
    char name[40];
    snprintf(name, sizeof name, "step %" PRId64, step->number);
    what->name = text_of(making, z(name));
    return what->name == IDS_NO_TEXT ? -1 : 0;
}

static uint64_t key_of(const struct ids_event *event) {
    uint64_t of_copy = event->kind == IDS_KIND_COPY ? (uint64_t)event->value + 1 : 0;
    return ids_key_of(ids_key_of(ids_key_of(OF_EVENT, event->name), (uint64_t)event->op << 32 | ids_event_shape(event)),
                      of_copy);
}

/* A compilation is its own: another one of that function has another reason. */
static uint64_t key_of_mark(const struct ids_picture_making *making, const struct ids_picture_row *row,
                            const struct ids_mark *mark) {
    const struct ids_trace *trace = making->analysis->trace;
    switch (row->kind) {
    case IDS_ROW_ACCOUNTS:
    case IDS_ROW_GAPS: {
        uint32_t entry = ids_picture_entry(making, mark->what);
        return entry == IDS_NONE ? 0 : ids_key_of(OF_ENTRY, entry);
    }
    case IDS_ROW_THREAD:
        return ids_key_of(ids_key_of(OF_NAME, (uint64_t)((const struct ids_name *)mark->source - trace->names)),
                          mark->account);
    case IDS_ROW_STEPS:
        return ids_key_of(OF_STEP, (uint64_t)((const struct ids_step *)mark->source - making->analysis->steps.at));
    case IDS_ROW_COMPILATIONS:
        return ids_key_of(OF_COMPILATION, (uint64_t)(uintptr_t)mark->source);
    default:
        return key_of(mark->source);
    }
}

static int describe(struct ids_picture_making *making, const struct ids_picture_row *row, const struct ids_mark *mark,
                    struct ids_picture_what *what) {
    switch (row->kind) {
    case IDS_ROW_ACCOUNTS:
    case IDS_ROW_GAPS:
        return describe_entry(making, ids_picture_entry(making, mark->what), what);
    case IDS_ROW_THREAD:
        return describe_name(making, mark->source, what);
    case IDS_ROW_STEPS:
        return describe_step(making, mark->source, what);
    default:
        return describe_event(making, mark->source, what);
    }
}

static int name_mark(struct ids_picture_making *making, const struct ids_picture_row *row, struct ids_mark *mark) {
    struct ids_picture *picture = making->picture;
    uint64_t key = key_of_mark(making, row, mark);
    if (!key) {
        mark->what = 0;
        return 0;
    }
    uint64_t *place = ids_keymap_at(&making->whats, key);
    if (!place) return -1;
    if (!*place) {
        struct ids_picture_what what = {.account = mark->account};
        if (describe(making, row, mark, &what)) return -1;
        struct ids_picture_what *added = IDS_PUSH(picture->whats, picture->what_count, picture->what_room);
        if (!added) return -1;
        *added = what;
        *place = picture->what_count;
    }
    mark->what = (uint32_t)*place;
    if (row->kind != IDS_ROW_OPS && row->kind != IDS_ROW_PROGRAMS) return 0;
    const struct ids_event *launch = ((const struct ids_event *)mark->source)->launch;
    if (!launch || !making->row_of_track[launch->track]) return 0;
    mark->launch = making->row_of_track[launch->track];
    mark->launch_ps = launch->start_ps;
    return 0;
}

int ids_picture_name(struct ids_picture_making *making) {
    struct ids_picture *picture = making->picture;
    for (size_t r = 0; r < picture->row_count; r++) {
        const struct ids_picture_row *row = &picture->rows[r];
        for (uint32_t l = 0; l < row->lane_count; l++) {
            for (size_t m = 0; m < row->lanes[l].count; m++) {
                struct ids_mark *mark = &row->lanes[l].marks[m];
                if (mark->count == 1 && name_mark(making, row, mark)) return -1;
            }
        }
    }
    return 0;
}
