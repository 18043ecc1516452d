/* extract_accounts.h - the intervals of a run's ledger, device by device, for `extract --accounts`. */
#ifndef IDS_LIB_RUN_EXTRACT_ACCOUNTS_H
#define IDS_LIB_RUN_EXTRACT_ACCOUNTS_H

#include "lib/export/accounts.h"
#include "lib/model/trace.h"
#include "lib/run/engine.h"

struct ids_extract_accounts {
    struct ids_findings findings; /* only what the tracks need */
    struct ids_accounts_device *devices;
    size_t device_count;
    int64_t *shifts_ps; /* by host: what makes its times the run's */
    size_t shift_count;
    int is_part; /* memory has no room for the whole run */
};

/* Analyses the run. */
int ids_extract_accounts_of(const struct ids_engine *engine, const struct ids_trace *trace,
                            struct ids_extract_accounts *ret_accounts, struct ids_error *err);
/* What is of the run's file of that number. */
void ids_extract_accounts_in(const struct ids_extract_accounts *accounts, size_t file,
                             struct ids_accounts_params *ret_params);
void ids_extract_accounts_done(struct ids_extract_accounts *accounts);

#endif
