#include "cmd/slice_options.h"

#include "lib/base/counted.h"
#include "lib/run/extract_window.h"

#include <stdio.h>
#include <string.h>

int ids_slice_params(const struct ids_slice_options *options, struct ids_params *ret_params,
                     char words[IDS_SLICE_WORDS], struct ids_error *err) {
    size_t used = 0;
    ids_params_default(ret_params);
    words[0] = '\0';
    ret_params->skip_steps = options->after;
    ret_params->device = options->device;
    if (options->steps) {
        int code = ids_parse_steps(options->steps, &ret_params->first_step, &ret_params->last_step, err);
        if (code) return code;
        used += (size_t)snprintf(words, IDS_SLICE_WORDS, "%s %.64s",
                                 ret_params->first_step == ret_params->last_step ? "step" : "steps", options->steps);
    }
    if (options->after)
        used += (size_t)snprintf(words + used, IDS_SLICE_WORDS - used, "%safter %s", used ? ", " : "",
                                 IDS_COUNTED((size_t)options->after, "step"));
    if (options->device)
        snprintf(words + used, IDS_SLICE_WORDS - used, "%sdevice %.100s", used ? ", " : "", options->device);
    return 0;
}
