#include "lib/render/manual.h"

#include "lib/analysis/grades.h"
#include "lib/wire/utf8.h"

#include <string.h>

enum { LINE_BYTES = 78 }; /* mandoc's lint objects to longer ones */

/* Words for one line of roff: special characters escaped. */
static size_t escape_word(const char *word, size_t length, char *buffer, size_t size) {
    size_t used = 0;
    for (size_t at = 0; at < length && used + 12 < size;) {
        uint32_t character;
        int valid;
        at += ids_utf8_next(word + at, length - at, &character, &valid);
        if (character == '\\') {
            used += (size_t)snprintf(buffer + used, size - used, "\\e");
        } else if (character < 0x80) {
            buffer[used++] = (char)character;
        } else {
            used += (size_t)snprintf(buffer + used, size - used, "\\[u%04X]", (unsigned)character);
        }
    }
    buffer[used] = '\0';
    return used;
}

static int ends_sentence(const char *word, size_t length) {
    while (length && strchr(")\"'", word[length - 1])) length--;
    return length > 1 && strchr(".!?", word[length - 1]) != NULL;
}

void ids_manual_text(FILE *out, const char *text) {
    size_t column = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        char word[256];
        size_t bytes = escape_word(text, length, word, sizeof word);
        if (column && column + 1 + bytes > LINE_BYTES) {
            fputc('\n', out);
            column = 0;
        } else if (column) {
            fputc(' ', out);
            column++;
        }
        if (!column && (word[0] == '.' || word[0] == '\'')) fputs("\\&", out);
        fputs(word, out);
        column += bytes;
        if (ends_sentence(text, length)) {
            fputc('\n', out);
            column = 0;
        }
        text += length;
        while (*text == ' ') text++;
    }
    if (column) fputc('\n', out);
}

/* An argument of a macro: punctuation alone and names of macros would mean something there. */
static void put_argument(FILE *out, const char *text) {
    char word[512];
    escape_word(text, strlen(text), word, sizeof word);
    fprintf(out, "%s", word);
}

/* By the standard thresholds. */
static void put_grade(FILE *out, const struct ids_metric_def *metric) {
    struct ids_params params;
    struct ids_grade_rules rules;
    ids_params_default(&params);
    ids_grade_rules_default(&params, &rules);
    const struct ids_grade_rule *rule = ids_grade_rule_find(&rules, metric->id);
    const char *shown = ids_grade_shown(metric->id);
    char text[512];
    if (rule) {
        struct ids_threshold threshold = ids_grade_threshold(rule);
        size_t used = (size_t)snprintf(text, sizeof text, "Graded: ");
        ids_threshold_format(&threshold, text + used, sizeof text - used);
        used = strlen(text);
        if (rule->figures[0])
            snprintf(
                text + used, sizeof text - used,
                "; it, %s and %s are judged, and the worst counts, but where the first step is in no mean, the last",
                rule->figures[1], rule->figures[2]);
        used = strlen(text);
        snprintf(text + used, sizeof text - used, ".");
        ids_manual_text(out, text);
    }
    if (shown) {
        snprintf(text, sizeof text, rule ? "A worse grade of %s counts instead." : "It shows the grade of %s.", shown);
        ids_manual_text(out, text);
    }
}

static void put_metric(FILE *out, const struct ids_metric_def *metric) {
    fputs(".It Sy ", out);
    put_argument(out, metric->id);
    fputs("\n.Em ", out);
    put_argument(out, metric->title);
    if (ids_unit_name(metric->unit)) fprintf(out, " ,\n%s", ids_unit_name(metric->unit));
    if (ids_better_name(metric->better))
        fprintf(out, "%s\n%s is better", ids_unit_name(metric->unit) ? "," : " ,", ids_better_name(metric->better));
    fputs(ids_unit_name(metric->unit) || metric->better ? ".\n.br\n" : " .\n.br\n", out);
    ids_manual_text(out, metric->definition);
    put_grade(out, metric);
}

static void put_table(FILE *out, const struct ids_table_def *table) {
    fputs(".It Sy ", out);
    put_argument(out, table->id);
    fputc('\n', out);
    ids_manual_text(out, table->definition);
    fputs("Columns:\n", out);
    for (int i = 0; i < table->column_count; i++) {
        const struct ids_column_def *column = &table->columns[i];
        const char *unit = ids_unit_name(column->unit);
        const char *end = i + 1 < table->column_count ? "," : ".";
        fputs(".Va ", out);
        put_argument(out, column->id);
        if (unit) {
            fprintf(out, "\n.Pq %s%s%s\n", unit, *end ? " " : "", end);
        } else {
            fprintf(out, " %s\n", end);
        }
    }
}

static void put_section(FILE *out, const struct ids_section *section) {
    fputs(".Ss ", out);
    put_argument(out, section->title);
    fprintf(out, "\n.Fl \\-section Ar %s\n", section->name);
    if (section->metric_count) {
        fputs(".Pp\nMetrics:\n.Bl -tag -width Ds\n", out);
        for (int i = 0; i < section->metric_count; i++) put_metric(out, &section->metrics[i]);
        fputs(".El\n", out);
    }
    if (section->table_count) {
        fputs(".Pp\nTables:\n.Bl -tag -width Ds\n", out);
        for (int i = 0; i < section->table_count; i++) put_table(out, section->tables[i]);
        fputs(".El\n", out);
    }
}

/* What a gap's one cause and a step's parts were called before each moment had an account. */
static void put_changed_ids(FILE *out) {
    static const struct {
        const char *gone, *now;
    } changed[] = {
        {"steps.compute", "steps.work.compute"},
        {"steps.collective", "steps.comm.transfer, steps.comm.wait"},
        {"steps.h2d", "steps.copy.h2d"},
        {"steps.d2h", "steps.copy.d2h"},
        {"steps.other", "steps.copy.d2d, .p2p, .set, .other"},
        {"steps.stalled", "steps.stall.device"},
        {"steps.input", "steps.host.input"},
        {"steps.compile", "steps.host.compile"},
        {"steps.host", "the other steps.host.*"},
        {"steps.idle", "steps.device.*"},
        {"idle.host_late", "idle.host.*"},
        {"idle.host_late.compile", "idle.host.compile"},
        {"idle.host_late.staging", "idle.host.staging"},
        {"idle.host_late.sync", "idle.host.sync"},
        {"idle.host_late.input", "idle.host.input"},
        {"idle.host_late.python", "idle.host.python, idle.host.region"},
        {"idle.host_late.launch_bound", "idle.host.dispatch, idle.host.runtime"},
        {"idle.host_late.not_recorded", "idle.host.unknown"},
        {"idle.in_program", "idle.device.in_program"},
        {"idle.collective_wait", "idle.comm.wait"},
        {"idle.transfer_wait", "idle.copy.*"},
        {"idle.queue", "idle.device.queue"},
        {"idle.not_recorded", "idle.device.unknown"},
        {"idle_causes", "the tables accounts and ledger"},
    };
    fputs(".Sh IDS THAT CHANGED\n", out);
    ids_manual_text(out,
                    "A gap had one cause, and a step had parts of its own. Now each moment of a device belongs to one "
                    "account, also inside a gap, so that the values differ too. The figures that ended in _share are "
                    "gone: the tables accounts and ledger have shares.");
    fputs(".Bl -tag -width Ds\n", out);
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
        fprintf(out, ".It Sy %s\n", changed[i].gone);
        ids_manual_text(out, changed[i].now);
    }
    fputs(".El\n", out);
}

void ids_manual_metrics(const struct ids_section *sections, int count, FILE *out) {
    fputs(".\\\" Made by `idsprof dump --manual` from the definitions in analyzers/. Do not edit.\n"
          ".Dd November 21, 2026\n"
          ".Dt IDSPROF-METRICS 7\n"
          ".Os\n"
          ".Sh NAME\n"
          ".Nm idsprof-metrics\n"
          ".Nd what each number of an idsprof report means\n"
          ".Sh DESCRIPTION\n"
          "Every metric and table of\n"
          ".Xr idsprof-report 1\n"
          "by section, with its id, unit and definition.\n"
          "An id is stable: scripts may rely on it.\n"
          "In JSON and CSV times are in seconds, ratios between 0 and 1.\n"
          "Where a profile lacks what a metric needs, its value is missing and a reason\n"
          "is given; it is never 0 for that.\n"
          ".Pp\n"
          ".Nm idsprof Cm report Ar RUN Fl \\-explain Ar ID\n"
          "prints the definition with the value and the rule of one run.\n",
          out);
    fputs(".Sh SECTIONS\n", out);
    for (int i = 0; i < count; i++) put_section(out, &sections[i]);
    put_changed_ids(out);
    fputs(".Sh SEE ALSO\n.Xr idsprof 1 ,\n.Xr idsprof-report 1\n", out);
}
