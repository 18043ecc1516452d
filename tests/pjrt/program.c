/* program.c - a program that uses a PJRT plugin, for tests of the interposer: program LIBRARY WORD...
 *   client, client-end
 *   compile:NAME, load:NAME     the program NAME, which what follows executes; "train*3" has three collectives
 *   run:N[:US]                  N executions, each followed by a wait for its completion and a pause
 *   launch:N                    N executions of which none is waited for
 *   wait                        for one execution's completion, and so of all before it
 *   input                       executions take a buffer from now on
 *   copy:BYTES                  host to device, device to device, to the host
 *   profile, profile-end        a session of the program's own
 *   threads:N                   four threads execute N times each
 *   fork:N                      a child runs N executions of the double's and ends; waited for
 *   faults:WORDS                of the double
 *   sleep:MS, hello, exit:N, _exit:N, kill, crash
 * At its end it prints "result" and a number of all that the calls returned, "errors" and how many. */
#include "tests/pjrt/use.h"

#include "tests/pjrt/double.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct use use;
static void *loaded;

static void run(int count, int us) {
    for (int i = 0; i < count; i++) {
        use_execute(&use, loaded, i % 2, 1);
        if (us) usleep((unsigned)us);
    }
}

static void wait_for_last(void) {
    void *events[USE_DEVICES] = {NULL};
    struct pjrt_execute execute = {
        .size = sizeof execute, .loaded = loaded, .device_count = USE_DEVICES, .complete_events = events};
    if (use_call(&use, PJRT_LOADED_EXECUTABLE_EXECUTE, &execute)) return;
    for (int i = 0; i < USE_DEVICES; i++) {
        use_await(&use, events[i]);
        use_event_end(&use, events[i]);
    }
}

static void copies(long bytes) {
    void *buffer = use_from_host(&use, bytes / 4);
    void *copy = use_copy(&use, PJRT_BUFFER_COPY_TO_DEVICE, buffer);
    use_to_host(&use, copy);
    use_buffer_end(&use, copy);
    use_buffer_end(&use, buffer);
}

static void *thread(void *argument) {
    struct use own = use;
    for (long i = 0; i < (long)(intptr_t)argument; i++) use_execute(&own, loaded, 1, 0);
    return NULL;
}

static void threads(long count) {
    pthread_t all[4];
    for (int i = 0; i < 4; i++) pthread_create(&all[i], NULL, thread, (void *)(intptr_t)count);
    for (int i = 0; i < 4; i++) pthread_join(all[i], NULL);
}

/* A child may ask the plugin for what needs no thread of it. */
static void fork_and(int count) {
    fflush(stdout);
    pid_t child = fork();
    int status = 0;
    if (!child) {
        for (int i = 0; i < count; i++) use_execute(&use, loaded, 0, 0);
        exit(use.errors ? 1 : 0);
    }
    waitpid(child, &status, 0);
    if (status) printf("child %#x\n", (unsigned)status);
}

static void set_faults(const char *library, const char *words) {
    void *handle = dlopen(getenv("DOUBLE") ? getenv("DOUBLE") : library, RTLD_NOW | RTLD_NOLOAD);
    void (*set)(const char *) = NULL;
    if (handle) *(void **)(&set) = dlsym(handle, "double_faults");
    if (set) set(words);
}

static void done(void) {
    printf("result %016llx\nerrors %d\n", (unsigned long long)use.result, use.errors);
    fflush(stdout);
}

static int word(const char *library, const char *text) {
    const char *colon = strchr(text, ':'), *value = colon ? colon + 1 : "";
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    long number = atol(value);
    const char *second = strchr(value, ':');
#define IS(name) (length == sizeof name - 1 && !memcmp(text, name, length))
    static void *session;
    if (IS("client"))
        use_client(&use);
    else if (IS("client-end"))
        use_client_end(&use);
    else if (IS("compile"))
        loaded = use_compile(&use, value);
    else if (IS("load"))
        loaded = use_load(&use, value);
    else if (IS("run"))
        run((int)number, second ? atoi(second + 1) : 0);
    else if (IS("launch"))
        for (long i = 0; i < number; i++) use_execute(&use, loaded, (int)(i % 2), 0);
    else if (IS("input"))
        use.input = use_from_host(&use, 16);
    else if (IS("wait"))
        wait_for_last();
    else if (IS("copy"))
        copies(number);
    else if (IS("profile"))
        session = use_profile(&use);
    else if (IS("profile-end"))
        printf("profiled %zu\n", use_profile_end(&use, session));
    else if (IS("threads"))
        threads(number);
    else if (IS("fork"))
        fork_and((int)number);
    else if (IS("faults"))
        set_faults(library, value);
    else if (IS("sleep"))
        usleep((unsigned)number * 1000);
    else if (IS("hello"))
        printf("functions %zu version %d.%d\n", (use.table->size - sizeof *use.table) / sizeof(void *),
               use.table->version.major, use.table->version.minor);
    else if (IS("exit")) {
        done();
        exit((int)number);
    } else if (IS("_exit")) {
        done();
        _exit((int)number);
    } else if (IS("kill")) {
        done();
        raise(SIGKILL);
    } else if (IS("crash")) {
        done();
        raise(SIGSEGV);
    } else
        return -1;
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 2 || use_open(&use, argv[1])) return 3;
    for (int i = 2; i < argc; i++) {
        if (word(argv[1], argv[i])) {
            fprintf(stderr, "%s: no such word\n", argv[i]);
            return 3;
        }
    }
    done();
    return 0;
}
