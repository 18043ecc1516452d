/* summary_sql.h - what a summary's file says of units, grades and severities, and the tables of a report as SQL. Used
 * by the two sides of summary.h: summary.c, which writes, and summary_read.c. */
#ifndef IDS_LIB_STORE_SUMMARY_SQL_H
#define IDS_LIB_STORE_SUMMARY_SQL_H

#include "lib/report/report.h"

enum { IDS_SUMMARY_GRADES = 4, IDS_SUMMARY_SEVERITIES = 3 };

/* By enum ids_unit, ids_grade (NULL: IDS_GRADE_NONE) and the severity of a diagnosis. Words of the file, not of
 * renderers: changing one raises IDS_SCHEMA_VERSION. */
extern const char *const ids_summary_units[IDS_UNITS];
extern const char *const ids_summary_grades[IDS_SUMMARY_GRADES];
extern const char *const ids_summary_severities[IDS_SUMMARY_SEVERITIES];

/* CREATE TABLE of a table of the report, as sqlite_schema keeps it, so that it can be compared. The caller's to free
 * with sqlite3_free; NULL when memory ran out. */
char *ids_summary_create_table(const struct ids_table_def *def);
/* INSERT of one row, ?1 the run, then the columns. Owned as above. */
char *ids_summary_insert_row(const struct ids_table_def *def);

#endif
