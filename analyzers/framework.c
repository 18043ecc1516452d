#include "analyzers/framework.h"

#include "lib/base/intern.h"
#include "lib/base/saturate.h"
#include "lib/model/step_marks.h"

static int begins_any_name(const struct ids_trace *trace, const char *prefix) {
    for (size_t n = 0; n < trace->name_count; n++) {
        if (ids_text_begins(ids_strings_text(&trace->strings, trace->names[n].text), prefix)) return 1;
    }
    return 0;
}

/* PyTorch's own kernels, or frames of it in sampled stacks, where only the runtime was recorded. */
static int has_torch(const struct ids_trace *trace) {
    static const char *const parts[] = {"at::native::", "-packages/torch/"};
    for (size_t n = 0; n < trace->name_count; n++) {
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            if (ids_text_contains(ids_strings_text(&trace->strings, trace->names[n].text), parts[i])) return 1;
        }
    }
    return 0;
}

static struct ids_text name_of(const struct ids_trace *trace, uint32_t name) {
    return ids_strings_text(&trace->strings, trace->names[name].text);
}

static int begins_any(struct ids_text name, const char *const *starts) {
    for (; *starts; starts++) {
        if (ids_text_begins(name, *starts)) return 1;
    }
    return 0;
}

/* One small function that is compiled, as a program's library may have, is not the program. Inductor calls kernels and
 * calls so (torch/_inductor/codegen/triton.py, utils.py). */
int ids_is_torch_compiled(const struct ids_trace *trace) {
    static const char *const kernels[] = {"triton_poi_", "triton_per_", "triton_red_", "triton_tem_", NULL},
                             *const calls[] = {"CompiledFunction", "Torch-Compiled Region", "## Call CompiledFxGraph",
                                               NULL};
    enum { SHARE = 10 };
    int64_t made_ps = 0, all_ps = 0;
    for (size_t i = 0; i < trace->aggregate_count; i++) {
        const struct ids_aggregate *sum = &trace->aggregates[i];
        const struct ids_track *track = &trace->tracks[sum->track];
        struct ids_text name = name_of(trace, sum->name);
        if (track->role == IDS_TRACK_HOST && sum->sum_ps >= (track->last_ps - track->first_ps) / SHARE &&
            begins_any(name, calls))
            return 1;
        if (track->role != IDS_TRACK_STREAM) continue;
        ids_sum(&all_ps, sum->sum_ps);
        if (begins_any(name, kernels)) ids_sum(&made_ps, sum->sum_ps);
    }
    return made_ps > 0 && made_ps >= all_ps / SHARE;
}

int ids_has_torch_ops(const struct ids_trace *trace) {
    return begins_any_name(trace, "aten::");
}

/* Names of ops and kernels, and PyTorch's marks: what Python's functions are called says what may be done. */
int ids_trains(const struct ids_trace *trace) {
    static const char *const parts[] = {"autograd::engine", "ackward", "bwd", "Optimizer."};
    if (!ids_has_torch_ops(trace)) return 1; /* nobody knows */
    for (size_t n = 0; n < trace->name_count; n++) {
        if (trace->names[n].kind == IDS_KIND_PYTHON) continue;
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            if (ids_text_contains(name_of(trace, (uint32_t)n), parts[i])) return 1;
        }
    }
    return 0;
}

const char *ids_how_to_mark_steps(enum ids_framework framework) {
    if (framework == IDS_PYTORCH) return "mark them by the step() of torch.profiler.profile";
    return framework == IDS_JAX ? "mark them by jax.profiler.StepTraceAnnotation" : IDS_HOW_TO_MARK_STEPS;
}

int ids_launches_graphs(const struct ids_trace *trace) {
    return begins_any_name(trace, "cudaGraphLaunch") || begins_any_name(trace, "cuGraphLaunch") ||
           begins_any_name(trace, "hipGraphLaunch");
}

enum ids_framework ids_framework_of(const struct ids_trace *trace) {
    if (ids_has_torch_ops(trace)) return IDS_PYTORCH;
    if (begins_any_name(trace, "PjitFunction(") || trace->jax_version) return IDS_JAX;
    if (begins_any_name(trace, "ExecutorState::") || begins_any_name(trace, "IteratorGetNext")) return IDS_TENSORFLOW;
    if (trace->module_count) return IDS_JAX;
    return has_torch(trace) ? IDS_PYTORCH : IDS_CUDA;
}
