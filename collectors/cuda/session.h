/* session.h - one window of CUPTI: subscribed at its start, unsubscribed at its end, so that other tools find CUPTI
 * free outside; but for ids_cuda_watch_graphs.
 *
 * One at a time, driven by the agent: start and stop never run at once. Between windows nothing of CUPTI is enabled.
 * Threads: start runs in a thread of the program or the agent, stop in one of the agent's; CUPTI's callbacks in any; a
 * thread of ours drains the buffers while a window is open.
 */
#ifndef IDS_COLLECTORS_CUDA_SESSION_H
#define IDS_COLLECTORS_CUDA_SESSION_H

#include <stddef.h>
#include <stdint.h>

struct ids_cuda_caught {
    int64_t events, drops, incomplete;
};

/* CUPTI ends a program that launches a graph which it made before CUPTI was told to record launches of graphs as one
 * (libcupti of CUDA 13.0, segmentation fault in cuGraphLaunch). So this is to be called as CUDA begins; from then on
 * CUPTI stays subscribed, and outside of windows drops what it would record of a launch. 0, or -1 with the reason. */
int ids_cuda_watch_graphs(char *why, size_t why_size);
/* There is no capture in this process: CUPTI is free again. */
void ids_cuda_leave_graphs(void);
/* 0, or -1 with the reason: no libcupti, another tool has it, no driver. Then nothing is enabled and nothing is left
 * behind. Graphs' kernels are recorded one by one, or after ids_cuda_watch_graphs each launch of a graph as one. */
int ids_cuda_start(char *why, size_t why_size);
/* What the last start could not enable, of what it can do without: "MEMORY2 (error 27)"; "" when all is on. */
const char *ids_cuda_refused(void);
/* The libcupti in use, "" before the first start. */
const char *ids_cuda_library(void);
/* A function of this process's libcupti, which is loaded if it is not; NULL. */
void *ids_cuda_symbol(const char *name);
/* Ends the window and writes it to the file `path`, NULL: throws it away. 0, or -1 with the reason; CUPTI is free
 * again either way. */
int ids_cuda_stop(const char *path, struct ids_cuda_caught *ret_caught, char *why, size_t why_size);
/* In the child of a fork: no window is open. Where CUDA had begun it cannot be used any more, and none opens. */
void ids_cuda_forked(int cuda_began);

#endif
