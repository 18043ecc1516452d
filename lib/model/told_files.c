#include "lib/model/told_files.h"

#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/base/vec.h"
#include "lib/model/python_frame.h"

#include <string.h>

/* Of more files that share their names no one is told from the others: each name would be held against all of them. */
enum { MOST_TOLD = 1000 };

static uint64_t key_of(struct ids_text text) {
    return ids_key_of(1, ids_hash_bytes(text.at, text.length));
}

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

static int has_twin(const struct ids_trace *trace, struct ids_text file, uint32_t folders) {
    struct ids_text end = end_of(file, folders);
    for (size_t f = 0; f < trace->told_file_count; f++) {
        if (are_equal(end_of(trace->told_files[f], folders), end) && !are_equal(trace->told_files[f], file)) return 1;
    }
    return 0;
}

/* Each file of the program once, into the trace; how many have its name, into `named`. */
static int gather_files(struct ids_trace *trace, struct ids_keymap *seen, struct ids_keymap *named) {
    for (size_t n = 0; n < trace->name_count; n++) {
        struct ids_text name = ids_strings_text(&trace->strings, trace->names[n].text);
        struct ids_python_frame frame;
        if (!trace->names[n].is_sampled || !ids_python_frame_of(name, &frame) || !frame.file.length) continue;
        enum ids_frame_owner owner = ids_python_frame_owner(name);
        if (owner != IDS_FRAME_OF_PROGRAM && owner != IDS_FRAME_OF_EITHER) continue;
        int added = ids_keymap_add(seen, key_of(frame.file), 1);
        uint64_t *count = added > 0 ? ids_keymap_at(named, key_of(end_of(frame.file, 0))) : NULL;
        struct ids_text *told =
            count ? IDS_PUSH(trace->told_files, trace->told_file_count, trace->told_file_room) : NULL;
        if (added < 0 || (added && !told)) return -1;
        if (!added) continue;
        *told = frame.file;
        ++*count;
    }
    return 0;
}

int ids_told_files_find(struct ids_trace *trace) {
    struct ids_keymap seen = {0}, named = {0};
    size_t kept = 0;
    int failed = gather_files(trace, &seen, &named);
    for (size_t f = 0; f < trace->told_file_count && kept < MOST_TOLD && !failed; f++) {
        uint64_t count = 0;
        ids_keymap_get(&named, key_of(end_of(trace->told_files[f], 0)), &count);
        if (count > 1) trace->told_files[kept++] = trace->told_files[f];
    }
    trace->told_file_count = kept;
    ids_keymap_done(&seen);
    ids_keymap_done(&named);
    return failed;
}

struct ids_text ids_told_file(const struct ids_trace *trace, struct ids_text file) {
    uint32_t folders = 0;
    while (end_of(file, folders).length < file.length && has_twin(trace, file, folders)) folders++;
    return end_of(file, folders);
}
