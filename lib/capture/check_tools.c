/* Other tools that may hold what collectors need: CUPTI has one owner, the driver and NVTX load one tool each. */
#include "lib/capture/checkup_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tool {
    const char *process; /* as /proc/PID/comm has it, which keeps 15 bytes */
    const char *id, *title, *what, *remedy;
} tools[] = {
    {"nsys", "tools.nsys", "Nsight Systems", "runs: CUPTI is its own in the programs that it profiles",
     "let it end when GPU windows are skipped"},
    {"ncu", "tools.ncu", "Nsight Compute", "runs: CUPTI is its own in the programs that it profiles",
     "let it end when GPU windows are skipped"},
    {"nv-hostengine", "tools.dcgm", "DCGM", "runs: its profiling metrics and CUPTI may exclude each other",
     "dcgmi profile --pause while capturing, when GPU windows are skipped"},
    {"dcgm-exporter", "tools.dcgm_exporter", "DCGM exporter",
     "runs: its profiling metrics and CUPTI may exclude each other",
     "dcgmi profile --pause while capturing, when GPU windows are skipped"},
};
enum { TOOLS = sizeof tools / sizeof *tools };

static void note_process(void *context, const char *path) {
    unsigned *seen = context;
    char name[32] = "";
    FILE *file = fopen(path, "re");
    if (!file) return; /* it ended meanwhile */
    if (fgets(name, sizeof name, file)) name[strcspn(name, "\n")] = '\0';
    fclose(file);
    for (size_t i = 0; i < TOOLS; i++) *seen |= strcmp(name, tools[i].process) ? 0 : 1u << i;
}

void ids_check_tools(const struct ids_checkup_options *options, struct ids_checkup *checkup) {
    const char *nvtx = getenv("NVTX_INJECTION64_PATH");
    unsigned seen = 0;
    if (nvtx && *nvtx) {
        ids_check_add(checkup, "variables.nvtx", "NVTX_INJECTION64_PATH", IDS_CHECK_NOTE,
                      ids_check_text(checkup, "is '%s': NVTX ranges go to that tool", nvtx),
                      "unset NVTX_INJECTION64_PATH to record NVTX ranges, and for --range in CUDA programs");
    }
    if (!checkup->gpus) return;
    ids_check_files(options->root, "/proc/[0-9]*/comm", note_process, &seen);
    for (size_t i = 0; i < TOOLS; i++) {
        if (seen >> i & 1)
            ids_check_add(checkup, tools[i].id, tools[i].title, IDS_CHECK_NOTE, tools[i].what, tools[i].remedy);
    }
}
