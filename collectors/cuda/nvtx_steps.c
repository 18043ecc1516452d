#include "collectors/cuda/nvtx_steps.h"

#include "collectors/common/agent.h"

#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { ANNOTATION = 1, OPEN = 2, PATTERN_BYTES = 256, DIGITS_MAX = 18, TOLD_MAX = 4096 };
static const uint32_t first_id = 0x80000000; /* of ranges; NVTX counts its own from 1 on */

static regex_t pattern;
static int has_pattern;

static struct {
    pthread_mutex_t lock;
    int64_t counted; /* steps without a number, so far */
    int64_t first;   /* of them the first in the window; -1 */
    int opens;       /* a step had the window opened */
    struct {
        int64_t realtime_ns;
        uint32_t thread;
        char name[IDS_NVTX_STEP_NAME + 24];
    } told[TOLD_MAX]; /* of the window, by ids_cuda_step */
    size_t told_count;
} steps = {.lock = PTHREAD_MUTEX_INITIALIZER, .first = -1};

int ids_nvtx_steps_begin(char *why, unsigned long why_size) {
    char text[PATTERN_BYTES], what[128];
    if (has_pattern || ids_agent_plan("step_executable", text, sizeof text) <= 0) return 0;
    int error = regcomp(&pattern, text, REG_EXTENDED | REG_NOSUB);
    if (error) {
        regerror(error, &pattern, what, sizeof what);
        snprintf(why, why_size, "--step-executable '%s': %s", text, what);
        return -1;
    }
    has_pattern = 1;
    return 0;
}

/* Takes the number at the name's end and what separates it from the rest: -1 where there is none. */
static int64_t cut_number(const char *range, size_t *length) {
    size_t end = strlen(range), at = end;
    int64_t number = 0;
    *length = end;
    while (at && range[at - 1] >= '0' && range[at - 1] <= '9') at--;
    if (at == end || end - at > DIGITS_MAX) return -1;
    for (size_t i = at; i < end; i++) number = number * 10 + (range[i] - '0');
    while (at && strchr(" #:_-=.", range[at - 1])) at--;
    if (!at) return -1;
    *length = at;
    return number;
}

static int ends_in(const char *range, size_t length, const char *const *words) {
    for (; *words; words++) {
        size_t word = strlen(*words);
        if (length >= word && !strncasecmp(range + length - word, *words, word)) return 1;
    }
    return 0;
}

static int is_word(const char *range, size_t length, const char *const *words) {
    for (; *words; words++) {
        if (length == strlen(*words) && !strncasecmp(range, *words, length)) return 1;
    }
    return 0;
}

int ids_nvtx_step_of(const char *range, struct ids_nvtx_step *ret_step) {
    static const char *const numbered[] = {"step", "iter", "iteration", NULL};
    static const char *const alone[] = {"step", "train_step", "training_step", "iteration", NULL};
    size_t length;
    if (!range) return 0;
    int64_t number = cut_number(range, &length);
    if (has_pattern ? regexec(&pattern, range, 0, NULL, 0) != 0
                    : !(number >= 0 ? ends_in(range, length, numbered) : is_word(range, length, alone)))
        return 0;
    snprintf(ret_step->name, sizeof ret_step->name, "%.*s", (int)length, range);
    ret_step->number = number;
    return 1;
}

/* The agent hears of the step, and may open a window meanwhile. Whether one was open before. */
static int tell(const char *name, int64_t number) {
    int was_open = ids_agent_state() == OPEN;
    ids_agent_step(ANNOTATION, name, number);
    if (was_open || ids_agent_state() != OPEN) return was_open;
    pthread_mutex_lock(&steps.lock);
    steps.opens = 1;
    pthread_mutex_unlock(&steps.lock);
    return 0;
}

int ids_nvtx_step_begins(const char *range) {
    struct ids_nvtx_step step;
    if (!ids_agent_wants(ANNOTATION) || !ids_nvtx_step_of(range, &step)) return 0;
    if (step.number >= 0) {
        tell(step.name, step.number);
        return 1;
    }
    pthread_mutex_lock(&steps.lock);
    int64_t number = steps.counted++;
    pthread_mutex_unlock(&steps.lock);
    int was_open = tell(step.name, number);
    pthread_mutex_lock(&steps.lock);
    if (ids_agent_state() != OPEN)
        steps.first = -1;
    else if (!was_open || steps.first < 0)
        steps.first = number;
    pthread_mutex_unlock(&steps.lock);
    return 1;
}

int64_t ids_nvtx_steps_first(void) {
    pthread_mutex_lock(&steps.lock);
    int64_t first = steps.first < 0 ? 0 : steps.first;
    pthread_mutex_unlock(&steps.lock);
    return first;
}

int ids_nvtx_steps_open(void) {
    pthread_mutex_lock(&steps.lock);
    int opens = steps.opens;
    pthread_mutex_unlock(&steps.lock);
    return opens;
}

/* ---- steps that another part of the program told ---- */

IDS_AGENT_API int ids_cuda_step(const char *name);
/* A step of this name, which ends in its number, begins: the Python hook tells it of PyTorch's optimizers. 0: nobody
 * waits for steps any more. */
int ids_cuda_step(const char *name) {
    if (ids_nvtx_step_begins(name) && ids_agent_state() == OPEN) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        pthread_mutex_lock(&steps.lock);
        if (steps.told_count < TOLD_MAX) {
            size_t at = steps.told_count++;
            steps.told[at].realtime_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
            steps.told[at].thread = (uint32_t)(uintptr_t)pthread_self(); /* as CUPTI calls it */
            snprintf(steps.told[at].name, sizeof steps.told[at].name, "%s", name);
        }
        pthread_mutex_unlock(&steps.lock);
    }
    return ids_agent_wants(ANNOTATION);
}

void ids_nvtx_steps_reset(void) {
    pthread_mutex_lock(&steps.lock);
    steps.opens = 0;
    steps.told_count = 0;
    pthread_mutex_unlock(&steps.lock);
}

void ids_nvtx_steps_add(struct ids_cuda_records *records, int64_t to_cupti, uint64_t end) {
    pthread_mutex_lock(&steps.lock);
    for (size_t i = 0; i < steps.told_count; i++) {
        struct ids_cupti_marker marker = {.kind = IDS_CUPTI_MARKER,
                                          .flags = IDS_CUPTI_MARKER_START,
                                          .timestamp = (uint64_t)(steps.told[i].realtime_ns + to_cupti),
                                          .id = first_id + (uint32_t)i,
                                          .object_kind = IDS_CUPTI_OBJECT_THREAD,
                                          .object.of_thread.thread = steps.told[i].thread,
                                          .name = steps.told[i].name};
        ids_cuda_records_add(records, (const struct ids_cupti_record *)&marker, sizeof marker);
        marker.flags = IDS_CUPTI_MARKER_END;
        marker.timestamp = i + 1 < steps.told_count ? (uint64_t)(steps.told[i + 1].realtime_ns + to_cupti) : end;
        ids_cuda_records_add(records, (const struct ids_cupti_record *)&marker, sizeof marker);
    }
    steps.told_count = 0;
    pthread_mutex_unlock(&steps.lock);
}
