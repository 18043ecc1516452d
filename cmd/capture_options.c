#include "cmd/capture_options.h"

#include "cmd/capture_profiler.h"
#include "lib/base/quantity.h"
#include "lib/capture/folder.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

enum { UNSET = -1, PS_PER_NS = 1000, WINDOWS_WITHOUT_MAX = 10, DEVICES_MAX = 65536 };
/* A window that no step opened, and for which nothing else was said, ends after this if no five steps come. */
static const int64_t duration_without_steps_ns = 10000000000;

#define AT(field) offsetof(struct ids_capture_options, field)
const struct ids_opt ids_capture_opts[IDS_CAPTURE_OPTS] = {
    {IDS_OPT_TEXT, 'o', "output", "DIR", "put captures into this folder (PROFILE_DIR, else profiles)", AT(output),
     NULL},
    {IDS_OPT_TEXT, 'n', "name", "NAME", "name of the capture (default: the program's name)", AT(name), NULL},
    {IDS_OPT_COUNT, 's', "start-step", "N", "the step that opens the first window (153)", AT(start_step), NULL},
    {IDS_OPT_COUNT, 'k', "steps", "N", "steps of a window (5)", AT(steps), NULL},
    {IDS_OPT_TEXT, 0, "every", "N|TIME", "open another window every N steps, or every so often: 10m; 0: one window",
     AT(every), NULL},
    {IDS_OPT_COUNT, 0, "max", "N", "open at most N windows; 0: no limit (1, with --every 10)", AT(max), NULL},
    {IDS_OPT_TEXT, 0, "when", "CONDITION",
     "keep only windows with slow steps: 'step > 2x' (of the median), 'step > 500ms'", AT(keeping.when), NULL},
    {IDS_OPT_COUNT, 0, "keep-slowest", "N", "keep only the N windows with the slowest steps", AT(keeping.slowest),
     NULL},
    {IDS_OPT_TEXT, 0, "max-cost", "PERCENT", "the time that such windows may take of the program (1%)",
     AT(keeping.max_cost), NULL},
    {IDS_OPT_TIME, 0, "delay", "TIME", "open a window this long after jax is imported: 30s", AT(delay_ps), NULL},
    {IDS_OPT_TIME, 0, "duration", "TIME", "end a window after this time: 2s", AT(duration_ps), NULL},
    {IDS_OPT_TEXT, 'a', "attach", "HOST:PORT,...|PID",
     "record in programs that run already, through their profiler servers", AT(attach), NULL},
    {IDS_OPT_FLAG, 't', "trigger", NULL, "open windows on `idsprof trigger`, not by step count", AT(trigger), NULL},
    {IDS_OPT_TEXT, 0, "listen", "[ADDRESS:]PORT", "let `idsprof trigger --hosts` open windows from other machines",
     AT(listen), NULL},
    {IDS_OPT_TEXT, 0, "token", "FILE", "the file of the token that --listen asks for (~/.config/idsprof/token)",
     AT(token), NULL},
    {IDS_OPT_TEXT, 0, "range", "NAME", "open the window at the region of this name", AT(range), NULL},
    {IDS_OPT_COUNT, 0, "warmup", "N", "run the profiler N steps before the window, discard them", AT(warmup), NULL},
    {IDS_OPT_TEXTS, 'w', "wrap", "FUNCTION", "annotate module:function, unmodified; may be given again", AT(wrap),
     NULL},
    {IDS_OPT_TEXT, 0, "step-executable", "REGEX", "without annotations, steps are the executions of this program",
     AT(step_executable), NULL},
    {IDS_OPT_TEXT, 0, "ranks", "LIST", "record only these ranks: 0,4-7", AT(ranks), NULL},
    {IDS_OPT_TEXT, 0, "sweep", "LIST", "run the program once for each number of devices: devices=1,2,4,8", AT(sweep),
     NULL},
    {IDS_OPT_FLAG, 0, "gpu", NULL, "run on GPUs (sets JAX_PLATFORMS)", AT(gpu), NULL},
    {IDS_OPT_FLAG, 0, "tpu", NULL, "run on TPUs (sets JAX_PLATFORMS)", AT(tpu), NULL},
    {IDS_OPT_FLAG, 0, "cpu", NULL, "run on the CPU (sets JAX_PLATFORMS)", AT(cpu), NULL},
    {IDS_OPT_FLAG, 0, "or-cpu", NULL, "with --gpu or --tpu: run on the CPU where there is none", AT(or_cpu), NULL},
    {IDS_OPT_FLAG, 0, "audit", NULL, "find PJRT plugins of programs without Python too (LD_AUDIT)", AT(audit), NULL},
    {IDS_OPT_COUNT, 0, "host-tracer", "N", "how much of the host is recorded: 0 to 3 (2)", AT(host_tracer), NULL},
    {IDS_OPT_COUNT, 0, "device-tracer", "N", "whether devices are recorded: 0 or 1 (1)", AT(device_tracer), NULL},
    {IDS_OPT_COUNT, 0, "python-tracer", "N", "whether every Python call is recorded: 0 or 1 (0)", AT(python_tracer),
     NULL},
    {IDS_OPT_TEXTS, 0, "profile-option", "KEY=VALUE",
     "set an option of jax's profiler (ProfileOptions); may be given again", AT(profile_options), NULL},
    {IDS_OPT_COUNT, 0, "stacks", "HZ", "sample the stacks of Python threads so many times a second; 0: not (500)",
     AT(stacks), NULL},
    {IDS_OPT_FLAG, 0, "memory", NULL, "JAX: save what lives on the devices with each window, by call stack", AT(memory),
     NULL},
    {IDS_OPT_TEXT, 0, "cuda-graph-trace", "node|graph",
     "in CUDA programs without JAX: kernels of CUDA graphs one by one (node), or a launch as one", AT(cuda_graph),
     NULL},
    {IDS_OPT_TEXT, 0, "max-size", "SIZE", "open no window once a process has written this much: 500M, 2G", AT(max_size),
     NULL},
    {IDS_OPT_TEXT, 0, "max-window-bytes", "SIZE",
     "end a window that adds this to the program's memory; 0: none (256M, unless steps end it)", AT(max_window_bytes),
     NULL},
    {IDS_OPT_COUNT, 0, "keep", "N", "keep N captures of this name, remove older ones", AT(keep), NULL},
    {IDS_OPT_FLAG, 0, "keep-empty", NULL, "keep the folder of a capture that caught nothing", AT(keep_empty), NULL},
    {IDS_OPT_TIME, 0, "stop-timeout", "TIME", "let the program wait at most this long for a window's end (60s)",
     AT(stop_timeout_ps), NULL},
    {IDS_OPT_TEXT, 0, "env-file", "FILE", "read variables for the program from this file of NAME=value", AT(env_file),
     NULL},
    {IDS_OPT_FLAG, 'r', "report", NULL, "print the report when the program has ended", AT(report), NULL},
    {IDS_OPT_FLAG, 0, "perfetto", NULL, "put a trace for ui.perfetto.dev beside each profile", AT(perfetto), NULL},
    {IDS_OPT_FLAG, 'q', "quiet", NULL, "at the end, print only what is missing", AT(quiet), NULL},
};

const struct ids_capture_options ids_capture_option_defaults = {.start_step = UNSET,
                                                                .steps = UNSET,
                                                                .max = UNSET,
                                                                .warmup = UNSET,
                                                                .keep = UNSET,
                                                                .keeping.slowest = UNSET,
                                                                .delay_ps = UNSET,
                                                                .duration_ps = UNSET,
                                                                .stop_timeout_ps = UNSET,
                                                                .host_tracer = UNSET,
                                                                .device_tracer = UNSET,
                                                                .python_tracer = UNSET,
                                                                .stacks = UNSET};

/* ---- single values ---- */

static int parse_size(const char *option, const char *text, int64_t *ret_bytes, struct ids_error *err) {
    static const char units[] = "KMGT";
    size_t digits = strspn(text, "0123456789");
    char number[24];
    snprintf(number, sizeof number, "%.*s", (int)(digits < sizeof number ? digits : sizeof number - 1), text);
    const char *unit = text[digits] ? strchr(units, text[digits] & ~32) : units;
    int good = digits && digits < sizeof number && (!text[digits] || (unit && !text[digits + 1]));
    int64_t scale = text[digits] && unit ? (int64_t)1 << 10 * (unit - units + 1) : 1;
    if (good && !ids_parse_count(number, ret_bytes, err) && !__builtin_mul_overflow(*ret_bytes, scale, ret_bytes))
        return 0;
    return ids_fail(err, IDS_USAGE, "--%s: '%s' is not a size such as 500M or 2G", option, text);
}

static int parse_sweep(const char *text, struct ids_capture_settings *settings, struct ids_error *err) {
    const char *at = strncmp(text, "devices=", 8) ? text : text + 8;
    while (*at) {
        char number[16];
        size_t length = strcspn(at, ",");
        int64_t devices = 0;
        snprintf(number, sizeof number, "%.*s", (int)(length < sizeof number ? length : sizeof number - 1), at);
        if (ids_parse_count(number, &devices, err) || devices < 1 || devices > DEVICES_MAX) {
            return ids_fail(err, IDS_USAGE, "--sweep: '%s' is not a list of numbers of devices such as devices=1,2,4,8",
                            text);
        }
        if (settings->sweep_count == IDS_SWEEP_MAX) {
            return ids_fail(err, IDS_USAGE, "--sweep: more than %d numbers of devices", IDS_SWEEP_MAX);
        }
        for (size_t i = 0; i < settings->sweep_count; i++) {
            if (settings->sweep[i] == devices) return ids_fail(err, IDS_USAGE, "--sweep: %s is given twice", number);
        }
        settings->sweep[settings->sweep_count++] = devices;
        at += length + (at[length] == ',');
    }
    return settings->sweep_count ? 0
                                 : ids_fail(err, IDS_USAGE, "--sweep: say how many devices, such as devices=1,2,4,8");
}

/* Copies a text of the plan, which has a limit. */
static int set_text(char *to, size_t size, const char *option, const char *text, struct ids_error *err) {
    if (strlen(text) >= size) return ids_fail(err, IDS_USAGE, "--%s: more than %zu characters", option, size - 1);
    memcpy(to, text, strlen(text) + 1);
    return 0;
}

/* What its collectors are to compile, compiled: an error in it is one of the command line. */
static int set_pattern(char *to, size_t size, const char *option, const char *text, struct ids_error *err) {
    regex_t pattern;
    char why[128];
    int error = regcomp(&pattern, text, REG_EXTENDED | REG_NOSUB);
    if (!error) {
        regfree(&pattern);
        return set_text(to, size, option, text, err);
    }
    regerror(error, &pattern, why, sizeof why);
    return ids_fail(err, IDS_USAGE, "--%s: '%s' is not an extended regular expression: %s", option, text, why);
}

static int set_wrap(const struct ids_opt_texts *wrap, struct ids_plan *plan, struct ids_error *err) {
    size_t used = 0;
    for (size_t i = 0; i < wrap->count; i++) {
        const char *colon = strchr(wrap->at[i], ':');
        if (!colon || colon == wrap->at[i] || !colon[1] || strchr(wrap->at[i], ',')) {
            return ids_fail(err, IDS_USAGE, "--wrap: '%s' is not module:function", wrap->at[i]);
        }
        int length = snprintf(plan->wrap + used, sizeof plan->wrap - used, "%s%s", i ? "," : "", wrap->at[i]);
        used += (size_t)length;
        if (used >= sizeof plan->wrap) {
            return ids_fail(err, IDS_USAGE, "--wrap: more than %zu characters in all", sizeof plan->wrap - 1);
        }
    }
    return 0;
}

static int set_profile_options(const struct ids_opt_texts *options, struct ids_plan *plan, struct ids_error *err) {
    size_t used = 0, size = sizeof plan->profile_options;
    for (size_t i = 0; i < options->count; i++) {
        int code = ids_capture_check_profiler(options->at[i], err);
        if (code) return code;
        int length = snprintf(plan->profile_options + used, size - used, "%s%s", i ? "\n" : "", options->at[i]);
        used += (size_t)length;
        if (used >= size)
            return ids_fail(err, IDS_USAGE, "--profile-option: more than %zu characters in all", size - 1);
    }
    return 0;
}

static int set_level(const char *option, int64_t asked, int64_t most, int64_t *level, struct ids_error *err) {
    if (asked > most)
        return ids_fail(err, IDS_USAGE, "--%s: %lld is more than %lld", option, (long long)asked, (long long)most);
    if (asked >= 0) *level = asked;
    return 0;
}

/* ---- what they come to together ---- */

static int64_t first_set(int64_t option, int64_t variable, int64_t otherwise) {
    return option >= 0 ? option : variable >= 0 ? variable : otherwise;
}

/* What opens windows: the options say it; a variable only where they say nothing. */
static int settle_start(const struct ids_capture_options *options, const struct ids_profile_variables *variables,
                        struct ids_plan *plan, struct ids_error *err) {
    int by_option = options->start_step >= 0 || options->delay_ps >= 0 || options->range || ids_plan_judges(plan);
    plan->trigger = options->trigger || (variables->trigger && !by_option);
    if (options->trigger && (options->start_step >= 0 || options->delay_ps >= 0 || options->range)) {
        return ids_fail(err, IDS_USAGE,
                        "--trigger opens windows instead of --start-step, --delay and --range; "
                        "beside them idsprof trigger works too");
    }
    int otherwise = plan->trigger || options->range || (options->delay_ps >= 0 && !ids_plan_judges(plan));
    plan->start_step =
        otherwise ? options->start_step : first_set(options->start_step, variables->start_step, plan->start_step);
    plan->delay_ns = options->delay_ps >= 0 ? options->delay_ps / PS_PER_NS : 0;
    return options->range ? set_text(plan->range, sizeof plan->range, "range", options->range, err) : 0;
}

static int settle_end(const struct ids_capture_options *options, const struct ids_profile_variables *variables,
                      struct ids_plan *plan, struct ids_error *err) {
    int by_other = options->duration_ps >= 0 || options->range;
    int64_t steps = first_set(options->steps, variables->duration, by_other ? 0 : plan->steps);
    if (!steps && !by_other)
        return ids_fail(err, IDS_USAGE, "a window of 0 steps holds nothing; --duration ends it by time");
    if (options->duration_ps == 0) return ids_fail(err, IDS_USAGE, "a window of 0 s holds nothing");
    plan->steps = steps;
    if (options->duration_ps >= 0) {
        plan->duration_ns = options->duration_ps / PS_PER_NS;
    } else if (plan->start_step < 0 && !options->range && options->steps < 0) {
        plan->duration_ns = duration_without_steps_ns;
    }
    return 0;
}

static int settle_repeats(const struct ids_capture_options *options, const struct ids_profile_variables *variables,
                          struct ids_plan *plan, struct ids_error *err) {
    int64_t every = UNSET;
    int code = ids_capture_every(options->every, &every, &plan->every_ns, err);
    if (code) return code;
    plan->every = first_set(every, plan->start_step >= 0 && !plan->every_ns ? variables->interval : UNSET, 0);
    int is_again = plan->every || plan->every_ns || ids_plan_judges(plan);
    plan->max = first_set(options->max, UNSET,
                          is_again && !plan->keep_slowest ? WINDOWS_WITHOUT_MAX
                          : is_again || plan->trigger     ? 0
                                                          : 1);
    plan->warmup = first_set(options->warmup, UNSET, 0);
    if (plan->every && plan->range[0])
        return ids_fail(err, IDS_USAGE,
                        "--every counts steps from --start-step, and --range opens windows at calls: "
                        "leave one of them out");
    if (plan->every && plan->start_step < 0)
        return ids_fail(err, IDS_USAGE, "--every counts steps from --start-step: give that too");
    if (plan->every_ns && (plan->trigger || plan->range[0]))
        return ids_fail(err, IDS_USAGE, "--every is for windows of --start-step and --delay");
    if (plan->every_ns && plan->duration_ns >= plan->every_ns)
        return ids_fail(err, IDS_USAGE, "--every %s leaves no time between windows of that --duration", options->every);
    if (plan->every && plan->every <= plan->steps + plan->warmup) {
        return ids_fail(err, IDS_USAGE, "a window of %lld steps every %lld steps leaves none between them",
                        (long long)(plan->steps + plan->warmup), (long long)plan->every);
    }
    if (plan->warmup && (plan->start_step < 0 || plan->range[0])) {
        return ids_fail(err, IDS_USAGE, "--warmup needs --start-step: when other windows open is not known before");
    }
    return 0;
}

/* What opens windows by itself has no rhythm in which slow steps could be found. */
static int check_keeping(const struct ids_capture_options *options, struct ids_error *err) {
    const char *option = ids_capture_keeping_option(&options->keeping);
    const struct {
        const char *name;
        int is_given;
    } others[] = {{"trigger", options->trigger},
                  {"range", options->range != NULL},
                  {"warmup", options->warmup >= 0},
                  {"attach", options->attach != NULL}};
    if (options->keeping.slowest >= 0 && options->max >= 0)
        return ids_fail(err, IDS_USAGE, "--keep-slowest and --max exclude each other");
    for (size_t i = 0; option && i < sizeof others / sizeof *others; i++) {
        if (others[i].is_given)
            return ids_fail(err, IDS_USAGE, "--%s and --%s exclude each other", option, others[i].name);
    }
    return 0;
}

static int settle_plan(const struct ids_capture_options *options, const struct ids_profile_variables *variables,
                       struct ids_plan *plan, struct ids_error *err) {
    ids_plan_default(plan);
    int code = check_keeping(options, err);
    if (!code) code = ids_capture_keeping_settle(&options->keeping, plan, err);
    if (!code) code = settle_start(options, variables, plan, err);
    if (!code) code = settle_end(options, variables, plan, err);
    if (!code) code = settle_repeats(options, variables, plan, err);
    if (!code && options->ranks) code = set_text(plan->ranks, sizeof plan->ranks, "ranks", options->ranks, err);
    if (!code && !ids_ranks_valid(plan->ranks)) {
        code = ids_fail(err, IDS_USAGE, "--ranks: '%s' is not a list such as 0,4-7", plan->ranks);
    }
    if (!code) code = set_wrap(&options->wrap, plan, err);
    if (!code) code = set_profile_options(&options->profile_options, plan, err);
    if (!code && options->step_executable) {
        code = set_pattern(plan->step_executable, sizeof plan->step_executable, "step-executable",
                           options->step_executable, err);
    }
    if (!code) code = set_level("host-tracer", options->host_tracer, 3, &plan->host_level, err);
    if (!code) code = set_level("device-tracer", options->device_tracer, 1, &plan->device_level, err);
    if (!code) code = set_level("python-tracer", options->python_tracer, 1, &plan->python_level, err);
    if (!code) code = set_level("stacks", options->stacks, IDS_STACKS_FASTEST, &plan->stacks, err);
    if (!code && options->cuda_graph && strcmp(options->cuda_graph, "node") != 0 &&
        strcmp(options->cuda_graph, "graph") != 0)
        return ids_fail(err, IDS_USAGE, "--cuda-graph-trace: '%s' is neither node nor graph", options->cuda_graph);
    if (!code && options->cuda_graph)
        code = set_text(plan->cuda_graph, sizeof plan->cuda_graph, "cuda-graph-trace", options->cuda_graph, err);
    plan->memory = options->memory != 0;
    if (!code && options->max_size) code = parse_size("max-size", options->max_size, &plan->max_size, err);
    if (!code && options->max_window_bytes)
        code = parse_size("max-window-bytes", options->max_window_bytes, &plan->max_window_bytes, err);
    if (options->stop_timeout_ps >= 0) plan->stop_timeout_ns = options->stop_timeout_ps / PS_PER_NS;
    return code;
}

static int settle_name(const struct ids_capture_options *options, char *const *command,
                       struct ids_capture_settings *settings, struct ids_error *err) {
    if (!options->name && options->attach)
        return set_text(settings->name, sizeof settings->name, "name", "attach", err);
    if (!options->name) {
        ids_capture_name(command, settings->name, sizeof settings->name);
        return 0;
    }
    if (!*options->name || options->name[0] == '.' || strchr(options->name, '/')) {
        return ids_fail(err, IDS_USAGE, "--name: '%s' cannot be the name of a folder", options->name);
    }
    return set_text(settings->name, sizeof settings->name, "name", options->name, err);
}

static int settle_platform(const struct ids_capture_options *options, struct ids_capture_settings *settings,
                           struct ids_error *err) {
    static const char *const platforms[] = {"", "cuda,cpu", "tpu,cpu", "cpu"};
    if (options->gpu + options->tpu + options->cpu > 1)
        return ids_fail(err, IDS_USAGE, "--gpu, --tpu and --cpu exclude each other");
    settings->platform = options->gpu   ? IDS_PLATFORM_GPU
                         : options->tpu ? IDS_PLATFORM_TPU
                         : options->cpu ? IDS_PLATFORM_CPU
                                        : IDS_PLATFORM_AUTO;
    if (settings->platform == IDS_PLATFORM_AUTO) return 0;
    return ids_variables_set(&settings->environment, "JAX_PLATFORMS", platforms[settings->platform], err);
}

int ids_capture_settle(const struct ids_capture_options *options, char *const *command, char *const *environment,
                       struct ids_capture_settings *ret_settings, struct ids_error *err) {
    struct ids_profile_variables variables;
    *ret_settings = (struct ids_capture_settings){.report = options->report,
                                                  .perfetto = options->perfetto,
                                                  .quiet = options->quiet,
                                                  .audit = options->audit,
                                                  .keep_empty = options->keep_empty,
                                                  .or_cpu = options->or_cpu};
    struct ids_variables *all = &ret_settings->environment;
    int code = ids_variables_copy(all, environment, err);
    if (!code && options->env_file) {
        code = ids_variables_read(all, options->env_file, err);
        if (code) ids_error_at(err, "--env-file");
    }
    if (!code) code = ids_profile_variables(all, &variables, err);
    if (code) return code;
    ret_settings->enabled = variables.enabled != 0;
    ret_settings->dir = options->output ? options->output : variables.dir ? variables.dir : "profiles";
    ret_settings->listen = options->listen;
    ret_settings->token = options->token;
    if (options->token && !options->listen) return ids_fail(err, IDS_USAGE, "--token is for --listen");
    ret_settings->keep = first_set(options->keep, UNSET, 0);
    code = settle_plan(options, &variables, &ret_settings->plan, err);
    if (!code) code = settle_name(options, command, ret_settings, err);
    if (!code && options->sweep) code = parse_sweep(options->sweep, ret_settings, err);
    if (!code) code = settle_platform(options, ret_settings, err);
    return code;
}

void ids_capture_settings_done(struct ids_capture_settings *settings) {
    ids_variables_done(&settings->environment);
}
