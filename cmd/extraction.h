/* extraction.h - what the files of the command extract share: its options, and what came of them. */
#ifndef IDS_CMD_EXTRACTION_H
#define IDS_CMD_EXTRACTION_H

#include "cmd/redact_options.h"
#include "lib/cli/opt.h"
#include "lib/cli/output.h"
#include "lib/export/export.h"
#include "lib/io/run_files.h"
#include "lib/run/engine.h"
#include "lib/run/extract_accounts.h"
#include "lib/run/extract_window.h"

/* --format: the files as they are, then the formats of exports.def, then programs. */
enum { IDS_EXTRACT_RAW = 0 };

struct ids_extract_options {
    const char *folder, *run, *steps;
    int list, json, force, quiet, format, accounts;
    int64_t from_ps, to_ps, min_duration_ps;
    struct ids_opt_texts devices, tracks, names;
    struct ids_redact_options redact;
};

struct ids_extraction {
    struct ids_engine engine;
    const struct ids_extract_options *options;
    const struct ids_run_files *run;
    struct ids_redactor redactor;
    int redacts;
    struct ids_extract_window window;
    struct ids_extract_accounts accounts;
    struct ids_output_set outputs;
    uint64_t files, bytes, events;
    int incomplete;
    const char *lack_of_accounts; /* what say() adds about them */
    int reader_left;              /* standard output has nobody at its end any more */
    struct ids_export_loss losses[IDS_EXPORT_LOSSES];
};

int ids_extract_hlo(void); /* the --format of programs */
/* NULL for raw and programs. */
const struct ids_export_format *ids_extract_export(const struct ids_extract_options *options);
/* What an output of the run's file is called, without its ending. */
int ids_extract_stem(struct ids_extraction *extraction, size_t file, char *buffer, size_t room, struct ids_error *err);
int ids_extract_to_stdout(const struct ids_extraction *extraction);
int ids_extract_has_filter(const struct ids_extract_options *options);

/* Standard output takes one file. */
int ids_extract_check_single(const struct ids_extraction *extraction, size_t count, struct ids_error *err);
/* Counts a finished output. */
int ids_extract_end_output(struct ids_extraction *extraction, struct ids_output *output, int code,
                           struct ids_error *err);

int ids_extract_raw(struct ids_extraction *extraction, struct ids_error *err);
int ids_extract_convert(struct ids_extraction *extraction, struct ids_error *err);
int ids_extract_programs(struct ids_extraction *extraction, struct ids_error *err);
/* No event is as the options want it: says what there is. The command's status, or a code. */
int ids_extract_nothing(struct ids_extraction *extraction, struct ids_error *err);

#endif
