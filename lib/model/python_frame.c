#include "lib/model/python_frame.h"

#include "lib/base/keymap.h"

#include <stdlib.h>
#include <string.h>

static int64_t number_at(const char *at, const char *end) {
    int64_t number = 0;
    for (; at < end && *at >= '0' && *at <= '9' && number < INT32_MAX; at++) number = number * 10 + (*at - '0');
    return number;
}

/* The space behind the first ":12 ", as a path may have spaces; NULL: there is no such number. */
static const char *end_of_line(const char *at, const char *end) {
    while ((at = memchr(at, ':', (size_t)(end - at)))) {
        const char *digit = ++at;
        while (digit < end && *digit >= '0' && *digit <= '9') digit++;
        if (digit > at && digit < end && *digit == ' ') return digit;
    }
    return NULL;
}

/* "$file.py:12 function", "$module function" */
static int jax_frame(struct ids_text name, struct ids_python_frame *ret_frame) {
    const char *end = name.at + name.length, *at = name.at + 1;
    const char *space = end_of_line(at, end);
    if (!space) space = memchr(at, ' ', (size_t)(end - at));
    if (!space) return 0;
    *ret_frame = (struct ids_python_frame){.function = {space + 1, (uint32_t)(end - space - 1)}};
    const char *colon = memrchr(at, ':', (size_t)(space - at));
    if (!colon) return 1;
    ret_frame->file = (struct ids_text){at, (uint32_t)(colon - at)};
    ret_frame->line = number_at(colon + 1, space);
    return 1;
}

/* "path/file.py(12): function" */
static int kineto_frame(struct ids_text name, struct ids_python_frame *ret_frame) {
    const char *mark = memmem(name.at, name.length, "): ", 3);
    const char *open = mark ? memrchr(name.at, '(', (size_t)(mark - name.at)) : NULL;
    if (!open) return 0;
    for (const char *digit = open + 1; digit < mark; digit++) {
        if (*digit < '0' || *digit > '9') return 0;
    }
    *ret_frame = (struct ids_python_frame){
        .file = {name.at, (uint32_t)(open - name.at)},
        .function = {mark + 3, (uint32_t)(name.at + name.length - mark - 3)},
        .line = number_at(open + 1, mark),
    };
    return 1;
}

int ids_python_frame_of(struct ids_text name, struct ids_python_frame *ret_frame) {
    return name.length && name.at[0] == '$' ? jax_frame(name, ret_frame) : kineto_frame(name, ret_frame);
}

static uint64_t hash_of(struct ids_text text) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < text.length; i++) hash = (hash ^ (unsigned char)text.at[i]) * 0x100000001b3u;
    return hash;
}

int ids_python_call_of(struct ids_text name, struct ids_python_call *ret_call) {
    struct ids_python_frame frame;
    *ret_call = (struct ids_python_call){.line = 0};
    if (!ids_python_frame_of(name, &frame)) return 0;
    ret_call->function = frame.function;
    ret_call->line = frame.line;
    if (frame.file.length) {
        uint32_t from = frame.file.length;
        while (from && frame.file.at[from - 1] != '/') from--;
        ret_call->file = (struct ids_text){frame.file.at + from, frame.file.length - from};
    } else if (name.at[0] == '$' && frame.function.at - name.at > 2 && name.at[1] != '<') { /* not "$<unknown> read" */
        ret_call->module = (struct ids_text){name.at + 1, (uint32_t)(frame.function.at - name.at) - 2};
    }
    return 1;
}

uint64_t ids_python_function_key(struct ids_text name) {
    struct ids_python_frame frame = {0};
    if (!ids_python_frame_of(name, &frame) || ids_text_is(frame.function, "<module>")) return hash_of(name) | 1;
    return ids_key_of(hash_of(frame.file), hash_of(frame.function));
}

int ids_python_waits_for_thread(struct ids_text name) {
    static const struct {
        const char *file, *function;
    } waits[] = {
        {"threading.py", "wait"}, {"threading.py", "wait_for"}, {"threading.py", "join"}, {"threading.py", "acquire"},
        {"queue.py", "get"},      {"queue.py", "put"},          {"queue.py", "join"},     {"_base.py", "result"},
    };
    struct ids_python_call call;
    if (!ids_python_call_of(name, &call)) return 0;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        if (ids_text_is(call.file, waits[i].file) && ids_text_is(call.function, waits[i].function)) return 1;
    }
    return 0;
}

int ids_python_is_selector(struct ids_text name) {
    return ids_text_is(name, "$self._selector poll") || ids_text_is(name, "$self._selector select");
}

int ids_python_is_loop(struct ids_text name) {
    struct ids_python_frame frame;
    return ids_text_begins(name, "$") && ids_text_ends(name, " _run_once") && ids_python_frame_of(name, &frame) &&
           ids_text_ends(frame.file, "asyncio/base_events.py");
}

int ids_python_is_await(struct ids_text name) {
    struct ids_python_frame frame;
    return ids_text_is(name, "$asyncio poll") || (ids_text_begins(name, "$") && ids_python_frame_of(name, &frame) &&
                                                  ids_text_begins(frame.function, "await "));
}

int ids_python_is_garbage(struct ids_text name) {
    return ids_text_begins(name, "$") && ids_text_ends(name, " collect garbage");
}

/* --- whose it is ------------------------------------------------------------------------------------------------ */

/* Files of Python's library, of JAX and of what commonly lies below, whose folder the name does not tell; sorted. A
 * file that a program may well call so too stands in `either`. */
#include "lib/model/python_files.def"

static int compare(const void *key, const void *item) {
    const struct ids_text *text = key;
    const char *word = *(const char *const *)item;
    size_t length = strlen(word);
    int order = memcmp(text->at, word, text->length < length ? text->length : length);
    return order ? order : (text->length > length) - (text->length < length);
}

static int is_in(struct ids_text text, const char *const *words, size_t count) {
    return bsearch(&text, words, count, sizeof *words, compare) != NULL;
}
#define IS_IN(text, words) is_in((text), (words), sizeof(words) / sizeof *(words))

int ids_python_package_is_known(struct ids_text package) {
    return IS_IN(package, packages);
}

static enum ids_frame_owner owner_of_path(struct ids_text file) {
    static const char *const folders[] = {"site-packages/", "dist-packages/", "/lib/python", "importlib", "<frozen"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (ids_text_contains(file, folders[i])) return IDS_FRAME_OF_LIBRARY;
    }
    const char *slash = memchr(file.at, '/', file.length);
    if (slash == file.at) return IDS_FRAME_OF_PROGRAM; /* a whole path, and no library's folder */
    if (!slash) return IDS_FRAME_UNKNOWN;
    struct ids_text package = {file.at, (uint32_t)(slash - file.at)};
    return ids_python_package_is_known(package) ? IDS_FRAME_OF_LIBRARY : IDS_FRAME_OF_PROGRAM;
}

static struct ids_text last_name(struct ids_text file) {
    const char *slash = file.length ? memrchr(file.at, '/', file.length) : NULL;
    return slash ? (struct ids_text){slash + 1, (uint32_t)(file.at + file.length - slash - 1)} : file;
}

/* A file that is called by the hash of what is in it was made by a compiler, such as PyTorch's Inductor: letters and
 * digits mixed, and far longer than a word. Nobody writes or knows it. */
static int is_made(struct ids_text file) {
    enum { HASH = 32 };
    int digits = 0;
    for (uint32_t i = 0; i + 3 < file.length; i++) {
        char c = file.at[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9')) return 0;
        digits += c >= '0' && c <= '9';
    }
    return file.length >= HASH + 3 && digits > 1;
}

/* All of Python's waiting for threads (queue, Condition, Event, Future, join) ends in a lock, that for other processes
 * in a poll: JAX calls a lock's methods "$<unknown> acquire", for they have no module, Kineto "<built-in method
 * acquire of _thread.lock object at 0x7f...>". */
static int waits_for_thread(struct ids_text name) {
    static const char *const whole[] = {"$<unknown> acquire", "$<unknown> __enter__", "$<unknown> poll",
                                        "$select select", "$posix read"};
    static const char *const heads[] = {"<built-in method acquire of _thread.",
                                        "<built-in method __enter__ of _thread.", "<built-in method poll of select.",
                                        "<built-in method select of "};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        if (ids_text_is(name, whole[i])) return 1;
    }
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        if (ids_text_begins(name, heads[i])) return 1;
    }
    /* Of a sampled stack, by the words of the program: "$self._lock acquire"; asyncio's "$self._selector poll"; "$jobs
     * get" of a SimpleQueue. "$<unknown> get" is mostly a dict's. */
    struct ids_python_frame frame;
    return name.at[0] == '$' && ids_python_frame_of(name, &frame) && !frame.file.length &&
           (ids_text_is(frame.function, "acquire") || ids_text_is(frame.function, "poll") ||
            (ids_text_is(frame.function, "get") && !ids_text_is(name, "$<unknown> get")));
}

int ids_python_sleeps(struct ids_text name) {
    struct ids_python_frame frame;
    if (ids_text_is(name, "<built-in function sleep>")) return 1;
    if (ids_text_ends(name, " (sleeps)")) return 1; /* collectors/common/stacks_plane.c */
    return ids_text_begins(name, "$") && ids_python_frame_of(name, &frame) && !frame.file.length &&
           (ids_text_is(frame.function, "sleep") || ids_text_is(frame.function, "nanosleep"));
}

/* Of what is built in, by the words of the program or by module: "$time sleep", "$self._sock recv_into". */
static int blocks(struct ids_text name) {
    static const char *const calls[] = {
        "accept",      "connect",       "connect_ex",    "do_handshake", "fdatasync",    "flock", "fsync",
        "getaddrinfo", "gethostbyname", "input",         "lockf",        "nanosleep",    "pause", "recv",
        "recv_into",   "recvfrom",      "recvfrom_into", "recvmsg",      "recvmsg_into", "send",  "sendall",
        "sendfile",    "sendmsg",       "sendto",        "sigtimedwait", "sigwait",      "sleep", "system",
        "wait",        "wait3",         "wait4",         "waitid",       "waitpid"};
    struct ids_python_frame frame;
    if (ids_python_is_selector(name) || ids_text_is(name, "$self._handle join")) return 1; /* of a thread */
    if (ids_text_is(name, "<built-in function sleep>")) return 1;
    /* collectors/common/stacks_plane.c */
    if (ids_text_is(name, "$io read") || ids_text_ends(name, " (reads)") || ids_text_ends(name, " (sleeps)")) return 1;
    return ids_text_begins(name, "$") && ids_python_frame_of(name, &frame) && !frame.file.length &&
           IS_IN(frame.function, calls);
}

int ids_python_function_needs_values(struct ids_text function) {
    static const char *const calls[] = {"array",   "asanyarray",  "asarray", "ascontiguousarray",
                                        "asnumpy", "bool",        "copy",    "copyto",
                                        "float",   "from_dlpack", "int",     "item",
                                        "numpy",   "print",       "repr",    "str",
                                        "tolist"};
    return IS_IN(function, calls);
}

int ids_python_call_needs_values(struct ids_text name) {
    struct ids_python_frame frame;
    return ids_text_begins(name, "$") && ids_python_frame_of(name, &frame) && !frame.file.length &&
           ids_python_function_needs_values(frame.function);
}

int ids_python_frame_launches(struct ids_text name) {
    static const char *const frameworks[] = {"-packages/jax",     "-packages/flax",      "-packages/optax",
                                             "-packages/equinox", "-packages/haiku",     "-packages/torch",
                                             "-packages/keras",   "-packages/tensorflow"};
    for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++) {
        if (ids_text_contains(name, frameworks[i])) return 1;
    }
    return 0;
}

/* Code that is no file called so: of a script without an ending, of `python -c`, of what was typed. Python itself calls
 * what it makes for classes <string> too, and libraries what they write to run it (Triton's launchers); what is built
 * in has no file. By its first line alone, as Kineto writes it, <string> is nothing but the frame around the whole
 * process. */
static enum ids_frame_owner owner_of_other(const struct ids_python_frame *frame, int is_at_first_line) {
    if (ids_text_begins(frame->file, "/") || ids_text_begins(frame->file, "./")) return owner_of_path(frame->file);
    if (ids_text_is(frame->file, "<stdin>") || ids_text_begins(frame->file, "<ipython-input") ||
        ids_text_begins(frame->file, "<python-input") || ids_text_begins(frame->file, "In["))
        return IDS_FRAME_OF_PROGRAM;
    int of_class = ids_text_begins(frame->function, "__");
    if (!ids_text_is(frame->file, "<string>") || of_class) return IDS_FRAME_OF_LIBRARY;
    if (!ids_text_is(frame->function, "<module>")) return IDS_FRAME_OF_EITHER;
    return is_at_first_line ? IDS_FRAME_OF_LIBRARY : IDS_FRAME_OF_PROGRAM;
}

enum ids_frame_owner ids_python_frame_owner(struct ids_text name) {
    struct ids_python_frame frame;
    if (ids_text_is(name, "$python wait_for_gil")) return IDS_FRAME_AWAITS_GIL; /* collectors/common/stacks_plane.c */
    if (ids_text_is(name, "$python wait_for_core")) return IDS_FRAME_AWAITS_CORE;
    if (waits_for_thread(name)) return IDS_FRAME_WAITS;
    if (blocks(name)) return IDS_FRAME_BLOCKS;
    if (!ids_python_frame_of(name, &frame)) return IDS_FRAME_OF_LIBRARY; /* built in, or nn.Module: */
    if (!ids_text_ends(frame.file, ".py")) return owner_of_other(&frame, !ids_text_begins(name, "$"));
    struct ids_text file = last_name(frame.file);
    if (ids_text_is(file, "idsprof_awaits.py")) return IDS_FRAME_OF_LIBRARY; /* around the wait of an event loop */
    if (ids_text_begins(file, "idsprof_") || ids_text_is(file, "idsprof.py")) return IDS_FRAME_OF_HOOK;
    if (is_made(file)) return IDS_FRAME_OF_LIBRARY;
    enum ids_frame_owner owner = owner_of_path(frame.file);
    if (owner) return owner;
    if (IS_IN(frame.file, libraries)) return IDS_FRAME_OF_LIBRARY;
    if (!IS_IN(frame.file, either) || ids_text_is(frame.function, "<module>")) return IDS_FRAME_OF_PROGRAM;
    return IS_IN(frame.function, entries) ? IDS_FRAME_OF_LIBRARY : IDS_FRAME_OF_EITHER;
}

int ids_python_file_is_known(struct ids_text file) {
    return IS_IN(file, libraries) || IS_IN(file, either);
}
