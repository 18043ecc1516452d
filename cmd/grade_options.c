#include "cmd/grade_options.h"

#include "lib/analysis/analyzer.h"
#include "lib/base/quantity.h"
#include "lib/cli/nearest.h"

#include <stdlib.h>
#include <string.h>

static const char *graded_choice(int i) {
    static struct ids_grade_rules rules;
    const struct ids_params params = {0};
    ids_grade_rules_default(&params, &rules);
    return i < IDS_GRADE_RULES ? rules.at[i].metric : NULL;
}

static int no_rule(const char *id, struct ids_error *err) {
    char near[256], graded[512] = "";
    const char *shown = ids_grade_shown(id);
    if (shown) return ids_fail(err, IDS_USAGE, "'%s' shows the grade of '%s'; set that one", id, shown);
    for (int i = 0; graded_choice(i); i++)
        snprintf(graded + strlen(graded), sizeof graded - strlen(graded), "%s%s", i ? ", " : "", graded_choice(i));
    if (ids_metric_def_find(id, NULL))
        return ids_fail(err, IDS_USAGE, "'%s' has no grade (these have: %s)", id, graded);
    if (ids_nearest(id, graded_choice, "", near, sizeof near))
        return ids_fail(err, IDS_USAGE, "no metric '%s'%s", id, near);
    return ids_fail(err, IDS_USAGE, "no metric '%s' (with a grade: %s)", id, graded);
}

static int read_value(const char *text, enum ids_unit unit, struct ids_value *ret_value, struct ids_error *err) {
    *ret_value = (struct ids_value){.unit = (uint8_t)unit};
    if (unit == IDS_UNIT_TIME) return ids_parse_time(text, &ret_value->i, err);
    int code = ids_parse_share(text, &ret_value->d, err);
    return !code && ret_value->d > 1 ? ids_fail(err, IDS_USAGE, "'%s' is above 100 %%", text) : code;
}

static int read_rule(struct ids_grade_rule *rule, char *warn, char *bad, struct ids_error *err) {
    int higher = ids_metric_def_find(rule->metric, NULL)->better == IDS_BETTER_HIGHER;
    struct ids_value values[2];
    int code = read_value(warn, (enum ids_unit)rule->warn.unit, &values[0], err);
    if (!code) code = read_value(bad, (enum ids_unit)rule->bad.unit, &values[1], err);
    if (code) return code;
    double ahead = ids_value_number(values[0]) - ids_value_number(values[1]);
    if (higher ? ahead < 0 : ahead > 0)
        return ids_fail(err, IDS_USAGE, "for '%s' %s is better, so WARN (%s) cannot be %s BAD (%s)", rule->metric,
                        higher ? "higher" : "lower", warn, higher ? "below" : "above", bad);
    rule->warn = values[0];
    rule->bad = values[1];
    return 0;
}

/* ID=WARN,BAD, in a text that is cut there. */
static int read_option(char *text, struct ids_grade_rules *rules, struct ids_error *err) {
    char *warn = strchr(text, '='), *bad = warn ? strchr(warn, ',') : NULL;
    if (!bad) return ids_fail(err, IDS_USAGE, "'%s' is not ID=WARN,BAD, such as device.utilization=90%%,60%%", text);
    *warn++ = *bad++ = '\0';
    struct ids_grade_rule *rule = ids_grade_rule_find(rules, text);
    return rule ? read_rule(rule, warn, bad, err) : no_rule(text, err);
}

int ids_grade_options(const struct ids_opt_texts *texts, struct ids_grade_rules *rules, struct ids_error *err) {
    for (size_t i = 0; i < texts->count; i++) {
        char *text = strdup(texts->at[i]);
        int code = text ? read_option(text, rules, err) : ids_no_memory(err);
        free(text);
        if (code) return ids_error_at(err, "--grade");
    }
    return 0;
}
