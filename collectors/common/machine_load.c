#include "collectors/common/machine_load.h"

#include "collectors/common/process.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SECOND_NS = 1000000000, TENTH = 10, SOON_NS = 50000000, TEXT = 256 };

int ids_proc_stat_parse(const char *text, int64_t *ret_busy, int64_t *ret_idle) {
    enum { IDLE = 3, IOWAIT = 4, LEAST = 4, COUNTED = 8 }; /* user nice system idle iowait irq softirq steal */
    if (strncmp(text, "cpu ", 4) != 0) return 0;
    *ret_busy = *ret_idle = 0;
    const char *at = text + 4;
    int i = 0;
    for (; i < COUNTED; i++) {
        char *end;
        uint64_t ticks = strtoull(at, &end, 10);
        if (end == at) break;
        if (ticks > INT64_MAX / COUNTED) return 0;
        *(i == IDLE || i == IOWAIT ? ret_idle : ret_busy) += (int64_t)ticks;
        at = end;
    }
    return i >= LEAST;
}

void ids_machine_load_add(struct ids_machine_load *load, int64_t now_ns, int64_t busy, int64_t idle, int64_t own_ns,
                          int64_t tick_ns) {
    struct ids_machine_load before = *load;
    if (before.at_ns && now_ns - before.at_ns < SOON_NS) return; /* ticks are of 10 ms */
    load->at_ns = now_ns;
    load->busy = busy;
    load->idle = idle;
    load->own_ns = own_ns;
    if (!before.at_ns) return;
    double took = (double)(now_ns - before.at_ns);
    double used = (double)(busy - before.busy), unused = (double)(idle - before.idle);
    double others = used * (double)tick_ns - (double)(own_ns - before.own_ns);
    double all = (used + unused) * (double)tick_ns;
    if (used < 0 || unused < 0 || all <= 0) return; /* idle ticks may go back */
    load->watched_ns += (int64_t)took;
    if (unused * (double)tick_ns > all / TENTH || others < all / TENTH) return;
    load->full_ns += (int64_t)took;
    load->others_ns += (int64_t)(took * (others < all ? others / all : 1));
}

void ids_machine_load_look(struct ids_machine_load *load) {
    char text[TEXT];
    int64_t busy, idle, ticks = sysconf(_SC_CLK_TCK);
    struct timespec own;
    int file = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    if (ticks <= 0 || !ids_proc_stat_parse(text, &busy, &idle) || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own)) return;
    ids_machine_load_add(load, ids_monotonic_ns(), busy, idle, (int64_t)own.tv_sec * SECOND_NS + own.tv_nsec,
                         SECOND_NS / ticks);
}
