/* Compiles only where collectors/cuda/cupti_abi.h says what the toolkit's headers say: every field that the collector
 * reads, at its offset and with its size, every number by its name. Built by test_abi.py against each set of headers
 * that is there; the newest struct of each kind is taken, which is called differently from version to version:
 * -DKERNEL=CUpti_ActivityKernel10 and so on. */
#include "collectors/cuda/cupti_abi.h"

#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_result.h>

#define FIELD(ours, field, theirs, name)                                                                \
    _Static_assert(offsetof(struct ours, field) == offsetof(theirs, name), #ours "." #field ": where"); \
    _Static_assert(sizeof(((struct ours *)0)->field) == sizeof(((theirs *)0)->name), #ours "." #field ": how large")
/* Arrays of ours that are single fields of theirs. */
#define THREE(ours, field, theirs, name)                                                         \
    _Static_assert(offsetof(struct ours, field) == offsetof(theirs, name##X), #ours "." #field); \
    _Static_assert(offsetof(theirs, name##Z) - offsetof(theirs, name##X) == 8, #ours "." #field)
#define NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
/* A record of theirs is never shorter than what we read of it. */
#define FITS(ours, theirs) _Static_assert(sizeof(struct ours) <= sizeof(theirs), #ours " is longer than " #theirs)

FITS(ids_cupti_kernel, KERNEL);
FIELD(ids_cupti_kernel, kind, KERNEL, kind);
FIELD(ids_cupti_kernel, registers, KERNEL, registersPerThread);
FIELD(ids_cupti_kernel, start, KERNEL, start);
FIELD(ids_cupti_kernel, end, KERNEL, end);
FIELD(ids_cupti_kernel, completed, KERNEL, completed);
FIELD(ids_cupti_kernel, device, KERNEL, deviceId);
FIELD(ids_cupti_kernel, context, KERNEL, contextId);
FIELD(ids_cupti_kernel, stream, KERNEL, streamId);
THREE(ids_cupti_kernel, grid, KERNEL, grid);
THREE(ids_cupti_kernel, block, KERNEL, block);
FIELD(ids_cupti_kernel, static_shared, KERNEL, staticSharedMemory);
FIELD(ids_cupti_kernel, dynamic_shared, KERNEL, dynamicSharedMemory);
FIELD(ids_cupti_kernel, local_per_thread, KERNEL, localMemoryPerThread);
FIELD(ids_cupti_kernel, local_total, KERNEL, localMemoryTotal);
FIELD(ids_cupti_kernel, correlation, KERNEL, correlationId);
FIELD(ids_cupti_kernel, grid_id, KERNEL, gridId);
FIELD(ids_cupti_kernel, name, KERNEL, name);
FIELD(ids_cupti_kernel, queued, KERNEL, queued);
FIELD(ids_cupti_kernel, submitted, KERNEL, submitted);
FIELD(ids_cupti_kernel, shared_executed, KERNEL, sharedMemoryExecuted);
FIELD(ids_cupti_kernel, graph_node, KERNEL, graphNodeId);
FIELD(ids_cupti_kernel, shared_limit, KERNEL, shmemLimitConfig);
FIELD(ids_cupti_kernel, graph, KERNEL, graphId);

FITS(ids_cupti_copy, COPY);
FIELD(ids_cupti_copy, copy_kind, COPY, copyKind);
FIELD(ids_cupti_copy, from, COPY, srcKind);
FIELD(ids_cupti_copy, to, COPY, dstKind);
FIELD(ids_cupti_copy, flags, COPY, flags);
FIELD(ids_cupti_copy, bytes, COPY, bytes);
FIELD(ids_cupti_copy, start, COPY, start);
FIELD(ids_cupti_copy, end, COPY, end);
FIELD(ids_cupti_copy, device, COPY, deviceId);
FIELD(ids_cupti_copy, context, COPY, contextId);
FIELD(ids_cupti_copy, stream, COPY, streamId);
FIELD(ids_cupti_copy, correlation, COPY, correlationId);
FIELD(ids_cupti_copy, graph_node, COPY, graphNodeId);
FIELD(ids_cupti_copy, graph, COPY, graphId);

FITS(ids_cupti_peer_copy, PEER);
FIELD(ids_cupti_peer_copy, copy_kind, PEER, copyKind);
FIELD(ids_cupti_peer_copy, from, PEER, srcKind);
FIELD(ids_cupti_peer_copy, to, PEER, dstKind);
FIELD(ids_cupti_peer_copy, flags, PEER, flags);
FIELD(ids_cupti_peer_copy, bytes, PEER, bytes);
FIELD(ids_cupti_peer_copy, start, PEER, start);
FIELD(ids_cupti_peer_copy, end, PEER, end);
FIELD(ids_cupti_peer_copy, device, PEER, deviceId);
FIELD(ids_cupti_peer_copy, context, PEER, contextId);
FIELD(ids_cupti_peer_copy, stream, PEER, streamId);
FIELD(ids_cupti_peer_copy, from_device, PEER, srcDeviceId);
FIELD(ids_cupti_peer_copy, to_device, PEER, dstDeviceId);
FIELD(ids_cupti_peer_copy, correlation, PEER, correlationId);
FIELD(ids_cupti_peer_copy, graph_node, PEER, graphNodeId);
FIELD(ids_cupti_peer_copy, graph, PEER, graphId);

FITS(ids_cupti_set, SET);
FIELD(ids_cupti_set, value, SET, value);
FIELD(ids_cupti_set, bytes, SET, bytes);
FIELD(ids_cupti_set, start, SET, start);
FIELD(ids_cupti_set, end, SET, end);
FIELD(ids_cupti_set, device, SET, deviceId);
FIELD(ids_cupti_set, context, SET, contextId);
FIELD(ids_cupti_set, stream, SET, streamId);
FIELD(ids_cupti_set, correlation, SET, correlationId);
FIELD(ids_cupti_set, flags, SET, flags);
FIELD(ids_cupti_set, memory_kind, SET, memoryKind);
FIELD(ids_cupti_set, graph_node, SET, graphNodeId);
FIELD(ids_cupti_set, graph, SET, graphId);

FITS(ids_cupti_memory, MEMORY);
FIELD(ids_cupti_memory, operation, MEMORY, memoryOperationType);
FIELD(ids_cupti_memory, memory_kind, MEMORY, memoryKind);
FIELD(ids_cupti_memory, correlation, MEMORY, correlationId);
FIELD(ids_cupti_memory, address, MEMORY, address);
FIELD(ids_cupti_memory, bytes, MEMORY, bytes);
FIELD(ids_cupti_memory, timestamp, MEMORY, timestamp);
FIELD(ids_cupti_memory, process, MEMORY, processId);
FIELD(ids_cupti_memory, device, MEMORY, deviceId);
FIELD(ids_cupti_memory, context, MEMORY, contextId);
FIELD(ids_cupti_memory, stream, MEMORY, streamId);
FIELD(ids_cupti_memory, name, MEMORY, name);

FITS(ids_cupti_call, CUpti_ActivityAPI);
FIELD(ids_cupti_call, function, CUpti_ActivityAPI, cbid);
FIELD(ids_cupti_call, start, CUpti_ActivityAPI, start);
FIELD(ids_cupti_call, end, CUpti_ActivityAPI, end);
FIELD(ids_cupti_call, process, CUpti_ActivityAPI, processId);
FIELD(ids_cupti_call, thread, CUpti_ActivityAPI, threadId);
FIELD(ids_cupti_call, correlation, CUpti_ActivityAPI, correlationId);
FIELD(ids_cupti_call, result, CUpti_ActivityAPI, returnValue);

FITS(ids_cupti_sync, SYNC);
FIELD(ids_cupti_sync, type, SYNC, type);
FIELD(ids_cupti_sync, start, SYNC, start);
FIELD(ids_cupti_sync, end, SYNC, end);
FIELD(ids_cupti_sync, correlation, SYNC, correlationId);
FIELD(ids_cupti_sync, context, SYNC, contextId);
FIELD(ids_cupti_sync, stream, SYNC, streamId);
FIELD(ids_cupti_sync, event, SYNC, cudaEventId);

FITS(ids_cupti_graph, GRAPH);
FIELD(ids_cupti_graph, correlation, GRAPH, correlationId);
FIELD(ids_cupti_graph, start, GRAPH, start);
FIELD(ids_cupti_graph, end, GRAPH, end);
FIELD(ids_cupti_graph, device, GRAPH, deviceId);
FIELD(ids_cupti_graph, graph, GRAPH, graphId);
FIELD(ids_cupti_graph, context, GRAPH, contextId);
FIELD(ids_cupti_graph, stream, GRAPH, streamId);

FITS(ids_cupti_marker, CUpti_ActivityMarker2);
FIELD(ids_cupti_marker, flags, CUpti_ActivityMarker2, flags);
FIELD(ids_cupti_marker, timestamp, CUpti_ActivityMarker2, timestamp);
FIELD(ids_cupti_marker, id, CUpti_ActivityMarker2, id);
FIELD(ids_cupti_marker, object_kind, CUpti_ActivityMarker2, objectKind);
FIELD(ids_cupti_marker, object, CUpti_ActivityMarker2, objectId);
FIELD(ids_cupti_marker, object.of_thread.thread, CUpti_ActivityMarker2, objectId.pt.threadId);
FIELD(ids_cupti_marker, object.of_device.device, CUpti_ActivityMarker2, objectId.dcs.deviceId);
FIELD(ids_cupti_marker, object.of_device.stream, CUpti_ActivityMarker2, objectId.dcs.streamId);
FIELD(ids_cupti_marker, name, CUpti_ActivityMarker2, name);
FIELD(ids_cupti_marker, domain, CUpti_ActivityMarker2, domain);

FITS(ids_cupti_name, CUpti_ActivityName);
FIELD(ids_cupti_name, object_kind, CUpti_ActivityName, objectKind);
FIELD(ids_cupti_name, object, CUpti_ActivityName, objectId);
FIELD(ids_cupti_name, name, CUpti_ActivityName, name);

FITS(ids_cupti_overhead, OVERHEAD);
FIELD(ids_cupti_overhead, overhead_kind, OVERHEAD, overheadKind);
FIELD(ids_cupti_overhead, object_kind, OVERHEAD, objectKind);
FIELD(ids_cupti_overhead, object, OVERHEAD, objectId);
FIELD(ids_cupti_overhead, start, OVERHEAD, start);
FIELD(ids_cupti_overhead, end, OVERHEAD, end);

#ifdef PARAMS
FIELD(ids_cupti_subscriber, size, CUpti_SubscriberParams, structSize);
FIELD(ids_cupti_subscriber, name, CUpti_SubscriberParams, subscriberName);
FIELD(ids_cupti_subscriber, old_name, CUpti_SubscriberParams, oldSubscriberName);
FIELD(ids_cupti_subscriber, old_name_size, CUpti_SubscriberParams, oldSubscriberSize);
NUMBER(IDS_CUPTI_OLD_NAME, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);
#if PARAMS > 1
FIELD(ids_cupti_subscriber, several, CUpti_SubscriberParams, allowMultipleSubscribers);
_Static_assert(sizeof(struct ids_cupti_subscriber) == CUpti_SubscriberParams_STRUCT_SIZE, "the params' size");
#endif
#endif

NUMBER(IDS_CUPTI_SUCCESS, CUPTI_SUCCESS);
NUMBER(IDS_CUPTI_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
NUMBER(IDS_CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
NUMBER(IDS_CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
NUMBER(IDS_CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
NUMBER(IDS_CUPTI_UNKNOWN, CUPTI_ERROR_UNKNOWN);
NUMBER(IDS_CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
NUMBER(IDS_CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
NUMBER(IDS_CUPTI_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
NUMBER(IDS_CUPTI_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
NUMBER(IDS_CUPTI_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE);
NUMBER(IDS_CUPTI_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT);
NUMBER(IDS_CUPTI_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
NUMBER(IDS_CUPTI_NAME, CUPTI_ACTIVITY_KIND_NAME);
NUMBER(IDS_CUPTI_MARKER, CUPTI_ACTIVITY_KIND_MARKER);
NUMBER(IDS_CUPTI_MARKER_DATA, CUPTI_ACTIVITY_KIND_MARKER_DATA);
NUMBER(IDS_CUPTI_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
NUMBER(IDS_CUPTI_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
NUMBER(IDS_CUPTI_STREAM, CUPTI_ACTIVITY_KIND_STREAM);
NUMBER(IDS_CUPTI_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
NUMBER(IDS_CUPTI_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2);
NUMBER(IDS_CUPTI_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
NUMBER(IDS_CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
NUMBER(IDS_CUPTI_COPY_ASYNC, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
NUMBER(IDS_CUPTI_COPY_ASYNC, CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC);
NUMBER(IDS_CUPTI_MARKER_INSTANT, CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS);
NUMBER(IDS_CUPTI_MARKER_START, CUPTI_ACTIVITY_FLAG_MARKER_START);
NUMBER(IDS_CUPTI_MARKER_END, CUPTI_ACTIVITY_FLAG_MARKER_END);
NUMBER(IDS_CUPTI_OBJECT_PROCESS, CUPTI_ACTIVITY_OBJECT_PROCESS);
NUMBER(IDS_CUPTI_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);
NUMBER(IDS_CUPTI_OBJECT_DEVICE, CUPTI_ACTIVITY_OBJECT_DEVICE);
NUMBER(IDS_CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
NUMBER(IDS_CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
NUMBER(IDS_CUPTI_COPY_HTOD, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
NUMBER(IDS_CUPTI_COPY_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
NUMBER(IDS_CUPTI_COPY_HTOA, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA);
NUMBER(IDS_CUPTI_COPY_ATOH, CUPTI_ACTIVITY_MEMCPY_KIND_ATOH);
NUMBER(IDS_CUPTI_COPY_DTOD, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
NUMBER(IDS_CUPTI_COPY_PTOP, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
NUMBER(IDS_CUPTI_MEMORY_ALLOCATED, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
NUMBER(IDS_CUPTI_MEMORY_RELEASED, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
