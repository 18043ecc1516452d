/* history_tables.h - the tables of what the agent saw of a captured process's steps beside the profile. They are static
 * data; lib/run/history.c fills them, because the profile knows nothing of it. */
#ifndef IDS_LIB_ANALYSIS_HISTORY_TABLES_H
#define IDS_LIB_ANALYSIS_HISTORY_TABLES_H

#include "lib/report/report.h"

enum { IDS_HISTORY_COLUMNS = 11, IDS_SLOW_STEPS_COLUMNS = 7 };

extern const struct ids_table_def ids_history_table, ids_slow_steps_table;

#endif
