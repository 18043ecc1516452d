#include "lib/run/partial_order.h"

#include "lib/base/buffer.h"
#include "lib/io/stream.h"
#include "lib/model/format.h"
#include "lib/run/file_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arranged {
    struct ids_run_file file;
    struct ids_partial_head head;
};

static int by_origin(const void *a, const void *b) {
    const struct arranged *left = a, *right = b;
    int order = strcmp(left->head.path, right->head.path);
    return order ? order : strcmp(left->file.path, right->file.path);
}

int ids_partial_head_of(const struct ids_run_file *file, struct ids_partial_head *ret_head) {
    struct ids_error ignored = IDS_ERROR_INIT;
    struct ids_source *source = NULL;
    uint8_t head[IDS_FORMAT_HEAD];
    size_t length = 0;
    *ret_head = (struct ids_partial_head){0};
    int code = ids_run_file_open(file, &source, &ignored);
    if (!code) code = ids_source_head(source, head, sizeof head, &length, &ignored);
    ids_source_close(source);
    return !code && ids_partial_look(head, length, ret_head);
}

/* Of those of files beside the run none is read before the others. */
static int set_apart(struct ids_run_files *run, struct arranged *all, size_t count, struct ids_error *err) {
    size_t besides = 0, files = 0;
    for (size_t i = 0; i < count; i++) besides += all[i].head.is_beside != 0;
    if (besides == count) besides = 0; /* it is told when they are read */
    struct ids_run_file *beside = calloc(besides + run->beside_count + 1, sizeof *beside);
    if (!beside) return ids_no_memory(err);
    size_t first = run->beside_count;
    if (first) memcpy(beside, run->beside, first * sizeof *beside);
    for (size_t i = 0; i < count; i++) {
        if (besides && all[i].head.is_beside)
            beside[first++] = all[i].file;
        else
            run->files[files++] = all[i].file;
    }
    free(run->beside);
    run->beside = beside;
    run->beside_count = first;
    run->file_count = files;
    return 0;
}

/* ---- the same twice ---- */

static int read_all(const struct ids_run_file *file, struct ids_buffer *bytes) {
    struct ids_error ignored = IDS_ERROR_INIT; /* what cannot be read is told when the run is read */
    struct ids_source *source = NULL;
    int code = ids_run_file_open(file, &source, &ignored);
    if (!code) code = ids_stream_read_all(source, bytes, &ignored);
    ids_source_close(source);
    return !code;
}

static int are_same(const struct arranged *a, const struct arranged *b) {
    if (!*a->head.path || strcmp(a->head.path, b->head.path) != 0 || a->file.size != b->file.size) return 0;
    struct ids_buffer left = {0}, right = {0};
    int same = read_all(&a->file, &left) && read_all(&b->file, &right) && left.length == right.length &&
               !memcmp(left.at, right.at, left.length);
    ids_buffer_done(&left);
    ids_buffer_done(&right);
    return same;
}

/* Returns how many are left. They are in order, so that the same lie side by side but for files of one path. */
static size_t drop_copies(const struct ids_engine *engine, struct ids_run_files *run, struct arranged *all,
                          size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t of = kept;
        while (of && !strcmp(all[of - 1].head.path, all[i].head.path) && !are_same(&all[of - 1], &all[i])) of--;
        if (!of || strcmp(all[of - 1].head.path, all[i].head.path) != 0) {
            all[kept++] = all[i];
            continue;
        }
        ids_engine_note(engine, "'%s' and '%s': the same file twice, which counts once", all[of - 1].file.path,
                        all[i].file.path);
        run->also_count++;
        if (!run->also) {
            run->also = all[i].file.path;
            all[i].file.path = NULL;
        }
        ids_run_file_done(&all[i].file);
    }
    return kept;
}

/* ---- */

int ids_partials_put_in_order(const struct ids_engine *engine, struct ids_run_files *run, struct ids_error *err) {
    size_t count = run->file_count;
    struct arranged *all = calloc(count, sizeof *all);
    if (!all) return ids_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        all[i].file = run->files[i];
        if (!ids_partial_head_of(&run->files[i], &all[i].head))
            snprintf(all[i].head.path, sizeof all[i].head.path, "%s", run->files[i].path);
    }
    qsort(all, count, sizeof *all, by_origin);
    count = drop_copies(engine, run, all, count);
    int code = set_apart(run, all, count, err);
    free(all);
    return code;
}

int ids_partials_arrange(const struct ids_engine *engine, struct ids_run_files *run, struct ids_error *err) {
    int are_all = run->file_count > 1 && !run->number;
    for (size_t i = 0; i < run->file_count && are_all; i++)
        are_all = ids_name_ends_with(run->files[i].path, IDS_PARTIAL_SUFFIX);
    return are_all ? ids_partials_put_in_order(engine, run, err) : 0;
}
