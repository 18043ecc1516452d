/* The Python of the programs: whether the hook starts in it, its jax, its plugins. */
#include "lib/base/memory.h"
#include "lib/capture/checkup_parts.h"

#include "lib/capture/line.h"
#include "lib/capture/variables.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_BYTES = 65536, PYTHON_TIMEOUT_MS = 20000 };

/* One object of texts and numbers. jax is not imported, which would take a second and could take the devices. Plugins
 * are looked for as jax does it: TPU_LIBRARY_PATH, else `import libtpu`; the packages below jax_plugins, and entry
 * points. libtpu is loaded into this Python, which ends then, and no client of it is made. */
static const char question[] =
    "import ctypes, json, os, pkgutil, sys\n"
    "from importlib import metadata\n"
    "def version(name):\n"
    "    try: return metadata.version(name)\n"
    "    except Exception: return ''\n"
    "def plugins():\n"
    "    points = metadata.entry_points()\n"
    "    found = points.select(group='jax_plugins') if hasattr(points, 'select') else points.get('jax_plugins', ())\n"
    "    names = {point.value.rpartition('.')[2] for point in found}\n"
    "    try:\n"
    "        import jax_plugins\n"
    "        names.update(name for _, name, _ in pkgutil.iter_modules(jax_plugins.__path__))\n"
    "    except Exception: pass\n"
    "    return sorted(names)\n"
    "def libtpu():\n"
    "    own = os.environ.get('TPU_LIBRARY_PATH')\n"
    "    if own and os.path.isfile(own): return own\n"
    "    try:\n"
    "        import libtpu\n"
    "        return libtpu.get_library_path()\n"
    "    except Exception: return ''\n"
    "def fault(path):\n"
    "    try: path and ctypes.CDLL(path, os.RTLD_LAZY)\n"
    "    except OSError as error: return str(error)\n"
    "    return ''\n"
    "def stacks(home):\n"
    "    why = ctypes.create_string_buffer(512)\n"
    "    try: can = ctypes.CDLL(home + '/libidsprof_agent.so').ids_agent_can_sample(why, ctypes.c_size_t(len(why)))\n"
    "    except (AttributeError, OSError) as error: return str(error)\n"
    "    return '' if can > 0 else why.value.decode() or 'this Python does not say where it is'\n"
    "home = os.environ.get('IDSPROF_HOME', '')\n"
    "hook = [f for f in sys.meta_path if getattr(f, 'folder', None) == home + '/python']\n"
    "tpu = libtpu()\n"
    "print(json.dumps({'version': sys.version.split()[0], 'executable': sys.executable, 'hook': int(bool(hook)),\n"
    "    'isolated': int(sys.flags.isolated or sys.flags.ignore_environment), 'no_site': int(sys.flags.no_site),\n"
    "    'jax': version('jax'), 'jaxlib': version('jaxlib'), 'plugins': ', '.join(plugins()), 'libtpu': tpu,\n"
    "    'fault': fault(tpu), 'no_stacks': stacks(home),\n"
    "    'site': ':'.join(p for p in sys.path if os.path.isdir(p))}), flush=True)\n"
    "os._exit(0)\n";

/* ---- asking ---- */

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads to the end, at most ANSWER_BYTES and PYTHON_TIMEOUT_MS. 0 when the end came. */
static int read_answer(int pipe, char *answer) {
    int64_t end = now_ms() + PYTHON_TIMEOUT_MS;
    size_t length = 0;
    for (;;) {
        struct pollfd wait = {.fd = pipe, .events = POLLIN};
        int64_t left = end - now_ms();
        int ready = poll(&wait, 1, left < 0 ? 0 : (int)left);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return -1;
        ssize_t got = read(pipe, answer + length, ANSWER_BYTES - 1 - length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 || (got > 0 && length + (size_t)got == ANSWER_BYTES - 1)) return -1;
        if (got == 0) break;
        length += (size_t)got;
    }
    answer[length] = '\0';
    return 0;
}

static int spawn(const char *python, char *const *environment, int out, pid_t *ret_pid) {
    char *arguments[] = {(char *)python, (char *)"-c", (char *)question, NULL};
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed) return failed;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    failed = posix_spawnp(ret_pid, python, &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* NULL when it answered; else why it did not. */
static const char *ask(const char *python, char *const *environment, char *answer) {
    int ends[2], status = 0;
    pid_t pid = 0;
    if (pipe2(ends, O_CLOEXEC)) return strerror(errno);
    int failed = spawn(python, environment, ends[1], &pid);
    close(ends[1]);
    int no_answer = failed || read_answer(ends[0], answer);
    close(ends[0]);
    if (failed == ENOMEM) ids_memory_refused();
    if (failed) return strerror(failed);
    if (no_answer) kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (no_answer) return "it gave no answer in time";
    return WIFEXITED(status) && !WEXITSTATUS(status)
               ? NULL
               : "it failed when it was asked (what is recorded needs Python 3.9 or later)";
}

/* ---- what it said ---- */

static const char *known(const char *text) {
    return text ? text : "?";
}

static void say_hook(const struct ids_checkup_options *options, const struct ids_line *line,
                     struct ids_checkup *checkup) {
    if (!options->home) {
        ids_check_add(checkup, "python.hook", "Python hook", IDS_CHECK_PROBLEM,
                      ids_check_text(checkup, "%s", options->why_no_home), "install idsprof again");
        return;
    }
    checkup->has_hook = ids_line_number(line, "hook") > 0;
    if (checkup->has_hook) {
        ids_check_add(checkup, "python.hook", "Python hook", IDS_CHECK_OK,
                      ids_check_text(checkup, "starts (%s/python)", options->home), NULL);
    } else if (ids_line_number(line, "isolated") > 0 || ids_line_number(line, "no_site") > 0) {
        ids_check_add(checkup, "python.hook", "Python hook", IDS_CHECK_PROBLEM,
                      "this Python runs with -I, -E or -S, which keep it out",
                      "start the program with a Python without these");
    } else {
        ids_check_add(checkup, "python.hook", "Python hook", IDS_CHECK_PROBLEM,
                      "does not start: another sitecustomize, or a Python that sets its own path",
                      ids_check_text(checkup,
                                     "IDSPROF_DEBUG=1 PYTHONPATH=%s/python %s -c pass shows what is in its way",
                                     options->home, options->python));
    }
}

/* What `capture --stacks` can do in this Python: it was tried. */
static void say_stacks(const struct ids_checkup_options *options, const struct ids_line *line,
                       struct ids_checkup *checkup) {
    const char *why = ids_line_text(&checkup->arena, line, "no_stacks");
    if (!options->home || !why) return;
    ids_check_add(checkup, "python.stacks", "sampled stacks", *why ? IDS_CHECK_NOTE : IDS_CHECK_OK,
                  *why ? ids_check_text(checkup, "are not recorded: %s", why) : "can be read",
                  *why ? "capture the program without them, or record Python's calls: --python-tracer 1" : NULL);
}

static void say_jax(const struct ids_line *line, struct ids_checkup *checkup) {
    const char *jaxlib = ids_line_text(&checkup->arena, line, "jaxlib");
    checkup->jax = ids_line_text(&checkup->arena, line, "jax");
    checkup->has_jax = checkup->jax && *checkup->jax && jaxlib && *jaxlib;
    if (checkup->has_jax) {
        ids_check_add(checkup, "python.jax", "jax", IDS_CHECK_OK,
                      ids_check_text(checkup, "%s (jaxlib %s)", checkup->jax, jaxlib), NULL);
    } else {
        ids_check_add(checkup, "python.jax", "jax", IDS_CHECK_PROBLEM, "not in this Python",
                      "activate the environment of the program, or name its Python with --python");
    }
}

/* The library that jax would load for TPUs. */
static void say_libtpu(const struct ids_line *line, struct ids_checkup *checkup) {
    const char *libtpu = ids_line_text(&checkup->arena, line, "libtpu"),
               *fault = ids_line_text(&checkup->arena, line, "fault"), *own = getenv("TPU_LIBRARY_PATH");
    const char *from = own && libtpu && !strcmp(own, libtpu) ? " (TPU_LIBRARY_PATH)" : "";
    int has_one = libtpu && *libtpu;
    if (own && *own && access(own, R_OK)) {
        ids_check_add(checkup, "python.tpu_library_path", "TPU_LIBRARY_PATH", IDS_CHECK_PROBLEM,
                      ids_check_text(checkup, "names '%s', which does not exist", own),
                      "unset TPU_LIBRARY_PATH, or name an existing file");
    }
    if (has_one && fault && *fault) {
        ids_check_add(checkup, "python.libtpu", "libtpu", IDS_CHECK_PROBLEM,
                      ids_check_text(checkup, "%s%s cannot be loaded: %s", libtpu, from, fault),
                      "install it again: pip install --force-reinstall libtpu");
    } else {
        ids_check_add(checkup, "python.libtpu", "libtpu", has_one ? IDS_CHECK_OK : IDS_CHECK_NONE,
                      has_one ? ids_check_text(checkup, "%s%s", libtpu, from) : "not in this Python", NULL);
        checkup->tpu_plugin = has_one;
    }
}

static void say_plugins(const struct ids_line *line, struct ids_checkup *checkup) {
    const char *plugins = ids_line_text(&checkup->arena, line, "plugins");
    checkup->gpu_plugin = plugins && (strstr(plugins, "cuda") || strstr(plugins, "rocm"));
    ids_check_add(checkup, "python.plugins", "jax plugins", plugins && *plugins ? IDS_CHECK_OK : IDS_CHECK_NONE,
                  plugins && *plugins ? plugins : "none: jax runs on the CPU, or on a TPU with libtpu", NULL);
    say_libtpu(line, checkup);
}

static int make_environment(const struct ids_checkup_options *options, struct ids_variables *environment) {
    struct ids_error ignored = IDS_ERROR_INIT;
    char hook[4096];
    if (ids_variables_copy(environment, environ, &ignored)) return -1;
    if (!options->home) return 0;
    snprintf(hook, sizeof hook, "%s/python", options->home);
    return ids_variables_set(environment, "IDSPROF_PLAN", "", &ignored) ||
           ids_variables_set(environment, "IDSPROF_SESSION", "/nonexistent", &ignored) ||
           ids_variables_set(environment, "IDSPROF_HOME", options->home, &ignored) ||
           ids_variables_prepend(environment, "PYTHONPATH", hook, ':', &ignored);
}

void ids_check_python(const struct ids_checkup_options *options, struct ids_checkup *checkup) {
    struct ids_variables environment = {0};
    struct ids_line line;
    char *answer = malloc(ANSWER_BYTES);
    int has_room = answer && !make_environment(options, &environment);
    const char *why = has_room ? ask(options->python, environment.at, answer) : "out of memory";
    if (!has_room) ids_memory_refused();
    if (!why && ids_line_parse(answer, strlen(answer), &line)) why = "its answer is not understood";
    if (why) {
        ids_check_add(checkup, "python.program", "Python", IDS_CHECK_PROBLEM,
                      ids_check_text(checkup, "%s: %s", options->python, why),
                      "activate the environment of the program, or name its Python with --python");
    } else {
        ids_check_add(checkup, "python.program", "Python", IDS_CHECK_OK,
                      ids_check_text(checkup, "%s (%s)", known(ids_line_text(&checkup->arena, &line, "version")),
                                     known(ids_line_text(&checkup->arena, &line, "executable"))),
                      NULL);
        checkup->site = ids_line_text(&checkup->arena, &line, "site");
        say_hook(options, &line, checkup);
        say_stacks(options, &line, checkup);
        say_jax(&line, checkup);
        say_plugins(&line, checkup);
    }
    ids_variables_done(&environment);
    free(answer);
}
