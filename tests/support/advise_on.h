/* advise_on.h - the report on a text of formats/mini.c, and what it advises. */
#ifndef IDS_TESTS_SUPPORT_ADVISE_ON_H
#define IDS_TESTS_SUPPORT_ADVISE_ON_H

#include "lib/analysis/analysis.h"
#include "tests/support/mini_trace.h"

#include <check.h>
#include <stdio.h>

static struct ids_report report;

static inline void advise_on(const char *text) {
    struct ids_error err = IDS_ERROR_INIT;
    struct ids_params params;
    struct ids_trace *trace = mini_trace(text);
    ids_params_default(&params);
    ids_report_init(&report);
    ck_assert_int_eq(ids_analyze(trace, &params, &report, &err), 0);
    ids_trace_free(trace);
}

/* Steps one after another; each begins on the host with what its letter says, then launches a kernel and waits for
 * nothing:
 *   c compiles g (900 us)    i takes input (900 us)    m the same, from a stage that works    . nothing
 *   g the same, from one of Python's
 *   a is in cudaMalloc (900 us)    d dispatches f (900 us)    l takes input for long (30 ms)
 *   w has no core (30 ms)
 * and the device computes `work_us` after that. */
static inline void record(const char *steps, int first_number, int work_us) {
    enum { SHORT_US = 900, LONG_US = 30000 };
    static char text[1 << 17], device[1 << 15], host[1 << 15];
    size_t on_device = 0, on_host = 0;
    int at = 0;
    for (int step = 0; steps[step]; step++) {
        int begin = at, launch = at + 20;
        static const struct {
            char letter;
            const char *events;
        } doings[] = {{'c', "%dus 900us PjitFunction(g)\n%dus 899us backend_compile_and_load\n"},
                      {'i', "%dus 900us Iterator::Model\n%dus 1us Iterator::Root\n"},
                      {'l', "%dus 30000us Iterator::Model\n%dus 1us Iterator::Root\n"},
                      {'w', "%dus 30000us \"$python wait_for_core\"\n%dus 0us cudaGetDevice\n"},
                      {'m', "%dus 900us Iterator::Model\n%dus 899us Iterator::Model::Map\n"},
                      {'g', "%dus 900us MapDatasetIterator.__next__ _ipl_stage_cat=preprocessing\n%dus 0us Inner\n"},
                      {'d', "%dus 900us PjitFunction(f)\n%dus 0us ParseArguments\n"},
                      {'a', "%dus 900us cudaMalloc\n%dus 0us cudaGetDevice\n"}};
        for (size_t d = 0; d < sizeof doings / sizeof *doings; d++) {
            if (steps[step] != doings[d].letter) continue;
            launch = at + 20 + (steps[step] == 'l' || steps[step] == 'w' ? LONG_US : SHORT_US);
            on_host += (size_t)snprintf(host + on_host, sizeof host - on_host, doings[d].events, at + 10, at + 10);
        }
        on_host += (size_t)snprintf(host + on_host, sizeof host - on_host,
                                    "%dus 1us cudaLaunchKernel correlation_id=%d\n", launch, step + 1);
        on_device += (size_t)snprintf(device + on_device, sizeof device - on_device, "%dus %dus k correlation_id=%d\n",
                                      launch + 2, work_us, step + 1);
        at = launch + 2 + work_us;
        on_host += (size_t)snprintf(host + on_host, sizeof host - on_host, "%dus %dus train step_num=%d _r=1\n", begin,
                                    at - begin, first_number + step);
    }
    snprintf(text, sizeof text, "plane /device:GPU:0\nline 1 \"Stream #1\"\n%splane /host:CPU\nline 9 t\n%s", device,
             host);
    advise_on(text);
}

static inline const struct ids_advice *about(const char *words) {
    for (size_t i = 0; i < report.advice_count; i++) {
        if (strstr(report.advice[i].what, words)) return &report.advice[i];
    }
    return NULL;
}

static inline int first_is(const char *account) {
    return report.advice_count && report.advice[0].account && !strcmp(report.advice[0].account, account);
}

static inline int evidence_has(size_t piece, const char *words) {
    return strstr(report.advice[piece].evidence, words) != NULL;
}

/* Four steps of 1 ms with so many kernels of 20 us back to back, launched in one go at its begin, and one more
 * kernel of no step. */
static const char *plane_stats = "", *kernel_name = "k";

static inline void record_kernels(int a_step, const char *stats, int last_at_us) {
    static char text[1 << 16];
    size_t length = (size_t)snprintf(text, sizeof text, "plane /device:GPU:0 %s\nline 1 \"Stream #1\"\n", plane_stats);
    for (int k = 0; k < 4 * a_step; k++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%dus 20us %s correlation_id=%d %s\n",
                                   1000 * (k / a_step) + 20 * (k % a_step) + 1, kernel_name, k + 1, stats);
    length += (size_t)snprintf(text + length, sizeof text - length, "%dus 20us last\nplane /host:CPU\nline 9 t\n",
                               last_at_us);
    for (int step = 0; step < 4; step++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%dus 1000us train step_num=%d _r=1\n",
                                   1000 * step, step);
    for (int k = 0; k < 4 * a_step; k++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%dus 0us cudaLaunchKernel correlation_id=%d\n",
                                   1000 * (k / a_step), k + 1);
    advise_on(text);
}

#endif
