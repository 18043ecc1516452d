#include "lib/analysis/params.h"

#include <stddef.h>

const char *ids_compat_name(enum ids_compat_peer peer) {
    static const char *const names[] = {NULL, "xprof", "nsys", "hta"};
    return (unsigned)peer < IDS_COMPAT_COUNT ? names[peer] : NULL;
}

void ids_params_default(struct ids_params *params) {
    *params = (struct ids_params){
        .window = IDS_WINDOW_RUN,
        .from_ps = 0,
        .to_ps = INT64_MAX,
        .small_kernel_ps = 100000000, /* 0.1 ms */
        .first_step = INT64_MIN,
        .last_step = INT64_MAX,
    };
}

int ids_params_are_default(const struct ids_params *params) {
    struct ids_params standard;
    ids_params_default(&standard);
    return params->window == standard.window && params->from_ps == standard.from_ps &&
           params->to_ps == standard.to_ps && params->small_kernel_ps == standard.small_kernel_ps &&
           params->first_step == standard.first_step && params->last_step == standard.last_step &&
           params->skip_steps == standard.skip_steps && params->compat == standard.compat && params->peak_flops <= 0 &&
           params->peak_bandwidth <= 0 && params->flops_per_step <= 0 && params->tokens_per_step <= 0 &&
           !params->device_kind && !params->device;
}
