#include "lib/run/extract_accounts.h"

#include "lib/analysis/analysis.h"
#include "lib/analysis/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The plane in a device's key, "<host>:<plane>", of CPU devices "<host>:<plane>#<ordinal>". */
static const char *plane_of(const struct ids_trace *trace, const struct ids_device *device, struct ids_arena *texts) {
    const char *host = ids_trace_text(trace, trace->hosts[device->host].name), *plane = device->key;
    size_t length = strlen(host);
    if (!strncmp(plane, host, length) && plane[length] == ':') plane += length + 1;
    const char *end = device->kind == IDS_DEVICE_CPU ? strrchr(plane, '#') : NULL;
    return ids_arena_copy(texts, plane, end ? (size_t)(end - plane) : strlen(plane));
}

/* CPU devices share a plane, so that their tracks say which is whose. */
static const char *track_of(const struct ids_device *device, struct ids_arena *texts) {
    char name[64];
    int length = device->kind == IDS_DEVICE_CPU ? snprintf(name, sizeof name, "accounts %s", device->label)
                                                : snprintf(name, sizeof name, "accounts");
    return ids_arena_copy(texts, name, (size_t)length);
}

static int list_devices(const struct ids_trace *trace, struct ids_extract_accounts *accounts) {
    struct ids_findings *findings = &accounts->findings;
    accounts->devices = calloc(trace->device_count + 1, sizeof *accounts->devices);
    accounts->shifts_ps = calloc(trace->host_count + 1, sizeof *accounts->shifts_ps);
    if (!accounts->devices || !accounts->shifts_ps) return -1;
    for (size_t i = 0; i < trace->host_count; i++) accounts->shifts_ps[i] = trace->hosts[i].shift_ps;
    accounts->shift_count = trace->host_count;
    struct ids_found_cursor before,
        cursor = before = ids_found_cursor_over(findings->intervals, findings->interval_lists);
    uint32_t last = IDS_NONE;
    for (const struct ids_found_interval *interval; (interval = ids_found_cursor_next(&cursor)); before = cursor) {
        if (interval->device == last) {
            accounts->devices[accounts->device_count - 1].count++;
            continue;
        }
        last = interval->device;
        const struct ids_device *device = &trace->devices[last];
        struct ids_accounts_device *own = &accounts->devices[accounts->device_count++];
        *own = (struct ids_accounts_device){.plane = plane_of(trace, device, &findings->texts),
                                            .track = track_of(device, &findings->texts),
                                            .ordinal = device->kind == IDS_DEVICE_CPU ? device->ordinal : -1,
                                            .host = device->host,
                                            .before = before,
                                            .count = 1};
        if (!own->plane || !own->track) return -1;
    }
    return 0;
}

/* The rest points into the trace, which goes before the run is read again. */
static void drop_events(struct ids_findings *findings) {
    free(findings->work);
    free(findings->launches);
    free(findings->host_activities);
    findings->work = NULL;
    findings->launches = NULL;
    findings->host_activities = NULL;
    findings->work_count = findings->launch_count = findings->host_activity_count = 0;
}

int ids_extract_accounts_of(const struct ids_engine *engine, const struct ids_trace *trace,
                            struct ids_extract_accounts *ret_accounts, struct ids_error *err) {
    struct ids_params params;
    struct ids_report report;
    ids_params_default(&params);
    ids_report_init(&report);
    *ret_accounts = (struct ids_extract_accounts){0};
    ids_engine_progress(engine, "analyzing");
    int code = ids_analyze_events(trace, &params, &report, &ret_accounts->findings, err);
    ids_report_done(&report);
    if (code) return code;
    drop_events(&ret_accounts->findings);
    for (size_t i = 0; i < trace->diag_count; i++) ret_accounts->is_part |= !strcmp(trace->diags[i].id, "model.part");
    if (!list_devices(trace, ret_accounts)) return 0;
    ids_extract_accounts_done(ret_accounts);
    return ids_no_memory(err);
}

void ids_extract_accounts_in(const struct ids_extract_accounts *accounts, size_t file,
                             struct ids_accounts_params *ret_params) {
    static const char *known[IDS_KNOWN_COUNT];
    for (int i = 0; i < IDS_KNOWN_COUNT; i++) known[i] = ids_known_name((enum ids_known)i);
    *ret_params = (struct ids_accounts_params){.devices = accounts->devices,
                                               .device_count = accounts->device_count,
                                               .host = (uint32_t)file,
                                               .shift_ps = file < accounts->shift_count ? accounts->shifts_ps[file] : 0,
                                               .findings = &accounts->findings,
                                               .known = known};
}

void ids_extract_accounts_done(struct ids_extract_accounts *accounts) {
    ids_findings_done(&accounts->findings);
    free(accounts->devices);
    free(accounts->shifts_ps);
    *accounts = (struct ids_extract_accounts){0};
}
