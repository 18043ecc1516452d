#include "lib/analysis/idle_names.h"

#include "lib/analysis/unrecorded_work.h"
#include "lib/model/doings.h"
#include "lib/model/python_frame.h"
#include "lib/model/told_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ids_idle_names_init(struct ids_idle_names *names, const struct ids_trace *trace) {
    *names = (struct ids_idle_names){.trace = trace};
    names->where = calloc(trace->doing_count + 1, sizeof *names->where);
    return names->where && !ids_sampled_places_find(&names->sampled, trace) ? 0 : -1;
}

int ids_idle_names_lend(const struct ids_idle_names *names, struct ids_idle_names *ret_lent) {
    *ret_lent = (struct ids_idle_names){.trace = names->trace, .sampled = names->sampled, .is_lent = 1};
    ret_lent->where = calloc(names->trace->doing_count + 1, sizeof *ret_lent->where);
    return ret_lent->where ? 0 : -1;
}

void ids_idle_names_done(struct ids_idle_names *names) {
    free(names->where);
    if (!names->is_lent) ids_sampled_places_done(&names->sampled);
    ids_arena_done(&names->texts);
}

static struct ids_text text_of(const struct ids_trace *trace, uint32_t name) {
    return name == IDS_NONE ? (struct ids_text){"", 0} : ids_strings_text(&trace->strings, trace->names[name].text);
}

/* Between the first `open` and the last `close`: the f of PjitFunction(f). */
static struct ids_text between(struct ids_text text, char open, char close) {
    const char *from = memchr(text.at, open, text.length);
    const char *to = from ? memrchr(from, close, (size_t)(text.at + text.length - from)) : NULL;
    return from && to ? (struct ids_text){from + 1, (uint32_t)(to - from - 1)} : text;
}

/* XLA puts the number of the device before some calls: "[0] GpuExecutable::ExecuteThunks". */
static struct ids_text without_ordinal(struct ids_text name) {
    uint32_t at = 1;
    while (at < name.length && name.at[at] >= '0' && name.at[at] <= '9') at++;
    if (!ids_text_begins(name, "[") || at == 1 || at + 2 >= name.length || memcmp(name.at + at, "] ", 2) != 0)
        return name;
    return (struct ids_text){name.at + at + 2, name.length - at - 2};
}

/* A graph that Inductor compiled, called by a hash of 51 letters of which eight are enough. */
static const char compiled_graph[] = "## Call CompiledFxGraph ";

/* What a host event is called for a person: the function of a jitted call or of a compilation, the range of NVTX,
 * else its name. */
static struct ids_text call_name(struct ids_text name) {
    static const char *const wrappers[] = {"PjitFunction(", "jax.compile(", "jax.trace(", "jax.lower(",
                                           "jax.cache_read("};
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
        if (ids_text_begins(name, wrappers[i])) return between(name, '(', ')');
    }
    struct ids_python_frame frame;
    if (ids_text_begins(name, compiled_graph)) {
        const uint32_t told = sizeof "CompiledFxGraph 12345678" - 1;
        return (struct ids_text){name.at + 8, name.length - 8 < told ? name.length - 8 : told};
    }
    if (ids_python_frame_of(name, &frame)) return frame.function;
    if (ids_text_begins(name, "NVTX:")) return (struct ids_text){name.at + 5, name.length - 5};
    return without_ordinal(name);
}

struct ids_text ids_call_name(const struct ids_trace *trace, uint32_t name) {
    return call_name(text_of(trace, name));
}

/* Programs have whole paths, frames of JAX the name of the file, sampled ones a part of
 * the path: a place is called one way. */
static struct ids_text without_folder(struct ids_text source) {
    uint32_t from = source.length;
    while (from && source.at[from - 1] != '/') from--;
    return (struct ids_text){source.at + from, source.length - from};
}

/* "train.py:12, held up", or the second alone. */
static struct ids_text joined(struct ids_idle_names *names, struct ids_text where, const char *what) {
    size_t room = (size_t)where.length + strlen(what) + 3;
    char *text = ids_arena_alloc(&names->texts, room);
    if (!text) return where;
    int length = snprintf(text, room, "%.*s%s%s", (int)where.length, where.at, where.length ? ", " : "", what);
    return (struct ids_text){text, (uint32_t)length};
}

/* "train.py:12" of a frame, or "train.py:12 step"; empty where it is none. */
static struct ids_text line_of(struct ids_idle_names *names, uint32_t frame_name, int with_function) {
    struct ids_python_frame frame;
    if (frame_name == IDS_NONE || !ids_python_frame_of(text_of(names->trace, frame_name), &frame))
        return (struct ids_text){"", 0};
    if (names->trace->names[frame_name].is_sampled) frame.file = ids_told_file(names->trace, frame.file);
    size_t room = (size_t)frame.file.length + frame.function.length + 32;
    char *text = ids_arena_alloc(&names->texts, room);
    if (!text) return (struct ids_text){"", 0};
    int length = snprintf(text, room, "%.*s:%lld", (int)frame.file.length, frame.file.at, (long long)frame.line);
    if (with_function)
        length +=
            snprintf(text + length, room - (size_t)length, " %.*s", (int)frame.function.length, frame.function.at);
    return (struct ids_text){text, (uint32_t)length};
}

/* "decoder" of "json/decoder.py", "json" of "json/__init__.py"; nothing of a bare "__init__.py". */
static struct ids_text module_of(struct ids_text file) {
    static const char package[] = "__init__.py";
    if (ids_text_is(file, package)) return (struct ids_text){"", 0};
    if (ids_text_ends(file, "/__init__.py")) file.length -= (uint32_t)sizeof package;
    if (ids_text_ends(file, ".py")) file.length -= 3;
    return without_folder(file);
}

/* "in video_classification.preprocess", of a library's recorded frame: its path is long, its name often "__call__".
 * No share: what has another one in another run would be another place. */
static struct ids_text in_file(struct ids_idle_names *names, struct ids_text where, struct ids_python_frame frame,
                               const char *how) {
    struct ids_text file = module_of(frame.file);
    size_t room = (size_t)file.length + frame.function.length + 32;
    char *text = ids_arena_alloc(&names->texts, room);
    if (!text) return where;
    snprintf(text, room, "%s %.*s%s%.*s", how, (int)file.length, file.at, file.length ? "." : "",
             (int)frame.function.length, frame.function.at);
    return joined(names, where, text);
}

/* Of a recorded function that launches work, and calls several things that do not: the largest, where it is a fifth. */
static struct ids_text in_largest(struct ids_idle_names *names, struct ids_text where, uint32_t called, int percent) {
    enum { LEAST = 20 };
    struct ids_python_frame frame;
    if (called == IDS_NONE || names->trace->names[called].is_sampled || percent < LEAST) return where;
    if (!ids_python_frame_of(text_of(names->trace, called), &frame) || !frame.file.length) return where;
    return in_file(names, where, frame, "partly in");
}

/* What JAX puts around its functions, jax.grad and jax.vmap among them, whose own frame says nothing of them. */
static int is_wrapper(struct ids_text function) {
    return ids_text_is(function, "reraise_with_filtered_traceback");
}

/* What decorators put around functions, whose name says nothing without its module: "wrapper" of torch.optim's
 * optimizer. */
static int is_of_decorator(struct ids_text function) {
    static const char *const names[] = {"inner", "decorate_context", "decorated", "_fn"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (ids_text_is(function, names[i])) return 1;
    }
    return ids_text_contains(function, "wrap");
}

/* "train.py:12, in gc.collect": what the program calls there, or "mostly in". Of the functions that wait for a process
 * the module is told too: many are called run. */
static struct ids_text in_call(struct ids_idle_names *names, struct ids_text where, uint32_t called, const char *how) {
    struct ids_python_frame frame;
    struct ids_text name = text_of(names->trace, called);
    if (!ids_python_frame_of(name, &frame) || is_wrapper(frame.function)) return where;
    int is_sampled = names->trace->names[called].is_sampled;
    if (frame.file.length &&
        (!is_sampled || ids_text_ends(frame.file, "/subprocess.py") || is_of_decorator(frame.function)))
        return in_file(names, where, frame, how);
    /* "$gc collect", and "$builtins len" or "$<unknown> read", whose module says nothing. */
    uint32_t module = frame.file.length ? 0 : (uint32_t)(frame.function.at - name.at) - 2;
    struct ids_text of = {name.at + 1, module};
    int is_named = module && !ids_text_is(of, "builtins") && !ids_text_is(of, "<unknown>");
    size_t room = (size_t)name.length + strlen(how) + 8;
    char *text = ids_arena_alloc(&names->texts, room);
    if (!text) return where;
    snprintf(text, room, "%s %.*s%s%.*s", how, is_named ? (int)module : 0, of.at, is_named ? "." : "",
             (int)frame.function.length, frame.function.at);
    return joined(names, where, text);
}

/* Percent of a function's time. Who reads of less than that as "in" looks in the one call for what the line does. */
enum { NEARLY_ALL = 80 };

static struct ids_text where_at(struct ids_idle_names *names, const struct ids_sampled_place *place) {
    const struct ids_doing *doing = &names->trace->doings[place->doing];
    struct ids_text line = line_of(names, doing->caller, doing->account != IDS_HOST_PYTHON && !doing->launches);
    if (place->is_most && doing->called != IDS_NONE)
        return in_call(names, line, doing->called, place->percent < NEARLY_ALL ? "mostly in" : "in");
    return in_largest(names, line, doing->called, place->percent);
}

/* Of the program's function around a doing, which its culprit names where it is Python itself. */
static struct ids_text where_of(struct ids_idle_names *names, uint32_t number) {
    const struct ids_doing *doing = &names->trace->doings[number];
    struct ids_text *known = &names->where[number];
    if (known->at) return *known;
    *known = names->sampled.own ? where_at(names, &names->sampled.own[number])
                                : line_of(names, doing->caller, doing->account != IDS_HOST_PYTHON && !doing->launches);
    return *known;
}

/* Of another thread that is waited for: not the wait that has most of its time, but what it does instead. */
static struct ids_text where_awaited(struct ids_idle_names *names, uint32_t number) {
    const struct ids_doing *doing = &names->trace->doings[number];
    const struct ids_sampled_places *sampled = &names->sampled;
    if (!sampled->whole) return where_of(names, number);
    uint32_t called = names->trace->doings[sampled->whole[number].doing].called;
    if (called == IDS_NONE || !ids_python_waits_for_thread(text_of(names->trace, called)))
        return where_at(names, &sampled->whole[number]);
    struct ids_text where = line_of(names, doing->caller, doing->account != IDS_HOST_PYTHON);
    return doing->called == IDS_NONE ? where : in_call(names, where, doing->called, "in");
}

/* Of another thread that has Python's lock: nowhere where it sleeps or waits, which is done without the lock. */
static struct ids_text where_having_gil(struct ids_idle_names *names, uint32_t number) {
    const struct ids_sampled_places *sampled = &names->sampled;
    if (!sampled->whole) return where_of(names, number);
    if (sampled->awake[number] == sampled->whole[number].doing) return where_at(names, &sampled->whole[number]);
    const struct ids_doing *doing = &names->trace->doings[sampled->awake[number]];
    struct ids_text where = line_of(names, doing->caller, doing->account != IDS_HOST_PYTHON);
    return doing->called == IDS_NONE ? where : in_call(names, where, doing->called, "in");
}

/* XLA numbers the ops of one line of the program: "debug_print.5" and "debug_print.6" are one callback. */
static struct ids_text without_number(struct ids_text name) {
    uint32_t length = name.length;
    while (length && name.at[length - 1] >= '0' && name.at[length - 1] <= '9') length--;
    int has_number = length > 1 && length < name.length && name.at[length - 1] == '.';
    return (struct ids_text){name.at, has_number ? length - 1 : name.length};
}

static struct ids_text function_of(const struct ids_trace *trace, uint32_t name) {
    struct ids_python_frame frame;
    struct ids_text text = text_of(trace, name);
    return ids_python_frame_of(text, &frame) ? frame.function : text;
}

uint32_t ids_name_of_doing(uint32_t doing, enum ids_manner manner) {
    return IDS_NAMES_OF_DOINGS + doing * IDS_MANNERS + (uint32_t)manner;
}

uint32_t ids_name_of_module(const struct ids_idle_names *names, uint32_t module) {
    return ids_name_of_doing((uint32_t)names->trace->doing_count, 0) + module;
}

uint32_t ids_name_of_name(const struct ids_idle_names *names, uint32_t name) {
    return ids_name_of_module(names, (uint32_t)names->trace->module_count) + name;
}

uint32_t ids_name_of_callback(const struct ids_idle_names *names, uint32_t op) {
    return ids_name_of_name(names, (uint32_t)names->trace->name_count) + op;
}

size_t ids_idle_names_count(const struct ids_idle_names *names) {
    return ids_name_of_callback(names, (uint32_t)names->trace->op_count);
}

/* The outermost call of a doing's account, as samples saw it most at that place. */
static uint32_t around_of(const struct ids_idle_names *names, uint32_t number) {
    const struct ids_sampled_places *sampled = &names->sampled;
    return names->trace->doings[sampled->call ? sampled->call[number] : number].around;
}

/* A sample saw the line that launches, beside what was recorded of its call: the name of the launch, plus 1; 0: it saw
 * something else. */
static uint32_t launched_by(const struct ids_trace *trace, const struct ids_doing *doing) {
    if (doing->caller == IDS_NONE) return 0;
    if (doing->called != IDS_NONE && !trace->names[doing->called].launched) return 0;
    return trace->names[doing->caller].launched;
}

/* What the program calls is a function of the same file: "map" of a pool, which then waits in "get". */
static int is_own_detail(const struct ids_trace *trace, const struct ids_doing *doing, struct ids_text call) {
    struct ids_python_frame frame, called;
    return doing->account == IDS_HOST_INPUT && ids_python_frame_of(call, &frame) && frame.file.length &&
           ids_python_frame_of(text_of(trace, doing->called), &called) && called.file.length == frame.file.length &&
           !memcmp(called.file.at, frame.file.at, frame.file.length) && !ids_text_begins(called.function, "_") &&
           (called.function.length != frame.function.length ||
            memcmp(called.function.at, frame.function.at, frame.function.length) != 0);
}

static struct ids_text in_module(struct ids_idle_names *names, struct ids_python_frame frame, struct ids_text name) {
    struct ids_text module = module_of(frame.file);
    const char *told = ids_arena_print(&names->texts, "%.*s.%.*s", (int)module.length, module.at,
                                       (int)frame.function.length, frame.function.at);
    return told ? (struct ids_text){told, (uint32_t)strlen(told)} : call_name(name);
}

/* The call that has the account, for a person: the outermost one. What a library calls by a name of its own, `_value`
 * in np.asarray, is no name that the program's owner knows: then it is what the program calls there. Whose `__next__`
 * waits for input, says more than that it is called by next(). */
static struct ids_text name_of_call(struct ids_idle_names *names, const struct ids_doing *doing, uint32_t call) {
    struct ids_text name = text_of(names->trace, call);
    struct ids_python_frame frame;
    if (doing->called == IDS_NONE || !ids_python_frame_of(name, &frame)) return call_name(name);
    if (is_own_detail(names->trace, doing, name)) {
        ids_python_frame_of(text_of(names->trace, doing->called), &frame);
        return in_module(names, frame, name);
    }
    if (!ids_text_begins(frame.function, "_")) return call_name(name);
    if (doing->account != IDS_HOST_INPUT || !frame.file.length) return call_name(text_of(names->trace, doing->called));
    return in_module(names, frame, name);
}

void ids_idle_name(struct ids_idle_names *names, enum ids_account account, uint32_t name, struct ids_text *ret_culprit,
                   struct ids_text *ret_where, struct ids_text *ret_recorded) {
    const struct ids_trace *trace = names->trace;
    *ret_culprit = *ret_where = *ret_recorded = (struct ids_text){"", 0};
    if (name == IDS_NAME_OF_NOBODY && account == IDS_PROFILER)
        *ret_culprit = (struct ids_text){IDS_NOT_RECORDING, sizeof IDS_NOT_RECORDING - 1};
    if (name == IDS_NAME_OF_EARLIER_WORK)
        *ret_culprit = (struct ids_text){IDS_EARLIER_WORK, sizeof IDS_EARLIER_WORK - 1};
    if (name == IDS_NAME_OF_GRAPH_WORK) *ret_culprit = (struct ids_text){IDS_GRAPH_WORK, sizeof IDS_GRAPH_WORK - 1};
    if (name < IDS_NAMES_OF_DOINGS) return;
    if (name >= ids_name_of_callback(names, 0)) {
        const struct ids_op *op = &trace->ops[name - ids_name_of_callback(names, 0)];
        struct ids_text source = ids_strings_text(&trace->strings, op->source);
        *ret_culprit = ids_strings_text(&trace->strings, op->name);
        if (source.length) *ret_culprit = without_number(*ret_culprit);
        *ret_where = joined(names, without_folder(source), IDS_CALLED_BACK);
    } else if (name >= ids_name_of_name(names, 0)) {
        *ret_culprit = call_name(text_of(trace, name - ids_name_of_name(names, 0)));
    } else if (name >= ids_name_of_module(names, 0)) {
        *ret_culprit = ids_strings_text(&trace->strings, trace->modules[name - ids_name_of_module(names, 0)].name);
    } else {
        uint32_t number = (name - IDS_NAMES_OF_DOINGS) / IDS_MANNERS, launched = 0,
                 manner = (name - IDS_NAMES_OF_DOINGS) % IDS_MANNERS;
        const struct ids_doing *doing = &trace->doings[number];
        /* What is the price of a launch is no errand of the function that launches. */
        int is_price = account == IDS_HOST_DISPATCH && doing->account == IDS_HOST_PYTHON && doing->caller != IDS_NONE &&
                       !trace->names[doing->caller].is_sampled;
        int is_called = account == IDS_HOST_DISPATCH && doing->launches && doing->caller != IDS_NONE;
        if (account == IDS_HOST_DISPATCH && doing->account == IDS_HOST_PYTHON && !is_called)
            launched = launched_by(trace, doing);
        *ret_where = is_price ? line_of(names, doing->caller, 0) : where_of(names, number);
        /* What shows the function's place is what was seen there, and not on another of its lines. */
        uint32_t shown = manner == IDS_AS_IT_IS && names->sampled.own ? names->sampled.own[number].doing : number;
        *ret_recorded = text_of(trace, trace->doings[shown].name);
        if (manner == IDS_AS_HELD_UP) *ret_where = joined(names, *ret_where, IDS_HELD_UP);
        if (manner == IDS_AS_COMPUTING) *ret_where = joined(names, *ret_where, IDS_COMPUTING);
        if (manner == IDS_AS_AWAITED) *ret_where = joined(names, where_awaited(names, number), IDS_AWAITED);
        if (manner == IDS_AS_POLLED) *ret_where = joined(names, where_awaited(names, number), IDS_POLLED);
        if (manner == IDS_AS_POLLING) *ret_where = joined(names, *ret_where, IDS_POLLING);
        if (manner == IDS_AS_HAVING_GIL) *ret_where = joined(names, where_having_gil(names, number), IDS_HAVING_GIL);
        if (manner == IDS_AS_LACKING_GIL) *ret_where = joined(names, line_of(names, doing->caller, 0), IDS_LACKING_GIL);
        if (manner == IDS_AS_CALLED_BACK) *ret_where = joined(names, line_of(names, doing->caller, 0), IDS_CALLED_BACK);
        if (manner == IDS_AS_CALLED || launched) *ret_where = line_of(names, doing->caller, 1);
        if (manner == IDS_AS_BEHIND_EARLIER) {
            *ret_culprit = (struct ids_text){IDS_EARLIER_WORK, sizeof IDS_EARLIER_WORK - 1};
            *ret_where = text_of(trace, doing->name);
        } else if (manner == IDS_AS_CALLED)
            *ret_culprit = call_name(text_of(trace, doing->called));
        else if (launched)
            *ret_culprit = call_name(text_of(trace, launched - 1));
        else if (doing->account == IDS_HOST_PYTHON || is_called ||
                 manner == IDS_AS_CALLED_BACK) /* also of a thread that prepares input */
            *ret_culprit = function_of(trace, doing->caller == IDS_NONE ? doing->name : doing->caller);
        else if (doing->account == IDS_PROFILER && doing->library)
            *ret_culprit = (struct ids_text){IDS_OWN_HOOK, sizeof IDS_OWN_HOOK - 1};
        else /* the outermost of what has the account: the jitted function, the reader, the call that waits */
            *ret_culprit = name_of_call(names, doing, manner == IDS_AS_CALL ? doing->name : around_of(names, number));
    }
}

struct ids_text ids_idle_name_line(struct ids_idle_names *names, uint32_t name) {
    if (name < IDS_NAMES_OF_DOINGS || name >= ids_name_of_module(names, 0)) return (struct ids_text){"", 0};
    const struct ids_doing *doing = &names->trace->doings[(name - IDS_NAMES_OF_DOINGS) / IDS_MANNERS];
    return doing->caller == IDS_NONE ? (struct ids_text){"", 0} : line_of(names, doing->caller, 1);
}

/* What the function calls for most of that time, or for a good part of it, and launches nothing, has a remedy of its
 * own. */
static int is_errand(const struct ids_idle_names *names, uint32_t number, const struct ids_doing *doing) {
    enum { LEAST = 20 };
    const struct ids_sampled_place *own = names->sampled.own ? &names->sampled.own[number] : NULL;
    if (doing->waits) return 1;
    if (!own || doing->called == IDS_NONE || names->trace->names[doing->called].launched) return 0;
    if (ids_python_frame_launches(text_of(names->trace, doing->called))) return 0; /* however long it takes to */
    return own->is_most || own->percent >= LEAST;
}

struct ids_text ids_idle_name_function(struct ids_idle_names *names, enum ids_account account, uint32_t name) {
    const struct ids_text nobody = {"", 0};
    if (name < IDS_NAMES_OF_DOINGS || name >= ids_name_of_module(names, 0)) return nobody;
    uint32_t number = (name - IDS_NAMES_OF_DOINGS) / IDS_MANNERS, manner = (name - IDS_NAMES_OF_DOINGS) % IDS_MANNERS;
    if (manner != IDS_AS_IT_IS && manner != IDS_AS_CALL) return nobody;
    const struct ids_trace *trace = names->trace;
    const struct ids_doing *doing = &trace->doings[names->sampled.own ? names->sampled.own[number].doing : number];
    struct ids_python_frame frame;
    if (account == IDS_HOST_PYTHON && is_errand(names, number, doing)) return nobody;
    if (doing->caller == IDS_NONE || !ids_python_frame_of(text_of(trace, doing->caller), &frame)) return nobody;
    if (!frame.file.length || ids_text_is(frame.function, "<module>")) return nobody;
    /* A sample's line is where it fell. A recorded one is the function's own, and tells methods of one name apart. */
    const int64_t line = trace->names[doing->caller].is_sampled ? 0 : frame.line;
    size_t room = (size_t)frame.file.length + frame.function.length + 32;
    char *text = ids_arena_alloc(&names->texts, room);
    if (!text) return nobody;
    int length = snprintf(text, room, "%.*s (%.*s", (int)frame.function.length, frame.function.at,
                          (int)frame.file.length, frame.file.at);
    if (line) length += snprintf(text + length, room - (size_t)length, ":%lld", (long long)line);
    length += snprintf(text + length, room - (size_t)length, ")");
    return (struct ids_text){text, (uint32_t)length};
}

uint32_t ids_idle_name_frame(const struct ids_idle_names *names, uint32_t name, uint8_t *ret_is_other) {
    if (name < IDS_NAMES_OF_DOINGS || name >= ids_name_of_module(names, 0)) return 0;
    uint32_t manner = (name - IDS_NAMES_OF_DOINGS) % IDS_MANNERS;
    const struct ids_doing *doing = &names->trace->doings[(name - IDS_NAMES_OF_DOINGS) / IDS_MANNERS];
    *ret_is_other = manner == IDS_AS_AWAITED || manner == IDS_AS_POLLED || manner == IDS_AS_HAVING_GIL;
    return doing->caller == IDS_NONE ? 0 : names->trace->names[doing->caller].text;
}

enum ids_lines ids_idle_name_lines(const struct ids_idle_names *names, uint32_t name, uint64_t *ret_function) {
    uint8_t is_other;
    uint32_t frame = ids_idle_name_frame(names, name, &is_other);
    if (!frame || !ids_idle_name_is_sampled(names, name)) return IDS_NO_LINES;
    uint32_t number = (name - IDS_NAMES_OF_DOINGS) / IDS_MANNERS;
    *ret_function = ids_python_function_key(ids_strings_text(&names->trace->strings, frame));
    if (is_other || !names->sampled.own || !names->sampled.own[number].is_part) return IDS_ALL_LINES;
    return ids_doing_sleeps(names->trace, number) ? IDS_LINES_ASLEEP : IDS_LINES_AWAKE;
}

int ids_idle_name_is_guess(const struct ids_idle_names *names, uint32_t name) {
    if (name < IDS_NAMES_OF_DOINGS || name >= ids_name_of_module(names, 0)) return 0;
    return names->trace->doings[(name - IDS_NAMES_OF_DOINGS) / IDS_MANNERS].is_guess;
}

int ids_idle_name_is_sampled(const struct ids_idle_names *names, uint32_t name) {
    if (name < IDS_NAMES_OF_DOINGS || name >= ids_name_of_module(names, 0)) return 0;
    const struct ids_doing *doing = &names->trace->doings[(name - IDS_NAMES_OF_DOINGS) / IDS_MANNERS];
    return doing->caller != IDS_NONE && names->trace->names[doing->caller].is_sampled;
}
