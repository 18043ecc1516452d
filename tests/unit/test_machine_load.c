/* How much of the machine others used (collectors/common/machine_load.h), by ticks of 10 ms that are counted by
 * hand. */
#include "tests/support/suite.h"

#include "collectors/common/machine_load.h"

#include <time.h>

enum { MS = 1000000, TICK = 10 * MS };

static struct ids_machine_load load;

START_TEST(parses) {
    int64_t busy = 0, idle = 0;
    ck_assert_int_eq(ids_proc_stat_parse("cpu  100 20 3 4000 500 60 7 8 900 10\ncpu0 1 2 3 4", &busy, &idle), 1);
    ck_assert_int_eq(busy, 100 + 20 + 3 + 60 + 7 + 8); /* guests are in user and nice */
    ck_assert_int_eq(idle, 4500);
    ck_assert_int_eq(ids_proc_stat_parse("cpu 1 2 3 4\n", &busy, &idle), 1); /* Linux 2.4 */
    ck_assert_int_eq(busy, 6);
    ck_assert_int_eq(idle, 4);
    ck_assert_int_eq(ids_proc_stat_parse("cpu 1 2 3", &busy, &idle), 0);
    ck_assert_int_eq(ids_proc_stat_parse("cpu0 1 2 3 4 5", &busy, &idle), 0);
    ck_assert_int_eq(ids_proc_stat_parse("cpu 1 2 3 18446744073709551615", &busy, &idle), 0);
    ck_assert_int_eq(ids_proc_stat_parse("", &busy, &idle), 0);
}
END_TEST

/* Two cores, a second: 200 ticks, of which the process had `own_ms`. */
static void second(int64_t busy, int64_t own_ms) {
    ids_machine_load_add(&load, load.at_ns + 1000 * MS, load.busy + busy, load.idle + 200 - busy,
                         load.own_ns + own_ms * MS, TICK);
}

static void expect(int64_t watched_ms, int64_t full_ms, int64_t others_ms) {
    ck_assert_int_eq(load.watched_ns / MS, watched_ms);
    ck_assert_int_eq(load.full_ns / MS, full_ms);
    ck_assert_int_eq(load.others_ns / MS, others_ms);
}

START_TEST(adds) {
    load = (struct ids_machine_load){0};
    ids_machine_load_add(&load, 5000 * (int64_t)MS, 1000, 9000, 70 * MS, TICK);
    expect(0, 0, 0);
    second(100, 500); /* a core is idle */
    expect(1000, 0, 0);
    second(200, 1500); /* a quarter is others' */
    expect(2000, 1000, 250);
    second(200, 1900); /* all but a twentieth is the program's own */
    expect(3000, 1000, 250);
    second(180, 0); /* a tenth is idle */
    expect(4000, 2000, 1150);
    second(178, 0);
    expect(5000, 2000, 1150);
    ids_machine_load_add(&load, load.at_ns + 40 * MS, load.busy + 8, load.idle, load.own_ns, TICK); /* too soon */
    expect(5000, 2000, 1150);
    second(200, 2300); /* clocks that do not agree */
    expect(6000, 2000, 1150);
    ids_machine_load_add(&load, load.at_ns + 1000 * MS, load.busy + 100, load.idle - 50, load.own_ns, TICK);
    expect(6000, 2000, 1150);
    second(200, -1000); /* others have more than all */
    expect(7000, 3000, 2150);
}
END_TEST

START_TEST(looks) { /* at this machine: what it is used for nobody knows here */
    load = (struct ids_machine_load){0};
    ids_machine_load_look(&load);
    ck_assert_int_gt(load.at_ns, 0);
    ck_assert_int_gt(load.busy, 0);
    nanosleep(&(struct timespec){.tv_nsec = 60 * MS}, NULL);
    ids_machine_load_look(&load);
    ck_assert_int_ge(load.watched_ns, 60 * MS);
}
END_TEST

IDS_RUN_SUITE("machine_load", parses, adds, looks)
