#include "lib/io/unpack_limit.h"

enum { MAX_RATIO = 200, FREE_BYTES = 256 << 20 };
static const uint64_t MAX_BYTES = UINT64_C(256) << 30;

static uint64_t limit; /* set before any thread is started */

void ids_unpack_limit_set(uint64_t bytes) {
    limit = bytes;
}

uint64_t ids_unpack_limit(void) {
    return limit;
}

static int refuse_set(const char *what, struct ids_error *err) {
    ids_fail(err, IDS_LIMIT, "%s: unpacks to more than %llu bytes: refused", what, (unsigned long long)limit);
    return ids_hint(err, "the limit of --max-unpacked");
}

int ids_unpack_check(const char *what, uint64_t packed, uint64_t unpacked, struct ids_error *err) {
    if (limit) return unpacked > limit ? refuse_set(what, err) : 0;
    if (unpacked <= FREE_BYTES) return 0;
    if (unpacked > MAX_BYTES)
        ids_fail(err, IDS_LIMIT, "%s: unpacks to more than %llu GiB: refused", what,
                 (unsigned long long)(MAX_BYTES >> 30));
    else if (unpacked / MAX_RATIO > packed)
        ids_fail(err, IDS_LIMIT, "%s: unpacks to more than %d times its size (%llu bytes from %llu): refused", what,
                 MAX_RATIO, (unsigned long long)unpacked, (unsigned long long)packed);
    else
        return 0;
    return ids_hint(err, "--max-unpacked SIZE allows more");
}
