/* The way in for programs without Python and without a variable that names their plugin: rtld-audit(7), only where the
 * launcher is told so (--audit). The dynamic linker loads this library once more for that, in a namespace of its own,
 * and asks la_objsearch for every library. A PJRT plugin is answered with ourselves; which one it was, a file tells
 * the library in the program (plugin.h). */
#include "collectors/pjrt/plugin.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static int begins(const char *text, const char *with) {
    return !strncmp(text, with, strlen(with));
}

static int is_plugin(const char *name) {
    static const char *const plugins[] = {"libtpu.so",    "xla_cuda_plugin", "xla_rocm_plugin",
                                          "pjrt_plugin_", "pjrt_c_api_",     "libpjrt"};
    const char *slash = strrchr(name, '/');
    if (!slash || strstr(name, "/./"))
        return 0; /* found by a search path it comes again, with one; /./ is our own asking */
    for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++) {
        if (begins(slash + 1, plugins[i])) return 1;
    }
    return 0;
}

static int leave_note(const char *name) {
    char note[IDS_PLUGIN_PATH];
    if (access(name, R_OK) || ids_plugin_note(note)) return -1;
    int file = open(note, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    size_t length = strlen(name);
    int failed = write(file, name, length) != (ssize_t)length;
    close(file);
    return failed ? -1 : 0;
}

EXPORTED unsigned la_version(unsigned version);
EXPORTED char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag);

unsigned la_version(unsigned version) {
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag) {
    static char ours[IDS_PLUGIN_PATH];
    Dl_info info;
    (void)cookie;
    (void)flag;
    if (!is_plugin(name)) return (char *)name;
    if (!ours[0]) {
        if (!dladdr((const void *)(uintptr_t)la_version, &info) || strlen(info.dli_fname) >= sizeof ours) {
            return (char *)name;
        }
        memcpy(ours, info.dli_fname, strlen(info.dli_fname) + 1);
    }
    return leave_note(name) ? (char *)name : ours;
}
