// A CUDA program without any framework: the same loop, as launches or as a graph. It counts and times what it does itself.
//   cuda_loop ITERATIONS launches|graph [REGION] [WAIT_MS]
// Each iteration: a copy to the device, two short kernels, one long one, a set, a copy back; four streams' worth of overlap are left
// out so that counts and times are simple. REGION: the NVTX range around the loop. Prints one line of JSON.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>

#define MUST(call)                                                                   \
    do {                                                                             \
        cudaError_t error = (call);                                                  \
        if (error != cudaSuccess) {                                                  \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));           \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

// Spins for so many clock ticks of its multiprocessor: its time does not depend on memory.
__global__ void spin_long(long long ticks, float *out) {
    long long begun = clock64();
    while (clock64() - begun < ticks) {}
    if (ticks < 0) *out = 1;
}

__global__ void spin_short(long long ticks, float *out) {
    __shared__ float room[1024];
    room[threadIdx.x] = 0;
    long long begun = clock64();
    while (clock64() - begun < ticks) {}
    if (ticks < 0) *out = room[0];
}

static double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void iteration(cudaStream_t stream, float *host, float *device, size_t bytes) {
    MUST(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
    spin_short<<<64, 256, 0, stream>>>(20000, device);
    spin_short<<<64, 256, 2048, stream>>>(20000, device);
    spin_long<<<32, 128, 0, stream>>>(200000, device);
    MUST(cudaMemsetAsync(device, 0, bytes, stream));
    MUST(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream));
}

int main(int argc, char **argv) {
    int iterations = argc > 1 ? atoi(argv[1]) : 200, as_graph = argc > 2 && !strcmp(argv[2], "graph");
    const char *region = argc > 3 ? argv[3] : "loop";
    size_t bytes = 1 << 20;
    float *host, *device;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready = NULL;
    MUST(cudaMallocHost(&host, bytes));
    MUST(cudaMalloc(&device, bytes));
    MUST(cudaStreamCreate(&stream));
    memset(host, 0, bytes);
    for (int i = 0; i < 10; i++) iteration(stream, host, device, bytes);
    MUST(cudaStreamSynchronize(stream));
    if (as_graph) {
        MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        iteration(stream, host, device, bytes);
        MUST(cudaStreamEndCapture(stream, &graph));
        MUST(cudaGraphInstantiate(&ready, graph, 0));
        MUST(cudaGraphLaunch(ready, stream));
        MUST(cudaStreamSynchronize(stream));
    }
    if (argc > 4) usleep((useconds_t)atoi(argv[4]) * 1000);
    nvtxRangePushA(region);
    double begun = now();
    for (int i = 0; i < iterations; i++) {
        if (as_graph)
            MUST(cudaGraphLaunch(ready, stream));
        else
            iteration(stream, host, device, bytes);
        if (i % 16 == 15) MUST(cudaStreamSynchronize(stream));
    }
    MUST(cudaStreamSynchronize(stream));
    double took = now() - begun;
    nvtxRangePop();
    // What a launch costs the host: no work on the device to hide it.
    begun = now();
    for (int i = 0; i < 1000; i++) spin_short<<<1, 32, 0, stream>>>(0, device);
    double launches = now() - begun;
    MUST(cudaStreamSynchronize(stream));
    printf("{\"iterations\": %d, \"graph\": %d, \"seconds\": %.6f, \"launch_us\": %.3f, \"spin_short\": %d, \"spin_long\": %d, \"h2d\": %d, "
           "\"d2h\": %d, \"bytes\": %zu}\n",
           iterations, as_graph, took, launches * 1e3, 2 * iterations, iterations, iterations, iterations, bytes);
    return 0;
}
