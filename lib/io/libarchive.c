#include "lib/io/libarchive.h"

#ifdef IDS_LIBARCHIVE_FILE

#include "lib/base/library.h"

#include <pthread.h>

struct ids_libarchive ids_libarchive;

int ids_libarchive_load(struct ids_error *err) {
#define NAME_AND_PLACE(name) {"archive_" #name, &ids_libarchive.archive_##name},
    static const struct ids_library_call calls[] = {IDS_LIBARCHIVE_CALLS(NAME_AND_PLACE)};
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int is_loaded;
    pthread_mutex_lock(&lock);
    int code = is_loaded ? 0 : ids_library_load(IDS_LIBARCHIVE_FILE, calls, sizeof calls / sizeof *calls, err);
    is_loaded = !code;
    pthread_mutex_unlock(&lock);
    return code;
}

#else

int ids_libarchive_load(struct ids_error *err) {
    (void)err;
    return 0;
}

#endif
