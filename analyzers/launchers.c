#include "analyzers/launchers.h"

#include <stdlib.h>
#include <string.h>

/* What was met last of a module on a device: works of one launch and of one step come together. */
struct met {
    const struct ids_event *launch, *longest;
    uint32_t steps, first, last;
};

/* The frame of the program around a launch, or around what caused it on another thread; 0 unknown. */
static uint32_t frame_of(const struct ids_trace *trace, const struct ids_event *launch) {
    enum { HOPS = 8 };
    for (int hop = 0; launch && hop < HOPS; hop++) {
        const struct ids_timeline *timeline = &trace->tracks[launch->track].timeline;
        size_t at = timeline->count ? ids_timeline_find(timeline, launch->start_ps) : SIZE_MAX;
        uint32_t caller = at == SIZE_MAX ? IDS_NONE : trace->doings[timeline->doing[at]].caller;
        if (caller != IDS_NONE) return trace->names[caller].text;
        launch = ids_event_cause(trace, launch);
    }
    return 0;
}

static int count_launch(struct ids_launchers *launchers, uint32_t frame) {
    uint64_t *number = ids_keymap_at(&launchers->line_numbers, (uint64_t)frame + 1);
    if (!number) return -1;
    if (!*number) {
        size_t room = launchers->line_room ? 2 * launchers->line_room : 16;
        if (launchers->line_count == launchers->line_room) {
            struct ids_launching_line *grown = realloc(launchers->lines, room * sizeof *grown);
            if (!grown) return -1;
            launchers->lines = grown;
            launchers->line_room = room;
        }
        launchers->lines[launchers->line_count++] = (struct ids_launching_line){.frame = frame};
        *number = launchers->line_count;
    }
    launchers->lines[*number - 1].launches++;
    launchers->launches++;
    return 0;
}

static void note_line(struct ids_launcher *launcher, uint32_t frame) {
    if (launcher->does) return; /* of another device, whose launches are not known */
    if (frame == launcher->frame) return;
    launcher->is_one = !launcher->frame;
    if (!launcher->frame) launcher->frame = frame;
}

/* By time, as the ledger books it: of what was launched before the window opened, nothing else is known. Events come in
 * order of time, and so do the steps of a device; *at is where the last one lay. */
static void note_step(const struct ids_device_steps *own, size_t *at, struct met *met, const struct ids_event *event) {
    while (*at < own->count && own->at[*at].to_ps <= event->start_ps) ++*at;
    if (*at == own->count || own->at[*at].from_ps > event->start_ps || own->at[*at].step == IDS_NONE) return;
    if (met->steps && met->last == own->at[*at].step) return;
    met->last = own->at[*at].step;
    if (!met->steps++) met->first = met->last;
}

/* Who waits while the longest work of a program runs, where its launch is not known, or lies between two samples. Of
 * what was launched before the window opened the wait has no event: then it is where the host is meanwhile. */
static void note_host(const struct ids_trace *trace, struct ids_launcher *launcher, const struct met *met) {
    const struct ids_event *work = met->longest;
    int64_t middle_ps = work->start_ps + (work->end_ps - work->start_ps) / 2;
    for (size_t t = 0; t < trace->track_count; t++) {
        const struct ids_track *track = &trace->tracks[t];
        if (!track->timeline.count || track->sampling || track->host != trace->devices[work->device].host) continue;
        size_t at = ids_timeline_find(&track->timeline, middle_ps);
        const struct ids_doing *doing = at == SIZE_MAX ? NULL : &trace->doings[track->timeline.doing[at]];
        if (!doing || doing->caller == IDS_NONE) continue;
        int waits = doing->account == IDS_HOST_SYNC;
        if (!waits && (met->launch || doing->account != IDS_HOST_PYTHON || launcher->frame)) continue;
        launcher->frame = trace->names[doing->caller].text;
        launcher->does = waits ? IDS_LAUNCHER_WAITS : IDS_LAUNCHER_MEANWHILE;
        if (waits) return;
    }
}

static int make_room(struct ids_launchers *launchers, size_t count) {
    if (count <= launchers->count) return 0;
    struct ids_launcher *grown = realloc(launchers->at, count * sizeof *grown);
    if (!grown) return -1;
    memset(grown + launchers->count, 0, (count - launchers->count) * sizeof *grown);
    launchers->at = grown;
    launchers->count = count;
    return 0;
}

int ids_launchers_gather(const struct ids_analysis *analysis, const struct ids_busy *busy, void *sums,
                         struct ids_error *err) {
    struct ids_launchers *launchers = sums;
    const struct ids_trace *trace = analysis->trace;
    struct met *of_module = calloc(trace->module_count + 1, sizeof *of_module);
    if (!of_module || make_room(launchers, trace->module_count)) {
        free(of_module);
        return ids_no_memory(err);
    }
    struct ids_cursor cursor = ids_busy_cursor(busy, &busy->device->activity);
    const struct ids_device_steps none = {0};
    const struct ids_device_steps *own = analysis->steps.count ? &analysis->steps.of_device[busy->index] : &none;
    const struct ids_event *event;
    size_t at = 0;
    int failed = 0;
    while (!failed && (event = ids_cursor_next(&cursor))) {
        uint32_t module = event->op == IDS_NONE ? IDS_NONE : trace->ops[event->op].module;
        if (module == IDS_NONE) continue;
        struct met *met = &of_module[module];
        note_step(own, &at, met, event);
        if (!met->longest || event->end_ps - event->start_ps > met->longest->end_ps - met->longest->start_ps)
            met->longest = event;
        if (!event->launch || event->launch == met->launch) continue;
        met->launch = event->launch;
        uint32_t frame = frame_of(trace, event->launch);
        if (!frame) continue;
        note_line(&launchers->at[module], frame);
        failed = count_launch(launchers, frame);
    }
    for (size_t m = 0; m < trace->module_count && !failed; m++) {
        if (!launchers->at[m].frame && of_module[m].longest) note_host(trace, &launchers->at[m], &of_module[m]);
        if (of_module[m].steps <= launchers->at[m].steps) continue;
        launchers->at[m].steps = of_module[m].steps;
        launchers->at[m].first = of_module[m].first;
    }
    free(of_module);
    return failed ? ids_no_memory(err) : 0;
}

void ids_launchers_done(void *sums) {
    struct ids_launchers *launchers = sums;
    free(launchers->at);
    free(launchers->lines);
    ids_keymap_done(&launchers->line_numbers);
}

const struct ids_launching_line *ids_launching_most(const struct ids_launchers *launchers) {
    for (size_t i = 0; launchers && i < launchers->line_count; i++) {
        if (launchers->lines[i].launches > launchers->launches / 2) return &launchers->lines[i];
    }
    return NULL;
}

const struct ids_launcher *ids_launcher_of(const struct ids_launchers *launchers, uint32_t module) {
    return launchers && module < launchers->count ? &launchers->at[module] : NULL;
}
