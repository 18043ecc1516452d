#include "lib/attach/attach_record.h"

#include "lib/capture/sidecar.h"

#include <netdb.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct record {
    const struct ids_attach_plan *plan;
    const struct ids_attach *attach;
};

static void put_text(struct ids_json *json, const char *key, const char *text) {
    ids_json_key(json, key);
    ids_json_text(json, text);
}

/* 0 is null: it did not come to that. */
static void put_number(struct ids_json *json, const char *key, int64_t number) {
    ids_json_key(json, key);
    if (number) {
        ids_json_int(json, number);
    } else {
        ids_json_null(json);
    }
}

static void put_clocks(struct ids_json *json, const char *key, struct ids_clock_pair clocks) {
    ids_json_key(json, key);
    ids_json_object(json, IDS_JSON_INLINE);
    put_number(json, "realtime_ns", clocks.realtime_ns);
    put_number(json, "monotonic_ns", clocks.monotonic_ns);
    ids_json_end(json);
}

static void put_time(struct ids_json *json, const char *key, int64_t realtime_ns) {
    char text[32];
    struct tm utc;
    time_t when = (time_t)(realtime_ns / 1000000000);
    gmtime_r(&when, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    put_text(json, key, text);
}

/* The address that was reached, or tried last. */
static const char *address_of(const struct ids_peer *peer, char room[NI_MAXHOST]) {
    const struct addrinfo *address = peer->dial.address;
    int known =
        address && !getnameinfo(address->ai_addr, address->ai_addrlen, room, NI_MAXHOST, NULL, 0, NI_NUMERICHOST);
    return known ? room : NULL;
}

static void put_peer(struct ids_json *json, const struct ids_peer *peer) {
    static const char *const fates[] = {"unknown", "recorded", "stored", "failed"};
    char room[NI_MAXHOST];
    ids_json_object(json, IDS_JSON_INLINE);
    put_text(json, "host", peer->host->name);
    put_text(json, "address", address_of(peer, room));
    put_text(json, "state", fates[peer->fate]);
    put_text(json, "file", peer->fate == IDS_PEER_FAILED ? NULL : strrchr(peer->final, '/') + 1);
    put_text(json, "why", peer->fate == IDS_PEER_FAILED ? peer->why : NULL);
    put_text(json, "do", peer->fate == IDS_PEER_FAILED ? peer->remedy : NULL);
    ids_json_key(json, "bytes");
    ids_json_uint(json, peer->bytes);
    put_number(json, "connected_ns", peer->connected_ns);
    put_number(json, "asked_ns", peer->asked_ns);
    put_number(json, "first_byte_ns", peer->first_ns);
    put_number(json, "ended_ns", peer->ended_ns);
    ids_json_end(json);
}

static void put_record(struct ids_json *json, const void *what) {
    const struct record *record = what;
    const struct ids_attach *attach = record->attach;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    put_text(json, "host", host);
    put_number(json, "launcher", (int64_t)getpid());
    put_time(json, "started", attach->begun.realtime_ns);
    put_time(json, "ended", attach->ended.realtime_ns);
    put_text(json, "run", record->plan->run);
    ids_json_key(json, "attach");
    ids_json_object(json, IDS_JSON_BROKEN);
    put_number(json, "duration_ns", record->plan->duration_ns);
    put_number(json, "grace_ns", record->plan->grace_ns);
    put_clocks(json, "begun", attach->begun);
    put_clocks(json, "asked", attach->asked);
    put_clocks(json, "ended", attach->ended);
    put_number(json, "asked_within_ns", attach->asked_within_ns);
    ids_json_key(json, "stopped_early");
    ids_json_bool(json, attach->was_stopped);
    put_text(json, "no_stacks", record->plan->no_stacks);
    ids_json_key(json, "hosts");
    ids_json_array(json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < attach->count; i++) put_peer(json, &attach->peers[i]);
    ids_json_end(json);
    ids_json_end(json);
}

int ids_attach_record_write(const struct ids_attach_plan *plan, const struct ids_attach *attach,
                            struct ids_error *err) {
    struct record record = {plan, attach};
    return ids_sidecar_write_ended(plan->folder, put_record, &record, err);
}
