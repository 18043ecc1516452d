/* gen_hosts.c - writes the profiles of a run of many hosts with eight TPUs each: FOLDER/host000.xplane.pb and so on,
 * each of about as many bytes as wanted. All hosts do the same steps, and meet in all-reduces that end together; their
 * sessions begin at other times, and their clocks are wrong by some microseconds. One host loads its input for 3 ms
 * longer in each step, so that all others wait for it. The same arguments give the same bytes.
 * cc -O2 -I. bench/gen_hosts.c -o gen_hosts; gen_hosts FOLDER HOSTS BYTES [STRAGGLER [FIRST]]
 * FIRST: writes only the hosts from that one on. */
#include "bench/xspace.h"

#include <stdlib.h>

enum {
    DEVICES = 8,
    OPS = 200,          /* of the program; a step runs them five times */
    STEP_OPS = 1000,    /* of a device in a step */
    MEETING = 250,      /* one op of so many is an all-reduce */
    FRAMES = 400,       /* functions */
    STEP_FRAMES = 2000, /* calls in a step, of which each calls ten functions */
    INSIDE = 10,
    STEP_BYTES = 674000
};
#define US_PS UINT64_C(1000000)
static const uint64_t LOAD_PS = 1000 * US_PS, LATE_PS = 3000 * US_PS, CALL_PS = 5 * US_PS, MEET_PS = 20 * US_PS;
static const uint64_t EPOCH_NS = UINT64_C(1760000000) * 1000000000;

/* ids of metadata: stats, texts they refer to, and events */
enum {
    PROGRAM_ID = 1,
    RUN_ID,
    P,
    PT,
    C,
    CT,
    STEP_NUM,
    HLO_CATEGORY,
    DEVICE_OFFSET,
    DEVICE_DURATION,
    START_TIME,
    DEVICE_TYPE,
    FUSION_TEXT,
    ALL_REDUCE_TEXT,
};
enum { TRAIN = 1, LOAD, ENQUEUE, MODULE, FIRST_FRAME, FIRST_OP = FIRST_FRAME + FRAMES };

struct host {
    unsigned number;
    int is_late;
    uint64_t start_ps; /* when its session began, of the run's time */
    uint64_t steps;
};

/* ---- what happens when, on the run's clock: known to all hosts ---- */

/* The n-th op of a step takes as long on all devices but for a little. */
static uint64_t op_ps(uint64_t step, unsigned op, unsigned place) {
    uint64_t seed = step * 1000003 + op * 7919 + place;
    random_of(&seed);
    return 3 * US_PS + op % OPS * 20000 + random_of(&seed) % 100000;
}

static int is_meeting(unsigned op) {
    return op % MEETING == MEETING - 1;
}

/* From one meeting to the next no device takes longer than that. */
static uint64_t longest_ps(void) {
    static uint64_t longest;
    static int known;
    uint64_t sum = 0;
    for (unsigned op = 0; op < STEP_OPS && !known; op++) {
        if (!is_meeting(op)) {
            sum += 3 * US_PS + op % OPS * 20000 + 100000;
            continue;
        }
        if (sum > longest) longest = sum;
        sum = 0;
    }
    known = 1;
    return longest;
}

/* When the n-th all-reduce of a step ends everywhere; the step begins at 0. `late`: the run has a late host. */
static uint64_t met_ps(unsigned meeting, int late) {
    return LOAD_PS + (late ? LATE_PS : 0) + DEVICES * CALL_PS + (meeting + 1) * (longest_ps() + MEET_PS);
}

static uint64_t period_ps(int late) {
    return met_ps(STEP_OPS / MEETING - 1, late) + 50 * US_PS;
}

/* ---- planes ---- */

static void write_head(unsigned id, const char *name) {
    struct bytes head = {.length = 0};
    put_number(&head, 1, id);
    put_text(&head, 2, name);
    fwrite(head.at, 1, head.length, out);
}

static void write_stats(void) {
    static const char *const stats[] = {[PROGRAM_ID] = "program_id",
                                        [RUN_ID] = "run_id",
                                        [P] = "_p",
                                        [PT] = "_pt",
                                        [C] = "_c",
                                        [CT] = "_ct",
                                        [STEP_NUM] = "step_num",
                                        [HLO_CATEGORY] = "hlo_category",
                                        [DEVICE_OFFSET] = "device_offset_ps",
                                        [DEVICE_DURATION] = "device_duration_ps",
                                        [START_TIME] = "profile_start_time",
                                        [DEVICE_TYPE] = "device_type_string",
                                        [FUSION_TEXT] = "loop fusion",
                                        [ALL_REDUCE_TEXT] = "all-reduce"};
    for (unsigned i = PROGRAM_ID; i <= ALL_REDUCE_TEXT; i++) write_metadata(5, i, stats[i], 0);
}

static void put_metadata_stat(struct bytes *bytes, unsigned id, unsigned field, uint64_t value) {
    struct bytes stat = {.length = 0};
    put_number(&stat, 1, id);
    put_number(&stat, field, value);
    put_bytes(bytes, 5, stat.at, stat.length);
}

static void write_op_names(void) {
    for (unsigned op = 0; op < STEP_OPS; op++) {
        struct bytes value = {.length = 0}, entry = {.length = 0};
        char name[64];
        if (op >= OPS && !is_meeting(op)) continue;
        snprintf(name, sizeof name, is_meeting(op) ? "all-reduce.%u" : "fusion.%u", op);
        put_number(&value, 1, FIRST_OP + op);
        put_text(&value, 2, name);
        put_metadata_stat(&value, HLO_CATEGORY, 7, is_meeting(op) ? ALL_REDUCE_TEXT : FUSION_TEXT);
        put_metadata_stat(&value, PROGRAM_ID, 3, 22);
        put_number(&entry, 1, FIRST_OP + op);
        put_bytes(&entry, 2, value.at, value.length);
        write_message(4, &entry);
    }
    write_metadata(4, MODULE, "jit_train_step(22)", 0);
}

static uint64_t launch_id(const struct host *host, uint64_t step, unsigned device) {
    return 1000 + (host->number * host->steps + step) * DEVICES + device;
}

static uint64_t begin_of_step(const struct host *host, uint64_t step, int late) {
    return step * period_ps(late) + 5000000 * US_PS - host->start_ps;
}

/* When the device begins with the program, after the step began. */
static uint64_t begin_of_program(const struct host *host, unsigned device) {
    return LOAD_PS + (host->is_late ? LATE_PS : 0) + (device + 1) * CALL_PS;
}

static void write_modules(const struct host *host, unsigned device, int late) {
    long line = begin(3);
    write_line_head(1, "XLA Modules");
    for (uint64_t step = 0; step < host->steps; step++) {
        struct bytes event;
        uint64_t from_ps = begin_of_program(host, device), to_ps = met_ps(STEP_OPS / MEETING - 1, late);
        begin_event(&event, MODULE, begin_of_step(host, step, late) + from_ps, to_ps - from_ps);
        put_stat(&event, C, 3, launch_id(host, step, device));
        put_stat(&event, CT, 4, 12);
        put_stat(&event, RUN_ID, 3, step + 1);
        write_message(4, &event);
    }
    end(line);
}

static void write_op(unsigned op, uint64_t start_ps, uint64_t duration_ps) {
    struct bytes event;
    begin_event(&event, FIRST_OP + (is_meeting(op) ? op : op % OPS), start_ps, duration_ps);
    put_stat(&event, DEVICE_OFFSET, 3, start_ps + 123456789);
    put_stat(&event, DEVICE_DURATION, 3, duration_ps);
    write_message(4, &event);
}

static void write_ops(const struct host *host, unsigned device, int late) {
    long line = begin(3);
    write_line_head(2, "XLA Ops");
    for (uint64_t step = 0; step < host->steps; step++) {
        uint64_t begin_ps = begin_of_step(host, step, late), now_ps = begin_of_program(host, device);
        for (unsigned op = 0; op < STEP_OPS; op++) {
            uint64_t duration_ps =
                is_meeting(op) ? met_ps(op / MEETING, late) - now_ps : op_ps(step, op, host->number * DEVICES + device);
            write_op(op, begin_ps + now_ps, duration_ps);
            now_ps += duration_ps;
        }
    }
    end(line);
}

static void write_device(const struct host *host, unsigned device, int late) {
    char name[64];
    long plane = begin(1);
    struct bytes stat = {.length = 0};
    snprintf(name, sizeof name, "/device:TPU:%u", device);
    write_head(device + 2, name);
    write_modules(host, device, late);
    write_ops(host, device, late);
    write_op_names();
    write_stats();
    put_number(&stat, 1, DEVICE_TYPE);
    put_text(&stat, 5, "TPU v5 lite");
    write_message(6, &stat);
    end(plane);
}

/* Frames of the step from `from_ps` to `to_ps`, ten inside one. */
static void write_frames(uint64_t from_ps, uint64_t to_ps, uint64_t seed) {
    uint64_t each_ps = (to_ps - from_ps) / STEP_FRAMES, inner_ps = each_ps / (INSIDE + 1);
    for (unsigned i = 0; i < STEP_FRAMES; i++) {
        struct bytes event;
        uint64_t at_ps = from_ps + i * each_ps;
        begin_event(&event, FIRST_FRAME + (unsigned)(random_of(&seed) % FRAMES), at_ps, each_ps - 100);
        write_message(4, &event);
        for (unsigned j = 0; j < INSIDE; j++) {
            begin_event(&event, FIRST_FRAME + (unsigned)(random_of(&seed) % FRAMES), at_ps + 50 + j * inner_ps,
                        inner_ps - 100);
            write_message(4, &event);
        }
    }
}

static void write_host_step(const struct host *host, uint64_t step, int late) {
    struct bytes event;
    uint64_t at_ps = begin_of_step(host, step, late), load_ps = LOAD_PS + (host->is_late ? LATE_PS : 0);
    begin_event(&event, TRAIN, at_ps, period_ps(late) - US_PS);
    put_stat(&event, STEP_NUM, 4, step);
    write_message(4, &event);
    begin_event(&event, LOAD, at_ps + 1000, load_ps - 2000);
    write_message(4, &event);
    for (unsigned device = 0; device < DEVICES; device++) {
        begin_event(&event, ENQUEUE, at_ps + load_ps + device * CALL_PS, CALL_PS - US_PS);
        put_stat(&event, P, 3, launch_id(host, step, device));
        put_stat(&event, PT, 4, 12);
        put_stat(&event, RUN_ID, 3, step + 1);
        write_message(4, &event);
    }
    write_frames(at_ps + load_ps + DEVICES * CALL_PS, at_ps + period_ps(late) - 2 * US_PS, host->number * 1000 + step);
}

static void write_threads(const struct host *host, int late) {
    long plane = begin(1);
    write_head(1, "/host:CPU");
    long line = begin(3);
    write_line_head(1, "python");
    for (uint64_t step = 0; step < host->steps; step++) write_host_step(host, step, late);
    end(line);
    write_metadata(4, TRAIN, "train", 0);
    write_metadata(4, LOAD, "$loader.py:%u load", 88);
    write_metadata(4, ENQUEUE, "DoEnqueueProgram", 0);
    for (unsigned i = 0; i < FRAMES; i++) write_metadata(4, FIRST_FRAME + i, "$module.py:%u function", i);
    write_stats();
    end(plane);
}

/* The clocks of the hosts are wrong by up to 50 us. */
static void write_environment(const struct host *host) {
    long plane = begin(1);
    struct bytes stat = {.length = 0};
    write_head(100, "Task Environment");
    write_stats();
    put_number(&stat, 1, START_TIME);
    put_number(&stat, 3, EPOCH_NS + host->start_ps / 1000 + host->number * 7919 % 50000);
    write_message(6, &stat);
    end(plane);
}

static int write_host(const char *folder, const struct host *host, int late) {
    char path[4096], name[64];
    snprintf(path, sizeof path, "%s/host%03u.xplane.pb", folder, host->number);
    if (!(out = fopen(path, "wb"))) return -1;
    setvbuf(out, NULL, _IOFBF, 1 << 20);
    write_threads(host, late);
    for (unsigned device = 0; device < DEVICES; device++) write_device(host, device, late);
    write_environment(host);
    struct bytes hostname = {.length = 0};
    snprintf(name, sizeof name, "host%03u", host->number);
    put_text(&hostname, 4, name);
    fwrite(hostname.at, 1, hostname.length, out);
    return fclose(out);
}

int main(int argc, char **argv) {
    unsigned hosts = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    uint64_t bytes = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    unsigned straggler = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : hosts;
    if (!hosts || !bytes) {
        fprintf(stderr, "usage: gen_hosts FOLDER HOSTS BYTES [STRAGGLER [FIRST]]\n");
        return 2;
    }
    for (unsigned i = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 0; i < hosts; i++) {
        const struct host host = {.number = i,
                                  .is_late = i == straggler,
                                  .start_ps = i * 137 % 1000 * 1000 * US_PS,
                                  .steps = bytes < 3 * STEP_BYTES ? 3 : bytes / STEP_BYTES};
        if (write_host(argv[1], &host, straggler < hosts)) {
            perror(argv[1]);
            return 2;
        }
    }
    return 0;
}
