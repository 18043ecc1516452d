/* A program that uses CUDA, as far as stub_cuda.c has it. Its arguments are what it does, one after the other:
 *   init  launch[:N]  sleep:MS  open  shut  stop  print:TEXT  push:NAME  pop  mark:N  fork  exit:N  _exit:N  abort
 *         threads:N  starve:N  late:MS  said:EVENT  domain:NAME
 * open and shut: in a capture, wait until a window records, or does so no more; said, until the hello file has such a
 * line. stop: end it, so that what is in it hangs on no clock. push and pop are NVTX's, by a client of our own that
 * does what NVTX's headers do, and so is domain, which says on stderr whether a tool took it. starve:N makes each N-th
 * allocation of libidsprof_cuda.so fail; late:MS has it learn so much later that it is registered. It prints what a
 * program under no profiler would: "done", and the number of launches. */
#include "tests/cuda/stub_cuda.h"

#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- allocations of the collector that fail ---- */

#ifdef STUB_INSIDE /* so that the collector is linked into the program */
int InitializeInjection(void);
int InitializeInjectionNvtx2(const void *(*)(uint32_t));
void *const inside[] = {(void *)InitializeInjection, (void *)InitializeInjectionNvtx2};
#endif

static int starve;

#if !defined STUB_INSIDE && !defined __SANITIZE_ADDRESS__
static int asked;

static int fails(void *caller) {
    Dl_info info;
    if (!starve || !dladdr(caller, &info) || !info.dli_fname || !strstr(info.dli_fname, "libidsprof_cuda")) return 0;
    return __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED) % starve == 0;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *at, size_t size);

void *malloc(size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *at, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(at, size);
}

void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) {
    static void *(*next)(void *, size_t, int, int, int, off_t);
    void *address = next ? NULL : dlsym(RTLD_NEXT, "mmap");
    if (address) memcpy(&next, &address, sizeof next);
    return fails(__builtin_return_address(0)) ? MAP_FAILED : next(at, size, protection, flags, file, offset);
}
#endif

/* ---- a registration that returns late, as where its thread is held up while the agent's run ---- */

static int late_ms;

static void sleep_ms(long ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

#ifndef STUB_INSIDE
/* Found by libidsprof_cuda.so before the agent's. */
int ids_agent_register(const void *collector, char *why, size_t why_size);
int ids_agent_register(const void *collector, char *why, size_t why_size) {
    void *agent = dlopen("libidsprof_agent.so", RTLD_LAZY | RTLD_NOLOAD);
    void *address = agent ? dlsym(agent, "ids_agent_register") : NULL;
    int (*next)(const void *, char *, size_t) = NULL;
    memcpy(&next, &address, sizeof next);
    int handle = next ? next(collector, why, why_size) : 0;
    sleep_ms(late_ms);
    return handle;
}
#endif

/* ---- NVTX's client: pointers that a tool may set, and are NULL where it did not ---- */

typedef void generic(void);
static generic *core[16], *domains[16];
static generic **core_table[16], **domain_table[16];

static void starter(void) {
    abort(); /* NVTX's own starters are no functions to go on with */
}

static int module(uint32_t number, generic ****table, unsigned *size) {
    if (number != 1 && number != 5) return 0;
    *table = number == 1 ? core_table : domain_table;
    *size = 16;
    return 1;
}

static const struct {
    size_t size;
    int (*module)(uint32_t, generic ****, unsigned *);
} callbacks = {sizeof callbacks, module};

static const void *get_table(uint32_t number) {
    return number == 1 ? &callbacks : NULL;
}

static void start_nvtx(void) {
    static int started;
    const char *path = getenv("NVTX_INJECTION64_PATH");
    if (started++) return;
    for (int i = 1; i < 16; i++) {
        core_table[i] = &core[i];
        domain_table[i] = &domains[i];
        core[i] = domains[i] = starter;
    }
    void *tool = path ? dlopen(strcmp(path, "inside") ? path : NULL, RTLD_LAZY) : NULL,
         *address = tool ? dlsym(tool, "InitializeInjectionNvtx2") : NULL;
    int (*initialize)(const void *(*)(uint32_t)) = NULL;
    memcpy(&initialize, &address, sizeof initialize);
    int taken = initialize && initialize(get_table);
    for (int i = 1; i < 16; i++) { /* what no tool took does nothing */
        if (!taken || core[i] == starter) core[i] = NULL;
        if (!taken || domains[i] == starter) domains[i] = NULL;
    }
}

static int push(const char *name) {
    start_nvtx();
    return core[9] ? ((int (*)(const char *))core[9])(name) : -1;
}

static int pop(void) {
    start_nvtx();
    return core[11] ? ((int (*)(void))core[11])() : -1;
}

static void domain(const char *name) {
    start_nvtx();
    void *taken = domains[12] ? ((void *(*)(const char *))domains[12])(name) : NULL;
    fprintf(stderr, "domain %s: %s\n", name, taken ? "taken" : "not taken");
}

/* ---- what it does ---- */

static long launches;

static void await(int recording) {
    for (int i = 0; i < 10000 && getenv("IDSPROF_PLAN"); i++) {
        if ((stub_is_recording && stub_is_recording()) == recording) return;
        sleep_ms(1);
    }
}

static int has_line(const char *path, const char *event) {
    static char lines[65536];
    char wanted[64];
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    lines[fread(lines, 1, sizeof lines - 1, file)] = '\0';
    fclose(file);
    snprintf(wanted, sizeof wanted, "\"event\":\"%s\"", event);
    return strstr(lines, wanted) != NULL;
}

static void await_line(const char *event) {
    char pattern[600];
    const char *session = getenv("IDSPROF_SESSION");
    if (!session) return;
    snprintf(pattern, sizeof pattern, "%s/.idsprof/*.%ld.hello", session, (long)getpid());
    for (int i = 0, is_there = 0; i < 10000 && !is_there; i++, sleep_ms(1)) {
        glob_t found;
        if (!glob(pattern, 0, NULL, &found)) is_there = has_line(found.gl_pathv[0], event);
        globfree(&found);
    }
}

static void stop_window(void) {
    char command[64];
    if (!getenv("IDSPROF_PLAN")) return;
    snprintf(command, sizeof command, "\"$IDSPROF\" trigger --stop %ld >/dev/null", (long)getpid());
    if (system(command)) fprintf(stderr, "stub_program: the window cannot be ended\n");
    await(0);
}

static void launch(long count) {
    for (long i = 0; i < count; i++) {
        cuLaunchKernel();
        __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED);
    }
}

static void *launch_many(void *count) {
    launch((long)(intptr_t)count);
    return NULL;
}

static void run_threads(long count) {
    pthread_t threads[16];
    for (long i = 0; i < count && i < 16; i++) pthread_create(&threads[i], NULL, launch_many, (void *)(intptr_t)1000);
    for (long i = 0; i < count && i < 16; i++) pthread_join(threads[i], NULL);
}

static void fork_child(void) {
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        launch(3);
        sleep_ms(100);
        exit(7);
    }
    waitpid(child, &status, 0);
    printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void act(const char *word) {
    const char *colon = strchr(word, ':');
    long number = colon ? atol(colon + 1) : 1;
    if (!strcmp(word, "init"))
        cuInit(0);
    else if (!strncmp(word, "launch", 6))
        launch(number);
    else if (!strncmp(word, "sleep", 5))
        sleep_ms(number);
    else if (!strncmp(word, "push:", 5))
        push(colon + 1);
    else if (!strncmp(word, "domain:", 7))
        domain(colon + 1);
    else if (!strcmp(word, "pop"))
        pop();
    else if (!strcmp(word, "open"))
        await(1);
    else if (!strcmp(word, "shut"))
        await(0);
    else if (!strncmp(word, "said:", 5))
        await_line(colon + 1);
    else if (!strcmp(word, "stop"))
        stop_window();
    else if (!strncmp(word, "print:", 6)) {
        puts(colon + 1);
        fflush(stdout);
    } else if (!strcmp(word, "fork"))
        fork_child();
    else if (!strncmp(word, "threads", 7))
        run_threads(number);
    else if (!strncmp(word, "starve", 6))
        starve = (int)number;
    else if (!strncmp(word, "late", 4))
        late_ms = (int)number;
    else if (!strncmp(word, "exit", 4))
        exit((int)number);
    else if (!strncmp(word, "_exit", 5))
        _exit((int)number);
    else if (!strcmp(word, "abort"))
        abort();
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) act(argv[i]);
    printf("done %ld\n", launches);
    return 0;
}
