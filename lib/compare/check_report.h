/* check_report.h - a check as properties and a table, for JSON. */
#ifndef IDS_LIB_COMPARE_CHECK_REPORT_H
#define IDS_LIB_COMPARE_CHECK_REPORT_H

#include "lib/compare/check.h"

/* Fills check->report. */
void ids_check_report(struct ids_check *check);

#endif
