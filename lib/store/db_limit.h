/* db_limit.h - what SQL may cost on a database that is opened to read: a statement of a stranger, or of a view in a
 * file, may never end or sort without end. Of the whole process. */
#ifndef IDS_LIB_STORE_DB_LIMIT_H
#define IDS_LIB_STORE_DB_LIMIT_H

#include <stdint.h>

/* Call it before a database is opened. CPU time (picoseconds, counted from each opening; waiting for a pager does
 * not count) and bytes; 0 is no limit. */
void ids_db_limit_set(int64_t timeout_ps, int64_t memory_bytes);

#endif
