#include "lib/compare/cores.h"

#include <math.h>

double ids_run_no_core(const struct ids_side_run *run) {
    const struct ids_metric *metric = ids_report_find(run->report, "device.no_core_share", NULL);
    return metric ? ids_value_number(metric->value) : NAN;
}

double ids_side_no_core(const struct ids_side *side) {
    double sum = 0;
    for (size_t i = 0; i < side->run_count; i++) sum += ids_run_no_core(&side->runs[i]);
    return side->run_count ? sum / (double)side->run_count : NAN;
}

double ids_cores_factor(double no_core_a, double no_core_b) {
    if (isnan(no_core_a) || isnan(no_core_b) || fmax(no_core_a, no_core_b) < IDS_CORES_LEAST) return 1;
    if (no_core_a >= 1 || no_core_b >= 1) return 1; /* they never ran */
    double factor = (1 - no_core_a) / (1 - no_core_b);
    return fmax(factor, 1 / factor) >= IDS_CORES_OTHER ? factor : 1;
}
