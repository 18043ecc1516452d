/* sink.h - where a format puts what it reads.
 *
 * A format knows files, a sink knows what is done with their contents. Sinks are the trace builder (analysis), the dump
 * (hashes for the oracle), the row builder (SQL) and the exporters. A format calls, per file:
 *
 *   host, then in any order plane, name, track, slice, track_end, program, hlo, diag
 *
 * with a plane before its names and tracks, and a name and a track before the slices that use them. Every text is
 * interned in `strings`, in which the keys of keys.h have their fixed ids. Arguments belong to the caller and are valid
 * only during the call. Every function returns 0 or a negative ids_code with `err` set; the format then stops and
 * returns that code.
 */
#ifndef IDS_LIB_MODEL_SINK_H
#define IDS_LIB_MODEL_SINK_H

#include "lib/base/error.h"
#include "lib/base/intern.h"

#include <stdint.h>

enum ids_value_type {
    IDS_VALUE_NONE,  /* a stat without a value */
    IDS_VALUE_INT,   /* i */
    IDS_VALUE_UINT,  /* u: may be above INT64_MAX */
    IDS_VALUE_REAL,  /* d */
    IDS_VALUE_TEXT,  /* text: interned */
    IDS_VALUE_CHARS, /* chars, length: text that was not interned, since it may be different each time */
    IDS_VALUE_BYTES, /* chars, length: binary */
    IDS_VALUE_REF,   /* u: a reference to a text that the file does not hold */
};

/* One stat of an event, a name or a plane. */
struct ids_arg {
    uint32_t key; /* interned; well-known ones are enum ids_key */
    uint8_t type; /* enum ids_value_type */
    uint32_t length;
    union {
        int64_t i;
        uint64_t u;
        double d;
        uint32_t text;
        const char *chars;
    };
};

/* The machine and file of the following calls. */
struct ids_host_info {
    uint32_t name;         /* interned; may be empty */
    int64_t base_ns;       /* what was subtracted from the file's times: times of slices are relative to it */
    int64_t start_unix_ns; /* the wall clock at slice time 0; 0 where the file does not say */
    int64_t ranks;         /* of the job that the file's rank is of, read or not; 0 unknown */
    uint8_t is_xspace;     /* the file is an XSpace: an export to XSpace keeps its clock, its ids and its words */
};

struct ids_plane_info {
    uint32_t name; /* interned: "/device:GPU:0", "/host:CPU" */
    const struct ids_arg *args;
    size_t arg_count;
};

/* The name of events, with the stats that all events of that name share (XEventMetadata). */
struct ids_name_info {
    uint32_t plane; /* what plane() gave */
    uint32_t text;  /* interned */
    uint32_t display;
    const struct ids_arg *args;
    size_t arg_count;
    int64_t id; /* from the file (for a program in /host:metadata: the program's id); 0: none */
};

/* A sequence of events on one timeline (XLine). */
struct ids_track_info {
    uint32_t plane;
    uint32_t name;     /* interned */
    int64_t id;        /* the file's own; may be negative or repeat */
    int64_t origin_ps; /* zero of the file's offsets on this line, since the host's base; whole nanoseconds */
    uint64_t bytes;    /* that its events have in the file; 0 unknown */
};

/* What an event on a timeline is. xplane.pb knows slices only. */
enum ids_form {
    IDS_FORM_SLICE,
    IDS_FORM_INSTANT,   /* a moment */
    IDS_FORM_COUNTER,   /* values of a counter from this moment on: its args, one per series */
    IDS_FORM_FLOW_OUT,  /* an arrow starts at the slice around this moment; both ends have the same arg "id" */
    IDS_FORM_FLOW_STEP, /* it passes through */
    IDS_FORM_FLOW_IN,   /* it ends */
};
/* Their names, in that order, for files that have no other way to express them. */
#define IDS_FORM_NAMES "slice", "instant", "counter", "flow_out", "flow_step", "flow_in"

struct ids_slice {
    int64_t start_ps;    /* since the host's base */
    int64_t duration_ps; /* 0 for all forms but slices */
    uint32_t name;       /* what name() gave */
    uint8_t form;        /* enum ids_form */
    uint32_t arg_count;
    const struct ids_arg *args;
};

/* What of a fusion's work belongs to another scope than its name says (lib/hlo/parts.h). */
enum { IDS_OP_PARTS = 4 };
struct ids_op_parts {
    struct ids_op_part {
        uint32_t op_name; /* interned */
        double share;     /* of all together 1 */
    } at[IDS_OP_PARTS];   /* most work first */
    uint8_t count;        /* 0: one scope, that of the op's own name */
};

/* One instruction of a compiled program, from an HLO proto. Texts are interned, empty where unknown. */
struct ids_instruction_info {
    uint64_t program_id;
    uint32_t module;      /* "jit_train_step" */
    uint32_t name;        /* "fusion.3" */
    uint32_t opcode;      /* "all-reduce", "fusion", ... */
    uint32_t op_name;     /* the framework's: "jit(train_step)/layer0/attn/dot_general" */
    uint32_t source;      /* "file.py:12" */
    uint32_t call_target; /* custom calls only */
    uint32_t groups;      /* replica groups of a collective, "{{0,1},{2,3}}" */
    int64_t result_bytes; /* of the result's shape; -1 unknown */
    uint32_t shape;       /* of the result, "f32[256,256]"; empty unknown */
    uint64_t fingerprint; /* of what it computes, without names (lib/hlo/fingerprint.h); 0 unknown */
    int64_t flops, bytes; /* that it computes and moves (lib/hlo/cost.h); -1 unknown */
    int64_t matrix_flops; /* of flops, those of products and convolutions; -1 unknown */
    struct ids_product_size {
        int64_t rows, columns, depth; /* of its largest matrix product (lib/hlo/padding.h); 0 none, or unknown */
        int64_t bytes, tiled;         /* of operands and results, without and with padding to tiles; 0 unknown */
    } product;
    struct ids_op_parts parts;
    uint32_t order; /* its number in what an execution runs (lib/hlo/flow.h); 0 unknown, or it runs nothing */
    uint32_t loop_begins, loop_ends; /* of a loop: the numbers of the first in it and of the one behind it */
    uint8_t runs, optional;          /* enum ids_hlo_runs; 1: an execution may go on without it */
    uint32_t sharding;               /* of a parameter of the program: "devices=[8,1]"; empty none */
    uint32_t waste_why;              /* what the program's graph shows of `waste`; empty none */
    uint32_t waste_rounds;           /* of the loop in which it is the same each time; 0 unknown */
    uint8_t waste;                   /* enum ids_waste (lib/hlo/waste.h) */
    uint8_t waste_is_part;           /* 1: of a part of its operands */
    uint8_t element;       /* of what it multiplies (lib/hlo/element.h); 0 it is no matrix product or convolution */
    uint8_t split;         /* enum ids_split (lib/hlo/waste.h) */
    uint8_t computed_once; /* 1: op_name says that it is computed again, and the program has it once */
    uint8_t is_parameter;  /* 1: of the program itself, so that op_name is what the program calls its argument */
    uint8_t is_donated;    /* 1: of a parameter whose memory a result may take */
};

/* A value that a program keeps in memory, and arguments whose memory a result could take (lib/hlo/program_memory.h).
 * Texts are interned, empty where unknown. */
struct ids_program_value {
    int64_t bytes, padding;
    uint32_t name, op_name, source, shape;
    uint8_t kind; /* enum ids_hlo_value_kind */
    uint8_t in_place, at_peak;
};
struct ids_kept_argument {
    int64_t bytes;
    uint32_t name, arrays;
};

/* What a program keeps on its device while it runs. */
struct ids_program_memory_info {
    uint64_t program_id;
    uint32_t module; /* "jit_train_step" */
    uint32_t peak;   /* the instruction at which most temporaries live; empty unknown */
    int64_t arguments, in_place, results, temporaries, constants, on_host, elsewhere;
    const struct ids_program_value *values; /* most bytes first */
    size_t value_count;
    const struct ids_kept_argument *kept;
    size_t kept_count;
};

/* What lives on a device at one moment, by the stack of calls that made it: arrays, compiled programs. */
struct ids_held_frame {
    uint32_t function, file; /* interned */
    int32_t line;            /* 0 unknown */
};
enum { IDS_HELD_STACK = 64 }; /* the outermost frames of deeper stacks are left out */
struct ids_held_info {
    uint32_t file;         /* the file that says so, without its endings; empty where a run is one file */
    uint32_t device, kind; /* "gpu:0"; "buffer", "executable"; empty unknown */
    int64_t bytes, count;
    const struct ids_held_frame *frames; /* the innermost first */
    size_t frame_count;
};

/* A compiled program as the file holds it: a serialized HloProto. */
struct ids_program {
    uint32_t name; /* interned: "jit_train_step(123)" */
    uint64_t program_id;
    const void *bytes;
    size_t length;
};

enum ids_severity { IDS_NOTE, IDS_WARNING, IDS_DAMAGE };

/* An entry in the ledger of what was capped, clipped, unmatched, repaired or lost. */
struct ids_diag {
    enum ids_severity severity;
    const char *id;   /* stable, for scripts: "xplane.truncated" */
    const char *text; /* for people */
    int64_t offset;   /* in the file; -1 where it makes no sense */
    uint64_t count;   /* how many events, bytes or records it is about */
};

struct ids_sink;
struct ids_sink_ops {
#define IDS_SINK_LIST(...) __VA_ARGS__
#define IDS_SINK_CALL(name, params, args) \
    int (*name)(struct ids_sink * sink, IDS_SINK_LIST params, struct ids_error * err);
#include "lib/model/sink_calls.def"
};

/* Lines of a plane are read beside each other into parts of a sink, which take track, slice and track_end alone. */
struct ids_sink_parts {
    /* A sink for some of the plane's tracks, `tracks_before` behind those that were told already, when all names of the
     * plane are known. While there are parts nothing else
     * is told to the sink; several threads may begin parts, and each feeds its own. A call of a part fails
     * where what it is told depends on what was read before; the caller then reads these lines, and all of the plane
     * that come behind them, into the sink itself. */
    int (*begin)(struct ids_sink *sink, uint32_t plane, size_t tracks_before, struct ids_sink **ret_part,
                 struct ids_error *err);
    /* No more comes: what only reading needs is let go. */
    void (*end)(struct ids_sink *part);
    /* Takes all over that the part has, as if it had been told to the sink; parts come in the order of the file.
     * *ret_taken 0: nothing was taken, and the caller does as above. */
    int (*take)(struct ids_sink *sink, struct ids_sink *part, int *ret_taken, struct ids_error *err);
    void (*free)(struct ids_sink *part);
};

struct ids_sink {
    const struct ids_sink_ops *ops;
    struct ids_strings *strings;
    const struct ids_sink_parts *parts; /* NULL: it is told everything in order */
    int complete; /* 1 until a format finds that the file ends early; then the format sets 0 and says so in diag */
    /* What may stand at the end of a file changes what its first events are, in some formats. 1: such a format may give
     * them at once, as if nothing of that came; where it comes, the format sets `begins_again` and fails, and its
     * caller reads the file into another sink, with 0 here. */
    uint8_t may_begin_again, begins_again;
    /* What the file is called without its endings, where a run has several: no two hosts have the same, as
     * TensorBoard's layout has it, though two processes of a machine say the same of it. Else 0, the empty text. */
    uint32_t file_name;
    const char *read_as; /* of a partial: ids_format.name of the file that it was made of */
};

/* What the host of a file is called that names one (0: it does not). A rank has its number in every file of the run, so
 * its name holds where others are called as their files are. */
static inline uint32_t ids_host_of_file(const struct ids_sink *sink, uint32_t named) {
    if (!sink->file_name || ids_text_begins(ids_strings_text(sink->strings, named), "rank ")) return named;
    return sink->file_name;
}

#endif
