#include "lib/model/timeline.h"

#include "lib/base/search.h"

#include <stdlib.h>

static int grow(struct ids_timeline *timeline) {
    size_t room = timeline->room ? timeline->room * 2 : 64;
    int64_t *from_ps = realloc(timeline->from_ps, room * sizeof *from_ps);
    if (from_ps) timeline->from_ps = from_ps;
    uint32_t *doing = from_ps ? realloc(timeline->doing, room * sizeof *doing) : NULL;
    if (!doing) return -1;
    timeline->doing = doing;
    timeline->room = room;
    return 0;
}

static int push(struct ids_timeline *timeline, int64_t when_ps, uint32_t doing) {
    if (timeline->count == timeline->room && grow(timeline)) return -1;
    timeline->from_ps[timeline->count] = when_ps;
    timeline->doing[timeline->count++] = doing;
    return 0;
}

int ids_timeline_turn(struct ids_timeline *timeline, int64_t when_ps, uint32_t doing) {
    while (timeline->count && timeline->from_ps[timeline->count - 1] >= when_ps) timeline->count--;
    if ((timeline->count ? timeline->doing[timeline->count - 1] : IDS_NO_DOING) == doing) return 0;
    return push(timeline, when_ps, doing);
}

int ids_timeline_cut(const struct ids_timeline *timeline, const int64_t *when_ps, size_t count,
                     struct ids_timeline *ret_cut) {
    size_t turn = 0;
    for (size_t c = 0; c <= count; c++) {
        for (; turn < timeline->count && (c == count || timeline->from_ps[turn] <= when_ps[c]); turn++) {
            if (push(ret_cut, timeline->from_ps[turn], timeline->doing[turn])) return -1;
        }
        int is_new = c < count && turn && ret_cut->from_ps[ret_cut->count - 1] < when_ps[c];
        if (is_new && push(ret_cut, when_ps[c], timeline->doing[turn - 1])) return -1;
    }
    return 0;
}

void ids_timeline_give_back(struct ids_timeline *timeline) {
    if (!timeline->count || timeline->count == timeline->room || timeline->far) return;
    int64_t *from_ps = realloc(timeline->from_ps, timeline->count * sizeof *from_ps);
    if (from_ps) timeline->from_ps = from_ps;
    uint32_t *doing = realloc(timeline->doing, timeline->count * sizeof *doing);
    if (doing) timeline->doing = doing;
    timeline->room = timeline->count; /* where memory was refused, there is more */
}

void ids_timeline_done(struct ids_timeline *timeline) {
    if (!timeline->far) {
        free(timeline->from_ps);
        free(timeline->doing);
    }
    *timeline = (struct ids_timeline){0};
}

size_t ids_timeline_find(const struct ids_timeline *timeline, int64_t when_ps) {
    return ids_count_up_to(timeline->from_ps, timeline->count, sizeof *timeline->from_ps, 0, when_ps) - 1;
}
