#include "lib/run/explanation.h"

#include "lib/analysis/analyzer.h"
#include "lib/base/buffer.h"
#include "lib/events/query.h"
#include "lib/model/account.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The statement with the run's number instead of :run, so that it can be copied. */
static char *with_run(const char *sql, int64_t run) {
    struct ids_buffer text = {0};
    char number[24];
    int digits = snprintf(number, sizeof number, "%" PRId64, run);
    for (const char *at; (at = strstr(sql, ":run")); sql = at + strlen(":run")) {
        ids_buffer_put(&text, sql, (size_t)(at - sql));
        ids_buffer_put(&text, number, (size_t)digits);
    }
    ids_buffer_put(&text, sql, strlen(sql) + 1);
    if (!text.failed) return text.at;
    ids_buffer_done(&text);
    return NULL;
}

static int take_value(struct ids_explanation *explanation, enum ids_unit unit, struct ids_cell cell,
                      struct ids_error *err) {
    struct ids_value *value = &explanation->about.value;
    int is_real = ids_unit_is_real(unit);
    *value = ids_no_value(unit);
    switch (cell.type) {
    case IDS_CELL_NULL:
        return 0;
    case IDS_CELL_TEXT:
        explanation->text = strndup(cell.bytes, cell.length);
        if (!explanation->text) return ids_no_memory(err);
        *value = ids_text_value(explanation->text);
        return 0;
    case IDS_CELL_INT:
        *value = is_real ? ids_real_value(unit, (double)cell.i) : ids_int_value(unit, cell.i);
        return 0;
    case IDS_CELL_REAL:
        *value = is_real ? ids_real_value(unit, cell.d) : ids_int_value(unit, (int64_t)cell.d);
        return 0;
    default:
        return ids_fail(err, IDS_CORRUPT, "damaged database: a blob where a figure was asked for");
    }
}

static int ask(struct ids_explanation *explanation, struct ids_opened_events *events, enum ids_unit unit,
               struct ids_error *err) {
    struct ids_query *query;
    int code = ids_events_query(events, &query, err);
    if (code) return code;
    ids_engine_progress(events->engine, "asking the rows");
    code = ids_query_prepare(query, explanation->sql, err);
    int more = code ? code : ids_query_next(query, err);
    if (more > 0) code = take_value(explanation, unit, ids_query_cell(query, 0), err);
    if (more < 0) code = more;
    if (!more) explanation->about.value = ids_no_value(unit);
    explanation->about.has_value = !code;
    ids_query_free(query);
    ids_engine_progress_end(events->engine);
    return code;
}

static const char *const tables_of_account[] = {"ledger", "intervals", NULL};

static int explain_account(struct ids_explanation *explanation, enum ids_account account, int64_t run) {
    const char *idle = ids_account_idle_id(account);
    if (asprintf(&explanation->definition, "Time in which %s.", ids_account_meaning(account)) < 0) {
        explanation->definition = NULL;
        return -1;
    }
    explanation->figures[0] = ids_account_steps_id(account);
    explanation->figures[1] = idle;
    explanation->topic = (struct ids_topic){.title = ids_account_title(account),
                                            .definition = explanation->definition,
                                            .section = "ledger",
                                            .figures = explanation->figures,
                                            .tables = tables_of_account};
    explanation->about.topic = &explanation->topic;
    return asprintf(&explanation->sql,
                    "SELECT * FROM ledger WHERE run = %" PRId64 " AND account = '%s' ORDER BY dur_ps DESC LIMIT 10",
                    run, ids_account_id(account));
}

int ids_explanation_make(const char *id, struct ids_opened_events *events, const char *command,
                         struct ids_explanation *ret_explanation, struct ids_error *err) {
    const struct ids_metric_def *metric = ids_metric_def_find(id, NULL);
    enum ids_account account = ids_account_of_id(id);
    *ret_explanation = (struct ids_explanation){0};
    if (metric) {
        ret_explanation->sql = with_run(metric->sql, events->run);
    } else if (account != IDS_NO_ACCOUNT) {
        if (explain_account(ret_explanation, account, events->run) < 0) ret_explanation->sql = NULL;
    } else if (asprintf(&ret_explanation->sql, "SELECT * FROM report_%s WHERE run = %" PRId64, id, events->run) < 0) {
        ret_explanation->sql = NULL;
    }
    if (command) ret_explanation->command = strdup(command);
    if (!ret_explanation->sql || (command && !ret_explanation->command)) return ids_no_memory(err);
    ret_explanation->about.sql = ret_explanation->sql;
    if (metric && !events->path) ret_explanation->about.command = ret_explanation->command;
    return metric && events->path ? ask(ret_explanation, events, metric->unit, err) : 0;
}

void ids_explanation_done(struct ids_explanation *explanation) {
    free(explanation->sql);
    free(explanation->command);
    free(explanation->text);
    free(explanation->definition);
}
