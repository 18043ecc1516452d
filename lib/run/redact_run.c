#include "lib/run/redact_run.h"

#include "lib/analysis/history_tables.h"
#include "lib/export/contents.h"
#include "lib/run/file_name.h"
#include "lib/run/format_names.h"
#include "lib/run/read_run.h"

#include <stdio.h>
#include <string.h>

/* PyTorch calls a file "host_4321.1700000000": the host is learned by itself too. */
static void learn_stem(struct ids_redactor *redactor, const char *path, struct ids_buffer *scratch) {
    char stem[IDS_STEM_BYTES];
    ids_profile_stem(path, stem, sizeof stem);
    ids_redact(redactor, (struct ids_text){stem, (uint32_t)strlen(stem)}, IDS_REDACT_HOST, scratch);
    const char *process = strrchr(stem, '_');
    if (process && process[1] && !process[1 + strspn(process + 1, "0123456789.")])
        ids_redactor_learn(redactor, (struct ids_text){stem, (uint32_t)(process - stem)});
}

static int read_file(const struct ids_run_file *file, struct ids_redactor *redactor, struct ids_error *err) {
    struct ids_contents contents;
    struct ids_redacting *redacting = NULL;
    struct ids_buffer scratch = {0};
    const char *title;
    learn_stem(redactor, file->path, &scratch);
    int code = ids_contents_init(&contents, err);
    if (!code) code = ids_redacting_new(&contents.sink, redactor, &redacting, err);
    if (!code) code = ids_read_run_file(file, ids_redacting_sink(redacting), &title, err);
    if (!code && (scratch.failed || redactor->failed)) code = ids_no_memory(err);
    ids_redacting_free(redacting);
    ids_contents_done(&contents);
    ids_buffer_done(&scratch);
    return code;
}

int ids_redactor_read(const struct ids_engine *engine, const struct ids_run_files *run, struct ids_redactor *redactor,
                      struct ids_error *err) {
    int code = 0;
    if (run->number)
        return ids_fail(err, IDS_USAGE, "'%s': a database cannot be redacted; give the profile itself", run->path);
    if (!strcmp(run->path, "-"))
        return ids_fail(err, IDS_USAGE, "--redact reads the run twice, which standard input does not allow");
    redactor->learns = 1;
    for (size_t i = 0; i < run->file_count && !code; i++) {
        ids_engine_progress(engine, "looking for names in %.80s", ids_file_name(run->files[i].path));
        code = read_file(&run->files[i], redactor, err);
    }
    redactor->learns = 0;
    return code;
}

int ids_redacted_stem(struct ids_redactor *redactor, const struct ids_run_files *run, size_t file, char *buffer,
                      size_t room, struct ids_error *err) {
    char stem[IDS_STEM_BYTES];
    struct ids_buffer word = {0};
    ids_profile_stem(run->files[file].path, stem, sizeof stem);
    ids_redact(redactor, (struct ids_text){stem, (uint32_t)strlen(stem)}, IDS_REDACT_HOST, &word);
    ids_buffer_byte(&word, '\0');
    int code = word.failed ? ids_no_memory(err) : 0;
    if (!code && run->file_count > 1 && strcmp(word.at, stem) != 0)
        snprintf(buffer, room, "%04zu-%s", file, word.at);
    else if (!code)
        snprintf(buffer, room, "%s", word.at);
    ids_buffer_done(&word);
    return code;
}

/* ---- the report ---- */

struct texts {
    struct ids_redactor *redactor;
    struct ids_report *report;
    struct ids_buffer scratch;
};

static void redact_text(struct texts *texts, const char **text, enum ids_redacted_kind kind) {
    if (!*text || !**text) return;
    texts->scratch.length = 0;
    ids_redact(texts->redactor, (struct ids_text){*text, (uint32_t)strlen(*text)}, kind, &texts->scratch);
    ids_buffer_byte(&texts->scratch, '\0');
    if (texts->scratch.failed)
        texts->report->out_of_memory = 1;
    else if (strcmp(*text, texts->scratch.at) != 0)
        *text = ids_report_text(texts->report, "%s", texts->scratch.at);
}

static void redact_value(struct texts *texts, struct ids_value *value, enum ids_redacted_kind kind) {
    if (value->unit == IDS_UNIT_NONE && !value->missing) redact_text(texts, &value->text, kind);
}

static void redact_property(struct texts *texts, struct ids_property *property) {
    static const struct {
        const char *id;
        enum ids_redacted_kind kind;
    } kinds[] = {{"name", IDS_REDACT_HOST},
                 {"path", IDS_REDACT_HOST},
                 {"process", IDS_REDACT_HOST},
                 {"format", IDS_REDACT_KINDS}}; /* ours as a whole, though it names endings of files */
    enum ids_redacted_kind kind = IDS_REDACT_TEXT;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!strcmp(property->id, kinds[i].id)) kind = kinds[i].kind;
    }
    if (kind != IDS_REDACT_KINDS) redact_value(texts, &property->value, kind);
}

/* Columns whose texts did not come through the redacting sink, because a profile has none of them. */
static enum ids_redacted_kind kind_of_column(const struct ids_table_def *table, int column) {
    static const struct {
        const struct ids_table_def *table;
        const char *column;
        enum ids_redacted_kind kind;
    } from_elsewhere[] = {{&ids_history_table, "process", IDS_REDACT_HOST},
                          {&ids_slow_steps_table, "process", IDS_REDACT_HOST},
                          {&ids_slow_steps_table, "what", IDS_REDACT_NAME}};
    for (size_t i = 0; i < sizeof from_elsewhere / sizeof *from_elsewhere; i++) {
        if (from_elsewhere[i].table == table && !strcmp(table->columns[column].id, from_elsewhere[i].column))
            return from_elsewhere[i].kind;
    }
    return IDS_REDACT_SAID;
}

static void redact_table(struct texts *texts, struct ids_table *table) {
    for (int column = 0; column < (int)table->def->column_count; column++) {
        enum ids_redacted_kind kind = kind_of_column(table->def, column);
        for (size_t row = 0; row < table->row_count; row++)
            redact_value(texts, &table->cells[row * (size_t)table->def->column_count + (size_t)column], kind);
    }
}

int ids_redact_report(struct ids_redactor *redactor, struct ids_report *report, struct ids_error *err) {
    struct texts texts = {.redactor = redactor, .report = report};
    for (size_t i = 0; i < report->property_count; i++) redact_property(&texts, &report->properties[i]);
    for (size_t i = 0; i < report->metric_count; i++) {
        redact_value(&texts, &report->metrics[i].value, IDS_REDACT_SAID);
        redact_text(&texts, &report->metrics[i].reason, IDS_REDACT_SAID);
        redact_text(&texts, &report->metrics[i].rule, IDS_REDACT_SAID);
    }
    for (size_t t = 0; t < report->table_count; t++) redact_table(&texts, &report->tables[t]);
    for (size_t i = 0; i < report->advice_count; i++) {
        struct ids_advice *advice = &report->advice[i];
        const char **const words[] = {&advice->culprit, &advice->where, &advice->what, &advice->evidence};
        for (size_t w = 0; w < sizeof words / sizeof *words; w++) redact_text(&texts, words[w], IDS_REDACT_SAID);
    }
    for (size_t i = 0; i < report->diag_count; i++) redact_text(&texts, &report->diags[i].text, IDS_REDACT_SAID);
    ids_buffer_done(&texts.scratch);
    return ids_report_check(report, err);
}
