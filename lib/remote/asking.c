#include "lib/remote/asking.h"

#include "lib/base/vec.h"
#include "lib/remote/listener.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { POLL_MS = 20, RECEIVED_MAX = 1 << 20 };
static const int64_t hello_limit_ns = 5000000000, start_limit_ns = 15000000000, stop_limit_ns = 130000000000;
/* Windows open this long after the last host is connected: requests are under way at different times, not windows. */
static const int64_t lead_ns = 300000000;

static const char listening[] =
    "is the job there started by idsprof capture --listen, with this port and on an address "
    "that this host reaches?";

static int64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- one host ---- */

static void end(struct ids_asked *asked) {
    asked->state = IDS_ASKED_ENDED;
    ids_dial_end(&asked->dial);
}

static void fail(struct ids_asked *asked, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void fail(struct ids_asked *asked, const char *remedy, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(asked->why, sizeof asked->why, format, arguments);
    va_end(arguments);
    asked->remedy = remedy;
    end(asked);
}

static void send_line(struct ids_asked *asked, const char *line) {
    size_t length = strlen(line);
    /* The first bytes of a connection, far less than its buffer. */
    if (send(asked->dial.socket, line, length, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)length)
        fail(asked, listening, "the connection broke");
}

static int take_process(struct ids_asking *asking, struct ids_asked *asked, const char *line) {
    int64_t pid = 0;
    int length = 0;
    if (sscanf(line, "%" SCNd64 " %n", &pid, &length) < 1 || !length) return -1;
    const char *text = line + length;
    int is_done = !strncmp(text, "yes ", 4);
    if (!is_done && strncmp(text, "no ", 3) != 0) return -1;
    text += is_done ? 4 : 3;
    struct ids_asked_process *process = IDS_PUSH(asked->processes, asked->process_count, asked->process_room);
    if (!process) return -1;
    *process = (struct ids_asked_process){pid, is_done, ids_arena_copy(&asking->arena, text, strlen(text))};
    if (!process->text) process->text = "";
    return 0;
}

static void take_line(struct ids_asking *asking, struct ids_asked *asked, const char *line) {
    const char *token = "the token file here and there must be the same: --token FILE";
    if (!strncmp(line, "no ", 3)) {
        fail(asked, strstr(line, "token") ? token : NULL, "it refuses: %s", line + 3);
    } else if (asked->state == IDS_ASKED_HELLO && !strncmp(line, "ok ", 3)) {
        asked->state = IDS_ASKED_READY;
    } else if (asked->state == IDS_ASKED_WAIT && !strcmp(line, "end")) {
        end(asked);
    } else if (asked->state != IDS_ASKED_WAIT || take_process(asking, asked, line)) {
        fail(asked, listening, "what answers is no idsprof ('%.40s')", line);
    }
}

static void receive(struct ids_asking *asking, struct ids_asked *asked) {
    char buffer[IDS_ASKED_LINE];
    ssize_t got = recv(asked->dial.socket, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    asked->received += got > 0 ? (size_t)got : 0;
    if (got <= 0 || asked->received > RECEIVED_MAX) {
        fail(asked, listening, got <= 0 ? "it closed the connection" : "it answers without an end");
        return;
    }
    for (ssize_t i = 0; i < got && asked->state != IDS_ASKED_ENDED; i++) {
        if (buffer[i] == '\n') {
            asked->line[asked->line_length] = '\0';
            asked->line_length = 0;
            take_line(asking, asked, asked->line);
        } else if (asked->line_length + 1 < sizeof asked->line) {
            asked->line[asked->line_length++] = buffer[i];
        }
    }
}

static void step(struct ids_asking *asking, struct ids_asked *asked, const char *hello, short events) {
    if (asked->state == IDS_ASKED_DIAL) {
        const char *remedy = NULL;
        enum ids_dial_state state = ids_dial_step(&asked->dial, events, clock_ns(CLOCK_MONOTONIC));
        if (state == IDS_DIAL_FAILED) {
            const char *why = ids_dial_why(&asked->dial, &remedy);
            fail(asked, remedy ? remedy : listening, "%s", why);
        } else if (state == IDS_DIAL_DONE) {
            asked->state = IDS_ASKED_HELLO;
            send_line(asked, hello);
        }
    } else if (asked->state != IDS_ASKED_ENDED && events) {
        receive(asking, asked);
    }
}

/* ---- all of them ---- */

static void turn(struct ids_asking *asking, struct pollfd *polls, const char *hello) {
    for (size_t i = 0; i < asking->count; i++) {
        int dials = asking->at[i].state == IDS_ASKED_DIAL;
        polls[i] = (struct pollfd){.fd = asking->at[i].dial.socket, .events = dials ? POLLOUT : POLLIN};
    }
    int ready = poll(polls, (nfds_t)asking->count, POLL_MS);
    for (size_t i = 0; i < asking->count; i++) step(asking, &asking->at[i], hello, ready > 0 ? polls[i].revents : 0);
}

static int any(const struct ids_asking *asking, enum ids_asked_state first, enum ids_asked_state last) {
    for (size_t i = 0; i < asking->count; i++) {
        if (asking->at[i].state >= first && asking->at[i].state <= last) return 1;
    }
    return 0;
}

static void run_until(struct ids_asking *asking, struct pollfd *polls, const char *hello, enum ids_asked_state first,
                      enum ids_asked_state last, int64_t limit_ns) {
    int64_t end_ns = clock_ns(CLOCK_MONOTONIC) + limit_ns;
    while (any(asking, first, last) && clock_ns(CLOCK_MONOTONIC) < end_ns) turn(asking, polls, hello);
    for (size_t i = 0; i < asking->count; i++) {
        if (asking->at[i].state >= first && asking->at[i].state <= last)
            fail(&asking->at[i], listening, "no answer within %.3g s", (double)limit_ns / 1e9);
    }
}

/* Each is told how long from now: clocks of hosts differ, a message takes less than a millisecond. */
static void ask(struct ids_asking *asking, const char *request) {
    char line[256];
    size_t word = strcspn(request, " ");
    int64_t moment_ns = clock_ns(CLOCK_MONOTONIC) + lead_ns;
    asking->moment_realtime_ns = clock_ns(CLOCK_REALTIME) + lead_ns;
    for (size_t i = 0; i < asking->count; i++) {
        struct ids_asked *asked = &asking->at[i];
        if (asked->state != IDS_ASKED_READY) continue;
        asked->state = IDS_ASKED_WAIT;
        asked->sent_ns = clock_ns(CLOCK_MONOTONIC);
        int64_t left_ns = moment_ns - asked->sent_ns;
        snprintf(line, sizeof line, "%.*s %" PRId64 "%s\n", (int)word, request, left_ns > 0 ? left_ns : 0,
                 request + word);
        send_line(asked, line);
    }
}

int ids_asking_run(const struct ids_hosts *hosts, const char token[IDS_TOKEN_BYTES], const char *request,
                   struct ids_asking *ret_asking, struct ids_error *err) {
    char hello[IDS_TOKEN_BYTES + 16];
    int code = 0, stop = !strcmp(request, "stop");
    *ret_asking = (struct ids_asking){.at = calloc(hosts->count + 1, sizeof *ret_asking->at)};
    struct pollfd *polls = calloc(hosts->count + 1, sizeof *polls);
    if (!polls || !ret_asking->at) code = ids_no_memory(err);
    for (size_t i = 0; !code && i < hosts->count; i++) {
        ret_asking->at[i] = (struct ids_asked){.host = &hosts->at[i], .dial = {.socket = -1}};
        ret_asking->count++;
        code = ids_dial_begin(&ret_asking->at[i].dial, &hosts->at[i], err);
    }
    if (!code) {
        snprintf(hello, sizeof hello, "idsprof 1 %s\n", token);
        run_until(ret_asking, polls, hello, IDS_ASKED_DIAL, IDS_ASKED_HELLO, hello_limit_ns);
        ask(ret_asking, request);
        run_until(ret_asking, polls, hello, IDS_ASKED_WAIT, IDS_ASKED_WAIT, stop ? stop_limit_ns : start_limit_ns);
    }
    free(polls);
    return code;
}

void ids_asking_done(struct ids_asking *asking) {
    for (size_t i = 0; i < asking->count; i++) {
        ids_dial_end(&asking->at[i].dial);
        free(asking->at[i].processes);
    }
    free(asking->at);
    ids_arena_done(&asking->arena);
    *asking = (struct ids_asking){0};
}
