/* lib/model/passing.c: whatever a sink is asked for reaches the one behind it. */
#include "lib/export/accounts.h"
#include "lib/export/filter.h"
#include "lib/export/ordered.h"
#include "lib/model/keys.h"
#include "lib/model/passing.h"
#include "lib/model/tee.h"
#include "tests/support/suite.h"

/* ---- a sink that counts each call ---- */

static struct {
#define IDS_SINK_CALL(name, params, args) int name;
#include "lib/model/sink_calls.def"
} counts;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define IDS_SINK_CALL(name, params, args)                                                         \
    static int count_##name(struct ids_sink *sink, IDS_SINK_LIST params, struct ids_error *err) { \
        counts.name++;                                                                            \
        return 0;                                                                                 \
    }
#include "lib/model/sink_calls.def"
#pragma GCC diagnostic pop

static const struct ids_sink_ops all = {
#define IDS_SINK_CALL(name, params, args) .name = count_##name,
#include "lib/model/sink_calls.def"
};
static const struct ids_sink_ops needed = {
#define IDS_SINK_CALL(name, params, args) .name = count_##name,
#define IDS_SINK_OPTION(name, params, args) .name = NULL,
#include "lib/model/sink_calls.def"
};

static void same_calls(const struct ids_sink_ops *ops, const struct ids_sink_ops *next, const char *sink) {
#define IDS_SINK_CALL(name, params, args) ck_assert_msg(!ops->name == !next->name, "%s: %s", sink, #name);
#include "lib/model/sink_calls.def"
}

static void check_all(struct ids_sink *next) {
    struct ids_error err = {0};
    struct ids_accounts *accounts;
    struct ids_filter *filter;
    struct ids_ordered *ordered;
    struct ids_filter_params params;
    struct ids_tee tee;
    ids_filter_params_default(&params);
    ck_assert_int_eq(ids_accounts_new(next, &(struct ids_accounts_params){0}, &accounts, &err), 0);
    ck_assert_int_eq(ids_filter_new(next, &params, &filter, &err), 0);
    ck_assert_int_eq(ids_ordered_new(next, &ordered, &err), 0);
    ids_tee_init(&tee, next, next);
    same_calls(ids_accounts_sink(accounts)->ops, next->ops, "accounts");
    same_calls(ids_filter_sink(filter)->ops, next->ops, "filter");
    same_calls(ids_ordered_sink(ordered)->ops, next->ops, "ordered");
    same_calls(tee.sink.ops, next->ops, "tee");
    ids_tee_done(&tee);
    ids_accounts_free(accounts);
    ids_filter_free(filter);
    ids_ordered_free(ordered);
}

START_TEST(sinks_in_front_have_the_calls_of_the_next) {
    struct ids_strings strings = {0};
    ck_assert_int_eq(ids_keys_intern(&strings), 0);
    check_all(&(struct ids_sink){.ops = &all, .strings = &strings, .complete = 1});
    check_all(&(struct ids_sink){.ops = &needed, .strings = &strings, .complete = 1});
    ids_strings_done(&strings);
}
END_TEST

START_TEST(calls_pass_but_for_its_own) {
    struct ids_strings strings = {0};
    struct ids_sink next = {.ops = &all, .strings = &strings}, *sink;
    struct ids_passing passing;
    struct ids_error err = {0};
    uint32_t number = 0;
    ids_passing_init(&passing, &next, &(struct ids_sink_ops){.diag = count_diag});
    sink = &passing.sink;
    ck_assert(sink->complete && sink->strings == &strings && sink->ops->diag == count_diag);
    ck_assert_int_eq(sink->ops->host(sink, &(struct ids_host_info){0}, &err), 0);
    ck_assert_int_eq(sink->ops->plane(sink, &(struct ids_plane_info){0}, &number, &err), 0);
    ck_assert_int_eq(sink->ops->slice(sink, 0, &(struct ids_slice){0}, &err), 0);
    ck_assert_int_eq(sink->ops->slice(sink, 0, &(struct ids_slice){0}, &err), 0);
    ck_assert_int_eq(sink->ops->program(sink, &(struct ids_program){0}, &err), 0);
    ck_assert(counts.host == 1 && counts.plane == 1 && counts.slice == 2 && counts.program == 1 && !counts.track);
}
END_TEST

IDS_RUN_SUITE("passing", sinks_in_front_have_the_calls_of_the_next, calls_pass_but_for_its_own)
