/* painter.h - what the renderers for people share: the pen, its colours, headings, figures, tables and words.
 *
 * With render->markdown the same calls write Markdown: what calls them need not know.
 */
#ifndef IDS_LIB_REPORT_PAINTER_H
#define IDS_LIB_REPORT_PAINTER_H

#include "lib/report/layout.h"
#include "lib/report/render.h"

struct ids_painter {
    const struct ids_report *report;
    const struct ids_render *render;
    FILE *out;
    struct ids_arena arena; /* of this rendering */
    int out_of_memory;
    const char *bold, *plain; /* escape sequences, "" without colour */
    const char *heading;      /* of the section that is being written, so that a table does not repeat it; NULL: none */
};

void ids_painter_init(struct ids_painter *painter, const struct ids_report *report, const struct ids_render *render,
                      FILE *out);
int ids_painter_done(struct ids_painter *painter, struct ids_error *err);

/* The line width to keep to; without bound for --full. */
int ids_painter_width(const struct ids_painter *painter);

/* A text that is put together piece by piece. ids_phrase_end gives it, cleaned, for as long as the painter lives. */
struct ids_phrase {
    FILE *out; /* NULL as long as nothing was added */
    char *text;
    size_t length;
    int out_of_memory; /* pieces were lost; ids_phrase_end tells the painter */
};
struct ids_phrase ids_phrase_begin(void);
void ids_phrase_add(struct ids_phrase *phrase, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *ids_phrase_end(struct ids_painter *painter, struct ids_phrase *phrase);

/* The value as people read it; a text value whole. */
const char *ids_painter_value(struct ids_painter *painter, struct ids_value value);

/* A line of the report: what, how much, how good, and what to know beside it. Texts are clean. */
struct ids_figure {
    const char *title, *value, *notes;
    enum ids_grade grade;
    int is_text; /* the value is no number */
};
void ids_painter_figures(struct ids_painter *painter, const struct ids_figure *figures, size_t count);
/* The first line of a report: what the run is (render_text.c). */
void ids_painter_run(struct ids_painter *painter);
void ids_painter_heading(struct ids_painter *painter, const char *title);
/* What follows is folded up in Markdown, until ids_painter_unfold. */
void ids_painter_fold(struct ids_painter *painter, const char *title);
void ids_painter_unfold(struct ids_painter *painter);
/* Words behind a label ("warning", "1"), which takes `indent` columns with the space around it; without one ("") only
 * the lines that follow stand further in. An item of a list in Markdown. */
void ids_painter_item(struct ids_painter *painter, const char *label, int indent, const char *text);
/* More of the item, on a line of its own; and a command there, which is never wrapped. `indent` 2: below no item. */
void ids_painter_more(struct ids_painter *painter, int indent, const char *text);
void ids_painter_command(struct ids_painter *painter, int indent, const char *command);
/* A grid that is filled: fitted to the width. */
void ids_painter_grid(struct ids_painter *painter, struct ids_grid *grid);

/* A table, at most `top` rows (0: all). An empty one is a line that says so when `say_empty`, else nothing. */
void ids_painter_table(struct ids_painter *painter, const struct ids_table *table, int64_t top, int say_empty);

/* "GPU:0" of "host0:/device:GPU:0", "CPU#3" of "host:/host:CPU#3". */
const char *ids_device_label(const char *device);
/* The metric's value for each device, "GPU:0 72.0 %, GPU:1 70.6 %"; of many devices the least and the most. */
void ids_phrase_devices(struct ids_phrase *phrase, struct ids_painter *painter, const char *metric);

#endif
