/* course_report.h - a course as tables, for programs. */
#ifndef IDS_LIB_COMPARE_COURSE_REPORT_H
#define IDS_LIB_COMPARE_COURSE_REPORT_H

#include "lib/compare/course.h"

void ids_course_report(struct ids_course *course);

#endif
