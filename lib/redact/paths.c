#include "lib/redact/paths.h"

#include "lib/model/checkpoints.h"
#include "lib/model/python_frame.h"
#include "lib/redact/public_words.h"

#include <string.h>

/* Endings by which a name without a folder is known as a file's. */
static const char *const endings[] = {
    ".arrow", ".bin", ".c",   ".cc",   ".ckpt", ".conf",        ".cpp", ".csv", ".cu",    ".cuh",      ".cxx",
    ".db",    ".env", ".gin", ".h",    ".h5",   ".hdf5",        ".hpp", ".ini", ".ipynb", ".jl",       ".json",
    ".jsonl", ".log", ".npy", ".npz",  ".onnx", ".parquet",     ".pb",  ".pkl", ".prof",  ".pt",       ".pth",
    ".py",    ".pyc", ".pyi", ".pyx",  ".rs",   ".safetensors", ".sh",  ".so",  ".tar",   ".tfrecord", ".toml",
    ".tsv",   ".txt", ".xml", ".yaml", ".yml",  ".zip",         ".zst",
};

/* Folders that every machine has. */
static const char *const folders[] = {
    "Users", "bin",   "conda",      "dist-packages", "envs", "home", "include", "lib",
    "lib64", "local", "miniconda3", "mnt",           "opt",  "root", "share",   "srv",
    "src",   "tmp",   "users",      "site-packages", "usr",  "var",  "venv",    ".venv",
    "proc",  "dev",   "sys",        "homes",         "self", "_src", "python3",
};
/* What stands in front of a user's name. */
static const char *const homes[] = {"home", "homes", "Users", "users"};

/* Roots of the sources of public libraries, beside packages of Python. */
static const char *const roots[] = {
    "aten", "c10", "com_google_absl", "eigen_archive", "org_tensorflow", "pytorch", "tsl", "xla",
};
static const char *const through[] = {"external", "third_party"};

static int is_in(struct ids_text text, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (ids_text_is(text, words[i])) return 1;
    }
    return 0;
}
#define IS_IN(text, words) is_in((text), (words), sizeof(words) / sizeof *(words))

/* ---- what is between its parts ---- */

/* How many bytes of the text from `at` on are a separator: "/", "\\", and what these become inside JSON and addresses
 * of the web: "\/", "\\\\", "%2F", "%5C". 0 for none. */
static size_t separator_at(struct ids_text text, size_t at) {
    if (at >= text.length) return 0;
    char c = text.at[at], next = at + 1 < text.length ? text.at[at + 1] : '\0';
    if (c == '/') return 1;
    if (c == '\\') return next == '/' || next == '\\' ? 2 : 1;
    if (c != '%' || at + 2 >= text.length) return 0;
    char last = (char)(text.at[at + 2] | 0x20);
    return (next == '2' && last == 'f') || (next == '5' && last == 'c') ? 3 : 0;
}

/* One of those that text has inside JSON and addresses. */
static size_t escaped_at(struct ids_text text, size_t at) {
    size_t length = separator_at(text, at);
    return length > 1 ? length : 0;
}

/* ---- where a path is ---- */

static int is_path_char(char c) {
    return ids_is_letter(c) || (c >= '0' && c <= '9') || strchr("_.-+~@%", c);
}

static int is_name_char(char c) {
    return ids_is_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

/* The length of the known ending of a name, 0 for none. */
static size_t ending_of(struct ids_text name) {
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (name.length > strlen(endings[i]) && ids_text_ends(name, endings[i])) return strlen(endings[i]);
    }
    return 0;
}

/* "/a/b", "~/a", "~user/a": with two parts at least, because "/device:GPU:0" and "/host:CPU" are no paths. A folder may
 * be called step=100. */
static size_t rooted_path(struct ids_text text, size_t at) {
    size_t end = at, parts = 0;
    if (text.at[end] == '~')
        while (end < text.length && text.at[end] != '/' && is_path_char(text.at[end])) end++;
    while (end + 1 < text.length && text.at[end] == '/' &&
           (is_path_char(text.at[end + 1]) || text.at[end + 1] == '/')) {
        parts++;
        end++;
        while (end < text.length && (is_path_char(text.at[end]) || (parts > 1 && strchr("=,", text.at[end])))) end++;
    }
    if (end < text.length && text.at[end] == '/' && parts) end++;
    int is_all = at == 0 && end == text.length && parts;
    return parts > 1 || is_all || (parts && text.at[at] == '~') ? end - at : 0;
}

/* "/a b/c" with its quotes. */
static size_t quoted_path(struct ids_text text, size_t at) {
    char quote = at ? text.at[at - 1] : '\0';
    size_t end = at + 1, parts = 1;
    if (quote != '"' && quote != '\'') return 0;
    for (; end < text.length && text.at[end] != quote; end++) {
        if (strchr(":\n", text.at[end])) return 0;
        parts += text.at[end] == '/';
    }
    return end < text.length && parts > 1 ? end - at : 0;
}

/* "%2Fhome%2Fuser%2Fa", "\\/home\\/user", "C%3A%5CUsers%5Cuser", "C:\\\\Users\\\\user": with two parts at least. */
static size_t escaped_path(struct ids_text text, size_t at) {
    static const char *const colons[] = {":", "%3A", "%3a"};
    size_t end = at, parts = 0;
    for (size_t i = 0; ids_is_letter(text.at[at]) && i < sizeof colons / sizeof *colons && end == at; i++) {
        struct ids_text rest = {text.at + at + 1, text.length - (uint32_t)at - 1};
        if (ids_text_begins(rest, colons[i])) end = at + 1 + strlen(colons[i]);
    }
    if (!escaped_at(text, end)) return 0;
    while (end < text.length) {
        size_t separator = escaped_at(text, end);
        if (!separator && !is_path_char(text.at[end])) break;
        parts += separator && end + separator < text.length && is_path_char(text.at[end + separator]);
        end += separator ? separator : 1;
    }
    return parts > 1 ? end - at : 0;
}

/* "$HOME/a", "${HOME}/a", "%USERPROFILE%\\a": how many bytes the variable has. */
static size_t variable_at(struct ids_text text, size_t at) {
    size_t end = at + 1, name;
    char c = at < text.length ? text.at[at] : '\0';
    int is_braced = c == '$' && end < text.length && text.at[end] == '{';
    if (c != '$' && c != '%') return 0;
    end += (size_t)is_braced;
    for (name = end; end < text.length && ((text.at[end] >= 'A' && text.at[end] <= 'Z') || text.at[end] == '_'); end++)
        ;
    if (end == name) return 0;
    if (c == '%' || is_braced) {
        if (end >= text.length || text.at[end] != (is_braced ? '}' : '%')) return 0;
        end++;
    }
    return separator_at(text, end) ? end - at : 0;
}

static size_t path_in_variable(struct ids_text text, size_t at) {
    size_t end = at + variable_at(text, at);
    if (end == at) return 0;
    while (end < text.length && (is_path_char(text.at[end]) || separator_at(text, end))) end++;
    return end - at;
}

/* "./a", "../a" */
static size_t dotted_path(struct ids_text text, size_t at) {
    size_t end = at;
    while (end < text.length && text.at[end] == '.') end++;
    if (end - at > 2 || end >= text.length || text.at[end] != '/') return 0;
    while (end < text.length && (is_path_char(text.at[end]) || text.at[end] == '/')) end++;
    return end - at > 3 ? end - at : 0;
}

/* "C:\a\b", "\\server\a" */
static size_t windows_path(struct ids_text text, size_t at) {
    int drive = at + 2 < text.length && ids_is_letter(text.at[at]) && text.at[at + 1] == ':' && text.at[at + 2] == '\\';
    int share = at + 2 < text.length && text.at[at] == '\\' && text.at[at + 1] == '\\' && is_path_char(text.at[at + 2]);
    if (!drive && !share) return 0;
    size_t end = at + 2;
    while (end < text.length && (is_path_char(text.at[end]) || text.at[end] == '\\')) end++;
    return end - at;
}

/* "src/train.py", "train.py": by its ending. The last one that fits, wherever it is begun: so where there is none, none
 * can begin before `ret_end`. */
static size_t named_file(struct ids_text text, size_t at, size_t *ret_end) {
    size_t end = at, best = 0;
    while (end < text.length && (is_path_char(text.at[end]) || text.at[end] == '/')) {
        end++;
        int ends = end == text.length || !(is_name_char(text.at[end]) || text.at[end] == '/');
        if (ends && ending_of((struct ids_text){text.at + at, (uint32_t)(end - at)})) best = end - at;
    }
    *ret_end = end;
    return best;
}

size_t ids_path_at(struct ids_text text, size_t at, int whole, size_t *no_file_before) {
    char c = text.at[at];
    size_t length = 0, end;
    if (c == '/' || c == '~') length = rooted_path(text, at);
    if (!length && c == '/') length = quoted_path(text, at);
    if (c == '.') length = dotted_path(text, at);
    if (c == '$' || c == '%') length = path_in_variable(text, at);
    if (!length && (ids_is_letter(c) || c == '\\' || c == '%')) length = escaped_path(text, at);
    if (!length && (ids_is_letter(c) || c == '\\')) length = windows_path(text, at);
    if (length && whole && !at) return text.length;
    if (length || at < *no_file_before) return length;
    length = named_file(text, at, &end);
    if (!length) *no_file_before = end;
    return length;
}

/* ---- what of it is public ---- */

static struct ids_text part_at(struct ids_text path, size_t at) {
    size_t end = at;
    while (end < path.length && !separator_at(path, end)) end++;
    return (struct ids_text){path.at + at, (uint32_t)(end - at)};
}

static int is_package(struct ids_text part) {
    if (ids_text_ends(part, ".py")) part.length -= 3;
    return ids_python_package_is_known(part);
}

/* Where the path is that of a public library: from its package up to where a part says that something else begins. */
struct span {
    size_t from, to;
};

/* A list of paths goes on behind "," or ":", and no file of a library has spaces in its name. */
static int is_library_part(struct ids_text part) {
    for (uint32_t i = 0; i < part.length; i++) {
        if (!is_path_char(part.at[i])) return 0;
    }
    return 1;
}

/* Files by whose frames a report knows what is computed again, wherever the library lies. */
static int is_read(struct ids_text path, size_t at) {
    return ids_text_is((struct ids_text){path.at + at, path.length - (uint32_t)at}, IDS_CHECKPOINT_FILE);
}

static struct span public_span(struct ids_text path) {
    struct span span = {path.length, path.length};
    size_t at = 0;
    int is_library = 1; /* what is before is a folder of libraries */
    while (at < path.length) {
        struct ids_text part = part_at(path, at);
        if (span.from == path.length && ((is_library && (is_package(part) || IS_IN(part, roots))) || is_read(path, at)))
            span.from = at;
        if (span.from < path.length && (!is_library_part(part) || IS_IN(part, homes))) {
            span.to = at;
            break;
        }
        is_library = ids_text_is(part, "site-packages") || ids_text_is(part, "dist-packages") ||
                     (at && ids_text_begins(part, "python3.")) || (is_library && IS_IN(part, through));
        at += part.length;
        at += at < path.length ? separator_at(path, at) : 1;
    }
    return span;
}

static int is_version_of_python(struct ids_text part) {
    if (!ids_text_begins(part, "python3.") || part.length > 12) return 0;
    for (uint32_t i = 8; i < part.length; i++) {
        if (part.at[i] < '0' || part.at[i] > '9') return 0;
    }
    return 1;
}

static int is_number(struct ids_text part) {
    for (uint32_t i = 0; i < part.length; i++) {
        if ((part.at[i] < '0' || part.at[i] > '9') && part.at[i] != '.') return 0;
    }
    return 1;
}

static int is_public_part(struct ids_text part, int is_last) {
    if (is_number(part) || is_version_of_python(part)) return 1; /* ".", "..", a process */
    if (is_last && (ids_python_file_is_known(part) || ids_text_begins(part, "idsprof"))) return 1;
    return !is_last && IS_IN(part, folders);
}

/* The name becomes another one, its ending stays. */
static void put_part(struct ids_redactor *redactor, struct ids_text part, struct ids_buffer *out) {
    char word[IDS_PSEUDONYM_ROOM];
    size_t ending = ending_of(part), name = part.length - ending;
    if (ids_is_pseudonym(part.at, name)) {
        ids_buffer_put(out, part.at, part.length);
        return;
    }
    ids_pseudonym(&redactor->key, part.at, name, word);
    ids_buffer_put(out, word, IDS_PSEUDONYM_LENGTH);
    ids_buffer_put(out, part.at + name, ending);
}

static int is_drive_letter(struct ids_text part) {
    return (part.length == 2 && part.at[1] == ':') || (part.length == 4 && part.at[1] == '%' && part.at[2] == '3');
}

/* Whether a learned name is a word of it: a folder of a library may be called as a user is. */
static int names_somebody(const struct ids_redactor *redactor, struct ids_text part) {
    for (uint32_t at = 0; at < part.length; at++) {
        if (at && ids_is_letter(part.at[at - 1])) continue;
        size_t end = at + ids_learned_at(redactor, (struct ids_text){part.at + at, part.length - at});
        if (end > at && (end >= part.length || !ids_is_letter(part.at[end]))) return 1;
    }
    return 0;
}

/* A script without an ending keeps none. "$./train.py" begins with a folder that says nothing. */
void ids_redact_path(struct ids_redactor *redactor, struct ids_text path, struct ids_buffer *out) {
    struct span span = public_span(path);
    int is_home = 0;
    for (size_t at = 0; at < path.length;) {
        struct ids_text part = part_at(path, at);
        int is_last = at + part.length >= path.length;
        int is_drive = !at && is_drive_letter(part);
        int is_library = at >= span.from && at < span.to && !names_somebody(redactor, part);
        if (is_home && part.length) ids_redactor_learn(redactor, part);
        if (at == 0 && part.length > 1 && *part.at == '~') {
            ids_redactor_learn(redactor, (struct ids_text){part.at + 1, part.length - 1});
            ids_buffer_byte(out, '~');
            put_part(redactor, (struct ids_text){part.at + 1, part.length - 1}, out);
        } else if (is_library || is_drive || (!at && part.length && variable_at(path, 0) == part.length) ||
                   ids_text_is(part, "~") || (!is_home && is_public_part(part, is_last))) {
            ids_buffer_put(out, part.at, part.length);
        } else {
            put_part(redactor, part, out);
        }
        is_home = IS_IN(part, homes);
        at += part.length;
        size_t separator = separator_at(path, at);
        ids_buffer_put(out, path.at + at, separator);
        at += separator;
    }
}
