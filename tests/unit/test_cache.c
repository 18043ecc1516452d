/* lib/store/cache.c: which summaries are found again, which are refused, and which make room. */
#include "lib/store/db.h"
#include "lib/store/db_limit.h"
#include "lib/store/seal.h"
#include "lib/store/summary.h"
#include "tests/support/folder.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a folder per test ---- */

static void store(const char *path, const uint8_t *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    if (size) ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static struct ids_run_file cached_file;
static struct ids_run_files cached_run;

static void make_run(void) {
    static char source[128];
    struct stat status;
    snprintf(source, sizeof source, "%s/vm.xplane.pb", folder);
    store(source, (const uint8_t *)"trace", 5);
    ck_assert_int_eq(stat(source, &status), 0);
    cached_file = (struct ids_run_file){
        .path = source, .size = 5, .device = status.st_dev, .inode = status.st_ino, .mtime_ns = 1234567890123456789};
    cached_run = (struct ids_run_files){
        .path = source, .name = (char *)(uintptr_t) "vm", .files = &cached_file, .file_count = 1};
    setenv("XDG_CACHE_HOME", in_folder("cache/deep"), 1);
}

static struct ids_error err;

/* No report here has tables. */
static const struct ids_table_def *find_table(const char *id) {
    (void)id;
    return NULL;
}

/* Saves a report with one metric, whose value is 7. */
static int save(void) {
    struct ids_report report;
    ids_report_init(&report);
    ids_report_metric(&report, "seven", NULL, ids_int_value(IDS_UNIT_COUNT, 7));
    err = (struct ids_error)IDS_ERROR_INIT;
    int code = ids_cache_save(&cached_run, &report, &err);
    ids_report_done(&report);
    return code;
}

static int load_cached(void) {
    struct ids_report report;
    ids_report_init(&report);
    int code = ids_cache_load(&cached_run, find_table, &report, &err);
    if (!code) {
        const struct ids_metric *metric = ids_report_find(&report, "seven", NULL);
        ck_assert(metric && metric->value.i == 7);
    }
    ids_report_done(&report);
    return code;
}

/* The path of the one entry. */
static const char *entry_path(void) {
    static char path[512];
    char cache[128];
    snprintf(cache, sizeof cache, "%s", in_folder("cache/deep/idsprof"));
    DIR *stream = opendir(cache);
    ck_assert_ptr_nonnull(stream);
    struct dirent *entry;
    while ((entry = readdir(stream))) {
        if (entry->d_name[0] != '.') snprintf(path, sizeof path, "%s/%s", cache, entry->d_name);
    }
    closedir(stream);
    return path;
}

START_TEST(cached) {
    struct stat status;
    make_run();
    ck_assert_int_eq(load_cached(), IDS_NOT_FOUND);
    ck_assert_msg(save() == 0, "%s", err.text);
    ck_assert_msg(load_cached() == 0, "%s", err.text);
    ck_assert_int_eq(stat(in_folder("cache/deep/idsprof"), &status), 0);
    ck_assert_int_eq(status.st_mode & 0777, 0700);
    cached_file.mtime_ns++; /* recorded anew */
    ck_assert_int_eq(load_cached(), IDS_NOT_FOUND);
    ck_assert_int_eq(save(), 0);
    ck_assert_int_eq(load_cached(), 0);
    ck_assert_int_eq(count_files(in_folder("cache/deep/idsprof")), 1); /* in place of the old one */
    cached_file.inode = 0;
    ck_assert_int_eq(load_cached(), IDS_NOT_FOUND);
    ck_assert_int_eq(save(), IDS_NOT_FOUND);
}
END_TEST

START_TEST(a_damaged_entry_is_made_anew) {
    make_run();
    ck_assert_int_eq(save(), 0);
    store(entry_path(), (const uint8_t *)"nonsense", 8);
    ck_assert_int_eq(load_cached(), IDS_CORRUPT);
    ck_assert_int_eq(save(), 0);
    ck_assert_int_eq(load_cached(), 0);
}
END_TEST

START_TEST(the_least_recently_used_go) {
    make_run();
    ck_assert_int_eq(save(), 0);
    const char *cache = in_folder("cache/deep/idsprof");
    struct timespec times[2] = {0};
    for (int i = 0; i < 4; i++) { /* 1.25 GiB each, without the blocks */
        char path[256];
        snprintf(path, sizeof path, "%s/%016d.db", cache, i);
        store(path, (const uint8_t *)"", 0);
        ck_assert_int_eq(truncate(path, (off_t)1280 << 20), 0);
        times[0].tv_sec = times[1].tv_sec = 1000 + 100 * (i ^ 1); /* used in the order 1 0 3 2 */
        ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    char other[256], abandoned[256];
    snprintf(other, sizeof other, "%s/notes.txt", cache);
    store(other, (const uint8_t *)"mine", 4);
    snprintf(abandoned, sizeof abandoned, "%s/%016d.db.tmp-1-0", cache, 9);
    store(abandoned, (const uint8_t *)"half", 4);
    ck_assert_int_eq(utimensat(AT_FDCWD, abandoned, times, 0), 0);
    ck_assert_int_eq(save(), 0);
    static const char *const names[] = {"0000000000000000.db", "0000000000000001.db", "0000000000000002.db",
                                        "0000000000000003.db"};
    for (int i = 0; i < 4; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", cache, names[i]);
        ck_assert_msg((access(path, F_OK) == 0) == (i != 1), "entry %d", i);
    }
    ck_assert_int_eq(access(other, F_OK), 0);
    ck_assert_int_ne(access(abandoned, F_OK), 0);
    ck_assert_int_eq(load_cached(), 0);
}
END_TEST

START_TEST(a_load_counts_as_use) {
    struct stat status;
    struct timespec old[2] = {{1000, 0}, {1000, 0}};
    make_run();
    ck_assert_int_eq(save(), 0);
    ck_assert_int_eq(utimensat(AT_FDCWD, entry_path(), old, 0), 0);
    ck_assert_int_eq(load_cached(), 0);
    ck_assert_int_eq(stat(entry_path(), &status), 0);
    ck_assert_int_gt(status.st_mtim.tv_sec, 1000);
}
END_TEST

START_TEST(a_cache_that_cannot_be_used) {
    make_run();
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    ck_assert_int_eq(save(), IDS_IO);
    ck_assert_int_ne(load_cached(), 0);
    setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
    setenv("HOME", in_folder("home"), 1);
    ck_assert_int_eq(save(), 0);
    ck_assert_int_eq(access(in_folder("home/.cache/idsprof"), F_OK), 0);
    ck_assert_int_eq(load_cached(), 0);
    ck_assert_int_eq(chmod(in_folder("home/.cache/idsprof"), 0777), 0); /* anyone could have put a file there */
    ck_assert_int_eq(load_cached(), IDS_IO);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    ck_assert_int_eq(save(), IDS_NOT_FOUND);
}
END_TEST

START_TEST(many_processes) {
    make_run();
    ck_assert_int_eq(save(), 0);
    pid_t children[4];
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        if (children[i]) continue;
        int failures = 0;
        for (int k = 0; k < 20; k++) failures += (i % 2 ? save() : load_cached()) != 0;
        _exit(failures);
    }
    for (int i = 0; i < 4; i++) {
        int status;
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(count_files(in_folder("cache/deep/idsprof")), 1);
}
END_TEST

static int64_t number_in_cached(const char *path) {
    sqlite3 *db;
    sqlite3_stmt *statement;
    int64_t number = -1;
    ck_assert_msg(ids_db_open(path, IDS_DB_CACHED, &db, &err) == 0, "%s", err.text);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT n FROM t", -1, &statement, NULL), SQLITE_OK);
    if (sqlite3_step(statement) == SQLITE_ROW) number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return number;
}

/* Making a database turns off that SQLite counts its memory, and to turn it on the library is shut down. What it knew
 * of sealed files is known behind that, and the limit holds. */
START_TEST(sealed_files_after_a_shutdown) {
    const char *path = in_folder("sealed.db");
    sqlite3 *db;
    ids_db_limit_set(0, 64 << 20);
    for (int i = 1; i <= 3; i++) {
        store(path, NULL, 0);
        ck_assert_msg(ids_db_create(path, &db, &err) == 0, "%s", err.text);
        char sql[64];
        snprintf(sql, sizeof sql, "CREATE TABLE t(n); INSERT INTO t VALUES(%d)", i);
        ck_assert_msg(ids_db_exec(db, sql, &err) == 0, "%s", err.text);
        sqlite3_close(db);
        int fd = open(path, O_RDWR | O_CLOEXEC);
        ck_assert_msg(ids_seal_write(fd, &err) == 0, "%s", err.text);
        close(fd);
        ck_assert_int_eq(number_in_cached(path), i);
        ids_db_count_memory();
        ck_assert_int_eq(number_in_cached(path), i);
        ck_assert_int_eq(sqlite3_hard_heap_limit64(-1), 64 << 20);
        void *block = sqlite3_malloc(1 << 20);
        ck_assert_int_ge(sqlite3_memory_used(), 1 << 20);
        sqlite3_free(block);
        ck_assert_ptr_null(sqlite3_malloc(65 << 20));
        sqlite3_shutdown();
    }
    ids_db_limit_set(0, 0);
}
END_TEST

IDS_RUN_FIXTURE("cache", make_folder, remove_folder, cached, a_damaged_entry_is_made_anew, the_least_recently_used_go,
                a_load_counts_as_use, a_cache_that_cannot_be_used, many_processes, sealed_files_after_a_shutdown)
