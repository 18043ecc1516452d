/* advise_on_padding.c - matrix products whose sizes the device fills up: what of it a step could win. */
#include "analyzers/advise_on.h"
#include "lib/base/counted.h"

#include <string.h>

static const struct ids_value *cell(const struct ids_table *table, const char *column) {
    return ids_table_cell(table, 0, ids_table_column(table, column)); /* the first could win most */
}

static const char *text(const struct ids_table *table, const char *column) {
    const struct ids_value *value = cell(table, column);
    return value->missing ? NULL : value->text;
}

/* "depth 65 as 128" of "8192 x 65 x 1024" and "8192 x 128 x 1024". */
static const char *say_filled(const struct ids_adviser *adviser, const char *sizes, const char *as) {
    static const char *const names[] = {"rows", "depth", "columns"};
    const char *said = "";
    for (int n = 0; n < 3 && sizes && as; n++) {
        size_t length = strcspn(sizes, " "), as_length = strcspn(as, " ");
        if (length != as_length || strncmp(sizes, as, length) != 0)
            said = ids_report_text(adviser->report, "%s%s%s %.*s as %.*s", said, *said ? ", " : "", names[n],
                                   (int)length, sizes, (int)as_length, as);
        sizes += length + strspn(sizes + length, " x");
        as += as_length + strspn(as + as_length, " x");
    }
    return said;
}

static const char *remedy_of(const struct ids_adviser *adviser, int by_memory) {
    enum ids_device_kind kind = adviser->analysis->busy[adviser->pieces.decider].device->kind;
    if (by_memory)
        return "let the last dimension be a multiple of 128 and the one before it of 8: merge small dimensions, or put "
               "a "
               "longer one last";
    if (kind == IDS_DEVICE_GPU) return "choose sizes that fill 16 bytes: multiples of 8 in bf16, of 16 in 8 bits";
    return "choose sizes that are multiples of the unit's width, or use what is computed anyway: a wider head or "
           "hidden "
           "size up to there costs nothing";
}

void ids_advise_on_padding(struct ids_adviser *adviser) {
    const struct ids_table *table = ids_report_find_table(adviser->report, "padding");
    struct ids_report *report = adviser->report;
    int64_t steps = adviser->pieces.steps;
    if (!table || !table->row_count || cell(table, "saving")->missing) return;
    int64_t saves_ps = cell(table, "saving")->i, count = cell(table, "count")->i;
    int64_t room_ps = ids_adviser_compute(adviser);
    int is_founded = count >= IDS_LEAST_EVENTS || (steps >= IDS_LEAST_STEPS && count >= steps);
    if (saves_ps > room_ps) saves_ps = room_ps;
    if (!is_founded || saves_ps <= 0 || saves_ps < ids_adviser_per_step(adviser, adviser->pieces.time_ps / IDS_WORTH))
        return;
    const char *op = text(table, "op"), *where = text(table, "where"), *source = text(table, "source");
    int by_memory = text(table, "bound") && strcmp(text(table, "bound"), "memory") == 0;
    const char *filled = by_memory ? "its arrays do not fill their tiles"
                                   : say_filled(adviser, text(table, "sizes"), text(table, "computed_as"));
    struct ids_value share = *cell(table, by_memory ? "tiles" : "padding");
    ids_adviser_give(
        adviser,
        &(struct ids_advice){
            .saves_ps = saves_ps,
            .per_step = steps > 0,
            .account = ids_account_id(IDS_WORK_COMPUTE),
            .culprit = op,
            .where = where,
            .what = ids_report_text(report, "%s of a matrix product is padding: %s%s%s, %s - %s",
                                    ids_say_value(adviser, share), ids_say_name(adviser, op, where), source ? ", " : "",
                                    source ? source : "", filled, remedy_of(adviser, by_memory)),
            .evidence = ids_report_text(report, "%s%s on a device, %s, bound by %s; %s, computed as %s",
                                        ids_say_time(adviser, cell(table, "per_step")->i), steps ? " a step" : "",
                                        IDS_COUNTED(count, "execution"),
                                        text(table, "bound") ? text(table, "bound") : "nothing known",
                                        text(table, "sizes") ? text(table, "sizes") : "sizes unknown",
                                        text(table, "computed_as") ? text(table, "computed_as") : "unknown"),
            .explain = "efficiency.roofline_loss"});
}
