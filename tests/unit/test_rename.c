/* A file gets a name: that of another, or only one that is free. */
#include "lib/io/rename.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/idsprof-test-rename-XXXXXX";

static void enter(void) {
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void leave(void) {
    unlink("one");
    unlink("other");
    ck_assert_int_eq(rmdir(folder), 0);
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
}

static void put(const char *path, char letter) {
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputc(letter, file);
    fclose(file);
}

static int letter_of(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) return EOF;
    int letter = fgetc(file);
    fclose(file);
    return letter;
}

START_TEST(what_is_there_is_kept) {
    put("one", 'a');
    put("other", 'b');
    errno = 0;
    ck_assert_int_eq(ids_rename("one", "other", 0), -1);
    ck_assert_int_eq(errno, EEXIST);
    ck_assert_int_eq(letter_of("one"), 'a');
    ck_assert_int_eq(letter_of("other"), 'b');
}
END_TEST

START_TEST(what_is_there_is_replaced) {
    put("one", 'a');
    put("other", 'b');
    ck_assert_int_eq(ids_rename("one", "other", 1), 0);
    ck_assert_int_eq(letter_of("one"), EOF);
    ck_assert_int_eq(letter_of("other"), 'a');
}
END_TEST

START_TEST(a_free_name_is_taken) {
    put("one", 'a');
    ck_assert_int_eq(ids_rename("one", "other", 0), 0);
    ck_assert_int_eq(letter_of("one"), EOF);
    ck_assert_int_eq(letter_of("other"), 'a');
    ck_assert_int_eq(ids_rename("one", "other", 0), -1);
    ck_assert_int_eq(errno, ENOENT);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("rename");
    TCase *names = tcase_create("names");
    tcase_add_checked_fixture(names, enter, leave);
    tcase_add_test(names, what_is_there_is_kept);
    tcase_add_test(names, what_is_there_is_replaced);
    tcase_add_test(names, a_free_name_is_taken);
    suite_add_tcase(suite, names);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
