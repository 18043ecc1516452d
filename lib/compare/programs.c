#include "lib/compare/programs.h"

#include "lib/base/counted.h"
#include "lib/base/intern.h"
#include "lib/base/vec.h"
#include "lib/compare/ledger_rows.h"
#include "lib/compare/program_names.h"

#include <stdlib.h>
#include <string.h>

/* An op of a framework is compiled to few; of more programs some are named. One program that has the lines of another
 * one is no proof. Of more programs that one side alone has, those that changed most are looked at. */
enum { OPS_OF_ONE = 4, PARTS_NAMED = 2, PARTS_LEAST = 2, ALONE_MOST = 256 };
/* So many programs of few ops that one function launches are its ops, and not each a function of its own. */
enum { OP_BY_OP_LEAST = 3 };

/* A program of one side. */
struct program {
    const char *name;
    int side;
    size_t ops, matched; /* and those of them that the other side has */
    size_t names;        /* of the ops: compiled for several shapes a program has each several times */
    int has_lines;
    size_t first;      /* of its ops, the place in the matches + 1; `next` leads on */
    size_t parts;      /* programs of the other side that do its work */
    size_t part_of;    /* the program whose work it does + 1; 0: none */
    const char *where; /* of a function that runs op by op, in no program: "train.py:26"; NULL */
};

struct finding {
    const struct ids_side *sides[2];
    const struct ids_matches *ops;
    struct ids_report *texts;
    struct program *at;
    size_t count, room;
    size_t *next[2];             /* of each match and side: the next op of its program + 1 */
    size_t alone[2][ALONE_MOST]; /* programs of one side, that were not renamed */
    size_t alone_count[2];
    struct ids_keymap numbers[2]; /* of a side's program: index + 1 */
    struct ids_keymap lines;      /* (program, line) of its ops */
    struct ids_keymap calls;      /* (program, function) of scopes in their paths */
    struct ids_keymap launches;   /* (side, what is launched, the function that does) */
    struct ids_keymap functions;  /* (side, function) that runs op by op: index + 1 */
};

static uint64_t hash_of(const char *text, size_t length) {
    return ids_hash_bytes(text, length);
}

static uint64_t key_of(const char *name) {
    return ids_key_of(1, hash_of(name, strlen(name)));
}

static uint64_t key_in(uint64_t of, const char *name, size_t length) {
    return ids_key_of(of, hash_of(name, length));
}

static int is_in(const struct ids_keymap *map, uint64_t key) {
    uint64_t unused;
    return ids_keymap_get(map, key, &unused);
}

/* ---- programs of one side ---- */

static struct program *program_of(struct finding *finding, int side, const char *name) {
    uint64_t *number = ids_keymap_at(&finding->numbers[side], key_of(name));
    if (!number) return NULL;
    if (*number) return &finding->at[*number - 1];
    struct program *program = IDS_PUSH(finding->at, finding->count, finding->room);
    if (!program) return NULL;
    *number = finding->count;
    *program = (struct program){.name = name, .side = side};
    return program;
}

static int is_renamed(const struct ids_matches *ops, int side, const char *name) {
    for (size_t i = 0; i < ops->renamed_count; i++) {
        if (!strcmp(side ? ops->renamed[i].b : ops->renamed[i].a, name)) return 1;
    }
    return 0;
}

static int is_alone(const struct finding *finding, const struct program *program) {
    return *program->name && !is_in(&finding->numbers[!program->side], key_of(program->name)) &&
           !is_renamed(finding->ops, program->side, program->name);
}

static int gather_ops(struct finding *finding) {
    for (size_t i = finding->ops->count; i--;) {
        const struct ids_match *match = &finding->ops->at[i];
        const struct ids_item *items[] = {match->a, match->b};
        for (int side = 0; side < 2; side++) {
            struct program *program = items[side] ? program_of(finding, side, items[side]->module) : NULL;
            if (!items[side]) continue;
            if (!program) return -1;
            program->ops++;
            program->names += !items[side]->is_again;
            program->matched += match->a && match->b;
            finding->next[side][i] = program->first;
            program->first = i + 1;
        }
    }
    return 0;
}

static const struct ids_item *item_at(const struct finding *finding, const struct program *program, size_t at) {
    const struct ids_match *match = &finding->ops->at[at - 1];
    return program->side ? match->b : match->a;
}

/* Of a program that one side alone has: where it is in the source, and what it calls. */
static int look_at(struct finding *finding, struct program *program) {
    uint64_t number = (uint64_t)(program - finding->at) + 1;
    for (size_t at = program->first; at; at = finding->next[program->side][at - 1]) {
        const struct ids_item *item = item_at(finding, program, at);
        size_t length;
        program->has_lines |= item->line != 0;
        if (item->line && ids_keymap_add(&finding->lines, ids_key_of(number, item->line), 1) < 0) return -1;
        for (const char *call = ids_path_next_call(ids_path_in_program(item->op_name), &length); call;
             call = ids_path_next_call(call + length, &length)) {
            if (ids_keymap_add(&finding->calls, key_in(number, call, length), 1) < 0) return -1;
        }
    }
    return 0;
}

/* "train.py:17 clip, held up": what the function clip launches. A "<module>" may launch anything. */
static const char *launcher_in(const char *where, size_t *ret_length) {
    const char *colon = where ? strchr(where, ':') : NULL;
    size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
    if (!digits || colon[1 + digits] != ' ') return NULL;
    *ret_length = ids_name_length(colon + digits + 2);
    return *ret_length ? colon + digits + 2 : NULL;
}

static uint64_t launch_key(int side, const char *launched, uint64_t function) {
    return ids_key_of(key_in((uint64_t)side + 1, launched, strlen(launched)), function);
}

static int gather_launches(struct finding *finding, int side) {
    const struct ids_side *of = finding->sides[side];
    struct ids_ledger_row row;
    for (size_t r = 0; r < of->run_count; r++) {
        for (struct ids_ledger_reading at = ids_ledger_begin(&of->runs[r]); ids_ledger_next(&at, &row);) {
            size_t length;
            const char *function = launcher_in(row.where, &length);
            if (!row.culprit || !function) continue;
            if (ids_keymap_add(&finding->launches, launch_key(side, row.culprit, hash_of(function, length)), 1) < 0 ||
                ids_keymap_add(&finding->launches, launch_key(side, row.culprit, 0), 1) < 0)
                return -1;
        }
    }
    return 0;
}

static int gather(struct finding *finding) {
    if (gather_ops(finding)) return -1;
    for (size_t i = finding->count; i--;) { /* backwards, as they were gathered */
        struct program *program = &finding->at[i];
        size_t *count = &finding->alone_count[program->side];
        if (!is_alone(finding, program) || *count == ALONE_MOST) continue;
        finding->alone[program->side][(*count)++] = i;
        if (look_at(finding, program)) return -1;
    }
    if (!finding->alone_count[0] && !finding->alone_count[1]) return 0;
    return gather_launches(finding, 0) || gather_launches(finding, 1);
}

/* ---- what does the work of another one ---- */

static size_t number_of(const struct finding *finding, const struct program *program) {
    return (size_t)(program - finding->at) + 1;
}

/* All that is known of its lines is the other's, or of what does the work of that. */
static int has_lines_of(const struct finding *finding, const struct program *part, const struct program *whole) {
    size_t count = 0;
    for (size_t at = part->first; at; at = finding->next[part->side][at - 1]) {
        uint64_t line = item_at(finding, part, at)->line;
        if (!line) continue;
        if (!is_in(&finding->lines, ids_key_of(number_of(finding, whole), line))) return 0;
        count++;
    }
    return count > 0;
}

static int is_launched_in(const struct finding *finding, const struct program *part, const struct program *whole) {
    const char *function = ids_program_function(whole->name);
    return is_in(&finding->launches,
                 launch_key(part->side, ids_program_function(part->name), hash_of(function, strlen(function))));
}

/* An op of a framework, or a function that the program calls. */
static int is_op_or_called(const struct finding *finding, const struct program *part, const struct program *whole) {
    const char *function = ids_program_function(part->name);
    return part->names <= OPS_OF_ONE ||
           is_in(&finding->calls, key_in(number_of(finding, whole), function, strlen(function)));
}

static int take_part(struct finding *finding, struct program *whole, struct program *part) {
    size_t number = number_of(finding, whole);
    part->part_of = number;
    whole->parts++;
    for (size_t at = part->first; at; at = finding->next[part->side][at - 1]) {
        uint64_t line = item_at(finding, part, at)->line;
        if (line && ids_keymap_add(&finding->lines, ids_key_of(number, line), 1) < 0) return -1;
    }
    return 0;
}

static int find_parts(struct finding *finding, struct program *whole) {
    size_t number = number_of(finding, whole);
    const size_t *alone = finding->alone[!whole->side];
    for (int pass = 0; pass < 2; pass++) { /* whose function launches them, then who stands on the same lines */
        for (size_t i = 0; i < finding->alone_count[!whole->side]; i++) {
            struct program *part = &finding->at[alone[i]];
            if (part->part_of || part->parts) continue;
            if (!(pass ? has_lines_of(finding, part, whole) && is_op_or_called(finding, part, whole)
                       : is_launched_in(finding, part, whole)))
                continue;
            if (take_part(finding, whole, part)) return -1;
        }
    }
    if (whole->parts >= PARTS_LEAST) return 0;
    whole->parts = 0;
    for (size_t i = 0; i < finding->alone_count[!whole->side]; i++) {
        if (finding->at[alone[i]].part_of == number) finding->at[alone[i]].part_of = 0;
    }
    return 0;
}

/* ---- functions that run op by op ---- */

static struct program *free_program(struct finding *finding, int side, size_t i) {
    struct program *program = &finding->at[finding->alone[side][i]];
    return program->part_of || program->parts || program->names > OPS_OF_ONE ? NULL : program;
}

static size_t function_at(struct finding *finding, int side, const char *where, const char *name, size_t length) {
    uint64_t *number = ids_keymap_at(&finding->functions,
                                     key_in(key_in((uint64_t)side + 1, where, strcspn(where, ":")), name, length));
    if (!number || *number) return number ? (size_t)*number : SIZE_MAX;
    struct program *function = IDS_PUSH(finding->at, finding->count, finding->room);
    if (!function) return SIZE_MAX;
    *function = (struct program){.name = ids_report_text(finding->texts, "%.*s", (int)length, name),
                                 .side = side,
                                 .where = ids_report_text(finding->texts, "%.*s", (int)strcspn(where, " "), where)};
    *number = finding->count;
    return (size_t)*number;
}

static int take_launched(struct finding *finding, int side, const struct ids_ledger_row *row) {
    size_t length;
    const char *function = launcher_in(row->where, &length);
    for (size_t i = 0; row->culprit && function && i < finding->alone_count[side]; i++) {
        struct program *part = free_program(finding, side, i);
        if (!part || strcmp(ids_program_function(part->name), row->culprit) != 0) continue;
        size_t number = function_at(finding, side, row->where, function, length);
        if (number == SIZE_MAX) return -1;
        if (number && take_part(finding, &finding->at[number - 1], &finding->at[finding->alone[side][i]])) return -1;
    }
    return 0;
}

/* What stands on lines of the function alone; what has no place at all, where one function alone does so. */
static int take_rest(struct finding *finding, int side, size_t first) {
    size_t only = 0, count = 0;
    for (size_t f = first; f < finding->count; f++) {
        if (finding->at[f].side != side) continue;
        only = f;
        count++;
        for (size_t i = 0; i < finding->alone_count[side]; i++) {
            struct program *part = free_program(finding, side, i);
            if (part && has_lines_of(finding, part, &finding->at[f]) && take_part(finding, &finding->at[f], part))
                return -1;
        }
    }
    for (size_t i = 0; count == 1 && i < finding->alone_count[side]; i++) {
        struct program *part = free_program(finding, side, i);
        if (!part || part->has_lines ||
            is_in(&finding->launches, launch_key(side, ids_program_function(part->name), 0)))
            continue;
        if (take_part(finding, &finding->at[only], part)) return -1;
    }
    return 0;
}

static void let_go_of_few(struct finding *finding, size_t first) {
    for (size_t i = 0; i < first; i++) {
        struct program *part = &finding->at[i];
        if (part->part_of > first && finding->at[part->part_of - 1].parts < OP_BY_OP_LEAST) part->part_of = 0;
    }
    for (size_t f = first; f < finding->count; f++) {
        if (finding->at[f].parts < OP_BY_OP_LEAST) finding->at[f].parts = 0;
    }
}

/* Of what is left of the programs of one side. */
static int find_functions(struct finding *finding) {
    size_t first = finding->count;
    struct ids_ledger_row row;
    for (int side = 0; side < 2; side++) {
        const struct ids_side *of = finding->sides[side];
        for (size_t r = 0; r < of->run_count && finding->alone_count[side]; r++) {
            for (struct ids_ledger_reading at = ids_ledger_begin(&of->runs[r]); ids_ledger_next(&at, &row);) {
                if (take_launched(finding, side, &row)) return -1;
            }
        }
        if (take_rest(finding, side, first)) return -1;
    }
    let_go_of_few(finding, first);
    return 0;
}

/* An op of which nothing says where it is from comes with those of the only function that runs op by op. */
static void take_placeless(struct finding *finding, int side) {
    struct program *only = NULL;
    for (size_t i = 0; i < finding->alone_count[!side]; i++) {
        struct program *whole = &finding->at[finding->alone[!side][i]];
        if (whole->parts && only) return;
        if (whole->parts) only = whole;
    }
    for (size_t i = 0; i < finding->alone_count[side] && only; i++) {
        struct program *part = &finding->at[finding->alone[side][i]];
        int is_placed =
            part->has_lines || is_in(&finding->launches, launch_key(side, ids_program_function(part->name), 0));
        if (part->part_of || part->parts || is_placed || part->names > OPS_OF_ONE) continue;
        part->part_of = number_of(finding, only);
        only->parts++;
    }
}

/* Both ways: a function that is no longer under jit, and one that now is. Nothing is a part of what is one itself. */
static int find_all_parts(struct finding *finding) {
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < finding->alone_count[side]; i++) {
            struct program *whole = &finding->at[finding->alone[side][i]];
            if (!whole->part_of && find_parts(finding, whole)) return -1;
        }
    }
    take_placeless(finding, 0);
    take_placeless(finding, 1);
    return find_functions(finding);
}

/* ---- what is told ---- */

static const char *names_of_parts(const struct finding *finding, size_t number) {
    const char *names = "";
    size_t count = 0;
    for (size_t i = finding->count; i--;) {
        const struct program *part = &finding->at[i];
        if (part->part_of != number || count > PARTS_NAMED) continue;
        names = ids_report_text(finding->texts, "%s%s%s", names, count ? ", " : "",
                                count == PARTS_NAMED ? "..." : part->name);
        count++;
    }
    return names;
}

static int put(struct ids_programs *programs, const struct program *program) {
    return ids_keymap_add(&programs->numbers[program->side], key_of(program->name), programs->count) < 0;
}

static int tell(const struct finding *finding, const struct program *whole, struct ids_programs *programs) {
    size_t number = number_of(finding, whole);
    if (whole->where ? !whole->parts : !is_alone(finding, whole) || whole->part_of || (!whole->parts && whole->matched))
        return 0;
    struct ids_program_change *change = IDS_PUSH(programs->at, programs->count, programs->room);
    if (!change) return -1;
    *change = (struct ids_program_change){.name = whole->where ? NULL : whole->name,
                                          .function = whole->where ? whole->name : ids_program_function(whole->name),
                                          .where = whole->where,
                                          .side = whole->side,
                                          .ops = whole->ops,
                                          .part_count = whole->parts,
                                          .parts = names_of_parts(finding, number)};
    int failed = whole->where ? 0 : put(programs, whole);
    for (size_t i = 0; i < finding->count && !failed; i++) {
        if (finding->at[i].part_of == number) failed = put(programs, &finding->at[i]);
    }
    return failed;
}

int ids_programs_find(const struct ids_side *a, const struct ids_side *b, const struct ids_matches *ops,
                      struct ids_report *texts, struct ids_programs *ret_programs) {
    struct finding finding = {.sides = {a, b}, .ops = ops, .texts = texts};
    *ret_programs = (struct ids_programs){0};
    for (int side = 0; side < 2; side++) finding.next[side] = calloc(ops->count + 1, sizeof *finding.next[side]);
    int failed = !finding.next[0] || !finding.next[1] || gather(&finding);
    if (!failed) failed = find_all_parts(&finding);
    for (size_t i = 0; i < finding.count && !failed; i++) failed = tell(&finding, &finding.at[i], ret_programs);
    free(finding.at);
    for (int side = 0; side < 2; side++) {
        free(finding.next[side]);
        ids_keymap_done(&finding.numbers[side]);
    }
    ids_keymap_done(&finding.lines);
    ids_keymap_done(&finding.calls);
    ids_keymap_done(&finding.launches);
    ids_keymap_done(&finding.functions);
    return failed ? -1 : 0;
}

void ids_programs_done(struct ids_programs *programs) {
    free(programs->at);
    ids_keymap_done(&programs->numbers[0]);
    ids_keymap_done(&programs->numbers[1]);
    *programs = (struct ids_programs){0};
}

const struct ids_program_change *ids_programs_change_of(const struct ids_programs *programs, int side,
                                                        const char *module) {
    uint64_t number;
    return ids_keymap_get(&programs->numbers[side], key_of(module), &number) ? &programs->at[number - 1] : NULL;
}

const struct ids_program_change *ids_programs_change_of_match(const struct ids_programs *programs,
                                                              const struct ids_match *match) {
    const struct ids_program_change *a = match->a ? ids_programs_change_of(programs, 0, match->a->module) : NULL;
    const struct ids_program_change *b = match->b ? ids_programs_change_of(programs, 1, match->b->module) : NULL;
    return match->a && match->b ? a == b ? a : NULL : a ? a : b;
}

const char *ids_program_words(const struct ids_program_change *program, struct ids_report *texts) {
    if (program->where)
        return ids_report_text(texts, "%s (%s): %zu %s op by op%s (%s)", program->function, program->where,
                               program->part_count, program->side ? "new programs" : "programs",
                               program->side ? "" : ", gone", program->parts);
    if (program->part_count)
        return ids_report_text(texts, "%s %s: %zu programs (%s)", program->function,
                               program->side ? "now under jit, before" : "no longer under jit", program->part_count,
                               program->parts);
    return ids_report_text(texts, "%s: %s, %s", program->name, program->side ? "new program" : "program gone",
                           IDS_COUNTED(program->ops, "op"));
}
