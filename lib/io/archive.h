/* archive.h - the files in a tar (plain, gzip, zstd, xz) or zip, through libarchive.
 *
 * Two passes: the list (headers only), then the members, each into its own source. An archive is recognised by its
 * content; no other format and no external program is ever used. Only unlinked temporary files are written, so a path
 * in an archive can do no harm. Members with a path that leads outside are still left out, as are links, devices and
 * everything else that is not a plain file; the list counts each kind. An archive in an archive is not opened.
 *
 * Limits (IDS_LIMIT): 100,000 members, 1,024 bytes and 32 folders of a path, of a pass as much unpacked as
 * unpack_limit.h allows, 16 MiB of headers at a time.
 */
#ifndef IDS_LIB_IO_ARCHIVE_H
#define IDS_LIB_IO_ARCHIVE_H

#include "lib/io/source.h"

struct ids_archive;

/* Why a member was left out. */
enum ids_left_out {
    IDS_LEFT_CLIMBS, /* an absolute path, or one with ".." */
    IDS_LEFT_LONG,   /* a path over the limits */
    IDS_LEFT_LINK,
    IDS_LEFT_SPECIAL, /* a device, a pipe, a sparse file */
    IDS_LEFT_ENCRYPTED,
    IDS_LEFT_ARCHIVE,
    IDS_LEFT_TWICE, /* a later member has the same path, and is taken */
    IDS_LEFT_KINDS,
};

struct ids_member {
    char *path;    /* inside the archive: no leading "./" */
    size_t index;  /* for ids_archive_read */
    uint64_t size; /* 0 where the archive does not say */
    int64_t mtime_ns;
};

struct ids_member_list {
    struct ids_member *members; /* plain files, by path */
    size_t count;
    struct {
        size_t count;
        char *first; /* the path of one of them, or NULL */
    } left_out[IDS_LEFT_KINDS];
    char *cut; /* NULL, or why the list ends early: the archive is cut or damaged behind these members */
};

/* By its first bytes (unpacked, where it is gzip) or by its name. A file of that name may turn out to be none. */
int ids_archive_looks(struct ids_source *source, int *ret_looks, struct ids_error *err);
int ids_archive_named(const char *path);
extern const char *const ids_archive_ends[]; /* ".tar.gz"; NULL behind the last */

/* The archive takes over the source, also when it fails. IDS_UNSUPPORTED: none that can be read. */
int ids_archive_open(struct ids_source *source, struct ids_archive **ret_archive, struct ids_error *err);
void ids_archive_close(struct ids_archive *archive);

/* A damaged archive gives the members before the damage; IDS_CORRUPT when that is none. */
int ids_archive_list(struct ids_archive *archive, struct ids_member_list *ret_list, struct ids_error *err);
void ids_member_list_done(struct ids_member_list *list);
/* "3 symbolic or hard links (the first: 'a/b')" for a kind of which there are any; the length as snprintf. */
int ids_left_out_text(const struct ids_member_list *list, enum ids_left_out kind, char *buffer, size_t size);

/* The content of a member of the list, which may be gzip in turn. Members that are asked for in the order of their
 * index are read in one pass. `path` is how messages call it. A member that is cut or fails its checksum is a source
 * with ids_source_cut. */
int ids_archive_read(struct ids_archive *archive, const struct ids_member *member, const char *path,
                     struct ids_source **ret_source, struct ids_error *err);
/* The first bytes of what ids_archive_read would give (unpacked, where that is gzip), as ids_source_head. */
int ids_archive_peek(struct ids_archive *archive, const struct ids_member *member, uint8_t *head, size_t room,
                     size_t *ret_length, struct ids_error *err);

#endif
