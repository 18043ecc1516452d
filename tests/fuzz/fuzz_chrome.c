/* fuzz_chrome.c - Chrome/Perfetto JSON traces: bytes as trace.json, the reader alone. Read twice, it must say the
 * same. */
#include "tests/fuzz/reader.h"

extern const struct ids_format ids_chrome_trace_format;
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct ids_dump_totals first, second;
    fuzzed = &ids_chrome_trace_format;
    int more = 0;
    fuzzed->bid(bytes, length < IDS_FORMAT_HEAD ? length : IDS_FORMAT_HEAD, &more);
    int code = read_totals(bytes, length, &first);
    if (read_totals(bytes, length, &second) != code) stop("read twice, two answers", "code");
    if (memcmp(&first, &second, sizeof first)) stop("read twice, two answers", "totals");
    return 0;
}
