/* link.h - which event caused which. Two events belong together when files give both the same id; here the ids become
 * keys, for the trace (join.c, calls.c) and for the table flow (lib/events) alike. */
#ifndef IDS_LIB_MODEL_LINK_H
#define IDS_LIB_MODEL_LINK_H

#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/model/sink.h"

/* What an id is an id of. Their order is that of the words of table flow. */
enum ids_link {
    IDS_LINK_ARROW,       /* both ends of a flow of a Chrome trace */
    IDS_LINK_CORRELATION, /* a call on the host, and what it runs on a device */
    IDS_LINK_TYPED,       /* what XLA hands from a producer to a consumer */
    IDS_LINK_RUN,         /* an execution of a program, wherever it runs */
    IDS_LINK_FRAME,       /* a Python frame, and those that it calls */
    IDS_LINK_SEQUENCE,    /* an op, and what runs it backward */
    IDS_LINK_EXTERNAL,    /* an op, and the work that it launched */
};

/* What is added to a key when its host gets a number that is greater by `hosts`, and the key with that. */
static inline uint64_t ids_link_of_hosts(uint64_t hosts) {
    return hosts * 0xd6e8feb86659fd93u; /* an odd number, so that hosts of any number differ */
}
static inline uint64_t ids_link_moved(uint64_t key, uint64_t by) {
    return !key ? 0 : key + by ? key + by : 1;
}
/* Never 0. Ids are numbers of a host; those of IDS_LINK_TYPED also of a type. */
static inline uint64_t ids_link_key(enum ids_link link, uint64_t host, uint32_t type, uint64_t id) {
    return ids_link_moved(ids_key_of((uint64_t)link << 32 | type, id), ids_link_of_hosts(host));
}

/* The stats that hold ids of links between any two events. */
enum ids_link_stat {
    IDS_LINK_RUN_ID,
    IDS_LINK_PRODUCER,
    IDS_LINK_CONSUMER,
    IDS_LINK_CORRELATION_ID,
    IDS_LINK_STATS,
};
/* -1 for a key of another stat. */
int ids_link_stat_of(uint32_t key);

/* What the stats of one event say. */
struct ids_link_ids {
    int64_t id[IDS_LINK_STATS];
    uint32_t producer_type, consumer_type;
    uint8_t has; /* a bit for each enum ids_link_stat */
};
static inline int ids_link_has(const struct ids_link_ids *ids, enum ids_link_stat stat) {
    return ids->has >> stat & 1;
}
static inline void ids_link_set(struct ids_link_ids *ids, enum ids_link_stat stat, int64_t id) {
    ids->id[stat] = id;
    ids->has |= (uint8_t)(1u << stat);
}
/* Keeps the type of a producer or consumer where the stat is one. */
void ids_link_take_type(struct ids_link_ids *ids, const struct ids_arg *arg);

/* Keys of what the event gives to others and what it takes; 0 none. A correlation id is given by a host's event and
 * taken by a device's. */
static inline uint64_t ids_link_given(const struct ids_link_ids *ids, uint64_t host) {
    if (!ids_link_has(ids, IDS_LINK_PRODUCER)) return 0;
    return ids_link_key(IDS_LINK_TYPED, host, ids->producer_type, (uint64_t)ids->id[IDS_LINK_PRODUCER]);
}
static inline uint64_t ids_link_taken(const struct ids_link_ids *ids, uint64_t host) {
    if (!ids_link_has(ids, IDS_LINK_CONSUMER)) return 0;
    return ids_link_key(IDS_LINK_TYPED, host, ids->consumer_type, (uint64_t)ids->id[IDS_LINK_CONSUMER]);
}
static inline uint64_t ids_link_correlation(const struct ids_link_ids *ids, uint64_t host) {
    const uint64_t id = (uint64_t)ids->id[IDS_LINK_CORRELATION_ID]; /* CUPTI gives 0 to what no call launched */
    return id ? ids_link_key(IDS_LINK_CORRELATION, host, 0, id) : 0;
}
static inline uint64_t ids_link_run(const struct ids_link_ids *ids, uint64_t host) {
    if (!ids_link_has(ids, IDS_LINK_RUN_ID)) return 0;
    return ids_link_key(IDS_LINK_RUN, host, 0, (uint64_t)ids->id[IDS_LINK_RUN_ID]);
}
/* The run on one device. */
uint64_t ids_link_execution(uint64_t run, int64_t ordinal);
/* `id`: the stat IDS_KEY_ARROW_ID, a number or a text. */
uint64_t ids_link_arrow(const struct ids_strings *strings, uint64_t host, const struct ids_arg *id);

#endif
