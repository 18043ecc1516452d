/* The calls of include/idsprof.h: what they give, what they refuse, and what they say while they work. */
#include "include/idsprof.h"

#include "lib/run/find_runs.h"
#include "lib/run/import_run.h"
#include "tests/support/suite.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct idsprof_error err;

static const char *testdata(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/testdata/%s", getenv("IDS_SOURCE_DIR") ? getenv("IDS_SOURCE_DIR") : ".", name);
    return path;
}

static char cache[] = "/tmp/idsprof-unit-XXXXXX";

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static void remove_cache(void) {
    nftw(cache, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static idsprof_run *open_mini(const struct idsprof_options *options) {
    idsprof_run *run = NULL;
    if (strstr(cache, "XXXXXX")) {
        ck_assert_ptr_nonnull(mkdtemp(cache));
        setenv("XDG_CACHE_HOME", cache, 1);
        atexit(remove_cache);
    }
    ck_assert_msg(!idsprof_open(testdata("mini/steps_two_devices.mini"), options, &run, &err), "%s", err.text);
    ck_assert_int_eq(err.code, IDSPROF_OK);
    return run;
}

START_TEST(test_report) {
    idsprof_run *run = open_mini(NULL);
    const char *json, *again;
    ck_assert_msg(!idsprof_report_json(run, &json, &err), "%s", err.text);
    ck_assert_ptr_nonnull(strstr(json, "\"steps.count\""));
    ck_assert_int_eq(idsprof_report_json(run, &again, NULL), 0);
    ck_assert_ptr_eq(json, again);
    idsprof_close(run);
    idsprof_close(NULL);
}
END_TEST

/* A stored report has grades; the thresholds that they follow from are told all the same. */
START_TEST(test_report_of_database) {
    static const struct ids_engine engine;
    struct ids_error why = IDS_ERROR_INIT;
    struct ids_run_list list;
    struct ids_run_db *db;
    char path[] = "/tmp/idsprof-unit-XXXXXX";
    const char *json;
    idsprof_run *run;
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
    ck_assert_int_eq(ids_find_runs(&engine, testdata("mini/steps_two_devices.mini"), &list, &why), 0);
    ck_assert_int_eq(ids_import_begin(path, &db, &why), 0);
    ck_assert_msg(!ids_import_run(&engine, db, list.runs, "", &why) && !ids_run_db_finish(db, &why), "%s", why.text);
    ids_run_db_free(db);
    ids_run_list_done(&list);
    ck_assert_msg(!idsprof_open(path, NULL, &run, &err) && !idsprof_report_json(run, &json, &err), "%s", err.text);
    ck_assert_ptr_nonnull(strstr(json, "\"threshold\""));
    idsprof_close(run);
    unlink(path);
}
END_TEST

START_TEST(test_query) {
    idsprof_run *run = open_mini(NULL);
    idsprof_query *query, *other;
    ck_assert_msg(!idsprof_query_open(run,
                                      "SELECT 7, 0.5, 'text', NULL, x'00ff' AS bytes UNION ALL SELECT 1, 2, 3, 4, 5",
                                      &query, &err),
                  "%s", err.text);
    ck_assert_msg(!idsprof_query_open(run, "SELECT count(*) FROM event", &other, &err), "%s", err.text);
    ck_assert_int_eq(idsprof_query_columns(query), 5);
    ck_assert_str_eq(idsprof_query_column(query, 4), "bytes");
    ck_assert_int_eq(idsprof_query_next(query, &err), 1);
    ck_assert_int_eq(idsprof_query_value(query, 0).type, IDSPROF_INTEGER);
    ck_assert_int_eq(idsprof_query_value(query, 0).integer, 7);
    ck_assert_int_eq(idsprof_query_value(query, 1).type, IDSPROF_REAL);
    ck_assert_double_eq(idsprof_query_value(query, 1).real, 0.5);
    ck_assert_int_eq(idsprof_query_value(query, 2).type, IDSPROF_TEXT);
    ck_assert_int_eq((int)idsprof_query_value(query, 2).length, 4);
    ck_assert_int_eq(idsprof_query_value(query, 3).type, IDSPROF_NULL);
    ck_assert_int_eq(idsprof_query_value(query, 4).type, IDSPROF_BLOB);
    ck_assert_int_eq(memcmp(idsprof_query_value(query, 4).bytes, "\0\xff", 2), 0);
    ck_assert_int_eq(idsprof_query_next(other, &err), 1);
    ck_assert_int_gt(idsprof_query_value(other, 0).integer, 5);
    ck_assert_int_eq(idsprof_query_next(query, &err), 1);
    ck_assert_int_eq(idsprof_query_next(query, &err), 0);
    ck_assert_int_eq(idsprof_query_next(query, &err), 0); /* and it does not begin anew */
    ck_assert_int_eq(idsprof_query_next(query, &err), 0);
    idsprof_query_close(query);
    idsprof_query_close(other);
    idsprof_query_close(NULL);
    ck_assert_int_eq(idsprof_query_open(run, "SELECT no_such FROM event", &query, &err), IDSPROF_USAGE);
    ck_assert_ptr_null(query);
    ck_assert_ptr_nonnull(strstr(err.text, "no_such"));
    ck_assert_int_eq(err.code, IDSPROF_USAGE);
    ck_assert_int_eq(idsprof_query_open(run, "DELETE FROM event", &query, NULL), IDSPROF_USAGE);
    idsprof_close(run);
}
END_TEST

START_TEST(test_refusals) {
    idsprof_run *run;
    const struct idsprof_options other = {.size = sizeof other, .run = "another"};
    ck_assert_int_eq(idsprof_open("/nothing/here", NULL, &run, &err), IDSPROF_NOT_FOUND);
    ck_assert_ptr_null(run);
    ck_assert_ptr_nonnull(strstr(err.text, "/nothing/here"));
    ck_assert_int_eq(idsprof_open(testdata("mini/steps_two_devices.mini"), &other, &run, &err), IDSPROF_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "no run 'another' among 1"));
    ck_assert_ptr_null(strstr(err.text, "idsprof list"));                          /* what to type is for who types */
    ck_assert_int_eq(idsprof_open(testdata("../README.md"), NULL, &run, &err), 0); /* which format, the reading tells */
    const char *json;
    ck_assert_int_eq(idsprof_report_json(run, &json, &err), IDSPROF_UNSUPPORTED);
    ck_assert_ptr_null(json);
    idsprof_close(run);
}
END_TEST

/* SQL that never ends is stopped. */
START_TEST(test_endless_sql) {
    const struct idsprof_options options = {.size = sizeof options, .sql_limit_ms = 200};
    idsprof_run *run = open_mini(&options);
    idsprof_query *query;
    int code = idsprof_query_open(
        run, "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n", &query, &err);
    if (!code) code = idsprof_query_next(query, &err);
    ck_assert_int_eq(code, IDSPROF_LIMIT);
    idsprof_query_close(query);
    idsprof_close(run);
}
END_TEST

/* What a message quotes is clean, on one line, and cut between characters. A query that fails leaves nothing behind
 * (valgrind). */
START_TEST(test_messages_are_clean) {
    char path[900] = "/nothing/new\nline\xff\x1b[31m";
    idsprof_run *run;
    idsprof_query *query;
    ck_assert_int_lt(idsprof_open(path, NULL, &run, &err), 0);
    ck_assert_ptr_null(strpbrk(err.text, "\n\x1b\xff"));
    ck_assert_ptr_nonnull(strstr(err.text, "/nothing/new"));
    strcpy(path, "/nothing/");
    for (int i = 0; i < 400; i++) strcat(path, "\xc3\xa9");
    ck_assert_int_lt(idsprof_open(path, NULL, &run, &err), 0);
    size_t length = strlen(err.text);
    ck_assert_uint_gt(length, 300);
    ck_assert_int_ne((unsigned char)err.text[length - 1], 0xc3);
    ck_assert_int_eq(idsprof_open(testdata("../README.md"), NULL, &run, &err), 0);
    for (int i = 0; i < 3; i++) ck_assert_int_lt(idsprof_query_open(run, "SELECT 1", &query, &err), 0);
    idsprof_close(run);
}
END_TEST

struct heard {
    int begun, ended, notes;
};

static void hear_progress(void *own, const char *what) {
    struct heard *heard = own;
    heard->begun += what != NULL;
    heard->ended += what == NULL;
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void hear_note(void *own, const char *text) {
    struct heard *heard = own;
    heard->notes += strstr(text, "x.zip") != NULL;
}

START_TEST(test_words) {
    struct heard heard = {0};
    const struct idsprof_options options = {
        .size = sizeof options, .no_cache = 1, .progress = hear_progress, .note = hear_note, .own = &heard};
    idsprof_run *run = open_mini(&options);
    const char *json;
    ck_assert_int_eq(idsprof_report_json(run, &json, &err), 0);
    ck_assert_int_gt(heard.begun, 0);
    ck_assert_int_gt(heard.ended, 0);
    idsprof_close(run);
    heard = (struct heard){0};
    char folder[] = "/tmp/idsprof-unit-XXXXXX", path[64], trace[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.zip", folder);
    snprintf(trace, sizeof trace, "%s/host.trace.json", folder);
    write_text(path, "PK\3\4 and no more");
    ck_assert_int_eq(symlink(testdata("json/kineto.trace.json"), trace), 0);
    ck_assert_msg(!idsprof_open(folder, &options, &run, &err), "%s", err.text); /* the damaged archive is said */
    unlink(path);
    unlink(trace);
    rmdir(folder);
    ck_assert_int_gt(heard.notes, 0);
    idsprof_close(run);
    /* Built with a header that had only the first two fields. */
    struct idsprof_options old = options;
    old.size = offsetof(struct idsprof_options, no_cache);
    heard = (struct heard){0};
    run = open_mini(&old);
    ck_assert_int_eq(idsprof_report_json(run, &json, &err), 0);
    ck_assert_int_eq(heard.begun, 0);
    idsprof_close(run);
}
END_TEST

IDS_RUN_SUITE("api", test_report, test_report_of_database, test_query, test_endless_sql, test_messages_are_clean,
              test_refusals, test_words)
