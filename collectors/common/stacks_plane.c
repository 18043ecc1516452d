#include "collectors/common/stacks_plane.h"

#include "collectors/common/sampled_names.h"
#include "collectors/common/sampled_slices.h"
#include "collectors/common/spells.h"
#include "collectors/common/xspace_lines.h"
#include "collectors/common/xspace_out.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PLANE = 0x1d54, COMMAND = 32, LINE_NAME_BYTES = 96, SECOND_NS = 1000000000 };

void ids_sampled_done(struct ids_sampled *sampled) {
    ids_python_codes_done(&sampled->codes);
    ids_samples_done(&sampled->samples);
}

struct writing {
    const struct ids_sampled *sampled;
    struct ids_sampled_names names;
    struct ids_xspace_out *out;
    const struct ids_sampled_thread *thread; /* whose line is written */
};

static uint32_t names_of_run(void *context, const struct ids_sample_run *run, int64_t *ret_names) {
    struct writing *writing = context;
    const struct ids_python_call *calls = writing->sampled->samples.calls + run->calls;
    char name[IDS_SAMPLED_NAME], told[IDS_SAMPLED_NAME], spells[IDS_SPELLS_AT_ONCE][IDS_SPELL_NAME];
    uint32_t count = 0, spell_count = ids_spells_of(writing->thread->pthread, run, spells);
    for (uint32_t c = run->depth; c-- > 0;) {
        if (c && ids_sampled_is_part(&writing->names, calls[c - 1], calls[c])) continue;
        const char *called = !c || calls[c - 1].from_c ? ids_sampled_called(&writing->names, calls[c]) : NULL;
        if (!c) called = ids_sampled_told(called, run->waits, told);
        /* A "with" in front of a frame calls that one; the lock is what it is when nothing is called. */
        if (c && called && !strcmp(called, "$<unknown> __enter__")) called = NULL;
        ids_sampled_name(&writing->names, calls[c], !c && !called, name);
        ret_names[count++] = ids_xspace_name(writing->out, name);
        if (called) ret_names[count++] = ids_xspace_name(writing->out, called);
    }
    for (uint32_t i = 0; i < spell_count; i++) ret_names[count++] = ids_xspace_name(writing->out, spells[i]);
    if (run->waits == IDS_THREAD_WAITS_FOR_GIL)
        ret_names[count++] = ids_xspace_name(writing->out, "$python wait_for_gil");
    return count;
}

/* By which XLA calls a thread: what libstdc++ makes of its pthread_t as a std::thread::id (MurmurHash64A). */
static uint64_t hash_of(uint64_t pthread) {
    const uint64_t multiplier = 0xc6a4a7935bd1e995u;
    uint64_t hash = 0xc70f6907u ^ 8 * multiplier, data = pthread * multiplier;
    data = (data ^ data >> 47) * multiplier;
    hash = (hash ^ data) * multiplier;
    hash = (hash ^ hash >> 47) * multiplier;
    return hash ^ hash >> 47;
}

/* The number of the thread's own line, by any of the numbers that profilers give threads. */
static uint64_t line_of(const struct ids_xspace_lines *lines, const struct ids_sampled_thread *thread) {
    const uint64_t numbers[] = {hash_of(thread->pthread), thread->pthread, thread->pthread & UINT32_MAX, thread->tid};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i] && ids_xspace_lines_have(lines, numbers[i])) return numbers[i];
    }
    return thread->tid ? thread->tid : thread->pthread;
}

static void name_line(const struct ids_sampled_thread *thread, char name[LINE_NAME_BYTES]) {
    char path[64], command[COMMAND] = "";
    snprintf(path, sizeof path, "/proc/self/task/%llu/comm", (unsigned long long)thread->tid);
    int file = thread->tid ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t length = file >= 0 ? read(file, command, sizeof command - 1) : 0;
    if (file >= 0) close(file);
    command[length > 0 ? length : 0] = '\0';
    command[strcspn(command, "\n")] = '\0';
    snprintf(name, LINE_NAME_BYTES, "%s/%llu", *command ? command : "python",
             (unsigned long long)(thread->tid ? thread->tid : thread->pthread));
}

static int write_line(struct writing *writing, const struct ids_sampled_thread *thread,
                      const struct ids_xspace_lines *lines, const struct ids_sampled_time *time,
                      struct ids_sampled_slices *slices) {
    char name[LINE_NAME_BYTES];
    struct ids_xspace_out *out = writing->out;
    writing->thread = thread;
    slices->wait_name = ids_xspace_name(out, "$python wait_for_core");
    if (ids_sampled_slices_make(slices, thread, time, names_of_run, writing)) return -1;
    name_line(thread, name);
    int64_t zero_ns = lines->zero_ns, base_ns = zero_ns ? 0 : time->begin_ns;
    ids_xspace_line_begin(out, (int64_t)line_of(lines, thread), name, base_ns);
    for (size_t i = 0; i < slices->count; i++) {
        const struct ids_sampled_slice *slice = &slices->at[i];
        if (slice->end_ns <= slice->start_ns) continue;
        ids_xspace_event_begin(out, slice->name, slice->start_ns - zero_ns, slice->end_ns - zero_ns);
        if (slice->samples) {
            ids_xspace_int(out, "samples", slice->samples);
            /* The slice ends between two samples; when they were taken says what was really seen. */
            ids_xspace_int(out, "first_sample_ns", slice->first_ns - slice->start_ns);
            ids_xspace_int(out, "last_sample_ns", slice->last_ns - slice->start_ns);
        }
        ids_xspace_event_end(out);
    }
    ids_xspace_line_end(out);
    return 0;
}

static struct ids_sampled_time time_of(const struct ids_stacks_counts *counts) {
    return (struct ids_sampled_time){counts->begin_ns, counts->end_ns, counts->dense_end_ns, (uint32_t)counts->samples,
                                     (uint32_t)counts->dense};
}

/* What its reader needs to know how sure the times are. */
static void write_periods(struct ids_xspace_out *out, const struct ids_stacks_counts *counts) {
    const struct ids_sampled_time time = time_of(counts);
    ids_xspace_int(out, "samples", counts->samples);
    ids_xspace_int(out, "sampling_period_ns", ids_sampled_period(&time, time.end_ns));
    ids_xspace_int(out, "tells_wakes", 1);
    if (counts->dense && counts->dense < counts->samples) {
        ids_xspace_int(out, "dense_period_ns", ids_sampled_period(&time, time.begin_ns));
        ids_xspace_int(out, "dense_ns", time.dense_end_ns - time.begin_ns);
    }
}

static int write_lines(struct writing *writing, const struct ids_xspace_lines *lines,
                       const struct ids_stacks_counts *counts) {
    const struct ids_samples *samples = &writing->sampled->samples;
    const struct ids_sampled_time time = time_of(counts);
    struct ids_sampled_slices slices = {0};
    int failed = 0;
    for (size_t i = 0; !failed && i < samples->thread_count; i++)
        failed = write_line(writing, &samples->threads[i], lines, &time, &slices);
    ids_sampled_slices_done(&slices);
    return failed;
}

static void write_cores(struct ids_xspace_out *out, const struct ids_core_shares *cores) {
    if (!cores->cores) return;
    ids_xspace_int(out, "cores", cores->cores);
    ids_xspace_int(out, "own_millicores", cores->own);
    ids_xspace_int(out, "started_millicores", cores->started);
    ids_xspace_int(out, "started_processes", cores->started_count);
    ids_xspace_int(out, "others_millicores", cores->others);
    if (*cores->started_command) ids_xspace_text(out, "started_command", cores->started_command);
    if (*cores->others_command) ids_xspace_text(out, "others_command", cores->others_command);
}

int ids_stacks_plane_write(const struct ids_sampled *sampled, const struct ids_stacks_counts *counts, int minor,
                           const char *path, char *why, size_t why_size) {
    struct writing writing = {.sampled = sampled};
    struct ids_xspace_lines lines;
    int failed = ids_xspace_lines_read(path, &lines);
    if (!failed) failed = ids_sampled_names_find(&writing.names, &sampled->codes, minor, &sampled->samples);
    if (failed) snprintf(why, why_size, "no memory for the stacks that were sampled");
    writing.out = failed ? NULL : ids_xspace_open(path, 0, why, why_size);
    if (writing.out) {
        ids_xspace_plane_begin(writing.out, PLANE, "/host:idsprof.stacks");
        write_periods(writing.out, counts);
        if (counts->running_step >= 0) ids_xspace_int(writing.out, "running_step", counts->running_step);
        if (counts->others_ran_ns + counts->others_waited_ns > 0) {
            ids_xspace_int(writing.out, "others_ran_ns", counts->others_ran_ns);
            ids_xspace_int(writing.out, "others_waited_ns", counts->others_waited_ns);
        }
        write_cores(writing.out, &counts->cores);
        if (counts->slow_step >= 0) ids_xspace_int(writing.out, "slow_step", counts->slow_step);
        if (counts->next_step_ns && counts->next_step_ns <= counts->end_ns)
            ids_xspace_int(writing.out, "next_step_ago_ns", counts->end_ns - counts->next_step_ns);
        failed = write_lines(&writing, &lines, counts);
        if (failed) snprintf(why, why_size, "no memory for the stacks that were sampled");
        ids_xspace_plane_end(writing.out);
        failed |= ids_xspace_close(writing.out, NULL, why, why_size);
    } else {
        failed = -1;
    }
    ids_sampled_names_done(&writing.names);
    ids_xspace_lines_done(&lines);
    return failed;
}
