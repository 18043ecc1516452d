#include "lib/run/run_ahead.h"

int64_t ids_run_ahead_step(struct ids_run_ahead *run, int64_t call_ns) {
    int64_t dry_ns = 0;
    run->ahead_ns += run->step_ns - call_ns;
    if (run->ahead_ns < 0) {
        dry_ns = -run->ahead_ns;
        run->ahead_ns = 0;
    }
    return run->step_ns + dry_ns;
}

void ids_run_ahead_stop(struct ids_run_ahead *run) {
    run->ahead_ns = 0;
}

int ids_run_ahead_is_dry(int64_t total_ns, size_t count, int64_t step_ns) {
    return count > 0 && step_ns > 0 && total_ns / (int64_t)count > step_ns + step_ns / 2;
}
