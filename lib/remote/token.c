#include "lib/remote/token.h"

#include "lib/base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANDOM_BYTES = IDS_TOKEN_LENGTH / 2 };

/* ---- where it is ---- */

static int default_path(char path[PATH_MAX], int make, struct ids_error *err) {
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int has_base = base && base[0] == '/';
    if (!has_base && !(home && home[0] == '/'))
        return ids_fail(err, IDS_USAGE, "neither HOME nor XDG_CONFIG_HOME says where the token is: give --token FILE");
    int length = has_base ? snprintf(path, PATH_MAX, "%s", base) : snprintf(path, PATH_MAX, "%s/.config", home);
    if (length < 0 || length > PATH_MAX - 64) return ids_fail(err, IDS_LIMIT, "the path of the token is too long");
    if (make && mkdir(path, 0700) && errno != EEXIST) return ids_fail_system(err, "cannot make the folder '%s'", path);
    length += snprintf(path + length, 16, "/idsprof");
    if (make && mkdir(path, 0700) && errno != EEXIST) return ids_fail_system(err, "cannot make the folder '%s'", path);
    snprintf(path + length, 16, "/token");
    return 0;
}

/* ---- making one ---- */

static int write_token(const char *path, struct ids_error *err) {
    unsigned char bytes[RANDOM_BYTES];
    char text[IDS_TOKEN_BYTES + 1], *temporary = NULL;
    int code = ids_random_bytes(bytes, sizeof bytes, err);
    if (code) return code;
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    text[IDS_TOKEN_LENGTH] = '\n';
    if (asprintf(&temporary, "%s.%d", path, (int)getpid()) < 0) return ids_no_memory(err);
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int failed = file < 0 || write(file, text, IDS_TOKEN_BYTES) != IDS_TOKEN_BYTES;
    if (file >= 0 && close(file)) failed = 1;
    /* By link, so that of several launchers that begin at once one makes it, whole, and all read the same. */
    if (!failed && link(temporary, path) && errno != EEXIST) failed = 1;
    code = failed ? ids_fail_system(err, "cannot make the token file '%s'", path) : 0;
    if (file >= 0) unlink(temporary);
    free(temporary);
    return code;
}

/* ---- reading it ---- */

static int check_file(const char *path, int file, struct ids_error *err) {
    struct stat status;
    if (fstat(file, &status)) return ids_fail_system(err, "cannot look at '%s'", path);
    if (!S_ISREG(status.st_mode)) return ids_fail(err, IDS_USAGE, "the token '%s' is no file", path);
    if (status.st_uid != geteuid() && geteuid() != 0)
        return ids_fail(err, IDS_USAGE, "the token file '%s' belongs to another user", path);
    if (status.st_mode & 077)
        return ids_fail(err, IDS_USAGE, "others may read the token file '%s': chmod 600 it, or remove it", path);
    return 0;
}

static int read_token(const char *path, int file, char token[IDS_TOKEN_BYTES], struct ids_error *err) {
    char text[IDS_TOKEN_BYTES + 1];
    ssize_t length = read(file, text, sizeof text);
    if (length < 0) return ids_fail_system(err, "cannot read the token file '%s'", path);
    if (length && text[length - 1] == '\n') length--;
    text[length < IDS_TOKEN_BYTES ? length : IDS_TOKEN_BYTES] = '\0';
    if (length != IDS_TOKEN_LENGTH || strspn(text, "0123456789abcdef") < IDS_TOKEN_LENGTH)
        return ids_fail(err, IDS_USAGE,
                        "'%s' holds no token (%d hexadecimal digits); remove it, and capture --listen makes one", path,
                        IDS_TOKEN_LENGTH);
    memcpy(token, text, IDS_TOKEN_LENGTH);
    token[IDS_TOKEN_LENGTH] = '\0';
    return 0;
}

int ids_token_read(const char *given, int make, char token[IDS_TOKEN_BYTES], struct ids_error *err) {
    char path[PATH_MAX];
    int code = given ? 0 : default_path(path, make, err);
    if (code) return code;
    if (!given) given = path;
    int file = open(given, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0 && errno == ENOENT && make) {
        code = write_token(given, err);
        if (code) return code;
        file = open(given, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    }
    if (file < 0 && errno == ENOENT)
        return ids_fail(err, IDS_NOT_FOUND,
                        "there is no token '%s': capture --listen makes it; copy it from there, or give --token FILE",
                        given);
    if (file < 0) return ids_fail_system(err, "cannot open the token file '%s'", given);
    code = check_file(given, file, err);
    if (!code) code = read_token(given, file, token, err);
    close(file);
    return code;
}

int ids_token_is(const char token[IDS_TOKEN_BYTES], const char *offered) {
    unsigned char differs = strlen(offered) != IDS_TOKEN_LENGTH;
    size_t length = strlen(offered);
    for (size_t i = 0; i < IDS_TOKEN_LENGTH; i++)
        differs |= (unsigned char)(token[i] ^ (length ? offered[i % length] : 0));
    return !differs;
}
