/* capture_options.h - what `idsprof capture` was asked for: options, before the environment, before a file of
 * variables. */
#ifndef IDS_CMD_CAPTURE_OPTIONS_H
#define IDS_CMD_CAPTURE_OPTIONS_H

#include "cmd/capture_keeping.h"
#include "collectors/common/plan.h"
#include "lib/capture/variables.h"
#include "lib/cli/opt.h"

enum { IDS_SWEEP_MAX = 32 };
enum ids_capture_platform { IDS_PLATFORM_AUTO, IDS_PLATFORM_GPU, IDS_PLATFORM_TPU, IDS_PLATFORM_CPU };

/* The options as they were given. */
struct ids_capture_options {
    const char *output, *name, *env_file, *range, *ranks, *max_size, *max_window_bytes, *sweep, *step_executable,
        *cuda_graph, *attach, *listen, *token;
    const char *every; /* NULL: not given */
    struct ids_capture_keeping keeping;
    int64_t start_step, steps, max, warmup, keep;              /* -1: not given */
    int64_t delay_ps, duration_ps, stop_timeout_ps;            /* -1: not given */
    int64_t host_tracer, device_tracer, python_tracer, stacks; /* -1: not given */
    struct ids_opt_texts wrap, profile_options;
    int trigger, report, perfetto, quiet, gpu, tpu, cpu, or_cpu, audit, keep_empty, memory;
};
enum { IDS_CAPTURE_OPTS = 42 };
extern const struct ids_opt ids_capture_opts[IDS_CAPTURE_OPTS];
extern const struct ids_capture_options ids_capture_option_defaults;

/* What holds when everything was looked at. */
struct ids_capture_settings {
    int enabled; /* 0: PROFILE_ENABLED says that the program is to run as it is */
    const char *dir;
    const char *listen, *token; /* NULL: not asked for */
    char name[64];
    struct ids_plan plan; /* without run and launcher */
    int64_t keep;         /* 0: all */
    enum ids_capture_platform platform;
    int64_t sweep[IDS_SWEEP_MAX]; /* numbers of devices */
    size_t sweep_count;
    int report, perfetto, quiet, audit, keep_empty, or_cpu;
    struct ids_variables environment; /* of the program: ours, and the file's */
};

/* The settings are the caller's to end, also after an error. */
int ids_capture_settle(const struct ids_capture_options *options, char *const *command, char *const *environment,
                       struct ids_capture_settings *ret_settings, struct ids_error *err);
void ids_capture_settings_done(struct ids_capture_settings *settings);

#endif
