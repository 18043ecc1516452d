/* nvtx.h - NVTX: its ranges reach CUPTI, which records them in windows; the agent hears of ranges that are steps
 * (nvtx_steps.h), and where the plan's window is a range (--range), when it begins and ends.
 *
 * NVTX is headers alone: each library of the program that uses it has pointers of its own to what a tool put in, and
 * asks the tool once. CUPTI is the tool; around its functions we put ours, most of them only where the plan has a range
 * or waits for steps. Without CUPTI they stand alone. XLA's domain is refused, so that XLA goes on telling its own
 * profiler what it launches.
 */
#ifndef IDS_COLLECTORS_CUDA_NVTX_H
#define IDS_COLLECTORS_CUDA_NVTX_H

#include <stdint.h>

/* NvtxGetExportTableFunc_t. */
typedef const void *(*ids_nvtx_table_getter)(uint32_t table);

/* 1 when a tool was put in, else 0. */
int ids_nvtx_attach(ids_nvtx_table_getter get_table);

#endif
