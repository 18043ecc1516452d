/* What doctor says of machines that are not here: trees of files that look like them. */
#include "lib/capture/checkup.h"

#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[256];
static struct ids_checkup checkup;

static void put_file(const char *path, const char *text) {
    char whole[512], command[600];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s')\"", whole);
    ck_assert_int_eq(system(command), 0);
    FILE *file = fopen(whole, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* A Python that answers as it is told; python.txt holds the answer. */
static void put_python(const char *answer) {
    char script[512], path[512];
    put_file("/python.txt", answer);
    snprintf(script, sizeof script, "#!/bin/sh\ncat '%s/python.txt'\n", root);
    put_file("/python", script);
    snprintf(path, sizeof path, "%s/python", root);
    chmod(path, 0755);
}

static void setup(void) {
    const char *folder = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/checkup.XXXXXX", folder ? folder : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(root));
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("CUDA_INJECTION64_PATH");
    unsetenv("NVTX_INJECTION64_PATH");
    unsetenv("JAX_PLATFORMS");
    unsetenv("PROFILE_ENABLED");
    unsetenv("TPU_LIBRARY_PATH");
    unsetenv("LD_LIBRARY_PATH");
}

static void look(void) {
    char python[512];
    struct ids_error err = IDS_ERROR_INIT;
    snprintf(python, sizeof python, "%s/python", root);
    struct ids_checkup_options options = {.root = root, .home = "/home/of/idsprof", .python = python, .output = root};
    ck_assert_int_eq(ids_checkup(&options, &checkup, &err), 0);
}

static const struct ids_finding *finding(const char *id) {
    for (size_t i = 0; i < checkup.count; i++) {
        if (!strcmp(checkup.findings[i].id, id)) return &checkup.findings[i];
    }
    return NULL;
}

static void expect(const char *id, enum ids_check_state state, const char *what) {
    const struct ids_finding *found = finding(id);
    ck_assert_msg(found != NULL, "no finding %s", id);
    ck_assert_int_eq(found->state, state);
    ck_assert_str_eq(found->what, what);
}

static const char good_python[] =
    "{\"version\":\"3.12.1\",\"executable\":\"/usr/bin/python\",\"hook\":1,\"isolated\":0,"
    "\"no_site\":0,\"jax\":\"0.10.2\",\"jaxlib\":\"0.10.2\",\"plugins\":\"\",\"libtpu\":\"\","
    "\"site\":\"\"}\n";

START_TEST(test_cpu) {
    setup();
    put_python(good_python);
    look();
    ck_assert_str_eq(ids_checkup_can(&checkup, 0), "cpu");
    ck_assert_ptr_null(ids_checkup_can(&checkup, 1));
    expect("python.program", IDS_CHECK_OK, "3.12.1 (/usr/bin/python)");
    expect("python.hook", IDS_CHECK_OK, "starts (/home/of/idsprof/python)");
    ck_assert_ptr_null(finding("python.stacks")); /* it did not answer that */
    expect("python.jax", IDS_CHECK_OK, "0.10.2 (jaxlib 0.10.2)");
    expect("gpu.devices", IDS_CHECK_NONE, "no /dev/nvidia*");
    expect("tpu.devices", IDS_CHECK_NONE, "neither /dev/accel* nor /dev/vfio/*");
    expect("gpu.libcuda", IDS_CHECK_NONE, "no libcuda.so.1");
    ck_assert_ptr_null(finding("gpu.driver"));
    ck_assert_ptr_null(finding("gpu.plugin"));
    ids_checkup_done(&checkup);
}
END_TEST

START_TEST(test_gpus) {
    setup();
    put_python("{\"version\":\"3.12.1\",\"executable\":\"p\",\"hook\":1,\"jax\":\"0.10.2\",\"jaxlib\":\"0.10.2\","
               "\"plugins\":\"xla_cuda13\",\"libtpu\":\"\",\"site\":\"\"}");
    put_file("/dev/nvidia0", "");
    put_file("/dev/nvidia1", "");
    put_file("/dev/nvidiactl", ""); /* no device of its own */
    put_file("/proc/driver/nvidia/version",
             "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Thu Jan 23\nGCC version: 12\n");
    put_file("/proc/driver/nvidia/params", "ModifyDeviceFiles: 1\nRmProfilingAdminOnly: 1\n");
    put_file("/proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ: 5\n");
    put_file("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "");
    put_file("/usr/local/cuda-13/extras/CUPTI/lib64/libcupti.so.13", "");
    look();
    expect("gpu.devices", IDS_CHECK_OK, "2 x NVIDIA H100 80GB HBM3");
    expect("gpu.driver", IDS_CHECK_OK, "570.86.15");
    expect("gpu.counters", IDS_CHECK_NOTE, "are for administrators alone; kernels and copies are still recorded");
    ck_assert_int_eq(finding("gpu.libcuda")->state, IDS_CHECK_OK);
    ck_assert_ptr_nonnull(strstr(finding("gpu.libcupti")->what, "libcupti.so.13, of the CUDA toolkit"));
    ck_assert_str_eq(ids_checkup_can(&checkup, 0), "gpu");
    ck_assert_str_eq(ids_checkup_can(&checkup, 1), "cpu");
    ids_checkup_done(&checkup);
}
END_TEST

START_TEST(test_gpus_in_trouble) { /* devices, and nothing that goes with them */
    setup();
    put_python(good_python);
    put_file("/dev/nvidia0", "");
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    setenv("CUDA_INJECTION64_PATH", "/opt/other.so", 1);
    setenv("NVTX_INJECTION64_PATH", "/opt/ranges.so", 1);
    put_file("/proc/17/comm", "nv-hostengine\n");
    put_file("/proc/18/comm", "nsys-not-quite\n");
    setenv("JAX_PLATFORMS", "cpu", 1);
    setenv("PROFILE_ENABLED", "No", 1);
    look();
    expect("gpu.driver", IDS_CHECK_PROBLEM, "there are devices, and no driver is loaded");
    expect("gpu.plugin", IDS_CHECK_PROBLEM, "there are GPUs, and this jax has no plugin for them");
    expect("gpu.libcuda", IDS_CHECK_PROBLEM, "no libcuda.so.1");
    expect("gpu.libcupti", IDS_CHECK_PROBLEM, "no libcupti.so.*");
    expect("variables.visible", IDS_CHECK_PROBLEM, "hides all GPUs from programs");
    expect("variables.injection", IDS_CHECK_NOTE, "is '/opt/other.so': another tool may own CUPTI in programs");
    expect("variables.nvtx", IDS_CHECK_NOTE, "is '/opt/ranges.so': NVTX ranges go to that tool");
    expect("tools.dcgm", IDS_CHECK_NOTE, "runs: its profiling metrics and CUPTI may exclude each other");
    ck_assert_ptr_null(finding("tools.nsys"));
    expect("variables.platforms", IDS_CHECK_NOTE, "is 'cpu': jax uses nothing else");
    expect("variables.enabled", IDS_CHECK_PROBLEM, "is 'No': capture runs programs without recording them");
    for (size_t i = 0; i < checkup.count; i++) {
        if (checkup.findings[i].state == IDS_CHECK_PROBLEM) ck_assert_ptr_nonnull(checkup.findings[i].remedy);
    }
    ck_assert_str_eq(ids_checkup_can(&checkup, 0), "cpu");
    ids_checkup_done(&checkup);
}
END_TEST

START_TEST(test_tpus) {
    setup();
    put_python("{\"version\":\"3.12.1\",\"executable\":\"p\",\"hook\":1,\"jax\":\"0.10.2\",\"jaxlib\":\"0.10.2\","
               "\"plugins\":\"\",\"libtpu\":\"/site/libtpu/libtpu.so\",\"site\":\"\"}");
    for (int i = 0; i < 4; i++) {
        char path[32];
        snprintf(path, sizeof path, "/dev/vfio/%d", i);
        put_file(path, "");
    }
    look();
    ck_assert_int_eq(checkup.tpus, 4);
    ck_assert_int_eq(finding("tpu.devices")->state, IDS_CHECK_OK);
    expect("python.libtpu", IDS_CHECK_OK, "/site/libtpu/libtpu.so");
    ck_assert_str_eq(ids_checkup_can(&checkup, 0), "tpu");
    ids_checkup_done(&checkup);
    setenv("TPU_LIBRARY_PATH", "/nonexistent/libtpu.so", 1);
    look();
    expect("python.tpu_library_path", IDS_CHECK_PROBLEM, "names '/nonexistent/libtpu.so', which does not exist");
    expect("python.libtpu", IDS_CHECK_OK, "/site/libtpu/libtpu.so"); /* jax falls back to the package */
    ids_checkup_done(&checkup);
    put_python("{\"version\":\"3.12.1\",\"executable\":\"p\",\"hook\":1,\"jax\":\"0.10.2\",\"jaxlib\":\"0.10.2\","
               "\"plugins\":\"\",\"libtpu\":\"/site/libtpu.so\",\"fault\":\"file too short\",\"site\":\"\"}");
    look();
    expect("python.libtpu", IDS_CHECK_PROBLEM, "/site/libtpu.so cannot be loaded: file too short");
    ck_assert_str_eq(ids_checkup_can(&checkup, 0), "cpu");
    ids_checkup_done(&checkup);
}
END_TEST

static void put_mounts(const char *type, const char *source) {
    char lines[2048];
    snprintf(lines, sizeof lines,
             "22 27 0:21 / / rw,relatime - ext4 /dev/sda rw\n"
             "23 22 0:22 / %.*s rw - xfs /dev/sdb rw\n"
             "24 22 0:23 / %sx rw - nfs other:/export rw\n"
             "a line that is none\n"
             "25 23 0:24 / %s rw,nosuid shared:1 - %s %s rw\n",
             (int)(strrchr(root, '/') - root), root, root, root, type, source);
    put_file("/proc/self/mountinfo", lines);
}

START_TEST(test_wsl) {
    setup();
    put_python(good_python);
    put_file("/proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n");
    put_file("/dev/dxg", "");
    put_file("/usr/lib/wsl/lib/libcuda.so.1", "");
    put_mounts("9p", "drvfs");
    look();
    expect("gpu.devices", IDS_CHECK_OK, "those of Windows, through /dev/dxg");
    ck_assert_int_eq(finding("gpu.libcuda")->state, IDS_CHECK_OK);
    ck_assert_ptr_null(finding("gpu.driver")); /* it is one of Windows */
    ck_assert_int_eq(finding("place.mount")->state, IDS_CHECK_NOTE);
    ck_assert_ptr_nonnull(strstr(finding("place.mount")->what, "is a disk of Windows"));
    ids_checkup_done(&checkup);
    put_file("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"); /* 9p of a virtual machine */
    look();
    ck_assert_ptr_null(finding("place.mount"));
    ids_checkup_done(&checkup);
}
END_TEST

START_TEST(test_mounts) {
    setup();
    put_python(good_python);
    put_mounts("nfs4", "server:/export");
    look();
    ck_assert_ptr_nonnull(strstr(finding("place.mount")->what, "is on the network (nfs4, server:/export)"));
    ids_checkup_done(&checkup);
    put_mounts("tmpfs", "none");
    look();
    ck_assert_ptr_nonnull(strstr(finding("place.mount")->what, "is memory (tmpfs)"));
    ids_checkup_done(&checkup);
    put_mounts("ext4", "/dev/sdc");
    look();
    ck_assert_ptr_null(finding("place.mount"));
    ids_checkup_done(&checkup);
}
END_TEST

START_TEST(test_limits) {
    setup();
    put_python(good_python);
    look();
    ck_assert_ptr_null(finding("limits.memory"));
    ck_assert_ptr_null(finding("limits.cpu"));
    ids_checkup_done(&checkup);
    /* version 2: the job's own group has no limit, the one above it has */
    put_file("/proc/self/cgroup", "0::/slurm/job_7\n");
    put_file("/sys/fs/cgroup/slurm/job_7/memory.max", "max\n");
    put_file("/sys/fs/cgroup/slurm/memory.max", "1000000000\n");
    put_file("/sys/fs/cgroup/slurm/job_7/memory.current", "900000000\n");
    put_file("/sys/fs/cgroup/slurm/job_7/cpu.max", "50000 100000\n");
    look();
    expect("limits.memory", IDS_CHECK_NOTE, "the container or batch job may use 1.0 GB, and uses 0.9 GB");
    ck_assert_ptr_nonnull(finding("limits.memory")->remedy);
    ck_assert_ptr_nonnull(strstr(finding("limits.cpu")->what, "may use 0.5 of "));
    ids_checkup_done(&checkup);
    put_file("/sys/fs/cgroup/slurm/memory.max", "max\n");
    put_file("/sys/fs/cgroup/slurm/job_7/cpu.max", "max 100000\n");
    look();
    ck_assert_ptr_null(finding("limits.memory"));
    ck_assert_ptr_null(finding("limits.cpu"));
    ids_checkup_done(&checkup);
    /* version 1: the name is the host's, and only the root of the controller is seen; -1 is no quota */
    put_file("/proc/self/cgroup", "4:cpu,cpuacct:/docker/f00\n3:memory:/docker/f00\n0::/\n");
    put_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "500000000\n");
    put_file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n");
    put_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    look();
    expect("limits.memory", IDS_CHECK_NOTE, "the container or batch job may use 0.5 GB, and uses 0.0 GB");
    ck_assert_ptr_null(finding("limits.cpu"));
    ids_checkup_done(&checkup);
    put_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "20000\n");
    put_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    look();
    ck_assert_ptr_nonnull(strstr(finding("limits.cpu")->what, "may use 0.2 of "));
    ck_assert_ptr_null(finding("limits.memory"));
    ids_checkup_done(&checkup);
}
END_TEST

static void expect_no_python(const char *what) {
    look();
    const struct ids_finding *found = finding("python.program");
    ck_assert_int_eq(found->state, IDS_CHECK_PROBLEM);
    ck_assert_ptr_nonnull(strstr(found->what, what));
    ck_assert_ptr_null(ids_checkup_can(&checkup, 0));
    ids_checkup_done(&checkup);
}

START_TEST(test_bad_pythons) {
    setup();
    /* Under valgrind posix_spawn is a plain fork, and its child's failure to begin comes as an exit code. */
    expect_no_python(getenv("IDS_VALGRIND") ? "it failed when it was asked (what is recorded needs Python 3.9 or later)"
                                            : "No such file or directory");
    put_python("");
    expect_no_python("its answer is not understood");
    put_python("Traceback (most recent call last):\n");
    expect_no_python("its answer is not understood");
    put_file("/python", "#!/bin/sh\nexit 3\n");
    expect_no_python("it failed when it was asked (what is recorded needs Python 3.9 or later)");
    put_file("/python", "#!/bin/sh\nexec yes\n"); /* an answer without an end */
    expect_no_python("it gave no answer in time");
    put_python("{\"hook\":0,\"isolated\":1,\"no_stacks\":\"this is 3.8\"}");
    look();
    expect("python.stacks", IDS_CHECK_NOTE, "are not recorded: this is 3.8");
    expect("python.hook", IDS_CHECK_PROBLEM, "this Python runs with -I, -E or -S, which keep it out");
    expect("python.jax", IDS_CHECK_PROBLEM, "not in this Python");
    ids_checkup_done(&checkup);
}
END_TEST

IDS_RUN_SUITE("checkup", test_cpu, test_gpus, test_gpus_in_trouble, test_tpus, test_bad_pythons, test_wsl, test_mounts,
              test_limits)
