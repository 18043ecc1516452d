/* gen_events.c - writes an XSpace with as many events as wanted, as a stream, in the shape of a JAX profile of CPU
 * devices: a third are Python frames (written as they end, inner ones first), the others ops of eight threads with
 * their stats, each with the event that ends it and the link to it. With "one" all are frames of a single track. The
 * same arguments give the same bytes. cc -O2 -I. bench/gen_events.c -o gen_events; gen_events FILE EVENTS [one] */
#include "bench/xspace.h"

#include <stdlib.h>

enum { PLANE_EVENTS = 24000000, THREADS = 8, OPS = 60, FRAMES = 400, INSIDE = 10, STEP_FRAMES = 4000 };
/* ids of metadata: stats, texts they refer to, and events */
enum { HLO_OP = 1, HLO_MODULE, PROGRAM_ID, DEVICE_ORDINAL, RUN_ID, P, PT, C, CT, STEP_NUM, MODULE_TEXT, FIRST_OP_TEXT };
enum { TRAIN = 1, FIRST_FRAME, FIRST_OP = FIRST_FRAME + FRAMES, FIRST_END = FIRST_OP + OPS };

/* Frames: ten inside one, and a step around many of these. */
static void write_python(uint64_t count, uint64_t seed) {
    struct bytes event;
    uint64_t now = 0, around = 0, step = 0, steps = 0;
    long line = begin(3);
    write_line_head(1, "python");
    for (uint64_t i = 0, inside = 0, frames = 0; i < count; i++) {
        if (frames == STEP_FRAMES) {
            begin_event(&event, TRAIN, step, now - step);
            put_stat(&event, STEP_NUM, 4, steps++);
            frames = 0;
            step = now += 1000;
        } else if (inside == INSIDE) {
            begin_event(&event, FIRST_FRAME + (unsigned)(random_of(&seed) % FRAMES), around, now - around + 500);
            inside = 0;
            frames++;
            around = now += 1500;
        } else {
            uint64_t duration = 300000 + random_of(&seed) % 1000000;
            begin_event(&event, FIRST_FRAME + (unsigned)(random_of(&seed) % FRAMES), now + 500, duration);
            inside++;
            now += duration + 500;
        }
        write_message(4, &event);
    }
    end(line);
}

static void write_thread(unsigned thread, uint64_t count, uint64_t seed) {
    struct bytes event;
    char name[64];
    uint64_t now = 1000 * thread;
    long line = begin(3);
    snprintf(name, sizeof name, "tf_XLAPjRtCpuClient/%u", thread + 1);
    write_line_head(thread + 2, name);
    for (uint64_t i = 0; i < count; i += 2) {
        unsigned op = (unsigned)(random_of(&seed) % OPS);
        uint64_t duration = 500000 + random_of(&seed) % 20000000, link = 4000000000 + (i << 4 | thread << 1);
        begin_event(&event, FIRST_OP + op, now, duration);
        put_stat(&event, HLO_OP, 7, FIRST_OP_TEXT + op);
        put_stat(&event, HLO_MODULE, 7, MODULE_TEXT);
        put_stat(&event, PROGRAM_ID, 4, 22);
        put_stat(&event, DEVICE_ORDINAL, 4, thread);
        put_stat(&event, RUN_ID, 3, 1000000000 + i / 1000);
        put_stat(&event, P, 3, link);
        put_stat(&event, PT, 4, 0);
        write_message(4, &event);
        now += duration + 1000;
        if (i + 1 == count) break;
        begin_event(&event, FIRST_END + op, now, 80000);
        put_stat(&event, C, 3, link);
        put_stat(&event, CT, 4, 0);
        write_message(4, &event);
        now += 100000;
    }
    end(line);
}

static void write_plane(unsigned number, uint64_t events, int one) {
    static const char *const stats[] = {[HLO_OP] = "hlo_op",
                                        [HLO_MODULE] = "hlo_module",
                                        [PROGRAM_ID] = "program_id",
                                        [DEVICE_ORDINAL] = "device_ordinal",
                                        [RUN_ID] = "run_id",
                                        [P] = "_p",
                                        [PT] = "_pt",
                                        [C] = "_c",
                                        [CT] = "_ct",
                                        [STEP_NUM] = "step_num"};
    struct bytes head = {.length = 0};
    char name[64];
    long plane = begin(1);
    snprintf(name, sizeof name, number ? "/host:CPU %u" : "/host:CPU", number);
    put_number(&head, 1, number + 1);
    put_text(&head, 2, name);
    fwrite(head.at, 1, head.length, out);
    uint64_t of_threads = one ? 0 : events / 3 * 2;
    write_python(events - of_threads, number + 1);
    for (unsigned i = 0; i < THREADS && !one; i++) {
        uint64_t share = of_threads / THREADS + (i < of_threads % THREADS);
        write_thread(i, share, number * THREADS + i + 100);
    }
    write_metadata(4, TRAIN, "train", 0);
    for (unsigned i = 0; i < FRAMES; i++) write_metadata(4, FIRST_FRAME + i, "$module.py:%u function", i);
    for (unsigned i = 0; i < OPS; i++) write_metadata(4, FIRST_OP + i, "fusion.%u", i);
    for (unsigned i = 0; i < OPS; i++) write_metadata(4, FIRST_END + i, "end: fusion.%u", i);
    for (unsigned i = HLO_OP; i <= STEP_NUM; i++) write_metadata(5, i, stats[i], 0);
    write_metadata(5, MODULE_TEXT, "jit_train_step", 0);
    for (unsigned i = 0; i < OPS; i++) write_metadata(5, FIRST_OP_TEXT + i, "fusion.%u", i);
    end(plane);
}

int main(int argc, char **argv) {
    uint64_t events = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    int one = argc > 3 && !strcmp(argv[3], "one");
    if (!events || (argc > 3 && !one) || !(out = fopen(argv[1], "wb"))) {
        fprintf(stderr, "usage: gen_events FILE EVENTS [one]\n");
        return 2;
    }
    setvbuf(out, NULL, _IOFBF, 1 << 20);
    /* A message is at most 2 GiB: a plane of frames has room for 110 million events. */
    uint64_t most = one ? 110000000 : PLANE_EVENTS;
    for (unsigned i = 0; events; i++) {
        uint64_t share = events < most ? events : most;
        write_plane(i, share, one);
        events -= share;
    }
    return fclose(out) ? 2 : 0;
}
