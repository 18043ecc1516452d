/* course_text.h - the course of figures over many runs as text. */
#ifndef IDS_LIB_RENDER_COURSE_TEXT_H
#define IDS_LIB_RENDER_COURSE_TEXT_H

#include "lib/compare/course.h"
#include "lib/report/render.h"

/* `left_out`: why runs of the file are not in the series, one sentence; NULL: all are. */
int ids_render_course(const struct ids_course *course, const struct ids_render *render, const char *left_out, FILE *out,
                      struct ids_error *err);

/* "2026-10-11" of a run, UTC. */
enum { IDS_DAY_ROOM = 16 };
const char *ids_day_of(int64_t unix_s, char day[IDS_DAY_ROOM]);

#endif
