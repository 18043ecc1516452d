#include "lib/report/alike.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3, LEAST_HEAD = 4 };

static const char ellipsis[] = "\xe2\x80\xa6";
static const char between[] = " \xc2\xb7 ";

/* ---- rows that are alike ---- */

static const char *cell_of(const struct ids_grid *grid, size_t row, size_t column) {
    return grid->cells[row * grid->column_count + column];
}

static int compare_rows(const void *a, const void *b, void *context) {
    const struct ids_grid *grid = context;
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    for (size_t i = 0; i < grid->column_count; i++) {
        if (grid->columns[i].right || grid->columns[i].left_out || grid->columns[i].is_verdict) continue;
        int order = strcmp(cell_of(grid, left, i), cell_of(grid, right, i));
        if (order) return order;
    }
    return 0;
}

static int compare_rows_stably(const void *a, const void *b, void *context) {
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    int order = compare_rows(a, b, context);
    return order ? order : (left > right) - (left < right);
}

static size_t *rows_in_order(const struct ids_grid *grid, struct ids_arena *arena) {
    size_t *rows = ids_arena_alloc(arena, (grid->row_count + 1) * sizeof *rows);
    if (!rows) return NULL;
    for (size_t i = 0; i < grid->row_count; i++) rows[i] = i;
    qsort_r(rows, grid->row_count, sizeof *rows, compare_rows_stably, (void *)grid);
    return rows;
}

/* What may tell rows apart: a column that was left out, then a detail. */
struct trait {
    const struct ids_grid *grid;
    size_t column; /* of the grid; else of its details, after the columns */
};

static const char *told(const struct trait *trait, size_t row) {
    const struct ids_grid *grid = trait->grid;
    if (trait->column < grid->column_count) return cell_of(grid, row, trait->column);
    return grid->details[trait->column - grid->column_count].cells[row];
}

static int may_tell(const struct trait *trait) {
    const struct ids_grid *grid = trait->grid;
    if (trait->column >= grid->column_count) return 1;
    if (grid->columns[trait->column].is_verdict) return 0;
    return !grid->columns[trait->column].right && grid->columns[trait->column].left_out == IDS_GRID_TOO_WIDE;
}

static int is_readable(const struct trait *trait) {
    const struct ids_grid *grid = trait->grid;
    return trait->column < grid->column_count || grid->details[trait->column - grid->column_count].is_readable;
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* How many different texts the rows have. */
static size_t distinct_texts(const struct trait *trait, const size_t *rows, size_t count, const char **room) {
    size_t distinct = 1;
    for (size_t i = 0; i < count; i++) room[i] = told(trait, rows[i]);
    qsort(room, count, sizeof *room, compare_texts);
    for (size_t i = 1; i < count; i++) distinct += strcmp(room[i - 1], room[i]) != 0;
    return distinct;
}

/* The trait with the most different texts; among equals a readable one, then the first. 0: nothing tells these rows
 * apart. */
static int find_trait(const struct ids_grid *grid, const size_t *rows, size_t count, const char **room,
                      struct trait *ret_trait) {
    size_t most = 1;
    for (int readable = 1; readable >= 0; readable--) {
        for (size_t i = 0; i < grid->column_count + grid->detail_count; i++) {
            struct trait trait = {grid, i};
            if (!may_tell(&trait) || is_readable(&trait) != readable) continue;
            size_t distinct = distinct_texts(&trait, rows, count, room);
            if (distinct <= most) continue;
            most = distinct;
            *ret_trait = trait;
        }
        if (most > 1) return 1; /* a number that the program gave out says less than a shape, however different it is */
    }
    return 0;
}

static void add_text(struct ids_grid *grid, size_t row, size_t name, const char *text, struct ids_arena *arena) {
    const char *before = cell_of(grid, row, name);
    size_t head = strlen(before), middle = sizeof between - 1, tail = strlen(text);
    if (!tail || !strcmp(text, "-")) return;
    char *longer = ids_arena_alloc(arena, head + middle + tail + 1);
    if (!longer) return;
    snprintf(longer, head + middle + tail + 1, "%s%s%s", before, between, text);
    grid->cells[row * grid->column_count + name] = longer;
}

void ids_grid_tell_apart(struct ids_grid *grid, size_t name, struct ids_arena *arena) {
    if (grid->row_count < 2 || grid->columns[name].right) return;
    const char **room = ids_arena_alloc(arena, grid->row_count * sizeof *room);
    if (!room) return;
    for (int round = 0; round < ROUNDS; round++) {
        int told_apart = 0;
        size_t *rows = rows_in_order(grid, arena);
        if (!rows) return;
        for (size_t first = 0, end; first < grid->row_count; first = end) {
            struct trait trait;
            for (end = first + 1; end < grid->row_count; end++) {
                if (compare_rows(&rows[first], &rows[end], grid)) break;
            }
            if (end - first < 2 || !find_trait(grid, rows + first, end - first, room, &trait)) continue;
            for (size_t i = first; i < end; i++) add_text(grid, rows[i], name, told(&trait, rows[i]), arena);
            grid->columns[name].stretch = 1; /* it was as wide as the table takes, and is longer now */
            told_apart = 1;
        }
        if (!told_apart) return;
        ids_grid_fit(grid, grid->fitted_to);
    }
}

/* ---- names that are shortened until they are alike ---- */

struct name {
    const char *whole, *shown;
    size_t row;
};

static int compare_names(const void *a, const void *b) {
    const struct name *left = a, *right = b;
    int order = strcmp(left->shown, right->shown);
    if (!order) order = strcmp(left->whole, right->whole);
    return order ? order : (left->row > right->row) - (left->row < right->row);
}

static int inside_character(char byte) {
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* How many bytes all the names begin with (sorted, so the outermost two say it), and end with. */
static size_t common_head(const struct name *names, size_t count) {
    const char *a = names[0].whole, *b = names[count - 1].whole;
    size_t length = 0;
    while (a[length] && a[length] == b[length]) length++;
    while (length && (inside_character(a[length]) || inside_character(b[length]))) length--;
    return length;
}

static size_t common_tail(const struct name *names, size_t count, size_t head) {
    const char *a = names[0].whole;
    size_t a_length = strlen(a), tail = a_length - head;
    for (size_t i = 1; i < count; i++) {
        size_t length = strlen(names[i].whole), here = 0;
        while (here < tail && here < length - head && a[a_length - 1 - here] == names[i].whole[length - 1 - here])
            here++;
        tail = here;
    }
    while (tail && inside_character(a[a_length - tail])) tail--;
    return tail;
}

/* The bytes from which on a text's end fits into `columns`. */
static size_t tail_from(const char *text, size_t length, int columns) {
    size_t at = 0;
    while (at < length && ids_text_columns(text + at) > columns) {
        at++;
        while (at < length && inside_character(text[at])) at++;
    }
    return at;
}

/* The name in at most `columns`, with what differs: "head…differs…tail". */
static const char *cut_around(struct ids_arena *arena, const char *name, size_t head, size_t tail, int columns) {
    size_t length = strlen(name), core = length - head - tail;
    const char *end = name + length - tail;
    char *middle = ids_arena_copy(arena, name + head, core);
    char *front = ids_arena_copy(arena, name, head);
    if (!middle || !front) return name;
    int room = columns - ids_text_columns(middle) - 2;
    int tail_columns = ids_text_columns(end), head_columns = ids_text_columns(front);
    int for_tail = room / 3 < tail_columns ? room / 3 : tail_columns;
    if (room < LEAST_HEAD) {
        core = ids_text_head(middle, core, columns - LEAST_HEAD - 2);
        room = LEAST_HEAD;
        for_tail = 0;
    }
    int for_head = room - for_tail < head_columns ? room - for_tail : head_columns;
    if (for_tail && for_head + for_tail < room)
        for_tail = room - for_head < tail_columns ? room - for_head : tail_columns;
    size_t kept = ids_text_head(name, head, for_head), from = tail_from(end, tail, for_tail);
    int hides_front = kept<head, hides_end = from> 0 || name + head + core < end;
    size_t mark = sizeof ellipsis - 1, used = 0;
    char *cut = ids_arena_alloc(arena, kept + core + (tail - from) + 2 * mark + 1);
    if (!cut) return name;
    memcpy(cut, name, kept);
    used += kept;
    if (hides_front) memcpy(cut + used, ellipsis, mark);
    used += hides_front ? mark : 0;
    memcpy(cut + used, name + head, core);
    used += core;
    if (hides_end) memcpy(cut + used, ellipsis, mark);
    used += hides_end ? mark : 0;
    memcpy(cut + used, end + from, tail - from + 1);
    return cut;
}

/* Cuts names that would be shown alike around what differs. 1 when there were any. */
static int cut_apart(struct name *names, size_t count, int columns, struct ids_arena *arena) {
    int found = 0;
    qsort(names, count, sizeof *names, compare_names);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && !strcmp(names[first].shown, names[end].shown); end++) {
        }
        if (!strcmp(names[first].whole, names[end - 1].whole)) continue;
        size_t head = common_head(names + first, end - first), tail = common_tail(names + first, end - first, head);
        for (size_t i = first; i < end; i++) names[i].shown = cut_around(arena, names[i].whole, head, tail, columns);
        found = 1;
    }
    return found;
}

/* "vectorized…<MulFunctor, float>": of a template's name what it is made for says more than what it is. NULL: it is
 * none, or too little of it would be left. */
static const char *cut_template(struct ids_arena *arena, const char *text, int columns) {
    size_t length = strlen(text);
    const char *list = text;
    while (isalnum((unsigned char)*list) || *list == '_') list++;
    if (list == text || *list != '<' || !strchr(list, '>')) return NULL;
    int room = columns - ids_text_columns(list) - 1;
    if (room < LEAST_HEAD) return NULL;
    size_t head = ids_text_head(text, (size_t)(list - text), room);
    char *cut = ids_arena_alloc(arena, length + sizeof ellipsis);
    if (cut) snprintf(cut, length + sizeof ellipsis, "%.*s%s%s", (int)head, text, ellipsis, list);
    return cut;
}

static const char *shortened(struct ids_arena *arena, const char *text, int columns) {
    const char *cut = ids_text_columns(text) > columns ? cut_template(arena, text, columns) : NULL;
    return cut ? cut : ids_text_shorten(arena, text, columns);
}

void ids_texts_shorten(const char **texts, size_t count, int columns, struct ids_arena *arena) {
    struct name *names = ids_arena_alloc(arena, (count + 1) * sizeof *names);
    if (!names) return;
    for (size_t i = 0; i < count; i++) names[i] = (struct name){texts[i], shortened(arena, texts[i], columns), i};
    for (int round = 0; round < ROUNDS && cut_apart(names, count, columns, arena); round++) {
    }
    for (size_t i = 0; i < count; i++) texts[names[i].row] = names[i].shown;
}

const char **ids_grid_shortened(const struct ids_grid *grid, struct ids_arena *arena) {
    size_t cells = grid->row_count * grid->column_count;
    const char **shown = ids_arena_alloc(arena, (cells + 1) * sizeof *shown);
    const char **texts = ids_arena_alloc(arena, (grid->row_count + 1) * sizeof *texts);
    if (!shown || !texts) return NULL;
    if (cells) memcpy(shown, grid->cells, cells * sizeof *shown);
    for (size_t i = 0; i < grid->column_count; i++) {
        const struct ids_grid_column *column = &grid->columns[i];
        if (!column->stretch || column->left_out) continue;
        for (size_t row = 0; row < grid->row_count; row++) texts[row] = cell_of(grid, row, i);
        ids_texts_shorten(texts, grid->row_count, column->width, arena);
        for (size_t row = 0; row < grid->row_count; row++) shown[row * grid->column_count + i] = texts[row];
    }
    return shown;
}
