#include "collectors/pjrt/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- finding ---- */

static int is_ourselves(const char *path) {
    Dl_info ours;
    char *a = realpath(path, NULL), *b = NULL;
    if (dladdr((const void *)(uintptr_t)ids_plugin_find, &ours) && ours.dli_fname) b = realpath(ours.dli_fname, NULL);
    int same = a && b && !strcmp(a, b);
    free(a);
    free(b);
    return same;
}

static int take(const char *from, char path[IDS_PLUGIN_PATH]) {
    if (!from || !from[0] || strlen(from) >= IDS_PLUGIN_PATH || is_ourselves(from)) return -1;
    memcpy(path, from, strlen(from) + 1);
    return 0;
}

int ids_plugin_note(char path[IDS_PLUGIN_PATH]) {
    const char *session = getenv("IDSPROF_SESSION");
    if (!session) return -1;
    return snprintf(path, IDS_PLUGIN_PATH, "%s/.idsprof/%ld.plugin", session, (long)getpid()) < IDS_PLUGIN_PATH ? 0
                                                                                                                : -1;
}

static int take_note(char path[IDS_PLUGIN_PATH]) {
    char note[IDS_PLUGIN_PATH], found[IDS_PLUGIN_PATH];
    if (ids_plugin_note(note)) return -1;
    int file = open(note, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t length = read(file, found, sizeof found - 1);
    close(file);
    unlink(note);
    if (length <= 0) return -1;
    found[length] = '\0';
    return take(found, path);
}

int ids_plugin_find(char path[IDS_PLUGIN_PATH], char *why, size_t why_size) {
    if (!take(getenv("IDSPROF_PJRT_PLUGIN"), path) || !take_note(path) || !take(getenv("IDSPROF_PJRT_LIBRARY"), path) ||
        !take(getenv("IDSPROF_TPU_LIBRARY"), path)) {
        return 0;
    }
    snprintf(why, why_size,
             "idsprof: nothing names the PJRT plugin to stand for; IDSPROF_TPU_LIBRARY=/path/of/libtpu.so does");
    return -1;
}

/* ---- loading ---- */

const struct pjrt_table *ids_plugin_load(const char *path, char *why, size_t why_size) {
    char dotted[IDS_PLUGIN_PATH + 4];
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) : 0;
    snprintf(dotted, sizeof dotted, slash ? "%.*s/./%s" : "%.*s%s", folder, path, slash ? slash + 1 : path);
    void *library = dlopen(dotted, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *error = dlerror();
        snprintf(why, why_size, "%s", error ? error : path);
        return NULL;
    }
    const struct pjrt_table *(*get)(void) = NULL;
    *(void **)(&get) = dlsym(library, "GetPjrtApi");
    const struct pjrt_table *table = get ? get() : NULL;
    if (!table) snprintf(why, why_size, "%s: %s", path, get ? "GetPjrtApi returned nothing" : "no GetPjrtApi in it");
    /* The library stays loaded, as it would have without us. */
    return table; // cppcheck-suppress resourceLeak
}

/* ---- none ---- */

static char none_why[1024];
enum { NOT_FOUND = 5 };

static void *fails(void *arguments) {
    (void)arguments;
    return none_why; /* the error is its text */
}

static void *none_destroy(void *arguments) {
    return arguments;
}

/* What is newer than the errors' own functions may be asked of an error, and to fail at that is asked of its error
 * again, for ever: jaxlib 0.10.2 does so. Nothing of it is reached without a client. */
static void *none_says(void *arguments) {
    (void)arguments;
    return NULL;
}

static void *none_message(void *arguments) {
    struct pjrt_error_message *message = arguments;
    message->message = none_why;
    message->message_size = strlen(none_why);
    return NULL;
}

static void *none_code(void *arguments) {
    struct pjrt_error_get_code *code = arguments;
    code->code = NOT_FOUND;
    return NULL;
}

const struct pjrt_table *ids_plugin_none(const char *why) {
    static union {
        struct pjrt_table table;
        char room[sizeof(struct pjrt_table) + PJRT_ENTRIES * sizeof(pjrt_function *)];
    } none;
    snprintf(none_why, sizeof none_why, "%s", why);
    for (int i = 0; i < PJRT_ENTRIES; i++)
        none.table.functions[i] = i <= PJRT_TRANSFER_MANAGER_TRANSFER_DATA ? fails : none_says;
    none.table.functions[PJRT_ERROR_DESTROY] = none_destroy;
    none.table.functions[PJRT_ERROR_MESSAGE] = none_message;
    none.table.functions[PJRT_ERROR_GET_CODE] = none_code;
    none.table.size = sizeof none;
    none.table.version.size = sizeof none.table.version;
    none.table.version.minor = 112;
    return &none.table;
}
