#include "lib/model/tracer_options.h"

#include "lib/model/trace.h"

/* Field numbers of tsl/profiler/protobuf/profiler_options.proto. */
enum {
    HOST_LEVEL = 2,
    DEVICE_LEVEL = 3,
    PYTHON_LEVEL = 4,
    DURATION_MS = 9,
    VARINT = 0,
    FIXED64 = 1,
    BYTES = 2,
    FIXED32 = 5
};

static int next_varint(const uint8_t **at, const uint8_t *end, uint64_t *ret_value) {
    *ret_value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        *ret_value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return 1;
    }
    return 0;
}

static int pass(const uint8_t **at, const uint8_t *end, unsigned wire, uint64_t *ret_value) {
    uint64_t length = wire == FIXED64 ? 8 : 4;
    if (wire == VARINT) return next_varint(at, end, ret_value);
    if (wire == BYTES && !next_varint(at, end, &length)) return 0;
    if ((wire != BYTES && wire != FIXED64 && wire != FIXED32) || length > (uint64_t)(end - *at)) return 0;
    *at += length;
    return 1;
}

static int level(uint64_t value) {
    return value < 100 ? (int)value : -1;
}

void ids_tracer_options_read(const void *bytes, size_t length, struct ids_trace *trace) {
    const uint8_t *at = bytes, *end = at + length;
    int host = 0, device = 0, python = 0;
    uint64_t tag, value = 0;
    while (at < end) {
        if (!next_varint(&at, end, &tag) || !pass(&at, end, tag & 7, &value)) return;
        if ((tag & 7) != VARINT) continue;
        if (tag >> 3 == HOST_LEVEL) host = level(value);
        if (tag >> 3 == DEVICE_LEVEL) device = level(value);
        if (tag >> 3 == PYTHON_LEVEL) python = level(value);
        if (tag >> 3 == DURATION_MS && trace->host_count)
            trace->hosts[trace->host_count - 1].asked_ms = value < INT32_MAX ? (int64_t)value : 0;
    }
    trace->tracer_host = host;
    trace->tracer_device = device;
    trace->tracer_python = python;
}
