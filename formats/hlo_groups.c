#include "formats/hlo_groups.h"

#include "formats/hlo_tag.h"
#include "formats/proto/hlo.pb-c.h"
#include "lib/base/error.h"
#include "lib/base/memory.h"

#include <stdlib.h>

enum {
    MAX_MESSAGE_BYTES = 4 << 20, /* a list of 1,000,000 devices */
    MAX_POOL_BYTES = 64 << 20,   /* what protobuf-c may use for one message */
    FIRST_POOL_BYTES = 16 << 10,
};

static void *pool_alloc(void *data, size_t bytes) {
    struct ids_hlo_pool *pool = data;
    size_t rounded = (bytes + 15) & ~(size_t)15;
    if (rounded < bytes || rounded > pool->size - pool->used) {
        pool->full = 1;
        return NULL;
    }
    void *piece = pool->block + pool->used;
    pool->used += rounded;
    return piece;
}

static void pool_free(void *data, void *piece) {
    (void)data;
    (void)piece;
}

/* The unpacked message, valid until the pool's next one. NULL when it is malformed or needs more memory than it may
 * have, or when memory ran out (`starved`). */
static void *unpack(struct ids_hlo_pool *pool, const ProtobufCMessageDescriptor *descriptor,
                    const struct ids_pb_field *field) {
    ProtobufCAllocator allocator = {pool_alloc, pool_free, pool};
    if (field->value > MAX_MESSAGE_BYTES) return NULL;
    for (;;) {
        pool->used = 0;
        pool->full = 0;
        void *message = protobuf_c_message_unpack(descriptor, &allocator, (size_t)field->value, field->bytes);
        if (message || !pool->full || pool->size >= MAX_POOL_BYTES) return message;
        size_t size = pool->size ? pool->size * 4 : FIRST_POOL_BYTES;
        uint8_t *block = realloc(pool->block, size);
        if (!block) {
            ids_memory_refused();
            pool->starved = 1;
            return NULL;
        }
        pool->block = block;
        pool->size = size;
    }
}

void ids_hlo_groups_done(struct ids_hlo_groups *groups) {
    free(groups->pool.block);
    free(groups->text.at);
    *groups = (struct ids_hlo_groups){0};
}

/* Newer programs write the list beside the old groups, with the same content. */
static int read_device_list(struct ids_hlo_groups *groups, const struct ids_pb_field *field) {
    const Ids__CollectiveDeviceList *list = unpack(&groups->pool, &ids__collective_device_list__descriptor, field);
    if (!list) return 0;
    groups->text.length = 0;
    const Ids__IotaReplicaGroupList *iota = list->iota_replica_group_list;
    if (iota) {
        ids_group_text_set_iota(&groups->text, iota->num_replica_groups, iota->num_devices_per_group,
                                iota->iota_reshape_dims, iota->n_iota_reshape_dims, iota->iota_transpose_perm,
                                iota->n_iota_transpose_perm);
        return 1;
    }
    for (size_t i = 0; i < list->n_replica_groups; i++)
        ids_group_text_add(&groups->text, list->replica_groups[i]->replica_ids, list->replica_groups[i]->n_replica_ids);
    return 1;
}

static int read_group(struct ids_hlo_groups *groups, const struct ids_pb_field *field) {
    const Ids__ReplicaGroup *group = unpack(&groups->pool, &ids__replica_group__descriptor, field);
    if (group) ids_group_text_add(&groups->text, group->replica_ids, group->n_replica_ids);
    return group != NULL;
}

static int read_source_target(struct ids_hlo_groups *groups, const struct ids_pb_field *field) {
    const Ids__SourceTarget *pair = unpack(&groups->pool, &ids__source_target__descriptor, field);
    if (pair) ids_group_text_add(&groups->text, (const int64_t[]){pair->source, pair->target}, 2);
    return pair != NULL;
}

int ids_hlo_groups_read(struct ids_hlo_groups *groups, const struct ids_pb_field *field) {
    int whole;
    if (!groups->text.at && !(groups->text.at = malloc(IDS_GROUP_TEXT_BYTES))) {
        ids_memory_refused();
        return IDS_NOMEM;
    }
    switch (ids_hlo_tag_of(field)) {
    case IDS_HLO_TAG(HLO_INSTRUCTION_GROUP, BYTES):
        whole = read_group(groups, field);
        break;
    case IDS_HLO_TAG(HLO_INSTRUCTION_SOURCE_TARGET, BYTES):
        whole = read_source_target(groups, field);
        break;
    default:
        whole = read_device_list(groups, field);
        break;
    }
    if (groups->pool.starved) return IDS_NOMEM;
    return whole ? 0 : IDS_CORRUPT;
}
