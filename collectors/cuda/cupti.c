#include "collectors/cuda/cupti.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- its functions ---- */

/* ISO C knows no way from an object's address to a function's; POSIX says that the bytes are the same. */
static void take(void *library, const char *symbol, void *ret_function) {
    void *address = dlsym(library, symbol);
    memcpy(ret_function, &address, sizeof address);
}

/* The name of a needed function that is not there, NULL: all are. */
static const char *take_all(struct ids_cupti *cupti) {
    const char *missing = NULL;
#define TAKE(member, symbol, arguments) take(cupti->library, symbol, &cupti->member);
#define NEED(member, symbol, arguments) \
    if (!cupti->member) missing = symbol;
    IDS_CUPTI_NEEDED(TAKE)
    IDS_CUPTI_OPTIONAL(TAKE)
    IDS_CUPTI_NEEDED(NEED)
#undef TAKE
#undef NEED
    if (!cupti->subscribe && !cupti->subscribe_v2) missing = "cuptiSubscribe";
    return missing;
}

int ids_cupti_has_several(const struct ids_cupti *cupti) {
    return cupti->subscribe_v2 && cupti->register_callbacks_v2 && cupti->enable_v2 && cupti->disable_v2 &&
           cupti->next_v2;
}

const char *ids_cupti_text(const struct ids_cupti *cupti, int result, char *buffer, size_t size) {
    const char *text = NULL;
    if (result == IDS_CUPTI_MULTIPLE_SUBSCRIBERS) return "another tool has CUPTI";
    if (result == IDS_CUPTI_INSUFFICIENT_PRIVILEGES)
        return "profiling is allowed to the administrator alone here (NVreg_RestrictProfilingToAdminUsers)";
    /* Without a driver this call may fail too, and leaves NULL. */
    if (cupti->result_text && cupti->result_text(result, &text) != IDS_CUPTI_SUCCESS) text = NULL;
    int no_driver = result == IDS_CUPTI_UNKNOWN || result == IDS_CUPTI_NOT_INITIALIZED;
    snprintf(buffer, size, "error %d%s%s%s", result, text ? ", " : "", text ? text : "",
             no_driver ? ": no CUDA driver, or one that is too old for this libcupti" : "");
    return buffer;
}

/* ---- where it is ---- */

struct places {
    struct ids_cupti *cupti;
    int newest;          /* of the majors to try */
    const char *missing; /* in the last one that was opened */
};

static int try_file(struct places *places, const char *path, int flags) {
    struct ids_cupti *cupti = places->cupti;
    cupti->library = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
    if (!cupti->library) return 0;
    places->missing = take_all(cupti);
    if (places->missing) {
        cupti->library = NULL; /* it stays loaded: closing one that the program uses would harm it */
        return 0;
    }
    snprintf(cupti->path, sizeof cupti->path, "%s", path);
    return 1;
}

/* Both majors of a folder, the newer first; "" is the loader's path. */
static int try_folder(struct places *places, const char *folder, int length, int flags) {
    char path[512];
    for (int major = places->newest; major >= 12; major--) {
        int used = snprintf(path, sizeof path, "%.*s%slibcupti.so.%d", length, folder, length ? "/" : "", major);
        if (used > 0 && (size_t)used < sizeof path && try_file(places, path, flags)) return 1;
    }
    return 0;
}

/* Beside a library of the program's: its own folder, and where pip lays the others of its kind: a CUDA library in
 * site-packages/nvidia/cublas/lib, one of torch in site-packages/torch/lib. */
static int try_beside(struct places *places, const char *path) {
    static const char *const wheels[] = {"nvidia/cu13/lib", "nvidia/cuda_cupti/lib"};
    const char *slash = strrchr(path, '/');
    char folder[512];
    if (!slash) return 0;
    if ((strstr(slash, "/libcudart.so") || strstr(slash, "/libcublas")) &&
        try_folder(places, path, (int)(slash - path), 0))
        return 1;
    const char *site = strstr(path, "/site-packages/");
    size_t prefix = site ? (size_t)(site - path) + strlen("/site-packages/") : 0;
    if (!site && (site = strstr(path, "/dist-packages/"))) prefix = (size_t)(site - path) + strlen("/dist-packages/");
    if (!prefix || (!strstr(path + prefix, "nvidia/") && !strstr(path + prefix, "torch/lib/"))) return 0;
    for (size_t i = 0; i < sizeof wheels / sizeof *wheels; i++) {
        int used = snprintf(folder, sizeof folder, "%.*s%s", (int)prefix, path, wheels[i]);
        if (used > 0 && (size_t)used < sizeof folder && try_folder(places, folder, used, 0)) return 1;
    }
    return 0;
}

/* dlopen must not be called while the list is walked: the names are gathered first. */
struct names {
    char text[16384];
    size_t used;
};

static int gather(struct dl_phdr_info *info, size_t size, void *data) {
    struct names *names = data;
    size_t length = info->dlpi_name ? strlen(info->dlpi_name) : 0;
    (void)size;
    if (!length || names->used + length + 1 > sizeof names->text) return 0;
    if (!strstr(info->dlpi_name, "nvidia/") && !strstr(info->dlpi_name, "/torch/lib/") &&
        !strstr(info->dlpi_name, "/libcudart.so") && !strstr(info->dlpi_name, "/libcublas"))
        return 0;
    memcpy(names->text + names->used, info->dlpi_name, length + 1);
    names->used += length + 1;
    return 0;
}

static int try_program(struct places *places) {
    static struct names names; /* large for a stack of somebody else; one window starts at a time */
    names.used = 0;
    dl_iterate_phdr(gather, &names);
    for (size_t at = 0; at < names.used; at += strlen(names.text + at) + 1) {
        if (try_beside(places, names.text + at)) return 1;
    }
    return 0;
}

static int try_toolkit(struct places *places) {
    const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    static const char *const folders[] = {"extras/CUPTI/lib64", "lib64", "lib"};
    char folder[512];
    for (size_t h = 0; h < sizeof homes / sizeof *homes; h++) {
        for (size_t f = 0; homes[h] && f < sizeof folders / sizeof *folders; f++) {
            int used = snprintf(folder, sizeof folder, "%s/%s", homes[h], folders[f]);
            if (used > 0 && (size_t)used < sizeof folder && try_folder(places, folder, used, 0)) return 1;
        }
    }
    return 0;
}

int ids_cupti_load(struct ids_cupti *cupti, int driver, char *why, size_t why_size) {
    struct places places = {.cupti = cupti, .newest = driver && driver < 13000 ? 12 : 13};
    const char *setting = getenv("IDSPROF_CUPTI");
    memset(cupti, 0, sizeof *cupti);
    int found;
    if (setting && *setting) {
        found = try_file(&places, setting, 0);
        if (!found && !places.missing) {
            const char *error = dlerror();
            snprintf(why, why_size, "IDSPROF_CUPTI: %s", error ? error : setting);
            return -1;
        }
    } else {
        found = try_folder(&places, "", 0, RTLD_NOLOAD) || try_program(&places) || try_folder(&places, "", 0, 0) ||
                try_toolkit(&places);
    }
    if (!found && places.missing) {
        snprintf(why, why_size,
                 "libcupti has no %s: it is older than CUDA 12; install nvidia-cuda-cupti-cu12 or a newer toolkit",
                 places.missing);
    } else if (!found) {
        snprintf(why, why_size,
                 "libcupti.so.%d was not found: pip install nvidia-cuda-cupti%s, or set IDSPROF_CUPTI to its path",
                 places.newest, places.newest == 12 ? "-cu12" : "");
    }
    if (!found) return -1;
    if (cupti->version) cupti->version(&cupti->number);
    return 0;
}
