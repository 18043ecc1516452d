/* cupti.h - finds and loads the CUPTI of this process, and looks its functions up by name.
 *
 * A copy that the program has loaded is used, because two copies disturb each other. Otherwise it is searched beside
 * the CUDA libraries of the program, on the loader's path, and in the toolkit. It is never closed, and cuptiFinalize is
 * never called: both crash programs (jax-ml/jax issue 40260). Loading takes milliseconds, so it happens at a window's
 * start, not at the program's.
 */
#ifndef IDS_COLLECTORS_CUDA_CUPTI_H
#define IDS_COLLECTORS_CUDA_CUPTI_H

#include "collectors/cuda/cupti_abi.h"

/* IDS_CUPTI_FUNCTION(member, symbol, arguments), all of them with a result of CUPTI. NEEDED: without it there is no
 * capture. */
#define IDS_CUPTI_NEEDED(X)                                                                              \
    X(unsubscribe, "cuptiUnsubscribe", (ids_cupti_handle))                                               \
    X(register_callbacks, "cuptiActivityRegisterCallbacks", (ids_cupti_request *, ids_cupti_complete *)) \
    X(enable, "cuptiActivityEnable", (uint32_t kind))                                                    \
    X(disable, "cuptiActivityDisable", (uint32_t kind))                                                  \
    X(flush, "cuptiActivityFlushAll", (uint32_t flag))                                                   \
    X(next, "cuptiActivityGetNextRecord", (uint8_t * buffer, size_t valid, struct ids_cupti_record **))
#define IDS_CUPTI_OPTIONAL(X)                                                                          \
    X(subscribe, "cuptiSubscribe", (ids_cupti_handle *, ids_cupti_callback *, void *user))             \
    X(subscribe_v2, "cuptiSubscribe_v2",                                                               \
      (ids_cupti_handle *, ids_cupti_callback *, void *user, struct ids_cupti_subscriber *))           \
    X(register_callbacks_v2, "cuptiActivityRegisterCallbacks_v2",                                      \
      (ids_cupti_handle, ids_cupti_request_v2 *, ids_cupti_complete_v2 *))                             \
    X(enable_v2, "cuptiActivityEnable_v2", (ids_cupti_handle, uint32_t kind, void *config))            \
    X(disable_v2, "cuptiActivityDisable_v2", (ids_cupti_handle, uint32_t kind, void *config))          \
    X(next_v2, "cuptiActivityGetNextRecord_v2",                                                        \
      (ids_cupti_handle, uint8_t * buffer, size_t valid, struct ids_cupti_record **))                  \
    X(dropped_v2, "cuptiActivityGetNumDroppedRecords_v2",                                              \
      (ids_cupti_handle, void *context, uint32_t stream, size_t *dropped))                             \
    X(timestamp_v2, "cuptiGetTimestamp_v2", (ids_cupti_handle, uint64_t *))                            \
    X(dropped, "cuptiActivityGetNumDroppedRecords", (void *context, uint32_t stream, size_t *dropped)) \
    X(timestamp, "cuptiGetTimestamp", (uint64_t *))                                                    \
    X(version, "cuptiGetVersion", (uint32_t *))                                                        \
    X(result_text, "cuptiGetResultString", (int result, const char **text))                            \
    X(function_name, "cuptiGetCallbackName", (uint32_t domain, uint32_t function, const char **name))

struct ids_cupti {
    void *library;
    char path[512];  /* "libcupti.so.13", where it was loaded already */
    uint32_t number; /* as cuptiGetVersion says, 0: it does not */
#define IDS_CUPTI_MEMBER(member, symbol, arguments) ids_cupti_result(*member) arguments;
    IDS_CUPTI_NEEDED(IDS_CUPTI_MEMBER)
    IDS_CUPTI_OPTIONAL(IDS_CUPTI_MEMBER)
#undef IDS_CUPTI_MEMBER
};

/* Finds and loads it. driver: what cuDriverGetVersion says (12080), 0: not known; a CUPTI newer than the driver is not
 * tried. 0, or -1 with the reason and what would help in `why`. */
int ids_cupti_load(struct ids_cupti *cupti, int driver, char *why, size_t why_size);

/* Whether subscribers of their own kind can be beside each other: all of the functions for that are there. */
int ids_cupti_has_several(const struct ids_cupti *cupti);

/* What a result means, in CUPTI's words or ours; never NULL. It may lie in `buffer`. */
const char *ids_cupti_text(const struct ids_cupti *cupti, int result, char *buffer, size_t size);

#endif
