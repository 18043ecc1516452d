#include "lib/store/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <isa-l/crc64.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 1 << 20, LEAST_PAGE = 512, MOST_PAGE = 65536, HEADER_BYTES = 100 };

static const char magic[8] = "idsseal1";

struct foot {
    char magic[8];
    uint32_t page_bytes, pages;
    uint64_t sum; /* of the list and of this up to here */
};

static uint64_t sum_of_page(uint32_t number, const void *page, size_t bytes) {
    return crc64_ecma_refl(number, page, bytes);
}

static uint64_t sum_of_list(const struct foot *foot, const uint64_t *sums) {
    uint64_t sum = crc64_ecma_refl(0, (const unsigned char *)sums, (uint64_t)foot->pages * sizeof *sums);
    return crc64_ecma_refl(sum, (const unsigned char *)foot, offsetof(struct foot, sum));
}

/* ---- bytes ---- */

static int read_all(int fd, void *bytes, size_t length, uint64_t at, struct ids_error *err) {
    for (size_t done = 0; done < length;) {
        ssize_t n = pread(fd, (char *)bytes + done, length - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return ids_fail_system(err, "cannot read");
        if (!n) return ids_fail(err, IDS_CORRUPT, "damaged: it ends too early");
        done += (size_t)n;
    }
    return 0;
}

static int write_all(int fd, const void *bytes, size_t length, uint64_t at, struct ids_error *err) {
    for (size_t done = 0; done < length;) {
        ssize_t n = pwrite(fd, (const char *)bytes + done, length - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return ids_fail_system(err, "cannot write");
        done += (size_t)n;
    }
    return 0;
}

static int is_page_size(uint64_t bytes) {
    return bytes >= LEAST_PAGE && bytes <= MOST_PAGE && !(bytes & (bytes - 1));
}

/* Reads all pages in blocks, and hands each to `take` as (context, number, page). */
static int each_page(int fd, uint32_t page_bytes, uint32_t pages, void (*take)(void *, uint32_t, const void *),
                     void *context, struct ids_error *err) {
    unsigned char *block = malloc(BLOCK_BYTES);
    uint32_t in_block = (uint32_t)BLOCK_BYTES / page_bytes;
    int code = block ? 0 : ids_no_memory(err);
    for (uint32_t first = 0; !code && first < pages; first += in_block) {
        uint32_t count = pages - first < in_block ? pages - first : in_block;
        code = read_all(fd, block, (size_t)count * page_bytes, (uint64_t)first * page_bytes, err);
        for (uint32_t i = 0; !code && i < count; i++) take(context, first + i, block + (size_t)i * page_bytes);
    }
    free(block);
    return code;
}

/* ---- sealing ---- */

/* The size of a page, as the file's header has it in bytes 16 and 17 (https://sqlite.org/fileformat2.html), and the
 * number of pages. */
static int measure(int fd, struct ids_seal *seal, struct ids_error *err) {
    unsigned char header[HEADER_BYTES];
    struct stat status;
    if (fstat(fd, &status)) return ids_fail_system(err, "cannot read");
    int code = read_all(fd, header, sizeof header, 0, err);
    if (code) return code;
    uint32_t bytes = (uint32_t)header[16] << 8 | header[17];
    seal->page_bytes = bytes == 1 ? MOST_PAGE : bytes;
    if (!is_page_size(seal->page_bytes) || status.st_size % seal->page_bytes ||
        status.st_size / seal->page_bytes > UINT32_MAX)
        return ids_fail(err, IDS_CORRUPT, "not a database of whole pages");
    seal->pages = (uint32_t)(status.st_size / seal->page_bytes);
    return 0;
}

static void take_sum(void *context, uint32_t number, const void *page) {
    struct ids_seal *seal = context;
    seal->sums[number] = sum_of_page(number, page, seal->page_bytes);
}

int ids_seal_write(int fd, struct ids_error *err) {
    struct ids_seal seal = {0};
    int code = measure(fd, &seal, err);
    if (code) return code;
    size_t list_bytes = (size_t)seal.pages * sizeof *seal.sums;
    uint64_t end = (uint64_t)seal.pages * seal.page_bytes;
    seal.sums = malloc(list_bytes);
    if (!seal.sums) return ids_no_memory(err);
    code = each_page(fd, seal.page_bytes, seal.pages, take_sum, &seal, err);
    struct foot foot = {.page_bytes = seal.page_bytes, .pages = seal.pages};
    memcpy(foot.magic, magic, sizeof magic);
    foot.sum = sum_of_list(&foot, seal.sums);
    if (!code) code = write_all(fd, seal.sums, list_bytes, end, err);
    if (!code) code = write_all(fd, &foot, sizeof foot, end + list_bytes, err);
    ids_seal_done(&seal);
    return code;
}

/* ---- reading ---- */

int ids_sealed_open(const char *path, struct ids_error *err) {
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == ENOENT) return ids_fail(err, IDS_NOT_FOUND, "it is not there");
    if (fd < 0 && errno == ELOOP) return ids_fail(err, IDS_CORRUPT, "a link, not a file");
    if (fd < 0 && (errno == ENXIO || errno == ENODEV)) return ids_fail(err, IDS_CORRUPT, "not a regular file");
    if (fd < 0) return ids_fail_system(err, "cannot open");
    if (!fstat(fd, &status) && S_ISREG(status.st_mode)) return fd;
    close(fd);
    return ids_fail(err, IDS_CORRUPT, "not a regular file");
}

int ids_seal_read(int fd, struct ids_seal *ret_seal, struct ids_error *err) {
    struct stat status;
    struct foot foot;
    *ret_seal = (struct ids_seal){0};
    if (fstat(fd, &status)) return ids_fail_system(err, "cannot read");
    uint64_t size = (uint64_t)status.st_size;
    if (size < sizeof foot) return ids_fail(err, IDS_CORRUPT, "damaged: too short");
    int code = read_all(fd, &foot, sizeof foot, size - sizeof foot, err);
    if (code) return code;
    uint64_t list_bytes = (uint64_t)foot.pages * sizeof *ret_seal->sums;
    if (memcmp(foot.magic, magic, sizeof magic) != 0 || !is_page_size(foot.page_bytes) || !foot.pages ||
        size != (uint64_t)foot.pages * foot.page_bytes + list_bytes + sizeof foot)
        return ids_fail(err, IDS_CORRUPT, "damaged: it has no seal");
    uint64_t *sums = malloc((size_t)list_bytes);
    if (!sums) return ids_no_memory(err);
    code = read_all(fd, sums, (size_t)list_bytes, size - sizeof foot - list_bytes, err);
    if (!code && sum_of_list(&foot, sums) != foot.sum) code = ids_fail(err, IDS_CORRUPT, "damaged: its seal is broken");
    if (code) {
        free(sums);
        return code;
    }
    *ret_seal = (struct ids_seal){foot.page_bytes, foot.pages, sums};
    return 0;
}

int ids_seal_fits(const struct ids_seal *seal, uint32_t number, const void *page) {
    return seal->sums[number] == sum_of_page(number, page, seal->page_bytes);
}

struct damage {
    const struct ids_seal *seal;
    uint32_t first, count;
};

static void take_damage(void *context, uint32_t number, const void *page) {
    struct damage *damage = context;
    if (ids_seal_fits(damage->seal, number, page)) return;
    if (!damage->count++) damage->first = number;
}

int ids_seal_check(int fd, const struct ids_seal *seal, struct ids_error *err) {
    struct damage damage = {.seal = seal};
    int code = each_page(fd, seal->page_bytes, seal->pages, take_damage, &damage, err);
    if (code || !damage.count) return code;
    return ids_fail(err, IDS_CORRUPT, "damaged: %u of %u pages, the first is page %u", damage.count, seal->pages,
                    damage.first + 1);
}

void ids_seal_done(struct ids_seal *seal) {
    free(seal->sums);
    *seal = (struct ids_seal){0};
}
