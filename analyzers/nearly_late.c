#include "analyzers/nearly_late.h"

#include "lib/analysis/late.h"
#include "lib/analysis/past.h"
#include "lib/base/saturate.h"

int64_t ids_waits_for_piece(const struct ids_adviser *adviser, const struct ids_piece *piece, size_t busy) {
    const struct ids_ledger *ledger = &adviser->analysis->ledger;
    enum ids_account account = piece->account == IDS_COMM_WAIT ? IDS_WORK_COMPUTE : piece->account;
    uint32_t late = ids_late_as(ledger, piece->device);
    int64_t own_ps = 0;
    for (size_t s = ledger->first_share[busy]; s < ledger->first_share[busy + 1]; s++) {
        const struct ids_ledger_entry *entry = &ledger->entries[ledger->shares[s].entry];
        if (entry->cause == IDS_NONE || ids_late_as(ledger, entry->awaited) != late) continue;
        if (ledger->entries[entry->cause].account == account) ids_sum(&own_ps, ledger->shares[s].ps);
    }
    return own_ps;
}

/* What the late one and the others have, by which a device is judged. */
struct measure {
    int64_t late_ps, least_ps;
};

typedef int counts(const struct ids_piece *piece, const struct ids_ledger_entry *entry);

/* What a device is late by: of that culprit, or of compute. */
static int is_of_piece(const struct ids_piece *piece, const struct ids_ledger_entry *entry) {
    return piece->account == IDS_COMM_WAIT ? entry->account == IDS_WORK_COMPUTE : entry == piece->most;
}

static int is_before_meeting(const struct ids_piece *piece, const struct ids_ledger_entry *entry) {
    (void)piece;
    return !ids_is_of_meetings(entry->account);
}

static int64_t amount_of(const struct ids_adviser *adviser, const struct ids_piece *piece, size_t busy, counts *which) {
    const struct ids_ledger *ledger = &adviser->analysis->ledger;
    int64_t amount_ps = 0;
    for (size_t s = ledger->first_share[busy]; s < ledger->first_share[busy + 1]; s++) {
        if (which(piece, &ledger->entries[ledger->shares[s].entry])) ids_sum(&amount_ps, ledger->shares[s].ps);
    }
    return amount_ps;
}

static struct measure measure(const struct ids_adviser *adviser, const struct ids_piece *piece, counts *which) {
    struct measure measure = {amount_of(adviser, piece, piece->device, which), INT64_MAX};
    for (size_t b = 0; b < adviser->analysis->busy_count; b++) {
        int64_t amount_ps = amount_of(adviser, piece, b, which);
        if (amount_ps < measure.least_ps) measure.least_ps = amount_ps;
    }
    return measure;
}

/* By which it has more than half of what the late one has more than others. */
static int has_as_much(const struct ids_adviser *adviser, const struct ids_piece *piece, uint32_t busy,
                       const struct measure *measure, counts *which) {
    return amount_of(adviser, piece, busy, which) - measure->least_ps > (measure->late_ps - measure->least_ps) / 2;
}

/* A host whose devices all come nearly as late, else the device alone. Devices of a host stand beside each other. */
static const char *say_first(const struct ids_adviser *adviser, uint32_t first, size_t of_host) {
    const struct ids_analysis *analysis = adviser->analysis;
    uint32_t host = analysis->busy[first].device->host;
    size_t devices = 0;
    for (size_t b = 0; b < analysis->busy_count; b++) devices += analysis->busy[b].device->host == host;
    if (of_host < devices || analysis->trace->host_count < 2) return ids_adviser_device(adviser, first);
    struct ids_arena names = {0};
    const char *name = ids_host_called(analysis->trace, host, &names);
    const char *kept = ids_report_text(adviser->report, "%s", name ? name : "");
    ids_arena_done(&names);
    return kept;
}

struct ids_nearly_late ids_nearly_late_as(const struct ids_adviser *adviser, const struct ids_piece *piece) {
    const struct ids_analysis *analysis = adviser->analysis;
    const struct ids_ledger *ledger = &analysis->ledger;
    const struct measure all = measure(adviser, piece, is_before_meeting), own = measure(adviser, piece, is_of_piece);
    struct ids_nearly_late nearly = {.alone_ps = INT64_MAX, .is_of_same = 1};
    uint32_t first = 0, last_host = IDS_NONE;
    size_t of_first_host = 0;
    int64_t longest_ps = 0;
    for (uint32_t b = 0; b < analysis->busy_count; b++) {
        int64_t waits_ps = ids_waits_for_piece(adviser, piece, b);
        if (waits_ps > longest_ps) longest_ps = waits_ps;
    }
    for (uint32_t b = 0; b < analysis->busy_count; b++) {
        uint32_t host = analysis->busy[b].device->host;
        int64_t waits_ps = ids_waits_for_piece(adviser, piece, b); /* without one it never meets the late one */
        if (!waits_ps || waits_ps >= longest_ps / 2 || ids_late_as(ledger, b) == ids_late_as(ledger, piece->device) ||
            !has_as_much(adviser, piece, b, &all, is_before_meeting))
            continue;
        if (!nearly.hosts) first = b;
        of_first_host += host == analysis->busy[first].device->host;
        nearly.hosts += host != last_host;
        last_host = host;
        nearly.is_of_same &= has_as_much(adviser, piece, b, &own, is_of_piece);
        if (waits_ps < nearly.alone_ps) nearly.alone_ps = waits_ps;
    }
    if (!nearly.hosts) return nearly;
    nearly.names = say_first(adviser, first, of_first_host);
    if (nearly.hosts > 1)
        nearly.names = ids_report_text(adviser->report, "%s and %zu more", nearly.names, nearly.hosts - 1);
    return nearly;
}
