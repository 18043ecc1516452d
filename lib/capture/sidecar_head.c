#include "lib/capture/sidecar_head.h"

#include "lib/wire/json_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of "state" is among the first members, so that this is enough. */
enum { HEAD_BYTES = 4096 };

/* The value of an object's member; of type IDS_JSON_NONE: it has none of that name, as far as the text goes. */
static struct ids_json_span member_of(const char *text, size_t length, const char *name) {
    struct ids_json_scan scan = {.at = text, .end = text + length};
    struct ids_json_span key, value;
    int first = 1;
    if (ids_json_space(&scan) != IDS_JSON_OK || *scan.at != '{') return (struct ids_json_span){0};
    scan.at++;
    while (ids_json_member(&scan, &first, &key) == IDS_JSON_OK && ids_json_value(&scan, &value) == IDS_JSON_OK) {
        if (key.length == strlen(name) && !memcmp(key.at, name, key.length)) return value;
    }
    return (struct ids_json_span){0};
}

/* What the sidecar begins with, `room` bytes at most. */
static size_t read_head(const char *folder, char *text, size_t room) {
    char *path = NULL;
    if (asprintf(&path, "%s/" IDS_SIDECAR, folder) < 0) return 0;
    FILE *file = fopen(path, "re");
    free(path);
    if (!file) return 0;
    size_t length = fread(text, 1, room, file);
    fclose(file);
    return length;
}

int ids_sidecar_is_ended(const char *folder) {
    char head[HEAD_BYTES];
    struct ids_json_span state = member_of(head, read_head(folder, head, sizeof head), "state");
    return state.length == 5 && !memcmp(state.at, "ended", 5);
}

void ids_sidecar_missed(const char *folder, char *buffer, size_t size) {
    enum { MOST_BYTES = 1024 * 1024 };
    char *text = malloc(MOST_BYTES);
    struct ids_json_span missed = {0}, why = {0};
    if (text) missed = member_of(text, read_head(folder, text, MOST_BYTES), "missed");
    if (missed.type == IDS_JSON_OBJECT) why = member_of(missed.at, missed.length, "why");
    char *plain = why.type == IDS_JSON_STRING ? malloc(why.length + 1) : NULL;
    size_t length = plain ? ids_json_unescape(&why, plain) : 0;
    snprintf(buffer, size, "%.*s", (int)length, plain ? plain : "");
    free(plain);
    free(text);
}
