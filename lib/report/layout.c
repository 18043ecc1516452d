#include "lib/report/layout.h"

#include "lib/wire/clean.h"
#include "lib/wire/utf8.h"

#include <stdint.h>
#include <string.h>

static const char ellipsis[] = "\xe2\x80\xa6";

struct range {
    uint32_t first, last;
};

static int in_ranges(uint32_t character, const struct range *ranges, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (character >= ranges[i].first && character <= ranges[i].last) return 1;
    }
    return 0;
}

static int character_columns(uint32_t character) {
    /* wcwidth would need a locale, which this program never sets; the ranges are those of UAX #11 that names can
     * meet. */
    static const struct range wide[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},
                                        {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    static const struct range none[] = {{0x300, 0x36f}, {0x200b, 0x200f}, {0xfe00, 0xfe0f}, {0x20d0, 0x20ff}};
    if (character < 0x300) return 1;
    if (in_ranges(character, none, sizeof none / sizeof *none)) return 0;
    return in_ranges(character, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

const char *ids_text_clean(struct ids_arena *arena, const char *text) {
    size_t length = strlen(text);
    if (ids_is_clean(text, length, IDS_CLEAN_LINE)) return text;
    struct ids_buffer buffer = {0};
    ids_clean_put(&buffer, text, length, IDS_CLEAN_LINE);
    const char *clean = buffer.failed ? NULL : ids_arena_copy(arena, buffer.at, buffer.length);
    ids_buffer_done(&buffer);
    return clean ? clean : "";
}

size_t ids_text_head(const char *text, size_t length, int columns) {
    size_t at = 0;
    while (at < length) {
        uint32_t character;
        int valid;
        size_t taken = ids_utf8_next(text + at, length - at, &character, &valid);
        columns -= character_columns(character);
        if (columns < 0) break;
        at += taken;
    }
    return at;
}

int ids_text_columns(const char *text) {
    size_t length = strlen(text);
    int columns = 0;
    for (size_t at = 0; at < length;) {
        uint32_t character;
        int valid;
        at += ids_utf8_next(text + at, length - at, &character, &valid);
        columns += character_columns(character);
    }
    return columns;
}

/* Where the last columns of a text begin; a wide character on the border may cost one. */
static size_t tail_of(const char *text, int columns) {
    size_t length = strlen(text), tail = ids_text_head(text, length, ids_text_columns(text) - columns);
    while (ids_text_columns(text + tail) > columns) tail += ids_text_head(text + tail, length - tail, 2);
    return tail;
}

static const char arrow[] = " \xe2\x86\x92 ";
/* Less of what is around it says nothing. */
enum { LEAST_AROUND = 8 };

/* The first "512 → 1024" of a text, as its first byte and the one behind its last. 0: there is none. */
static int find_change(const char *text, size_t *ret_first, size_t *ret_end) {
    const char *found = strstr(text, arrow);
    if (!found || found == text) return 0;
    const char *first = found, *end = found + sizeof arrow - 1;
    while (first > text && first[-1] != ' ') first--;
    end += strcspn(end, " ");
    *ret_first = (size_t)(first - text);
    *ret_end = (size_t)(end - text);
    return 1;
}

/* "block_2: 512 → 1024:…beside them", or "jit(tra…512 → 1024…": what changed into what is the message. NULL: it says
 * nothing of the kind, or there is no room for it. */
static const char *shorten_around_change(struct ids_arena *arena, const char *text, int columns) {
    size_t first, end, length = strlen(text);
    if (!find_change(text, &first, &end)) return NULL;
    char *shorter = ids_arena_alloc(arena, length + 2 * sizeof ellipsis);
    if (!shorter) return NULL;
    int told = ids_text_columns(text) - ids_text_columns(text + end), behind = columns - told - 1;
    if (behind >= 0) {
        size_t tail = behind < LEAST_AROUND ? length : tail_of(text, behind);
        snprintf(shorter, length + 2 * sizeof ellipsis, "%.*s%s%s", (int)end, text, ellipsis, text + tail);
        return shorter;
    }
    int is_last = end == length;
    int before = columns - (told - (ids_text_columns(text) - ids_text_columns(text + first))) - 2 + is_last;
    if (before < LEAST_AROUND) return NULL;
    size_t head = ids_text_head(text, first, before);
    snprintf(shorter, length + 2 * sizeof ellipsis, "%.*s%s%.*s%s", (int)head, text, ellipsis, (int)(end - first),
             text + first, is_last ? "" : ellipsis);
    return shorter;
}

const char *ids_text_shorten(struct ids_arena *arena, const char *text, int columns) {
    int whole = ids_text_columns(text);
    if (whole <= columns || columns < 1) return text;
    const char *around = shorten_around_change(arena, text, columns);
    if (around) return around;
    size_t length = strlen(text);
    int tail_columns = (columns - 1) / 2;
    size_t head = ids_text_head(text, length, columns - 1 - tail_columns);
    size_t tail = tail_of(text, tail_columns);
    char *shorter = ids_arena_alloc(arena, head + sizeof ellipsis + length - tail);
    if (!shorter) return text;
    memcpy(shorter, text, head);
    memcpy(shorter + head, ellipsis, sizeof ellipsis - 1);
    memcpy(shorter + head + sizeof ellipsis - 1, text + tail, length - tail);
    return shorter;
}

const char *ids_text_upper(struct ids_arena *arena, const char *text) {
    char *upper = ids_arena_copy(arena, text, strlen(text));
    if (!upper) return text;
    for (char *at = upper; *at; at++) {
        if (*at >= 'a' && *at <= 'z') *at = (char)(*at - 'a' + 'A');
    }
    return upper;
}

void ids_spaces(FILE *out, int count) {
    fprintf(out, "%*s", count > 0 ? count : 0, "");
}

void ids_text_wrap(FILE *out, const char *text, int at, int indent, int width) {
    int at_start = 1;
    while (*text) {
        size_t length = strcspn(text, " ");
        /* A figure and its unit stay together: "8.1 ms" is one word to a reader. */
        while (length && text[length - 1] >= '0' && text[length - 1] <= '9' && text[length] == ' ' &&
               text[length + 1]) {
            length += 1 + strcspn(text + length + 1, " ");
        }
        int columns = 0;
        for (size_t i = 0; i < length;) {
            uint32_t character;
            int valid;
            i += ids_utf8_next(text + i, length - i, &character, &valid);
            columns += character_columns(character);
        }
        if (!at_start && at + 1 + columns > width) {
            fputc('\n', out);
            ids_spaces(out, indent);
            at = indent;
            at_start = 1;
        }
        if (!at_start) fputc(' ', out);
        fwrite(text, 1, length, out);
        at += columns + !at_start;
        at_start = 0;
        text += length;
        while (*text == ' ') text++;
    }
    fputc('\n', out);
}

static int line_columns(const struct ids_grid *grid) {
    int columns = IDS_GRID_INDENT - IDS_GRID_BETWEEN;
    for (size_t i = 0; i < grid->column_count; i++) {
        if (!grid->columns[i].left_out) columns += grid->columns[i].width + IDS_GRID_BETWEEN;
    }
    return columns;
}

size_t ids_grid_name(const struct ids_grid *grid) {
    size_t text = 0, is_long = 0;
    for (size_t i = grid->column_count; i-- > 0;) {
        if (grid->columns[i].is_name) return i;
        if (grid->columns[i].stretch) is_long = i + 1;
        if (!grid->columns[i].right) text = i + 1;
    }
    return is_long ? is_long - 1 : text ? text - 1 : 0;
}

/* The widest name that can still be shortened, NULL when there is none. */
static struct ids_grid_column *widest_name(struct ids_grid *grid) {
    struct ids_grid_column *widest = NULL;
    for (size_t i = 0; i < grid->column_count; i++) {
        struct ids_grid_column *column = &grid->columns[i];
        if (!column->stretch || column->left_out || column->width <= LEAST_NAME) continue;
        if (column->width <= ids_text_columns(column->title)) continue;
        if (!widest || column->width > widest->width) widest = column;
    }
    return widest;
}

static int widest_cell(const struct ids_grid *grid, size_t column) {
    int widest = ids_text_columns(grid->columns[column].title);
    for (size_t row = 0; row < grid->row_count; row++) {
        int columns = ids_text_columns(grid->cells[row * grid->column_count + column]);
        if (columns > widest) widest = columns;
    }
    return widest;
}

static int says_nothing(const struct ids_grid *grid, size_t column) {
    for (size_t row = 0; row < grid->row_count; row++) {
        const char *cell = grid->cells[row * grid->column_count + column];
        if (*cell && strcmp(cell, "-") != 0) return 0;
    }
    return 1;
}

/* The first number: what the rows are ordered by, mostly. 0 where there is none beside the first column. */
static size_t figure_column(const struct ids_grid *grid) {
    size_t i = 0;
    while (i < grid->column_count && !grid->columns[i].right) i++;
    return i < grid->column_count ? i : 0;
}

/* Where the first column tells the rows apart, the name beside it may go, before the figure does. What that leaves
 * room for comes back. */
static void leave_out_name(struct ids_grid *grid, size_t name, int width) {
    if (!name || grid->columns[0].right || line_columns(grid) <= width) return;
    grid->columns[name].left_out = IDS_GRID_TOO_WIDE;
    for (size_t i = 1; i < grid->column_count; i++) {
        struct ids_grid_column *column = &grid->columns[i];
        if (column->left_out != IDS_GRID_TOO_WIDE || column->stretch) continue;
        column->left_out = 0;
        if (line_columns(grid) > width) column->left_out = IDS_GRID_TOO_WIDE;
    }
}

static void leave_out(struct ids_grid *grid, int width) {
    size_t name = ids_grid_name(grid), figure = figure_column(grid);
    struct ids_grid_column *column;
    for (size_t i = grid->column_count; i-- > 1 && line_columns(grid) > width;) {
        if (i != name && says_nothing(grid, i)) grid->columns[i].left_out = IDS_GRID_EMPTY;
    }
    while (line_columns(grid) > width && (column = widest_name(grid))) column->width--;
    for (size_t i = grid->column_count; i-- > 1 && line_columns(grid) > width;) {
        if (i != name && i != figure && !grid->columns[i].left_out) grid->columns[i].left_out = IDS_GRID_TOO_WIDE;
    }
    column = &grid->columns[name];
    while (line_columns(grid) > width && column->stretch && column->width > NARROWEST_NAME) column->width--;
    leave_out_name(grid, name, width);
}

void ids_grid_fit(struct ids_grid *grid, int width) {
    grid->fitted_to = width;
    for (size_t i = 0; i < grid->column_count; i++) {
        grid->columns[i].left_out = 0;
        grid->columns[i].width = widest_cell(grid, i);
    }
    if (!width) return;
    leave_out(grid, width);
    /* What the columns left out had taken is given back to the names, from the left. */
    for (size_t i = 0; i < grid->column_count; i++) {
        struct ids_grid_column *column = &grid->columns[i];
        if (!column->stretch || column->left_out) continue;
        int lacks = widest_cell(grid, i) - column->width, spare = width - line_columns(grid);
        if (lacks > 0 && spare > 0) column->width += spare < lacks ? spare : lacks;
    }
}
