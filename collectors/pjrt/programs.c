#include "collectors/pjrt/programs.h"

#include "collectors/common/pb_skip.h"
#include "collectors/pjrt/collectives.h"
#include "collectors/pjrt/record.h"
#include "lib/fields/hlo.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NUMBERED (UINT64_C(1) << 40)
#define GONE ((uintptr_t)1) /* a slot whose executable was destroyed */

struct loaded {
    atomic_uintptr_t executable; /* 0: free */
    uint32_t program;
};

static struct ids_program programs[IDS_PROGRAMS];
static atomic_uint program_count = 1; /* 0 is IDS_NO_PROGRAM */
static struct loaded loaded[IDS_LOADED];
static uint32_t loaded_count, gone_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static regex_t step_pattern;
static int has_pattern;
static int hlo_file = -1;
static int64_t hlo_bytes;

int ids_programs_begin(const char *pattern, char *why, size_t why_size) {
    programs[IDS_NO_PROGRAM].code_size = programs[IDS_NO_PROGRAM].collectives = -1;
    if (!pattern[0] || has_pattern) return 0;
    int error = regcomp(&step_pattern, pattern, REG_EXTENDED | REG_NOSUB);
    if (error) {
        char what[128];
        regerror(error, &step_pattern, what, sizeof what);
        snprintf(why, why_size, "--step-executable '%s': %s", pattern, what);
        return -1;
    }
    has_pattern = 1;
    return 0;
}

uint32_t ids_programs_add(const char *name, size_t length) {
    pthread_mutex_lock(&lock);
    uint32_t id = atomic_load(&program_count);
    if (id == IDS_PROGRAMS) {
        pthread_mutex_unlock(&lock);
        return IDS_NO_PROGRAM;
    }
    struct ids_program *program = &programs[id];
    if (length > sizeof program->name - 1) length = sizeof program->name - 1;
    if (length) memcpy(program->name, name, length);
    program->name[length] = '\0';
    program->code_size = program->collectives = -1;
    program->is_step = !has_pattern || !regexec(&step_pattern, program->name, 0, NULL, 0);
    atomic_store(&program_count, id + 1);
    pthread_mutex_unlock(&lock);
    return id;
}

struct ids_program *ids_programs_at(uint32_t program) {
    return &programs[program < IDS_PROGRAMS ? program : IDS_NO_PROGRAM];
}

uint32_t ids_programs_count(void) {
    return atomic_load(&program_count);
}

/* ---- which executable is which ---- */

static size_t slot_at(uintptr_t executable) {
    return (size_t)((uint64_t)(executable >> 4) * 0x9e3779b97f4a7c15u >> 40) & (IDS_LOADED - 1);
}

/* Where the executable stands or would, -1: nowhere and no room. */
static long find(uintptr_t executable) {
    size_t at = slot_at(executable);
    for (size_t i = 0; i < IDS_LOADED; i++, at = (at + 1) & (IDS_LOADED - 1)) {
        uintptr_t there = atomic_load_explicit(&loaded[at].executable, memory_order_acquire);
        if (there == executable || !there) return (long)at;
    }
    return -1;
}

/* Slots of destroyed executables become free again when half of all are used up. Who looks something up meanwhile may
 * find its executable not known; its step is then fed without a name's weight, once. Under the lock. */
static void sweep(void) {
    static struct loaded kept[IDS_LOADED / 2];
    uint32_t count = 0;
    for (size_t i = 0; i < IDS_LOADED && count < IDS_LOADED / 2; i++) {
        if (atomic_load(&loaded[i].executable) <= GONE) continue;
        kept[count].program = loaded[i].program;
        atomic_init(&kept[count++].executable, atomic_load(&loaded[i].executable));
    }
    for (size_t i = 0; i < IDS_LOADED; i++) atomic_store(&loaded[i].executable, 0);
    for (uint32_t i = 0; i < count; i++) {
        long at = find(atomic_load(&kept[i].executable));
        loaded[at].program = kept[i].program;
        atomic_store_explicit(&loaded[at].executable, atomic_load(&kept[i].executable), memory_order_release);
    }
    gone_count = 0;
    loaded_count = count;
}

void ids_programs_loaded(const void *executable, uint32_t program) {
    if ((uintptr_t)executable <= GONE) return;
    pthread_mutex_lock(&lock);
    if (loaded_count + gone_count >= IDS_LOADED / 2 && gone_count) sweep();
    long at = loaded_count < IDS_LOADED / 2 ? find((uintptr_t)executable) : -1;
    if (at >= 0) {
        if (!atomic_load(&loaded[at].executable)) loaded_count++;
        loaded[at].program = program;
        atomic_store_explicit(&loaded[at].executable, (uintptr_t)executable, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

void ids_programs_unloaded(const void *executable) {
    if ((uintptr_t)executable <= GONE) return;
    pthread_mutex_lock(&lock);
    long at = find((uintptr_t)executable);
    if (at >= 0 && atomic_load(&loaded[at].executable)) {
        atomic_store(&loaded[at].executable, GONE);
        loaded_count--;
        gone_count++;
    }
    pthread_mutex_unlock(&lock);
}

uint32_t ids_programs_of(const void *executable) {
    if ((uintptr_t)executable <= GONE) return IDS_NO_PROGRAM;
    long at = find((uintptr_t)executable);
    if (at < 0 || atomic_load_explicit(&loaded[at].executable, memory_order_acquire) != (uintptr_t)executable) {
        return IDS_NO_PROGRAM;
    }
    return loaded[at].program;
}

/* ---- HLO ---- */

static int open_hlo(void) {
    char path[4096];
    const char *session = getenv("IDSPROF_SESSION");
    if (!session || snprintf(path, sizeof path, "%s/.idsprof/hlo.XXXXXX", session) >= (int)sizeof path) return -1;
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) unlink(path);
    return file;
}

static int append(int64_t at, const uint8_t *bytes, size_t size) {
    while (size) {
        ssize_t done = pwrite(hlo_file, bytes, size, (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return -1;
        bytes += done;
        size -= (size_t)done;
        at += done;
    }
    return 0;
}

static struct ids_field field_of(const uint8_t *bytes, size_t size, uint32_t number) {
    struct ids_field field;
    const uint8_t *at = bytes;
    while (ids_field_next(&at, bytes + size, &field) > 0) {
        if (field.number == number) return field;
    }
    return (struct ids_field){0};
}

int ids_programs_keep_hlo(uint32_t id, const void *bytes, size_t size, int with_config) {
    struct ids_program *program = ids_programs_at(id);
    const uint8_t *module = bytes;
    if (with_config) {
        struct ids_field field = field_of(bytes, size, HLO_WITH_CONFIG_MODULE);
        module = field.bytes;
        size = field.size;
    }
    if (!id || !module || !size || size > IDS_PROGRAM_HLO) return -1;
    program->collectives = ids_collectives_in(module, size);
    pthread_mutex_lock(&lock);
    if (hlo_file < 0) hlo_file = open_hlo();
    int failed = hlo_file < 0 || hlo_bytes + (int64_t)size > IDS_PROGRAMS_HLO || append(hlo_bytes, module, size);
    if (!failed) {
        program->hlo_at = hlo_bytes;
        uint64_t own = field_of(module, size, HLO_MODULE_ID).value;
        program->hlo_id = own ? own : NUMBERED + id; /* compiled ahead of time they all have 0 */
        program->hlo_size = (int64_t)size;
        hlo_bytes += (int64_t)size;
    }
    pthread_mutex_unlock(&lock);
    return failed ? -1 : 0;
}

void *ids_programs_hlo(const struct ids_program *program) {
    size_t size = (size_t)program->hlo_size;
    char *bytes = size ? malloc(size) : NULL;
    for (size_t got = 0; bytes && got < size;) {
        ssize_t more = pread(hlo_file, bytes + got, size - got, (off_t)(program->hlo_at + (int64_t)got));
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) {
            free(bytes);
            return NULL;
        }
        got += (size_t)more;
    }
    return bytes;
}

void ids_programs_forget(void) {
    pthread_mutex_init(&lock, NULL);
}
