/* nvtx_steps.h - which NVTX ranges are steps: a program without JAX has no other mark of its loop.
 *
 * A range is a step when its name ends in "step", "iter" or "iteration" and a number ("step 12", "ProfilerStep#12",
 * "iteration_12"), or when it is "step", "train_step", "training_step" or "iteration" alone. --step-executable, a
 * regular expression, chooses others in their place. Libraries mark in domains of their own, so only ranges outside
 * domains are looked at.
 */
#ifndef IDS_COLLECTORS_CUDA_NVTX_STEPS_H
#define IDS_COLLECTORS_CUDA_NVTX_STEPS_H

#include "collectors/cuda/records.h"

#include <stdint.h>

enum { IDS_NVTX_STEP_NAME = 64 };

struct ids_nvtx_step {
    char name[IDS_NVTX_STEP_NAME]; /* without its number */
    int64_t number;                /* -1: the name has none */
};

/* Reads --step-executable. 0, or -1 with the reason. Once, before the others. */
int ids_nvtx_steps_begin(char *why, unsigned long why_size);

/* 1 when a range of that name is a step. */
int ids_nvtx_step_of(const char *range, struct ids_nvtx_step *ret_step);

/* A range begins, outside any domain: the agent hears of it when it is a step. 1 when it was one. */
int ids_nvtx_step_begins(const char *range);

/* The number of the window's first step among those that have none in their names; 0 when there was none. */
int64_t ids_nvtx_steps_first(void);

/* Whether the window opened as its first step began: that one is unlike the others. */
int ids_nvtx_steps_open(void);

/* A window begins. */
void ids_nvtx_steps_reset(void);
/* Adds the steps of the window that ids_cuda_step told to its records, as CUPTI would have recorded ranges of those
 * names. `to_cupti`: what to add to nanoseconds of CLOCK_REALTIME; `end`: of the window, on CUPTI's clock. */
void ids_nvtx_steps_add(struct ids_cuda_records *records, int64_t to_cupti, uint64_t end);

#endif
