/* accounts.h - a sink that passes its input on and, after the last event, adds a track to each device: the ledger's
 * intervals, to the nanosecond. Filters come after it, so that they apply to these tracks too. */
#ifndef IDS_LIB_EXPORT_ACCOUNTS_H
#define IDS_LIB_EXPORT_ACCOUNTS_H

#include "lib/model/findings.h"
#include "lib/model/sink.h"

struct ids_accounts_device {
    const char *plane;              /* on which it lies */
    const char *track;              /* what its accounts are called */
    int64_t ordinal;                /* of a CPU device, which shares its plane with others; else -1 */
    uint32_t host;                  /* index of the trace's */
    struct ids_found_cursor before; /* its intervals: where they begin, and how many they are */
    size_t count;
};

struct ids_accounts_params {
    const struct ids_accounts_device *devices;
    size_t device_count;
    uint32_t host;                       /* that of the file: other hosts' devices are left out */
    int64_t shift_ps;                    /* what makes the file's times the run's */
    const struct ids_findings *findings; /* intervals, their culprits, steps */
    const char *const *known;            /* how an account is known, by ids_found_interval.known */
};

struct ids_accounts;

/* What the params point to stays the caller's. */
int ids_accounts_new(struct ids_sink *next, const struct ids_accounts_params *params,
                     struct ids_accounts **ret_accounts, struct ids_error *err);
struct ids_sink *ids_accounts_sink(struct ids_accounts *accounts);
/* Adds the tracks, once the reader is done. */
int ids_accounts_finish(struct ids_accounts *accounts, struct ids_error *err);
void ids_accounts_free(struct ids_accounts *accounts);

#endif
