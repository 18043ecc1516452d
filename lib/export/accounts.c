#include "lib/export/accounts.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"
#include "lib/model/account.h"
#include "lib/model/keys.h"
#include "lib/model/passing.h"

#include <stdlib.h>
#include <string.h>

struct plane {
    uint32_t next; /* its id in the next sink */
    uint32_t name;
};

struct ids_accounts {
    struct ids_passing passing; /* first, so that the sink is the accounts */
    struct ids_accounts_params params;
    struct plane *planes;
    size_t plane_count, plane_room;
    uint32_t key_culprit, key_where, key_known, key_step, category;
};

static struct ids_accounts *of(struct ids_sink *sink) {
    return (struct ids_accounts *)sink;
}

/* --- what comes, passed on -------------------------------------------------------------------------------------- */

static int accounts_plane(struct ids_sink *sink, const struct ids_plane_info *info, uint32_t *ret_plane,
                          struct ids_error *err) {
    struct ids_accounts *accounts = of(sink);
    int code = accounts->passing.next->ops->plane(accounts->passing.next, info, ret_plane, err);
    if (code) return code;
    struct plane *plane = IDS_PUSH(accounts->planes, accounts->plane_count, accounts->plane_room);
    if (!plane) return ids_no_memory(err);
    *plane = (struct plane){*ret_plane, info->name};
    return 0;
}

/* --- the tracks ------------------------------------------------------------------------------------------------- */

/* NULL where the file does not have it. Of several planes of one name the first, which is the device's too. */
static const struct plane *plane_of(const struct ids_accounts *accounts, const char *name) {
    for (size_t i = 0; i < accounts->plane_count; i++) {
        if (!strcmp(ids_strings_z(accounts->passing.sink.strings, accounts->planes[i].name), name))
            return &accounts->planes[i];
    }
    return NULL;
}

static int add_track(struct ids_accounts *accounts, const struct ids_accounts_device *device, uint32_t plane,
                     uint32_t *ret_track, struct ids_error *err) {
    /* Files have no such id, and exporters make one of their own of it. */
    struct ids_track_info info = {
        .plane = plane, .name = ids_intern_z(accounts->passing.sink.strings, device->track), .id = -1};
    if (info.name == IDS_NO_TEXT) return ids_no_memory(err);
    return accounts->passing.next->ops->track(accounts->passing.next, &info, ret_track, err);
}

/* The next sink's name for an account; `names`: those of this plane, UINT32_MAX for one that it does not have yet. */
static int name_account(struct ids_accounts *accounts, uint32_t plane, enum ids_account account, uint32_t *names,
                        struct ids_error *err) {
    if (names[account] != UINT32_MAX) return 0;
    struct ids_name_info info = {.plane = plane,
                                 .text = ids_intern_z(accounts->passing.sink.strings, ids_account_id(account))};
    if (info.text == IDS_NO_TEXT) return ids_no_memory(err);
    return accounts->passing.next->ops->name(accounts->passing.next, &info, &names[account], err);
}

static void put_chars(struct ids_slice *slice, struct ids_arg *args, uint32_t key, struct ids_text text) {
    if (!text.length) return;
    args[slice->arg_count++] =
        (struct ids_arg){.key = key, .type = IDS_VALUE_CHARS, .chars = text.at, .length = text.length};
}

/* In the file's times, to the nearest nanosecond: viewers round a slice's start and duration each, and those of
 * intervals that touch would overlap then. */
static int64_t edge_of(const struct ids_accounts *accounts, int64_t ps) {
    enum { PS_IN_NS = 1000 };
    ids_sum(&ps, -accounts->params.shift_ps);
    int64_t rest = (ps % PS_IN_NS + PS_IN_NS) % PS_IN_NS;
    ids_sum(&ps, rest >= PS_IN_NS / 2 ? PS_IN_NS - rest : -rest);
    return ps;
}

static int put_interval(struct ids_accounts *accounts, const struct ids_accounts_device *device,
                        const struct ids_found_interval *interval, uint32_t track, uint32_t name,
                        struct ids_error *err) {
    const struct ids_findings *findings = accounts->params.findings;
    struct ids_arg args[6];
    struct ids_slice slice = {
        .start_ps = edge_of(accounts, interval->from_ps), .name = name, .form = IDS_FORM_SLICE, .args = args};
    slice.duration_ps = edge_of(accounts, interval->to_ps) - slice.start_ps;
    args[slice.arg_count++] =
        (struct ids_arg){.key = IDS_KEY_CATEGORY, .type = IDS_VALUE_TEXT, .text = accounts->category};
    if (interval->culprit < findings->culprit_count) {
        const struct ids_found_culprit *culprit = &findings->culprits[interval->culprit];
        put_chars(&slice, args, accounts->key_culprit, culprit->culprit);
        put_chars(&slice, args, accounts->key_where, culprit->where);
    }
    const char *known = accounts->params.known[interval->known];
    put_chars(&slice, args, accounts->key_known, (struct ids_text){known, (uint32_t)strlen(known)});
    if (interval->step)
        args[slice.arg_count++] = (struct ids_arg){
            .key = accounts->key_step, .type = IDS_VALUE_INT, .i = findings->steps[interval->step - 1].number};
    if (device->ordinal >= 0)
        args[slice.arg_count++] =
            (struct ids_arg){.key = IDS_KEY_DEVICE_ORDINAL, .type = IDS_VALUE_INT, .i = device->ordinal};
    return accounts->passing.next->ops->slice(accounts->passing.next, track, &slice, err);
}

static int put_device(struct ids_accounts *accounts, const struct ids_accounts_device *device, struct ids_error *err) {
    const struct plane *plane = plane_of(accounts, device->plane);
    uint32_t track = 0, names[IDS_ACCOUNT_COUNT];
    int code = 0, has_track = 0;
    if (!plane) return 0;
    memset(names, 0xff, sizeof names);
    struct ids_found_cursor cursor = device->before;
    for (size_t i = 0; i < device->count && !code; i++) {
        const struct ids_found_interval *interval = ids_found_cursor_next(&cursor);
        if (edge_of(accounts, interval->from_ps) >= edge_of(accounts, interval->to_ps)) continue; /* it is shorter */
        if (!has_track) code = add_track(accounts, device, plane->next, &track, err);
        has_track = 1;
        if (!code) code = name_account(accounts, plane->next, interval->account, names, err);
        if (!code) code = put_interval(accounts, device, interval, track, names[interval->account], err);
    }
    return code || !has_track ? code : accounts->passing.next->ops->track_end(accounts->passing.next, track, err);
}

int ids_accounts_finish(struct ids_accounts *accounts, struct ids_error *err) {
    int code = 0;
    for (size_t i = 0; i < accounts->params.device_count && !code; i++) {
        const struct ids_accounts_device *device = &accounts->params.devices[i];
        if (device->host == accounts->params.host) code = put_device(accounts, device, err);
    }
    return code;
}

static int intern_keys(struct ids_accounts *accounts) {
    struct ids_strings *strings = accounts->passing.sink.strings;
    accounts->key_culprit = ids_intern_z(strings, "culprit");
    accounts->key_where = ids_intern_z(strings, "where");
    accounts->key_known = ids_intern_z(strings, "known");
    accounts->key_step = ids_intern_z(strings, "step");
    accounts->category = ids_intern_z(strings, IDS_ACCOUNT_CATEGORY);
    return accounts->category == IDS_NO_TEXT || accounts->key_step == IDS_NO_TEXT ? -1 : 0;
}

int ids_accounts_new(struct ids_sink *next, const struct ids_accounts_params *params,
                     struct ids_accounts **ret_accounts, struct ids_error *err) {
    struct ids_accounts *accounts = calloc(1, sizeof *accounts);
    if (!accounts) return ids_no_memory(err);
    ids_passing_init(&accounts->passing, next, &(struct ids_sink_ops){.plane = accounts_plane});
    accounts->params = *params;
    if (intern_keys(accounts)) {
        ids_accounts_free(accounts);
        return ids_no_memory(err);
    }
    *ret_accounts = accounts;
    return 0;
}

struct ids_sink *ids_accounts_sink(struct ids_accounts *accounts) {
    return &accounts->passing.sink;
}

void ids_accounts_free(struct ids_accounts *accounts) {
    if (!accounts) return;
    free(accounts->planes);
    free(accounts);
}
