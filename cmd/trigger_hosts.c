#include "cmd/trigger_hosts.h"

#include "cmd/command.h"
#include "lib/remote/asking.h"
#include "lib/remote/job_hosts.h"
#include "lib/remote/listener.h"
#include "lib/report/layout.h"

#include <string.h>

static int find_hosts(const struct ids_trigger_hosts *options, struct ids_hosts *hosts, struct ids_error *err) {
    char port[24] = IDS_LISTENER_PORT;
    if (options->port >= 0) snprintf(port, sizeof port, "%lld", (long long)options->port);
    if (options->file && options->slurm) return ids_fail(err, IDS_USAGE, "--hosts and --slurm exclude each other");
    return options->file ? ids_job_hosts_file(options->file, port, hosts, err)
                         : ids_job_hosts_slurm(options->slurm, port, hosts, err);
}

/* What each process of a host did; how many did not do it. */
static size_t print_host(const struct ids_asked *asked, int stop, size_t *done) {
    struct ids_arena arena = {0};
    size_t failed = 0;
    if (asked->why[0]) {
        printf("%s: %s%s%s\n", asked->host->name, ids_text_clean(&arena, asked->why), asked->remedy ? "; " : "",
               asked->remedy ? asked->remedy : "");
        failed++;
    } else if (!asked->process_count) {
        printf("%s: no process has imported jax yet\n", asked->host->name);
        failed++;
    }
    for (size_t i = 0; i < asked->process_count; i++) {
        const struct ids_asked_process *process = &asked->processes[i];
        const char *text = ids_text_clean(&arena, process->text);
        if (process->is_done) {
            printf("%s: %lld: window %s is %s\n", asked->host->name, (long long)process->pid, text,
                   stop ? "closed" : "open");
            ++*done;
        } else {
            printf("%s: %lld: %s\n", asked->host->name, (long long)process->pid, text);
            failed++;
        }
    }
    ids_arena_done(&arena);
    return failed;
}

int ids_trigger_hosts(const struct ids_trigger_hosts *options, const char *request, struct ids_error *err) {
    struct ids_hosts hosts = {0};
    struct ids_asking asking = {0};
    char token[IDS_TOKEN_BYTES];
    size_t failed = 0, done = 0;
    int code = find_hosts(options, &hosts, err);
    if (!code) code = ids_token_read(options->token, 0, token, err);
    if (!code) code = ids_asking_run(&hosts, token, request, &asking, err);
    for (size_t i = 0; !code && i < asking.count; i++)
        failed += print_host(&asking.at[i], !strcmp(request, "stop"), &done);
    ids_asking_done(&asking);
    ids_hosts_done(&hosts);
    return code ? code : failed || !done ? IDS_EXIT_NO : IDS_EXIT_DONE;
}
