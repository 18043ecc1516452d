#include "formats/chrome_survey.h"

#include <stdlib.h>
#include <string.h>

/* Times within this of 0 need no base. */
static const __int128 NEAR_PS = (__int128)1000000 * 1000000 * 1000000;
/* No run is longer: 26 days. */
static const __int128 RUN_PS = (__int128)26 * 86400 * 1000000000000;
enum { NEAR_ENOUGH = 1000 };

/* The phase of metadata, and the key behind which the category stands. */
enum { METADATA, CATEGORY };
static const char *const watched_list[] = {"M\"", "cat\""};
static const struct ids_json_words watched = {watched_list, 2, "Mc"};

/* The element's time, found by its key alone. An arg may have the same key and come first. If its value looks like a
 * time of this file, it can only lower the base. */
static void look_at_time(struct ids_chrome_clock *clock, struct ids_text element) {
    static const char key[] = "\"ts\"";
    if (clock->near_count >= NEAR_ENOUGH) return;
    const char *end = element.at + element.length, *at = ids_json_find(element.at, end, key);
    if (!at) return;
    for (at += sizeof key - 1; at < end && (*at == ' ' || *at == ':'); at++) {
    }
    struct ids_json_scan scan = {at, end, 1, NULL, NULL};
    struct ids_json_span span;
    __int128 ps;
    if (at == end || ids_json_value(&scan, &span) != IDS_JSON_OK || !ids_chrome_time(&span, &ps)) return;
    if (ps < NEAR_PS && ps > -NEAR_PS) {
        clock->near_count += !clock->is_far;
    } else if (!clock->is_far) {
        clock->is_far = 1;
        clock->first_ps = clock->least_ps = ps;
    } else if (ps < clock->least_ps && clock->first_ps - ps < RUN_PS) {
        clock->least_ps = ps;
    }
}

/* What the element's category is: known from its text alone in nearly all. *ret_sure is 0 where only the whole
 * element tells. */
static enum ids_chrome_family look_at_category(struct ids_chrome_survey *survey, const struct ids_json_skip *skip,
                                               const char *end, int *ret_sure) {
    struct ids_json_scan scan = {skip->place[CATEGORY], end, 1, NULL, NULL};
    struct ids_json_span value;
    *ret_sure = !(skip->again >> CATEGORY & 1); /* of two the last one counts */
    if (!(skip->seen >> CATEGORY & 1) || !*ret_sure) return IDS_CHROME_AROUND;
    if (ids_json_space(&scan) != IDS_JSON_OK || *scan.at++ != ':') return IDS_CHROME_AROUND; /* a value */
    if (ids_json_space(&scan) != IDS_JSON_OK || *scan.at != '"') return IDS_CHROME_AROUND;
    *ret_sure = ids_json_value(&scan, &value) == IDS_JSON_OK && !value.escaped;
    if (!*ret_sure) return IDS_CHROME_AROUND;
    return ids_chrome_family_of(survey->categories, (struct ids_text){value.at, (uint32_t)value.length}, 0);
}

/* What a device's event tells of its process. */
static int note_work(struct ids_chrome_survey *survey, const struct ids_chrome_event *event,
                     enum ids_chrome_family family, struct ids_error *err) {
    uint32_t index;
    int code = ids_chrome_process_of(survey->places, &survey->scratch, &event->pid, &index, err);
    if (code) return code;
    struct ids_chrome_process *process = &survey->places->processes[index];
    process->works |= family == IDS_CHROME_WORK;
    process->ranges |= family == IDS_CHROME_RANGE;
    if (family != IDS_CHROME_UNKNOWN) return 0;
    if (ids_chrome_has_arg(event, "stream")) process->strange = 1;
    if (event->phase == 'X' || event->phase == 'B') process->unknown = 1;
    return 0;
}

static int note_accounts(struct ids_chrome_survey *survey, const struct ids_chrome_event *event,
                         struct ids_error *err) {
    uint32_t process, thread;
    int code = ids_chrome_process_of(survey->places, &survey->scratch, &event->pid, &process, err);
    if (!code) code = ids_chrome_thread_of(survey->places, &survey->scratch, process, &event->tid, 0, &thread, err);
    if (!code) survey->places->threads[thread].is_accounts = 1;
    return code;
}

/* What the event tells of its place. */
static int look_at_event(struct ids_chrome_survey *survey, const struct ids_chrome_event *event,
                         struct ids_text element, struct ids_error *err) {
    int known;
    if (event->phase != 'M' && event->cat.type != IDS_JSON_STRING) return 0;
    if (ids_chrome_scratch_reset(&survey->scratch, element.length)) return ids_no_memory(err);
    if (event->phase == 'M') {
        survey->tells = 1;
        int code = ids_chrome_metadata(survey->places, &survey->scratch, event, &known, err);
        if (!code && !known) survey->unknown_metadata++;
        return code;
    }
    enum ids_chrome_family family =
        ids_chrome_family_of(survey->categories, ids_chrome_category(&survey->scratch, event), 0);
    if (family == IDS_CHROME_AROUND) return 0;
    survey->tells = 1;
    return family == IDS_CHROME_ACCOUNT ? note_accounts(survey, event, err) : note_work(survey, event, family, err);
}

static int take_apart(struct ids_chrome_survey *survey, struct ids_text element, struct ids_error *err) {
    struct ids_json_scan scan = {element.at, element.at + element.length, 1, NULL, NULL};
    struct ids_chrome_event event;
    int no_memory;
    survey->parser.used = 0;
    if (ids_chrome_event_read(&scan, &survey->parser, &event, &no_memory) != IDS_JSON_OK)
        return no_memory ? ids_no_memory(err) : 0; /* the second pass says what is wrong with it */
    return look_at_event(survey, &event, element, err);
}

enum ids_json_result ids_chrome_survey_element(struct ids_chrome_survey *survey, struct ids_json_scan *scan,
                                               int *ret_code, struct ids_error *err) {
    struct ids_json_skip skip = {.watched = &watched};
    const char *start = scan->at;
    enum ids_json_result result = ids_json_skip(scan, &skip);
    if (result == IDS_JSON_MORE) scan->at = start;
    if (result != IDS_JSON_OK) return result;
    const struct ids_text element = {start, (uint32_t)(scan->at - start)};
    const int may_name = skip.seen >> METADATA & 1;
    int sure;
    if (!may_name) look_at_time(&survey->clock, element); /* Kineto gives metadata the time 0 */
    if (look_at_category(survey, &skip, scan->at, &sure) != IDS_CHROME_AROUND || !sure || may_name)
        *ret_code = take_apart(survey, element, err);
    return IDS_JSON_OK;
}

int ids_chrome_survey_event(struct ids_chrome_survey *survey, const struct ids_chrome_event *event,
                            struct ids_text element, struct ids_error *err) {
    if (survey->clock.near_count >= NEAR_ENOUGH) return look_at_event(survey, event, element, err);
    struct ids_json_scan scan = {element.at, element.at + element.length, 1, NULL, NULL};
    int code = 0;
    enum ids_json_result result = ids_chrome_survey_element(survey, &scan, &code, err);
    survey->tells |= result != IDS_JSON_OK || survey->clock.is_far;
    return code;
}

void ids_chrome_survey_done(struct ids_chrome_survey *survey) {
    ids_chrome_parser_done(&survey->parser);
    free(survey->scratch.at);
}
