/* course_groups.h - what changes at the same run put together: causes, their parts, and what they moved. */
#ifndef IDS_LIB_COMPARE_COURSE_GROUPS_H
#define IDS_LIB_COMPARE_COURSE_GROUPS_H

#include "lib/compare/course.h"

/* Sorts the rows and fills the groups. 0, or -1 when memory ran out. */
int ids_course_group(struct ids_course *course);
/* That of the step's time, or without steps the window's; NULL: there is none. */
const struct ids_course_row *ids_course_whole(const struct ids_course *course, const struct ids_course_rows *rows);

#endif
