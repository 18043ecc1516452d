#include "analyzers/framework.h"

#include "lib/base/intern.h"

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

/* Inductor calls them so (torch/_inductor/codegen/triton.py). */
int ids_is_torch_compiled(const struct ids_trace *trace) {
    return begins_any_name(trace, "triton_poi_") || begins_any_name(trace, "triton_per_") ||
           begins_any_name(trace, "triton_red_") || begins_any_name(trace, "triton_tem_");
}

int ids_launches_graphs(const struct ids_trace *trace) {
    return begins_any_name(trace, "cudaGraphLaunch") || begins_any_name(trace, "cuGraphLaunch") ||
           begins_any_name(trace, "hipGraphLaunch");
}

enum ids_framework ids_framework_of(const struct ids_trace *trace) {
    if (begins_any_name(trace, "aten::")) return IDS_PYTORCH;
    if (begins_any_name(trace, "PjitFunction(") || trace->jax_version) return IDS_JAX;
    if (begins_any_name(trace, "ExecutorState::") || begins_any_name(trace, "IteratorGetNext")) return IDS_TENSORFLOW;
    if (trace->module_count) return IDS_JAX;
    return has_torch(trace) ? IDS_PYTORCH : IDS_CUDA;
}
