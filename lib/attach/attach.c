#include "lib/attach/attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

enum { BUFFER_BYTES = 256 << 10, POLL_MS = 20, NS_PER_MS = 1000000, FILES_PER_PEER = 2, FILES_BESIDE = 32 };
/* A host that is not connected by then is not waited for: the others are asked. */
static const int64_t connect_limit_ns = 5000000000;

struct loop {
    const struct ids_attach_plan *plan;
    struct ids_attach *attach;
    struct pollfd *polls;
    uint8_t *buffer;
    int has_asked, has_terminated;
    int64_t deadline_ns;
};

static int64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct ids_clock_pair both_clocks(void) {
    return (struct ids_clock_pair){clock_ns(CLOCK_REALTIME), clock_ns(CLOCK_MONOTONIC)};
}

static int stopping(const struct loop *loop) {
    return loop->plan->stopping ? *loop->plan->stopping : 0;
}

/* ---- before ---- */

/* A socket and a file for each: hundreds of hosts are more than the usual limit has. */
static void allow_files(size_t hosts) {
    struct rlimit limit;
    rlim_t needed = (rlim_t)hosts * FILES_PER_PEER + FILES_BESIDE;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= needed) return;
    limit.rlim_cur = limit.rlim_max < needed ? limit.rlim_max : needed;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int make_folders(const struct ids_attach_plan *plan, struct ids_error *err) {
    static const char *const parts[] = {"plugins", "plugins/profile", NULL};
    int code = 0;
    for (int i = 0; !code && i < 3; i++) {
        char *path = NULL;
        if ((parts[i] ? asprintf(&path, "%s/%s", plan->folder, parts[i])
                      : asprintf(&path, "%s/plugins/profile/%s", plan->folder, plan->run)) < 0)
            return ids_no_memory(err);
        if (mkdir(path, 0777) && errno != EEXIST) code = ids_fail_system(err, "cannot make the folder '%s'", path);
        free(path);
    }
    return code;
}

static int begin(struct loop *loop, const struct ids_hosts *hosts, struct ids_error *err) {
    struct ids_attach *attach = loop->attach;
    attach->begun = both_clocks();
    loop->deadline_ns = attach->begun.monotonic_ns + connect_limit_ns;
    loop->buffer = malloc(BUFFER_BYTES);
    loop->polls = calloc(hosts->count + 1, sizeof *loop->polls);
    attach->peers = calloc(hosts->count + 1, sizeof *attach->peers);
    if (!loop->buffer || !loop->polls || !attach->peers) return ids_no_memory(err);
    int code = make_folders(loop->plan, err);
    for (size_t i = 0; !code && i < hosts->count; i++) {
        attach->count++;
        code = ids_peer_begin(&attach->peers[i], &hosts->at[i], loop->plan->folder, loop->plan->run,
                              loop->plan->max_size, err);
    }
    return code;
}

/* ---- the loop ---- */

/* One round: waits a little, and lets everyone do what it can. */
static void turn(struct loop *loop) {
    struct ids_attach *attach = loop->attach;
    for (size_t i = 0; i < attach->count; i++) loop->polls[i] = ids_peer_wants(&attach->peers[i]);
    int ready = poll(loop->polls, (nfds_t)attach->count, POLL_MS);
    for (size_t i = 0; i < attach->count; i++) {
        short events = ready > 0 ? loop->polls[i].revents : 0;
        ids_peer_step(&attach->peers[i], events, clock_ns(CLOCK_MONOTONIC), loop->buffer, BUFFER_BYTES);
    }
}

static size_t in_states(const struct loop *loop, enum ids_peer_state first, enum ids_peer_state last) {
    size_t count = 0;
    for (size_t i = 0; i < loop->attach->count; i++)
        count += loop->attach->peers[i].state >= first && loop->attach->peers[i].state <= last;
    return count;
}

static void give_up(struct loop *loop, enum ids_peer_state last, int64_t waited_ns) {
    char why[48];
    snprintf(why, sizeof why, "%.3g s", (double)waited_ns / 1e9);
    for (size_t i = 0; i < loop->attach->count; i++) {
        if (loop->attach->peers[i].state <= last)
            ids_peer_give_up(&loop->attach->peers[i], stopping(loop) ? "the interrupt" : why,
                             clock_ns(CLOCK_MONOTONIC));
    }
}

/* All in one go, so that the windows open together. */
static void ask(struct loop *loop) {
    const struct ids_attach_plan *plan = loop->plan;
    struct ids_attach *attach = loop->attach;
    char *root = NULL;
    if (asprintf(&root, "%s/plugins/profile", plan->folder) < 0) root = NULL;
    struct ids_profile_request request = {.duration_ms = (uint64_t)(plan->duration_ns / NS_PER_MS),
                                          .host_level = (uint64_t)plan->host_level,
                                          .device_level = (uint64_t)plan->device_level,
                                          .python_level = (uint64_t)plan->python_level,
                                          .root = root ? root : "",
                                          .session = plan->run};
    uint64_t timeout_ms = (uint64_t)((plan->duration_ns + plan->grace_ns) / NS_PER_MS);
    attach->asked = both_clocks();
    for (size_t i = 0; i < attach->count; i++)
        ids_peer_ask(&attach->peers[i], &request, timeout_ms, clock_ns(CLOCK_MONOTONIC));
    attach->asked_within_ns = clock_ns(CLOCK_MONOTONIC) - attach->asked.monotonic_ns;
    loop->deadline_ns = attach->asked.monotonic_ns + plan->duration_ns + plan->grace_ns;
    loop->has_asked = 1;
    free(root);
}

/* The user wants it to end now: sessions are ended, and what they have is waited for. */
static void terminate(struct loop *loop) {
    int64_t now_ns = clock_ns(CLOCK_MONOTONIC), deadline_ns = now_ns + loop->plan->grace_ns;
    loop->attach->stopped_after_ns = now_ns - loop->attach->asked.monotonic_ns;
    for (size_t i = 0; i < loop->attach->count; i++) ids_peer_terminate(&loop->attach->peers[i], loop->plan->run);
    if (deadline_ns < loop->deadline_ns) loop->deadline_ns = deadline_ns;
    loop->attach->was_stopped = 1;
    loop->has_terminated = 1;
}

static void run_loop(struct loop *loop) {
    const struct ids_attach *attach = loop->attach;
    while (in_states(loop, IDS_PEER_CONNECT, IDS_PEER_ASKED)) {
        int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
        int stop = stopping(loop);
        if (stop > 1 || (stop && !loop->has_asked)) {
            give_up(loop, IDS_PEER_ASKED, 0);
            loop->attach->was_stopped = 1;
            return;
        }
        if (stop && !loop->has_terminated) terminate(loop);
        if (loop->has_asked && now_ns >= loop->deadline_ns) {
            give_up(loop, IDS_PEER_ASKED, now_ns - attach->asked.monotonic_ns);
            return;
        }
        if (!loop->has_asked && now_ns >= loop->deadline_ns) give_up(loop, IDS_PEER_GREET, connect_limit_ns);
        if (!loop->has_asked && !in_states(loop, IDS_PEER_CONNECT, IDS_PEER_GREET)) ask(loop);
        turn(loop);
    }
}

int ids_attach_run(const struct ids_attach_plan *plan, const struct ids_hosts *hosts, struct ids_attach *attach,
                   struct ids_error *err) {
    struct loop loop = {.plan = plan, .attach = attach};
    *attach = (struct ids_attach){.stopped_after_ns = -1};
    allow_files(hosts->count);
    int code = begin(&loop, hosts, err);
    if (!code) run_loop(&loop);
    attach->ended = both_clocks();
    free(loop.polls);
    free(loop.buffer);
    return code;
}

void ids_attach_done(struct ids_attach *attach) {
    for (size_t i = 0; i < attach->count; i++) ids_peer_done(&attach->peers[i]);
    free(attach->peers);
    *attach = (struct ids_attach){0};
}

size_t ids_attach_count(const struct ids_attach *attach, enum ids_peer_fate fate) {
    size_t count = 0;
    for (size_t i = 0; i < attach->count; i++) count += attach->peers[i].fate == fate;
    return count;
}
