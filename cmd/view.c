#include "cmd/view.h"

#include "cmd/command.h"
#include "lib/base/own_program.h"
#include "lib/capture/child.h"
#include "lib/cli/say.h"
#include "lib/store/cache_folder.h"
#include "lib/view/file_server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum ui { UI_PAGE, UI_PERFETTO, UI_XPROF, UI_TENSORBOARD };

static const char *ui_choice(int i) {
    static const char *const names[] = {"page", "perfetto", "xprof", "tensorboard", NULL};
    return names[i];
}

static const struct ids_view_options defaults = {.wait_ps = INT64_C(600000000000000)};

#define AT(field) offsetof(struct ids_view_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_TEXT, 'r', "run", "NAME", "choose a run of a log folder; else the newest, or the slowest kept", AT(run),
     NULL},
    {IDS_OPT_CHOICE, 'u', "ui", "WHICH", "page (ours), perfetto, xprof or tensorboard", AT(ui), ui_choice},
    {IDS_OPT_FLAG, 'l', "live", NULL, "serve the page, which then has every event when it is zoomed", AT(live), NULL},
    {IDS_OPT_FLAG, 0, "no-open", NULL, "open no browser; print the address", AT(no_open), NULL},
    {IDS_OPT_COUNT, 'p', "port", "N", "serve on this port of 127.0.0.1 (any; perfetto wants 9001)", AT(port), NULL},
    {IDS_OPT_TIME, 0, "wait", "TIME", "stop to serve if no browser comes within this time (600s)", AT(wait_ps), NULL},
};

/* ---- commands of this program ---- */

/* What the command prints is for people who gave it; its errors are ours too. */
static int run_quietly(char *const words[], struct ids_child_end *end, struct ids_error *err) {
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC), kept = null < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    fflush(stdout);
    int code = kept < 0 || dup2(null, STDOUT_FILENO) < 0 ? ids_fail_system(err, "cannot run a command")
                                                         : ids_child_run(words, environ, end, err);
    if (kept >= 0) {
        dup2(kept, STDOUT_FILENO);
        close(kept);
    }
    if (null >= 0) close(null);
    return code;
}

int ids_view_run_self(const struct ids_view *view, const char *command, const char *const *more,
                      struct ids_error *err) {
    enum { WORDS_MOST = 16 };
    const char *words[WORDS_MOST] = {ids_own_program(), command, view->path};
    int count = 3;
    if (view->options->run) {
        words[count++] = "--run";
        words[count++] = view->options->run;
    }
    for (; *more && count < WORDS_MOST - 1; more++) words[count++] = *more;
    struct ids_child_end end;
    int code = run_quietly((char *const *)(uintptr_t)words, &end, err);
    if (code) return code;
    return ids_child_status(&end)
               ? ids_fail(err, IDS_IO, "'%s' cannot be shown; 'idsprof %s' said why", view->path, command)
               : 0;
}

/* ---- where things lie ---- */

/* One name for one run, so that what was made for it is written over. */
static void make_key(struct ids_view *view) {
    const uint64_t prime = UINT64_C(0x100000001b3);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    char *real = realpath(view->path, NULL);
    const char *const texts[] = {real ? real : view->path, view->options->run ? view->options->run : ""};
    for (size_t t = 0; t < 2; t++) {
        for (const char *at = texts[t]; *at; at++) hash = (hash ^ (unsigned char)*at) * prime;
        hash = (hash ^ 0xff) * prime;
    }
    snprintf(view->key, sizeof view->key, "%016" PRIx64, hash);
    free(real);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at) {
    (void)status, (void)type, (void)at;
    remove(path);
    return 0;
}

void ids_view_remove(const char *path) {
    enum { OPEN_MOST = 16 };
    nftw(path, remove_one, OPEN_MOST, FTW_DEPTH | FTW_PHYS);
}

/* What was made here: a page, or a folder that a program which was killed left. */
static int is_our_name(const char *name) {
    return strspn(name, "0123456789abcdef") == 16 && name[16] == '.';
}

/* What nobody looked at for a week. */
static void remove_old(const char *folder) {
    enum { WEEK_S = 7 * 24 * 3600 };
    DIR *all = opendir(folder);
    for (const struct dirent *entry; all && (entry = readdir(all));) {
        struct stat status;
        char path[PATH_MAX + 256];
        if (!is_our_name(entry->d_name) || fstatat(dirfd(all), entry->d_name, &status, AT_SYMLINK_NOFOLLOW)) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (status.st_mtime < time(NULL) - WEEK_S) ids_view_remove(path);
    }
    if (all) closedir(all);
}

static int make_folder(struct ids_view *view, struct ids_error *err) {
    char *cache = NULL;
    int code = ids_cache_folder(&cache, err);
    if (code) return code;
    int length = snprintf(view->folder, sizeof view->folder, "%s/views", cache);
    free(cache);
    if (length >= (int)sizeof view->folder - 64) return ids_fail(err, IDS_LIMIT, "the path of the cache is too long");
    code = ids_cache_folder_make(view->folder, err);
    if (!code) remove_old(view->folder);
    return code;
}

/* ---- showing ---- */

int ids_view_show(const struct ids_view *view, const char *address, struct ids_error *err) {
    if (view->options->no_open || view->opener.kind == IDS_OPENER_NONE) {
        if (!view->options->no_open)
            ids_say("view", "no browser was found (BROWSER, wslview, xdg-open); open this address yourself");
        printf("%s\n", address);
        fflush(stdout);
        return 0;
    }
    ids_say("view", "opening %s", address);
    int code = ids_opener_open(&view->opener, address, err);
    return code ? ids_hint(err, "open it yourself, or name a browser in BROWSER") : 0;
}

/* The browser is at the other end of an ssh connection. */
static void say_ssh(int port, const char *address) {
    char host[256] = "HOST";
    const char *user = getenv("USER");
    gethostname(host, sizeof host - 1);
    ids_say("view", "the browser is on the machine that you came from; there, run");
    ids_say_below(2, "ssh -N -L %d:127.0.0.1:%d %s%s%s", port, port, user ? user : "", user ? "@" : "", host);
    ids_say_below(0, "and open");
    printf("%s\n", address);
    fflush(stdout);
}

int ids_view_serve(const struct ids_view *view, const struct ids_file_server_params *params, const char *address,
                   struct ids_error *err) {
    const int64_t ps_per_ns = 1000, idle_ns = INT64_C(90000000000); /* an open page asks every 30 s */
    struct ids_file_server *server;
    char whole[IDS_OPENER_BYTES];
    int code = ids_file_server_start(params, &server, err);
    if (code) return code;
    const char *place = strstr(address, "%s");
    snprintf(whole, sizeof whole, "%.*s%s%s", (int)(place ? place - address : 0), address,
             ids_file_server_address(server), place ? place + 2 : "");
    if (view->opener.kind == IDS_OPENER_REMOTE)
        say_ssh(ids_file_server_port(server), whole);
    else
        code = ids_view_show(view, whole, err);
    int is_delivered = !code && ids_file_server_wait(server, view->options->wait_ps / ps_per_ns);
    if (is_delivered && params->question)
        ids_file_server_wait_idle(
            server, view->options->wait_ps / ps_per_ns < idle_ns ? view->options->wait_ps / ps_per_ns : idle_ns);
    ids_file_server_stop(server);
    if (code) return code;
    if (!is_delivered) ids_say("view", "no browser came for it in time (--wait); nothing is served any more");
    return is_delivered ? IDS_EXIT_DONE : IDS_EXIT_NO;
}

/* The page lies in the cache, where a browser of this machine opens it; one of another machine is served. */
static int view_page(struct ids_view *view, struct ids_error *err) {
    char page[PATH_MAX + 32];
    snprintf(page, sizeof page, "%s/%s.html", view->folder, view->key);
    const char *const more[] = {"--html", page, "--force", NULL};
    int code = ids_view_run_self(view, "report", more, err);
    if (code) return code;
    if (view->options->live) return ids_view_live(view, page, err);
    if (view->opener.kind == IDS_OPENER_REMOTE && !view->options->no_open) {
        int fd = open(page, O_RDONLY | O_CLOEXEC);
        if (fd < 0) return ids_fail_system(err, "'%s'", page);
        const struct ids_file_server_params params = {
            .fd = fd, .name = "report.html", .type = "text/html; charset=utf-8", .port = view->port};
        return ids_view_serve(view, &params, "%s", err);
    }
    code = ids_view_show(view, page, err);
    return code ? code : IDS_EXIT_DONE;
}

static int view_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    (void)operand_count;
    struct ids_view view = {.options = values, .path = operands[0]};
    if (!strcmp(view.path, "-")) return ids_fail(err, IDS_USAGE, "standard input cannot be read twice; name a file");
    if (view.options->port > 65535) return ids_fail(err, IDS_USAGE, "--port: at most 65535");
    view.port = (int)view.options->port;
    if (view.options->live && view.options->ui != UI_PAGE)
        return ids_fail(err, IDS_USAGE, "--live is of our page, --ui page");
    make_key(&view);
    ids_opener_find(&view.opener);
    if (view.opener.is_missing && !view.options->no_open) {
        ids_say("view", "BROWSER is '%s', which is no program here; trying others", getenv("BROWSER"));
        unsetenv("BROWSER"); /* xdg-open would try it again */
    }
    int code = make_folder(&view, err);
    if (code) return code;
    switch ((enum ui)view.options->ui) {
    case UI_PERFETTO:
        return ids_view_perfetto(&view, err);
    case UI_XPROF:
    case UI_TENSORBOARD:
        return ids_view_server(&view, ui_choice(view.options->ui), err);
    default:
        return view_page(&view, err);
    }
}

const struct ids_command ids_view_command = {
    .operands = "RUN",
    .least = 1,
    .most = 1,
    IDS_OPTIONS(opts),
    .defaults = &defaults,
    .values_bytes = sizeof defaults,
    .run = view_run,
};
