/* What was recorded in a window, as planes beside the vendor's. */
#include "collectors/pjrt/space.h"

#include "collectors/common/pb_skip.h"
#include "collectors/common/xspace_out.h"
#include "collectors/pjrt/programs.h"
#include "collectors/pjrt/record.h"
#include "lib/fields/xspace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS_PLANE = 0x1d50, PROGRAMS_PLANE, STEPS_LINE = 0, THREAD_NAME = 64 };

static const char *const names[IDS_RECORD_KINDS] = {
    [IDS_RECORD_INITIALIZE] = "PJRT_Plugin_Initialize",
    [IDS_RECORD_CLIENT] = "PJRT_Client_Create",
    [IDS_RECORD_COMPILE] = "PJRT_Client_Compile",
    [IDS_RECORD_LOAD] = "PJRT_Executable_DeserializeAndLoad",
    [IDS_RECORD_EXECUTE] = "PJRT_LoadedExecutable_Execute",
    [IDS_RECORD_AWAIT] = "PJRT_Event_Await",
    [IDS_RECORD_FROM_HOST] = "PJRT_Client_BufferFromHostBuffer",
    [IDS_RECORD_TO_HOST] = "PJRT_Buffer_ToHostBuffer",
    [IDS_RECORD_COPY] = "PJRT_Buffer_CopyToDevice",
};

/* The records of the window, in the order of writing. */
struct gathered {
    const struct ids_record **at;
    uint32_t count;
};

/* ---- the vendor's bytes ---- */

/* How many of them are whole fields of an XSpace: the size that the plugin tells is one too many. */
static size_t whole(const uint8_t *bytes, size_t size) {
    struct ids_field field;
    const uint8_t *at = bytes;
    while (ids_field_next(&at, bytes + size, &field) > 0) {
    }
    return (size_t)(at - bytes);
}

static int64_t count_events(const uint8_t *bytes, size_t size) {
    struct ids_field plane, line, event;
    int64_t count = 0;
    for (const uint8_t *at = bytes; ids_field_next(&at, bytes + size, &plane) > 0;) {
        if (plane.number != SPACE_PLANES || !plane.bytes) continue;
        for (const uint8_t *in = plane.bytes; ids_field_next(&in, plane.bytes + plane.size, &line) > 0;) {
            if (line.number != PLANE_LINES || !line.bytes) continue;
            for (const uint8_t *of = line.bytes; ids_field_next(&of, line.bytes + line.size, &event) > 0;) {
                count += event.number == LINE_EVENTS && event.bytes;
            }
        }
    }
    return count;
}

static struct ids_field find(struct ids_field in, uint32_t number) {
    struct ids_field field;
    const uint8_t *at = in.bytes;
    while (in.bytes && ids_field_next(&at, in.bytes + in.size, &field) > 0) {
        if (field.number == number) return field;
    }
    return (struct ids_field){0};
}

static int is_text(struct ids_field field, const char *text) {
    return field.bytes && field.size == strlen(text) && !memcmp(field.bytes, text, field.size);
}

/* Whether the vendor's bytes have the program: XLA's profiler puts those that ran into the plane "/host:metadata". */
static int has_program(const struct ids_space *space, const struct ids_program *program) {
    char name[IDS_PROGRAM_NAME + 32];
    struct ids_field plane, entry;
    const uint8_t *bytes = space->vendor, *end = bytes ? bytes + space->vendor_size : NULL;
    snprintf(name, sizeof name, "%s(%llu)", program->name, (unsigned long long)program->hlo_id);
    for (const uint8_t *at = bytes; at && ids_field_next(&at, end, &plane) > 0;) {
        if (plane.number != SPACE_PLANES || !is_text(find(plane, PLANE_NAME), "/host:metadata")) continue;
        for (const uint8_t *in = plane.bytes; ids_field_next(&in, plane.bytes + plane.size, &entry) > 0;) {
            if (entry.number != PLANE_EVENT_METADATA) continue;
            if (is_text(find(find(entry, ENTRY_VALUE), META_NAME), name)) return 1;
        }
    }
    return 0;
}

/* ---- ours ---- */

static int by_thread(const void *a, const void *b) {
    const struct ids_record *left = *(const struct ids_record *const *)a, *right = *(const struct ids_record *const *)b;
    if (left->thread != right->thread) return left->thread < right->thread ? -1 : 1;
    if (left->start_ns != right->start_ns) return left->start_ns < right->start_ns ? -1 : 1;
    return left->end_ns > right->end_ns ? -1 : left->end_ns < right->end_ns; /* what is around comes first */
}

static int gather(const struct ids_space *space, const struct ids_record *records, uint32_t count,
                  struct gathered *gathered) {
    gathered->count = 0;
    gathered->at = malloc((count + 1) * sizeof *gathered->at);
    if (!gathered->at) return -1;
    for (uint32_t i = 0; i < count; i++) {
        const struct ids_record *record = &records[i];
        if (!record->is_whole || record->start_ns < space->begin_ns || record->start_ns > space->end_ns) continue;
        gathered->at[gathered->count++] = record;
    }
    qsort(gathered->at, gathered->count, sizeof *gathered->at, by_thread);
    return 0;
}

static void thread_name(uint32_t thread, char name[THREAD_NAME]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%u/comm", thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, name, 32) : 0;
    if (file >= 0) close(file);
    while (length > 0 && name[length - 1] == '\n') length--;
    snprintf(name + (length > 0 ? length : 0), THREAD_NAME - 32, "%s%u", length > 0 ? "/" : "thread ", thread);
}

static void put_program(struct ids_xspace_out *out, uint32_t id) {
    const struct ids_program *program = ids_programs_at(id);
    if (!id) return;
    ids_xspace_text(out, "hlo_module", program->name);
    if (program->hlo_size) ids_xspace_uint(out, "program_id", program->hlo_id);
}

static void put_event(struct ids_xspace_out *out, const struct ids_record *record, int64_t zero_ns) {
    static const char *const directions[IDS_RECORD_KINDS] = {
        [IDS_RECORD_FROM_HOST] = "H2D", [IDS_RECORD_TO_HOST] = "D2H", [IDS_RECORD_COPY] = "D2D"};
    int is_program = record->kind == IDS_RECORD_COMPILE || record->kind == IDS_RECORD_LOAD;
    const char *name = names[record->kind];
    char with_module[IDS_PROGRAM_NAME + 64];
    if (is_program && record->program) { /* as XLA names its own: XlaCompile:#module=jit_f# */
        snprintf(with_module, sizeof with_module, "%s:#module=%s#", name, ids_programs_at(record->program)->name);
        name = with_module;
    }
    ids_xspace_event_begin(out, ids_xspace_name(out, name), record->start_ns - zero_ns, record->end_ns - zero_ns);
    put_program(out, record->program);
    if (is_program && record->program) {
        const struct ids_program *program = ids_programs_at(record->program);
        if (record->bytes >= 0) ids_xspace_int(out, "program_bytes", record->bytes);
        if (program->hlo_size) ids_xspace_int(out, "hlo_bytes", program->hlo_size);
        if (program->code_size >= 0) ids_xspace_int(out, "code_bytes", program->code_size);
    } else if (record->bytes >= 0) {
        ids_xspace_int(out, "bytes", record->bytes);
    }
    if (directions[record->kind]) ids_xspace_text(out, "direction", directions[record->kind]);
    if (record->kind == IDS_RECORD_EXECUTE) {
        ids_xspace_int(out, "execution", record->number);
        ids_xspace_int(out, "devices", record->devices);
        if (record->complete_ns) ids_xspace_int(out, "complete_after_ns", record->complete_ns - record->start_ns);
    }
    if (record->failed) ids_xspace_int(out, "failed", 1);
    ids_xspace_event_end(out);
}

static void put_calls(struct ids_xspace_out *out, const struct gathered *gathered, const struct ids_space *space) {
    char name[THREAD_NAME];
    for (uint32_t i = 0; i < gathered->count; i++) {
        const struct ids_record *record = gathered->at[i];
        if (!i || record->thread != gathered->at[i - 1]->thread) {
            thread_name(record->thread, name);
            ids_xspace_line_begin(out, record->thread, name, space->begin_ns - space->zero_ns);
        }
        put_event(out, record, space->zero_ns);
    }
    ids_xspace_line_end(out);
}

/* ---- steps ---- */

/* The program that most steps of the window are of; 0: none was counted as one. */
static uint32_t step_program(const struct gathered *gathered) {
    uint32_t *counts = calloc(IDS_PROGRAMS, sizeof *counts), best = IDS_NO_PROGRAM;
    for (uint32_t i = 0; counts && i < gathered->count; i++) {
        uint32_t program = gathered->at[i]->program;
        if (!gathered->at[i]->is_step || program >= IDS_PROGRAMS) continue;
        if (++counts[program] > counts[best] || !best) best = program;
    }
    free(counts);
    return best;
}

static int by_start(const void *a, const void *b) {
    const struct ids_record *left = *(const struct ids_record *const *)a, *right = *(const struct ids_record *const *)b;
    return left->start_ns < right->start_ns ? -1 : left->start_ns > right->start_ns;
}

static int64_t last_end(const struct ids_record *record) {
    return record->complete_ns > record->end_ns ? record->complete_ns : record->end_ns;
}

/* Each execution of it begins a step, which lasts until the next one. Puts the records out of their order. */
static void put_steps(struct ids_xspace_out *out, struct gathered *gathered, const struct ids_space *space) {
    uint32_t program = step_program(gathered), count = 0;
    if (!program) return;
    for (uint32_t i = 0; i < gathered->count; i++) {
        const struct ids_record *record = gathered->at[i];
        if (record->is_step && record->program == program) gathered->at[count++] = record;
    }
    qsort(gathered->at, count, sizeof *gathered->at, by_start);
    ids_xspace_line_begin(out, STEPS_LINE, "steps by executions", space->begin_ns - space->zero_ns);
    for (uint32_t i = 0; i < count; i++) {
        const struct ids_record *record = gathered->at[i];
        int64_t end = i + 1 < count ? gathered->at[i + 1]->start_ns : last_end(record);
        ids_xspace_event_begin(out, ids_xspace_name(out, ids_programs_at(program)->name),
                               record->start_ns - space->zero_ns, end - space->zero_ns);
        ids_xspace_int(out, "step_num", record->number);
        ids_xspace_event_end(out);
    }
    ids_xspace_line_end(out);
}

/* ---- programs ---- */

static void put_programs(struct ids_xspace_out *out, const struct ids_space *space, const struct gathered *gathered) {
    unsigned char *seen = calloc(1, IDS_PROGRAMS);
    int is_open = 0;
    for (uint32_t i = 0; seen && i < gathered->count; i++) {
        uint32_t id = gathered->at[i]->program;
        const struct ids_program *program = ids_programs_at(id);
        if (!id || seen[id % IDS_PROGRAMS]++ || has_program(space, program)) continue;
        void *module = ids_programs_hlo(program);
        if (!module) continue;
        if (!is_open) ids_xspace_plane_begin(out, PROGRAMS_PLANE, "/host:metadata");
        is_open = 1;
        ids_xspace_program(out, program->hlo_id, program->name, module, (size_t)program->hlo_size);
        free(module);
    }
    free(seen);
    ids_xspace_plane_end(out);
}

/* ---- all of it ---- */

static void put_ours(struct ids_xspace_out *out, const struct ids_space *space, struct gathered *gathered,
                     int64_t drops) {
    put_programs(out, space, gathered);
    ids_xspace_plane_begin(out, CALLS_PLANE, "/host:idsprof.pjrt");
    if (drops) ids_xspace_int(out, "dropped", drops);
    put_calls(out, gathered, space);
    put_steps(out, gathered, space);
    ids_xspace_plane_end(out);
}

int ids_space_write(const struct ids_space *given, const char *path, struct ids_caught *caught, char *why,
                    size_t why_size) {
    struct ids_space space = *given;
    struct gathered gathered;
    struct ids_xspace_written written = {0};
    uint32_t count;
    int64_t drops;
    struct ids_xspace_out *out = ids_xspace_open(path, 0, why, why_size);
    if (!out) return -1;
    if (space.vendor) space.vendor_size = whole(space.vendor, space.vendor_size);
    ids_xspace_raw(out, space.vendor, space.vendor_size);
    const struct ids_record *records = ids_record_take(&count, &drops);
    if (!gather(&space, records, count, &gathered)) {
        if (gathered.count || drops) put_ours(out, &space, &gathered, drops);
        free(gathered.at);
    } else {
        drops += count;
    }
    ids_record_done();
    int failed = ids_xspace_close(out, &written, why, why_size);
    caught->events = written.events + (space.vendor ? count_events(space.vendor, space.vendor_size) : 0);
    caught->drops = drops + written.drops;
    return failed;
}
