#include "collectors/cuda/device.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Of CUdevice_attribute; tests/cuda/private_abi.c holds these against cuda.h. */
enum {
    THREADS_PER_BLOCK = 1,
    SHARED_PER_BLOCK = 8,
    WARP = 10,
    REGISTERS_PER_BLOCK = 12,
    CLOCK = 13,
    MULTIPROCESSORS = 16,
    MEMORY_CLOCK = 36,
    MEMORY_BUS = 37,
    THREADS = 39,
    MAJOR = 75,
    MINOR = 76,
    SHARED = 81,
    REGISTERS = 82,
    SHARED_OPTIN = 97,
    BLOCKS = 106,
    SHARED_RESERVED = 111,
};

struct driver {
    int (*version)(int *version);
    int (*count)(int *count);
    int (*get)(int *device, int ordinal);
    int (*name)(char *name, int size, int device);
    int (*memory)(size_t *bytes, int device);
    int (*attribute)(int *value, int attribute, int device);
};

static void take(void *library, const char *symbol, void *ret_function) {
    void *address = dlsym(library, symbol);
    memcpy(ret_function, &address, sizeof address);
}

/* Only the one that is there: a process without the driver gets none from us. */
static int open_driver(struct driver *driver) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (!library) return -1;
    take(library, "cuDriverGetVersion", &driver->version);
    take(library, "cuDeviceGetCount", &driver->count);
    take(library, "cuDeviceGet", &driver->get);
    take(library, "cuDeviceGetName", &driver->name);
    take(library, "cuDeviceTotalMem_v2", &driver->memory);
    take(library, "cuDeviceGetAttribute", &driver->attribute);
    return 0;
}

int ids_cuda_driver(void) {
    struct driver driver = {0};
    int version = 0;
    if (open_driver(&driver) || !driver.version || driver.version(&version)) return 0;
    return version;
}

static void describe(const struct driver *driver, int ordinal, struct ids_cuda_device *device) {
    const struct {
        int attribute, *at;
    } facts[] = {{MAJOR, &device->major},
                 {MINOR, &device->minor},
                 {CLOCK, &device->clock_khz},
                 {MEMORY_CLOCK, &device->memory_clock_khz},
                 {MEMORY_BUS, &device->memory_bus_bits},
                 {MULTIPROCESSORS, &device->sm.count},
                 {WARP, &device->sm.of.warp},
                 {THREADS_PER_BLOCK, &device->sm.of.threads_per_block},
                 {THREADS, &device->sm.of.threads},
                 {BLOCKS, &device->sm.of.blocks},
                 {REGISTERS_PER_BLOCK, &device->sm.of.registers_per_block},
                 {REGISTERS, &device->sm.of.registers},
                 {SHARED_PER_BLOCK, &device->sm.of.shared_per_block},
                 {SHARED_OPTIN, &device->sm.optin},
                 {SHARED, &device->sm.of.shared},
                 {SHARED_RESERVED, &device->sm.of.shared_reserved}};
    size_t bytes = 0;
    int number;
    if (driver->get(&number, ordinal)) return;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        int value = 0;
        if (!driver->attribute(&value, facts[i].attribute, number)) *facts[i].at = value;
    }
    device->sm.major = device->major;
    if (driver->memory && !driver->memory(&bytes, number)) device->memory_bytes = bytes;
    if (!driver->name || driver->name(device->name, sizeof device->name, number)) device->name[0] = 0;
    device->name[sizeof device->name - 1] = 0;
}

int ids_cuda_devices(struct ids_cuda_device devices[IDS_CUDA_DEVICES]) {
    struct driver driver = {0};
    int count = 0;
    if (open_driver(&driver) || !driver.count || !driver.get || !driver.attribute || driver.count(&count) || count < 0)
        return 0;
    if (count > IDS_CUDA_DEVICES) count = IDS_CUDA_DEVICES;
    memset(devices, 0, (size_t)count * sizeof *devices);
    for (int i = 0; i < count; i++) describe(&driver, i, &devices[i]);
    return count;
}
