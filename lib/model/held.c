#include "lib/model/held.h"

#include "lib/base/saturate.h"
#include "lib/base/vec.h"

int ids_held_add(struct ids_trace *trace, const struct ids_held_info *info) {
    if (trace->held_count == IDS_HELD_MOST) {
        struct ids_held *last = &trace->held[trace->held_count - 1];
        ids_sum(&last->info.bytes, info->bytes);
        ids_sum(&last->info.count, info->count);
        last->info.frame_count = 0;
        return 0;
    }
    struct ids_held *held = IDS_PUSH(trace->held, trace->held_count, trace->held_room);
    if (!held) return -1;
    *held = (struct ids_held){.info = *info, .first_frame = trace->held_frame_count};
    held->info.frames = NULL;
    held->info.frame_count = 0;
    for (size_t i = 0; i < info->frame_count && trace->held_frame_count < IDS_HELD_FRAMES_MOST; i++) {
        struct ids_held_frame *frame = IDS_PUSH(trace->held_frames, trace->held_frame_count, trace->held_frame_room);
        if (!frame) return -1;
        *frame = info->frames[i];
        held->info.frame_count++;
    }
    return 0;
}
