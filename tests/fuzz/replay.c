/* replay.c - a main for a fuzz target without a fuzzer: feeds it each file named, and each file of each folder named.
 *
 * Without a file it fails: a corpus that went missing must not pass for a test. Every input is copied to a block of its
 * exact size, so that AddressSanitizer and valgrind see a read past its end.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static int fail(const char *path) {
    perror(path);
    return -1;
}

static int replay_file(const char *path, size_t size) {
    FILE *file = fopen(path, "rb");
    if (!file) return fail(path);
    uint8_t *bytes = malloc(size ? size : 1);
    if (!bytes || fread(bytes, 1, size, file) != size) {
        fclose(file);
        free(bytes);
        return fail(path);
    }
    fclose(file);
    /* Named before it runs, so that a crash tells its input. */
    if (getenv("REPLAY_VERBOSE")) fprintf(stderr, "%s\n", path);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    return 1;
}

/* How many inputs it fed, or -1. */
static int replay(const char *path, int depth) {
    struct stat status;
    if (stat(path, &status)) return fail(path);
    if (!S_ISDIR(status.st_mode)) return replay_file(path, (size_t)status.st_size);
    if (depth > 8) return 0;
    DIR *folder = opendir(path);
    if (!folder) return fail(path);
    int count = 0;
    struct dirent *entry;
    while (count >= 0 && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.') continue;
        char below[4096];
        if ((size_t)snprintf(below, sizeof below, "%s/%s", path, entry->d_name) >= sizeof below) continue;
        int more = replay(below, depth + 1);
        count = more < 0 ? -1 : count + more;
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv) {
    int count = 0;
    for (int i = 1; i < argc; i++) {
        int more = replay(argv[i], 0);
        if (more < 0) return 1;
        count += more;
    }
    printf("%d inputs\n", count);
    if (count) return 0;
    fputs("replay: no input: name files or folders\n", stderr);
    return 1;
}
