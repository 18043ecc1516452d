#include "lib/report/template_names.h"

#include "lib/report/layout.h"
#include "lib/report/mangled_names.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* A part of a name, without its end. */
struct span {
    const char *from, *to;
};

/* How much is told: functions and types alone, or numbers and plain types too. */
enum detail { TELLING, ALL_ARGUMENTS, DETAILS };

struct writing {
    char *at;
    size_t used, room;
    enum detail detail;
    struct span type; /* of the numbers that it computes with; empty: none was seen */
};

static int is(struct span part, const char *word) {
    size_t length = strlen(word);
    return (size_t)(part.to - part.from) == length && !memcmp(part.from, word, length);
}

static int begins(struct span part, const char *head) {
    size_t length = strlen(head);
    return (size_t)(part.to - part.from) >= length && !memcmp(part.from, head, length);
}

static int has(struct span part, const char *words) {
    return memmem(part.from, (size_t)(part.to - part.from), words, strlen(words)) != NULL;
}

static int is_one_of(struct span part, const char *const *words) {
    while (*words && !is(part, *words)) words++;
    return *words != NULL;
}

static int has_one_of(struct span part, const char *const *words) {
    while (*words && !has(part, *words)) words++;
    return *words != NULL;
}

/* What holds, counts or addresses elements, and says nothing of what is done to them. */
static int is_plumbing(struct span name) {
    static const char *const parts[] = {"Metadata",       "Calculator", "Tensor", "OpaqueType", "LoadWith",
                                        "StoreWith",      "policy_hub", "Policy", "TileState",  "SMemHelper",
                                        "decomposer",     "InputValue", "Params", "iterator",   "use_default",
                                        "AccumulateType", NULL};
    static const char *const names[] = {"array", "tuple", "integral_constant", "type", "integer_sequence", NULL};
    return has_one_of(name, parts) || is_one_of(name, names);
}

/* What is around the function that is computed, whatever that is. */
static int is_wrapper(struct span name) {
    static const char *const names[] = {"gpu_kernel_impl", "gpu_kernel_impl_nocast",
                                        "func_wrapper_t",  "ReduceOp",
                                        "Kernel",          "Kernel2",
                                        "device_kernel",   NULL};
    return is_one_of(name, names);
}

/* Types of the numbers that kernels compute with. */
static int is_type_of_numbers(struct span name) {
    static const char *const names[] = {"float",   "double", "half",          "__half",     "BFloat16", "Half",
                                        "complex", "half_t", "__nv_bfloat16", "bfloat16_t", NULL};
    return is_one_of(name, names) || begins(name, "Float8_") || begins(name, "__nv_fp8");
}

static int is_plain_type(struct span name) {
    static const char *const heads[] = {"void", "bool",     "char",   "short",  "int",
                                        "long", "unsigned", "signed", "size_t", NULL};
    const char *const *head = heads;
    while (*head && !begins(name, *head)) head++;
    if (!*head) return 0;
    const char *end = name.from + strlen(*head);
    return end == name.to || *end == ' ';
}

/* --- parts of a name -------------------------------------------------------------------------------------------- */

static const char anonymous[] = "(anonymous namespace)::", call[] = "operator()";

static int is_of_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '~' || c == '$';
}

/* Behind what is opened at `at`: a list of arguments, of parameters, a lambda. NULL: it is not closed. Within
 * parentheses "<" and ">" compare: "enable_if<((8)>(0)), void>". */
static const char *behind(const char *at, const char *to) {
    enum { DEEPEST = 64 };
    int depth = 0;
    uint64_t is_list = 0; /* a bit for each that is open, the last one lowest */
    for (; at < to; at++) {
        int in_list = depth && (is_list & 1), in_none = !depth;
        if ((*at == '<' && (in_list || in_none || is_of_word(at[-1]))) || *at == '(' || *at == '{' || *at == '[') {
            if (depth++ == DEEPEST) return NULL;
            is_list = is_list << 1 | (*at == '<');
        } else if ((*at == '>' && at[-1] != '-' && in_list) || *at == ')' || *at == '}' || *at == ']') {
            depth--;
            is_list >>= 1;
        }
        if (depth <= 0) return at + 1;
    }
    return NULL;
}

struct component {
    struct span name, arguments, parameters; /* empty: it has none */
    int is_lambda;                           /* or what calls one */
};

/* The next one between "::"; 0: there is none, -1: the name is none that is known. */
static int next_component(struct span *rest, struct component *ret) {
    const char *at = rest->from, *to = rest->to;
    *ret = (struct component){.is_lambda = 0};
    while (at < to && (*at == ':' || *at == ' ')) at++;
    if (at == to || *at == '&' || *at == '*') return 0;
    if (begins((struct span){at, to}, anonymous)) at += sizeof anonymous - 1;
    const char *from = at;
    if (at < to && *at == '{') {
        ret->is_lambda = 1;
        at = behind(at, to);
        if (!at) return -1;
        ret->parameters = (struct span){from, at};
    } else if (begins((struct span){at, to}, call)) {
        ret->is_lambda = 1;
        at += sizeof call - 1;
    } else {
        while (at < to && is_of_word(*at)) at++;
        if (at == from) return -1;
    }
    ret->name = (struct span){from, at};
    for (; at < to && (*at == '<' || *at == '(');) {
        const char *end = behind(at, to);
        if (!end) return -1;
        if (*at == '<') ret->arguments = (struct span){at + 1, end - 1};
        at = end;
    }
    if (begins((struct span){at, to}, " const")) at += sizeof " const" - 1;
    rest->from = at;
    return 1;
}

static void put(struct writing *writing, const char *text, size_t length) {
    if (length > writing->room - writing->used) length = writing->room - writing->used;
    memcpy(writing->at + writing->used, text, length);
    writing->used += length;
}

static void put_span(struct writing *writing, struct span part) {
    put(writing, part.from, (size_t)(part.to - part.from));
}

static struct span trimmed(struct span part) {
    while (part.from < part.to && *part.from == ' ') part.from++;
    while (part.from < part.to && part.to[-1] == ' ') part.to--;
    return part;
}

static int write_part(struct writing *writing, struct span part, int depth);

/* Those that tell, with commas. How many there are; -1: the name is none that is known. */
static int write_arguments(struct writing *writing, struct span list, int depth) {
    int count = 0;
    while (list.from < list.to) {
        const char *end = list.from;
        while (end < list.to && *end != ',') {
            int opens = *end == '<' || *end == '(' || *end == '{' || *end == '[';
            end = opens ? behind(end, list.to) : end + 1;
            if (!end) return -1;
        }
        size_t before = writing->used;
        if (count) put(writing, ", ", 2);
        int written = write_part(writing, trimmed((struct span){list.from, end}), depth);
        if (written < 0) return -1;
        if (!written) writing->used = before;
        count += written > 0;
        list.from = end < list.to ? end + 1 : end;
    }
    return count;
}

/* The type of the numbers that a lambda takes: "{lambda(c10::BFloat16, bool)#1}". */
static void see_lambda(struct writing *writing, struct span lambda) {
    const char *open = memchr(lambda.from, '(', (size_t)(lambda.to - lambda.from));
    if (!open || writing->type.from) return;
    const char *end = open + 1;
    while (end < lambda.to && *end != ',' && *end != ')') end++;
    struct span type = {open + 1, end};
    while (has(type, "::")) type.from = (const char *)memmem(type.from, (size_t)(type.to - type.from), "::", 2) + 2;
    if (is_type_of_numbers(type)) writing->type = type;
}

/* The last component, or the function that a lambda is in. 0: there is none, -1: the name is none that is known. */
static int find_telling(struct writing *writing, struct span part, struct component *ret) {
    struct component component;
    int code, found = 0;
    while ((code = next_component(&part, &component)) > 0) {
        if (component.is_lambda) {
            if (*component.name.from == '{') see_lambda(writing, component.name);
            continue;
        }
        *ret = component;
        found = 1;
    }
    return code < 0 ? -1 : found;
}

/* Which of a function's lambdas it is: "#3#1". */
static void put_numbers(struct writing *writing, struct span part) {
    struct component component;
    while (next_component(&part, &component) > 0) {
        const char *from = component.name.from, *to = component.name.to;
        const char *number = from < to && *from == '{' ? memrchr(from, '#', (size_t)(to - from)) : NULL;
        if (number) put_span(writing, (struct span){number, to - 1});
    }
}

static int is_constant(struct span part) {
    return part.from == part.to || isdigit((unsigned char)*part.from) || *part.from == '-' || is(part, "true") ||
           is(part, "false");
}

/* Whether it was worth a word; -1: the name is none that is known. */
static int write_part(struct writing *writing, struct span part, int depth) {
    enum { DEEPEST = 16 };
    struct component telling;
    int all = writing->detail == ALL_ARGUMENTS;
    if (depth > DEEPEST) return -1;
    if (is_constant(part) || is_plain_type(part)) {
        if (all) put_span(writing, part);
        return all;
    }
    /* "(at::native::NormType)1" */
    if (*part.from == '(' && !begins(part, anonymous)) return 0;
    if (part.to[-1] == '*' || part.to[-1] == '&') return 0;
    int code = find_telling(writing, part, &telling);
    if (code <= 0) return code;
    if (is_type_of_numbers(telling.name)) {
        if (!writing->type.from) writing->type = telling.name;
        if (all) put_span(writing, telling.name);
        return all;
    }
    if (is_plumbing(telling.name)) return 0;
    if (is_wrapper(telling.name)) return write_arguments(writing, telling.arguments, depth + 1);
    put_span(writing, telling.name);
    if (all) put_numbers(writing, part);
    if (telling.arguments.from == telling.arguments.to) return 1;
    size_t before = writing->used;
    put(writing, "<", 1);
    code = write_arguments(writing, telling.arguments, depth + 1);
    if (code > 0) put(writing, ">", 1);
    if (code == 0) writing->used = before;
    return code < 0 ? -1 : 1;
}

/* --- whole names ------------------------------------------------------------------------------------------------ */

static int is_template(struct span name) {
    if (begins(name, "void ")) return has(name, "(");
    return has(name, "::") && has(name, "<") && (name.to[-1] == ')' || name.to[-1] == '>');
}

/* NVIDIA's products of matrices say how they are scheduled for sixty letters behind the size of their tiles, and last
 * whose they are: "sm90_xmma_gemm_f32f32_..._nn_n_tilesize128x256x32_warpgroupsize2x1x1_..._kernel__5x_cublas". */
static const char *without_schedule(struct span whole, struct ids_arena *arena) {
    static const char tile[] = "_tilesize", *const libraries[] = {"cublas", "cudnn"};
    const char *at = memmem(whole.from, (size_t)(whole.to - whole.from), tile, sizeof tile - 1);
    if (!at || !has(whole, "_xmma_")) return whole.from;
    at += sizeof tile - 1;
    while (at < whole.to && *at != '_') at++;
    const char *text = NULL;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && at < whole.to; i++) {
        size_t length = strlen(libraries[i]);
        if ((size_t)(whole.to - at) <= length || memcmp(whole.to - length, libraries[i], length) != 0) continue;
        text = ids_arena_print(arena, "%.*s (%s)", (int)(at - whole.from), whole.from, libraries[i]);
    }
    return text ? text : whole.from;
}

static int is_list_of_paths(struct span whole) {
    const char *end = memchr(whole.from, ';', (size_t)(whole.to - whole.from));
    return end && memchr(whole.from, '/', (size_t)(end - whole.from)) && !has(whole, " ");
}

/* What XLA made one op of several has all their paths: "jit(f)/layer/mul;jit(f)/layer/add;jit(f)/layer/mul" is
 * "jit(f)/layer/mul;add". What the last one told has its folders told; one that was told is not told again. */
static const char *without_repeats(struct span whole, struct ids_arena *arena) {
    struct writing writing = {.room = (size_t)(whole.to - whole.from)};
    struct span last = {whole.from, whole.from};
    writing.at = ids_arena_alloc(arena, writing.room + 1);
    if (!writing.at) return whole.from;
    for (const char *from = whole.from; from <= whole.to;) {
        const char *to = memchr(from, ';', (size_t)(whole.to - from));
        struct span path = {from, to ? to : whole.to}, before = {whole.from, from};
        from = path.to + 1;
        int is_told = 0;
        for (const char *at = before.from; at < before.to && !is_told;) {
            const char *end = memchr(at, ';', (size_t)(before.to - at));
            is_told = end - at == path.to - path.from && !memcmp(at, path.from, (size_t)(end - at));
            at = end + 1;
        }
        if (is_told) continue;
        const char *name = memrchr(path.from, '/', (size_t)(path.to - path.from));
        size_t folder = name ? (size_t)(name + 1 - path.from) : 0;
        int is_beside = folder && (size_t)(last.to - last.from) > folder && !memcmp(last.from, path.from, folder) &&
                        !memchr(last.from + folder, '/', (size_t)(last.to - last.from) - folder);
        if (writing.used) put(&writing, ";", 1);
        put_span(&writing, is_beside ? (struct span){path.from + folder, path.to} : path);
        last = path;
    }
    writing.at[writing.used] = '\0';
    return writing.at;
}

/* A function template says what it gives back first: "void f<int>(int)", "std::enable_if<true, void>::type
 * f<int>(int)". */
static struct span without_result(struct span whole) {
    static const char condition[] = "std::enable_if", type[] = "::type ";
    if (begins(whole, "void ")) return (struct span){whole.from + sizeof "void " - 1, whole.to};
    const char *list = begins(whole, condition) ? memchr(whole.from, '<', (size_t)(whole.to - whole.from)) : NULL;
    const char *end = list ? behind(list, whole.to) : NULL;
    int is_result = end && begins((struct span){end, whole.to}, type);
    return is_result ? (struct span){end + sizeof type - 1, whole.to} : whole;
}

/* A kernel that is no template, with the types of its arguments: ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096>).
 * "PjitFunction(f)" has none. */
static struct span without_types(struct span whole) {
    const char *list = whole.from;
    while (list < whole.to && (isalnum((unsigned char)*list) || *list == '_' || *list == ':')) list++;
    int is_list = list > whole.from && list < whole.to && *list == '(' && whole.to[-1] == ')';
    struct span types = {list, whole.to};
    return is_list && (has(types, "*") || has(types, "<")) ? (struct span){whole.from, list} : whole;
}

static const char *in_short(const char *name, enum detail detail, struct ids_arena *arena) {
    struct span whole = {name, name + strlen(name)};
    const char *mangled = ids_mangled_name_in_short(name, detail > TELLING, arena);
    if (mangled) return mangled;
    if (is_list_of_paths(whole)) return without_repeats(whole, arena);
    struct span bare = without_types(whole);
    if (detail == TELLING && bare.to < whole.to) {
        const char *copy = ids_arena_copy(arena, bare.from, (size_t)(bare.to - bare.from));
        return copy ? copy : name;
    }
    if (!is_template(whole)) return detail == TELLING ? without_schedule(whole, arena) : name;
    whole = without_result(whole);
    struct writing writing = {.room = strlen(name), .detail = detail};
    writing.at = ids_arena_alloc(arena, writing.room + 1);
    if (!writing.at || write_part(&writing, whole, 0) <= 0) return name;
    if (writing.type.from && detail == TELLING) {
        int has_list = writing.used && writing.at[writing.used - 1] == '>';
        if (has_list) writing.used--;
        put(&writing, has_list ? ", " : "<", has_list ? 2 : 1);
        put_span(&writing, writing.type);
        put(&writing, ">", 1);
    }
    writing.at[writing.used] = '\0';
    return writing.used ? writing.at : name;
}

/* Whether another name among them looks the same. */
static int is_ambiguous(const char *const *texts, const char *const *shown, size_t count, size_t at) {
    for (size_t i = 0; i < count; i++) {
        if (i != at && !strcmp(shown[i], shown[at]) && strcmp(texts[i], texts[at]) != 0) return 1;
    }
    return 0;
}

const char *ids_template_name_in_short(const char *name, int columns, struct ids_arena *arena) {
    return ids_text_columns(name) <= columns ? name : in_short(name, TELLING, arena);
}

void ids_template_names_shorten(const char **texts, size_t count, int columns, struct ids_arena *arena) {
    enum { MOST = 2048 }; /* of longer tables nobody compares all names with all */
    const char **shown = ids_arena_alloc(arena, (count + 1) * sizeof *shown);
    char *is_alike = ids_arena_alloc(arena, count + 1);
    if (!shown || !is_alike || count > MOST) return;
    memcpy(shown, texts, count * sizeof *shown);
    memset(is_alike, 1, count);
    for (enum detail detail = TELLING; detail <= DETAILS; detail++) {
        for (size_t i = 0; i < count; i++) {
            if (!is_alike[i]) continue;
            int is_short = detail == DETAILS || ids_text_columns(texts[i]) <= columns;
            shown[i] = is_short ? texts[i] : in_short(texts[i], detail, arena);
        }
        for (size_t i = 0; i < count; i++) is_alike[i] = (char)is_ambiguous(texts, shown, count, i);
    }
    memcpy(texts, shown, count * sizeof *shown);
}
