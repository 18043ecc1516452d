/* capture_cuda.h - how libidsprof_cuda.so comes into the program: the CUDA driver and NVTX each load the one tool that
 * a variable of their own names. */
#ifndef IDS_CMD_CAPTURE_CUDA_H
#define IDS_CMD_CAPTURE_CUDA_H

#include "lib/capture/variables.h"

/* Sets the variables for the program, `home` being the folder of the library. A variable that names another tool stays,
 * and stderr says so unless `quiet`: that tool owns CUPTI. Without the library nothing is set. */
int ids_capture_cuda(struct ids_variables *environment, const char *home, int quiet, struct ids_error *err);
/* The tool that the driver loads instead of ours, or NULL. */
const char *ids_capture_rival(const struct ids_variables *environment, const char *home);

#endif
