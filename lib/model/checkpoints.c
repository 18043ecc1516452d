#include "lib/model/checkpoints.h"

#include <stdlib.h>
#include <string.h>

static int is_named(struct ids_text text, const char *name) {
    return text.length == strlen(name) && !memcmp(text.at, name, text.length);
}

static struct ids_text behind(struct ids_text text, size_t length) {
    return (struct ids_text){text.at + length, (uint32_t)(text.length - length)};
}

enum ids_checkpoint_frame ids_checkpoint_frame_of(struct ids_text frame) {
    static const char file[] = IDS_CHECKPOINT_FILE "(", before_function[] = "): ";
    const char *at = frame.length ? memmem(frame.at, frame.length, file, sizeof file - 1) : NULL;
    if (!at || (at != frame.at && at[-1] != '/')) return IDS_CHECKPOINT_NONE;
    struct ids_text rest = behind(frame, (size_t)(at - frame.at));
    at = memmem(rest.at, rest.length, before_function, sizeof before_function - 1);
    if (!at) return IDS_CHECKPOINT_NONE;
    rest = behind(rest, (size_t)(at - rest.at) + sizeof before_function - 1);
    if (is_named(rest, "checkpoint")) return IDS_CHECKPOINT_CALL;
    /* With use_reentrant "backward"; without it "unpack" before PyTorch 2.1. */
    int is_again = is_named(rest, "recompute_fn") || is_named(rest, "unpack") || is_named(rest, "backward");
    return is_again ? IDS_CHECKPOINT_AGAIN : IDS_CHECKPOINT_NONE;
}

int ids_checkpoint_is_function(struct ids_text op) {
    return is_named(op, "CheckpointFunction");
}

int ids_checkpoint_is_node(struct ids_text node) {
    return is_named(node, "CheckpointFunctionBackward");
}

/* Where `part` is one of the path's parts: the length of what is before it, without the slash; -1 it is none. */
static int64_t length_before(struct ids_text path, struct ids_text part) {
    for (size_t from = 0; from < path.length;) {
        const char *slash = memchr(path.at + from, '/', path.length - from);
        size_t end = slash ? (size_t)(slash - path.at) : path.length;
        if (end - from == part.length && !memcmp(path.at + from, part.at, part.length))
            return from ? (int64_t)from - 1 : 0;
        from = end + 1;
    }
    return -1;
}

int ids_checkpoint_scope(struct ids_strings *strings, uint32_t around, uint32_t inside, int is_sure,
                         uint32_t *ret_scope) {
    struct ids_text outer = ids_strings_text(strings, around), inner = ids_strings_text(strings, inside), first = inner;
    *ret_scope = inside ? inside : is_sure ? around : 0;
    if (!outer.length || !inner.length) return 0;
    const char *slash = memchr(inner.at, '/', inner.length);
    if (slash) first.length = (uint32_t)(slash - inner.at);
    int64_t length = length_before(outer, first);
    if (length < 0 && is_sure) length = outer.length;
    if (length <= 0) return 0;
    char *path = malloc((size_t)length + 1 + inner.length);
    if (!path) return -1;
    memcpy(path, outer.at, (size_t)length);
    path[length] = '/';
    memcpy(path + length + 1, inner.at, inner.length);
    *ret_scope = ids_intern(strings, path, (size_t)length + 1 + inner.length);
    free(path);
    return *ret_scope == IDS_NO_TEXT ? -1 : 0;
}
