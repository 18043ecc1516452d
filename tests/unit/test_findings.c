/* lib/events/event_findings, event_ids, event_rows: what an import of a small profile puts into which row. Times and
 * rows are derived by hand from the text of each profile; statements read the tables as a user would. */
#include "lib/events/query.h"
#include "lib/run/find_runs.h"
#include "lib/run/import_run.h"
#include "tests/support/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct ids_engine engine; /* silent */
static struct ids_error err;
static char folder[] = "/tmp/idsprof-test-findings.XXXXXX";
static char profile[64], database[64];

/* Imports a mini text. */
static void import(const char *text) {
    struct ids_run_list list;
    struct ids_run_db *db;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(profile, sizeof profile, "%s/a.mini", folder);
    snprintf(database, sizeof database, "%s/a.db", folder);
    FILE *file = fopen(profile, "w");
    fprintf(file, "idsprof-mini 1\nhost h\n%s", text);
    fclose(file);
    fclose(fopen(database, "w"));
    ck_assert_msg(!ids_find_runs(&engine, profile, &list, &err), "%s", err.text);
    ck_assert_msg(!ids_import_begin(database, &db, &err), "%s", err.text);
    ck_assert_msg(!ids_import_run(&engine, db, &list.runs[0], "", &err), "%s", err.text);
    ck_assert_msg(!ids_run_db_finish(db, &err), "%s", err.text);
    ids_run_db_free(db);
    ids_run_list_done(&list);
}

static void done(void) {
    unlink(profile);
    unlink(database);
    rmdir(folder);
}

/* The rows of a statement: cells by spaces, rows by semicolons, NULL as -. */
static const char *rows(const char *sql) {
    static char text[4096];
    struct ids_query *query;
    size_t used = 0;
    ck_assert_msg(!ids_query_open(database, &query, &err), "%s", err.text);
    ck_assert_msg(!ids_query_prepare(query, sql, &err), "%s: %s", sql, err.text);
    while (ids_query_next(query, &err) > 0) {
        if (used) used += (size_t)snprintf(text + used, sizeof text - used, "; ");
        for (int i = 0; i < ids_query_columns(query); i++) {
            struct ids_cell cell = ids_query_cell(query, i);
            const char *space = i ? " " : "";
            if (cell.type == IDS_CELL_INT)
                used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRId64, space, cell.i);
            else if (cell.type == IDS_CELL_TEXT)
                used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", space, cell.bytes);
            else
                used += (size_t)snprintf(text + used, sizeof text - used, "%s-", space);
        }
    }
    text[used] = '\0';
    ids_query_free(query);
    return text;
}

/* Nesting, self time, a link and stats, as the tables have them. */
START_TEST(events_as_rows) {
    import("plane /host:CPU\n"
           "line 7 python\n"
           "0us 100us outer _p=5 _pt=1\n"
           "10us 20us inner a=1 b=two\n"
           "10us 5us innermost\n"
           "90us 20us beyond a=1 b=two\n" /* only overlaps: a sibling of outer */
           "line 8 worker\n"
           "200us 1us taker _c=5 _ct=1\n");
    ck_assert_str_eq(
        rows("SELECT name, track, start_ps / 1000000, dur_ps / 1000000, self_ps / 1000000, depth, parent FROM "
             "events ORDER BY id"),
        "outer python 0 100 80 0 -; inner python 10 20 15 1 1; innermost python 10 5 5 2 2; "
        "beyond python 90 20 20 0 -; taker worker 200 1 1 0 -");
    ck_assert_str_eq(rows("SELECT kind, from_name, to_name, delay_ps / 1000000 FROM flows"), "link outer taker 200");
    ck_assert_str_eq(
        rows("SELECT e.name, key, value FROM stats s JOIN events e ON e.id = s.event WHERE key IN ('a', 'b') "
             "ORDER BY e.id, key"),
        "inner a 1; inner b two; beyond a 1; beyond b two");
    ck_assert_str_eq(
        rows("SELECT count(*), count(DISTINCT stat_set) FROM event e JOIN name n ON n.id = e.name WHERE n.text IN "
             "('inner', 'beyond')"),
        "2 1");
    done();
}
END_TEST

/* Kernels that are alike in all are rows of their own, in their order; of those that begin together each has its
 * own. */
START_TEST(events_that_are_alike) {
    import("plane /device:GPU:0\n"
           "line 1 \"Stream #1(Kernel)\"\n"
           "0us 10us k correlation_id=1\n"
           "0us 10us k correlation_id=2\n"
           "0us 10us other\n"
           "0us 0 k\n"
           "0us 10us k correlation_id=3\n"
           "line 2 \"Stream #2(Kernel)\"\n"
           "0us 10us k correlation_id=4\n");
    ck_assert_str_eq(rows("SELECT count(*), count(DISTINCT id), sum(name = 'k'), sum(dur_ps = 0) FROM kernels"),
                     "6 6 5 1");
    ck_assert_str_eq(
        rows("SELECT k.stream, e.correlation_id FROM kernels k JOIN events e USING (id) WHERE correlation_id "
             "IS NOT NULL ORDER BY id"),
        "Stream #1(Kernel) 1; Stream #1(Kernel) 2; Stream #1(Kernel) 3; Stream #2(Kernel) 4");
    ck_assert_str_eq(rows("SELECT count(*) FROM diag WHERE id LIKE 'store.%'"), "0");
    done();
}
END_TEST

/* A thread with thousands of events, of which two matter: they are found far behind others, and at its end. */
START_TEST(few_among_many) {
    size_t room = 1 << 18, used;
    char *text = malloc(room);
    used = (size_t)snprintf(text, room, "plane /host:CPU\nline 1 python\n");
    for (int i = 0; i < 5000; i++) {
        if (i == 3333) used += (size_t)snprintf(text + used, room - used, "%dus 0.5us backend_compile\n", i);
        used += (size_t)snprintf(text + used, room - used, "%dus 0.5us busy\n", i);
    }
    snprintf(text + used, room - used, "5000us 2us backend_compile\n");
    import(text);
    free(text);
    ck_assert_str_eq(rows("SELECT id, start_ps / 1000000, dur_ps / 100000, name FROM compiles ORDER BY id"),
                     "3334 3333 5 backend_compile; 5002 5000 20 backend_compile");
    done();
}
END_TEST

/* The CPU client: an op ends with its `end:`, perhaps on another thread, and what begins before that lies in it. */
START_TEST(ops_that_end_later) {
    import("plane /host:CPU\n"
           "line 1 worker\n"
           "0us 1us call.1 hlo_op=call.1 hlo_module=jit_f run_id=7 _p=9 _pt=0\n"
           "10us 20us dot.2 hlo_op=dot.2 hlo_module=jit_f run_id=7\n"
           "15us 5us Rendezvous\n"
           "line 2 other\n"
           "50us 0 \"end: call.1\" _c=9 _ct=0\n");
    ck_assert_str_eq(
        rows("SELECT a.op, a.dur_ps / 1000000, b.op FROM ops a LEFT JOIN ops b ON b.id = a.around ORDER BY a.id"),
        "call.1 50 -; dot.2 20 call.1");
    ck_assert_str_eq(rows("SELECT kind, start_ps / 1000000 FROM host_activities"), "stall 15");
    /* It works for 50 us but for the 5 that it waits; all of it is busy. */
    ck_assert_str_eq(
        rows("SELECT sum(dur_ps) / 1000000, sum(dur_ps * busy) / 1000000, sum(dur_ps * working) / 1000000 FROM "
             "device_time"),
        "50 50 45");
    done();
}
END_TEST

/* A gap belongs to the kernel that ends it, with its cause, launch and what the host did; steps by launch. */
START_TEST(gaps_and_steps) {
    import("plane /device:GPU:0\n"
           "line 1 \"Stream #1(Kernel)\"\n"
           "10us 10us k0 correlation_id=1\n"
           "100us 10us k1 correlation_id=2\n"
           "line 2 \"Stream #2(MemcpyH2D)\"\n"
           "110us 5us MemcpyH2D memcpy_details=\"size:10 dest:0 async:1\" correlation_id=3\n"
           "plane /host:CPU\n"
           "line 100 python\n"
           "0us 5us train step_num=4 _r=1\n"
           "1us 1us k0 correlation_id=1\n"
           "20us 85us train step_num=5 _r=1\n"
           "21us 60us next_batch\n"
           "95us 1us k1 correlation_id=2\n"
           "97us 1us MemcpyH2D correlation_id=3\n");
    ck_assert_str_eq(
        rows("SELECT start_ps / 1000000, dur_ps / 1000000, account, next_name, launch_ps / 1000000 FROM gaps"),
        "20 80 host.input k1 95");
    ck_assert_str_eq(
        rows("SELECT step, start_ps / 1000000, dur_ps / 1000000, host_dur_ps / 1000000, source FROM steps"),
        "4 0 20 5 annotation; 5 20 95 85 annotation");
    ck_assert_str_eq(rows("SELECT name, step FROM kernels ORDER BY id"), "k0 4; k1 5");
    ck_assert_str_eq(rows("SELECT direction, bytes, is_async, step, stream FROM memcpys"),
                     "H2D 10 1 5 Stream #2(MemcpyH2D)");
    ck_assert_str_eq(
        rows("SELECT step, account, sum(dur_ps) / 1000000 FROM device_time GROUP BY step, account ORDER BY 1, 2"),
        "4 work.compute 10; 5 copy.h2d 5; 5 device.queue 4; 5 host.dispatch 1; 5 host.input 60; 5 host.unknown 15; "
        "5 work.compute 10");
    /* Step 4 begins with its annotation, before the window: the ledger has it, the window has not. */
    ck_assert_str_eq(
        rows("SELECT account, culprit, known, sum(dur_ps) / 1000000 FROM ledger WHERE in_window = 0 GROUP BY "
             "1, 2, 3 ORDER BY min(start_ps)"),
        "host.unknown - unknown 1; host.dispatch k0 recorded 1; device.queue k0 recorded 8");
    ck_assert_str_eq(rows("SELECT step, device, start_ps / 1000000, dur_ps / 1000000 FROM device_steps"),
                     "4 h:/device:GPU:0 0 20; 5 h:/device:GPU:0 20 95");
    done();
}
END_TEST

/* A device that ends before the others idles to the end of the window, for a reason that nobody recorded. */
START_TEST(the_gap_at_the_end) {
    import("plane /device:GPU:0\nline 1 \"Stream #1(Kernel)\"\n0us 10us k\n"
           "plane /device:GPU:1\nline 1 \"Stream #1(Kernel)\"\n0us 30us k\n");
    ck_assert_str_eq(rows("SELECT device, start_ps / 1000000, dur_ps / 1000000, account, next FROM gaps"),
                     "h:/device:GPU:0 10 20 host.unknown -");
    ck_assert_str_eq(
        rows("SELECT device, sum(dur_ps) / 1000000, sum(dur_ps * busy) / 1000000 FROM device_time GROUP BY 1"),
        "h:/device:GPU:0 30 10; h:/device:GPU:1 30 30");
    done();
}
END_TEST

IDS_RUN_SUITE("findings", events_as_rows, events_that_are_alike, few_among_many, ops_that_end_later, gaps_and_steps,
              the_gap_at_the_end)
