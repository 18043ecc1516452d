/* xplane_programs.c - the graphs of programs, which are told when all lines are read: so they can be read beside these.
 */
#include "formats/hlo.h"
#include "formats/xplane_parts.h"
#include "lib/base/vec.h"
#include "lib/io/source.h"

#include <stdlib.h>

/* Of graphs that are held before they are told. A graph is much larger than its bytes. */
enum { AHEAD_BYTES = 4 << 20 };

int ids_xplane_programs_add(struct ids_xplane_reader *reader, const struct ids_xplane_program *program,
                            struct ids_error *err) {
    struct ids_xplane_programs *programs = &reader->programs;
    struct ids_xplane_program *added = IDS_PUSH(programs->at, programs->count, programs->room);
    if (!added) return ids_no_memory(err);
    *added = *program;
    return 0;
}

size_t ids_xplane_programs_ahead(const struct ids_xplane_programs *programs) {
    uint64_t bytes = 0;
    size_t end = programs->read;
    while (end < programs->count && (bytes += programs->at[end].graph.length) <= AHEAD_BYTES) end++;
    return end - programs->read;
}

/* What does not succeed here is read when it is told. */
void ids_xplane_program_read(const struct ids_xplane_reader *reader, struct ids_xplane_program *program) {
    struct ids_source *source = NULL;
    struct ids_error unused = IDS_ERROR_INIT;
    size_t length = (size_t)program->graph.length;
    if (program->graph.at + length > reader->file.size) return;
    program->bytes = malloc(length + 1);
    if (!program->bytes || ids_source_beside(reader->file.source, &source, &unused)) return;
    if (!ids_source_read(source, program->graph.at, program->bytes, length, &unused))
        program->hlo = ids_hlo_program_read(program->bytes, length, reader->sink->ops->memory != NULL);
    ids_source_close(source);
}

static void forget(struct ids_xplane_program *program) {
    ids_hlo_program_free(program->hlo);
    free(program->bytes);
    program->hlo = NULL;
    program->bytes = NULL;
}

static int tell(struct ids_xplane_reader *reader, const struct ids_xplane_program *program, struct ids_error *err) {
    if (program->hlo) return ids_hlo_program_tell(program->hlo, program->id, reader->sink, err);
    const uint8_t *bytes;
    int code = ids_pb_file_bytes(&reader->file, program->graph, &bytes, err);
    return code || !bytes ? code : ids_hlo_read(bytes, (size_t)program->graph.length, program->id, reader->sink, err);
}

int ids_xplane_programs_tell(struct ids_xplane_reader *reader, struct ids_error *err) {
    struct ids_xplane_programs *programs = &reader->programs;
    int code = 0;
    for (size_t i = 0; i < programs->count && !code; i++) {
        code = tell(reader, &programs->at[i], err);
        if (code == IDS_CORRUPT) { /* the profile stands without it: ops lose their opcode */
            struct ids_diag diag = {IDS_WARNING, "xplane.hlo", err->text, (int64_t)programs->at[i].name_at, 1};
            code = reader->sink->ops->diag(reader->sink, &diag, err);
        }
        forget(&programs->at[i]);
    }
    return code;
}

void ids_xplane_programs_done(struct ids_xplane_programs *programs) {
    for (size_t i = 0; i < programs->count; i++) forget(&programs->at[i]);
    free(programs->at);
    *programs = (struct ids_xplane_programs){0};
}
