/* metric_sql.h - parts of the statements that compute metrics from rows (ids_metric_def.sql). idsprof-schema(5)
 * documents the tables and views; :run is the run's number in the database.
 *
 * A union is summed in order of start: each interval adds its part after the end of all intervals before it. */
#ifndef IDS_LIB_ANALYSIS_METRIC_SQL_H
#define IDS_LIB_ANALYSIS_METRIC_SQL_H

/* Of rows with id, start_ps and the duration `length`, apart for each value of `apart`. */
#define IDS_SQL_SPANS(apart, length, rows)                                                                       \
    "WITH span AS (SELECT start_ps, start_ps + " length " AS end_ps, max(start_ps + " length                     \
    ") OVER (PARTITION BY " apart " ORDER BY start_ps, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS " \
    "before_ps FROM " rows ") "
#define IDS_SQL_UNION                                                                                          \
    "coalesce(sum(CASE WHEN before_ps > end_ps THEN 0 WHEN before_ps > start_ps THEN end_ps - before_ps ELSE " \
    "end_ps - start_ps END), 0)"

/* Rows of a view of activities with their ends cut at the device's window: what runs beside its ops may end later. */
#define IDS_SQL_IN_WINDOW(view, which)                                                                              \
    "(SELECT a.*, CASE WHEN a.start_ps + a.dur_ps > d.start_ps + d.dur_ps THEN d.start_ps + d.dur_ps - a.start_ps " \
    "ELSE a.dur_ps END AS cut_ps FROM " view " a LEFT JOIN devices d ON d.run = a.run AND d.device = a.device "     \
    "WHERE a.run = :run AND a.is_active = 1 AND " which ")"

/* Σ window, over the active devices. */
#define IDS_SQL_WINDOWS "(SELECT sum(dur_ps) FROM devices WHERE run = :run AND is_active = 1)"
/* Time of the active devices in which `what` (an expression of device_time's columns, 0 or 1) holds. */
#define IDS_SQL_TIME(what) "SELECT coalesce(sum(dur_ps * (" what ")), 0) FROM device_time WHERE run = :run"
#define IDS_SQL_TIME_SHARE(what) \
    "SELECT sum(dur_ps * (" what ")) * 1.0 / " IDS_SQL_WINDOWS " FROM device_time WHERE run = :run"

#endif
