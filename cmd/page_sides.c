#include "cmd/page_sides.h"

#include "lib/run/find_runs.h"
#include "lib/run/open_run.h"
#include "lib/wire/shell_quote.h"

#include <stdio.h>
#include <string.h>

/* Half of what the page of one run may have. */
enum { BUDGET = 700000 };

static int read_one(struct ids_engine *engine, const char *path, const struct ids_params *params,
                    struct ids_picture *picture, struct ids_error *err) {
    struct ids_run_list list;
    struct ids_report report;
    const struct ids_run_files *run = NULL;
    struct ids_params with = *params;
    int code = ids_find_runs(engine, path, &list, err);
    if (code) return code;
    with.picture = picture;
    code = ids_choose_run(&list, NULL, &run, err);
    if (!code && run->number) code = ids_fail(err, IDS_UNSUPPORTED, "a database holds reports, and no timeline");
    if (!code) {
        code = ids_open_run(engine, run, &with, &report, err);
        if (!code) ids_report_done(&report);
    }
    ids_run_list_done(&list);
    return code;
}

int ids_page_sides_read(struct ids_engine *engine, const char *const paths[IDS_PAGE_SIDES],
                        const struct ids_params *params, struct ids_page_sides *ret_sides, struct ids_error *err) {
    static const char *const ids[IDS_PAGE_SIDES] = {"timeline_a", "timeline_b"};
    memset(ret_sides, 0, sizeof *ret_sides);
    for (int s = 0; s < IDS_PAGE_SIDES; s++) {
        struct ids_timeline_page *timeline = &ret_sides->timelines[s];
        struct ids_error *why = &ret_sides->why[s];
        char *extract = ret_sides->extract[s];
        *why = (struct ids_error)IDS_ERROR_INIT;
        ret_sides->pictures[s].budget_bytes = BUDGET;
        *timeline = (struct ids_timeline_page){.picture = &ret_sides->pictures[s], .extract = extract};
        ret_sides->blocks[s] = (struct ids_page_block){ids[s], ids_timeline_write, timeline};
        if (!paths[s]) {
            timeline->missing = "a baseline holds figures, and no timeline";
            continue;
        }
        int used = snprintf(extract, sizeof ret_sides->extract[s], "idsprof extract ");
        ids_shell_quote(paths[s], extract + used, sizeof ret_sides->extract[s] - (size_t)used);
        int code = read_one(engine, paths[s], params, &ret_sides->pictures[s], why);
        if (code == IDS_NOMEM) return ids_no_memory(err);
        if (code) timeline->missing = why->text;
    }
    return 0;
}

void ids_page_sides_done(struct ids_page_sides *sides) {
    for (int s = 0; s < IDS_PAGE_SIDES; s++) ids_picture_done(&sides->pictures[s]);
}
