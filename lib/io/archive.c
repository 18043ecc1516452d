#include "lib/io/archive.h"

#include "lib/base/vec.h"
#include "lib/io/libarchive.h"
#include "lib/io/source_parts.h"
#include "lib/io/unpack_limit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_MEMBERS = 100000,
    MAX_PATH_BYTES = 1024,
    MAX_FOLDERS = 32,
    BLOCK_BYTES = 64 << 10, /* a zip is read in jumps */
    /* A zip's directory is read whole at the first header: about 100 MB in memory for that much of it. */
    MAX_HEADER_BYTES = 16 << 20,
    PEEK_BYTES = 64 << 10, /* of a gzip member, more than enough for any head */
    HEAD_BYTES = 512,      /* the first header of a tar */
};

struct ids_archive {
    struct ids_source *source;
    struct archive *reader;
    size_t next;          /* index of the header that comes next */
    uint64_t at;          /* in the source */
    uint64_t taken;       /* bytes of the source read in this pass; jumps back count again */
    uint64_t header_from; /* `taken` when the header was asked for; UINT64_MAX while data is read */
    uint64_t unpacked;    /* of this pass */
    int broken;           /* something failed in this pass: libarchive gives nothing more, a new pass may get by */
    int in_member;        /* of the last header's data, `so_far` bytes were given and more may come */
    uint64_t so_far;
    uint64_t member_from;     /* `taken` when the member's header was asked for */
    struct ids_error failure; /* of the source, inside of libarchive */
    uint8_t block[BLOCK_BYTES];
};

/* ---- what is an archive ---- */

static int ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && !strcmp(text + length - end_length, end);
}

const char *const ids_archive_ends[] = {".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".zip", NULL};

int ids_archive_named(const char *path) {
    for (const char *const *end = ids_archive_ends; *end; end++) {
        if (ends_with(path, *end)) return 1;
    }
    return 0;
}

int ids_archive_looks(struct ids_source *source, int *ret_looks, struct ids_error *err) {
    static const struct {
        size_t at, length;
        const char *bytes;
    } magics[] = {{257, 5, "ustar"},
                  {0, 4, "PK\3\4"},
                  {0, 4, "PK\5\6"},
                  {0, 4, "\x28\xb5\x2f\xfd"},
                  {0, 6,
                   "\xfd"
                   "7zXZ\0"}}; /* nothing else that we read comes in zstd or xz */
    uint8_t head[HEAD_BYTES];
    size_t length;
    *ret_looks = 0;
    int code = ids_source_head(source, head, sizeof head, &length, err);
    if (code) return code;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        *ret_looks |= length >= magics[i].at + magics[i].length &&
                      !memcmp(head + magics[i].at, magics[i].bytes, magics[i].length);
    }
    return 0;
}

/* ---- what libarchive asks of the source ---- */

static la_ssize_t give_block(struct archive *reader, void *data, const void **ret_block) {
    struct ids_archive *archive = data;
    size_t length;
    *ret_block = archive->block;
    if (archive->taken > archive->header_from && archive->taken - archive->header_from > MAX_HEADER_BYTES) {
        ids_fail(&archive->failure, IDS_LIMIT, "archive: more than %d MiB of headers", MAX_HEADER_BYTES >> 20);
    } else if (!ids_source_copy(archive->source, archive->at, archive->block, BLOCK_BYTES, &length,
                                &archive->failure)) {
        archive->at += length;
        archive->taken += length;
        return (la_ssize_t)length;
    }
    LA(set_error)(reader, EIO, "%s", archive->failure.text);
    return ARCHIVE_FATAL;
}

static la_int64_t skip_bytes(struct archive *reader, void *data, la_int64_t wanted) {
    struct ids_archive *archive = data;
    (void)reader;
    uint64_t left = ids_source_size(archive->source) - archive->at;
    uint64_t skipped = wanted < 0 ? 0 : (uint64_t)wanted < left ? (uint64_t)wanted : left;
    archive->at += skipped;
    return (la_int64_t)skipped;
}

static la_int64_t seek_to(struct archive *reader, void *data, la_int64_t offset, int whence) {
    struct ids_archive *archive = data;
    int64_t size = (int64_t)ids_source_size(archive->source), at;
    (void)reader;
    int64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? (int64_t)archive->at : size;
    if (__builtin_add_overflow(from, offset, &at) || at < 0) return ARCHIVE_FATAL;
    if (at > size) at = size;
    archive->at = (uint64_t)at;
    return at;
}

/* libarchive says ENOMEM in most places, and in some only that something is not as it should be. Then the allocator's
 * word is still in errno, which nobody sets back: each call is made with errno 0. */
static int ran_out(const struct ids_archive *archive) {
    return errno == ENOMEM || (archive->reader && LA(errno)(archive->reader) == ENOMEM);
}

static int start_reader(struct ids_archive *archive, struct ids_error *err) {
    int code = ids_libarchive_load(err);
    if (code) return code;
    errno = 0;
    struct archive *reader = LA(read_new)();
    if (!reader) return ids_no_memory(err);
    archive->reader = reader;
    archive->next = 0;
    archive->at = archive->taken = archive->header_from = archive->unpacked = 0;
    archive->in_member = archive->broken = 0;
    archive->member_from = 0;
    archive->failure = (struct ids_error)IDS_ERROR_INIT;
    /* ARCHIVE_WARN is a filter that would start a program. */
    if (LA(read_support_filter_gzip)(reader) != ARCHIVE_OK || LA(read_support_filter_zstd)(reader) != ARCHIVE_OK ||
        LA(read_support_filter_xz)(reader) != ARCHIVE_OK || LA(read_support_format_tar)(reader) != ARCHIVE_OK ||
        LA(read_support_format_zip)(reader) != ARCHIVE_OK) {
        if (ran_out(archive)) return ids_no_memory(err);
        return ids_fail(err, IDS_UNSUPPORTED, "archive: this libarchive lacks gzip, zstd, xz, tar or zip");
    }
    LA(read_set_read_callback)(reader, give_block);
    LA(read_set_skip_callback)(reader, skip_bytes);
    LA(read_set_seek_callback)(reader, seek_to);
    int state = LA(read_set_callback_data)(reader, archive); /* without it opening would follow a null pointer */
    if (state == ARCHIVE_OK) state = LA(read_open1)(reader);
    if (ran_out(archive)) return ids_no_memory(err);
    if (state == ARCHIVE_OK) return 0;
    if (archive->failure.code) return ids_error_pass(err, &archive->failure);
    return ids_fail(err, IDS_UNSUPPORTED, "not a tar or zip that can be read: %s", LA(error_string)(reader));
}

static void stop_reader(struct ids_archive *archive) {
    if (archive->reader) LA(read_free)(archive->reader);
    archive->reader = NULL;
}

int ids_archive_open(struct ids_source *source, struct ids_archive **ret_archive, struct ids_error *err) {
    struct ids_archive *archive = calloc(1, sizeof *archive);
    if (!archive) {
        ids_source_close(source);
        return ids_no_memory(err);
    }
    archive->source = source;
    int code = start_reader(archive, err);
    if (code) {
        ids_archive_close(archive);
        return code;
    }
    *ret_archive = archive;
    return 0;
}

void ids_archive_close(struct ids_archive *archive) {
    if (!archive) return;
    stop_reader(archive);
    ids_source_close(archive->source);
    free(archive);
}

/* ---- going through it ---- */

static const char *why_failed(const struct ids_archive *archive) {
    const char *why = LA(error_string)(archive->reader);
    return why ? why : "damaged";
}

/* What was read of the archive. A zip can name the same bytes for many members: they count once. */
static uint64_t packed_bytes(const struct ids_archive *archive) {
    uint64_t size = ids_source_size(archive->source);
    return archive->taken < size ? archive->taken : size;
}

/* What was read of the archive for the member at hand: a large archive does not allow a small member more. It may lie
 * in the block that was read for the one before. */
static uint64_t member_bytes(const struct ids_archive *archive) {
    uint64_t size = ids_source_size(archive->source), bytes = archive->taken - archive->member_from + BLOCK_BYTES;
    return bytes < size ? bytes : size;
}

/* The next piece of the member's data. *ret_length is 0 at its end; *ret_cut is set where it ends early. */
static int next_piece(struct ids_archive *archive, const void **ret_bytes, size_t *ret_length, const char **ret_cut,
                      struct ids_error *err) {
    la_int64_t offset;
    *ret_length = 0;
    archive->header_from = UINT64_MAX;
    archive->broken = 1;                                      /* until it is known to have gone well */
    for (int tries = 0; tries < 3 && !*ret_length; tries++) { /* a piece may be empty, but not again and again */
        errno = 0;
        int state = LA(read_data_block)(archive->reader, ret_bytes, ret_length, &offset);
        if (ran_out(archive)) return ids_no_memory(err);
        if (archive->failure.code) return ids_error_pass(err, &archive->failure);
        if (state != ARCHIVE_OK) {
            *ret_length = 0;
            archive->in_member = 0;
            archive->broken = state != ARCHIVE_EOF;
            if (archive->broken) *ret_cut = why_failed(archive);
            return 0;
        }
        if (offset < 0 || (uint64_t)offset != archive->so_far) {
            return ids_fail(err, IDS_UNSUPPORTED, "archive: a sparse file");
        }
    }
    if (!*ret_length) archive->in_member = 0;
    archive->unpacked += *ret_length;
    archive->so_far += *ret_length;
    int code = ids_unpack_check("archive", packed_bytes(archive), archive->unpacked, err);
    if (!code) code = ids_unpack_check("archive member", member_bytes(archive), archive->so_far, err);
    archive->broken = code != 0;
    return code;
}

/* Passes over the rest of a member of a packed archive in pieces that are checked; libarchive would unpack it all in
 * one call. What is wrong with it comes again at the next header. */
static int pass_over(struct ids_archive *archive, struct ids_error *err) {
    if (LA(filter_count)(archive->reader) < 2) return 0; /* jumped over */
    int code = 0;
    while (!code && archive->in_member) {
        const void *bytes;
        size_t length;
        const char *cut = NULL;
        code = next_piece(archive, &bytes, &length, &cut, err);
    }
    return code == IDS_UNSUPPORTED ? 0 : code; /* sparse: it has little data */
}

/* *ret_entry is NULL at the end; *ret_cut is set where it ends early. */
static int next_entry(struct ids_archive *archive, struct archive_entry **ret_entry, const char **ret_cut,
                      struct ids_error *err) {
    *ret_entry = NULL;
    int code = archive->in_member ? pass_over(archive, err) : 0;
    if (code) return code;
    if (archive->next == MAX_MEMBERS) return ids_fail(err, IDS_LIMIT, "archive: more than %d members", MAX_MEMBERS);
    archive->header_from = archive->taken;
    errno = 0;
    int state = LA(read_next_header)(archive->reader, ret_entry);
    if (ran_out(archive)) {
        *ret_entry = NULL;
        archive->broken = 1;
        return ids_no_memory(err);
    }
    if (archive->failure.code) return ids_error_pass(err, &archive->failure);
    if (state == ARCHIVE_OK || state == ARCHIVE_WARN) {
        archive->next++;
        archive->in_member = 1;
        archive->so_far = 0;
        archive->member_from = archive->header_from;
        return 0;
    }
    *ret_entry = NULL;
    archive->broken = 1;
    if (state != ARCHIVE_EOF) *ret_cut = why_failed(archive);
    return 0;
}

/* ---- the list ---- */

/* Its path without "./"; NULL when it has none that could be read. */
static const char *entry_path(struct archive_entry *entry) {
    const char *path = LA(entry_pathname_utf8)(entry);
    if (!path) path = LA(entry_pathname)(entry); /* not UTF-8: the bytes as they are */
    while (path && path[0] == '.' && path[1] == '/') path += 2;
    return path;
}

/* Which limit a path breaks, or IDS_LEFT_KINDS. */
static enum ids_left_out judge_path(const char *path) {
    if (path[0] == '/') return IDS_LEFT_CLIMBS;
    if (strlen(path) > MAX_PATH_BYTES) return IDS_LEFT_LONG;
    int folders = 0;
    for (const char *at = path;; at++) {
        size_t length = strcspn(at, "/");
        if (length == 2 && at[0] == '.' && at[1] == '.') return IDS_LEFT_CLIMBS;
        at += length;
        if (!*at) break;
        folders++;
    }
    return folders > MAX_FOLDERS ? IDS_LEFT_LONG : IDS_LEFT_KINDS;
}

static enum ids_left_out judge(struct archive_entry *entry, const char *path) {
    if (LA(entry_hardlink)(entry) || LA(entry_filetype)(entry) == AE_IFLNK) return IDS_LEFT_LINK;
    if (LA(entry_filetype)(entry) != AE_IFREG || LA(entry_sparse_count)(entry)) return IDS_LEFT_SPECIAL;
    enum ids_left_out kind = judge_path(path);
    if (kind != IDS_LEFT_KINDS) return kind;
    if (LA(entry_is_encrypted)(entry)) return IDS_LEFT_ENCRYPTED;
    return ids_archive_named(path) ? IDS_LEFT_ARCHIVE : IDS_LEFT_KINDS;
}

static int leave_out(struct ids_member_list *list, enum ids_left_out kind, const char *path, struct ids_error *err) {
    if (list->left_out[kind].count++) return 0;
    /* ids_member_list_done frees it, through an index that the analyzer loses. */
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    list->left_out[kind].first = strndup(path, MAX_PATH_BYTES);
    return list->left_out[kind].first ? 0 : ids_no_memory(err); /* NOLINT(clang-analyzer-unix.Malloc) */
}

static int add_member(struct ids_member_list *list, size_t *room, struct archive_entry *entry, const char *path,
                      size_t index, struct ids_error *err) {
    char *copy = strdup(path);
    struct ids_member *member = copy ? IDS_PUSH(list->members, list->count, *room) : NULL;
    if (!member) {
        free(copy);
        return ids_no_memory(err);
    }
    int64_t seconds = LA(entry_mtime)(entry), ns;
    if (__builtin_mul_overflow(seconds, 1000000000, &ns) ||
        __builtin_add_overflow(ns, LA(entry_mtime_nsec)(entry), &ns))
        ns = 0;
    int64_t size = LA(entry_size_is_set)(entry) ? LA(entry_size)(entry) : 0;
    *member = (struct ids_member){.path = copy, .index = index, .size = size > 0 ? (uint64_t)size : 0, .mtime_ns = ns};
    return 0;
}

static int list_entry(struct ids_archive *archive, struct archive_entry *entry, struct ids_member_list *list,
                      size_t *room, struct ids_error *err) {
    errno = 0;
    const char *path = entry_path(entry);
    if (ran_out(archive)) return ids_no_memory(err);
    if (LA(entry_filetype)(entry) == AE_IFDIR) return 0;
    if (!path || !*path) return leave_out(list, IDS_LEFT_SPECIAL, "", err);
    enum ids_left_out kind = judge(entry, path);
    return kind == IDS_LEFT_KINDS ? add_member(list, room, entry, path, archive->next - 1, err)
                                  : leave_out(list, kind, path, err);
}

static int by_path(const void *a, const void *b) {
    const struct ids_member *left = a, *right = b;
    int order = strcmp(left->path, right->path);
    return order ? order : (left->index > right->index) - (left->index < right->index);
}

/* Of members of one path the last is what an extraction would leave. */
static int drop_twice(struct ids_member_list *list, struct ids_error *err) {
    size_t kept = 0;
    int code = 0;
    qsort(list->members, list->count, sizeof *list->members, by_path);
    for (size_t i = 0; i < list->count; i++) {
        if (i + 1 < list->count && !strcmp(list->members[i].path, list->members[i + 1].path)) {
            if (!code) code = leave_out(list, IDS_LEFT_TWICE, list->members[i].path, err);
            free(list->members[i].path);
        } else {
            list->members[kept++] = list->members[i];
        }
    }
    list->count = kept;
    return code;
}

static int make_list(struct ids_archive *archive, struct ids_member_list *list, struct ids_error *err) {
    size_t room = 0;
    for (;;) {
        struct archive_entry *entry;
        const char *cut = NULL;
        int code = next_entry(archive, &entry, &cut, err);
        if (code) return code;
        if (cut && !archive->next) return ids_fail(err, IDS_CORRUPT, "not a tar or zip that can be read: %s", cut);
        if (cut && !list->cut) {
            list->cut = strdup(cut);
            if (!list->cut) return ids_no_memory(err);
        }
        if (!entry) break;
        code = list_entry(archive, entry, list, &room, err);
        if (code) return code;
    }
    if (list->count) return drop_twice(list, err);
    return 0;
}

/* Back to the first header, for the next pass. */
static int rewind_archive(struct ids_archive *archive, struct ids_error *err) {
    stop_reader(archive);
    int code = start_reader(archive, err);
    if (code) archive->broken = 1;
    return code;
}

int ids_archive_list(struct ids_archive *archive, struct ids_member_list *ret_list, struct ids_error *err) {
    struct ids_member_list list = {0};
    int code = !archive->reader || archive->broken || archive->next ? rewind_archive(archive, err) : 0;
    if (!code) code = make_list(archive, &list, err);
    if (code) {
        ids_member_list_done(&list);
        return code;
    }
    *ret_list = list;
    return 0;
}

void ids_member_list_done(struct ids_member_list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->members[i].path);
    for (int kind = 0; kind < IDS_LEFT_KINDS; kind++) free(list->left_out[kind].first);
    free(list->members);
    free(list->cut);
    *list = (struct ids_member_list){0};
}

int ids_left_out_text(const struct ids_member_list *list, enum ids_left_out kind, char *buffer, size_t size) {
    static const struct {
        const char *one, *many;
    } words[IDS_LEFT_KINDS] = {
        [IDS_LEFT_CLIMBS] = {"path that leads out of it", "paths that lead out of it"},
        [IDS_LEFT_LONG] = {"path that is too long or deep", "paths that are too long or deep"},
        [IDS_LEFT_LINK] = {"link", "links"},
        [IDS_LEFT_SPECIAL] = {"thing that is no plain file", "things that are no plain files"},
        [IDS_LEFT_ENCRYPTED] = {"encrypted file", "encrypted files"},
        [IDS_LEFT_ARCHIVE] = {"archive inside of it", "archives inside of it"},
        [IDS_LEFT_TWICE] = {"older file of the same path", "older files of the same path"},
    };
    size_t count = list->left_out[kind].count;
    return snprintf(buffer, size, "%zu %s (%s'%s')", count, count == 1 ? words[kind].one : words[kind].many,
                    count == 1 ? "" : "the first: ", list->left_out[kind].first ? list->left_out[kind].first : "");
}

/* ---- a member ---- */

/* Goes on to the header of the member. */
static int find_member(struct ids_archive *archive, const struct ids_member *member, struct ids_error *err) {
    int behind = !archive->reader || archive->broken || member->index < archive->next;
    int code = behind ? rewind_archive(archive, err) : 0;
    while (!code) {
        struct archive_entry *entry;
        const char *cut = NULL, *path = NULL;
        code = next_entry(archive, &entry, &cut, err);
        if (code) break;
        if (cut) return ids_fail(err, IDS_CORRUPT, "archive: %s", cut);
        if (entry && archive->next <= member->index) continue;
        errno = 0;
        if (entry) path = entry_path(entry);
        if (ran_out(archive)) return ids_no_memory(err);
        if (path && !strcmp(path, member->path)) return 0;
        return ids_fail(err, IDS_IO, "the archive changed while it was being read");
    }
    return code;
}

static int spool_member(struct ids_archive *archive, struct ids_spool *spool, const char **ret_cut,
                        struct ids_error *err) {
    for (;;) {
        const void *bytes;
        size_t length;
        int code = next_piece(archive, &bytes, &length, ret_cut, err);
        if (code || !length) return code;
        code = ids_spool_add(spool, bytes, length, err);
        if (code) return code;
    }
}

int ids_archive_read(struct ids_archive *archive, const struct ids_member *member, const char *path,
                     struct ids_source **ret_source, struct ids_error *err) {
    struct ids_spool spool = IDS_SPOOL_INIT;
    const char *cut = NULL;
    /* A member that says to be too large is refused before the disk has a byte of it. */
    int code = ids_unpack_check("archive", ids_source_size(archive->source), member->size, err);
    if (!code) code = find_member(archive, member, err);
    if (!code) code = spool_member(archive, &spool, &cut, err);
    if (!code && cut && !ids_spool_size(&spool)) code = ids_fail(err, IDS_CORRUPT, "archive: %s", cut);
    if (!code) code = ids_source_of_spool(path, &spool, ret_source, err);
    ids_spool_done(&spool);
    if (!code) ids_source_set_outer_bytes(*ret_source, member_bytes(archive));
    if (code || !cut) return code;
    char why[IDS_SOURCE_CUT_ROOM];
    snprintf(why, sizeof why, "archive: %s", cut);
    ids_source_set_outer_cut(*ret_source, why);
    return 0;
}

int ids_archive_peek(struct ids_archive *archive, const struct ids_member *member, uint8_t *head, size_t room,
                     size_t *ret_length, struct ids_error *err) {
    struct ids_spool spool = IDS_SPOOL_INIT;
    struct ids_source *source = NULL;
    const char *cut = NULL;
    int code = find_member(archive, member, err);
    while (!code && archive->in_member && !cut &&
           (ids_spool_size(&spool) < PEEK_BYTES || ids_spool_size(&spool) < room)) {
        const void *bytes;
        size_t length;
        code = next_piece(archive, &bytes, &length, &cut, err);
        if (!code) code = ids_spool_add(&spool, bytes, length, err);
    }
    if (!code) code = ids_source_of_spool(member->path, &spool, &source, err);
    if (!code) ids_source_set_outer_bytes(source, member_bytes(archive));
    if (!code) code = ids_source_head(source, head, room, ret_length, err);
    ids_source_close(source);
    ids_spool_done(&spool);
    return code;
}
