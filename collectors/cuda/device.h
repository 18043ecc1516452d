/* device.h - what the driver says of this process's devices, asked of the libcuda that the process has loaded. */
#ifndef IDS_COLLECTORS_CUDA_DEVICE_H
#define IDS_COLLECTORS_CUDA_DEVICE_H

#include "collectors/cuda/occupancy.h"

enum { IDS_CUDA_DEVICES = 64 };

struct ids_cuda_device {
    char name[128];
    int major, minor; /* compute capability; these and what follows 0: not known */
    int clock_khz, memory_clock_khz, memory_bus_bits;
    uint64_t memory_bytes;
    struct ids_cuda_multiprocessor sm;
};

/* Of the driver: 12080 for CUDA 12.8; 0 where there is none. */
int ids_cuda_driver(void);
/* Fills `devices` with those that CUDA numbers from 0 in this process. Their number; 0 when there is no driver. */
int ids_cuda_devices(struct ids_cuda_device devices[IDS_CUDA_DEVICES]);

#endif
