/* collectors/common: core_users. Each process is counted once, and to whom it belongs. */
#include "collectors/common/core_users.h"
#include "tests/support/suite.h"

#include <string.h>
#include <unistd.h>

enum { SECOND_NS = 1000000000, TICK_NS = 10000000, SELF = 10 };

static struct ids_core_users before, now;
static struct ids_core_user user;

/* A process that had so many ticks, and so many of those that it waited for. */
static void put(struct ids_core_users *users, int64_t pid, int64_t parent, const char *command, int64_t ticks,
                int64_t waited_ticks) {
    struct ids_core_user *at = &users->at[users->count++];
    *at = (struct ids_core_user){pid, parent, ticks, waited_ticks, users->when_ns, ""};
    strcpy(at->command, command);
}

/* One second lies between both; 200 ticks of two cores are busy. */
static void setup(void) {
    memset(&before, 0, sizeof before);
    memset(&now, 0, sizeof now);
    before.when_ns = SECOND_NS;
    now.when_ns = 2 * (int64_t)SECOND_NS;
    before.busy_ticks = 1000;
    now.busy_ticks = 1200;
    put(&before, 1, 0, "init", 500, 0);
    put(&before, SELF, 1, "python", 100, 7);
    put(&now, 1, 0, "init", 500, 0);
}

static struct ids_core_shares shares(void) {
    return ids_core_users_since(&before, &now, SELF, TICK_NS);
}

START_TEST(each_is_counted_to_whom_it_belongs) {
    put(&before, 11, SELF, "worker", 50, 0);
    put(&before, 20, 1, "cc1", 30, 0);
    put(&now, SELF, 1, "python", 160, 7);
    put(&now, 11, SELF, "worker", 90, 0);
    put(&now, 12, 11, "worker", 20, 0); /* new, and started by one that it started */
    put(&now, 20, 1, "cc1", 65, 0);
    put(&now, 21, 1, "ld", 5, 0);
    struct ids_core_shares had = shares();
    ck_assert_int_eq(had.cores, sysconf(_SC_NPROCESSORS_ONLN));
    ck_assert_int_eq(had.own, 600);
    ck_assert_int_eq(had.started, 600);
    ck_assert_int_eq(had.started_count, 2);
    ck_assert_int_eq(had.others, 800);
    ck_assert_str_eq(had.started_command, "worker");
    ck_assert_str_eq(had.others_command, "cc1");
}
END_TEST

/* 40 ticks of children that have ended: one of them had 15 before. */
START_TEST(what_has_ended_is_its_parents_sum) {
    put(&before, 11, SELF, "worker", 15, 0);
    put(&now, SELF, 1, "python", 100, 47);
    struct ids_core_shares had = shares();
    ck_assert_int_eq(had.own, 0);
    ck_assert_int_eq(had.started, 250);
    ck_assert_int_eq(had.started_count, 0);
    ck_assert_str_eq(had.started_command, "");
}
END_TEST

/* The commands of one name are summed; less than a 20th of a core is named nobody's. */
START_TEST(the_command_that_had_most) {
    put(&now, SELF, 1, "python", 100, 7);
    put(&now, 20, 1, "ld", 12, 0);
    put(&now, 21, 1, "cc1", 9, 0);
    put(&now, 22, 1, "cc1", 9, 0);
    ck_assert_str_eq(shares().others_command, "cc1");
    now.at[2].ticks = now.at[3].ticks = now.at[4].ticks = 2;
    ck_assert_str_eq(shares().others_command, "");
}
END_TEST

/* Another process of that number: it has less time than the one before. */
START_TEST(a_number_is_given_again) {
    put(&before, 11, SELF, "worker", 150, 0);
    put(&now, SELF, 1, "python", 100, 157);
    put(&now, 11, SELF, "worker", 10, 0);
    ck_assert_int_eq(shares().started, 1600);
}
END_TEST

START_TEST(nobody_knows_of_a_process_that_is_not_there) {
    put(&now, 11, 1, "python", 100, 7);
    ck_assert_int_eq(shares().cores, 0);
}
END_TEST

START_TEST(a_line_of_the_kernels) {
    ck_assert_int_eq(ids_core_user_parse("12 (a (b) c) S 7 1 1 0 -1 4 9 9 9 9 30 12 5 6 20 0 1 0 99 1 2\n", &user), 1);
    ck_assert_int_eq(user.pid, 12);
    ck_assert_int_eq(user.parent, 7);
    ck_assert_int_eq(user.ticks, 42);
    ck_assert_int_eq(user.waited_ticks, 11);
    ck_assert_str_eq(user.command, "a (b) c");
    ck_assert_int_eq(ids_core_user_parse("12 (a very long command) S 7 1 1 0 -1 4 9 9 9 9 30 12 5 6 20", &user), 1);
    ck_assert_str_eq(user.command, "a very long com");
    ck_assert_int_eq(ids_core_user_parse("12 (cut) S 7 1 1 0 -1 4 9 9 9 9 30 12 5", &user), 0);
    ck_assert_int_eq(ids_core_user_parse("12 (cut", &user), 0);
    ck_assert_int_eq(ids_core_user_parse("", &user), 0);
}
END_TEST

/* This process itself is among them, however few are read at a time. */
START_TEST(the_kernel_is_asked) {
    static struct ids_core_users first, second;
    while (!ids_core_users_read(&first, 3)) continue;
    ck_assert_int_eq(ids_core_users_read(&second, SIZE_MAX), 1);
    ck_assert_int_gt(ids_core_users_since(&first, &second, getpid(), TICK_NS).cores, 0);
    ids_core_users_forget(&first);
    ck_assert_int_eq(ids_core_users_read(&first, 1), 0);
    ids_core_users_forget(&first); /* in the middle */
    ids_core_users_forget(&second);
}
END_TEST

IDS_RUN_FIXTURE("core_users", setup, NULL, each_is_counted_to_whom_it_belongs, what_has_ended_is_its_parents_sum,
                the_command_that_had_most, a_number_is_given_again, nobody_knows_of_a_process_that_is_not_there,
                a_line_of_the_kernels, the_kernel_is_asked)
