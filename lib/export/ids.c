#include "lib/export/ids.h"

int32_t ids_thread_id(struct ids_thread_ids *ids, uint64_t scope, int64_t wanted) {
    if (!ids->fresh) ids->fresh = IDS_FRESH_FIRST;
    if (wanted >= 0 && wanted <= INT32_MAX) {
        int added = ids_keymap_add(&ids->taken, ids_key_of(scope, (uint64_t)wanted), 1);
        if (added < 0) return -1;
        if (added) return (int32_t)wanted;
    }
    for (;;) {
        if (ids->fresh == INT32_MAX) return -1;
        int32_t id = ids->fresh++;
        int added = ids_keymap_add(&ids->taken, ids_key_of(scope, (uint64_t)id), 1);
        if (added < 0) return -1;
        if (added) return id;
    }
}

void ids_thread_ids_done(struct ids_thread_ids *ids) {
    ids_keymap_done(&ids->taken);
}
