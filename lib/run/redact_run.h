/* redact_run.h - a run, and its report, as others may see them. */
#ifndef IDS_LIB_RUN_REDACT_RUN_H
#define IDS_LIB_RUN_REDACT_RUN_H

#include "lib/io/run_files.h"
#include "lib/redact/redacting.h"
#include "lib/report/report.h"
#include "lib/run/engine.h"

/* Reads the run once, so that the redactor learns which names it has to take out. */
int ids_redactor_read(const struct ids_engine *engine, const struct ids_run_files *run, struct ids_redactor *redactor,
                      struct ids_error *err);
/* What a file of the run is called when it is given to others, without an ending: ranks keep their number, others are
 * counted, so that they sort as before. */
int ids_redacted_stem(struct ids_redactor *redactor, const struct ids_run_files *run, size_t file, char *buffer,
                      size_t room, struct ids_error *err);
/* Takes names out of all texts of a report, those that say where the run lies among them. */
int ids_redact_report(struct ids_redactor *redactor, struct ids_report *report, struct ids_error *err);

#endif
