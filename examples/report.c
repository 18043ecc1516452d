/* What the devices of a run waited for longest: cc report.c $(pkg-config --cflags --libs idsprof); ./a.out RUN */
#include <idsprof.h>
#include <stdio.h>

static const char sql[] =
    "SELECT account, culprit, sum(dur_ps) / 1e9 FROM ledger GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 5";

int main(int argc, char **argv) {
    struct idsprof_error err;
    idsprof_run *run = NULL;
    idsprof_query *query = NULL;
    const char *json = NULL;
    int more = 0;
    int code = argc == 2 ? idsprof_open(argv[1], NULL, &run, &err) : IDSPROF_USAGE;
    if (argc != 2) snprintf(err.text, sizeof err.text, "usage: report RUN");
    if (!code) code = idsprof_report_json(run, &json, &err);
    if (!code) printf("idsprof %s: a report of %s\n", idsprof_version(), json[0] == '{' ? "JSON" : "something else");
    if (!code) code = idsprof_query_open(run, sql, &query, &err);
    while (!code && (more = idsprof_query_next(query, &err)) > 0) {
        const struct idsprof_value culprit = idsprof_query_value(query, 1);
        printf("%-20s %-40.*s %10.3f ms\n", idsprof_query_value(query, 0).bytes, (int)culprit.length,
               culprit.bytes ? culprit.bytes : "", idsprof_query_value(query, 2).real);
    }
    if (more < 0) code = more;
    if (code) fprintf(stderr, "report: %s\n", err.text);
    idsprof_query_close(query);
    idsprof_close(run);
    return code != IDSPROF_OK;
}
