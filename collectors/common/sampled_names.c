#include "collectors/common/sampled_names.h"

#include "collectors/common/cells.h"
#include "collectors/common/cut.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ids_sampled_place {
    uint32_t code, at; /* at: the offset + 1; 0: this slot is free */
    int line;
    char called[IDS_PYTHON_CALLED];
};

struct ids_own_line {
    uint32_t code;
    int line;
    uint64_t samples;
};

/* --- instructions ----------------------------------------------------------------------------------------------- */

static struct ids_sampled_place *slot_of(const struct ids_sampled_names *names, struct ids_python_call call) {
    uint64_t key = (uint64_t)call.code << 32 | (call.at + 1u);
    size_t at = (size_t)(key * 0x9E3779B97F4A7C15u >> 32) & (names->place_room - 1);
    while (names->places[at].at && (names->places[at].code != call.code || names->places[at].at != call.at + 1u))
        at = (at + 1) & (names->place_room - 1);
    return &names->places[at];
}

static int grow(struct ids_sampled_names *names) {
    struct ids_sampled_names larger = *names;
    larger.place_room = names->place_room ? 2 * names->place_room : 256;
    larger.places = calloc(larger.place_room, sizeof *larger.places);
    if (!larger.places) return -1;
    for (size_t i = 0; i < names->place_room; i++) {
        const struct ids_sampled_place *place = &names->places[i];
        if (place->at)
            *slot_of(&larger, (struct ids_python_call){place->code, (place->at - 1) & INT32_MAX, 0}) = *place;
    }
    free(names->places);
    *names = larger;
    return 0;
}

static int is_of_library(const struct ids_sampled_names *names, const char *file) {
    int is_own;
    return ids_sampled_path(file, names->folder, &is_own) != file && !is_own;
}

/* Functions of libraries are known by their names alone (lib/model/event_kind.c). */
static int name_function(struct ids_sampled_names *names, uint32_t number) {
    const struct ids_python_code *code = &names->codes->at[number];
    char name[IDS_PYTHON_NAME];
    if (names->functions[number]) return 0;
    if (!is_of_library(names, code->file)) ids_python_name(&names->sources, code, name);
    names->functions[number] = strdup(is_of_library(names, code->file) ? code->name : name);
    return names->functions[number] ? 0 : -1;
}

static struct ids_sampled_place *place_of(struct ids_sampled_names *names, struct ids_python_call call) {
    if (2 * (names->place_count + 1) > names->place_room && grow(names)) return NULL;
    if (name_function(names, call.code)) return NULL;
    struct ids_sampled_place *place = slot_of(names, call);
    if (place->at) return place;
    const struct ids_python_code *code = &names->codes->at[call.code];
    struct ids_python_location location = ids_python_code_location(code, names->minor, call.at);
    *place = (struct ids_sampled_place){
        .code = call.code, .at = call.at + 1u, .line = location.line > 0 ? location.line : code->first_line};
    names->place_count++;
    if (!ids_python_called(&names->sources, code, call.at, location, place->called)) place->called[0] = '\0';
    return place;
}

/* --- the lines that a function runs itself ---------------------------------------------------------------------- */

static int add_own(struct ids_sampled_names *names, uint32_t code, int line, uint64_t samples) {
    for (size_t i = 0; i < names->own_count; i++) {
        if (names->own[i].code != code || names->own[i].line != line) continue;
        names->own[i].samples += samples;
        return 0;
    }
    if (names->own_count == names->own_room) {
        size_t room = names->own_room ? 2 * names->own_room : 64;
        struct ids_own_line *grown = realloc(names->own, room * sizeof *grown);
        if (!grown) return -1;
        names->own = grown;
        names->own_room = room;
    }
    names->own[names->own_count++] = (struct ids_own_line){code, line, samples};
    return 0;
}

static int own_line(const struct ids_sampled_names *names, uint32_t code, int otherwise) {
    const struct ids_own_line *most = NULL;
    for (size_t i = 0; i < names->own_count; i++) {
        if (names->own[i].code == code && (!most || names->own[i].samples > most->samples)) most = &names->own[i];
    }
    return most ? most->line : otherwise;
}

int ids_sampled_names_find(struct ids_sampled_names *names, const struct ids_python_codes *codes, int minor,
                           const struct ids_samples *samples) {
    *names = (struct ids_sampled_names){.codes = codes, .minor = minor};
    names->functions = calloc(codes->count + 1, sizeof *names->functions);
    if (!names->functions) return -1;
    if (!getcwd(names->folder, sizeof names->folder - 1)) names->folder[0] = '\0';
    size_t length = strlen(names->folder);
    if (length && names->folder[length - 1] != '/') memcpy(names->folder + length, "/", 2);
    for (size_t t = 0; t < samples->thread_count; t++) {
        const struct ids_sampled_thread *thread = &samples->threads[t];
        for (size_t r = 0; r < thread->count; r++) {
            const struct ids_sample_run *run = &thread->runs[r];
            for (uint32_t c = 0; c < run->depth; c++) {
                const struct ids_sampled_place *place = place_of(names, samples->calls[run->calls + c]);
                if (!place) return -1;
                if (!c && !place->called[0] && add_own(names, place->code, place->line, run->last - run->first + 1))
                    return -1;
            }
        }
    }
    return 0;
}

void ids_sampled_names_done(struct ids_sampled_names *names) {
    ids_python_sources_done(&names->sources);
    for (uint32_t i = 0; names->functions && i < names->codes->count; i++) free(names->functions[i]);
    free(names->functions);
    free(names->places);
    free(names->own);
    *names = (struct ids_sampled_names){0};
}

/* --- names ------------------------------------------------------------------------------------------------------ */

const char *ids_sampled_path(const char *file, const char *folder, int *ret_is_own) {
    static const char *const libraries[] = {"site-packages/", "dist-packages/", "/lib/python"};
    *ret_is_own = 0;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        const char *found = strstr(file, libraries[i]);
        if (found) return found;
    }
    size_t length = strlen(folder);
    *ret_is_own = length > 1 && !strncmp(file, folder, length);
    return *ret_is_own ? file + length : file;
}

void ids_sampled_name(const struct ids_sampled_names *names, struct ids_python_call call, int is_innermost,
                      char name[IDS_SAMPLED_NAME]) {
    const struct ids_python_code *code = &names->codes->at[call.code];
    const struct ids_sampled_place *place = slot_of(names, call);
    int is_own, line = is_innermost ? own_line(names, call.code, place->line) : place->line;
    char called[IDS_CELL_CALLED];
    const char *path = ids_sampled_path(code->file, names->folder, &is_own);
    if (ids_cells_called(code->file, called)) {
        path = called;
        is_own = 0;
    }
    snprintf(name, IDS_SAMPLED_NAME, "$%s%.700s:%d %.256s", is_own ? "./" : "", path, line,
             names->functions[call.code]);
    ids_cut_between_characters(name);
}

int ids_sampled_is_part(const struct ids_sampled_names *names, struct ids_python_call inner,
                        struct ids_python_call outer) {
    const struct ids_python_code *part = &names->codes->at[inner.code], *whole = &names->codes->at[outer.code];
    return !inner.from_c && ids_python_is_inline(part->name) && !strcmp(part->file, whole->file) &&
           !strcmp(names->functions[inner.code], names->functions[outer.code]);
}

const char *ids_sampled_called(const struct ids_sampled_names *names, struct ids_python_call call) {
    const struct ids_sampled_place *place = slot_of(names, call);
    return place->called[0] ? place->called : NULL;
}

/* Whether the words of a call say that it reads, or sleeps: those that lib/model knows. */
static int is_told(const char *function, const char *const *heads) {
    for (; *heads; heads++) {
        if (!strncmp(function, *heads, strlen(*heads))) return 1;
    }
    return 0;
}

const char *ids_sampled_told(const char *called, enum ids_thread_waits waits, char told[IDS_SAMPLED_NAME]) {
    static const char *const reading[] = {"read", "recv", "input", "get", "poll", "select", "wait", NULL},
                             *const sleeping[] = {"sleep", NULL}, *const of_files[] = {"read", "sleep", NULL};
    const char *space = called ? strrchr(called, ' ') : NULL, *function = space ? space + 1 : "", *says = NULL;
    /* Python's own loop over a file calls nothing by a name. */
    if (waits == IDS_THREAD_READS && !called) return "$io read";
    if (waits == IDS_THREAD_SLEEPS && !called) return "$<unknown> sleep";
    if (!called) return NULL;
    if (waits == IDS_THREAD_READS && !is_told(function, reading)) says = "reads";
    if (waits == IDS_THREAD_SLEEPS && !is_told(function, sleeping)) says = "sleeps";
    /* Python's sleep has slept, or is about to, or is one of no time. */
    if (waits == IDS_THREAD_RUNS && is_told(function, of_files))
        says = is_told(function, sleeping) ? "awake" : "does not wait";
    if (!says || !strcmp(function, "__enter__")) return called;
    snprintf(told, IDS_SAMPLED_NAME, "%s (%s)", called, says);
    return told;
}
