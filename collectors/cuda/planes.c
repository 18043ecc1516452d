#include "collectors/cuda/planes.h"

#include "collectors/common/xspace_out.h"
#include "collectors/cuda/calls.h"
#include "collectors/cuda/nvtx_steps.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where an event goes: planes in the order of the file, and in a plane lines by id. */
enum { HOST = IDS_CUDA_DEVICES, PLANES };
enum { LINE_OVERHEAD = -1, LINE_MEMORY = -2, LINE_SYNC = -3 };

struct place {
    uint32_t event;
    int32_t plane; /* a device's ordinal, or HOST */
    int64_t line;
    uint64_t start, end;
};

struct writing {
    const struct ids_cuda_window *window;
    struct ids_xspace_out *out;
    struct ids_cuda_links links;
    struct place *places;
    size_t count;
    int64_t shift; /* from CUPTI's clock to nanoseconds since the window's start */
    char *(*demangle)(const char *, char *, size_t *, int *);
    int64_t *names; /* of texts in the open plane */
    size_t name_count;
    int64_t next_step; /* the number of the next step whose name has none */
    int opens;         /* the first step had the window opened, and that is not written yet */
    uint32_t thread;   /* that was asked for last, and whether it made calls */
    int thread_calls;
    struct ids_cuda_written written;
};

/* ---- names ---- */

static const char *copy_name(uint8_t how) {
    switch (how) {
    case IDS_CUPTI_COPY_HTOD:
        return "MemcpyH2D";
    case IDS_CUPTI_COPY_DTOH:
        return "MemcpyD2H";
    case IDS_CUPTI_COPY_DTOD:
        return "MemcpyD2D";
    case IDS_CUPTI_COPY_PTOP:
        return "MemcpyP2P";
    default:
        return "MemcpyOther";
    }
}

static const char *memory_name(uint8_t kind) {
    static const char *const names[] = {"unknown", "pageable", "pinned",        "device",
                                        "array",   "managed",  "device_static", "managed_static"};
    return kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

static const char *overhead_name(uint32_t kind) {
    static const char *const names[] = {
        "UNKNOWN",        "BUFFER_FLUSH",          "INSTRUMENTATION",     "RESOURCE",
        "MODULE_LOADING", "LAZY_FUNCTION_LOADING", "COMMAND_BUFFER_FULL", "BUFFER_REQUEST",
        "UVM_INIT"};
    if (kind == 1) return "COMPILER";
    return kind >> 16 < sizeof names / sizeof *names ? names[kind >> 16] : "UNKNOWN";
}

static const char *sync_name(uint32_t type) {
    static const char *const names[] = {"unknown", "event", "stream waits for event", "stream", "context"};
    return type < sizeof names / sizeof *names ? names[type] : "unknown";
}

/* Whether a thread that CUPTI held up made calls: then it could not go on with them, and a device may have waited for
 * that. A buffer of a thread's own is made at its first call. */
static int holds_up_calls(struct writing *writing, const struct ids_cuda_event *overhead) {
    const struct ids_cuda_records *records = writing->window->records;
    /* Modules are loaded for the program, and a full queue is the device's: the calls around say that. */
    static const uint32_t own[] = {1, 2, 3, 7}; /* buffers, instrumentation, resources: as in overhead_name */
    size_t kind = 0;
    while (kind < sizeof own / sizeof *own && overhead->name >> 16 != own[kind]) kind++;
    if (overhead->how != IDS_CUPTI_OBJECT_THREAD || kind == sizeof own / sizeof *own) return 0;
    if (overhead->thread == writing->thread) return writing->thread_calls;
    size_t count = ids_cuda_records_counts(records).events, i = 0;
    for (; i < count; i++) {
        const struct ids_cuda_event *event = ids_cuda_records_event(records, (uint32_t)i);
        if (event->kind == IDS_CUDA_CALL && event->thread == overhead->thread) break;
    }
    writing->thread = overhead->thread;
    writing->thread_calls = i < count;
    return writing->thread_calls;
}

/* A kernel's name as it was written: CUPTI has it mangled. */
static int64_t kernel_name(struct writing *writing, uint32_t text) {
    if (text < writing->name_count && writing->names[text]) return writing->names[text];
    const char *name = text ? ids_cuda_records_text(writing->window->records, text) : "Compute";
    int status = 0;
    char *readable = writing->demangle && !strncmp(name, "_Z", 2) ? writing->demangle(name, NULL, NULL, &status) : NULL;
    int64_t id = ids_xspace_name(writing->out, readable ? readable : name);
    free(readable);
    if (text < writing->name_count) writing->names[text] = id;
    return id;
}

/* ---- what each event says ---- */

static void write_details(struct writing *writing, const struct ids_cuda_event *event) {
    struct ids_xspace_out *out = writing->out;
    const struct ids_cuda_shape *shape = ids_cuda_records_shape(writing->window->records, event->detail);
    char text[256];
    if (!shape) return;
    struct ids_occupancy occupancy = {0};
    if (event->device < (uint32_t)writing->window->device_count)
        occupancy =
            ids_occupancy(&writing->window->devices[event->device].sm, (int)shape->registers, shape->static_shared,
                          shape->dynamic_shared, (int64_t)shape->block[0] * shape->block[1] * shape->block[2]);
    ids_xspace_double(out, "theoretical_occupancy_pct", occupancy.percent);
    ids_xspace_int(out, "occupancy_min_grid_size", occupancy.grid);
    ids_xspace_int(out, "occupancy_suggested_block_size", occupancy.block);
    snprintf(text, sizeof text, "regs:%u static_shared:%d dynamic_shared:%d grid:%d,%d,%d block:%d,%d,%d occ_pct:%g",
             shape->registers, shape->static_shared, shape->dynamic_shared, shape->grid[0], shape->grid[1],
             shape->grid[2], shape->block[0], shape->block[1], shape->block[2], occupancy.percent);
    ids_xspace_text(out, "kernel_details", text);
}

static void write_context(struct ids_xspace_out *out, uint32_t context) {
    char text[16];
    snprintf(text, sizeof text, "$$%u", context);
    ids_xspace_text(out, "context_id", text);
}

static void write_on_device(struct writing *writing, const struct ids_cuda_event *event) {
    struct ids_xspace_out *out = writing->out;
    char text[160];
    ids_xspace_uint(out, "correlation_id", event->correlation);
    write_context(out, event->context);
    if (event->graph) ids_xspace_uint(out, "cuda_graph_id", event->graph);
    if (event->kind == IDS_CUDA_GRAPH) ids_xspace_uint(out, "cuda_graph_exec_id", event->graph);
    if (event->node) ids_xspace_uint(out, "cuda_graph_node_id", event->node);
    if (event->kind == IDS_CUDA_KERNEL) {
        write_details(writing, event);
        writing->written.kernels++;
    } else if (event->kind == IDS_CUDA_COPY) {
        snprintf(text, sizeof text, "kind_src:%s kind_dst:%s size:%llu dest:%u async:%u", memory_name(event->from),
                 memory_name(event->to), (unsigned long long)event->value, event->to_device, event->async);
        ids_xspace_text(out, "memcpy_details", text);
        writing->written.copies++;
    } else if (event->kind == IDS_CUDA_SET) {
        snprintf(text, sizeof text, "kind:%s num_bytes:%llu async:%u", memory_name(event->to),
                 (unsigned long long)event->value, event->async);
        ids_xspace_text(out, "memset_details", text);
    }
}

static void write_memory(struct ids_xspace_out *out, const struct ids_cuda_event *memory) {
    char text[96];
    snprintf(text, sizeof text, "kind:%s num_bytes:%llu", memory_name(memory->to), (unsigned long long)memory->value);
    ids_xspace_text(out, memory->how == IDS_CUPTI_MEMORY_RELEASED ? "memfree_details" : "memalloc_details", text);
}

/* What a call did: the device activity it launched, memory, a wait. `nested`: inside a call that bears the same
 * correlation, as the driver's calls inside the runtime's do: the outer one is the launch. */
static void write_call(struct writing *writing, const struct ids_cuda_event *call, int nested) {
    struct ids_xspace_out *out = writing->out;
    int launched = 0;
    for (size_t i = nested ? writing->links.count : ids_cuda_links_of(&writing->links, call->correlation);
         i < writing->links.count && writing->links.at[i].correlation == call->correlation; i++) {
        const struct ids_cuda_event *event =
            ids_cuda_records_event(writing->window->records, writing->links.at[i].event);
        if (IDS_CUDA_ON_DEVICE(event->kind) && !launched++) {
            ids_xspace_uint(out, "device_id", event->device);
            ids_xspace_uint(out, "correlation_id", call->correlation);
            write_context(out, event->context);
        } else if (event->kind == IDS_CUDA_MEMORY) {
            write_memory(out, event);
        } else if (event->kind == IDS_CUDA_SYNC) {
            ids_xspace_text(out, "sync_type", sync_name(event->name));
        }
    }
    if (call->detail) ids_xspace_uint(out, "return_value", call->detail);
}

static int is_step(const struct writing *writing, const struct ids_cuda_event *event, struct ids_nvtx_step *ret_step) {
    return event->kind == IDS_CUDA_RANGE_BEGIN && !event->detail &&
           ids_nvtx_step_of(ids_cuda_records_text(writing->window->records, event->name), ret_step);
}

static int64_t name_of(struct writing *writing, const struct ids_cuda_event *event) {
    char text[IDS_CUDA_TEXT_LENGTH + 300];
    struct ids_nvtx_step step;
    const char *name = text;
    switch (event->kind) {
    case IDS_CUDA_KERNEL:
        return kernel_name(writing, event->name);
    case IDS_CUDA_COPY:
        name = copy_name(event->how);
        break;
    case IDS_CUDA_SET:
        name = "Memset";
        break;
    case IDS_CUDA_GRAPH:
        snprintf(text, sizeof text, "CudaGraphExec:%u", event->graph);
        break;
    case IDS_CUDA_CALL:
        ids_cuda_call_name(writing->window->cupti, event->how, event->name, text, sizeof text);
        break;
    case IDS_CUDA_SYNC:
        snprintf(text, sizeof text, "wait: %s", sync_name(event->name));
        break;
    case IDS_CUDA_MEMORY:
        name = event->how == IDS_CUPTI_MEMORY_RELEASED ? "MemoryFree" : "MemoryAlloc";
        break;
    case IDS_CUDA_OVERHEAD:
        name = overhead_name(event->name);
        if (!holds_up_calls(writing, event)) break;
        snprintf(text, sizeof text, "CUPTI overhead: %s", name);
        name = text;
        break;
    default: /* ranges and marks: "NVTX:name", "NVTX:domain:name"; a step without its number */
        if (is_step(writing, event, &step)) {
            snprintf(text, sizeof text, "NVTX:%s", step.name);
            break;
        }
        snprintf(text, sizeof text, "NVTX:%.250s%s%s", ids_cuda_records_text(writing->window->records, event->detail),
                 event->detail ? ":" : "", ids_cuda_records_text(writing->window->records, event->name));
    }
    return ids_xspace_name(writing->out, name);
}

/* A moment before the step that had the window opened, and so not in it: as the Python hook has it in its profiles. */
static void write_opened(struct writing *writing, int64_t at) {
    writing->opens = 0;
    ids_xspace_event_begin(writing->out, ids_xspace_name(writing->out, "idsprof.opened"), at, at);
    ids_xspace_event_end(writing->out);
}

static void write_event(struct writing *writing, const struct place *place, int nested) {
    struct ids_nvtx_step step;
    const struct ids_cuda_event *event = ids_cuda_records_event(writing->window->records, place->event);
    if (writing->opens && is_step(writing, event, &step))
        write_opened(writing, (int64_t)place->start + writing->shift - 1);
    int64_t name = name_of(writing, event);
    ids_xspace_event_begin(writing->out, name, (int64_t)place->start + writing->shift,
                           (int64_t)place->end + writing->shift);
    if (IDS_CUDA_ON_DEVICE(event->kind))
        write_on_device(writing, event);
    else if (event->kind == IDS_CUDA_CALL)
        write_call(writing, event, nested);
    else if (event->kind == IDS_CUDA_MEMORY)
        write_memory(writing->out, event);
    else if (is_step(writing, event, &step))
        ids_xspace_int(writing->out, "step_num", step.number >= 0 ? step.number : writing->next_step++);
    else if ((event->kind == IDS_CUDA_RANGE_BEGIN || event->kind == IDS_CUDA_MARK) && !event->detail)
        ids_xspace_int(writing->out, "user_annotation", 1); /* libraries have domains of their own */
    ids_xspace_event_end(writing->out);
    writing->written.events++;
}

/* ---- lines ---- */

/* "Stream #7(Compute,MemcpyH2D)": what is on it. */
static void stream_name(const struct writing *writing, size_t from, size_t to, char *text, size_t size) {
    static const char *const types[] = {"Compute",   "MemcpyH2D",   "MemcpyD2H", "MemcpyD2D",
                                        "MemcpyP2P", "MemcpyOther", "Memset",    "CudaGraph"};
    unsigned seen = 0;
    for (size_t i = from; i < to; i++) {
        const struct ids_cuda_event *event = ids_cuda_records_event(writing->window->records, writing->places[i].event);
        const char *type = event->kind == IDS_CUDA_KERNEL ? types[0]
                           : event->kind == IDS_CUDA_COPY ? copy_name(event->how)
                           : event->kind == IDS_CUDA_SET  ? "Memset"
                                                          : "CudaGraph";
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) seen |= strcmp(type, types[t]) ? 0 : 1u << t;
    }
    int used = snprintf(text, size, "Stream #%lld", (long long)writing->places[from].line);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        if (!(seen >> t & 1)) continue;
        used += snprintf(text + used, size - (size_t)used, "%c%s", seen & ((1u << t) - 1) ? ',' : '(', types[t]);
    }
    snprintf(text + used, size - (size_t)used, ")");
}

static void line_name(const struct writing *writing, size_t from, size_t to, char *text, size_t size) {
    int64_t line = writing->places[from].line;
    if (writing->places[from].plane != HOST)
        stream_name(writing, from, to, text, size);
    else if (line == LINE_OVERHEAD)
        snprintf(text, size, "CUPTI overhead");
    else if (line == LINE_MEMORY)
        snprintf(text, size, "CUDA memory");
    else if (line == LINE_SYNC)
        snprintf(text, size, "CUDA synchronization");
    else
        snprintf(text, size, "Host Threads/%lld", (long long)line);
}

static void write_line(struct writing *writing, size_t from, size_t to) {
    enum { DEPTH = 16 };
    const struct place *open[DEPTH]; /* calls around the one at hand */
    int depth = 0;
    char name[256];
    line_name(writing, from, to, name, sizeof name);
    ids_xspace_line_begin(writing->out, writing->places[from].line, name, 0);
    for (size_t i = from; i < to; i++) {
        const struct place *place = &writing->places[i];
        const struct ids_cuda_event *event = ids_cuda_records_event(writing->window->records, place->event);
        int nested = 0;
        while (depth && open[depth - 1]->end <= place->start && open[depth - 1]->end < place->end) depth--;
        for (int d = 0; event->kind == IDS_CUDA_CALL && d < depth && !nested; d++)
            nested =
                ids_cuda_records_event(writing->window->records, open[d]->event)->correlation == event->correlation;
        if (event->kind == IDS_CUDA_CALL && depth < DEPTH) open[depth++] = place;
        write_event(writing, place, nested);
    }
    ids_xspace_line_end(writing->out);
}

/* ---- planes ---- */

static void write_device_facts(struct ids_xspace_out *out, const struct ids_cuda_device *device) {
    ids_xspace_text(out, "device_vendor", "Nvidia");
    if (!device) return;
    if (*device->name) ids_xspace_text(out, "gpu_device_name", device->name);
    if (device->clock_khz) ids_xspace_int(out, "clock_rate", device->clock_khz);
    if (device->sm.count) ids_xspace_int(out, "core_count", device->sm.count);
    if (device->memory_clock_khz && device->memory_bus_bits) /* twice: both edges of the clock */
        ids_xspace_uint(out, "memory_bandwidth",
                        (uint64_t)2 * (uint64_t)device->memory_clock_khz * 1000 * (uint64_t)device->memory_bus_bits /
                            8);
    if (device->memory_bytes) ids_xspace_uint(out, "memory_size", device->memory_bytes);
    if (device->major) ids_xspace_int(out, "compute_cap_major", device->major);
    if (device->major) ids_xspace_int(out, "compute_cap_minor", device->minor);
}

/* The plane and its lines, of which the places from `from` on are; where the next plane's begin. */
static size_t write_plane(struct writing *writing, int32_t plane, size_t from) {
    char name[32];
    const struct ids_cuda_device *device =
        plane < writing->window->device_count ? &writing->window->devices[plane] : NULL;
    snprintf(name, sizeof name, plane == HOST ? "/host:CPU" : "/device:GPU:%d", plane);
    ids_xspace_plane_begin(writing->out, plane + 1, name);
    memset(writing->names, 0, writing->name_count * sizeof *writing->names);
    if (plane != HOST) write_device_facts(writing->out, device);
    while (from < writing->count && writing->places[from].plane == plane) {
        size_t to = from + 1;
        while (to < writing->count && writing->places[to].plane == plane &&
               writing->places[to].line == writing->places[from].line)
            to++;
        write_line(writing, from, to);
        from = to;
    }
    ids_xspace_plane_end(writing->out);
    return from;
}

/* Devices where something happened; where nothing did all there are, for a window in which they were idle says so
 * too. */
static void write_planes(struct writing *writing) {
    size_t at = 0;
    int any = writing->count && writing->places[0].plane != HOST;
    for (int32_t plane = 0; plane < PLANES; plane++) {
        int there = at < writing->count && writing->places[at].plane == plane;
        if (there || plane == HOST || (!any && plane < writing->window->device_count))
            at = write_plane(writing, plane, at);
    }
}

static void write_environment(struct writing *writing) {
    const struct ids_cuda_window *window = writing->window;
    struct ids_xspace_out *out = writing->out;
    struct ids_cuda_counts counts = ids_cuda_records_counts(window->records);
    ids_xspace_plane_begin(out, PLANES + 1, "Task Environment");
    ids_xspace_uint(out, "profile_start_time", (uint64_t)window->begin.realtime);
    ids_xspace_uint(out, "profile_stop_time", (uint64_t)window->end.realtime);
    ids_xspace_uint(out, "monotonic_start_time", (uint64_t)window->begin.monotonic);
    ids_xspace_uint(out, "monotonic_stop_time", (uint64_t)window->end.monotonic);
    ids_xspace_text(out, "collector", "idsprof cuda");
    ids_xspace_text(out, "cuda_graph_trace", window->graph_nodes ? "node" : "graph");
    ids_xspace_uint(out, "cupti_version", window->cupti->number);
    ids_xspace_uint(out, "dropped_records", window->dropped + counts.dropped);
    ids_xspace_uint(out, "incomplete_records", counts.incomplete);
    ids_xspace_plane_end(out);
}

/* ---- what goes where ---- */

static int by_place(const void *a, const void *b) {
    const struct place *left = a, *right = b;
    if (left->plane != right->plane) return left->plane < right->plane ? -1 : 1;
    if (left->line != right->line) return left->line < right->line ? -1 : 1;
    if (left->start != right->start) return left->start < right->start ? -1 : 1;
    if (left->end != right->end) return left->end > right->end ? -1 : 1; /* what is around comes first */
    return left->event < right->event ? -1 : left->event > right->event;
}

static int place_event(struct writing *writing, uint32_t index, uint64_t cut, struct place *place) {
    const struct ids_cuda_event *event = ids_cuda_records_event(writing->window->records, index);
    int linked;
    *place = (struct place){.event = index, .plane = HOST, .start = event->start, .end = event->end};
    switch (event->kind) {
    case IDS_CUDA_KERNEL:
    case IDS_CUDA_COPY:
    case IDS_CUDA_SET:
    case IDS_CUDA_GRAPH:
        place->plane = event->device < IDS_CUDA_DEVICES ? (int32_t)event->device : IDS_CUDA_DEVICES - 1;
        place->line = event->stream;
        /* What a call of the window launched is of the window, however late it ran. */
        return event->start <= cut ||
               ids_cuda_links_called(&writing->links, writing->window->records, event->correlation, cut);
    case IDS_CUDA_CALL:
        place->line = event->thread;
        return event->start <= cut;
    case IDS_CUDA_SYNC:
    case IDS_CUDA_MEMORY: /* a stat of their call */
        linked = ids_cuda_links_called(&writing->links, writing->window->records, event->correlation, cut);
        place->line = event->kind == IDS_CUDA_SYNC ? LINE_SYNC : LINE_MEMORY;
        return event->start <= cut && !linked;
    case IDS_CUDA_RANGE_BEGIN: {
        uint64_t end = ids_cuda_links_range_end(&writing->links, event);
        place->line = event->thread;
        place->end = end && end < cut ? end : cut;
        return event->start <= cut;
    }
    case IDS_CUDA_MARK:
        place->line = event->thread;
        return event->start <= cut;
    case IDS_CUDA_OVERHEAD:
        place->line = holds_up_calls(writing, event) ? (int64_t)event->thread : LINE_OVERHEAD;
        return event->start <= cut;
    default:
        return 0;
    }
}

static int place_all(struct writing *writing) {
    const struct ids_cuda_window *window = writing->window;
    size_t events = ids_cuda_records_counts(window->records).events;
    uint64_t cut = window->end.cupti ? (uint64_t)window->end.cupti : (uint64_t)window->end.realtime;
    writing->places = malloc((events + 1) * sizeof *writing->places);
    if (!writing->places || ids_cuda_links_make(&writing->links, window->records)) return -1;
    for (size_t i = 0; i < events; i++)
        writing->count += (size_t)place_event(writing, (uint32_t)i, cut, &writing->places[writing->count]);
    qsort(writing->places, writing->count, sizeof *writing->places, by_place);
    return 0;
}

/* The program has it where it has C++; it is not loaded for us alone. */
static void find_demangler(struct writing *writing) {
    void *address = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    void *library = address ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (library) address = dlsym(library, "__cxa_demangle");
    memcpy(&writing->demangle, &address, sizeof address);
}

int ids_cuda_write(const struct ids_cuda_window *window, const char *path, struct ids_cuda_written *ret_written,
                   char *why, size_t why_size) {
    struct writing writing = {.window = window,
                              .shift = -window->begin.cupti,
                              .next_step = ids_nvtx_steps_first(),
                              .opens = ids_nvtx_steps_open()};
    struct ids_cuda_counts counts = ids_cuda_records_counts(window->records);
    if (!window->begin.cupti) writing.shift = -window->begin.realtime;
    writing.name_count = counts.texts + 1;
    writing.names = malloc(writing.name_count * sizeof *writing.names);
    int failed = !writing.names || place_all(&writing);
    if (failed) snprintf(why, why_size, "no memory to put %zu records in order", counts.events);
    if (!failed) {
        struct ids_xspace_written written = {0};
        find_demangler(&writing);
        writing.out = ids_xspace_open(path, 0, why, why_size);
        failed = !writing.out;
        if (!failed) {
            write_planes(&writing);
            write_environment(&writing);
            failed = ids_xspace_close(writing.out, &written, why, why_size) != 0;
        }
        writing.written.events = written.events;
        writing.written.drops = (int64_t)(window->dropped + counts.dropped) + written.drops;
    }
    *ret_written = writing.written;
    ids_cuda_links_free(&writing.links);
    free(writing.places);
    free(writing.names);
    return failed ? -1 : 0;
}
