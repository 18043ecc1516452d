#include "cmd/capture_profiler.h"

#include "lib/cli/nearest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum type { NUMBER, TRUTH, TEXT };

/* The attributes of jax.profiler.ProfileOptions. */
static const struct {
    const char *name;
    enum type type;
} options[] = {{"host_tracer_level", NUMBER},   {"device_tracer_level", NUMBER},
               {"python_tracer_level", NUMBER}, {"duration_ms", NUMBER},
               {"start_timestamp_ns", NUMBER},  {"enable_hlo_proto", TRUTH},
               {"include_dataset_ops", TRUTH},  {"raise_error_on_start_failure", TRUTH},
               {"repository_path", TEXT},       {"session_id", TEXT}};
enum { OPTIONS = sizeof options / sizeof *options };

static const char *name_of(int i) {
    return i < OPTIONS ? options[i].name : NULL;
}

static int is_number(const char *text) {
    char *end;
    errno = 0;
    (void)strtoll(text, &end, 10);
    return *text && !*end && !errno;
}

static int check_value(enum type type, const char *name, const char *value, struct ids_error *err) {
    int is_truth = !strcasecmp(value, "true") || !strcasecmp(value, "false") || is_number(value);
    if (type == NUMBER && !is_number(value))
        return ids_fail(err, IDS_USAGE, "--profile-option %s: '%s' is not a number", name, value);
    if (type == TRUTH && !is_truth)
        return ids_fail(err, IDS_USAGE, "--profile-option %s: '%s' is neither true nor false", name, value);
    return 0;
}

static int check(const char *name, const char *value, struct ids_error *err) {
    char near[256];
    for (int i = 0; i < OPTIONS; i++) {
        if (!strcmp(name, options[i].name)) return check_value(options[i].type, name, value, err);
    }
    if (!strncmp(name, "gpu_", 4) || !strncmp(name, "tpu_", 4)) return 0;
    if (!ids_nearest(name, name_of, "", near, sizeof near)) return 0;
    return ids_fail(err, IDS_USAGE, "--profile-option: jax's profiler has no option '%s'%s", name, near);
}

int ids_capture_check_profiler(const char *key_value, struct ids_error *err) {
    const char *equals = strchr(key_value, '=');
    if (!equals || equals == key_value || strchr(key_value, '\n'))
        return ids_fail(err, IDS_USAGE, "--profile-option: '%s' is not KEY=VALUE", key_value);
    char *name = strndup(key_value, (size_t)(equals - key_value));
    int code = name ? check(name, equals + 1, err) : ids_no_memory(err);
    free(name);
    return code;
}
