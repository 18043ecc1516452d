/* Accelerators and their drivers, as the kernel shows them, and the vendors' libraries. */
#include "lib/capture/checkup_parts.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files ---- */

struct found {
    int count;
    char *first; /* PATH_MAX */
};

static void take_file(void *context, const char *path) {
    struct found *found = context;
    if (!found->count++ || strcmp(path, found->first) < 0) snprintf(found->first, PATH_MAX, "%s", path);
}

/* How many files match a pattern below the root; the first of them in `first`. */
static int count_files(const char *root, const char *pattern, char first[PATH_MAX]) {
    struct found found = {.first = first};
    first[0] = '\0';
    ids_check_files(root, pattern, take_file, &found);
    return found.count;
}

/* The word behind `key` on the first line that has it, up to two spaces or the line's end; 0 when there is none. */
static int read_value(const char *path, const char *key, char *value, size_t size) {
    char line[512];
    FILE *file = fopen(path, "re");
    int found = 0;
    while (file && !found && fgets(line, sizeof line, file)) {
        const char *at = strstr(line, key);
        if (!at) continue;
        at += strlen(key);
        at += strspn(at, " \t");
        const char *end = strstr(at, "  ");
        size_t length = end ? (size_t)(end - at) : strcspn(at, "\n");
        snprintf(value, size, "%.*s", (int)length, at);
        found = 1;
    }
    if (file) fclose(file);
    return found;
}

/* ---- GPUs ---- */

static void check_gpu_driver(const char *root, struct ids_checkup *checkup) {
    char path[PATH_MAX], version[64], restricted[16];
    snprintf(path, sizeof path, "%s/proc/driver/nvidia/version", root);
    if (read_value(path, "Kernel Module", version, sizeof version)) {
        ids_check_add(checkup, "gpu.driver", "NVIDIA driver", IDS_CHECK_OK, ids_check_text(checkup, "%s", version),
                      NULL);
    } else if (checkup->gpus) {
        ids_check_add(checkup, "gpu.driver", "NVIDIA driver", IDS_CHECK_PROBLEM,
                      "there are devices, and no driver is loaded", "load the driver: modprobe nvidia");
    }
    snprintf(path, sizeof path, "%s/proc/driver/nvidia/params", root);
    if (read_value(path, "RmProfilingAdminOnly:", restricted, sizeof restricted) && !strcmp(restricted, "1")) {
        ids_check_add(checkup, "gpu.counters", "GPU counters", IDS_CHECK_NOTE,
                      "are for administrators alone; kernels and copies are still recorded", NULL);
    }
}

/* A Linux inside Windows has one file for all GPUs, whose drivers are those of Windows. */
static int check_gpus_of_windows(const char *root, struct ids_checkup *checkup) {
    char first[PATH_MAX];
    if (!count_files(root, "/dev/dxg", first)) return 0;
    int allowed = !access(first, R_OK | W_OK);
    checkup->gpus = 1;
    ids_check_add(checkup, "gpu.devices", "GPUs", allowed ? IDS_CHECK_OK : IDS_CHECK_PROBLEM,
                  allowed ? "those of Windows, through /dev/dxg"
                          : ids_check_text(checkup, "%s: %s", first, strerror(errno)),
                  allowed ? NULL : "sudo usermod -aG video $USER, then wsl --shutdown in Windows");
    return 1;
}

static void check_gpus(const char *root, struct ids_checkup *checkup) {
    char first[PATH_MAX], model[128] = "NVIDIA GPU", information[PATH_MAX];
    checkup->gpus = count_files(root, "/dev/nvidia[0-9]*", first);
    if (!checkup->gpus && check_gpus_of_windows(root, checkup)) return;
    if (!checkup->gpus) {
        int amd = count_files(root, "/dev/kfd", first);
        ids_check_add(checkup, "gpu.devices", "GPUs", amd ? IDS_CHECK_NOTE : IDS_CHECK_NONE,
                      amd ? "an AMD GPU, which only jax's own profiler records" : "no /dev/nvidia*", NULL);
    } else {
        int allowed = !access(first, R_OK | W_OK);
        const char *why = strerror(errno);
        if (count_files(root, "/proc/driver/nvidia/gpus/*/information", information))
            read_value(information, "Model:", model, sizeof model);
        ids_check_add(checkup, "gpu.devices", "GPUs", allowed ? IDS_CHECK_OK : IDS_CHECK_PROBLEM,
                      allowed ? ids_check_text(checkup, "%d x %s", checkup->gpus, model)
                              : ids_check_text(checkup, "%s: %s", first, why),
                      allowed ? NULL
                              : "ask for access to the device (the group video or render, or the container's --gpus)");
    }
    check_gpu_driver(root, checkup);
}

/* ---- TPUs ---- */

static void check_tpus(const char *root, struct ids_checkup *checkup) {
    char first[PATH_MAX];
    checkup->tpus = count_files(root, "/dev/accel[0-9]*", first);
    if (!checkup->tpus) checkup->tpus = count_files(root, "/dev/vfio/[0-9]*", first);
    if (!checkup->tpus) {
        ids_check_add(checkup, "tpu.devices", "TPUs", IDS_CHECK_NONE, "neither /dev/accel* nor /dev/vfio/*", NULL);
        return;
    }
    int allowed = !access(first, R_OK | W_OK);
    ids_check_add(checkup, "tpu.devices", "TPUs", allowed ? IDS_CHECK_OK : IDS_CHECK_PROBLEM,
                  allowed ? ids_check_text(checkup, "%d chip%s or group%s (%s)", checkup->tpus,
                                           checkup->tpus == 1 ? "" : "s", checkup->tpus == 1 ? "" : "s", first)
                          : ids_check_text(checkup, "%s: %s", first, strerror(errno)),
                  allowed ? NULL : "run as a user who may open the device, or give the container --privileged");
}

void ids_check_devices(const struct ids_checkup_options *options, struct ids_checkup *checkup) {
    check_gpus(options->root, checkup);
    check_tpus(options->root, checkup);
}

/* ---- libraries ---- */

/* The first match of `name` in a list of folders separated by ':'; each may be a pattern. */
static int find_in(const char *root, const char *folders, const char *name, char found[PATH_MAX]) {
    for (const char *at = folders; at && *at; at += strcspn(at, ":"), at += *at == ':') {
        char pattern[PATH_MAX];
        int length = (int)strcspn(at, ":");
        if (!length || snprintf(pattern, sizeof pattern, "%.*s/%s", length, at, name) >= (int)sizeof pattern) continue;
        if (count_files(root, pattern, found)) return 1;
    }
    return 0;
}

static int find_library(const char *root, const char *name, char found[PATH_MAX]) {
    return find_in(root, getenv("LD_LIBRARY_PATH"), name, found) ||
           find_in(root,
                   "/usr/lib/*-linux-gnu:/usr/lib64:/usr/lib:/usr/local/nvidia/lib64:/usr/local/cuda*/lib64:/usr/lib/"
                   "wsl/lib",
                   name, found);
}

static void check_cuda(const char *root, struct ids_checkup *checkup) {
    char found[PATH_MAX];
    if (find_library(root, "libcuda.so.1", found)) {
        ids_check_add(checkup, "gpu.libcuda", "libcuda", IDS_CHECK_OK, ids_check_text(checkup, "%s", found), NULL);
    } else {
        ids_check_add(
            checkup, "gpu.libcuda", "libcuda", checkup->gpus ? IDS_CHECK_PROBLEM : IDS_CHECK_NONE, "no libcuda.so.1",
            checkup->gpus ? "install the driver's library (libcuda1), or start the container with --gpus" : NULL);
    }
}

/* Programs take the one that their Python brings, else the toolkit's. */
static void check_cupti(const char *root, struct ids_checkup *checkup) {
    char found[PATH_MAX];
    const char *owner = NULL;
    if (find_in("", checkup->site, "nvidia/cu13/lib/libcupti.so.*", found) ||
        find_in("", checkup->site, "nvidia/cuda_cupti/lib/libcupti.so.*", found)) {
        owner = "a package of this Python";
    } else if (find_in(root, "/usr/local/cuda*/extras/CUPTI/lib64:/usr/local/cuda*/lib64", "libcupti.so.*", found)) {
        owner = "the CUDA toolkit";
    } else if (find_library(root, "libcupti.so.*", found)) {
        owner = "a package of the system";
    }
    if (owner) {
        ids_check_add(checkup, "gpu.libcupti", "libcupti", IDS_CHECK_OK,
                      ids_check_text(checkup, "%s, of %s", found, owner), NULL);
    } else {
        ids_check_add(
            checkup, "gpu.libcupti", "libcupti", checkup->gpus ? IDS_CHECK_PROBLEM : IDS_CHECK_NONE, "no libcupti.so.*",
            checkup->gpus ? "pip install nvidia-cuda-cupti-cu12 (jax[cuda] brings it), or the CUDA toolkit" : NULL);
    }
}

void ids_check_libraries(const struct ids_checkup_options *options, struct ids_checkup *checkup) {
    check_cuda(options->root, checkup);
    check_cupti(options->root, checkup);
}
