/* view_live.c - `view --live`: the page is served, and asks for each event of what it shows. */
#include "cmd/command.h"
#include "cmd/engine.h"
#include "cmd/view.h"
#include "cmd/view_events.h"
#include "lib/report/html/page.h"
#include "lib/run/open_events.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *read_all(const char *path, size_t *ret_length, struct ids_error *err) {
    FILE *file = fopen(path, "re");
    struct stat status;
    char *text = file && !fstat(fileno(file), &status) ? malloc((size_t)status.st_size + 1) : NULL;
    *ret_length = text ? fread(text, 1, (size_t)status.st_size, file) : 0;
    if (text) text[*ret_length] = '\0';
    if (!text) ids_fail_system(err, "'%s'", path);
    if (file) fclose(file);
    return text;
}

static int write_all(int fd, const char *at, size_t length, struct ids_error *err) {
    while (length) {
        ssize_t written = write(fd, at, length);
        if (written <= 0) return ids_fail_system(err, "the page for the browser");
        at += written;
        length -= (size_t)written;
    }
    return 0;
}

/* The page with the policy of one that may ask, in a file without a name. */
static int make_live(const struct ids_view *view, const char *page, int *ret_fd, struct ids_error *err) {
    char path[PATH_MAX + 32];
    size_t length;
    char *text = read_all(page, &length, err);
    char *policy = text ? strstr(text, ids_page_policy) : NULL;
    *ret_fd = -1;
    if (!policy) {
        free(text);
        return text ? ids_fail(err, IDS_CORRUPT, "'%s' is no page of ours", page) : err->code;
    }
    char *rest = policy + strlen(ids_page_policy);
    snprintf(path, sizeof path, "%s/%s.live.XXXXXX", view->folder, view->key);
    int fd = mkstemp(path), code = fd < 0 ? ids_fail_system(err, "'%s'", path) : 0;
    if (fd >= 0) unlink(path);
    if (!code) code = write_all(fd, text, (size_t)(policy - text), err);
    if (!code) code = write_all(fd, ids_page_live_policy, strlen(ids_page_live_policy), err);
    if (!code) code = write_all(fd, rest, length - (size_t)(rest - text), err);
    free(text);
    if (code && fd >= 0) close(fd);
    if (!code) *ret_fd = fd;
    return code;
}

int ids_view_live(struct ids_view *view, const char *page, struct ids_error *err) {
    struct ids_engine engine = ids_command_engine("view", 0);
    struct ids_opened_events events = {0};
    struct ids_query *query = NULL;
    int fd = -1, code = ids_events_open(&engine, view->path, view->options->run, &events, err);
    if (!code) code = ids_events_query(&events, &query, err);
    if (!code) code = make_live(view, page, &fd, err);
    if (!code) {
        const struct ids_file_server_params params = {.fd = fd,
                                                      .name = "report.html",
                                                      .type = "text/html; charset=utf-8",
                                                      .port = view->port,
                                                      .question = "events",
                                                      .keys = ids_view_event_keys,
                                                      .answer = ids_view_events,
                                                      .own = query};
        code = ids_view_serve(view, &params, "%s", err);
    }
    ids_query_free(query);
    ids_events_done(&events);
    ids_engine_done(&engine);
    return code;
}
