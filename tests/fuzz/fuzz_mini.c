/* fuzz_mini.c - the text form, the whole way to a report: texts reach odd combinations of events sooner than bytes
 * do. */
#include "tests/fuzz/whole_way.h"

extern const struct ids_format ids_mini_format;
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    return whole_way(&ids_mini_format, bytes, length);
}
