#include "formats/hlo_loop.h"

#include <cjson/cJSON.h>
#include <math.h>

enum { MAX_CONFIG_BYTES = 1 << 20 };
#define MOST_EXACT 9007199254740992.0 /* 2^53: up to there a double is exact */

/* A 64-bit number as protobuf's JSON writes it: digits in a string; XLA wrote plain numbers before. 0 where it is left
 * out, as proto3 does. Returns 0 when it is something else. */
static int read_number(const cJSON *object, const char *name, int64_t *ret_number) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    *ret_number = 0;
    if (!item) return 1;
    if (cJSON_IsNumber(item)) {
        if (!(fabs(item->valuedouble) <= MOST_EXACT)) return 0; /* nor is NaN */
        *ret_number = (int64_t)item->valuedouble;
        return 1;
    }
    const char *digits = cJSON_GetStringValue(item);
    if (!digits) return 0;
    int negative = *digits == '-';
    digits += negative;
    if (!*digits) return 0;
    for (; *digits >= '0' && *digits <= '9'; digits++) {
        if (__builtin_mul_overflow(*ret_number, 10, ret_number) ||
            __builtin_add_overflow(*ret_number, *digits - '0', ret_number))
            return 0;
    }
    if (negative) *ret_number = -*ret_number;
    return !*digits;
}

static int read_known(const cJSON *config, struct ids_hlo_loop *loop) {
    const cJSON *count = cJSON_GetObjectItemCaseSensitive(config, "known_trip_count");
    const cJSON *variable = cJSON_GetObjectItemCaseSensitive(config, "known_induction_variable");
    const cJSON *start = cJSON_GetObjectItemCaseSensitive(config, "known_init_step");
    int64_t number, step;
    int known = 0;
    if (cJSON_IsObject(count) && read_number(count, "n", &number) && number >= 0) {
        loop->trip_count = number;
        known = 1;
    }
    if (cJSON_IsObject(variable) && read_number(variable, "tuple_index", &number) && number >= 0) {
        loop->induction_variable = number;
        known = 1;
    }
    if (cJSON_IsObject(start) && read_number(start, "init", &number) && read_number(start, "step", &step) && step) {
        loop->init = number;
        loop->step = step;
        known = 1;
    }
    return known;
}

int ids_hlo_loop_read(struct ids_text config, struct ids_hlo_loop *ret_loop) {
    *ret_loop = (struct ids_hlo_loop){.trip_count = -1, .induction_variable = -1};
    if (!config.length || config.length > MAX_CONFIG_BYTES) return 0;
    cJSON *json = cJSON_ParseWithLength(config.at, config.length);
    int known = cJSON_IsObject(json) && read_known(json, ret_loop);
    cJSON_Delete(json);
    return known;
}
