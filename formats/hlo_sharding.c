#include "formats/hlo_sharding.h"

#include "formats/hlo_tag.h"

#include <stdio.h>
#include <string.h>

struct sharding {
    uint64_t type;
    int replicates_last;
    char dimensions[64]; /* "8,1" */
};

static void add_dimension(struct sharding *sharding, uint64_t size) {
    size_t used = strlen(sharding->dimensions);
    snprintf(sharding->dimensions + used, sizeof sharding->dimensions - used, "%s%llu", used ? "," : "",
             (unsigned long long)size);
}

static struct sharding read_sharding(struct ids_pb bytes) {
    struct sharding sharding = {.type = HLO_SHARDING_REPLICATED};
    struct ids_pb_field field;
    while (ids_pb_next(&bytes, &field) > 0) {
        uint64_t size;
        struct ids_pb list;
        switch (ids_hlo_tag_of(&field)) {
        case IDS_HLO_TAG(HLO_SHARDING_TYPE, VARINT):
            sharding.type = field.value;
            break;
        case IDS_HLO_TAG(HLO_SHARDING_DIMENSIONS, VARINT):
            add_dimension(&sharding, field.value);
            break;
        case IDS_HLO_TAG(HLO_SHARDING_DIMENSIONS, BYTES):
            list = ids_pb_inside(&field);
            while (list.at < list.end && ids_pb_varint(&list, &size) == 1) add_dimension(&sharding, size);
            break;
        case IDS_HLO_TAG(HLO_SHARDING_REPLICATE_LAST, VARINT):
        case IDS_HLO_TAG(HLO_SHARDING_LAST_DIMS, BYTES):
            sharding.replicates_last = field.value != 0;
            break;
        default:
            break;
        }
    }
    return sharding;
}

void ids_hlo_sharding_text(struct ids_text sharding, char text[IDS_HLO_SHARDING_TEXT]) {
    struct ids_pb bytes = {(const uint8_t *)sharding.at, (const uint8_t *)sharding.at + sharding.length};
    struct sharding spread = read_sharding(bytes);
    text[0] = '\0';
    if (spread.type == HLO_SHARDING_REPLICATED) snprintf(text, IDS_HLO_SHARDING_TEXT, "replicated");
    if (spread.type == HLO_SHARDING_MAXIMAL) snprintf(text, IDS_HLO_SHARDING_TEXT, "maximal");
    if (spread.type == HLO_SHARDING_OTHER)
        snprintf(text, IDS_HLO_SHARDING_TEXT, spread.replicates_last ? "devices=[%s] replicate_last" : "devices=[%s]",
                 spread.dimensions);
}
