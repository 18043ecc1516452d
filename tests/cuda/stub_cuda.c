/* A driver library that drives nothing: what libcuda.so.1 does with a tool (CUDA_INJECTION64_PATH, at cuInit), answers
 * about one device, and launches that stub_cupti.c replays records at. Built as libcuda.so.1; programs link it. */
#include "stub_cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void (*stub_on_launch)(void); /* set by the libcupti that is loaded, as the next one */
int (*stub_is_recording)(void);

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void load_tool(void) {
    const char *path = getenv("CUDA_INJECTION64_PATH"), *times = getenv("STUB_TIMES");
    if (!path || !*path) return;
    double begun = now_ms();
    /* "inside": the tool is linked into the program. */
    void *tool = strcmp(path, "inside") ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : dlopen(NULL, RTLD_NOW);
    double loaded = now_ms();
    int (*initialize)(void) = NULL;
    void *address = tool ? dlsym(tool, "InitializeInjection") : NULL;
    memcpy(&initialize, &address, sizeof initialize);
    int result = initialize ? initialize() : 0;
    FILE *file = times ? fopen(times, "a") : NULL;
    if (file) {
        fprintf(file, "%d %.3f %.3f\n", result, loaded - begun, now_ms() - loaded);
        fclose(file);
    }
    if (!tool) fprintf(stderr, "stub_cuda: %s\n", dlerror());
}

int cuInit(unsigned flags) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)flags;
    pthread_once(&once, load_tool);
    return 0;
}

int cuDriverGetVersion(int *version) {
    const char *set = getenv("STUB_DRIVER");
    *version = set ? atoi(set) : 13000;
    return 0;
}

int cuDeviceGetCount(int *count) {
    *count = 1;
    return 0;
}

int cuDeviceGet(int *device, int ordinal) {
    *device = ordinal;
    return ordinal ? 101 : 0;
}

int cuDeviceGetName(char *name, int size, int device) {
    (void)device;
    snprintf(name, (size_t)size, "NVIDIA H200");
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    (void)device;
    *bytes = 150754820096;
    return 0;
}

/* Of compute capability 9.0, as the programming guide has them. */
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    static const int facts[][2] = {{1, 1024},     {8, 49152},   {10, 32},   {12, 65536}, {13, 1980000}, {16, 132},
                                   {36, 3201000}, {37, 6144},   {39, 2048}, {75, 9},     {76, 0},       {81, 233472},
                                   {82, 65536},   {97, 232448}, {106, 32},  {111, 1024}};
    (void)device;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        if (facts[i][0] != attribute) continue;
        *value = facts[i][1];
        return 0;
    }
    return 1;
}

int cuLaunchKernel(void) {
    if (stub_on_launch) stub_on_launch();
    return 0;
}
