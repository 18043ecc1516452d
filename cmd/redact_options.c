#include "cmd/redact_options.h"

#include "lib/base/random.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { KEY_LEAST = 16, KEY_MOST = 4096 };

int ids_redact_wanted(const struct ids_redact_options *options) {
    return options->redact || options->names || options->key;
}

static int read_key(const char *path, char *bytes, size_t *ret_length, struct ids_error *err) {
    FILE *file = fopen(path, "re");
    if (!file) {
        ids_fail(err, IDS_IO, "--redact-key: '%s': %s", path, strerror(errno));
        return ids_hint(err, "to make one: head -c 32 /dev/urandom > FILE");
    }
    *ret_length = fread(bytes, 1, KEY_MOST + 1, file);
    int failed = ferror(file);
    fclose(file);
    if (failed) return ids_fail(err, IDS_IO, "--redact-key: '%s': cannot be read", path);
    if (*ret_length < KEY_LEAST || *ret_length > KEY_MOST)
        return ids_fail(err, IDS_USAGE, "--redact-key: '%s' holds %s; a key has %d to %d bytes", path,
                        *ret_length < KEY_LEAST ? "too little" : "too much", KEY_LEAST, KEY_MOST);
    return 0;
}

int ids_redact_begin(const struct ids_redact_options *options, struct ids_redactor *ret_redactor,
                     struct ids_error *err) {
    char bytes[KEY_MOST + 1];
    size_t length = 32;
    int code = options->key ? read_key(options->key, bytes, &length, err) : ids_random_bytes(bytes, length, err);
    if (code) return code;
    ids_redactor_init(ret_redactor, bytes, length, options->names);
    return ret_redactor->failed ? ids_no_memory(err) : 0;
}
