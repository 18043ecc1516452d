#include "lib/base/library.h"

#include "lib/base/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int ids_library_load(const char *library, const struct ids_library_call *calls, size_t count, struct ids_error *err) {
    errno = 0;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle && errno == ENOMEM) return ids_no_memory(err);
    if (!handle) return ids_fail(err, IDS_UNSUPPORTED, "a library is missing: %s", dlerror());
    for (size_t i = 0; i < count; i++) {
        void *call = dlsym(handle, calls[i].name);
        if (!call) return ids_fail(err, IDS_UNSUPPORTED, "%s lacks %s", library, calls[i].name);
        memcpy(calls[i].place, &call, sizeof call);
    }
    return 0;
}
