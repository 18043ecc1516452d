/* fuzz_report_chrome.c - Chrome/Perfetto JSON traces: bytes as trace.json, the whole way to a report. */
#include "tests/fuzz/whole_way.h"

extern const struct ids_format ids_chrome_trace_format;
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    return whole_way(&ids_chrome_trace_format, bytes, length);
}
