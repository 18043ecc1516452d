/* fuzz_report_xplane.c - XSpace profiles: bytes as xplane.pb, the whole way to a report. */
#include "tests/fuzz/whole_way.h"

extern const struct ids_format ids_format_xplane;
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    return whole_way(&ids_format_xplane, bytes, length);
}
