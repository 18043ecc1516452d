/* What collectors/cuda/device.c and nvtx.c say of the driver and of NVTX in numbers and structs of their own, against
 * the toolkit's headers. Compiled by test_abi.py where these are installed. */
#include <cuda.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>

#include "collectors/cuda/device.c"
#include "collectors/cuda/nvtx.c"

#define NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
#define FIELD(ours, field, theirs, name)                                                                \
    _Static_assert(offsetof(struct ours, field) == offsetof(theirs, name), #ours "." #field ": where"); \
    _Static_assert(sizeof(((struct ours *)0)->field) == sizeof(((theirs *)0)->name), #ours "." #field ": how large")

NUMBER(THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
NUMBER(SHARED_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
NUMBER(WARP, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
NUMBER(REGISTERS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
NUMBER(CLOCK, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
NUMBER(MULTIPROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
NUMBER(MEMORY_CLOCK, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
NUMBER(MEMORY_BUS, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
NUMBER(THREADS, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
NUMBER(MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
NUMBER(MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
NUMBER(SHARED, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
NUMBER(REGISTERS, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
NUMBER(SHARED_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
NUMBER(BLOCKS, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
NUMBER(SHARED_RESERVED, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);

NUMBER(TABLE_CALLBACKS, NVTX_ETID_CALLBACKS);
NUMBER(MODULE_CORE, NVTX_CB_MODULE_CORE);
NUMBER(MODULE_DOMAINS, NVTX_CB_MODULE_CORE2);
NUMBER(CORE_START_EX, NVTX_CBID_CORE_RangeStartEx);
NUMBER(CORE_START, NVTX_CBID_CORE_RangeStartA);
NUMBER(CORE_END, NVTX_CBID_CORE_RangeEnd);
NUMBER(CORE_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
NUMBER(CORE_PUSH, NVTX_CBID_CORE_RangePushA);
NUMBER(CORE_POP, NVTX_CBID_CORE_RangePop);
NUMBER(DOMAIN_START_EX, NVTX_CBID_CORE2_DomainRangeStartEx);
NUMBER(DOMAIN_END, NVTX_CBID_CORE2_DomainRangeEnd);
NUMBER(DOMAIN_PUSH_EX, NVTX_CBID_CORE2_DomainRangePushEx);
NUMBER(DOMAIN_POP, NVTX_CBID_CORE2_DomainRangePop);
NUMBER(DOMAIN_REGISTER, NVTX_CBID_CORE2_DomainRegisterStringA);
NUMBER(DOMAIN_CREATE, NVTX_CBID_CORE2_DomainCreateA);
NUMBER(MESSAGE_TEXT, NVTX_MESSAGE_TYPE_ASCII);
NUMBER(MESSAGE_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
FIELD(attributes, size, nvtxEventAttributes_t, size);
FIELD(attributes, message_type, nvtxEventAttributes_t, messageType);
FIELD(attributes, message, nvtxEventAttributes_t, message);
_Static_assert(sizeof(struct attributes) <= sizeof(nvtxEventAttributes_t), "attributes");
FIELD(callbacks, size, NvtxExportTableCallbacks, struct_size);
FIELD(callbacks, module, NvtxExportTableCallbacks, GetModuleFunctionTable);
_Static_assert(sizeof(nvtxRangeId_t) == 8, "ids of ranges");
