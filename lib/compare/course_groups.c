#include "lib/compare/course_groups.h"

#include "lib/base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is inside a scope explains its change when it is at least this part of it. */
#define EXPLAINED 0.7
/* And where this part of a scope's time changed, the scope is what changed. */
#define MOST_OF_IT 0.5
/* Scopes change alike where each does by this part of the share of all, more or less; most of them, and so many. */
#define ALIKE 0.5
#define MOST_SCOPES 0.75
enum { SEVERAL = 3 };

static int by_place(const void *a, const void *b) {
    const struct ids_course_row *left = a, *right = b;
    if (left->change.last != right->change.last) return left->change.last < right->change.last ? -1 : 1;
    return (left->figure > right->figure) - (left->figure < right->figure);
}

static const struct ids_series_figure *figure_of(const struct ids_course *course, const struct ids_course_row *row) {
    return &course->series->figures[row->figure];
}

static double change_of(const struct ids_course_row *row) {
    return row->change.after - row->change.before;
}

/* Changes whose places have a run in common are one. Those that end first come first, so that few runs hold all. */
static int cut(struct ids_course *course) {
    if (course->row_count) qsort(course->rows, course->row_count, sizeof *course->rows, by_place);
    for (size_t i = 0; i < course->row_count; i++) {
        struct ids_course_row *row = &course->rows[i];
        struct ids_course_group *group = course->group_count ? &course->groups[course->group_count - 1] : NULL;
        if (!group || row->change.first > group->last) {
            group = IDS_PUSH(course->groups, course->group_count, course->group_room);
            if (!group) return -1;
            *group = (struct ids_course_group){row->change.at, row->change.first, row->change.last, {0}};
        }
        if (row->change.first > group->first) group->first = row->change.first;
        row->group = course->group_count - 1;
    }
    return 0;
}

/* How sure its change is: as a multiple of the width of its interval. */
static double sureness(const struct ids_course_row *row) {
    double width = row->change.high - row->change.low;
    return width > 0 ? fabs(change_of(row)) / width : INFINITY;
}

/* The noise of a run moves all its figures alike, so that what many of them say of the place is hardly surer than what
 * the surest says: its range is the group's. In it, the run at which most of the changes begin, each as much as it is
 * sure of. */
static void place(struct ids_course_group *group, const struct ids_course_row *rows, size_t count) {
    const struct ids_course_row *surest = rows;
    double most = -1;
    for (size_t i = 1; i < count; i++) {
        if (sureness(&rows[i]) > sureness(surest)) surest = &rows[i];
    }
    group->first = surest->change.first;
    group->last = surest->change.last;
    for (size_t run = group->first; run <= group->last; run++) {
        double votes = 0;
        for (size_t i = 0; i < count; i++) {
            if (rows[i].change.at == run) votes += 1 / (double)(rows[i].change.last - rows[i].change.first + 1);
        }
        if (votes > most) group->run = run;
        most = fmax(most, votes);
    }
}

/* ---- scopes ---- */

struct scopes {
    const struct ids_course *course;
    struct ids_course_row *rows; /* of a group */
    size_t count;
    int is_change; /* 0: what drifts, or the last runs */
};

/* Whether `inner` lies in `outer`, and right below it. */
static int is_inside(const char *inner, const char *outer, int *ret_next) {
    size_t length = strlen(outer);
    if (strncmp(inner, outer, length) != 0 || inner[length] != '/') return 0;
    *ret_next = !strchr(inner + length + 1, '/');
    return 1;
}

static int is_scope(const struct scopes *scopes, size_t i) {
    return figure_of(scopes->course, &scopes->rows[i])->kind == IDS_FIGURE_SCOPE;
}

static const char *name_of(const struct scopes *scopes, size_t i) {
    return figure_of(scopes->course, &scopes->rows[i])->name;
}

/* What is in it takes the role of a part. */
static void take_parts(struct scopes *scopes, size_t outer) {
    int unused;
    for (size_t i = 0; i < scopes->count; i++) {
        if (is_scope(scopes, i) && is_inside(name_of(scopes, i), name_of(scopes, outer), &unused))
            scopes->rows[i].role = IDS_COURSE_PART;
    }
}

/* What changed right in it so few runs before or after that there is no level between: then its own change is one, and
 * holds both. */
static double changed_nearby(const struct ids_course *course, const struct ids_course_row *outer) {
    double sum = 0;
    int is_next = 0;
    for (size_t i = 0; i < course->row_count; i++) {
        const struct ids_course_row *row = &course->rows[i];
        size_t a = row->change.at, b = outer->change.at;
        if (row->group == outer->group || (a > b ? a - b : b - a) >= IDS_LEVEL_LEAST) continue;
        if (figure_of(course, row)->kind == IDS_FIGURE_SCOPE &&
            is_inside(figure_of(course, row)->name, figure_of(course, outer)->name, &is_next) && is_next)
            sum += change_of(row);
    }
    return sum;
}

/* What drifts right in it: of two levels of the whole the later one has half of the rise more. */
static double drifted_inside(const struct ids_course *course, const struct ids_course_row *outer) {
    double sum = 0;
    int is_next = 0;
    for (size_t i = 0; i < course->drifts.count; i++) {
        const struct ids_course_row *drift = &course->drifts.at[i];
        const struct ids_series_figure *figure = figure_of(course, drift);
        if (figure->kind == IDS_FIGURE_SCOPE && is_inside(figure->name, figure_of(course, outer)->name, &is_next) &&
            is_next)
            sum += change_of(drift) / 2;
    }
    return sum;
}

/* A scope is the cause unless scopes in it are: those that explain its change, and are not most of it. */
static void judge_scope(struct scopes *scopes, size_t outer) {
    struct ids_course_row *row = &scopes->rows[outer];
    double explained = 0, before = 0;
    size_t inside = 0;
    for (size_t i = 0; i < scopes->count; i++) {
        int is_next = 0;
        if (!is_scope(scopes, i) || !is_inside(name_of(scopes, i), name_of(scopes, outer), &is_next) || !is_next)
            continue;
        explained += change_of(&scopes->rows[i]);
        before += fmax(scopes->rows[i].change.before, scopes->rows[i].change.after);
        inside++;
    }
    double whole = fmax(row->change.before, row->change.after);
    if (inside && scopes->is_change)
        explained += changed_nearby(scopes->course, row) + drifted_inside(scopes->course, row);
    int is_explained = inside && explained / change_of(row) >= EXPLAINED;
    int is_most = inside > 1 && before >= MOST_OF_IT * whole;
    row->role = is_explained && !is_most ? IDS_COURSE_EFFECT : IDS_COURSE_CAUSE;
    if (row->role == IDS_COURSE_CAUSE) take_parts(scopes, outer);
}

static int by_depth(const struct scopes *scopes, size_t i) {
    int depth = 0;
    for (const char *at = name_of(scopes, i); *at; at++) depth += *at == '/';
    return depth;
}

static void judge_scopes(struct scopes *scopes) {
    int deepest = 0;
    for (size_t i = 0; i < scopes->count; i++) {
        scopes->rows[i].role = IDS_COURSE_EFFECT;
        if (is_scope(scopes, i) && by_depth(scopes, i) > deepest) deepest = by_depth(scopes, i);
    }
    for (int depth = 0; depth <= deepest; depth++) {
        for (size_t i = 0; i < scopes->count; i++) {
            if (is_scope(scopes, i) && by_depth(scopes, i) == depth && scopes->rows[i].role != IDS_COURSE_PART)
                judge_scope(scopes, i);
        }
    }
}

/* ---- others ---- */

/* "layer/attention: fusion" belongs to a cause "layer". */
static int is_of_cause(const struct scopes *scopes, const char *op) {
    for (size_t i = 0; i < scopes->count; i++) {
        const char *name = name_of(scopes, i);
        size_t length = strlen(name);
        if (is_scope(scopes, i) && scopes->rows[i].role == IDS_COURSE_CAUSE && !strncmp(op, name, length) &&
            (op[length] == ':' || op[length] == '/'))
            return 1;
    }
    return 0;
}

static size_t causes(const struct scopes *scopes) {
    size_t count = 0;
    for (size_t i = 0; i < scopes->count; i++) count += scopes->rows[i].role == IDS_COURSE_CAUSE;
    return count;
}

static void judge_kind(struct scopes *scopes, enum ids_figure_kind kind, enum ids_course_role role) {
    for (size_t i = 0; i < scopes->count; i++) {
        const struct ids_series_figure *figure = figure_of(scopes->course, &scopes->rows[i]);
        if (figure->kind != kind) continue;
        int is_part = kind == IDS_FIGURE_OP && is_of_cause(scopes, figure->name);
        scopes->rows[i].role = is_part ? IDS_COURSE_PART : role;
    }
}

/* What ran on the host, and what no scope holds, are causes of their own; kernels where nothing else tells of the
 * device; accounts, then figures of the whole run, where nothing at all does. */
static void judge(struct scopes *scopes) {
    judge_scopes(scopes);
    judge_kind(scopes, IDS_FIGURE_OP, IDS_COURSE_CAUSE);
    judge_kind(scopes, IDS_FIGURE_KERNEL, causes(scopes) ? IDS_COURSE_PART : IDS_COURSE_CAUSE);
    judge_kind(scopes, IDS_FIGURE_HOST, IDS_COURSE_CAUSE);
    judge_kind(scopes, IDS_FIGURE_ACCOUNT, causes(scopes) ? IDS_COURSE_EFFECT : IDS_COURSE_CAUSE);
    judge_kind(scopes, IDS_FIGURE_METRIC, causes(scopes) ? IDS_COURSE_EFFECT : IDS_COURSE_CAUSE);
}

/* ---- */

static int by_role(const void *a, const void *b) {
    const struct ids_course_row *left = a, *right = b;
    double x = fabs(change_of(left)), y = fabs(change_of(right));
    if (left->role != right->role) return left->role < right->role ? -1 : 1;
    if (x != y) return x > y ? -1 : 1; /* of metrics in other units the order tells nothing, but is always the same */
    return (left->figure > right->figure) - (left->figure < right->figure);
}

/* ---- all alike ---- */

static int is_by_share(const struct ids_course_row *row, double share) {
    if (!(row->change.before > 0) || !(row->change.after > 0)) return 0;
    return fabs(log(row->change.after / row->change.before) / share - 1) <= ALIKE;
}

static int is_of_device(const struct ids_course *course, const struct ids_course_row *row) {
    enum ids_figure_kind kind = figure_of(course, row)->kind;
    return kind == IDS_FIGURE_SCOPE || kind == IDS_FIGURE_OP || kind == IDS_FIGURE_KERNEL;
}

/* Of what a cause holds right in it: how many scopes there are, and how many of them changed by this share. */
static void count_inside(const struct ids_course *course, struct ids_course_rows *rows, const char *outer,
                         double share) {
    size_t scopes = 0, alike = 0;
    int is_next = 0;
    for (size_t f = 0; f < course->series->figure_count; f++) {
        const struct ids_series_figure *figure = &course->series->figures[f];
        if (figure->kind == IDS_FIGURE_SCOPE && is_inside(figure->name, outer, &is_next)) scopes += is_next != 0;
    }
    for (size_t i = 0; i < rows->count; i++) {
        const struct ids_series_figure *figure = figure_of(course, &rows->at[i]);
        if (figure->kind == IDS_FIGURE_SCOPE && is_inside(figure->name, outer, &is_next))
            alike += is_next && is_by_share(&rows->at[i], share);
    }
    rows->scopes += scopes ? scopes : 1;
    rows->alike += scopes ? alike : 1;
}

const struct ids_course_row *ids_course_whole(const struct ids_course *course, const struct ids_course_rows *rows) {
    static const char *const ids[] = {"steps.mean", "run.window"};
    for (size_t k = 0; k < sizeof ids / sizeof *ids; k++) {
        for (size_t i = 0; i < rows->count; i++) {
            const struct ids_series_figure *figure = figure_of(course, &rows->at[i]);
            if (figure->kind == IDS_FIGURE_METRIC && !strcmp(figure->name, ids[k])) return &rows->at[i];
        }
    }
    return NULL;
}

/* Another clock or another load on the machine is no scope's own: then the causes together are the change of the whole,
 * and each is by about the same share. */
static void look_for_alike(const struct ids_course *course, struct ids_course_rows *rows) {
    const struct ids_course_row *whole = ids_course_whole(course, rows);
    double together = 0;
    if (!whole || !(whole->change.before > 0) || !(whole->change.after > 0)) return;
    double share = log(whole->change.after / whole->change.before);
    for (size_t i = 0; i < rows->count; i++) {
        const struct ids_course_row *row = &rows->at[i];
        if (row->role != IDS_COURSE_CAUSE) continue;
        if (!is_by_share(row, share)) return;
        if (is_of_device(course, row)) together += change_of(row);
    }
    if (together / change_of(whole) < EXPLAINED) return;
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->at[i].role == IDS_COURSE_CAUSE && is_of_device(course, &rows->at[i]))
            count_inside(course, rows, figure_of(course, &rows->at[i])->name, share);
    }
    if (rows->alike < SEVERAL || (double)rows->alike < MOST_SCOPES * (double)rows->scopes)
        rows->scopes = rows->alike = 0;
}

static void judge_rows(struct ids_course *course, struct ids_course_rows *rows, int is_change) {
    struct scopes scopes = {course, rows->at, rows->count, is_change};
    judge(&scopes);
    if (rows->count) qsort(rows->at, rows->count, sizeof *rows->at, by_role);
    look_for_alike(course, rows);
}

/* ---- */

int ids_course_group(struct ids_course *course) {
    if (cut(course)) return -1;
    for (size_t g = 0, from = 0; g < course->group_count; g++) {
        struct ids_course_rows *rows = &course->groups[g].rows;
        *rows = (struct ids_course_rows){.at = course->rows + from};
        while (from < course->row_count && course->rows[from].group == g) from++, rows->count++;
        place(&course->groups[g], rows->at, rows->count);
        judge_rows(course, rows, 1);
    }
    judge_rows(course, &course->drifts, 0);
    judge_rows(course, &course->latest, 0);
    return 0;
}
