/* gpu_details.h - a GPU's events of Kineto in the words of XLA's CUPTI and ROCm tracers, by which XProf knows a kernel
 * from a copy: the stats kernel_details, memcpy_details and memset_details, and lines that are called "Stream
 * #7(Kernel,MemcpyH2D)". */
#ifndef IDS_LIB_EXPORT_GPU_DETAILS_H
#define IDS_LIB_EXPORT_GPU_DETAILS_H

#include "lib/base/buffer.h"
#include "lib/model/keys.h"
#include "lib/model/sink.h"

/* 1 when a timeline is called as XLA's tracers call a stream: "Stream #7(...)". */
int ids_gpu_is_stream_name(struct ids_text name);
/* 1 when a timeline of a device is called so, or as Kineto calls a stream: "stream 7 ", "thread 7". */
int ids_gpu_stream_number(struct ids_text name, int64_t *ret_number);

/* What an event on a stream is, for the line's name: bits. */
enum ids_gpu_work {
    IDS_GPU_KERNEL = 1,
    IDS_GPU_H2D = 2,
    IDS_GPU_D2H = 4,
    IDS_GPU_D2D = 8,
    IDS_GPU_P2P = 16,
    IDS_GPU_OTHER_COPY = 32,
    IDS_GPU_SET = 64,
};

/* Puts the details into `text`, which is emptied first, and says which stat they are: an enum ids_key. 0 when the
 * event has them. */
uint32_t ids_gpu_details(const struct ids_strings *strings, struct ids_key_spellings *spellings, struct ids_text name,
                         int64_t stream, const struct ids_slice *slice, struct ids_buffer *text,
                         enum ids_gpu_work *ret_work);
/* "Stream #7(Kernel,MemcpyH2D)" for a set of enum ids_gpu_work. */
void ids_gpu_stream_name(int64_t stream, unsigned works, struct ids_buffer *text);

#endif
