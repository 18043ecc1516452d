#include "lib/model/link.h"

#include "lib/base/keymap.h"
#include "lib/model/keys.h"

uint64_t ids_link_key(enum ids_link link, uint64_t host, uint32_t type, uint64_t id) {
    return ids_link_moved(ids_key_of((uint64_t)link << 32 | type, id), ids_link_of_hosts(host));
}

/* An odd number, so that hosts of any number differ. */
uint64_t ids_link_of_hosts(uint64_t hosts) {
    return hosts * 0xd6e8feb86659fd93u;
}

int ids_link_stat_of(uint32_t key) {
    switch (key) {
    case IDS_KEY_RUN_ID:
        return IDS_LINK_RUN_ID;
    case IDS_KEY_PRODUCER_ID:
        return IDS_LINK_PRODUCER;
    case IDS_KEY_CONSUMER_ID:
        return IDS_LINK_CONSUMER;
    case IDS_KEY_CORRELATION_ID:
    case IDS_KEY_CORRELATION:
        return IDS_LINK_CORRELATION_ID;
    default:
        return -1;
    }
}

void ids_link_take_type(struct ids_link_ids *ids, const struct ids_arg *arg) {
    if (arg->key == IDS_KEY_PRODUCER_TYPE) ids->producer_type = (uint32_t)arg->u;
    if (arg->key == IDS_KEY_CONSUMER_TYPE) ids->consumer_type = (uint32_t)arg->u;
}

static uint64_t id_of(const struct ids_link_ids *ids, enum ids_link_stat stat) {
    return (uint64_t)ids->id[stat];
}

uint64_t ids_link_given(const struct ids_link_ids *ids, uint64_t host) {
    if (!ids_link_has(ids, IDS_LINK_PRODUCER)) return 0;
    return ids_link_key(IDS_LINK_TYPED, host, ids->producer_type, id_of(ids, IDS_LINK_PRODUCER));
}

uint64_t ids_link_taken(const struct ids_link_ids *ids, uint64_t host) {
    if (!ids_link_has(ids, IDS_LINK_CONSUMER)) return 0;
    return ids_link_key(IDS_LINK_TYPED, host, ids->consumer_type, id_of(ids, IDS_LINK_CONSUMER));
}

/* CUPTI gives correlation id 0 to what no call launched. */
uint64_t ids_link_correlation(const struct ids_link_ids *ids, uint64_t host) {
    const uint64_t id = id_of(ids, IDS_LINK_CORRELATION_ID);
    return id ? ids_link_key(IDS_LINK_CORRELATION, host, 0, id) : 0;
}

uint64_t ids_link_run(const struct ids_link_ids *ids, uint64_t host) {
    if (!ids_link_has(ids, IDS_LINK_RUN_ID)) return 0;
    return ids_link_key(IDS_LINK_RUN, host, 0, id_of(ids, IDS_LINK_RUN_ID));
}

uint64_t ids_link_execution(uint64_t run, int64_t ordinal) {
    return ids_key_of(run, (uint64_t)ordinal);
}

uint64_t ids_link_arrow(const struct ids_strings *strings, uint64_t host, const struct ids_arg *id) {
    struct ids_text text = {"", 0};
    if (id->type == IDS_VALUE_TEXT) text = ids_strings_text(strings, id->text);
    if (id->type == IDS_VALUE_CHARS || id->type == IDS_VALUE_BYTES) text = (struct ids_text){id->chars, id->length};
    return ids_link_key(IDS_LINK_ARROW, host, 0, text.length ? ids_hash_bytes(text.at, text.length) : id->u);
}
