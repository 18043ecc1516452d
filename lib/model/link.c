#include "lib/model/link.h"

#include "lib/base/keymap.h"
#include "lib/model/keys.h"

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

uint64_t ids_link_execution(uint64_t run, int64_t ordinal) {
    return ids_key_of(run, (uint64_t)ordinal);
}

uint64_t ids_link_arrow(const struct ids_strings *strings, uint64_t host, const struct ids_arg *id) {
    struct ids_text text = {"", 0};
    if (id->type == IDS_VALUE_TEXT) text = ids_strings_text(strings, id->text);
    if (id->type == IDS_VALUE_CHARS || id->type == IDS_VALUE_BYTES) text = (struct ids_text){id->chars, id->length};
    return ids_link_key(IDS_LINK_ARROW, host, 0, text.length ? ids_hash_bytes(text.at, text.length) : id->u);
}
