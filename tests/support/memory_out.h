/* memory_out.h - an output that keeps what is written, or refuses after so many bytes. */
#ifndef IDS_TESTS_SUPPORT_MEMORY_OUT_H
#define IDS_TESTS_SUPPORT_MEMORY_OUT_H

#include "lib/base/buffer.h"
#include "lib/export/out.h"

struct memory_out {
    struct ids_out out; /* first */
    struct ids_buffer bytes;
    size_t limit; /* 0: none */
};

static inline int memory_write(struct ids_out *out, const void *bytes, size_t length, struct ids_error *err) {
    struct memory_out *memory = (struct memory_out *)out;
    if (memory->limit && memory->bytes.length + length > memory->limit) return ids_fail(err, IDS_IO, "full");
    ids_buffer_put(&memory->bytes, bytes, length);
    return 0;
}

#endif
