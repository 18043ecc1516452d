/* hlo.h - field numbers of a compiled program: xla.HloProto and the messages inside it.
 *
 * Source: xla/service/hlo.proto and xla/xla_data.proto of OpenXLA (the message is named above its numbers), checked
 * against recordings of jax 0.6, 0.8 and 0.10 on CPU, GPU and TPU. Only fields that some reader or writer here uses
 * have a name. */
#ifndef IDS_LIB_FIELDS_HLO_H
#define IDS_LIB_FIELDS_HLO_H

/* HloProto */
enum { HLO_PROTO_MODULE = 1, HLO_PROTO_BUFFER_ASSIGNMENT = 3 };

/* HloModuleProtoWithConfig */
enum { HLO_WITH_CONFIG_MODULE = 1 };

/* HloModuleProto */
enum {
    HLO_MODULE_NAME = 1,
    HLO_MODULE_COMPUTATION = 3,
    HLO_MODULE_ID = 5,
    HLO_MODULE_ENTRY_ID = 6,
    HLO_MODULE_SCHEDULE = 7,
    HLO_MODULE_ALIAS = 8,
    HLO_MODULE_STACK_FRAMES = 17,
    HLO_MODULE_DONORS = 18,
};

/* HloScheduleProto: a map from the ids of computations to InstructionSequences, whose ids are packed. */
enum { HLO_SCHEDULE_ENTRY = 1, HLO_SCHEDULE_COMPUTATION_ID = 1, HLO_SCHEDULE_SEQUENCE = 2, HLO_SEQUENCE_IDS = 1 };

/* HloInputOutputAliasProto and HloBufferDonorProto: entries, each with the number of a parameter whose memory the
 * program may use for a result. */
enum { HLO_DONATION_ENTRY = 1 }; /* of either */
enum { HLO_ALIAS_PARAMETER = 2, HLO_DONOR_PARAMETER = 1 };

/* OpSharding */
enum {
    HLO_SHARDING_TYPE = 1,
    HLO_SHARDING_DIMENSIONS = 3,
    HLO_SHARDING_REPLICATE_LAST = 6,
    HLO_SHARDING_LAST_DIMS = 8
};
enum { HLO_SHARDING_REPLICATED = 0, HLO_SHARDING_MAXIMAL = 1, HLO_SHARDING_OTHER = 3 };

/* HloComputationProto */
enum {
    HLO_COMPUTATION_NAME = 1,
    HLO_COMPUTATION_INSTRUCTION = 2,
    HLO_COMPUTATION_ID = 5,
    HLO_COMPUTATION_ROOT_ID = 6,
    HLO_COMPUTATION_IS_FUSION = 7, /* absent in older programs, and where it is 0 */
};

/* HloInstructionProto. Ids of operands and of called computations are packed. */
enum {
    HLO_INSTRUCTION_NAME = 1,
    HLO_INSTRUCTION_OPCODE = 2,
    HLO_INSTRUCTION_SHAPE = 3,
    HLO_INSTRUCTION_METADATA = 7,
    HLO_INSTRUCTION_PARAMETER_NUMBER = 9,
    HLO_INSTRUCTION_FUSION_KIND = 11,
    HLO_INSTRUCTION_TUPLE_INDEX = 13,
    HLO_INSTRUCTION_DIMENSIONS = 14,
    HLO_INSTRUCTION_WINDOW = 15,
    HLO_INSTRUCTION_CONVOLUTION_DIMENSIONS = 16,
    HLO_INSTRUCTION_SLICE_DIMENSIONS = 17,
    HLO_INSTRUCTION_DYNAMIC_SLICE_SIZES = 20,
    HLO_INSTRUCTION_PADDING = 21,
    HLO_INSTRUCTION_CALL_TARGET = 28,
    HLO_INSTRUCTION_DOT_DIMENSIONS = 30,
    HLO_INSTRUCTION_FFT_TYPE = 31,
    HLO_INSTRUCTION_FFT_LENGTH = 32,
    HLO_INSTRUCTION_GATHER_DIMENSIONS = 33,
    HLO_INSTRUCTION_GATHER_SLICE_SIZES = 34,
    HLO_INSTRUCTION_ID = 35,
    HLO_INSTRUCTION_OPERANDS = 36,
    HLO_INSTRUCTION_CALLED = 38,
    HLO_INSTRUCTION_SHARDING = 40,
    HLO_INSTRUCTION_BACKEND_CONFIG = 43,
    HLO_INSTRUCTION_SCATTER_DIMENSIONS = 48,
    HLO_INSTRUCTION_GROUP = 49,
    HLO_INSTRUCTION_PRECISION = 51,
    HLO_INSTRUCTION_SOURCE_TARGET = 52,
    HLO_INSTRUCTION_COMPARISON = 63,
    HLO_INSTRUCTION_DEVICE_LIST = 87,
};

/* DotDimensionNumbers, Window and WindowDimension, ConvolutionDimensionNumbers */
enum { HLO_DOT_LEFT_CONTRACTING = 1, HLO_DOT_LEFT_BATCH = 3 };
enum { HLO_WINDOW_DIMENSIONS = 1 };
enum {
    HLO_WINDOW_SIZE = 1,
    HLO_WINDOW_STRIDE = 2,
    HLO_WINDOW_PADDING_LOW = 3,
    HLO_WINDOW_DILATION = 5,
    HLO_WINDOW_BASE_DILATION = 6,
};
enum {
    HLO_CONVOLUTION_KERNEL_INPUT_FEATURE = 3,
    HLO_CONVOLUTION_KERNEL_OUTPUT_FEATURE = 4,
    HLO_CONVOLUTION_KERNEL_SPATIAL = 6,
    HLO_CONVOLUTION_INPUT_BATCH = 7,
    HLO_CONVOLUTION_INPUT_FEATURE = 8,
    HLO_CONVOLUTION_OUTPUT_BATCH = 9,
    HLO_CONVOLUTION_OUTPUT_FEATURE = 10,
    HLO_CONVOLUTION_INPUT_SPATIAL = 11,
    HLO_CONVOLUTION_OUTPUT_SPATIAL = 12,
};

/* OpMetadata */
enum {
    HLO_METADATA_OP_NAME = 2,
    HLO_METADATA_SOURCE_FILE = 3,
    HLO_METADATA_SOURCE_LINE = 4,
    HLO_METADATA_FRAME_ID = 15, /* into StackFrameIndexProto, from 1 */
};

/* StackFrameIndexProto: four arrays. Ids are places in them, from 1; 0 is none. */
enum { HLO_FRAMES_FILE = 1, HLO_FRAMES_FUNCTION = 2, HLO_FRAMES_LOCATION = 3, HLO_FRAMES_FRAME = 4 };
enum { HLO_LOCATION_FILE_ID = 1, HLO_LOCATION_FUNCTION_ID = 2, HLO_LOCATION_LINE = 3 };
enum { HLO_FRAME_LOCATION_ID = 1, HLO_FRAME_PARENT_ID = 2 };

/* ShapeProto, LayoutProto, TileProto. Numbers in lists are packed. */
enum { HLO_SHAPE_ELEMENT = 2, HLO_SHAPE_DIMENSIONS = 3, HLO_SHAPE_TUPLE = 4, HLO_SHAPE_LAYOUT = 5 };
enum { HLO_LAYOUT_MINOR_TO_MAJOR = 1, HLO_LAYOUT_TILE = 6, HLO_LAYOUT_ELEMENT_BITS = 7, HLO_LAYOUT_MEMORY_SPACE = 8 };
enum { HLO_TILE_DIMENSIONS = 1 };

/* BufferAssignmentProto */
enum { HLO_BUFFERS_LOGICAL = 1, HLO_BUFFERS_ALLOCATION = 3, HLO_BUFFERS_HEAP_TRACE = 4 };

/* LogicalBufferProto and its Location */
enum { HLO_BUFFER_ID = 1, HLO_BUFFER_SIZE = 2, HLO_BUFFER_DEFINED_AT = 3, HLO_BUFFER_COLOR = 4 };
enum { HLO_PLACE_INSTRUCTION_NAME = 2 /* older programs */, HLO_PLACE_INSTRUCTION_ID = 4 };

/* BufferAllocationProto */
enum {
    HLO_ALLOCATION_INDEX = 1,
    HLO_ALLOCATION_SIZE = 2,
    HLO_ALLOCATION_IS_THREAD_LOCAL = 3,
    HLO_ALLOCATION_IS_PARAMETER = 5,
    HLO_ALLOCATION_PARAMETER = 6,
    HLO_ALLOCATION_IS_OUTPUT = 7, /* maybe_live_out */
    HLO_ALLOCATION_COLOR = 8,
    HLO_ALLOCATION_ASSIGNED = 9,
    HLO_ALLOCATION_IS_TUPLE = 11,
    HLO_ALLOCATION_IS_CONSTANT = 12,
};

enum { HLO_ASSIGNED_BUFFER_ID = 1, HLO_ASSIGNED_OFFSET = 2 };

/* HeapSimulatorTrace and its Event */
enum { HLO_HEAP_TRACE_EVENT = 1 };
enum {
    HLO_HEAP_EVENT_KIND = 1, /* 0 allocate, 1 free, 2 share */
    HLO_HEAP_EVENT_BUFFER_ID = 2,
    HLO_HEAP_EVENT_INSTRUCTION = 4, /* its name */
    HLO_HEAP_EVENT_CANONICAL_ID = 5,
};

#endif
