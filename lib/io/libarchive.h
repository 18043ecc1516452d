/* libarchive.h - the functions of libarchive that archive.c calls: LA(read_new) is archive_read_new.
 *
 * Where libarchive is a shared library (IDS_LIBARCHIVE_FILE) it is loaded with the first archive. XML, ICU and C++ come
 * with it, which take half of the time that the program needs to start. */
#ifndef IDS_LIB_IO_LIBARCHIVE_H
#define IDS_LIB_IO_LIBARCHIVE_H

#include "lib/base/error.h"

#include <archive.h>
#include <archive_entry.h>

/* Before the first call. */
int ids_libarchive_load(struct ids_error *err);

#ifdef IDS_LIBARCHIVE_FILE

/* clang-format off */
#define IDS_LIBARCHIVE_CALLS(X)                                                                                \
    X(read_new) X(read_free) X(read_support_filter_gzip) X(read_support_filter_zstd) X(read_support_filter_xz) \
    X(read_support_format_tar) X(read_support_format_zip) X(read_set_read_callback) X(read_set_skip_callback)  \
    X(read_set_seek_callback) X(read_set_callback_data) X(read_open1) X(read_next_header) X(read_data_block)   \
    X(filter_count) X(errno) X(error_string) X(set_error) X(entry_pathname_utf8) X(entry_pathname)             \
    X(entry_hardlink) X(entry_filetype) X(entry_sparse_count) X(entry_is_encrypted) X(entry_mtime)             \
    X(entry_mtime_nsec) X(entry_size) X(entry_size_is_set)
/* clang-format on */

struct ids_libarchive {
#define IDS_MEMBER(name) __typeof__(archive_##name) *archive_##name;
    IDS_LIBARCHIVE_CALLS(IDS_MEMBER)
#undef IDS_MEMBER
};
extern struct ids_libarchive ids_libarchive;

#define LA(name) ids_libarchive.archive_##name

#else

#define LA(name) archive_##name

#endif

#endif
