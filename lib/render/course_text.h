/* course_text.h - the course of figures over many runs as text. */
#ifndef IDS_LIB_RENDER_COURSE_TEXT_H
#define IDS_LIB_RENDER_COURSE_TEXT_H

#include "lib/compare/course.h"
#include "lib/report/render.h"

/* Which runs of the file are not in the series, and why. */
enum { IDS_COURSE_NOTE = 1200 };
struct ids_course_note {
    char text[IDS_COURSE_NOTE];  /* a sentence */
    char where[IDS_COURSE_NOTE]; /* the value of --where that chooses them, quoted; "": none */
};
/* `path`, of the file, is for commands that can be copied. */
int ids_render_course(const struct ids_course *course, const struct ids_render *render, const char *path,
                      const struct ids_course_note *left_out, size_t left_out_count, FILE *out, struct ids_error *err);

/* "2026-10-11" of a run, UTC. */
enum { IDS_DAY_ROOM = 16 };
const char *ids_day_of(int64_t unix_s, char day[IDS_DAY_ROOM]);

/* "2026-10-11, night_41" of a run, without the day where the name begins with it. */
enum { IDS_COURSE_NAME = 320 };
const char *ids_course_name(const struct ids_series_run *run, char text[IDS_COURSE_NAME]);

#endif
