#include "lib/io/head.h"

#include <stdlib.h>

enum { STEP = 16 };

int ids_head_read(struct ids_head *head, struct ids_source *source, struct ids_error *err) {
    size_t room = head->room ? head->room * STEP : IDS_HEAD_BYTES;
    if (room > IDS_HEAD_MOST_BYTES) room = IDS_HEAD_MOST_BYTES;
    uint8_t *bytes = realloc(head->bytes, room);
    if (!bytes) return ids_no_memory(err);
    head->bytes = bytes;
    head->room = room;
    return ids_source_head(source, head->bytes, room, &head->length, err);
}

int ids_head_has_more(const struct ids_head *head) {
    return head->length == head->room && head->room < IDS_HEAD_MOST_BYTES;
}

void ids_head_done(struct ids_head *head) {
    free(head->bytes);
    *head = (struct ids_head){0};
}
