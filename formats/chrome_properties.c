#include "formats/chrome_properties.h"

#include "formats/chrome_written.h"

#include "lib/base/decimal.h"
#include "lib/base/vec.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

/* Small objects that a library may make a tree of; its nodes take 64 bytes for as little as two. */
enum { TREE_BYTES = 1 << 20 };

static const char devices_key[] = "deviceProperties", distributed_key[] = "distributedInfo",
                  clock_key[] = "baseTimeNanoseconds", written_key[] = "otherData";

static int is(const struct ids_json_span *key, const char *name) {
    return strlen(name) == key->length && !memcmp(key->at, name, key->length);
}

int ids_chrome_property_wanted(const struct ids_json_span *key) {
    return is(key, devices_key) || is(key, distributed_key) || is(key, clock_key) || is(key, written_key);
}

/* -1 where it is absent or no number that an int64 holds. */
static int64_t number_of(const cJSON *object, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble < 9e18 ? (int64_t)value->valuedouble
                                                                                         : -1;
}

static int read_devices(struct ids_chrome_places *places, const cJSON *list, struct ids_error *err) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        if (!cJSON_IsObject(item)) continue;
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "name");
        struct ids_chrome_device device = {
            .id = number_of(item, "id"),
            .memory_bytes = number_of(item, "totalGlobalMem"),
            .cores = number_of(item, "numSms"),
            .capability_major = number_of(item, "computeMajor"),
            .capability_minor = number_of(item, "computeMinor"),
        };
        if (cJSON_IsString(name)) device.name = ids_intern_z(places->sink->strings, name->valuestring);
        /* AMD's threads run by 64, NVIDIA's by 32. */
        if (!device.name && number_of(item, "warpSize") == 64)
            device.vendor = ids_intern_z(places->sink->strings, "AMD");
        struct ids_chrome_device *added = IDS_PUSH(places->devices, places->device_count, places->device_room);
        if (!added || device.name == IDS_NO_TEXT || device.vendor == IDS_NO_TEXT) return ids_no_memory(err);
        *added = device;
        if (device.id >= 0 &&
            ids_keymap_add(&places->device_map, ids_key_of((uint64_t)device.id, 0), places->device_count - 1) < 0)
            return ids_no_memory(err);
    }
    return 0;
}

int ids_chrome_property(struct ids_chrome_places *places, const struct ids_json_span *key,
                        const struct ids_json_span *value, struct ids_chrome_properties *properties,
                        struct ids_error *err) {
    if (is(key, clock_key)) {
        properties->has_base_time = ids_chrome_integer(value, &properties->base_time_ns);
        return 0;
    }
    if (is(key, written_key)) return ids_chrome_written(places, value, &properties->host, err);
    errno = 0;
    cJSON *tree = value->length <= TREE_BYTES ? cJSON_ParseWithLength(value->at, value->length) : NULL;
    if (!tree && errno == ENOMEM) return ids_no_memory(err); /* cJSON itself does not tell it from bad JSON */
    if (!tree) {
        properties->unread++;
        return 0;
    }
    int code = 0;
    if (is(key, distributed_key)) {
        properties->rank = number_of(tree, "rank");
        properties->ranks = number_of(tree, "world_size");
    } else if (!places->device_count) {
        code = read_devices(places, tree, err);
    }
    cJSON_Delete(tree);
    return code;
}
