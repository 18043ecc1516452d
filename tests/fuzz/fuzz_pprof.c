/* fuzz_pprof.c - a damaged device memory profile, the whole way to a report. */
#include "tests/fuzz/whole_way.h"

extern const struct ids_format ids_pprof_format;
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    return whole_way(&ids_pprof_format, bytes, length);
}
