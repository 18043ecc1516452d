#include "lib/base/run_merge.h"
#include "lib/base/vec.h"
#include "lib/events/event_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    PARTS = 64,
    PART_SHIFT = 58,        /* keys are hashes; their low bits are for the hash table of the part */
    PART_BYTES = 512 << 10, /* of a part in memory; more goes into a file */
};

enum { KIND_BITS = 2, EVENT_BITS = 64 - KIND_BITS };
enum { GIVES = IDS_LINK_TYPED + 1 };
_Static_assert(GIVES < 1 << KIND_BITS, "bits of a kind");

/* An event that hands on a key (kind GIVES), or takes one. */
struct end {
    uint64_t key;
    uint64_t event : EVENT_BITS, kind : KIND_BITS;
};

/* A row of the table. */
struct flow {
    uint64_t to : EVENT_BITS, kind : KIND_BITS;
    uint64_t from;
};

struct ids_event_flows {
    struct ids_spill *ends[PARTS];  /* by key */
    struct ids_spill *flows[PARTS]; /* by event */
};

static int flow_before(const struct flow *a, const struct flow *b) {
    if (a->to != b->to) return a->to < b->to;
    if (a->kind != b->kind) return a->kind < b->kind;
    return a->from < b->from;
}

IDS_DEFINE_RUN_MERGE(merge_flows, struct flow, flow_before)

int ids_event_flows_new(struct ids_event_flows **ret_flows, struct ids_error *err) {
    *ret_flows = calloc(1, sizeof **ret_flows);
    return *ret_flows ? 0 : ids_no_memory(err);
}

void ids_event_flows_free(struct ids_event_flows *flows) {
    if (!flows) return;
    for (int i = 0; i < PARTS; i++) {
        ids_spill_free(flows->ends[i]);
        ids_spill_free(flows->flows[i]);
    }
    free(flows);
}

static int append(struct ids_spill **part, const void *record, size_t bytes, struct ids_error *err) {
    int code = *part ? 0 : ids_spill_new(PART_BYTES, part, err);
    return code ? code : ids_spill_append(*part, record, bytes, err);
}

static int add_end(struct ids_event_flows *flows, uint64_t key, int64_t event, uint64_t kind, struct ids_error *err) {
    const struct end end = {key, (uint64_t)event & (UINT64_MAX >> KIND_BITS), kind & GIVES};
    if (!key) return 0;
    return append(&flows->ends[key >> PART_SHIFT], &end, sizeof end, err);
}

int ids_event_flows_give(struct ids_event_flows *flows, uint64_t key, int64_t event, struct ids_error *err) {
    return add_end(flows, key, event, GIVES, err);
}

int ids_event_flows_take(struct ids_event_flows *flows, uint64_t key, int64_t event, enum ids_link link,
                         struct ids_error *err) {
    return add_end(flows, key, event, link, err);
}

/* ---- at the end ---- */

static int read_end(struct ids_spill *ends, uint64_t at, struct end *ret_end, struct ids_error *err) {
    const uint8_t *bytes;
    int code = ids_spill_read(ends, at, sizeof *ret_end, &bytes, err);
    if (!code) memcpy(ret_end, bytes, sizeof *ret_end);
    return code;
}

/* Ties what is taken to what was given, of one part. */
static int join_part(struct ids_event_flows *flows, struct ids_spill *ends, int64_t first_event, int64_t last_event,
                     struct ids_error *err) {
    struct ids_keymap given = {0};
    struct end end;
    int code = 0;
    uint64_t length = ids_spill_length(ends);
    for (uint64_t at = 0; at < length && !code; at += sizeof end) {
        code = read_end(ends, at, &end, err);
        if (!code && end.kind == GIVES && ids_keymap_add(&given, end.key, end.event) < 0) code = ids_no_memory(err);
    }
    for (uint64_t at = 0; at < length && !code; at += sizeof end) {
        uint64_t from;
        code = read_end(ends, at, &end, err);
        if (code || end.kind == GIVES || !ids_keymap_get(&given, end.key, &from)) continue;
        const struct flow flow = {end.event, end.kind, from};
        size_t part = (size_t)(end.event - (uint64_t)first_event) * PARTS / (size_t)(last_event - first_event + 1);
        code = append(&flows->flows[part], &flow, sizeof flow, err);
    }
    ids_keymap_done(&given);
    return code;
}

static int write_sorted(struct ids_row_pages *pages, const struct flow *flows, size_t count, struct ids_error *err) {
    static const char *const words[] = {"arrow", "correlation", "link"};
    int code = 0;
    for (size_t i = 0; i < count && !code; i++) {
        if (i && !flow_before(&flows[i - 1], &flows[i])) continue; /* twice the same */
        const int64_t values[] = {(int64_t)flows[i].to, (int64_t)(uintptr_t)words[flows[i].kind],
                                  (int64_t)flows[i].from};
        code = ids_row_pages_put_keyed(pages, &(struct ids_row_values){values, 3, 0, 1u << 1}, err);
    }
    return code;
}

static int write_part(struct ids_row_pages *pages, const struct ids_spill *part, struct ids_error *err) {
    size_t bytes = (size_t)ids_spill_length(part);
    struct flow *flows = malloc(bytes), *spare = malloc(bytes);
    int code = flows && spare ? ids_spill_copy(part, 0, bytes, flows, err) : ids_no_memory(err);
    if (!code) {
        merge_flows(&flows, &spare, bytes / sizeof *flows);
        code = write_sorted(pages, flows, bytes / sizeof *flows, err);
    }
    free(flows);
    free(spare);
    return code;
}

int ids_event_flows_write(struct ids_event_flows *flows, struct ids_row_pages *pages, int64_t first_event,
                          int64_t last_event, struct ids_error *err) {
    int code = 0;
    for (int i = 0; i < PARTS && !code; i++) {
        if (flows->ends[i]) code = join_part(flows, flows->ends[i], first_event, last_event, err);
        ids_spill_free(flows->ends[i]);
        flows->ends[i] = NULL;
    }
    for (int i = 0; i < PARTS && !code; i++) {
        if (flows->flows[i]) code = write_part(pages, flows->flows[i], err);
        ids_spill_free(flows->flows[i]);
        flows->flows[i] = NULL;
    }
    return code;
}
