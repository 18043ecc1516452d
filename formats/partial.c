/* partial.c - what idsprof made of one file of a run (lib/model/partial.h), packed by gzip. */
#include "lib/model/partial.h"

#include "lib/io/source.h"
#include "lib/io/stream.h"
#include "lib/model/format.h"

static int partial_read(struct ids_source *source, struct ids_sink *sink, struct ids_error *err) {
    struct ids_buffer bytes = {0};
    if (!sink->ops->partial) return ids_partial_has_no_events(err);
    int code = ids_stream_read_all(source, &bytes, err);
    if (!code && ids_source_cut(source)) /* of the rest nothing can be believed */
        code = ids_fail(err, IDS_CORRUPT, "a partial that is damaged, or not whole; make it again of the profile");
    if (!code) code = sink->ops->partial(sink, bytes.at, bytes.length, err);
    ids_buffer_done(&bytes);
    return code;
}

static int partial_bid(const uint8_t *head, size_t length, int *more) {
    struct ids_partial_head unused;
    (void)more;
    return ids_partial_look(head, length, &unused) ? 100 : 0;
}

static const char *const suffixes[] = {IDS_PARTIAL_SUFFIX, NULL};

const struct ids_format ids_partial_format = {
    .name = "partial",
    .title = "partial",
    .expected = "a partial, *" IDS_PARTIAL_SUFFIX " (not packed again)",
    .form = "partial",
    .lacks = "a partial lacks events",
    .suffixes = suffixes,
    .bid = partial_bid,
    .streams = 1,
    .read = partial_read,
};
