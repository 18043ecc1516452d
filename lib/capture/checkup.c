#include "lib/capture/checkup_parts.h"

#include "collectors/common/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { LITTLE_SPACE = 1 << 30, NO_SPACE = 64 << 10 }; /* with less no window is written (collectors/common/publish.c) */

/* ---- variables that change what is recorded ---- */

static void check_switch(struct ids_checkup *checkup) {
    const char *enabled = getenv("PROFILE_ENABLED");
    static const char *const off[] = {"0", "false", "no", "off"};
    for (size_t i = 0; enabled && i < sizeof off / sizeof *off; i++) {
        if (strcasecmp(enabled, off[i]) != 0) continue;
        ids_check_add(checkup, "variables.enabled", "PROFILE_ENABLED", IDS_CHECK_PROBLEM,
                      ids_check_text(checkup, "is '%s': capture runs programs without recording them", enabled),
                      "unset PROFILE_ENABLED");
    }
}

void ids_check_variables(struct ids_checkup *checkup) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES"), *injection = getenv("CUDA_INJECTION64_PATH");
    const char *platforms = getenv("JAX_PLATFORMS");
    check_switch(checkup);
    if (platforms && *platforms) {
        ids_check_add(checkup, "variables.platforms", "JAX_PLATFORMS", IDS_CHECK_NOTE,
                      ids_check_text(checkup, "is '%s': jax uses nothing else", platforms), NULL);
    }
    if (visible && (!*visible || !strcmp(visible, "-1"))) {
        ids_check_add(checkup, "variables.visible", "CUDA_VISIBLE_DEVICES",
                      checkup->gpus ? IDS_CHECK_PROBLEM : IDS_CHECK_NOTE, "hides all GPUs from programs",
                      checkup->gpus ? "unset CUDA_VISIBLE_DEVICES" : NULL);
    }
    if (injection && *injection) {
        ids_check_add(checkup, "variables.injection", "CUDA_INJECTION64_PATH", IDS_CHECK_NOTE,
                      ids_check_text(checkup, "is '%s': another tool may own CUPTI in programs", injection),
                      "unset CUDA_INJECTION64_PATH when GPU windows are skipped");
    }
}

/* ---- devices that jax cannot use ---- */

static void check_plugins(struct ids_checkup *checkup) {
    if (checkup->gpus && checkup->has_jax && !checkup->gpu_plugin) {
        ids_check_add(checkup, "gpu.plugin", "jax on GPUs", IDS_CHECK_PROBLEM,
                      "there are GPUs, and this jax has no plugin for them",
                      "pip install 'jax[cuda13]', or 'jax[cuda12]' for older drivers");
    }
    if (checkup->tpus && checkup->has_jax && !checkup->tpu_plugin) {
        ids_check_add(checkup, "tpu.plugin", "jax on TPUs", IDS_CHECK_PROBLEM,
                      "there are TPUs, and this jax has no libtpu", "pip install 'jax[tpu]'");
    }
}

/* ---- where it writes ---- */

/* The folder, or what is there of the way to it. */
static const char *existing_part(struct ids_checkup *checkup, const char *path) {
    char *part = ids_arena_copy(&checkup->arena, path, strlen(path));
    while (part && access(part, F_OK)) {
        char *slash = strrchr(part, '/');
        if (!slash) return ".";
        if (slash == part) return "/";
        *slash = '\0';
    }
    return part ? part : ".";
}

static const char *space_text(struct ids_checkup *checkup, unsigned long long bytes, int lacks_files) {
    if (lacks_files) return "full: it can hold no further file (no inodes are left)";
    if (!bytes) return "full";
    return ids_check_text(checkup, bytes < 100000000 ? "%.3f GB free" : "%.1f GB free", (double)bytes / 1e9);
}

static void check_space(const char *there, struct ids_checkup *checkup) {
    struct statvfs disk;
    if (statvfs(there, &disk)) return;
    unsigned long long bytes = (unsigned long long)disk.f_bavail * disk.f_frsize;
    int lacks_files = disk.f_files > 0 && !disk.f_favail, is_little = lacks_files || bytes < LITTLE_SPACE;
    if (lacks_files || bytes < NO_SPACE) checkup->can_write = 0;
    ids_check_add(checkup, "place.space", "disk", is_little ? IDS_CHECK_PROBLEM : IDS_CHECK_OK,
                  space_text(checkup, bytes, lacks_files),
                  is_little ? "make room, choose another folder with -o DIR, or let --keep N remove older captures"
                            : NULL);
}

/* Tried, and taken away again: for root and on network mounts the mode says nothing. errno is why not. */
static int can_make_folder(struct ids_checkup *checkup, const char *there) {
    char *path = (char *)ids_check_text(checkup, "%s/.idsprof.XXXXXX", there);
    if (!*path || !mkdtemp(path)) return 0;
    rmdir(path);
    return 1;
}

void ids_check_place(const struct ids_checkup_options *options, struct ids_checkup *checkup) {
    char socket[IDS_CONTROL_PATH], why[512];
    const char *there = existing_part(checkup, options->output);
    checkup->can_write = can_make_folder(checkup, there);
    int failure = checkup->can_write ? 0 : errno;
    if (checkup->can_write) {
        ids_check_add(checkup, "place.folder", "captures go to", IDS_CHECK_OK, options->output, NULL);
        check_space(there, checkup);
        ids_check_mount(options, there, checkup);
    } else {
        ids_check_add(checkup, "place.folder", "captures go to", IDS_CHECK_PROBLEM,
                      ids_check_text(checkup, "%s: %s", options->output, strerror(failure)),
                      "choose another folder with -o DIR or PROFILE_DIR");
        if (failure == ENOSPC || failure == EDQUOT) check_space(there, checkup);
    }
    if (ids_control_folder(socket, sizeof socket, why, sizeof why)) {
        ids_check_add(checkup, "place.socket", "idsprof trigger", IDS_CHECK_PROBLEM, ids_check_text(checkup, "%s", why),
                      "set XDG_RUNTIME_DIR to a folder that belongs to you alone");
    } else {
        ids_check_add(checkup, "place.socket", "idsprof trigger", IDS_CHECK_OK,
                      ids_check_text(checkup, "sockets in %s", socket), NULL);
    }
}

/* ---- all of it ---- */

int ids_checkup(const struct ids_checkup_options *options, struct ids_checkup *ret_checkup, struct ids_error *err) {
    *ret_checkup = (struct ids_checkup){0};
    ids_check_python(options, ret_checkup);
    ids_check_collectors(options, ret_checkup);
    ids_check_devices(options, ret_checkup);
    ids_check_libraries(options, ret_checkup);
    check_plugins(ret_checkup);
    ids_check_variables(ret_checkup);
    ids_check_tools(options, ret_checkup);
    ids_check_limits(options, ret_checkup);
    ids_check_place(options, ret_checkup);
    if (ret_checkup->findings) return 0;
    ids_checkup_done(ret_checkup);
    return ids_no_memory(err);
}

void ids_checkup_done(struct ids_checkup *checkup) {
    free(checkup->findings);
    ids_arena_done(&checkup->arena);
    *checkup = (struct ids_checkup){0};
}

const char *ids_check_state_name(enum ids_check_state state) {
    static const char *const names[] = {"ok", "none", "note", "problem"};
    return names[state];
}

const char *ids_checkup_can(const struct ids_checkup *checkup, int i) {
    int works = checkup->has_hook && checkup->has_jax && checkup->can_write;
    const char *can[3];
    int count = 0;
    if (works && checkup->gpus && checkup->gpu_plugin) can[count++] = "gpu";
    if (works && checkup->tpus && checkup->tpu_plugin) can[count++] = "tpu";
    if (works) can[count++] = "cpu";
    return i < count ? can[i] : NULL;
}
