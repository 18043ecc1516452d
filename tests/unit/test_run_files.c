/* lib/io/run_files.c: which files make up a run, and what the run is called. */
#include "lib/io/run_files.h"
#include "tests/support/remove_tree.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static const char *const suffixes[] = {".xplane.pb", ".trace.json.gz", NULL};

static void setup(void) {
    snprintf(folder, sizeof folder, "/tmp/idsprof-runs-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void) {
    remove_tree(folder);
}

static const char *at(const char *name) {
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* Makes an empty file and the folders above it. */
static void make(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s", at(name));
    for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static struct ids_run_list list;
static struct ids_error err;

static int find(const char *path) {
    ids_run_list_done(&list);
    err = (struct ids_error)IDS_ERROR_INIT;
    int code = ids_runs_find(path, suffixes, &list, &err);
    ck_assert_int_eq(code, err.code);
    if (code) ck_assert_uint_eq(list.run_count, 0);
    return code;
}

/* "name:file,file name:file" with the files relative to the test's folder. */
static const char *found(void) {
    static char text[2048];
    text[0] = '\0';
    for (size_t i = 0; i < list.run_count; i++) {
        const struct ids_run_files *run = &list.runs[i];
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s:", i ? " " : "", run->name);
        for (size_t k = 0; k < run->file_count; k++) {
            const char *slash = strrchr(run->files[k].path, '/');
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", k ? "," : "",
                     slash ? slash + 1 : run->files[k].path);
        }
    }
    return text;
}

START_TEST(a_log_folder) {
    make("logs/tad/plugins/profile/2026_01_02_03_04_05/b.xplane.pb");
    make("logs/tad/plugins/profile/2026_01_02_03_04_05/a.xplane.pb");
    make("logs/tad/plugins/profile/2026_01_02_03_04_05/a.trace.json.gz"); /* not the best suffix there */
    make("logs/tad/plugins/profile/2026_01_02_03_04_05/._a.xplane.pb");
    make("logs/tad/notes.txt");
    static const char *const ways[] = {"logs",
                                       "logs/",
                                       "logs/tad",
                                       "logs/tad/plugins",
                                       "logs/tad/plugins/profile",
                                       "logs/tad/plugins/profile/2026_01_02_03_04_05"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        ck_assert_msg(find(at(ways[i])) == 0, "%s", err.text);
        ck_assert_str_eq(found(), "tad:a.xplane.pb,b.xplane.pb");
    }
    ck_assert_str_eq(list.runs[0].path, at("logs/tad/plugins/profile/2026_01_02_03_04_05"));
    int here = open(".", O_RDONLY | O_DIRECTORY);
    ck_assert_int_eq(chdir(at("logs/tad")), 0);
    ck_assert_int_eq(find("."), 0);
    ck_assert_str_eq(found(), "tad:a.xplane.pb,b.xplane.pb");
    ck_assert_int_eq(fchdir(here), 0);
    close(here);
    ids_run_list_done(&list);
}
END_TEST

START_TEST(oldest_first) {
    make("logs/tad/plugins/profile/2026_01_02/a.xplane.pb");
    make("logs/tad/plugins/profile/2025_12_31/a.xplane.pb");
    make("logs/tad/plugins/profile/2026_01_10/a.trace.json.gz");
    ck_assert_int_eq(find(at("logs")), 0);
    ck_assert_str_eq(found(), "tad/2025_12_31:a.xplane.pb tad/2026_01_02:a.xplane.pb tad/2026_01_10:a.trace.json.gz");
    ids_run_list_done(&list);
}
END_TEST

START_TEST(names_tell_neighbours_apart) {
    make("exp/step_00000100/plugins/profile/2026_01/a.xplane.pb");
    make("exp/step_00000200/plugins/profile/2026_02/a.xplane.pb");
    ck_assert_int_eq(find(at("exp")), 0);
    ck_assert_str_eq(found(), "step_00000100:a.xplane.pb step_00000200:a.xplane.pb");
    make("same/one/run/plugins/profile/2026_01/a.xplane.pb");
    make("same/two/run/plugins/profile/2026_02/a.xplane.pb");
    make("same/two/run/plugins/profile/2026_03/a.xplane.pb");
    make("same/other/plugins/profile/2026_04/a.xplane.pb");
    ck_assert_int_eq(find(at("same")), 0);
    for (size_t i = 0; i < list.run_count; i++) {
        for (size_t k = 0; k < i; k++) ck_assert_str_ne(list.runs[i].name, list.runs[k].name);
    }
    ck_assert_str_eq(list.runs[3].name, "other");
    make("flat/x/one.xplane.pb");
    make("flat/y/x/two.xplane.pb");
    ck_assert_int_eq(find(at("flat")), 0);
    ck_assert_str_eq(found(), "flat/x:one.xplane.pb y/x:two.xplane.pb");
    ids_run_list_done(&list);
}
END_TEST

START_TEST(a_single_file) {
    make("logs/tad/plugins/profile/2026_01/vm.xplane.pb");
    make("logs/other.xplane.pb");
    make("logs/unknown.bin");
    ck_assert_int_eq(find(at("logs/tad/plugins/profile/2026_01/vm.xplane.pb")), 0);
    ck_assert_str_eq(found(), "tad:vm.xplane.pb");
    ck_assert_int_eq(find(at("logs/other.xplane.pb")), 0);
    ck_assert_str_eq(found(), "other:other.xplane.pb");
    ck_assert_uint_ne(list.runs[0].files[0].inode, 0);
    ck_assert_int_ne(list.runs[0].files[0].mtime_ns, 0);
    ck_assert_int_eq(find(at("logs/unknown.bin")), 0); /* content decides later */
    ck_assert_str_eq(found(), "unknown.bin:unknown.bin");
    ids_run_list_done(&list);
}
END_TEST

START_TEST(what_has_no_identity) {
    ck_assert_int_eq(mkfifo(at("pipe"), 0600), 0);
    ck_assert_int_eq(find(at("pipe")), 0);
    ck_assert_uint_eq(list.runs[0].files[0].inode, 0);
    int saved = dup(STDIN_FILENO), ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    ck_assert_int_eq(find("-"), 0);
    ck_assert_str_eq(found(), "stdin:-");
    ck_assert_uint_eq(list.runs[0].files[0].inode, 0);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
    close(ends[1]);
    ids_run_list_done(&list);
}
END_TEST

START_TEST(links) {
    make("real/vm.xplane.pb");
    make("logs/keep/readme");
    ck_assert_int_eq(symlink(at("real/vm.xplane.pb"), at("logs/keep/linked.xplane.pb")), 0);
    ck_assert_int_eq(symlink(folder, at("logs/loop")), 0);
    ck_assert_int_eq(symlink(at("nothing"), at("logs/keep/gone.xplane.pb")), 0);
    ck_assert_int_eq(symlink(at("logs"), at("entry")), 0);
    ck_assert_int_eq(find(at("logs")), 0);
    ck_assert_str_eq(found(), "keep:linked.xplane.pb");
    ck_assert_int_eq(find(at("entry")), 0); /* a link that was asked for is followed */
    ck_assert_str_eq(found(), "keep:linked.xplane.pb");
    ids_run_list_done(&list);
}
END_TEST

START_TEST(depth) {
    char name[256] = "d";
    for (int i = 1; i < 12; i++) strcat(name, "/d");
    strcat(name, "/vm.xplane.pb");
    make(name);
    ck_assert_int_eq(find(folder), 0); /* 12 folders below */
    remove_tree(at("d"));
    memmove(name + 2, name, strlen(name) + 1);
    make(name);
    ck_assert_int_eq(find(folder), IDS_NOT_FOUND);
}
END_TEST

START_TEST(nothing_there) {
    make("logs/readme.txt");
    mkdir(at("logs/vm.xplane.pb"), 0755); /* a folder of that name is none */
    ck_assert_int_eq(find(at("logs")), IDS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.text, "*.xplane.pb, *.trace.json.gz"));
    ck_assert_int_eq(find(at("missing")), IDS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.text, "missing"));
    ck_assert_int_eq(find(at("logs/readme.txt/x")), IDS_IO);
}
END_TEST

/* Permissions bind everybody but root. */
START_TEST(unreadable_folders) {
    make("logs/secret/vm.xplane.pb");
    ck_assert_int_eq(chmod(folder, 0755), 0);
    ck_assert_int_eq(chmod(at("logs/secret"), 0), 0);
    int root = geteuid() == 0;
    if (root) ck_assert_int_eq(seteuid(65534), 0);
    int whole = find(at("logs"));
    int said = strstr(err.text, "secret': Permission denied") != NULL;
    int direct = find(at("logs/secret"));
    if (root) ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(whole, IDS_IO);
    ck_assert(said);
    ck_assert_int_eq(direct, IDS_IO);
    make("logs/open/vm.xplane.pb");
    if (root) ck_assert_int_eq(seteuid(65534), 0);
    int beside = find(at("logs"));
    if (root) ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(beside, 0); /* a run that can be read is not held back by another */
    ck_assert_str_eq(found(), "open:vm.xplane.pb");
    ck_assert_uint_eq(list.unreadable_count, 1);
    ck_assert_str_eq(list.unreadable, at("logs/secret"));
    chmod(at("logs/secret"), 0755);
    ids_run_list_done(&list);
}
END_TEST

int main(void) {
    TCase *cases = tcase_create("run_files");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, a_log_folder);
    tcase_add_test(cases, oldest_first);
    tcase_add_test(cases, names_tell_neighbours_apart);
    tcase_add_test(cases, a_single_file);
    tcase_add_test(cases, what_has_no_identity);
    tcase_add_test(cases, links);
    tcase_add_test(cases, depth);
    tcase_add_test(cases, nothing_there);
    tcase_add_test(cases, unreadable_folders);
    Suite *suite = suite_create("run_files");
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
