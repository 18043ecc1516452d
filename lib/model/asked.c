#include "lib/model/asked.h"

#include "lib/base/vec.h"

int ids_asked_note(struct ids_asked *asked, const struct ids_asked_one *one, struct ids_error *err) {
    if (!asked) return 0;
    struct ids_asked_one *noted = IDS_PUSH(asked->at, asked->count, asked->room);
    if (!noted) return ids_no_memory(err);
    *noted = *one;
    return 0;
}

int ids_asked_in_order(const struct ids_asked *asked, struct ids_error *err) {
    return asked ? ids_fail(err, IDS_UNSUPPORTED, "what it is depends on what was read before") : 0;
}
