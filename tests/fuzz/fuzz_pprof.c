/* fuzz_pprof.c - a damaged device memory profile through its reader, trace and analyzers. */
#include "lib/analysis/analysis.h"
#include "lib/io/source.h"
#include "lib/model/builder.h"
#include "lib/model/format.h"

#include <stdlib.h>

extern const struct ids_format ids_pprof_format;
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static int build(const uint8_t *bytes, size_t length, struct ids_trace **ret_trace, struct ids_error *err) {
    struct ids_source *source;
    struct ids_builder *builder;
    int code = ids_source_memory(bytes, length, &source, err);
    if (code) return code;
    code = ids_builder_new(&builder, err);
    if (!code) {
        code = ids_pprof_format.read(source, ids_builder_sink(builder), err);
        if (!code) code = ids_builder_finish(builder, ret_trace, err);
        if (code) ids_builder_free(builder);
    }
    ids_source_close(source);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_trace *trace;
    int more = 0;
    ids_pprof_format.bid(bytes, length, &more);
    if (build(bytes, length, &trace, &err)) {
        if (!err.text[0]) abort(); /* every failure says why */
        return 0;
    }
    struct ids_params params;
    struct ids_report report;
    ids_params_default(&params);
    ids_report_init(&report);
    if (!ids_analyze(trace, &params, &report, &err)) ids_report_check(&report, &err);
    ids_report_done(&report);
    ids_trace_free(trace);
    return 0;
}
