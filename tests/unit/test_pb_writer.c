/* lib/wire/pb_writer.h, against the reader of the wire format and against bytes written by hand. */
#include "lib/wire/pb_writer.h"
#include "tests/support/suite.h"

static void bytes_are(const struct ids_buffer *buffer, const char *bytes, size_t length) {
    ck_assert_int_eq(buffer->failed, 0);
    ck_assert_uint_eq(buffer->length, length);
    ck_assert_mem_eq(buffer->at, bytes, length);
}
#define BYTES_ARE(buffer, literal) bytes_are((buffer), (literal), sizeof(literal) - 1)

START_TEST(fields) {
    struct ids_buffer buffer = {0};
    ids_pb_put_uint(&buffer, 1, 150); /* the example of the format's own description */
    BYTES_ARE(&buffer, "\x08\x96\x01");
    buffer.length = 0;
    ids_pb_put_uint(&buffer, 16, UINT64_MAX);
    BYTES_ARE(&buffer, "\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    buffer.length = 0;
    ids_pb_put_double(&buffer, 2, 1.0);
    BYTES_ARE(&buffer, "\x11\0\0\0\0\0\0\xf0\x3f");
    buffer.length = 0;
    ids_pb_put_bytes(&buffer, 2, "testing", 7);
    BYTES_ARE(&buffer, "\x12\x07testing");
    ids_buffer_done(&buffer);
}
END_TEST

START_TEST(sizes) {
    const uint64_t values[] = {0,         1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_C(1) << 56, UINT64_C(1) << 63,
                               UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct ids_buffer buffer = {0};
        uint64_t back;
        ids_pb_put_varint(&buffer, values[i]);
        ck_assert_uint_eq(buffer.length, ids_pb_varint_size(values[i]));
        struct ids_pb pb = {(const uint8_t *)buffer.at, (const uint8_t *)buffer.at + buffer.length};
        ck_assert_int_eq(ids_pb_varint(&pb, &back), 1);
        ck_assert_uint_eq(back, values[i]);
        ids_buffer_done(&buffer);
    }
}
END_TEST

/* A message inside a message, of each length around those where the length takes another byte. */
START_TEST(messages) {
    const size_t lengths[] = {0, 1, 123, 125, 126, 127, 128, 129, 16380, 16383, 16384, 70000, 2097152};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct ids_buffer buffer = {0};
        IDS_BUFFER_PUT(&buffer, "before");
        size_t outer = ids_pb_open(&buffer, 3), inner = ids_pb_open(&buffer, 100);
        for (size_t b = 0; b < lengths[i]; b++) ids_buffer_byte(&buffer, (char)(b % 251));
        ids_pb_close(&buffer, inner);
        ids_pb_put_uint(&buffer, 5, 7);
        ids_pb_close(&buffer, outer);
        IDS_BUFFER_PUT(&buffer, "behind");
        ck_assert_int_eq(buffer.failed, 0);
        struct ids_pb pb = {(const uint8_t *)buffer.at + 6, (const uint8_t *)buffer.at + buffer.length - 6};
        struct ids_pb_field field;
        ck_assert_mem_eq(pb.end, "behind", 6);
        ck_assert_int_eq(ids_pb_next(&pb, &field), 1);
        ck_assert_uint_eq(field.number, 3);
        ck_assert_ptr_eq(pb.at, pb.end);
        pb = ids_pb_inside(&field);
        ck_assert_int_eq(ids_pb_next(&pb, &field), 1);
        ck_assert_uint_eq(field.number, 100);
        ck_assert_uint_eq(field.value, lengths[i]);
        size_t same = 0;
        while (same < lengths[i] && field.bytes[same] == same % 251) same++;
        ck_assert_uint_eq(same, lengths[i]);
        ck_assert_int_eq(ids_pb_next(&pb, &field), 1);
        ck_assert_uint_eq(field.value, 7);
        ck_assert_int_eq(ids_pb_next(&pb, &field), 0);
        ids_buffer_done(&buffer);
    }
}
END_TEST

/* Memory that cannot be had is remembered, and nothing is written after it. */
START_TEST(no_memory) {
    struct ids_buffer buffer = {0};
    ids_pb_put_uint(&buffer, 1, 1);
    ck_assert_ptr_null(ids_buffer_space(&buffer, SIZE_MAX - 1));
    ck_assert_int_eq(buffer.failed, 1);
    size_t length = buffer.length, message = ids_pb_open(&buffer, 1);
    ids_pb_close(&buffer, message);
    ids_pb_put_bytes(&buffer, 1, "x", 1);
    ids_buffer_done(&buffer);
    ck_assert_uint_le(length, 2);
}
END_TEST

IDS_RUN_SUITE("pb_writer", fields, sizes, messages, no_memory)
