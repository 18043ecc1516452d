/* trace.h - one run in memory: what analyzers read.
 *
 * Dimensions (hosts, devices, tracks, names, ops, modules, kernel shapes) are small and whole. Of the events only those
 * that have a part in some question are kept, as fixed records in time order: everything devices did, and on the host
 * what launches, waits, compiles, transfers, feeds or marks steps. The rest (most Python frames, say) is counted into
 * its name's aggregate while it streams past, so that memory follows the questions and not the size of the file.
 *
 * Times are picoseconds since the run's origin. Analyzers read events through cursors; whether the records come from a
 * decode or from a database they cannot tell.
 */
#ifndef IDS_LIB_MODEL_TRACE_H
#define IDS_LIB_MODEL_TRACE_H

#include "lib/base/far.h"
#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/hlo/opcode.h"
#include "lib/model/event_kind.h"
#include "lib/model/keys.h"
#include "lib/model/sink.h"
#include "lib/model/timeline.h"
#include "lib/occupancy/occupancy.h"

#include <stddef.h>
#include <stdint.h>

#define IDS_NONE UINT32_MAX

/* By what the times of a host were brought to the clock of the run (clocks.h). */
enum ids_clock_method {
    IDS_CLOCK_REFERENCE,   /* the others were brought to its clock */
    IDS_CLOCK_COLLECTIVES, /* collectives end together */
    IDS_CLOCK_RECORDED,    /* its file says when it began, and nothing confirms that */
    IDS_CLOCK_APART,       /* by nothing: its times compare with no other host's */
    IDS_CLOCK_METHODS,
};

struct ids_clock {
    uint8_t method;      /* enum ids_clock_method */
    uint32_t number;     /* hosts of one number have one clock: only their times compare; 0 is the run's */
    uint32_t against;    /* the host that it was matched with; itself where that is none */
    int64_t offset_ps;   /* what was added beside the difference of the recorded clocks */
    int64_t residual_ps; /* how far collectives end apart at most, afterwards; -1 unknown */
    double drift;        /* how much faster than the other host's its clock runs: 1e-6 is a microsecond a second */
    uint64_t matched;    /* collectives that were found on both */
    int64_t shortest_ps; /* the shortest of these; -1 there are none */
};

struct ids_host {
    uint32_t name;         /* text */
    uint32_t told;         /* text: as its file calls it; empty where it does not */
    int64_t shift_ps;      /* what was added to the file's times to reach the run's */
    int64_t start_unix_ns; /* wall clock of the file's time 0; 0 unknown */
    struct ids_clock clock;
    int64_t ranks;    /* of the job that it is one of, read or not; 0 unknown */
    int64_t asked_ms; /* how long its profile was to last, as its options say; 0: until the program ended it */
    int64_t opened_unix_ns, closed_unix_ns; /* wall clock of its profile's begin and end; 0 unknown */
    size_t first_device, first_track;       /* it has those from here on, up to those of the next host */
};

enum ids_device_kind { IDS_DEVICE_GPU, IDS_DEVICE_TPU, IDS_DEVICE_CPU, IDS_DEVICE_CUSTOM };

/* Records in time order. */
struct ids_events {
    struct ids_event *at;
    size_t count, room;
    struct ids_far *far; /* where they lie, once their host is whole; NULL: in memory of their own, which may grow */
    uint64_t kinds;      /* of a host thread: what may be among them (IDS_KINDS); 0 unknown */
};

struct ids_device {
    const char *key;   /* "<host>:<plane>", for CPU "<host>:<plane>#<ordinal>" */
    const char *label; /* short, for a line of the report: "GPU:0", "CPU#3" */
    enum ids_device_kind kind;
    uint32_t host;
    int64_t ordinal;                            /* as the plane's name or the event's stat says; -1 unknown */
    uint32_t model;                             /* text: "NVIDIA GeForce GTX 1080 Ti", "TPU v6 Lite"; may be empty */
    uint32_t vendor;                            /* text */
    double peak_flops, peak_bytes_per_second;   /* per second; 0 unknown */
    uint64_t memory_bytes;                      /* 0 unknown */
    int32_t capability_major, capability_minor; /* CUDA's compute capability; gfx942: 9, 4; -1 unknown */
    int64_t cores;                              /* multiprocessors, compute units; 0 unknown */
    const struct ids_multiprocessor *multiprocessor; /* what each of them holds; NULL unknown */
    uint64_t shape_kind; /* what shapes of kernels depend on: the same on every device of a kind, in every process */
    uint32_t found;      /* in which order the file named it */
    /* What the hardware did: kernels, copies, sets, ops, waits booked as ops. An event here is activity ("busy"). */
    struct ids_events activity;
    /* Copies that run beside the ops (TPU "Async XLA Ops"): transfers, but no activity of the core. */
    struct ids_events async;
    struct ids_events waits;   /* TPU "XLA TraceMe": dependency-wait, barrier-cores: why a core does nothing */
    struct ids_events modules; /* TPU "XLA Modules": executions of whole programs */
    struct ids_events steps;   /* a "Steps" line of the file */
};

enum ids_track_role {
    IDS_TRACK_HOST,     /* a host thread */
    IDS_TRACK_SAMPLED,  /* sampled stacks of a host thread, whose own track has the same number (sampled.h) */
    IDS_TRACK_STREAM,   /* GPU stream */
    IDS_TRACK_OPS,      /* TPU "XLA Ops" */
    IDS_TRACK_ASYNC,    /* TPU "Async XLA Ops" */
    IDS_TRACK_MODULES,  /* "XLA Modules" */
    IDS_TRACK_WAITS,    /* "XLA TraceMe" */
    IDS_TRACK_STEPS,    /* "Steps" */
    IDS_TRACK_COUNTERS, /* samples of counters (counters.h) */
    IDS_TRACK_DERIVED,  /* name scopes and the like that viewers derive, and "CUPTI overhead": never activity */
};

enum ids_waits { IDS_WAITS_NOT, IDS_WAITS_FOR_LOCK, IDS_WAITS_FOR_GIL, IDS_WAITS_FOR_CORE, IDS_WAITS_OUTSIDE };

/* What a host thread does: the innermost activity that has an account. Names are indices of ids_trace.names,
 * IDS_NONE none. */
struct ids_doing {
    uint32_t name;   /* that activity */
    uint32_t around; /* the outermost activity of the same account around it: PjitFunction(f) around its launches; else
                      * `name` */
    uint32_t caller; /* the innermost function of the program around it: a Python frame */
    uint32_t called; /* what that function calls, of a library or built in, where that is told (doings.c); IDS_NONE */
    uint32_t inside; /* of sampled stacks: the call by which C runs that function, such as that of a jitted one whose
                      * argument has a __hash__ of the program's: plus 1; 0: none is known */
    uint8_t account; /* enum ids_account; IDS_NO_ACCOUNT: nothing that is known of */
    uint8_t library; /* what is open is a library's Python frame */
    uint8_t in_callback; /* of sampled stacks: the program's function was called back by what runs on a device */
    uint8_t waits;    /* enum ids_waits: a lock is waited for, so that another thread tells what holds this one up; or a
                       * core; or what is no matter of Python's, whose lock the thread has given back */
    uint8_t launches; /* of a region: work is launched in it, so that it is a part of the program and no errand; of a
                       * function's call of a library: that call launches (launching_calls.h) */
    uint8_t is_guess; /* of sampled stacks: no sample saw who called this; other calls of the same were seen there */
};

/* TPU ops' "Time Scale Multiplier": time at the default clock ÷ time that it took. Below 1 the clock was held back. */
struct ids_time_scale {
    double sum;
    uint64_t count;
    double time_ps, scaled_ps; /* time of those ops, and as it were at the default clock */
};

struct ids_track {
    uint32_t host, plane, device; /* device IDS_NONE for host threads */
    uint32_t name, plane_name;    /* texts */
    int64_t id;
    enum ids_track_role role;
    uint64_t event_count, stat_count; /* of the file, kept or not */
    int64_t first_ps, last_ps;        /* of the file's events; first > last when there are none */
    uint64_t overlaps;                /* events that overlap another partly: siblings on lanes */
    struct ids_events events;         /* host threads: the kept events */
    struct ids_timeline timeline;     /* host threads: what they did at each moment (doings.h) */
    struct ids_timeline seen; /* of sampled stacks that became a thread's own: what samples saw, each with its line */
    uint32_t
        works_for;   /* of a thread of a library: track of the program's thread that waits for it, index + 1; 0: none */
    uint32_t thread; /* of a driver's calls (join.c): index + 1 of the track of the same thread that
                      * has what is around them; 0: none has */
    uint32_t sampling; /* of sampled stacks: index of trace->samplings + 1; 0: it is no such track */
    struct ids_time_scale time_scale;
    /* Ops of a framework by their number (`External id`), which its profiler counts up in each process. */
    uint64_t numbered_ops;
    int64_t first_number, last_number;
};

/* When a sample was taken that a track of sampled stacks has. */
struct ids_stack_sample {
    int64_t when_ps;
    uint32_t track;
    uint8_t begins; /* the first of its slice: since the sample before, the thread came to this stack, or woke in it */
};

/* How a window of idsprof sampled stacks. */
struct ids_sampling {
    int64_t period_ps;                       /* from one sample to the next; 0 unknown */
    int64_t dense_period_ps;                 /* the same at first, 0: no other one */
    int64_t dense_ps;                        /* for so long */
    int64_t tells_wakes;                     /* a thread that woke in a stack has a new slice of it */
    int64_t running_step;                    /* the step in whose middle the window opened; -1: none */
    int64_t slow_step;                       /* the one for which the window was kept; -1: none */
    int64_t others_ran_ps, others_waited_ps; /* threads that run no Python: ran, had no core; 0 unknown */
    int64_t next_step_ago_ps; /* since then the step runs that ended the window, at the sampling's end; -1: none did */
    /* Who had the machine's cores, in thousandths of one; cores 0: unknown. */
    int64_t cores, own_cores, started_cores, others_cores;
    int64_t started_processes;                /* that it started, and that had a 20th of a core */
    uint32_t started_command, others_command; /* texts: of those that had most */
};

/* What an event is called, and what all events of that name have in common. */
struct ids_name {
    uint32_t text, display; /* display may be empty */
    uint32_t plane;
    uint32_t op;       /* TPU: the op of this name; IDS_NONE */
    uint32_t launched; /* of a call in sampled stacks that has events of its own, or of the line of the program that
                        * makes it: the name of such an event, PjitFunction(f), plus 1; 0: none */
    uint8_t kind;      /* enum ids_kind on a host thread */
    /* What a GPU's stream does under that name, told once and not for each event: KERNEL, COPY or SET, a copy's
     * direction, a kernel's collective. */
    uint8_t stream_kind, direction, collective;
    uint8_t matrix_use;   /* enum ids_matrix_use, of a kernel */
    uint8_t graph_launch; /* 1 no, 2: of a call that launches a CUDA graph; 0 not looked at yet */
    uint8_t account;   /* enum ids_account + 1 of a host event of that name and kind, once somebody asked; 0 before */
    uint8_t is_region; /* 1: a program may have called a region so, in a file that does not mark regions
                        * (TraceAnnotation) */
    uint8_t of_framework; /* on a host: the file says that it is a framework's op or call, so it is no region of the
                           * program */
    uint8_t is_block;     /* 1: of the region that idsprof's window was opened for: it says nothing of what is in it */
    uint8_t is_wrapped;   /* 1: of the region of a call, by --wrap: what stacks show meanwhile is in it */
    uint8_t hands_over;   /* 1: of a stage of the input pipeline that says that it only takes what others prepare */
    uint8_t is_sampled;   /* 1: of a call in sampled stacks */
    uint8_t frame;        /* enum ids_frame_owner of a Python frame, once somebody asked; 0 before */
    uint8_t allocator;    /* enum ids_allocator_source, of a host's names */
    uint8_t call_part;    /* of a host's frames and ops: what calls.c takes the name for; 0 not looked at yet */
    uint8_t product;      /* of a host's ops: ids_torch_product + 1; 0 not looked at yet */
};

enum ids_class {
    IDS_CLASS_COMPUTE,
    IDS_CLASS_COLLECTIVE,
    IDS_CLASS_COPY,  /* copies and sets */
    IDS_CLASS_STALL, /* booked as activity, but it only waits: *-done */
    IDS_CLASS_COUNT,
};

enum ids_direction {
    IDS_H2D,
    IDS_D2H,
    IDS_D2D,
    IDS_P2P,
    IDS_MEMSET,
    IDS_H2H,
    IDS_DIRECTION_COUNT,
    IDS_NO_DIRECTION = IDS_DIRECTION_COUNT
};

/* By what a class was recognised; printed, since names lie. */
enum ids_class_rule {
    IDS_RULE_DEFAULT,
    IDS_RULE_CATEGORY,
    IDS_RULE_OPCODE,
    IDS_RULE_KERNEL_NAME,
    IDS_RULE_ARGS,       /* Kineto's "Collective name" */
    IDS_RULE_ANNOTATION, /* "nccl:all_reduce" around the launch */
    IDS_RULE_RENDEZVOUS, /* a CPU op of a file without HLO, which waits for peers inside */
    IDS_RULE_COUNT,
};

struct ids_module {
    uint32_t name, host;
    uint64_t program_id; /* 0 unknown */
};

/* Who counted the operations and bytes of an op. */
enum ids_cost_source { IDS_COST_UNKNOWN, IDS_COST_OF_FILE, IDS_COST_OF_MODEL /* lib/hlo/cost.h, text_cost.h */ };

/* How it is known of what ran that it is of the op: what holds of all that did, the last one is the weakest. */
enum ids_op_known {
    IDS_OP_TOLD,     /* the file says so */
    IDS_OP_BY_NAME,  /* the kernel is called so, in a program that has one op with such a kernel (kernel_ops.h) */
    IDS_OP_BY_ORDER, /* by the order in which the program runs its ops */
    IDS_OP_KNOWN_COUNT
};

/* One HLO op of one program. */
struct ids_op {
    uint32_t name;     /* "fusion.3"; for a GPU kernel without an HLO op the kernel's name does not make an op */
    uint32_t module;   /* index of modules; IDS_NONE */
    uint32_t category; /* hlo_category (TPU), else the HLO opcode; empty unknown */
    uint32_t opcode;   /* from the HLO proto or the HLO text; empty unknown */
    uint32_t long_name, framework_name, source, deduplicated_name, groups; /* texts, empty unknown */
    int64_t flops, model_flops, bytes_accessed;                            /* per execution; -1 unknown */
    int64_t matrix_flops;  /* of flops, those of products and convolutions; -1 unknown */
    int64_t memory_bytes;  /* of bytes_accessed, those of the device's main memory; -1 unknown */
    int64_t told_bytes;    /* as memory_bytes, where the file says itself which memories an op reads and writes; -1 */
    int64_t copy_bytes;    /* of a copy between host and device memory; -1 unknown or none */
    int64_t result_bytes;  /* from the HLO proto; -1 unknown */
    int64_t message_bytes; /* of a collective, see lib/model/collective.h; -1 unknown */
    int64_t group_size;    /* of a collective: devices in each replica group; 0 unknown */
    struct ids_product_size product; /* of an op that multiplies matrices */
    struct ids_op_parts parts;       /* scopes that a fusion covers, if not only that of its name */
    uint32_t shape;                  /* of the result, without layout, "f32[256,256]"; empty unknown */
    uint64_t fingerprint;  /* what it computes, whatever it is called: the same in another compilation; 0 unknown */
    uint32_t waste_why;    /* of `waste`, for a person; empty unknown */
    uint32_t waste_rounds; /* of the loop in which it is the same each time; 0 unknown */
    uint8_t waste;         /* enum ids_waste (lib/hlo/waste.h): by the program's graph, else by its names */
    uint8_t waste_is_part; /* 1: of a collective that moves something else too */
    uint8_t cost_source;   /* enum ids_cost_source: of flops and bytes */
    uint8_t element;       /* of what a matrix product or convolution multiplies (lib/hlo/element.h); 0 it is none */
    uint8_t narrower;      /* of a kernel that multiplies two types: the one of fewer bits; 0 it does not */
    uint8_t split;         /* enum ids_split: why the op that uses it is another one */
    uint8_t direction;     /* enum ids_direction of such a copy */
    uint8_t class;         /* enum ids_class */
    uint8_t collective;    /* enum ids_collective */
    uint8_t class_rule;    /* enum ids_class_rule */
    uint8_t marker;        /* 1: an async -start or -done: takes part in no count of kernels */
    uint8_t framework;     /* 1: of the framework (aten::addmm), which launches kernels; no instruction of a program */
    uint8_t container;     /* 1: a while, conditional or call: its time is that of the ops inside it */
    uint8_t calls_back;    /* 1: a callback (jax.pure_callback, io_callback): Python on the host, whatever device it is
                            * booked on */
    uint8_t computed_once; /* 1: framework_name says that it is computed again, and the program has it once */
    uint8_t known_by;      /* enum ids_op_known */
    uint8_t meets;         /* 1: on the CPU it waited for its peers inside (IDS_KIND_STALL) */
};

enum ids_call_pass {
    IDS_CALL_FORWARD,
    IDS_CALL_BACKWARD, /* on a thread of autograd; the scope is that of the forward op */
    IDS_CALL_AGAIN,    /* there too, but it is the forward pass of a checkpoint, a second time (checkpoints.h) */
};

/* What the framework was doing when it launched work, where the file tells (Kineto); texts, 0 unknown. */
struct ids_call {
    uint32_t scope;  /* the modules around it, "MLP_0/Linear_1"; without any the regions that the program named */
    uint32_t op;     /* the innermost op of the framework: aten::addmm */
    uint32_t outer;  /* the outermost: aten::linear, or the node of autograd, AddmmBackward0 */
    uint32_t frame;  /* the innermost Python frame that is no built-in: "torch/nn/modules/linear.py(113): forward" */
    uint32_t source; /* the innermost one outside the framework: "train.py(12): step" */
    uint32_t pass;   /* enum ids_call_pass */
    uint32_t cost;   /* of `op`: index + 1 of call_costs; 0 unknown */
    uint32_t
        inputs; /* hash of the types and shapes of what `op` was called with, where its cost is not known; 0 unknown */
};

/* What an op of the framework computes and moves by the shapes of what it was called with (torch_cost.h). */
struct ids_call_cost {
    int64_t flops, bytes;
    uint64_t fingerprint; /* of what it was called with */
    uint32_t shape;       /* text: of its result */
    uint8_t element;
};

/* How a kernel was launched. Values are -1 where unknown. */
struct ids_shape {
    int64_t registers, static_shared_bytes, dynamic_shared_bytes;
    int64_t grid[3], block[3];
    double occupancy;       /* theoretical, of the file or else computed (hardware.h), 0..1; negative unknown */
    double achieved;        /* as Kineto estimates: less where the grid does not fill the device; negative unknown */
    double waves;           /* blocks of the grid, in times of what the device holds at once; negative unknown */
    int32_t blocks_at_once; /* on a multiprocessor; 0 unknown */
    uint8_t limit;          /* enum ids_occupancy_limit: what keeps more threads from being there */
    uint32_t groups;        /* text: the ranks that take part, of a collective in a Kineto file; empty unknown */
    int64_t group_size;     /* how many they are; 0 unknown */
};

/* There are millions, so what only host threads or only devices have shares its bytes. On a host thread `device` is
 * IDS_NONE, but for ops of the CPU: they are events of devices, though threads have them until their track ends. */
struct ids_event {
    int64_t start_ps, end_ps;
    int64_t self_ps; /* own time less that of the events wholly inside it on its track */
    union {
        uint64_t consumes;              /* until the join (join.c): the link to what made this run; 0 none */
        const struct ids_event *launch; /* from then on: the host event that made this run; NULL unknown */
    };
    uint64_t produces; /* a link to other events (correlation ids, flows); 0 none. What a stream's event "produces" is
                        * the key of the op that it names (`External id`), which calls.c looks up. */
    uint64_t run_id;   /* of an execution, or of the op's run around a launch of a framework; 0 none */
    int64_t
        value; /* transfers and collectives: bytes, -1 unknown · step marks: the step's number · launches of a program:
                * the device's ordinal + 1, 0 unknown · else 0 */
    uint32_t name, op; /* indices; op IDS_NONE where there is none */
    uint32_t track, device;
    union {
        struct {                   /* host threads */
            uint32_t parent;       /* index of the kept event it lies in, on the same track; IDS_NONE */
            uint32_t call;         /* of a launch: index + 1 of calls; 0 unknown */
            uint8_t annotation;    /* 1: a region that the program named */
            uint8_t from_autograd; /* 1: a launch by what runs backward, while another thread waits */
            uint8_t graph_ran;     /* 1: the launch of a CUDA graph of which the file has work (the join finds it) */
        };
        struct {                  /* devices */
            uint32_t shape;       /* index; IDS_NONE where there is none */
            uint8_t class;        /* enum ids_class, of activity */
            uint8_t collective;   /* enum ids_collective */
            uint8_t class_rule;   /* enum ids_class_rule */
            uint8_t asynchronous; /* copies: 1 async, 0 sync, 2 unknown */
            uint8_t pinned;       /* copies: 1 pinned, 0 pageable, 2 unknown */
            uint8_t in_graph;     /* ran as part of a CUDA graph */
        };
    };
    uint8_t kind;      /* enum ids_kind */
    uint8_t direction; /* enum ids_direction, of transfers */
    union {
        uint8_t launches;   /* host threads: 1: work was launched inside it, on its thread */
        uint8_t begins_run; /* devices: 1: the first work of a run of the framework's op */
    };
    uint8_t compiles; /* host threads: 1: something was compiled inside it, on its thread */
};
_Static_assert(sizeof(struct ids_event) == 88, "a byte more for each of millions");

/* Of an event of either: those of host threads have none. */
static inline uint32_t ids_event_shape(const struct ids_event *event) {
    return event->device == IDS_NONE ? IDS_NONE : event->shape;
}

/* What was sampled over time (counters.h). */
struct ids_counter_sample {
    int64_t at_ps;
    double value;
};
struct ids_counter {
    uint32_t track;
    uint32_t name, series; /* texts; series 0: the name says it */
    uint64_t count, above_zero;
    double sum, min, max;
    struct ids_counter_sample *samples; /* the first ones, in order of time */
    size_t sample_count, sample_room;
};

/* Sums over all events of one name on one track, kept or not. */
struct ids_aggregate {
    uint32_t track, name;
    uint64_t count;
    int64_t sum_ps, self_ps, min_ps, max_ps;
};

struct ids_trace_diag {
    uint8_t severity; /* enum ids_severity */
    const char *id, *text;
    int64_t offset;
    uint64_t count;
    uint32_t host;
};

struct ids_trace {
    struct ids_far *far; /* for what is large, of hosts that are whole; NULL: the run is held in memory */
    struct ids_strings strings;
    struct ids_key_spellings spellings;
    struct ids_arena arena;
    int complete;
    int64_t origin_unix_ns; /* of time 0; 0 unknown */
    uint64_t event_count, stat_count;
    uint32_t jax_version; /* text; empty unknown */
    struct ids_host *hosts;
    size_t host_count, host_room;
    uint32_t clock_count; /* numbers of clocks among the hosts; 1: all times compare */
    struct ids_device *devices;
    size_t device_count, device_room;
    int accelerated; /* a device that is no CPU did something */
    struct ids_track *tracks;
    size_t track_count, track_room;
    struct ids_name *names;
    size_t name_count, name_room;
    struct ids_module *modules;
    size_t module_count, module_room;
    struct ids_op *ops;
    size_t op_count, op_room;
    struct ids_program_fact *facts; /* lib/model/program_facts.h */
    size_t fact_count, fact_room;
    struct ids_call *calls;
    size_t call_count, call_room;
    struct ids_call_cost *call_costs;
    size_t call_cost_count, call_cost_room;
    struct ids_shape *shapes;
    size_t shape_count, shape_room;
    struct ids_aggregate *aggregates;
    size_t aggregate_count, aggregate_room;
    struct ids_stack_sample *samples; /* of each slice the first and the last one */
    size_t sample_count, sample_room;
    struct ids_sampling *samplings;
    size_t sampling_count, sampling_room;
    struct ids_text *told_files; /* of the program, that share their name with another one (told_files.h) */
    size_t told_file_count, told_file_room;
    struct ids_stack *stacks; /* lib/model/stacks.h */
    size_t stack_count, stack_room;
    struct ids_keymap stack_numbers; /* what it is around and its text -> its index + 1 */
    struct ids_trace_diag *diags;
    size_t diag_count, diag_room;
    struct ids_allocator *allocators;   /* lib/model/allocations.h */
    struct ids_allocation *allocations; /* by allocator, in time order */
    struct ids_held *held;              /* lib/model/held.h */
    struct ids_held_frame *held_frames;
    size_t held_count, held_room, held_frame_count, held_frame_room;
    struct ids_program_memory *programs; /* lib/model/programs.h */
    struct ids_program_value *program_values;
    struct ids_kept_argument *kept_arguments;
    size_t program_count, program_room, program_value_count, program_value_room;
    size_t kept_argument_count, kept_argument_room;
    size_t allocator_count, allocator_room, allocation_count, allocation_room;
    struct ids_doing *doings; /* each distinct one once; the first is doing nothing that is known of */
    size_t doing_count, doing_room;
    struct ids_keymap doing_numbers;        /* its fields -> its index + 1 */
    struct ids_doing_change *doing_changes; /* what was found of the last ones (doings.c) */
    /* How it was recorded: the profiler's options, -1 where the file does not say. */
    int tracer_host, tracer_device, tracer_python;
    struct ids_counter *counters;
    size_t counter_count, counter_room, counter_samples; /* samples: of all of them together */
    uint64_t counters_left_out;                          /* values of counters beyond the first 65,536 */
    struct ids_time_scale time_scale;                    /* of all tracks */
    uint64_t hlo_instructions; /* read from HLO protos; 0: ops of GPU and CPU have no opcode */
};

void ids_trace_free(struct ids_trace *trace);
/* A device's lists of events. */
enum ids_device_list {
    IDS_LIST_ACTIVITY,
    IDS_LIST_ASYNC,
    IDS_LIST_WAITS,
    IDS_LIST_MODULES,
    IDS_LIST_STEPS,
    IDS_DEVICE_LISTS
};
struct ids_events *ids_device_list(struct ids_device *device, enum ids_device_list list);
/* Returns the room that growing left over in the lists of events, of the devices and tracks from these on: nearly half
 * of the memory of a large trace. Lists may grow again. */
void ids_trace_give_back(struct ids_trace *trace, size_t first_device, size_t first_track);
/* What threads did at each moment is gone: the analysis is done, and only events are asked for. */
void ids_trace_drop_timelines(struct ids_trace *trace);
/* Moves the lists and timelines of these devices and tracks to trace->far, where they keep their addresses from then
 * on; returns how many bytes of memory that freed. 0 where the disk has no room: all stays where it is. Nothing points
 * to these events yet. */
uint64_t ids_trace_put_far(struct ids_trace *trace, size_t first_device, size_t first_track);
/* The same for one timeline that was made anew; nothing where there is no trace->far. */
void ids_trace_put_timeline_far(struct ids_trace *trace, struct ids_timeline *timeline);
/* Adds one at the end, maybe out of order; NULL when memory ran out. It may move the others. */
struct ids_event *ids_events_add(struct ids_events *events);
/* They are gone. */
void ids_events_let_go(struct ids_events *events);
/* To be said before a list is read through by its index; cursors say it themselves. */
static inline void ids_events_turn(const struct ids_events *events) {
    if (events->far) ids_far_turn(events->far, events->count * sizeof *events->at);
}

/* A list of which most events are changed: those to be changed, in the list's order, until they are given back. Where
 * the list is far these are copies: nothing may point at them, and what is read from the list itself is as it was. */
static inline struct ids_event *ids_events_change(const struct ids_events *events) {
    ids_events_turn(events);
    return events->far ? ids_far_change(events->far, events->at, events->count * sizeof *events->at) : events->at;
}
static inline void ids_events_changed(const struct ids_events *events, struct ids_event *opened) {
    if (events->far) ids_far_changed(events->far, events->at, opened, events->count * sizeof *events->at);
}

enum { IDS_KIND_ANNOTATED = 63 }; /* of ids_events.kinds: an event of any kind that the program named */
_Static_assert((int)IDS_KIND_COUNT <= (int)IDS_KIND_ANNOTATED, "a bit for each kind");
#define IDS_KINDS(kind) (UINT64_C(1) << (kind))
/* 0: none of these kinds is among the events. */
static inline int ids_events_may_have(const struct ids_events *events, uint64_t kinds) {
    return !events->kinds || (events->kinds & kinds) != 0;
}

static inline const char *ids_trace_text(const struct ids_trace *trace, uint32_t text) {
    return ids_strings_z(&trace->strings, text);
}
/* A name, and that of an event, for people: the display name where there is one. */
const char *ids_trace_name(const struct ids_trace *trace, uint32_t name);
const char *ids_event_name(const struct ids_trace *trace, const struct ids_event *event);

/* Reads records in time order: by start, then longer first. */
struct ids_cursor {
    const struct ids_event *at, *end;
};
static inline struct ids_cursor ids_cursor_over(const struct ids_events *events) {
    ids_events_turn(events);
    return (struct ids_cursor){events->at, events->count ? events->at + events->count : events->at};
}
/* The same for who looks for some kinds alone: over no event where none of these is among them. There are millions on
 * threads of XLA, and those that most analyses look for lie on one or two others. */
static inline struct ids_cursor ids_cursor_over_kinds(const struct ids_events *events, uint64_t kinds) {
    return ids_events_may_have(events, kinds) ? ids_cursor_over(events) : (struct ids_cursor){0};
}
/* Only those that begin at `from` or later and before `to`. */
struct ids_cursor ids_cursor_between(const struct ids_events *events, int64_t from_ps, int64_t to_ps);
static inline const struct ids_event *ids_cursor_next(struct ids_cursor *cursor) {
    return cursor->at == cursor->end ? NULL : cursor->at++;
}

/* The innermost kept event of a host thread that covers the moment, NULL when there is none; ids_event_outside gives
 * the next one outwards. What a device did lies in nothing. */
const struct ids_event *ids_track_at(const struct ids_track *track, int64_t when_ps);
/* The track that has what is around the events of a track of a driver's calls alone; IDS_NONE: its own. */
uint32_t ids_thread_around(const struct ids_trace *trace, uint32_t track);
const struct ids_event *ids_event_outside(const struct ids_trace *trace, const struct ids_event *event);

/* The event that made `event` happen where that is known: the producer of what it, or an event around it, consumes. It
 * is how a worker thread's event is traced to the Python thread that dispatched it. NULL at the root. */
const struct ids_event *ids_event_cause(const struct ids_trace *trace, const struct ids_event *event);

/* "recomputed", "backward" ...: of what pass the op is (lib/hlo/scope.h). What its name calls computed again, and the
 * program has once, is of the forward pass. */
const char *ids_op_pass(const struct ids_trace *trace, const struct ids_op *op);

/* Its family (lib/hlo/family.h). Of a fusion or a library's call whose name tells none: what most of its operations
 * are. A fusion that computes is no copy, whatever XLA calls it. */
const char *ids_op_family(const struct ids_trace *trace, const struct ids_op *op, const char *event_class);

/* Whether the track holds what jax.monitoring told idsprof's Python hook: "jax.compile(f)", beside the thread that did
 * it, to which each event points as to its cause. */
int ids_track_is_told(const struct ids_trace *trace, const struct ids_track *track);
/* Whether a plane of that name holds sampled stacks. */
int ids_plane_is_sampled(struct ids_text plane_name);
/* How a track's stacks were sampled; NULL of one that is no such track. */
static inline const struct ids_sampling *ids_sampling_of(const struct ids_trace *trace, const struct ids_track *track) {
    return track->sampling ? &trace->samplings[track->sampling - 1] : NULL;
}
/* Where a track's samples begin, which stand in the order of tracks once these are joined (lib/model/sampled.h). */
size_t ids_trace_first_sample(const struct ids_trace *trace, uint32_t track);
/* Whether idsprof kept the window for that step: what made it slow is no part of opening the window. */
int ids_sampling_kept_for(const struct ids_trace *trace, uint32_t host, int64_t number);
/* Whether it holds the program's calls of its PJRT plugin, as idsprof's interposer saw them: what the plugin says of
 * the same work stands elsewhere. */
int ids_track_is_calls(const struct ids_trace *trace, const struct ids_track *track);

/* "file", "model"; NULL of nobody. */
/* How it is known of what ran that it is of an op: "recorded", "by name", "by order". */
const char *ids_op_known_name(enum ids_op_known known);
const char *ids_cost_source_name(enum ids_cost_source source);
const char *ids_class_name(enum ids_class class);
const char *ids_direction_name(enum ids_direction direction);
const char *ids_collective_name(enum ids_collective collective);
const char *ids_class_rule_name(enum ids_class_rule rule);
const char *ids_clock_method_name(enum ids_clock_method method);

#endif
