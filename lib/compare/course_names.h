/* course_names.h - what a change looks like when only a name changed: one figure is gone, and another one of its kind
 * is new and takes the same time.
 */
#ifndef IDS_LIB_COMPARE_COURSE_NAMES_H
#define IDS_LIB_COMPARE_COURSE_NAMES_H

#include "lib/compare/course.h"

/* For each row the row of the figure that it may have become, SIZE_MAX: none. Only causes are asked, and each new one
 * stands for one that is gone, both in the order of their names: layers are numbered alike under either name. One
 * that stands for another has itself. `ret_new` has a place for each row. */
void ids_course_new_names(const struct ids_course *course, const struct ids_course_rows *rows, size_t *ret_new);

#endif
