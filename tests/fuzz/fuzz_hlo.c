/* fuzz_hlo.c - a damaged HLO proto, straight into its reader: below an XSpace a fuzzer rarely gets so deep. */
#include "formats/hlo.h"
#include "lib/hlo/shape.h"
#include "lib/model/builder.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* With all parts, which no report asks for. */
static void read_all(const uint8_t *bytes, size_t length) {
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_hlo_module module;
    int code = ids_hlo_module_read(bytes, length, IDS_HLO_ALL, &module, &err);
    if (code && !err.text[0]) abort();
    if (code) return;
    char shape[IDS_HLO_SHAPE_TEXT];
    for (size_t i = 0; i < module.shape_count; i++) ids_hlo_shape_text(&module, (uint32_t)i, 1, shape);
    ids_hlo_module_done(&module);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct ids_error err = IDS_ERROR_INIT;
    read_all(bytes, length);
    struct ids_builder *builder;
    struct ids_trace *trace;
    if (ids_builder_new(&builder, &err)) return 0;
    struct ids_sink *sink = ids_builder_sink(builder);
    struct ids_host_info host = {0};
    int code = sink->ops->host(sink, &host, &err);
    if (!code) code = ids_hlo_read(bytes, length, 7, sink, &err);
    if (code == IDS_CORRUPT) code = 0; /* the profile stands without it */
    if (code) {
        ids_builder_free(builder);
        if (!err.text[0]) abort();
        return 0;
    }
    if (ids_builder_finish(builder, &trace, &err))
        ids_builder_free(builder);
    else
        ids_trace_free(trace);
    return 0;
}
