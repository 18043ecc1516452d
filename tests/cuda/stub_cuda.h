/* What programs and the other stub call of stub_cuda.c. */
#ifndef IDS_TESTS_CUDA_STUB_CUDA_H
#define IDS_TESTS_CUDA_STUB_CUDA_H

#include <stddef.h>

extern void (*stub_on_launch)(void);
extern int (*stub_is_recording)(void);
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int size, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuLaunchKernel(void);

#endif
