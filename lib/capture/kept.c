#include "lib/capture/kept.h"

#include "collectors/common/publish.h"
#include "lib/capture/line.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 8192, LINES_MOST = 4096 };

static int64_t known(int64_t number) {
    return number < 0 ? 0 : number;
}

static int read_line(const char *text, struct ids_kept *ret_kept) {
    struct ids_line line;
    struct ids_arena arena = {0};
    size_t length = strcspn(text, "\n");
    if (ids_line_parse(text, length, &line)) return -1;
    const char *reason = ids_line_text(&arena, &line, "reason");
    int is_good = reason && *reason;
    if (is_good) {
        snprintf(ret_kept->reason, sizeof ret_kept->reason, "%s", reason);
        ret_kept->step = ids_line_number(&line, "slow_step");
        ret_kept->took_ns = known(ids_line_number(&line, "slow_ns"));
        ret_kept->median_ns = known(ids_line_number(&line, "median_ns"));
        ret_kept->late_ns = known(ids_line_number(&line, "slow_late_ns"));
        ret_kept->goes_on = strstr(reason, " took more than ") != NULL;
        if (ret_kept->late_ns > ret_kept->took_ns) ret_kept->late_ns = ret_kept->took_ns;
    }
    ids_arena_done(&arena);
    return is_good ? 0 : -1;
}

int ids_kept_read(const char *path, struct ids_kept *ret_kept) {
    char beside[PATH_MAX], text[LINE_BYTES];
    const char *slash = strrchr(path, '/');
    int length = snprintf(beside, sizeof beside, "%.*s" IDS_PUBLISH_KEPT, slash ? (int)(slash - path + 1) : 0, path);
    FILE *file = length > 0 && (size_t)length < sizeof beside ? fopen(beside, "re") : NULL;
    int found = -1;
    if (!file) return -1;
    for (int i = 0; i < LINES_MOST && fgets(text, sizeof text, file); i++) {
        struct ids_kept kept;
        if (read_line(text, &kept) || (!found && kept.took_ns <= ret_kept->took_ns)) continue;
        *ret_kept = kept;
        found = 0;
    }
    fclose(file);
    return found;
}
