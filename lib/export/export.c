#include "lib/export/export.h"

#include "lib/model/keys.h"

#include <stdlib.h>

enum { WRITE_BYTES = 256 << 10 };

int ids_export_init(struct ids_export *export, struct ids_out *out, const struct ids_sink_ops *ops,
                    struct ids_error *err) {
    export->out = out;
    export->sink = (struct ids_sink){.ops = ops, .strings = &export->strings, .complete = 1};
    return ids_keys_intern(&export->strings) ? ids_no_memory(err) : 0;
}

int ids_export_write_all(struct ids_export *export, struct ids_error *err) {
    if (export->buffer.failed) return ids_no_memory(err);
    size_t length = export->buffer.length;
    export->buffer.length = 0;
    return length ? export->out->write(export->out, export->buffer.at, length, err) : 0;
}

int ids_export_write(struct ids_export *export, struct ids_error *err) {
    return export->buffer.length < WRITE_BYTES && !export->buffer.failed ? 0 : ids_export_write_all(export, err);
}

void ids_export_free(struct ids_export *export) {
    if (!export) return;
    if (export->done) export->done(export);
    ids_strings_done(&export->strings);
    ids_buffer_done(&export->buffer);
    free(export);
}

int ids_export_no_diag(struct ids_sink *sink, const struct ids_diag *diag, struct ids_error *err) {
    (void)sink, (void)diag, (void)err;
    return 0;
}

int ids_export_no_track_end(struct ids_sink *sink, uint32_t track, struct ids_error *err) {
    (void)sink, (void)track, (void)err;
    return 0;
}
