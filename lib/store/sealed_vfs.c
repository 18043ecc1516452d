#include "lib/store/sealed_vfs.h"

#include "lib/store/seal.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sealed_file {
    sqlite3_file base; /* first, as SQLite wants it */
    int fd;
    struct ids_seal seal;
    unsigned char *page; /* one page, for reads of a part of one */
};

static struct sealed_file *of(sqlite3_file *file) {
    return (struct sealed_file *)file;
}

static int close_file(sqlite3_file *file) {
    struct sealed_file *sealed = of(file);
    ids_seal_done(&sealed->seal);
    free(sealed->page);
    close(sealed->fd);
    return SQLITE_OK;
}

static int read_page(struct sealed_file *file, uint32_t number, void *page) {
    size_t bytes = file->seal.page_bytes;
    for (size_t done = 0; done < bytes;) {
        off_t at = (off_t)((uint64_t)number * bytes + done);
        ssize_t n = pread(file->fd, (char *)page + done, bytes - done, at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return SQLITE_IOERR_DATA; /* a disk that cannot read it, or a file that became shorter */
        done += (size_t)n;
    }
    return ids_seal_fits(&file->seal, number, page) ? SQLITE_OK : SQLITE_IOERR_DATA;
}

/* SQLite reads whole pages, but of the first one at first its header. */
static int read_bytes(sqlite3_file *file, void *bytes, int wanted, sqlite3_int64 at) {
    struct sealed_file *sealed = of(file);
    size_t page_bytes = sealed->seal.page_bytes, left = (size_t)wanted;
    char *to = bytes;
    while (left) {
        uint64_t number = (uint64_t)at / page_bytes;
        size_t skipped = (size_t)((uint64_t)at % page_bytes);
        size_t length = page_bytes - skipped < left ? page_bytes - skipped : left;
        if (number >= sealed->seal.pages) {
            memset(to, 0, left);
            return SQLITE_IOERR_SHORT_READ;
        }
        int is_whole = length == page_bytes;
        int result = read_page(sealed, (uint32_t)number, is_whole ? (void *)to : (void *)sealed->page);
        if (result != SQLITE_OK) return result;
        if (!is_whole) memcpy(to, sealed->page + skipped, length);
        to += length;
        at += (sqlite3_int64)length;
        left -= length;
    }
    return SQLITE_OK;
}

static int write_bytes(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 at) {
    (void)file;
    (void)bytes;
    (void)length;
    (void)at;
    return SQLITE_READONLY;
}

static int set_size(sqlite3_file *file, sqlite3_int64 size) {
    (void)file;
    (void)size;
    return SQLITE_READONLY;
}

static int with_flags(sqlite3_file *file, int flags) {
    (void)file;
    (void)flags;
    return SQLITE_OK; /* nothing to sync, and nobody to lock out */
}

static int get_size(sqlite3_file *file, sqlite3_int64 *ret_size) {
    const struct ids_seal *seal = &of(file)->seal;
    *ret_size = (sqlite3_int64)seal->pages * seal->page_bytes;
    return SQLITE_OK;
}

static int is_reserved(sqlite3_file *file, int *ret_is) {
    (void)file;
    *ret_is = 0;
    return SQLITE_OK;
}

static int control(sqlite3_file *file, int what, void *argument) {
    (void)file;
    (void)what;
    (void)argument;
    return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *file) {
    (void)file;
    return 0;
}

static int characteristics(sqlite3_file *file) {
    (void)file;
    return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1, /* no shared memory and no maps: what is mapped cannot be checked */
    .xClose = close_file,
    .xRead = read_bytes,
    .xWrite = write_bytes,
    .xTruncate = set_size,
    .xSync = with_flags,
    .xFileSize = get_size,
    .xLock = with_flags,
    .xUnlock = with_flags,
    .xCheckReservedLock = is_reserved,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
};

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *ret_flags) {
    struct sealed_file *sealed = of(file);
    struct ids_error err = IDS_ERROR_INIT;
    sqlite3_vfs *system = vfs->pAppData;
    /* What sorting puts aside is an ordinary file. */
    if (!(flags & SQLITE_OPEN_MAIN_DB)) return system->xOpen(system, path, file, flags, ret_flags);
    *sealed = (struct sealed_file){.fd = ids_sealed_open(path, &err)};
    if (sealed->fd < 0) {
        errno = sealed->fd == IDS_NOT_FOUND ? ENOENT : EIO;
        return sealed->fd == IDS_CORRUPT ? SQLITE_IOERR_DATA : SQLITE_CANTOPEN;
    }
    int code = ids_seal_read(sealed->fd, &sealed->seal, &err);
    if (!code && !(sealed->page = malloc(sealed->seal.page_bytes))) code = ids_no_memory(&err);
    if (code) {
        close_file(file);
        return code == IDS_NOMEM ? SQLITE_NOMEM : SQLITE_IOERR_DATA;
    }
    sealed->base.pMethods = &methods;
    if (ret_flags) *ret_flags = SQLITE_OPEN_READONLY;
    return SQLITE_OK;
}

/* The system's own, but for opening. Its functions look into the structure that they are called with, which is theirs
 * still in all that they use. */
static sqlite3_vfs sealed_vfs;
static int is_made;

static void make(void) {
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    if (!system) return;
    int bytes = (int)sizeof(struct sealed_file);
    sealed_vfs = *system;
    sealed_vfs.pNext = NULL;
    sealed_vfs.zName = "idsprof-sealed";
    sealed_vfs.szOsFile = system->szOsFile > bytes ? system->szOsFile : bytes;
    sealed_vfs.pAppData = system;
    sealed_vfs.xOpen = open_file;
    is_made = 1;
}

const char *ids_sealed_vfs(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make);
    /* Again each time, which is harmless: the library may have been shut down meanwhile (ids_db_count_memory). */
    return is_made && sqlite3_vfs_register(&sealed_vfs, 0) == SQLITE_OK ? sealed_vfs.zName : NULL;
}
