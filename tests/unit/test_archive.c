/* lib/io/archive.c: what is in a tar or zip, and what of it is left out. The archives are made with libarchive, some
 * damaged then. */
#include "lib/io/archive.h"
#include "tests/support/suite.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static struct ids_error err;
static uint8_t *packed;
static size_t packed_length;
enum { ROOM = 8 << 20 };

static uint8_t byte_at(uint64_t i) {
    i = (i + 1) * UINT64_C(0x9e3779b97f4a7c15); /* not to be packed, so that a cut falls into every member */
    i = (i ^ (i >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint8_t)((i ^ (i >> 27)) >> 13);
}

static struct archive *begin_with(int format, int filter, const char *options, const char *passphrase) {
    struct archive *writer = archive_write_new();
    free(packed);
    packed = malloc(ROOM);
    ck_assert_int_eq(archive_write_set_format(writer, format), ARCHIVE_OK);
    if (filter) ck_assert_int_eq(archive_write_add_filter(writer, filter), ARCHIVE_OK);
    if (options) ck_assert_int_eq(archive_write_set_options(writer, options), ARCHIVE_OK);
    if (passphrase) ck_assert_int_eq(archive_write_set_passphrase(writer, passphrase), ARCHIVE_OK);
    ck_assert_int_eq(archive_write_set_bytes_in_last_block(writer, 1), ARCHIVE_OK);
    ck_assert_int_eq(archive_write_open_memory(writer, packed, ROOM, &packed_length), ARCHIVE_OK);
    return writer;
}

static struct archive *begin(int format, int filter) {
    return begin_with(format, filter, NULL, NULL);
}

/* A member with the bytes of byte_at, or one of another type. */
static void add(struct archive *writer, const char *path, size_t length, unsigned type, const char *link) {
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, path);
    archive_entry_set_filetype(entry, type);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_mtime(entry, 1700000000, 0);
    if (type == AE_IFREG) archive_entry_set_size(entry, (la_int64_t)length);
    if (link && type == AE_IFLNK) archive_entry_set_symlink(entry, link);
    if (link && type == AE_IFREG) archive_entry_set_hardlink(entry, link);
    ck_assert_int_ge(archive_write_header(writer, entry), ARCHIVE_WARN); /* a name that the C locale does not know */
    uint8_t *bytes = malloc(length + 1);
    for (size_t i = 0; i < length; i++) bytes[i] = byte_at(i);
    if (length) ck_assert_int_eq(archive_write_data(writer, bytes, length), (la_ssize_t)length);
    free(bytes);
    archive_entry_free(entry);
}

static void end(struct archive *writer) {
    ck_assert_int_eq(archive_write_close(writer), ARCHIVE_OK);
    archive_write_free(writer);
}

static int try_open(struct ids_archive **archive) {
    struct ids_source *source;
    err = (struct ids_error)IDS_ERROR_INIT;
    ck_assert_int_eq(ids_source_memory(packed, packed_length, &source, &err), 0);
    return ids_archive_open(source, archive, &err);
}

static struct ids_archive *open_archive(void) {
    struct ids_archive *archive = NULL;
    ck_assert_msg(try_open(&archive) == 0, "%s", err.text);
    return archive;
}

static struct ids_member_list list_of(struct ids_archive *archive) {
    struct ids_member_list list = {0};
    ck_assert_msg(ids_archive_list(archive, &list, &err) == 0, "%s", err.text);
    return list;
}

/* How many bytes the member has; all of them are checked. *ret_cut is a copy of its cut. */
static size_t member_length(struct ids_archive *archive, const struct ids_member *member, char ret_cut[128]) {
    struct ids_source *source = NULL;
    ck_assert_msg(ids_archive_read(archive, member, member->path, &source, &err) == 0, "%s", err.text);
    size_t size = (size_t)ids_source_size(source), got;
    uint8_t *bytes = malloc(size + 1);
    ck_assert_int_eq(ids_source_copy(source, 0, bytes, size, &got, &err), 0);
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != byte_at(i)) ck_abort_msg("byte %zu", i);
    }
    free(bytes);
    snprintf(ret_cut, 128, "%s", ids_source_cut(source) ? ids_source_cut(source) : "");
    ids_source_close(source);
    return size;
}

static const struct {
    int format, filter;
} kinds[] = {{ARCHIVE_FORMAT_TAR_USTAR, 0},
             {ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FILTER_GZIP},
             {ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE, ARCHIVE_FILTER_ZSTD},
             {ARCHIVE_FORMAT_TAR_PAX_RESTRICTED, ARCHIVE_FILTER_XZ},
             {ARCHIVE_FORMAT_ZIP, 0}};
enum { KINDS = sizeof kinds / sizeof *kinds };

START_TEST(listed_and_read) {
    static const size_t lengths[] = {100000, 0, 7, 300000};
    static const char *const paths[] = {"z/a.pb", "empty", "b/\xc3\xa4.pb", "./b/big.pb"};
    for (int kind = 0; kind < KINDS; kind++) {
        struct archive *writer = begin(kinds[kind].format, kinds[kind].filter);
        add(writer, "z", 0, AE_IFDIR, NULL);
        for (int i = 0; i < 4; i++) add(writer, paths[i], lengths[i], AE_IFREG, NULL);
        end(writer);
        struct ids_source *source;
        int looks;
        ck_assert_int_eq(ids_source_memory(packed, packed_length, &source, &err), 0);
        ck_assert_int_eq(ids_archive_looks(source, &looks, &err), 0);
        ck_assert(looks);
        ids_source_close(source);
        struct ids_archive *archive = open_archive();
        struct ids_member_list list = list_of(archive);
        ck_assert_ptr_null(list.cut);
        ck_assert_uint_eq(list.count, 4);
        static const char *const sorted[] = {"b/big.pb", "b/\xc3\xa4.pb", "empty", "z/a.pb"};
        static const size_t sizes[] = {300000, 7, 0, 100000};
        for (int k = 0; k < 8; k++) { /* also back to what was read */
            const struct ids_member *member = &list.members[k % 4];
            char cut[128];
            ck_assert_str_eq(member->path, sorted[k % 4]);
            ck_assert_uint_eq(member->size, sizes[k % 4]);
            ck_assert_int_eq(member->mtime_ns, INT64_C(1700000000000000000));
            ck_assert_uint_eq(member_length(archive, member, cut), sizes[k % 4]);
            ck_assert_str_eq(cut, "");
        }
        for (int kind_of = 0; kind_of < IDS_LEFT_KINDS; kind_of++) ck_assert_uint_eq(list.left_out[kind_of].count, 0);
        uint8_t head[10];
        size_t got;
        ck_assert_int_eq(ids_archive_peek(archive, &list.members[0], head, sizeof head, &got, &err), 0);
        ck_assert_uint_eq(got, 10);
        ck_assert_uint_eq(head[9], byte_at(9));
        char cut[128];
        ck_assert_uint_eq(member_length(archive, &list.members[0], cut), 300000); /* after a peek from its start */
        ids_member_list_done(&list);
        ids_archive_close(archive);
    }
}
END_TEST

START_TEST(what_is_left_out) {
    struct archive *writer = begin(ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE, ARCHIVE_FILTER_GZIP);
    char deep[200] = "", longest[1100];
    for (int i = 0; i < 33; i++) strcat(deep, "d/");
    strcat(deep, "x.pb");
    memset(longest, 'n', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    add(writer, "../up.pb", 3, AE_IFREG, NULL);
    add(writer, "a/../../up.pb", 3, AE_IFREG, NULL);
    add(writer, "a/..", 3, AE_IFREG, NULL);
    add(writer, "/etc/x.pb", 3, AE_IFREG, NULL);
    add(writer, deep, 3, AE_IFREG, NULL);
    add(writer, longest, 3, AE_IFREG, NULL);
    add(writer, "link.pb", 0, AE_IFLNK, "/etc/passwd");
    add(writer, "ok.pb", 3, AE_IFREG, NULL);
    add(writer, "hard.pb", 0, AE_IFREG, "ok.pb");
    add(writer, "device.pb", 0, AE_IFCHR, NULL);
    add(writer, "pipe.pb", 0, AE_IFIFO, NULL);
    add(writer, "in/more.tar.gz", 3, AE_IFREG, NULL);
    add(writer, "ok.pb", 5, AE_IFREG, NULL);       /* again, and longer */
    add(writer, "a..b/..c.pb", 4, AE_IFREG, NULL); /* dots that lead nowhere */
    end(writer);
    struct ids_archive *archive = open_archive();
    struct ids_member_list list = list_of(archive);
    static const size_t counts[IDS_LEFT_KINDS] = {[IDS_LEFT_CLIMBS] = 4,  [IDS_LEFT_LONG] = 2,    [IDS_LEFT_LINK] = 2,
                                                  [IDS_LEFT_SPECIAL] = 2, [IDS_LEFT_ARCHIVE] = 1, [IDS_LEFT_TWICE] = 1};
    for (int kind = 0; kind < IDS_LEFT_KINDS; kind++) ck_assert_uint_eq(list.left_out[kind].count, counts[kind]);
    char text[200];
    ids_left_out_text(&list, IDS_LEFT_CLIMBS, text, sizeof text);
    ck_assert_str_eq(text, "4 paths that lead out of it (the first: '../up.pb')");
    ids_left_out_text(&list, IDS_LEFT_ARCHIVE, text, sizeof text);
    ck_assert_str_eq(text, "1 archive inside of it ('in/more.tar.gz')");
    ck_assert_uint_eq(list.count, 2);
    ck_assert_str_eq(list.members[0].path, "a..b/..c.pb");
    ck_assert_str_eq(list.members[1].path, "ok.pb");
    char cut[128];
    ck_assert_uint_eq(member_length(archive, &list.members[1], cut), 5);
    ids_member_list_done(&list);
    ids_archive_close(archive);
}
END_TEST

START_TEST(encrypted) {
    struct archive *writer = begin_with(ARCHIVE_FORMAT_ZIP, 0, "zip:encryption=zipcrypt", "secret");
    add(writer, "a.pb", 1000, AE_IFREG, NULL);
    end(writer);
    struct ids_archive *archive = open_archive();
    struct ids_member_list list = list_of(archive);
    ck_assert_uint_eq(list.count, 0);
    ck_assert_uint_eq(list.left_out[IDS_LEFT_ENCRYPTED].count, 1);
    ids_member_list_done(&list);
    ids_archive_close(archive);
}
END_TEST

/* Wherever it ends: no member that is listed has bytes that are not its own, and what is missing is said. */
START_TEST(cut) {
    for (int kind = 0; kind < KINDS; kind++) {
        struct archive *writer = begin(kinds[kind].format, kinds[kind].filter);
        for (int i = 0; i < 5; i++) {
            char path[16];
            snprintf(path, sizeof path, "m%d.pb", i);
            add(writer, path, 50000, AE_IFREG, NULL);
        }
        end(writer);
        size_t whole = packed_length, most = 0;
        for (size_t length = whole - 2000; length > 1000; length -= length > whole / 9 ? whole / 9 : length) {
            packed_length = length;
            struct ids_archive *archive = NULL;
            if (try_open(&archive)) continue;
            struct ids_member_list list = {0};
            if (ids_archive_list(archive, &list, &err) == 0) {
                int said = list.cut != NULL;
                for (size_t i = 0; i < list.count; i++) {
                    char why[128];
                    struct ids_source *source = NULL;
                    if (ids_archive_read(archive, &list.members[i], "m", &source, &err)) {
                        said = 1;
                        continue;
                    }
                    ids_source_close(source);
                    size_t got = member_length(archive, &list.members[i], why);
                    ck_assert_msg(got == 50000 || why[0], "a short member and no word of it");
                    if (got < 50000) said = 1;
                }
                ck_assert(said);
                if (list.count > most) most = list.count;
                ids_member_list_done(&list);
            }
            ids_archive_close(archive);
        }
        if (kind < 2) ck_assert_uint_ge(most, 4); /* the members before the end were there */
    }
}
END_TEST

START_TEST(damaged_member) {
    struct archive *writer = begin_with(ARCHIVE_FORMAT_ZIP, 0, "zip:compression=store", NULL);
    add(writer, "a.pb", 1000, AE_IFREG, NULL);
    end(writer);
    uint8_t *data = memmem(packed, packed_length, "a.pb", 4);
    data[600] ^= 1;
    struct ids_archive *archive = open_archive();
    struct ids_member_list list = list_of(archive);
    struct ids_source *source = NULL;
    ck_assert_int_eq(ids_archive_read(archive, &list.members[0], "a.pb", &source, &err), 0);
    ck_assert_uint_eq(ids_source_size(source), 1000);
    ck_assert_ptr_nonnull(strstr(ids_source_cut(source), "CRC"));
    ids_source_close(source);
    ids_member_list_done(&list);
    ids_archive_close(archive);
}
END_TEST

/* A member that is gzip stays so until it is unpacked, and a cut of the archive outlives what its content says. */
START_TEST(packed_member) {
    uint8_t gz[2000];
    z_stream stream = {0};
    ck_assert_int_eq(deflateInit2(&stream, 0, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    uint8_t bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = byte_at(i);
    stream.next_in = bytes;
    stream.avail_in = sizeof bytes;
    stream.next_out = gz;
    stream.avail_out = sizeof gz;
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t length = stream.total_out;
    deflateEnd(&stream);
    struct archive *writer = begin(ARCHIVE_FORMAT_TAR_USTAR, 0);
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, "t.json.gz");
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_size(entry, (la_int64_t)length);
    ck_assert_int_eq(archive_write_header(writer, entry), ARCHIVE_OK);
    archive_write_data(writer, gz, length);
    archive_entry_free(entry);
    end(writer);
    for (int whole = 1; whole >= 0; whole--) {
        if (!whole) packed_length = 512 + 700;
        struct ids_archive *archive = open_archive();
        struct ids_member_list list = list_of(archive);
        ck_assert_uint_eq(list.count, 1);
        ck_assert_int_eq(list.cut != NULL, !whole);
        struct ids_source *source = NULL;
        uint8_t head[4];
        size_t got;
        ck_assert_int_eq(ids_archive_peek(archive, &list.members[0], head, 4, &got, &err), 0);
        ck_assert_int_eq(memcmp(head, bytes, 4), 0);
        ck_assert_int_eq(ids_archive_read(archive, &list.members[0], "t.json.gz", &source, &err), 0);
        ck_assert(ids_source_packed(source));
        ck_assert_int_eq(ids_source_cut(source) != NULL, !whole);
        ck_assert_int_eq(ids_source_unpack(source, &err), 0);
        if (whole) ck_assert_uint_eq(ids_source_size(source), 1000);
        ck_assert_int_eq(ids_source_cut(source) != NULL, !whole);
        ids_source_close(source);
        ids_member_list_done(&list);
        ids_archive_close(archive);
    }
}
END_TEST

/* 320 MiB of zeros in some 30 KiB: refused when they are passed over and when they are read; a small zip stays
 * small. */
START_TEST(a_bomb) {
    static uint8_t zeros[1 << 20];
    struct archive *writer = begin(ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_ZSTD);
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, "bomb.pb");
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_size(entry, INT64_C(320) << 20);
    ck_assert_int_eq(archive_write_header(writer, entry), ARCHIVE_OK);
    for (int i = 0; i < 320; i++) ck_assert_int_eq(archive_write_data(writer, zeros, sizeof zeros), sizeof zeros);
    archive_entry_free(entry);
    end(writer);
    struct ids_archive *archive = open_archive();
    struct ids_member_list list = {0};
    ck_assert_int_eq(ids_archive_list(archive, &list, &err), IDS_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.text, "200 times its size"));
    ids_archive_close(archive);
}
END_TEST

START_TEST(too_many) {
    IDS_NOT_UNDER_VALGRIND();
    struct archive *writer = begin(ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_ZSTD);
    for (int i = 0; i < 100001; i++) {
        char path[16];
        snprintf(path, sizeof path, "%d", i);
        add(writer, path, 0, AE_IFREG, NULL);
    }
    end(writer);
    struct ids_archive *archive = open_archive();
    struct ids_member_list list = {0};
    ck_assert_int_eq(ids_archive_list(archive, &list, &err), IDS_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.text, "100000 members"));
    ids_archive_close(archive);
}
END_TEST

START_TEST(not_an_archive) {
    static const char *const texts[] = {"", "hello", "\x1f\x8b\x08 not really", "PK\3\4"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        free(packed);
        packed = (uint8_t *)strdup(texts[i]);
        packed_length = strlen(texts[i]);
        struct ids_archive *archive = NULL;
        struct ids_member_list list = {0};
        int code = try_open(&archive);
        if (!code) code = ids_archive_list(archive, &list, &err);
        if (i == 0 && !code) code = list.count ? 0 : IDS_UNSUPPORTED; /* an empty file is an empty archive to some */
        ck_assert_int_lt(code, 0);
        ids_member_list_done(&list);
        ids_archive_close(archive);
    }
    ck_assert(ids_archive_named("a/runs.tar.gz") && ids_archive_named("x.zip") && ids_archive_named("x.tgz"));
    ck_assert(!ids_archive_named("x.gz") && !ids_archive_named("x.tar.gz.json") && !ids_archive_named(".zip"));
}
END_TEST

IDS_RUN_SUITE("archive", listed_and_read, what_is_left_out, encrypted, cut, damaged_member, packed_member, a_bomb,
              too_many, not_an_archive)
