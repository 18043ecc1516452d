#include "lib/analysis/late.h"

#include "lib/analysis/booking.h"
#include "lib/analysis/participants.h"
#include "lib/base/saturate.h"

#include <stdlib.h>

/* How long a device was waited for in meetings of several hosts: the means of those who waited in each, summed up. */
struct awaited {
    int64_t others_ps;   /* by devices of other hosts */
    int64_t beside_ps;   /* of that: where other devices of its own host took part */
    int64_t siblings_ps; /* by these */
};

/* The same of all devices of a host. */
struct host {
    struct awaited sum;
    int64_t most_ps, least_ps; /* what others waited for one of its devices */
    uint32_t most;             /* that device, index of analysis->busy */
    uint32_t devices;
};

int ids_wait_counts(const struct ids_booking *booking, const struct ids_wait *wait) {
    return booking->counts_steps ? wait->step != IDS_NONE : (wait->state & IDS_IS_IN_WINDOW) != 0;
}

static void add_wait(const struct ids_booking *booking, const struct ids_wait *wait, struct awaited *awaited) {
    const struct ids_analysis *analysis = booking->analysis;
    const struct ids_meeting *meeting = wait->meeting;
    if (!ids_wait_counts(booking, wait) || !ids_is_between_hosts(meeting)) return;
    int64_t length_ps = wait->to_ps - wait->from_ps;
    if (analysis->busy[wait->device].device->host == analysis->busy[wait->awaited].device->host) {
        ids_sum(&awaited->siblings_ps, length_ps / (meeting->of_last_host - 1));
        return;
    }
    length_ps /= meeting->count - meeting->of_last_host;
    ids_sum(&awaited->others_ps, length_ps);
    if (meeting->of_last_host > 1) ids_sum(&awaited->beside_ps, length_ps);
}

static void add_device(struct host *host, uint32_t busy, const struct awaited *awaited) {
    ids_sum(&host->sum.others_ps, awaited->others_ps);
    ids_sum(&host->sum.beside_ps, awaited->beside_ps);
    ids_sum(&host->sum.siblings_ps, awaited->siblings_ps);
    if (!host->devices || awaited->others_ps > host->most_ps) host->most_ps = awaited->others_ps, host->most = busy;
    if (!host->devices || awaited->others_ps < host->least_ps) host->least_ps = awaited->others_ps;
    host->devices++;
}

/* Where devices of a host do not meet each other, as with a group for each place in a host, all of them are waited for
 * alike, or they are not. */
static enum ids_late_how how_late(const struct host *host) {
    if (host->devices < 2 || !host->sum.others_ps) return IDS_LATE_ALONE;
    int is_one = host->most_ps >= host->sum.others_ps / 4 * 3;
    if (host->sum.beside_ps < host->sum.others_ps / 2) {
        if (is_one) return IDS_LATE_ALONE;
        return host->least_ps >= host->most_ps / 2 ? IDS_LATE_ALIKE : IDS_LATE_IN_TURN;
    }
    if (host->sum.siblings_ps < host->sum.beside_ps / 2) return IDS_LATE_ALIKE;
    return is_one ? IDS_LATE_ALONE : IDS_LATE_IN_TURN;
}

int ids_late_make(struct ids_booking *booking) {
    const struct ids_analysis *analysis = booking->analysis;
    struct ids_ledger *ledger = booking->ledger;
    struct awaited *awaited = calloc(analysis->busy_count + 1, sizeof *awaited);
    struct host *hosts = calloc(analysis->trace->host_count + 1, sizeof *hosts);
    ledger->late = calloc(analysis->busy_count + 1, sizeof *ledger->late);
    int failed = !awaited || !hosts || !ledger->late;
    for (size_t w = 0; w < booking->wait_count && !failed; w++)
        add_wait(booking, &booking->waits[w], &awaited[booking->waits[w].awaited]);
    for (uint32_t b = 0; b < analysis->busy_count && !failed; b++)
        add_device(&hosts[analysis->busy[b].device->host], b, &awaited[b]);
    for (uint32_t b = 0; b < analysis->busy_count && !failed; b++) {
        const struct host *host = &hosts[analysis->busy[b].device->host];
        enum ids_late_how how = how_late(host);
        ledger->late[b] = (struct ids_late){how == IDS_LATE_ALONE ? b : host->most, (uint8_t)how};
    }
    free(awaited);
    free(hosts);
    return failed ? -1 : 0;
}

const char *ids_late_name(const struct ids_analysis *analysis, uint32_t busy, struct ids_arena *arena) {
    const struct ids_device *device = analysis->busy[busy].device;
    return ids_late_how(&analysis->ledger, busy) == IDS_LATE_ALONE
               ? ids_rank_name(analysis->trace, device, arena)
               : ids_host_called(analysis->trace, device->host, arena);
}
