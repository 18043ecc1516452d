/* checkpoints.h - activation checkpointing of PyTorch: what torch.utils.checkpoint computes again for the backward
 * pass.
 *
 * Backward, a frame of checkpoint.py calls the checkpointed function again, on a thread of autograd, where no module of
 * the program is around it. Its place in the program is that of the call of checkpoint() in the forward pass. */
#ifndef IDS_LIB_MODEL_CHECKPOINTS_H
#define IDS_LIB_MODEL_CHECKPOINTS_H

#include "lib/base/intern.h"

/* Around the names of what is computed again, instead of the node of autograd for which it is; ids_pass_of knows it. */
#define IDS_CHECKPOINT_MARK "torch::checkpoint"

#define IDS_CHECKPOINT_FILE "torch/utils/checkpoint.py"

enum ids_checkpoint_frame {
    IDS_CHECKPOINT_NONE,
    IDS_CHECKPOINT_CALL,  /* a function is called, and will be called again */
    IDS_CHECKPOINT_AGAIN, /* it is called again */
};
/* Of a Python frame's name, "torch/utils/checkpoint.py(1500): recompute_fn". */
enum ids_checkpoint_frame ids_checkpoint_frame_of(struct ids_text frame);
/* Frameworks have checkpoints of their own, whose frames are called otherwise: by the op that calls the function, and
 * the node of autograd that calls it again. */
int ids_checkpoint_is_function(struct ids_text op);
int ids_checkpoint_is_node(struct ids_text node);

/* The scope of what runs as `inside` when the function that was called in `around` is called again. Where a module of
 * `around` is called again too, as of a checkpoint in a checkpoint, it is named once. Texts; 0 is no scope.
 * `is_sure`: `around` is where the function was called; else it is some place of that function, and is used only where
 * both name a common module. 0, or -1 when memory ran out. */
int ids_checkpoint_scope(struct ids_strings *strings, uint32_t around, uint32_t inside, int is_sure,
                         uint32_t *ret_scope);

#endif
