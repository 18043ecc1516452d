/* Collector A in this process, under the sanitizers, around the double of a plugin (tests/pjrt/double.h). */
#include "collectors/common/agent.h"
#include "collectors/common/xspace_out.h"
#include "collectors/pjrt/calls.h"
#include "collectors/pjrt/plugin.h"
#include "collectors/pjrt/programs.h"
#include "collectors/pjrt/record.h"
#include "collectors/pjrt/table.h"
#include "lib/wire/pb_wire.h"
#include "tests/pjrt/double.h"
#include "tests/pjrt/use.h"
#include "tests/support/remove_tree.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const struct pjrt_table *GetPjrtApi(void);

static char session[128];
static struct use use;
static struct double_counts *counts;

static const char *double_path(void) {
    static char path[4096];
    const char *build = getenv("IDS_BUILD_DIR");
    snprintf(path, sizeof path, "%s/support/pjrt_double.so", build ? build : "build/dev");
    return path;
}

static void remove_session(void) {
    remove_tree(session);
}

/* A program with the interposer around the double. `plan` NULL: no capture. */
static void begin(const char *plan, const char *faults) {
    char below[160];
    strcpy(session, "/tmp/test_pjrt.XXXXXX");
    ck_assert(mkdtemp(session) != NULL);
    atexit(remove_session);
    snprintf(below, sizeof below, "%s/.idsprof", session);
    mkdir(below, 0700);
    setenv("IDSPROF_SESSION", session, 1);
    if (plan) setenv("IDSPROF_PLAN", plan, 1);
    setenv("IDSPROF_PJRT_PLUGIN", double_path(), 1);
    setenv("PJRT_DOUBLE", faults, 1);
    use = (struct use){.table = GetPjrtApi()};
    void *handle = dlopen(double_path(), RTLD_NOW | RTLD_NOLOAD);
    ck_assert_msg(handle != NULL, "%s", double_path());
    struct double_counts *(*get)(void);
    *(void **)(&get) = dlsym(handle, "double_counts");
    counts = get();
}

static void set_faults(const char *words) {
    void (*set)(const char *);
    *(void **)(&set) = dlsym(dlopen(double_path(), RTLD_NOW | RTLD_NOLOAD), "double_faults");
    set(words);
}

/* ---- what was written ---- */

struct seen {
    int windows, device, first, last, executes, awaits, compiles, loads, h2d, d2h, d2d, programs, steps, dropped;
    int64_t bytes, begun_ns; /* the latest that a line of ours counts from */
    char names[64][64];      /* of the device's events */
};

static int text_is(const struct ids_pb_field *field, const char *text) {
    return field->value == strlen(text) && !memcmp(field->bytes, text, field->value);
}

static void count_name(struct seen *seen, const char *name) {
    seen->executes += !strcmp(name, "PJRT_LoadedExecutable_Execute");
    seen->awaits += !strcmp(name, "PJRT_Event_Await");
    seen->compiles += !strncmp(name, "PJRT_Client_Compile:#module=", 28);
    seen->loads += !strncmp(name, "PJRT_Executable_DeserializeAndLoad:", 35);
    seen->h2d += !strcmp(name, "PJRT_Client_BufferFromHostBuffer");
    seen->d2h += !strcmp(name, "PJRT_Buffer_ToHostBuffer");
    seen->d2d += !strcmp(name, "PJRT_Buffer_CopyToDevice");
}

static void read_plane(struct seen *seen, struct ids_pb plane) {
    static char names[4096][64];
    struct ids_pb_field field, part, inner;
    char plane_name[64] = "";
    memset(names, 0, sizeof names);
    struct ids_pb again = plane;
    while (ids_pb_next(&plane, &field) > 0) { /* names first */
        if (field.number == 2)
            snprintf(plane_name, sizeof plane_name, "%.*s", (int)field.value, (const char *)field.bytes);
        if (field.number != 4) continue;
        struct ids_pb entry = ids_pb_inside(&field), value = {0};
        uint64_t id = 0;
        while (ids_pb_next(&entry, &part) > 0) {
            if (part.number == 1) id = part.value;
            if (part.number == 2) value = ids_pb_inside(&part);
        }
        while (ids_pb_next(&value, &part) > 0) {
            if (part.number == 2 && id < 4096) {
                snprintf(names[id], sizeof *names, "%.*s", (int)part.value, (const char *)part.bytes);
            }
        }
        if (!strcmp(plane_name, "/host:metadata")) seen->programs++;
    }
    while (ids_pb_next(&again, &field) > 0) {
        if (field.number == 6) seen->dropped = 1;
        if (field.number != 3) continue;
        struct ids_pb line = ids_pb_inside(&field);
        int is_steps = 0;
        while (ids_pb_next(&line, &part) > 0) {
            if (part.number == 2) is_steps = text_is(&part, "steps by executions");
            int64_t begun_ns = part.number == 3 ? (int64_t)part.value : 0;
            if (begun_ns > seen->begun_ns && !strcmp(plane_name, "/host:idsprof.pjrt")) seen->begun_ns = begun_ns;
            if (part.number != 4) continue;
            struct ids_pb event = ids_pb_inside(&part);
            ck_assert_int_gt(ids_pb_next(&event, &inner), 0);
            const char *name = inner.value < 4096 ? names[inner.value] : "";
            if (is_steps) {
                seen->steps++;
            } else if (!strcmp(plane_name, "/device:DOUBLE:0")) {
                strcpy(seen->names[seen->device++ % 64], name);
            } else {
                count_name(seen, name);
            }
        }
    }
}

static void read_file(struct seen *seen, const char *path) {
    FILE *file = fopen(path, "rb");
    ck_assert(file != NULL);
    static unsigned char bytes[1 << 24];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    struct ids_pb pb = {bytes, bytes + size};
    struct ids_pb_field field;
    int more;
    while ((more = ids_pb_next(&pb, &field)) > 0) {
        if (field.number == 1) read_plane(seen, ids_pb_inside(&field));
    }
    ck_assert_int_eq(more, 0);
    seen->windows++;
    seen->bytes += (int64_t)size;
}

/* Ends the capture as the program's end does, and reads all windows. */
static struct seen end(void) {
    static struct seen seen;
    char run[256], path[600];
    ids_agent_close(ids_pjrt.handle);
    memset(&seen, 0, sizeof seen);
    for (int window = 1; window < 5; window++) {
        snprintf(run, sizeof run, window > 1 ? "%s/plugins/profile/R_w%d" : "%s/plugins/profile/R", session, window);
        DIR *folder = opendir(run);
        if (!folder) break;
        for (struct dirent *entry; (entry = readdir(folder));) {
            if (!strstr(entry->d_name, ".xplane.pb")) continue;
            snprintf(path, sizeof path, "%s/%s", run, entry->d_name);
            read_file(&seen, path);
        }
        closedir(folder);
    }
    return seen;
}

/* A line of the hello file that has all three texts. */
static int said(const char *a, const char *b) {
    char path[256], line[8192];
    snprintf(path, sizeof path, "%s/.idsprof", session);
    DIR *folder = opendir(path);
    int found = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!strstr(entry->d_name, ".hello")) continue;
        snprintf(path, sizeof path, "%s/.idsprof/%.60s", session, entry->d_name);
        FILE *file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file)) found += strstr(line, a) && strstr(line, b);
        if (file) fclose(file);
    }
    if (folder) closedir(folder);
    return found;
}

static void nothing_is_left(void) {
    ck_assert_int_eq(counts->errors, 0);
    ck_assert_int_eq(counts->executables, 0);
    ck_assert_int_eq(counts->profilers, 0);
    ck_assert_int_eq(counts->wrong, 0);
    for (int i = 0; i < 200 && counts->events; i++) usleep(5000); /* the double's own thread drops them last */
    ck_assert_int_eq(counts->events, 0);
}

#define PLAN "start_step=3;steps=5;run=R"

START_TEST(asleep_without_a_plan) {
    begin(NULL, "");
    ck_assert_ptr_eq(use.table->functions[PJRT_LOADED_EXECUTABLE_EXECUTE],
                     ((const struct pjrt_table *(*)(void))dlsym(dlopen(double_path(), RTLD_NOW), "GetPjrtApi"))()
                         ->functions[PJRT_LOADED_EXECUTABLE_EXECUTE]);
    ck_assert_int_eq(ids_pjrt.handle, 0);
}
END_TEST

/* Steps 3 to 7 and nothing of what was launched before them, though it was not waited for. */
START_TEST(exact_window) {
    begin(PLAN, "run=200");
    ck_assert_int_eq(use_client(&use), 0);
    void *loaded = use_compile(&use, "train");
    use.input = use_from_host(&use, 4);
    for (int i = 0; i < 12; i++) use_execute(&use, loaded, i % 2, 0);
    struct seen seen = end();
    ck_assert_int_eq(seen.windows, 1);
    ck_assert_int_eq(seen.device, 5);
    ck_assert_str_eq(seen.names[0], "train 3");
    ck_assert_str_eq(seen.names[4], "train 7");
    ck_assert_int_eq(seen.executes, 5);
    ck_assert_int_eq(seen.steps, 5);
    ck_assert_int_eq(seen.programs, 1);
    ck_assert_int_gt(seen.begun_ns, 1600000000000000000);
    ck_assert_int_eq(use.errors, 0);
    nothing_is_left();
}
END_TEST

static int64_t zero_ns; /* of the profile of another collector */

static int start_other(void *context, char *why, size_t why_size) {
    (void)context, (void)why, (void)why_size;
    zero_ns = ids_record_now();
    return 0;
}

/* As jax's session does: times count from its start, which a plane says. */
static int stop_other(void *context, const char *path, struct ids_caught *caught, char *why, size_t why_size) {
    (void)context;
    struct ids_xspace_written written;
    struct ids_xspace_out *out = ids_xspace_open(path, 0, why, why_size);
    ck_assert_ptr_nonnull(out);
    ids_xspace_plane_begin(out, 1, "Task Environment");
    ids_xspace_uint(out, "profile_start_time", (uint64_t)zero_ns);
    ids_xspace_plane_end(out);
    caught->events = 1;
    return ids_xspace_close(out, &written, why, why_size);
}

/* What is put beside another collector's profile counts from where that one does. */
START_TEST(beside_another) {
    struct ids_collector other = {.size = sizeof other, .priority = IDS_PRIORITY_PJRT + 1, .name = "other"};
    other.start = start_other;
    other.stop = stop_other;
    begin(PLAN, "");
    ck_assert_int_gt(ids_agent_register(&other, NULL, 0), 0);
    ck_assert_int_eq(use_client(&use), 0);
    void *loaded = use_compile(&use, "train");
    for (int i = 0; i < 12; i++) use_execute(&use, loaded, 1, 0);
    struct seen seen = end();
    ck_assert_int_eq(seen.windows, 1);
    ck_assert_int_eq(seen.executes, 5);
    ck_assert_int_eq(seen.steps, 5);
    ck_assert_int_eq(seen.device, 0);
    ck_assert_int_gt(seen.begun_ns, 0);
    ck_assert_int_lt(seen.begun_ns, 1000000000);
    nothing_is_left();
}
END_TEST

START_TEST(several_windows) {
    begin("start_step=2;steps=1;every=4;max=3;run=R", "");
    use_client(&use);
    void *loaded = use_compile(&use, "train");
    use.input = use_from_host(&use, 4);
    for (int i = 0; i < 30; i++) use_execute(&use, loaded, 1, 1);
    struct seen seen = end();
    ck_assert_int_eq(seen.windows, 3);
    ck_assert_int_eq(counts->sessions, 3);
    ck_assert_int_eq(seen.executes, 3);
    ck_assert_int_eq(seen.device, 3); /* 2, 6, 10 */
    ck_assert_str_eq(seen.names[2], "train 10");
    nothing_is_left();
}
END_TEST

/* The hottest executable's executions are the steps; the others in between are caught too. */
START_TEST(hottest_and_pattern) {
    begin("start_step=4;steps=2;run=R", "");
    use_client(&use);
    void *train = use_compile(&use, "train"), *eval = use_load(&use, "eval");
    for (int i = 0; i < 10; i++) {
        use_execute(&use, train, 1, 1);
        use_execute(&use, train, 1, 1);
        use_execute(&use, eval, 1, 1);
    }
    struct seen seen = end();
    ck_assert_int_eq(seen.steps, 2);
    ck_assert_int_eq(seen.executes, 3); /* train, train, eval */
    nothing_is_left();
}
END_TEST

START_TEST(pattern) {
    begin("start_step=2;steps=3;run=R;step_executable=^ev.l$", "");
    use_client(&use);
    void *train = use_compile(&use, "train"), *eval = use_load(&use, "eval");
    for (int i = 0; i < 8; i++) {
        use_execute(&use, train, 1, 1);
        use_execute(&use, eval, 1, 1);
    }
    struct seen seen = end();
    ck_assert_int_eq(seen.steps, 3);
    ck_assert_int_eq(seen.executes, 6);
    nothing_is_left();
}
END_TEST

START_TEST(everything_in_a_window) {
    begin("start_step=0;steps=2;run=R", "");
    use_client(&use);
    void *first = use_compile(&use, "train");
    use_execute(&use, first, 1, 1);
    void *loaded = use_load(&use, "cached"), *compiled = use_compile(&use, "other");
    void *buffer = use_from_host(&use, 1000);
    void *copy = use_copy(&use, PJRT_BUFFER_COPY_TO_DEVICE, buffer);
    use_to_host(&use, copy);
    use_execute(&use, loaded, 0, 0);
    use_execute(&use, first, 1, 1);
    use_execute(&use, first, 1, 1);
    use_loaded_end(&use, compiled);
    use_loaded_end(&use, loaded);
    use_loaded_end(&use, first);
    use_buffer_end(&use, copy);
    use_buffer_end(&use, buffer);
    struct seen seen = end();
    ck_assert_int_eq(seen.compiles, 1);
    ck_assert_int_eq(seen.loads, 1);
    ck_assert_int_eq(seen.h2d, 1);
    ck_assert_int_eq(seen.d2d, 1);
    ck_assert_int_eq(seen.d2h, 1);
    ck_assert_int_eq(seen.awaits, 2 + 1 + 2);
    ck_assert_int_eq(seen.programs, 3);
    ck_assert_int_eq(counts->loaded, 0);
    nothing_is_left();
}
END_TEST

/* ---- the vendor's profiler ---- */

START_TEST(own_session_first) {
    begin(PLAN, "");
    use_client(&use);
    void *loaded = use_compile(&use, "train");
    for (int i = 0; i < 5; i++) use_execute(&use, loaded, 1, 1);
    void *theirs = use_profile(&use); /* in the middle of our window */
    ck_assert(theirs != NULL);
    ck_assert_int_eq(use.errors, 0);
    for (int i = 0; i < 5; i++) use_execute(&use, loaded, 1, 1);
    ck_assert_uint_gt(use_profile_end(&use, theirs), 10);
    struct seen seen = end();
    ck_assert_int_eq(seen.windows, 1);
    ck_assert_int_eq(seen.device, 2);
    ck_assert_int_eq(said("note", "profiles itself"), 1);
    nothing_is_left();
}
END_TEST

START_TEST(theirs_is_open) {
    begin(PLAN, "");
    use_client(&use);
    void *loaded = use_compile(&use, "train"), *theirs = use_profile(&use);
    for (int i = 0; i < 12; i++) use_execute(&use, loaded, 1, 1);
    ck_assert_uint_gt(use_profile_end(&use, theirs), 10);
    ck_assert_int_eq(use.errors, 0);
    ck_assert_int_eq(end().windows, 0);
    ck_assert_int_eq(said("skipped", "profiles itself right now") > 0, 1);
    nothing_is_left();
}
END_TEST

static struct seen with_faults(const char *at_start, const char *in_window) {
    begin(PLAN, at_start);
    use_client(&use);
    void *loaded = use_compile(&use, "train");
    for (int i = 0; i < 12; i++) {
        if (i == 4 && in_window) set_faults(in_window);
        use_execute(&use, loaded, i % 2, i % 2);
    }
    struct seen seen = end();
    return seen;
}

START_TEST(unlent_buffer) {
    struct seen seen = with_faults("unlent", NULL);
    ck_assert_int_ge(seen.device, 5);
    nothing_is_left();
}
END_TEST

START_TEST(has_programs_already) {
    struct seen seen = with_faults("hlo", NULL);
    ck_assert_int_eq(seen.programs, 1); /* the vendor's, not once more */
    nothing_is_left();
}
END_TEST

/* What the vendor cannot give does not keep back ours. */
START_TEST(vendor_fails) {
    static const char *const faults[] = {"garbage", "fail=profiler.stop", "fail=profiler.collect"};
    struct seen seen = with_faults("", faults[_i]);
    ck_assert_int_eq(seen.windows, 1);
    ck_assert_int_eq(seen.device, 0);
    ck_assert_int_eq(seen.executes, 5);
    ck_assert_int_eq(use.errors, 0);
    nothing_is_left();
}
END_TEST

START_TEST(vendor_does_not_start) {
    static const char *const faults[] = {"fail=profiler.create", "fail=profiler.start"};
    struct seen seen = with_faults(faults[_i], NULL);
    ck_assert_int_eq(seen.windows, 0);
    ck_assert_int_eq(use.errors, 0);
    ck_assert_int_gt(said("skipped", "fail=profiler"), 0);
    nothing_is_left();
}
END_TEST

START_TEST(no_profiler) {
    static const char *const faults[] = {"no-profiler", "table=40", "extension=24", "table=0"};
    struct seen seen = with_faults(faults[_i], NULL);
    ck_assert_int_eq(seen.windows, 1);
    ck_assert_int_eq(seen.executes, 5);
    ck_assert_int_eq(counts->sessions, 0);
    nothing_is_left();
}
END_TEST

START_TEST(no_client) {
    begin(PLAN, "");
    use.client = NULL;
    void *loaded = use_compile(&use, "train");
    for (int i = 0; i < 10; i++) use_execute(&use, loaded, 0, 0);
    ck_assert_int_eq(end().windows, 0);
    ck_assert_int_eq(counts->sessions, 0);
    ck_assert_int_gt(said("skipped", "no PJRT client"), 0);
}
END_TEST

/* What a plugin without clients refuses is a session of nothing: jax.profiler does not outlive a refusal. */
START_TEST(refused_without_client) {
    begin(PLAN, "fail=10,fail=profiler.create");
    ck_assert_int_eq(use_client(&use), -1);
    use.errors = 0;
    void *theirs = use_profile(&use);
    ck_assert(theirs != NULL);
    ck_assert_uint_eq(use_profile_end(&use, theirs), 0);
    ck_assert_int_eq(use.errors, 0);
    set_faults("fail=profiler.create");
    ck_assert_int_eq(use_client(&use), 0);
    ck_assert_ptr_null(use_profile(&use)); /* with a client the program is told */
    ck_assert_int_eq(use.errors, 1);
    set_faults("");
    theirs = use_profile(&use);
    ck_assert_uint_gt(use_profile_end(&use, theirs), 0);
    ck_assert_int_eq(counts->sessions, 1);
    end();
    nothing_is_left();
}
END_TEST

/* The size of the profiler's table that the program's framework takes, as the Python hook says. */
START_TEST(profiler_table_size) {
    setenv("IDSPROF_PJRT_PROFILER_BYTES", "80", 1);
    begin(PLAN, _i ? "table=104" : "table=80");
    ck_assert_uint_eq(use_profiler(&use)->size, 80);
    unsetenv("IDSPROF_PJRT_PROFILER_BYTES");
    end();
}
END_TEST

START_TEST(client_ends_in_window) {
    begin(PLAN, "");
    use_client(&use);
    void *loaded = use_compile(&use, "train");
    for (int i = 0; i < 5; i++) use_execute(&use, loaded, 1, 1);
    use_client_end(&use);
    ck_assert_int_eq(counts->profilers, 0); /* before the client went */
    ck_assert_int_eq(end().windows, 1);
    nothing_is_left();
}
END_TEST

/* ---- errors at every call ---- */

START_TEST(every_call_fails) {
    char fault[16];
    snprintf(fault, sizeof fault, "fail=%d", _i);
    /* the plugin alone, then through us: the same errors in the same calls */
    int errors[2];
    uint64_t results[2];
    begin(PLAN, "");
    const struct pjrt_table *ours = use.table;
    for (int interposed = 0; interposed < 2; interposed++) {
        const struct pjrt_table *table = interposed ? ours : ids_pjrt.real;
        use = (struct use){.table = table};
        set_faults(fault);
        use_client(&use);
        set_faults("");
        if (!use.client) use_client(&use);
        void *loaded = use_compile(&use, "train");
        set_faults(fault);
        void *other = use_compile(&use, "other");
        void *cached = use_load(&use, "cached");
        for (int i = 0; i < 10; i++) use_execute(&use, loaded, i % 2, i % 2);
        void *buffer = use_from_host(&use, 100);
        if (buffer) {
            void *copy = use_copy(&use, PJRT_BUFFER_COPY_TO_MEMORY, buffer);
            use_to_host(&use, buffer);
            if (copy) use_buffer_end(&use, copy);
            use_buffer_end(&use, buffer);
        }
        set_faults("");
        if (other) use_loaded_end(&use, other);
        if (cached) use_loaded_end(&use, cached);
        errors[interposed] = use.errors;
        results[interposed] = use.result;
    }
    ck_assert_int_eq(errors[0], errors[1]);
    ck_assert_uint_eq(results[0], results[1]);
    ck_assert_int_eq(end().windows, 1);
    ck_assert_int_eq(counts->errors, 0);
}
END_TEST

START_TEST(executions_fail) {
    struct seen seen = with_faults("async-error", NULL);
    ck_assert_int_eq(seen.executes, 5);
    ck_assert_int_gt(use.errors, 0); /* what the program awaited */
    nothing_is_left();
}
END_TEST

/* ---- tables of other versions ---- */

START_TEST(short_tables) {
    char fault[32];
    static const int sizes[] = {0, 1, 3, 11, 21, 56, 57, 89, 90, 103};
    int functions = sizes[_i];
    snprintf(fault, sizeof fault, "functions=%d", functions);
    begin(PLAN, fault);
    ck_assert_uint_eq(use.table->size, offsetof(struct pjrt_table, functions) + (size_t)functions * 8);
    if (functions > PJRT_CLIENT_COMPILE) {
        use_client(&use);
        void *loaded = use_compile(&use, "train");
        for (int i = 0; i < 12 && functions > PJRT_LOADED_EXECUTABLE_EXECUTE; i++) use_execute(&use, loaded, 1, 1);
        ck_assert_int_eq(use.errors, 0);
        ck_assert_int_eq(end().windows, functions > PJRT_LOADED_EXECUTABLE_EXECUTE);
    }
}
END_TEST

START_TEST(unknown_major) {
    begin(PLAN, "major=1");
    ck_assert_int_eq(use.table->version.major, 1);
    ck_assert_ptr_null(ids_pjrt.real);
    ck_assert_int_eq(ids_pjrt.handle, 0);
}
END_TEST

/* Callers that know less of the structs than we do. */
START_TEST(short_arguments) {
    begin("start_step=0;steps=5;run=R", "");
    use_client(&use);
    void *loaded = use_compile(&use, "train");
    use_execute(&use, loaded, 1, 1);
    for (int entry = 3; entry < PJRT_ENTRIES; entry++) {
        size_t arguments[40] = {0};
        if (!ids_pjrt_wrapper((enum pjrt_entry)entry)) continue;
        for (size_t size = entry == PJRT_EVENT_AWAIT ? 8 : 0; size < 24; size += 8) {
            arguments[0] = size;
            if (entry == PJRT_PLUGIN_INITIALIZE && size == 16) continue; /* that is whole */
            ck_assert_int_eq(use_call(&use, entry, arguments), -1);      /* what the plugin says to it */
        }
    }
    end();
    ck_assert_int_eq(counts->errors, 0);
}
END_TEST

START_TEST(no_plugin) {
    char why[64];
    begin(PLAN, "");
    struct use none = {.table = ids_plugin_none("no such plugin")};
    ck_assert_int_eq(use_client(&none), -1);
    ck_assert_str_eq(none.last_error, "no such plugin");
    ck_assert_ptr_null(ids_plugin_load("/nonexistent/libtpu.so", why, sizeof why));
    ck_assert(strstr(why, "/nonexistent/./libtpu.so") != NULL);
    ck_assert_ptr_null(ids_plugin_load("libc.so.6", why, sizeof why));
    ck_assert(strstr(why, "no GetPjrtApi") != NULL);
}
END_TEST

/* ---- limits, threads, fork ---- */

START_TEST(records_are_bounded) {
    begin("start_step=0;steps=1;run=R", "");
    use_client(&use);
    void *loaded = use_compile(&use, "train");
    use_execute(&use, loaded, 1, 1);
    for (int i = 0; i < IDS_RECORDS + 1000; i++) {
        struct pjrt_to_host args = {.size = sizeof args, .to = (char[1]){0}, .to_size = 1};
        if (use_call(&use, PJRT_BUFFER_TO_HOST_BUFFER, &args)) break;
        use_event_end(&use, args.event);
    }
    struct seen seen = end();
    ck_assert_int_eq(seen.windows, 1);
    ck_assert_int_eq(seen.dropped, 1);
    ck_assert_int_eq(seen.d2h + seen.executes + seen.awaits, IDS_RECORDS);
    ck_assert_int_eq(said("written", "\"drops\":1003"), 1);
}
END_TEST

START_TEST(executables_come_and_go) {
    begin(PLAN, "");
    use_client(&use);
    for (int i = 0; i < 3 * IDS_PROGRAMS; i++) use_loaded_end(&use, use_load(&use, "one"));
    void *loaded = use_load(&use, "last");
    use_execute(&use, loaded, 1, 1);
    ck_assert_uint_eq(ids_programs_count(), IDS_PROGRAMS);
    ck_assert_int_eq(use.errors, 0);
    end();
    nothing_is_left();
}
END_TEST

static void *execute_many(void *loaded) {
    struct use own = {.table = use.table};
    for (int i = 0; i < 500; i++) use_execute(&own, loaded, i % 2, i % 16 == 0);
    return own.errors ? loaded : NULL;
}

START_TEST(threads) {
    begin("start_step=200;steps=100;every=300;max=4;run=R", "run=1");
    use_client(&use);
    void *loaded = use_compile(&use, "train"), *failed;
    pthread_t all[4];
    for (int i = 0; i < 4; i++) pthread_create(&all[i], NULL, execute_many, loaded);
    for (int i = 0; i < 4; i++) {
        pthread_join(all[i], &failed);
        ck_assert_ptr_null(failed);
    }
    ck_assert_int_eq(counts->executions, 2000);
    struct seen seen = end();
    ck_assert_int_ge(seen.windows, 1); /* the others go on while one thread waits for a window's end */
    ck_assert_int_ge(seen.executes, 100);
    nothing_is_left();
}
END_TEST

/* A step that the agent counted is in the file, though its thread is in the middle of the call when another one ends
 * the window. */
START_TEST(counted_steps_are_written) {
    enum { THREADS = 8, STEPS = 3 };
    begin("start_step=20;steps=3;every=50;max=4;run=R", "run=1");
    use_client(&use);
    void *loaded = use_compile(&use, "train");
    pthread_t all[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&all[i], NULL, execute_many, loaded);
    for (int i = 0; i < THREADS; i++) pthread_join(all[i], NULL);
    struct seen seen = end();
    ck_assert_int_ge(seen.windows, 2); /* the others go on meanwhile, past a start or two */
    ck_assert_int_ge(seen.executes, STEPS * seen.windows);
    nothing_is_left();
}
END_TEST

START_TEST(fork_in_window) {
    begin(PLAN, "");
    use_client(&use);
    void *loaded = use_compile(&use, "train");
    for (int i = 0; i < 5; i++) use_execute(&use, loaded, 1, 1);
    pid_t child = fork();
    if (!child) {
        for (int i = 0; i < 20; i++) use_execute(&use, loaded, 0, 0); /* a device thread it has not */
        ids_agent_close(ids_pjrt.handle);
        _exit(use.errors != 0);
    }
    int status;
    waitpid(child, &status, 0);
    ck_assert_int_eq(status, 0);
    for (int i = 0; i < 7; i++) use_execute(&use, loaded, 1, 1);
    struct seen seen = end();
    ck_assert_int_eq(seen.windows, 1); /* the parent's, whole */
    ck_assert_int_eq(seen.device, 5);
    nothing_is_left();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("pjrt");
    TCase *tcase = tcase_create("pjrt");
    const TTest *const once[] = {asleep_without_a_plan,
                                 exact_window,
                                 beside_another,
                                 several_windows,
                                 hottest_and_pattern,
                                 pattern,
                                 everything_in_a_window,
                                 own_session_first,
                                 theirs_is_open,
                                 unlent_buffer,
                                 refused_without_client,
                                 has_programs_already,
                                 no_client,
                                 client_ends_in_window,
                                 executions_fail,
                                 unknown_major,
                                 short_arguments,
                                 no_plugin,
                                 records_are_bounded,
                                 executables_come_and_go,
                                 threads,
                                 counted_steps_are_written,
                                 fork_in_window};
    tcase_set_timeout(tcase, 60);
    for (size_t i = 0; i < sizeof once / sizeof *once; i++) tcase_add_test(tcase, once[i]);
    tcase_add_loop_test(tcase, vendor_fails, 0, 3);
    tcase_add_loop_test(tcase, vendor_does_not_start, 0, 2);
    tcase_add_loop_test(tcase, no_profiler, 0, 4);
    tcase_add_loop_test(tcase, profiler_table_size, 0, 2);
    tcase_add_loop_test(tcase, every_call_fails, 3, PJRT_ENTRIES);
    tcase_add_loop_test(tcase, short_tables, 0, 10);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
