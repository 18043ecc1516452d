#include "cmd/command.h"
#include "lib/capture/checkup.h"
#include "lib/capture/home.h"
#include "lib/cli/terminal.h"
#include "lib/report/layout.h"
#include "lib/wire/json_writer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TITLE_COLUMNS = 22, STATE_COLUMNS = 9, INDENT = 2 + TITLE_COLUMNS + STATE_COLUMNS };

struct doctor_options {
    const char *python, *output;
    int json;
};

#define AT(field) offsetof(struct doctor_options, field)
static const struct ids_opt opts[] = {
    {IDS_OPT_TEXT, 'p', "python", "PROGRAM", "the Python to check (python, else python3, of PATH)", AT(python), NULL},
    {IDS_OPT_TEXT, 'o', "output", "DIR", "the folder for captures (PROFILE_DIR, else profiles)", AT(output), NULL},
    {IDS_OPT_FLAG, 'j', "json", NULL, "print JSON", AT(json), NULL},
};

/* ---- text ---- */

static void print_verdict(const struct ids_checkup *checkup) {
    static const char *const names[] = {"gpu", "tpu", "cpu"}, *const words[] = {"GPUs", "TPUs", "the CPU"};
    if (!ids_checkup_can(checkup, 0)) {
        puts("idsprof capture would record nothing here:");
        return;
    }
    printf("idsprof capture records jax %s here, on ", checkup->jax);
    for (int i = 0; ids_checkup_can(checkup, i); i++) {
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            if (!strcmp(ids_checkup_can(checkup, i), names[n])) printf("%s%s", i ? " and " : "", words[n]);
        }
    }
    putchar('\n');
}

static void print_text(const struct ids_checkup *checkup) {
    struct ids_arena arena = {0};
    int width = ids_terminal_width(0);
    print_verdict(checkup);
    putchar('\n');
    for (size_t i = 0; i < checkup->count; i++) {
        const struct ids_finding *finding = &checkup->findings[i];
        printf("  %-*s%-*s", TITLE_COLUMNS, finding->title, STATE_COLUMNS, ids_check_state_name(finding->state));
        ids_text_wrap(stdout, ids_text_clean(&arena, finding->what), INDENT, INDENT, width);
        if (!finding->remedy) continue;
        printf("%*s-> ", INDENT, "");
        ids_text_wrap(stdout, ids_text_clean(&arena, finding->remedy), INDENT + 3, INDENT + 3, width);
    }
    ids_arena_done(&arena);
}

/* ---- JSON ---- */

static void print_json(const struct ids_checkup *checkup) {
    struct ids_json json = ids_json_to(stdout);
    ids_json_object(&json, IDS_JSON_BROKEN);
    ids_json_key(&json, "schema");
    ids_json_uint(&json, 1);
    ids_json_key(&json, "can");
    ids_json_array(&json, IDS_JSON_INLINE);
    for (int i = 0; ids_checkup_can(checkup, i); i++) ids_json_text(&json, ids_checkup_can(checkup, i));
    ids_json_end(&json);
    ids_json_key(&json, "findings");
    ids_json_array(&json, IDS_JSON_BROKEN);
    for (size_t i = 0; i < checkup->count; i++) {
        const struct ids_finding *finding = &checkup->findings[i];
        ids_json_object(&json, IDS_JSON_INLINE);
        ids_json_key(&json, "id");
        ids_json_text(&json, finding->id);
        ids_json_key(&json, "state");
        ids_json_text(&json, ids_check_state_name(finding->state));
        ids_json_key(&json, "what");
        ids_json_text(&json, finding->what);
        ids_json_key(&json, "do");
        ids_json_text(&json, finding->remedy);
        ids_json_end(&json);
    }
    ids_json_end(&json);
    ids_json_end(&json);
}

/* ---- */

/* Whether a shell would find a program of this name. */
static int is_in_path(const char *name) {
    const char *at = getenv("PATH");
    char path[4096];
    for (; at && *at; at += strcspn(at, ":"), at += *at == ':') {
        int length = (int)strcspn(at, ":");
        if (snprintf(path, sizeof path, "%.*s/%s", length, at, name) < (int)sizeof path && !access(path, X_OK))
            return 1;
    }
    return 0;
}

static int doctor_run(const void *values, char *const *operands, int operand_count, struct ids_error *err) {
    (void)operands;
    (void)operand_count;
    const struct doctor_options *asked = values;
    struct ids_capture_home home;
    struct ids_error no_home = IDS_ERROR_INIT;
    struct ids_checkup checkup;
    const char *variable = getenv("PROFILE_DIR");
    int has_home = !ids_capture_home(&home, &no_home);
    struct ids_checkup_options options = {
        .root = "",
        .home = has_home ? home.path : NULL,
        .why_no_home = no_home.text,
        .python = asked->python          ? asked->python
                  : is_in_path("python") ? "python"
                                         : "python3",
        .output = asked->output           ? asked->output
                  : variable && *variable ? variable
                                          : "profiles",
    };
    int code = ids_checkup(&options, &checkup, err);
    if (code) return code;
    if (asked->json) {
        print_json(&checkup);
    } else {
        print_text(&checkup);
    }
    int status = ids_checkup_can(&checkup, 0) ? IDS_EXIT_DONE : IDS_EXIT_NO;
    ids_checkup_done(&checkup);
    return status;
}

const struct ids_command ids_doctor_command = {
    .operands = "",
    IDS_OPTIONS(opts),
    .values_bytes = sizeof(struct doctor_options),
    .run = doctor_run,
};
