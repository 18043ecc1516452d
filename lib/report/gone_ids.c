#include "lib/report/gone_ids.h"

#include <stddef.h>
#include <string.h>

/* The parts of a step and the causes of gaps became accounts of the ledger. An idle cause also had its share of
 * idle.total, with _share behind it: the same accounts replace it. */
static const struct {
    const char *id, *replacement;
} gone[] = {
    {"idle.collective_wait", "idle.comm.wait"},
    {"idle.host_late", "idle.host.compile, idle.host.input, idle.host.sync, idle.host.staging, idle.host.runtime, "
                       "idle.host.region, idle.host.python, idle.host.dispatch and idle.host.unknown"},
    {"idle.host_late.compile", "idle.host.compile"},
    {"idle.host_late.input", "idle.host.input"},
    {"idle.host_late.launch_bound", "idle.host.dispatch"},
    {"idle.host_late.not_recorded", "idle.host.unknown"},
    {"idle.host_late.python", "idle.host.python"},
    {"idle.host_late.staging", "idle.host.staging"},
    {"idle.host_late.sync", "idle.host.sync"},
    {"idle.in_program", "idle.device.in_program"},
    {"idle.not_recorded", "idle.device.unknown"},
    {"idle.queue", "idle.device.queue"},
    {"idle.transfer_wait", "idle.copy.h2d and idle.copy.d2h"},
    {"steps.collective", "steps.comm.transfer and steps.comm.wait"},
    {"steps.compile", "steps.host.compile"},
    {"steps.compute", "steps.work.compute"},
    {"steps.d2h", "steps.copy.d2h"},
    {"steps.h2d", "steps.copy.h2d"},
    {"steps.host", "steps.host.sync, steps.host.staging, steps.host.runtime, steps.host.region, steps.host.python, "
                   "steps.host.dispatch and steps.host.unknown"},
    {"steps.idle", "steps.device.in_program, steps.device.queue and steps.device.unknown"},
    {"steps.input", "steps.host.input"},
    {"steps.other", "steps.copy.d2d, steps.copy.p2p, steps.copy.set and steps.copy.other"},
    {"steps.stalled", "steps.stall.device and steps.comm.wait"},
};
enum { GONE = sizeof gone / sizeof *gone };

static int is_id(const char *gone_id, const char *id) {
    size_t length = strlen(gone_id);
    if (strncmp(gone_id, id, length) != 0) return 0;
    return !id[length] || (!strncmp(gone_id, "idle.", 5) && !strcmp(id + length, "_share"));
}

const char *ids_gone_id_replacement(const char *id) {
    for (int i = 0; i < GONE; i++) {
        if (is_id(gone[i].id, id)) return gone[i].replacement;
    }
    return NULL;
}

int ids_gone_id_is_replaced_by(const char *gone_id, const char *id) {
    const char *at = ids_gone_id_replacement(gone_id);
    size_t length = strlen(id);
    while (at && (at = strstr(at, id)) != NULL) {
        if (!at[length] || at[length] == ',' || at[length] == ' ') return 1;
        at += length;
    }
    return 0;
}

const char *ids_gone_id(int number) {
    return number >= 0 && number < GONE ? gone[number].id : NULL;
}
