#include "analyzers/roofline_advice.h"

#include "lib/analysis/unrecorded_work.h"

#include <string.h>

/* Layers below a fiftieth of the time are not worth a word, and nobody reads more than a few. */
enum { MOST_LAYERS = 6, MOST_LEVELS = 8 };
#define LEAST_SHARE 0.02
#define LEAST_SAMPLING 0.001 /* what picks the tokens is little, and asked for */
#define LEAST_LOSS 0.05

static struct ids_value cell(const struct ids_table *table, size_t row, const char *column) {
    int at = ids_table_column(table, column);
    return at < 0 ? ids_no_value(IDS_UNIT_NONE) : *ids_table_cell(table, row, at);
}

static const char *say(struct ids_report *report, struct ids_value value) {
    char text[IDS_VALUE_ROOM];
    return ids_report_text(report, "%s", ids_value_format(value, text, sizeof text));
}

/* ---- layers ---- */

/* The part of a model that a layer is by its name; NULL where the name does not tell. */
static const char *role_of(const char *name) {
    static const struct {
        const char *word, *role;
    } table[] = {{"attn", "attention"},  {"attention", "attention"}, {"qkv", "attention"},    {"mlp", "MLP"},
                 {"ffn", "MLP"},         {"feed_forward", "MLP"},    {"MergedColumn", "MLP"}, {"gate_up", "MLP"},
                 {"expert", "MLP"},      {"sampl", "sampling"},      {"logits", "sampling"},  {"lm_head", "sampling"},
                 {"embed", "embedding"}, {"norm", "normalization"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcasestr(name, table[i].word)) return table[i].role;
    }
    return NULL;
}

static int64_t depth_at(const struct ids_table *layers, size_t row) {
    return cell(layers, row, "depth").i;
}

static int64_t compute_of(const struct ids_table *layers, size_t row) {
    struct ids_value compute = cell(layers, row, "compute");
    return compute.missing ? 0 : compute.i;
}

/* What the layers compute together. In a collective a device mostly waits for its peers: that is no layer's work. */
static int64_t compute_of_all(const struct ids_table *layers) {
    int64_t all_ps = 0;
    for (size_t row = 0; layers && row < layers->row_count; row++) {
        if (!depth_at(layers, row)) all_ps += compute_of(layers, row);
    }
    return all_ps;
}

static double share_at(const struct ids_table *layers, size_t row, int64_t all_ps) {
    return all_ps > 0 ? (double)compute_of(layers, row) / (double)all_ps : 0;
}

/* Whether most of the layer's time is in layers inside it, and it has most of the time of its own level. */
static int only_holds(const struct ids_table *layers, size_t row, int64_t all_ps) {
    int64_t self_ps = cell(layers, row, "self").i, total_ps = cell(layers, row, "total").i;
    return share_at(layers, row, all_ps) > 0.6 && self_ps < total_ps / 2;
}

/* The row behind the last one inside the layer. */
static size_t end_of(const struct ids_table *layers, size_t row) {
    size_t end = row + 1;
    while (end < layers->row_count && depth_at(layers, end) > depth_at(layers, row)) end++;
    return end;
}

/* Of the compute of all, what the one has that is apart from its siblings; 0: none is. */
static double outlier_at(const struct ids_table *layers, size_t row, int64_t all_ps) {
    struct ids_value outlier = cell(layers, row, "outlier");
    int64_t total_ps = cell(layers, row, "total").i;
    return outlier.missing || total_ps <= 0 ? 0 : share_at(layers, row, all_ps) * (double)outlier.i / (double)total_ps;
}

static struct ids_value each_other_at(const struct ids_table *layers, size_t row, int64_t all_ps) {
    double others = share_at(layers, row, all_ps) - outlier_at(layers, row, all_ps);
    return ids_real_value(IDS_UNIT_RATIO, others / (double)(cell(layers, row, "siblings").i - 1));
}

/* "64 alike" of layers that are written out, "64 of them" of repeated scopes, which are not told by their sum where one
 * is apart. */
static const char *say_many(struct ids_report *report, const struct ids_table *layers, size_t row, int64_t all_ps) {
    struct ids_value siblings = cell(layers, row, "siblings"), alike = cell(layers, row, "alike");
    double outlier = outlier_at(layers, row, all_ps);
    if (outlier > 0)
        return ids_report_text(report, "%lld of them: %s %s, each other %s", (long long)siblings.i,
                               say(report, ids_real_value(IDS_UNIT_RATIO, outlier)), cell(layers, row, "slowest").text,
                               say(report, each_other_at(layers, row, all_ps)));
    if (!siblings.missing && siblings.i > 1) return ids_report_text(report, "%lld of them", (long long)siblings.i);
    if (!alike.missing && alike.i > 1) return ids_report_text(report, "%lld alike", (long long)alike.i);
    return "";
}

static const char *say_rate(struct ids_report *report, const struct ids_table *table, size_t row, const char *rate,
                            const char *share, const char *of) {
    struct ids_value value = cell(table, row, rate), part = cell(table, row, share);
    if (value.missing || value.d <= 0) return "";
    const char *of_peak = part.missing ? ""
                                       : ids_report_text(report, " (%s of peak%s)", say(report, part),
                                                         part.d > 1 ? ", which is too low" : "");
    return ids_report_text(report, "%s%s%s", say(report, value), of, of_peak);
}

/* "memory-bound, 171 GFLOP/s (0.1 % of peak), 1.37 TB/s of memory (83.7 % of peak)" */
static const char *say_bound(struct ids_report *report, const struct ids_table *table, size_t row) {
    struct ids_value bound = cell(table, row, "bound");
    const char *flops = say_rate(report, table, row, "flop_rate", "flops_share", "");
    const char *bytes = say_rate(report, table, row, "bandwidth", "bandwidth_share", " of memory");
    int is_neither = !bound.missing && !strcmp(bound.text, "neither");
    const char *what = bound.missing ? ""
                       : is_neither  ? "bound by neither, "
                                     : ids_report_text(report, "%s-bound, ", bound.text);
    return ids_report_text(report, "%s%s%s%s", what, flops, *flops && *bytes ? ", " : "", bytes);
}

static int is_known(const struct ids_table *layers, size_t row) {
    struct ids_value counted = cell(layers, row, "counted");
    return !counted.missing && counted.i >= cell(layers, row, "total").i / 2;
}

/* Whether most of its time is an estimate. */
static int is_divided(const struct ids_table *layers, size_t row) {
    struct ids_value estimated = cell(layers, row, "estimated");
    return !estimated.missing && estimated.d >= 0.5;
}

static const char *say_layer(struct ids_report *report, const struct ids_table *layers, size_t row, int64_t all_ps) {
    const char *name = cell(layers, row, "scope").text, *role = role_of(name),
               *many = say_many(report, layers, row, all_ps);
    const char *about = role && *many ? ids_report_text(report, " (%s, %s)", role, many)
                        : role        ? ids_report_text(report, " (%s)", role)
                        : *many       ? ids_report_text(report, " (%s)", many)
                                      : "";
    const char *bound = is_known(layers, row)     ? say_bound(report, layers, row)
                        : is_divided(layers, row) ? "mostly fused with other layers"
                                                  : "what most of it computes and moves is not known";
    int is_estimated = !cell(layers, row, "estimated").missing;
    return ids_report_text(report, "%s%s %s%s: %s", is_estimated ? "about " : "",
                           say(report, ids_real_value(IDS_UNIT_RATIO, share_at(layers, row, all_ps))), name, about,
                           bound);
}

const char *ids_layers_in_words(struct ids_report *report) {
    const struct ids_table *layers = ids_report_find_table(report, "layers");
    size_t from = 0, end = layers ? layers->row_count : 0, said = 0;
    const char *words = NULL;
    int known = 0;
    int64_t all_ps = compute_of_all(layers);
    for (int level = 0; level < MOST_LEVELS && from < end && only_holds(layers, from, all_ps); level++) {
        end = end_of(layers, from);
        from++;
    }
    for (size_t row = 0; layers && row < layers->row_count; row++) {
        int is_inside = row >= from && row < end && depth_at(layers, row) == depth_at(layers, from);
        const char *name = cell(layers, row, "scope").text, *role = role_of(name);
        int samples = row >= end && !depth_at(layers, row) && role && !strcmp(role, "sampling") &&
                      share_at(layers, row, all_ps) >= LEAST_SAMPLING;
        if (!samples && (!is_inside || share_at(layers, row, all_ps) < LEAST_SHARE || said >= MOST_LAYERS)) continue;
        words = ids_report_text(report, "%s%s%s", words ? words : "", words ? "; " : "",
                                say_layer(report, layers, row, all_ps));
        known |= is_known(layers, row) || is_divided(layers, row);
        said++;
    }
    return known ? words : NULL;
}

const char *ids_outlier_in_words(struct ids_report *report) {
    const struct ids_table *layers = ids_report_find_table(report, "layers");
    int64_t all_ps = compute_of_all(layers);
    for (size_t row = 0; layers && row < layers->row_count; row++) {
        double outlier = outlier_at(layers, row, all_ps);
        if (outlier < 0.5) continue;
        return ids_report_text(report, "%s (%s, each of the %lld like it %s)", cell(layers, row, "slowest").text,
                               say(report, ids_real_value(IDS_UNIT_RATIO, outlier)),
                               (long long)cell(layers, row, "siblings").i - 1,
                               say(report, each_other_at(layers, row, all_ps)));
    }
    return NULL;
}

/* ---- losses ---- */

static int find(const struct ids_report *report, const char *id, double *ret_value) {
    const struct ids_metric *metric = ids_report_find(report, id, NULL);
    if (!metric || metric->value.missing) return 0;
    *ret_value = metric->value.d;
    return 1;
}

/* What helps against what bounds an op. */
static const char *remedy_of(const char *bound) {
    if (!strcmp(bound, "memory"))
        return "move less: fuse with what makes or takes the data, use smaller types, avoid copies that change the "
               "layout";
    if (!strcmp(bound, "compute"))
        return "larger or better aligned tiles, smaller types where they are exact enough, a library's kernel";
    if (!strcmp(bound, "neither"))
        return "it is below a tenth of both peaks: few or uneven blocks, scattered access, or functions that take many "
               "instructions; profile it apart";
    return "fuse with neighbours, or do more at once";
}

/* Faster ops make a step shorter where they decide it: not where the device waits for half of the time. */
static int is_bound_by_host(const struct ids_report *report) {
    double idle;
    if (ids_is_utilization_unknown(report)) return 0; /* much of it is idle for no reason of its own */
    return find(report, "idle.share", &idle) && idle > 0.5;
}

struct ids_roofline_advice ids_loss_advice(struct ids_report *report) {
    struct ids_roofline_advice none = {NULL, NULL, NULL};
    const struct ids_table *roofline = ids_report_find_table(report, "roofline");
    double loss, judged, all_ps = 0;
    size_t most = 0;
    if (!find(report, "efficiency.roofline_loss", &loss) || !find(report, "efficiency.judged_share", &judged) ||
        loss < LEAST_LOSS || judged < 0.5 || !roofline)
        return none;
    for (size_t row = 0; row < roofline->row_count; row++) {
        struct ids_value lost = cell(roofline, row, "lost"), before = cell(roofline, most, "lost");
        if (lost.missing) continue;
        all_ps += (double)lost.i;
        if (before.missing || lost.i > before.i) most = row;
    }
    struct ids_value lost = roofline->row_count ? cell(roofline, most, "lost") : ids_no_value(IDS_UNIT_TIME);
    if (lost.missing || all_ps <= 0) return none;
    struct ids_value alike = cell(roofline, most, "alike"), bound = cell(roofline, most, "bound");
    const char *ops = alike.missing ? cell(roofline, most, "name").text
                                    : ids_report_text(report, "%s, %lld ops alike", cell(roofline, most, "name").text,
                                                      (long long)alike.i);
    const char *part = say(report, ids_real_value(IDS_UNIT_RATIO, (double)lost.i / all_ps));
    return (struct ids_roofline_advice){
        .op = cell(roofline, most, "name").text,
        .what = ids_report_text(
            report,
            is_bound_by_host(report)
                ? "Ops take longer than at their roofline, by %s of the window (the device mostly waits, so "
                  "that the window would be hardly shorter); %s of that time is lost by %s - %s"
                : "Ops take longer than at their roofline: there the window would be %s shorter; "
                  "%s of that time is lost by %s - %s",
            say(report, ids_real_value(IDS_UNIT_RATIO, loss)), part, ops, remedy_of(bound.missing ? "" : bound.text)),
        .evidence =
            ids_report_text(report, "%s: %s; %s of device time has a roofline", cell(roofline, most, "name").text,
                            say_bound(report, roofline, most), say(report, ids_real_value(IDS_UNIT_RATIO, judged))),
    };
}
