/* slice_options.h - the part of a run that --steps, --after and --device name. */
#ifndef IDS_CMD_SLICE_OPTIONS_H
#define IDS_CMD_SLICE_OPTIONS_H

#include "lib/analysis/params.h"
#include "lib/base/error.h"

enum { IDS_SLICE_WORDS = 256 };

struct ids_slice_options {
    const char *steps; /* "7", "3-5", "3..5" or NULL */
    int64_t after;
    const char *device;
};

/* What a run is analyzed with, and in `words` what that is ("steps 3-5"); empty: all of it. 0, or IDS_USAGE. */
int ids_slice_params(const struct ids_slice_options *options, struct ids_params *ret_params,
                     char words[IDS_SLICE_WORDS], struct ids_error *err);

#endif
