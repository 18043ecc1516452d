/* module.h - the graph of a compiled program, as XLA wrote it into the profile.
 *
 * A module has computations, a computation has instructions in an order in which operands come before their users, and
 * an instruction has a shape, operands, the computations that it calls, and where it comes from. Everything lies in a
 * few arrays and is named by its index; IDS_HLO_NONE is no index. Repeated parts are ranges of such arrays.
 *
 * A format fills the graph with the ids_hlo_add functions and then calls ids_hlo_module_finish (finish.h), which ties
 * ids to indices and computes the fingerprints and sizes. Field numbers: lib/fields/hlo.h.
 *
 * Ownership: the arrays are the module's (ids_hlo_module_done). Names and attributes are not copied: they point into
 * the bytes that the program was read from, which must live as long as the module.
 * Bounds: IDS_HLO_LIMITS below; more is IDS_LIMIT. Ids that lead nowhere become IDS_HLO_NONE. Ids may repeat (the first
 * one counts) and calls may run in circles; nothing here recurses along them.
 */
#ifndef IDS_LIB_HLO_MODULE_H
#define IDS_LIB_HLO_MODULE_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/base/intern.h"
#include "lib/base/keymap.h"

#include <stdint.h>

#define IDS_HLO_NONE UINT32_MAX
/* How many of each a module may have. The largest programs of today have a million instructions. */
enum {
    IDS_HLO_INSTRUCTIONS_LIMIT = 1 << 21,
    IDS_HLO_NUMBERS_LIMIT = 1 << 24, /* dimensions, operands, calls */
    IDS_HLO_FRAMES_LIMIT = 1 << 20,
    IDS_HLO_SHAPE_DEPTH = 16, /* tuples in tuples; async ops have 3 */
};

struct ids_hlo_range {
    uint32_t first, count;
};

/* How an array lies in memory (LayoutProto). Read only when asked for. */
struct ids_hlo_layout {
    struct ids_hlo_range minor_to_major; /* of numbers: dimensions, the fastest varying first */
    struct ids_hlo_range tiles;          /* of tiles, the one that is applied first in front */
    int64_t memory_space; /* the backend's: on a TPU 5 is the host's memory; 0 the device's main memory */
    int64_t element_bits; /* 0: those of the type */
};

struct ids_hlo_shape {
    int64_t bytes;                   /* of a value, a tuple's parts together; -1 unknown */
    uint64_t fingerprint;            /* of type and dimensions, without layout */
    struct ids_hlo_range dimensions; /* of numbers; negative: unknown */
    uint32_t first_part, next_part;  /* of a tuple: shapes; IDS_HLO_NONE: none */
    uint32_t layout;                 /* IDS_HLO_NONE: none, or not read */
    uint8_t element;                 /* PrimitiveType of xla_data.proto */
    uint8_t incomplete;              /* 1: damaged, or nested too deep */
};

/* An attribute of what is computed (dimensions, window, fusion kind, custom call target ...), as the file has it. */
struct ids_hlo_attribute {
    uint16_t field;   /* HLO_INSTRUCTION_ of lib/fields/hlo.h */
    uint8_t is_bytes; /* else a number */
    uint32_t length;
    union {
        uint64_t number;
        const char *bytes;
    };
};

/* Where an instruction comes from (OpMetadata). */
struct ids_hlo_metadata {
    struct ids_text op_name; /* the framework's, a path of scopes: lib/hlo/scope.h */
    struct ids_text file;    /* older programs; newer ones have a frame */
    int32_t line;
    int32_t frame; /* into frames, from 1; 0 none, and it may lead nowhere */
};

/* What XLA knows of a while loop (WhileLoopBackendConfig of xla_data.proto, as JSON in backend_config). Read only
 * when asked for. */
struct ids_hlo_loop {
    int64_t trip_count;         /* -1 unknown */
    int64_t induction_variable; /* its place in the loop's tuple; -1 unknown */
    int64_t init, step;         /* of the induction variable; a step of 0: unknown */
};

struct ids_hlo_instruction {
    struct ids_text name, opcode; /* "fusion.3", "fusion" */
    int64_t id;
    uint64_t fingerprint;            /* lib/hlo/fingerprint.h */
    struct ids_hlo_range operands;   /* of operands */
    struct ids_hlo_range called;     /* of called */
    struct ids_hlo_range attributes; /* of attributes, in the file's order */
    uint32_t shape;                  /* of the result; IDS_HLO_NONE unknown */
    uint32_t metadata;               /* IDS_HLO_NONE: none */
    uint32_t groups;                 /* of groups: who takes part in a collective; IDS_HLO_NONE: none */
    uint32_t loop;                   /* IDS_HLO_NONE: none, or not read */
    struct ids_text sharding;        /* its OpSharding, as the file has it; empty none */
    uint32_t place;        /* in which its computation runs it, by the schedule; IDS_HLO_NONE: there is none */
    uint8_t calls_library; /* 1: a fusion that a library runs (cuDNN), not a kernel made of it */
    uint8_t is_causal;     /* 1: a call whose configuration says so (lib/hlo/cost_matrix.h) */
    uint8_t damaged;       /* 1: its message could not be read to its end, or it has no name */
};

struct ids_hlo_computation {
    struct ids_text name;
    int64_t id, root_id;
    uint64_t fingerprint;
    struct ids_hlo_range instructions;
    uint32_t root;     /* IDS_HLO_NONE: not found */
    uint8_t is_fusion; /* 1: the inside of a fusion, whose instructions never run as ops of their own */
    uint8_t is_cut;    /* 1: its message ends in the middle */
};

struct ids_hlo_location {
    int32_t file, function, line; /* the first two into files and functions, from 1 */
};

struct ids_hlo_frame {
    int32_t location, parent; /* from 1; 0 none */
};

struct ids_hlo_buffers; /* lib/hlo/buffers.h */

struct ids_hlo_module {
    struct ids_text name;
    int64_t id, entry_id;
    uint32_t entry; /* of computations; IDS_HLO_NONE: not found */
    uint8_t has_fusion_flags;
    uint8_t frames_lost; /* 1: it has stack frames that could not be read */

    struct ids_hlo_computation *computations;
    struct ids_hlo_instruction *instructions;
    struct ids_hlo_shape *shapes;
    struct ids_hlo_layout *layouts;
    struct ids_hlo_range *tiles; /* of numbers */
    struct ids_hlo_attribute *attributes;
    struct ids_hlo_metadata *metadata;
    struct ids_hlo_loop *loops;
    struct ids_text *groups; /* as HLO text writes them: lib/hlo/replica_groups.h */
    int64_t *numbers;
    uint64_t *operands,
        *called; /* until finished ids; then indices of instructions and computations, or IDS_HLO_NONE */
    struct ids_text *files, *functions;
    struct ids_hlo_location *locations;
    struct ids_hlo_frame *frames;
    struct ids_hlo_buffers *buffers; /* NULL: none, or not read */

    size_t computation_count, computation_room, instruction_count, instruction_room, shape_count, shape_room;
    size_t layout_count, layout_room, tile_count, tile_room, attribute_count, attribute_room;
    size_t metadata_count, metadata_room, loop_count, loop_room, group_count, group_room;
    size_t number_count, number_room, operand_count, operand_room, called_count, called_room;
    size_t file_count, file_room, function_count, function_room, location_count, location_room;
    size_t frame_count, frame_room;

    struct ids_keymap by_id, computation_by_id; /* ids_hlo_id_key -> index */
    struct ids_keymap donated;                  /* parameters whose memory a result may take: their number + 1 */
    struct ids_arena texts;                     /* those that the file does not hold as they are */
};

/* Ids count from 0 in each computation, whose number stands in their upper half. */
static inline uint64_t ids_hlo_id_key(int64_t id) {
    return ids_key_of((uint64_t)id, 0);
}

void ids_hlo_module_init(struct ids_hlo_module *module);
void ids_hlo_module_done(struct ids_hlo_module *module);

/* Room for one more, not zeroed: 0 and where it is, else IDS_NOMEM or IDS_LIMIT. Valid until the next of its kind. */
int ids_hlo_add_computation(struct ids_hlo_module *module, struct ids_hlo_computation **ret, struct ids_error *err);
int ids_hlo_add_instruction(struct ids_hlo_module *module, struct ids_hlo_instruction **ret, struct ids_error *err);
int ids_hlo_add_shape(struct ids_hlo_module *module, uint32_t *ret_index, struct ids_error *err);
int ids_hlo_add_layout(struct ids_hlo_module *module, uint32_t *ret_index, struct ids_error *err);
int ids_hlo_add_tile(struct ids_hlo_module *module, struct ids_hlo_range tile, struct ids_error *err);
int ids_hlo_add_attribute(struct ids_hlo_module *module, struct ids_hlo_attribute attribute, struct ids_error *err);
int ids_hlo_add_metadata(struct ids_hlo_module *module, struct ids_hlo_metadata metadata, struct ids_error *err);
int ids_hlo_add_loop(struct ids_hlo_module *module, struct ids_hlo_loop loop, struct ids_error *err);
/* Copies the text. */
int ids_hlo_add_groups(struct ids_hlo_module *module, struct ids_text groups, struct ids_error *err);
int ids_hlo_add_number(struct ids_hlo_module *module, int64_t number, struct ids_error *err);
int ids_hlo_add_operand(struct ids_hlo_module *module, uint64_t id, struct ids_error *err);
int ids_hlo_add_called(struct ids_hlo_module *module, uint64_t id, struct ids_error *err);
int ids_hlo_add_file(struct ids_hlo_module *module, struct ids_text name, struct ids_error *err);
int ids_hlo_add_function(struct ids_hlo_module *module, struct ids_text name, struct ids_error *err);
int ids_hlo_add_location(struct ids_hlo_module *module, struct ids_hlo_location location, struct ids_error *err);
int ids_hlo_add_frame(struct ids_hlo_module *module, struct ids_hlo_frame frame, struct ids_error *err);

/* The attribute of that field; NULL where the instruction has none. */
const struct ids_hlo_attribute *ids_hlo_attribute_of(const struct ids_hlo_module *module,
                                                     const struct ids_hlo_instruction *instruction, unsigned field);
/* The framework's name of an instruction, and a custom call's target; empty where it has none. */
struct ids_text ids_hlo_op_name(const struct ids_hlo_module *module, const struct ids_hlo_instruction *instruction);
struct ids_text ids_hlo_call_target(const struct ids_hlo_module *module, const struct ids_hlo_instruction *instruction);
/* Its place in the source: its own, else the innermost stack frame's. Empty if neither is known. */
struct ids_text ids_hlo_source(const struct ids_hlo_module *module, const struct ids_hlo_instruction *instruction,
                               int32_t *ret_line);
/* A stack frame by its number from 1: its function, file and line, and the number of the frame that called it (0 none).
 * Returns 0 when there is no such frame. A damaged file may have frames that call each other: count the steps. */
int ids_hlo_frame(const struct ids_hlo_module *module, int32_t frame, struct ids_text *ret_function,
                  struct ids_text *ret_file, int32_t *ret_line, int32_t *ret_parent);

#endif
