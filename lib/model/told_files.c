#include "lib/model/told_files.h"

#include "lib/base/vec.h"
#include "lib/model/python_frame.h"

#include <string.h>

/* The last `folders` folders of a path, and its file; all of it where it has fewer. */
static struct ids_text end_of(struct ids_text path, uint32_t folders) {
    uint32_t from = path.length;
    for (; from; from--) {
        if (path.at[from - 1] == '/' && !folders--) break;
    }
    return (struct ids_text){path.at + from, path.length - from};
}

static int are_equal(struct ids_text a, struct ids_text b) {
    return a.length == b.length && !memcmp(a.at, b.at, a.length);
}

static int add_file(struct ids_trace *trace, struct ids_text file) {
    for (size_t f = 0; f < trace->told_file_count; f++) {
        if (are_equal(trace->told_files[f], file)) return 0;
    }
    struct ids_text *told = IDS_PUSH(trace->told_files, trace->told_file_count, trace->told_file_room);
    if (!told) return -1;
    *told = file;
    return 0;
}

static int has_twin(const struct ids_trace *trace, struct ids_text file, uint32_t folders) {
    struct ids_text end = end_of(file, folders);
    for (size_t f = 0; f < trace->told_file_count; f++) {
        if (are_equal(end_of(trace->told_files[f], folders), end) && !are_equal(trace->told_files[f], file)) return 1;
    }
    return 0;
}

int ids_told_files_find(struct ids_trace *trace) {
    size_t kept = 0;
    for (size_t n = 0; n < trace->name_count; n++) {
        struct ids_text name = ids_strings_text(&trace->strings, trace->names[n].text);
        struct ids_python_frame frame;
        if (!trace->names[n].is_sampled || !ids_python_frame_of(name, &frame) || !frame.file.length) continue;
        enum ids_frame_owner owner = ids_python_frame_owner(name);
        if (owner != IDS_FRAME_OF_PROGRAM && owner != IDS_FRAME_OF_EITHER) continue;
        if (add_file(trace, frame.file)) return -1;
    }
    for (size_t f = 0; f < trace->told_file_count; f++) {
        struct ids_text file = trace->told_files[f];
        /* Those before it that have none are gone: none of them is its twin. */
        if (has_twin(trace, file, 0)) trace->told_files[kept++] = file;
    }
    trace->told_file_count = kept;
    return 0;
}

struct ids_text ids_told_file(const struct ids_trace *trace, struct ids_text file) {
    uint32_t folders = 0;
    while (end_of(file, folders).length < file.length && has_twin(trace, file, folders)) folders++;
    return end_of(file, folders);
}
