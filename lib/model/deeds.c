#include "lib/model/deeds.h"

#include "lib/base/vec.h"
#include "lib/model/python_frame.h"

#include <stdlib.h>
#include <string.h>

static struct ids_text text_of(const struct ids_trace *trace, uint32_t name) {
    return ids_strings_text(&trace->strings, trace->names[name].text);
}

static enum ids_frame_owner owner_of(struct ids_trace *trace, uint32_t name) {
    struct ids_name *known = &trace->names[name];
    if (!known->frame) known->frame = (uint8_t)ids_python_frame_owner(text_of(trace, name));
    return (enum ids_frame_owner)known->frame;
}

/* A Python frame: the program's own is what its thread does, and calls what lies inside; a library's is a detail of what called it. */
static int frame_inside(struct ids_trace *trace, struct ids_deed around, uint32_t name, struct ids_deed *ret_deed) {
    enum ids_frame_owner owner = owner_of(trace, name);
    int of_library = owner == IDS_FRAME_OF_LIBRARY || (owner == IDS_FRAME_OF_EITHER && around.library);
    struct ids_deed deed = around;
    deed.library = (uint8_t)of_library;
    if (!of_library) deed.caller = name;
    int shows = around.account == IDS_NO_ACCOUNT ||
                (!of_library && !ids_account_holds((enum ids_account)around.account, IDS_HOST_PYTHON));
    if (shows) {
        deed.account = IDS_HOST_PYTHON;
        deed.name = deed.around = name;
    }
    *ret_deed = deed;
    return deed.account != around.account || deed.name != around.name || deed.caller != around.caller;
}

/* A part of a step that launches its work is the program itself: what lies inside tells more, and what nothing inside tells of is not
 * known. */
static int is_part_of_step(struct ids_text name, const struct ids_event *event) {
    static const char *const words[] = {"step",  "train", "iter",   "forward", "backward",
                                        "epoch", "optim", "update", "model",   "grad"};
    if (!event || !event->launches) return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (ids_text_contains(name, words[i])) return 1;
    }
    return 0;
}

/* What PyTorch itself marks as a program does: "DistributedDataParallel.forward", "Optimizer.step#SGD.step". */
static int is_of_framework(struct ids_text name) {
    const char *point = memchr(name.at, '.', name.length);
    return point && name.at[0] >= 'A' && name.at[0] <= 'Z' && point + 1 < name.at + name.length && point[1] != ' ';
}

/* What an annotation's words say of it holds where the program launches no work in it. */
static enum ids_account account_of(const struct ids_trace *trace, uint32_t name, const struct ids_event *event) {
    enum ids_kind kind = event ? (enum ids_kind)event->kind : (enum ids_kind)trace->names[name].kind;
    struct ids_text text = text_of(trace, name);
    enum ids_account account = ids_account_of_host_event(kind, text, trace->names[name].of_framework);
    if (account == IDS_HOST_DISPATCH && event && event->compiles && kind == IDS_KIND_DISPATCH) return IDS_HOST_COMPILE;
    if (account == IDS_HOST_INPUT && event && event->launches && !ids_is_reader(text)) account = IDS_HOST_REGION;
    if (account == IDS_HOST_REGION && is_of_framework(text)) return IDS_HOST_DISPATCH;
    return account == IDS_HOST_REGION && is_part_of_step(text, event) ? IDS_NO_ACCOUNT : account;
}

int ids_deed_inside(struct ids_trace *trace, struct ids_deed around, uint32_t name, const struct ids_event *event,
                    struct ids_deed *ret_deed) {
    enum ids_account account = account_of(trace, name, event);
    *ret_deed = around;
    if (account == IDS_NO_ACCOUNT) return 0;
    if (account == IDS_HOST_PYTHON) return frame_inside(trace, around, name, ret_deed);
    if (ids_account_holds((enum ids_account)around.account, account)) return 0;
    ret_deed->account = (uint8_t)account;
    ret_deed->name = name;
    ret_deed->around = around.account == account || (account == IDS_HOST_COMPILE && around.account == IDS_HOST_DISPATCH)
                           ? around.around
                           : name;
    ret_deed->library = 0;
    return 1;
}

static int64_t number_of(struct ids_trace *trace, const struct ids_deed *deed) {
    uint64_t key = ids_key_of(ids_key_of((uint64_t)deed->name << 32 | deed->around, deed->caller), deed->account);
    uint64_t *number = ids_keymap_at(&trace->deed_numbers, key);
    if (!number) return -1;
    if (*number) return (int64_t)*number - 1;
    struct ids_deed *fresh = IDS_PUSH(trace->deeds, trace->deed_count, trace->deed_room);
    if (!fresh) return -1;
    *fresh = *deed;
    *number = trace->deed_count;
    return (int64_t)trace->deed_count - 1;
}

static int grow(struct ids_strand *strand) {
    size_t room = strand->room ? strand->room * 2 : 64;
    int64_t *from_ps = realloc(strand->from_ps, room * sizeof *from_ps);
    if (from_ps) strand->from_ps = from_ps;
    uint32_t *deed = from_ps ? realloc(strand->deed, room * sizeof *deed) : NULL;
    if (!deed) return -1;
    strand->deed = deed;
    strand->room = room;
    return 0;
}

int ids_strand_turn(struct ids_trace *trace, struct ids_track *track, int64_t when_ps, const struct ids_deed *deed) {
    struct ids_strand *strand = &track->strand;
    int64_t number = number_of(trace, deed);
    if (number < 0) return -1;
    while (strand->count && strand->from_ps[strand->count - 1] >= when_ps) strand->count--;
    if (strand->count ? strand->deed[strand->count - 1] == (uint32_t)number : deed->account == IDS_NO_ACCOUNT)
        return 0;
    if (strand->count == strand->room && grow(strand)) return -1;
    strand->from_ps[strand->count] = when_ps;
    strand->deed[strand->count++] = (uint32_t)number;
    return 0;
}

void ids_strand_done(struct ids_strand *strand) {
    free(strand->from_ps);
    free(strand->deed);
    *strand = (struct ids_strand){0};
}

size_t ids_strand_find(const struct ids_strand *strand, int64_t when_ps) {
    size_t low = 0, high = strand->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strand->from_ps[middle] <= when_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}
