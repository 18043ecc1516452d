/* bench.c - what the interposer costs a call: bench PLUGIN INTERPOSED ROUNDS CALLS. Both libraries are in this process,
 * and rounds of the two take turns. For each kind of call it prints the median over the rounds of the nanoseconds of a
 * call, of the plugin alone, of the plugin behind the interposer, and of the difference. */
#include "tests/pjrt/use.h"

#include <time.h>

enum { KINDS = 3, ROUNDS = 1001 };
static const char *const names[KINDS] = {"Execute", "Event_Await", "BufferFromHostBuffer"};

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

static void once(struct use *use, int kind, void *loaded, void *event) {
    if (kind == 0) {
        struct pjrt_execute args = {.size = sizeof args, .loaded = loaded, .device_count = USE_DEVICES};
        use->table->functions[PJRT_LOADED_EXECUTABLE_EXECUTE](&args);
    } else if (kind == 1) {
        struct pjrt_event args = {.size = sizeof args, .event = event};
        use->table->functions[PJRT_EVENT_AWAIT](&args);
    } else {
        use_buffer_end(use, use_from_host(use, 1024));
    }
}

static int by_value(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

int main(int argc, char **argv) {
    static struct use use[2];
    void *loaded[2], *event[2];
    static double times[2][ROUNDS], extra[ROUNDS];
    if (argc != 5) return 2;
    int rounds = atoi(argv[3]) < ROUNDS ? atoi(argv[3]) : ROUNDS, calls = atoi(argv[4]);
    for (int i = 0; i < 2; i++) {
        double before = now();
        if (use_open(&use[i], argv[1 + i]) || use_client(&use[i])) return 3;
        printf("start %s %.1f us\n", i ? "interposed" : "alone", (now() - before) / 1e3);
        loaded[i] = use_compile(&use[i], i ? "interposed" : "alone");
        struct pjrt_from_host args = {.size = sizeof args, .client = use[i].client, .data = use, .type = 11};
        use_call(&use[i], PJRT_CLIENT_BUFFER_FROM_HOST_BUFFER, &args);
        event[i] = args.done_event;
    }
    for (int kind = 0; kind < KINDS; kind++) {
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < 2; i++) {
                int which = (round + i) % 2;
                double before = now();
                for (int call = 0; call < calls; call++) once(&use[which], kind, loaded[which], event[which]);
                times[which][round] = (now() - before) / calls;
            }
            extra[round] = times[1][round] - times[0][round];
        }
        double both = median(extra, rounds), alone = median(times[0], rounds);
        printf("%-22s alone %8.1f ns  interposed %8.1f ns  more %8.1f ns\n", names[kind], alone,
               median(times[1], rounds), both);
    }
    return 0;
}
