/* lib/wire/pb_wire.h: the walker over protobuf wire format, byte by byte. */
#include "lib/wire/pb_wire.h"
#include "tests/support/pb_encode.h"
#include "tests/support/suite.h"

static int varint(const void *bytes, size_t length, uint64_t *ret_value, size_t *ret_used) {
    struct ids_pb pb = {bytes, (const uint8_t *)bytes + length};
    int got = ids_pb_varint(&pb, ret_value);
    *ret_used = (size_t)(pb.at - (const uint8_t *)bytes);
    return got;
}

START_TEST(varints_of_every_length) {
    for (unsigned length = 1; length <= 10; length++) {
        /* The smallest and the largest number that take `length` bytes, 7 bits each. */
        uint64_t smallest = length == 1 ? 0 : (uint64_t)1 << 7 * (length - 1);
        uint64_t largest = length == 10 ? UINT64_MAX : ((uint64_t)1 << 7 * length) - 1;
        for (int i = 0; i < 2; i++) {
            uint64_t wanted = i ? largest : smallest, value;
            size_t used;
            struct pb bytes = {0};
            pb_varint(&bytes, wanted);
            ck_assert_uint_eq(bytes.length, length);
            ck_assert_int_eq(varint(bytes.at, length, &value, &used), 1);
            ck_assert_uint_eq(value, wanted);
            ck_assert_uint_eq(used, length);
            for (size_t cut = 0; cut < length; cut++) {
                ck_assert_int_eq(varint(bytes.at, cut, &value, &used), 0);
                ck_assert_uint_eq(used, 0); /* stays in front */
            }
            for (int behind = 0; behind < 12; behind++) { /* whatever follows */
                pb_varint(&bytes, 0x7f);
                ck_assert_int_eq(varint(bytes.at, bytes.length, &value, &used), 1);
                ck_assert_uint_eq(value, wanted);
                ck_assert_uint_eq(used, length);
            }
            pb_free(&bytes);
        }
    }
}
END_TEST

START_TEST(varints_end_after_64_bits) {
    uint64_t value;
    size_t used;
    ck_assert_int_eq(varint("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, &value, &used), 1);
    ck_assert_uint_eq(value, UINT64_MAX);
    ck_assert_int_eq(varint("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 10, &value, &used), 1); /* long for no reason */
    ck_assert_uint_eq(value, 0);
    ck_assert_int_eq(varint("\x85\x00", 2, &value, &used), 1);
    ck_assert_uint_eq(value, 5);
    ck_assert_uint_eq(used, 2);
    ck_assert_int_eq(varint("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 10, &value, &used), -1); /* bit 64 */
    ck_assert_int_eq(varint("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02\x01\x01", 12, &value, &used), -1);
    ck_assert_int_eq(varint("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11, &value, &used), -1);
    ck_assert_uint_eq(used, 0);
}
END_TEST

START_TEST(fields_of_every_wire_type) {
    struct pb bytes = {0};
    pb_uint(&bytes, 1, 300);
    pb_fixed64(&bytes, 2, "\x01\x02\x03\x04\x05\x06\x07\x88");
    pb_text(&bytes, 16, "hello");
    pb_fixed32(&bytes, 0x1fffffff, "\x01\x02\x03\x84"); /* the largest number a field can have */
    pb_text(&bytes, 5, "");
    struct ids_pb pb = {bytes.at, bytes.at + bytes.length};
    struct ids_pb_field field;
    ck_assert_int_eq(ids_pb_next(&pb, &field), 1);
    ck_assert_uint_eq(field.number, 1);
    ck_assert_uint_eq(field.wire, IDS_PB_VARINT);
    ck_assert_uint_eq(field.value, 300);
    ck_assert_ptr_null(field.bytes);
    ck_assert_int_eq(ids_pb_next(&pb, &field), 1);
    ck_assert_uint_eq(field.number, 2);
    ck_assert_uint_eq(field.wire, IDS_PB_FIXED64);
    ck_assert_uint_eq(field.value, 0x8807060504030201u); /* little endian */
    ck_assert_int_eq(ids_pb_next(&pb, &field), 1);
    ck_assert_uint_eq(field.number, 16);
    ck_assert_uint_eq(field.wire, IDS_PB_BYTES);
    ck_assert_uint_eq(field.value, 5);
    struct ids_pb inside = ids_pb_inside(&field);
    ck_assert_int_eq(inside.end - inside.at, 5);
    ck_assert(!memcmp(inside.at, "hello", 5));
    ck_assert_int_eq(ids_pb_next(&pb, &field), 1);
    ck_assert_uint_eq(field.number, 0x1fffffff);
    ck_assert_uint_eq(field.wire, IDS_PB_FIXED32);
    ck_assert_uint_eq(field.value, 0x84030201u); /* not sign-extended */
    ck_assert_int_eq(ids_pb_next(&pb, &field), 1);
    ck_assert_uint_eq(field.value, 0);
    ck_assert_ptr_nonnull(field.bytes);
    ck_assert_int_eq(ids_pb_next(&pb, &field), 0);
    pb_free(&bytes);
}
END_TEST

/* What the second field is, behind a sound first one of two bytes: 1, 0 or -1, and that an error leaves pb at its
 * tag. */
static int second(const char *bytes, size_t length) {
    char whole[64] = {0x08, 0x05};
    memcpy(whole + 2, bytes, length);
    struct ids_pb pb = {(const uint8_t *)whole, (const uint8_t *)whole + 2 + length};
    struct ids_pb_field field;
    ck_assert_int_eq(ids_pb_next(&pb, &field), 1);
    int got = ids_pb_next(&pb, &field);
    ck_assert_int_eq(pb.at - (const uint8_t *)whole, got < 0 ? 2 : 2 + (int)length);
    return got;
}

START_TEST(malformed_fields) {
    ck_assert_int_eq(second("", 0), 0);
    ck_assert_int_eq(second("\x00\x01", 2), -1);                 /* field number 0 */
    ck_assert_int_eq(second("\x80\x80\x80\x80\x10\x01", 6), -1); /* field number 2^29 */
    ck_assert_int_eq(second("\xf8\xff\xff\xff\x0f\x01", 6), 1);  /* field number 2^29 - 1 */
    ck_assert_int_eq(second("\x0b\x0c", 2), -1);                 /* a group begins */
    ck_assert_int_eq(second("\x0c", 1), -1);                     /* a group ends */
    ck_assert_int_eq(second("\x0e\x01", 2), -1);                 /* wire types that do not exist */
    ck_assert_int_eq(second("\x0f\x01", 2), -1);
    ck_assert_int_eq(second("\x80", 1), -1);     /* half a tag */
    ck_assert_int_eq(second("\x08", 1), -1);     /* no value */
    ck_assert_int_eq(second("\x08\x80", 2), -1); /* half a value */
    ck_assert_int_eq(second("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11), -1);
}
END_TEST

START_TEST(values_past_the_end) {
    ck_assert_int_eq(second("\x09\1\2\3\4\5\6\7", 8), -1); /* fixed64 of 7 bytes */
    ck_assert_int_eq(second("\x09\1\2\3\4\5\6\7\x08", 9), 1);
    ck_assert_int_eq(second("\x0d\1\2\3", 4), -1); /* fixed32 of 3 bytes */
    ck_assert_int_eq(second("\x0d\1\2\3\4", 5), 1);
    ck_assert_int_eq(second("\x0a\3ab", 4), -1); /* 3 bytes of which 2 are there */
    ck_assert_int_eq(second("\x0a\3abc", 5), 1);
    ck_assert_int_eq(second("\x0a", 1), -1); /* no length */
    /* 2^64 - 1 bytes: an addition would wrap around */
    ck_assert_int_eq(second("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11), -1);
}
END_TEST

IDS_RUN_SUITE("pb_wire", varints_of_every_length, varints_end_after_64_bits, fields_of_every_wire_type,
              malformed_fields, values_past_the_end)
