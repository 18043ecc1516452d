#include "lib/report/grid.h"

#include "lib/report/alike.h"
#include "lib/report/markdown.h"

#include <string.h>

enum { WIDEST_CODE = 100 };

static void write_row(const struct ids_grid *grid, struct ids_arena *arena, const char *const *cells, FILE *out) {
    int owed = IDS_GRID_INDENT; /* spaces that are only written when something follows them */
    for (size_t i = 0; i < grid->column_count; i++) {
        const struct ids_grid_column *column = &grid->columns[i];
        if (column->left_out) continue;
        const char *cell = cells ? cells[i] : column->title;
        if (column->stretch) cell = ids_text_shorten(arena, cell, column->width);
        int pad = column->width - ids_text_columns(cell);
        if (column->right) owed += pad;
        if (*cell) {
            ids_spaces(out, owed);
            fputs(cell, out);
            owed = 0;
        } else {
            owed += column->width - pad;
        }
        if (!column->right) owed += pad;
        owed += IDS_GRID_BETWEEN;
    }
}

void ids_grid_write(struct ids_grid *grid, struct ids_arena *arena, const char *bold, const char *plain, FILE *out) {
    ids_grid_tell_apart(grid, ids_grid_name(grid), arena);
    const char **shown = ids_grid_shortened(grid, arena);
    fputs(bold, out);
    write_row(grid, arena, NULL, out);
    fprintf(out, "%s\n", plain);
    for (size_t row = 0; row < grid->row_count; row++) {
        write_row(grid, arena, (shown ? shown : grid->cells) + row * grid->column_count, out);
        fputc('\n', out);
    }
}

static void write_markdown_cell(const struct ids_grid_column *column, struct ids_arena *arena, const char *cell,
                                FILE *out) {
    fputs("| ", out);
    for (; *cell == ' '; cell++) fputs("&nbsp;", out); /* how far in a row of a tree stands */
    if (column->stretch && strcmp(cell, "-") != 0)
        ids_markdown_code(out, arena, ids_text_shorten(arena, cell, WIDEST_CODE));
    else
        ids_markdown_text(out, arena, cell);
    fputc(' ', out);
}

void ids_grid_write_markdown(struct ids_grid *grid, struct ids_arena *arena, FILE *out) {
    ids_grid_fit(grid, 0);
    ids_grid_tell_apart(grid, ids_grid_name(grid), arena);
    for (size_t i = 0; i < grid->column_count; i++) {
        if (!grid->columns[i].left_out) fprintf(out, "| %s ", grid->columns[i].title);
    }
    fputs("|\n", out);
    for (size_t i = 0; i < grid->column_count; i++) {
        if (!grid->columns[i].left_out) fputs(grid->columns[i].right ? "| ---: " : "| --- ", out);
    }
    fputs("|\n", out);
    for (size_t row = 0; row < grid->row_count; row++) {
        for (size_t i = 0; i < grid->column_count; i++) {
            if (!grid->columns[i].left_out)
                write_markdown_cell(&grid->columns[i], arena, grid->cells[row * grid->column_count + i], out);
        }
        fputs("|\n", out);
    }
}
