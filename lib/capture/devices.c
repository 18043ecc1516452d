#include "lib/capture/devices.h"

#include "lib/capture/checkup_parts.h"

#include <stddef.h>
#include <string.h>

static void count(void *context, const char *path) {
    (void)path;
    ++*(int *)context;
}

static int count_of(const char *root, const char *const *patterns) {
    int found = 0;
    for (; *patterns && !found; patterns++) ids_check_files(root, *patterns, count, &found);
    return found;
}

int ids_devices_gpus(const char *root) {
    static const char *const patterns[] = {"/dev/nvidia[0-9]*", "/dev/dxg", "/dev/kfd", NULL};
    return count_of(root, patterns);
}

int ids_devices_tpus(const char *root) {
    static const char *const patterns[] = {"/dev/accel[0-9]*", "/dev/vfio/[0-9]*", NULL};
    return count_of(root, patterns);
}

int ids_devices_launch_elsewhere(const char *program) {
    static const char *const launchers[] = {"srun",  "salloc", "sbatch", "mpirun",      "mpiexec",  "prun",
                                            "jsrun", "aprun",  "qsub",   "ssh",         "kubectl",  "docker",
                                            "ray",   "gcloud", "podman", "singularity", "apptainer"};
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        if (!strcmp(name, launchers[i])) return 1;
    }
    return 0;
}
