/* chrome_survey.h - the first pass over a Chrome trace: what must be known before its events are read, and may stand
 * behind them. Names of processes and threads, whose processes are devices, and from when times count. Most elements
 * are only skipped. */
#ifndef IDS_FORMATS_CHROME_SURVEY_H
#define IDS_FORMATS_CHROME_SURVEY_H

#include "formats/chrome_category.h"
#include "formats/chrome_places.h"

/* JAX's times begin near 0, Kineto's count from boot or from 1970, and then all are counted from the least of them
 * (viewers drop what lies before 0). A host event of Kineto may have time 0 nevertheless. */
struct ids_chrome_clock {
    int is_far;
    unsigned near_count; /* times near 0 before any that is far; where they are many nobody looks on */
    __int128 first_ps, least_ps;
};

/* {0} but for the pointers at first. */
struct ids_chrome_survey {
    struct ids_chrome_places *places;
    struct ids_chrome_categories *categories;
    struct ids_chrome_parser parser;
    struct ids_chrome_scratch scratch;
    struct ids_chrome_clock clock;
    uint64_t unknown_metadata;
    int tells; /* an element told something of a place or of the clock; whoever wants to know sets it to 0 */
};

/* Passes the element at whose bracket the scan stands; IDS_JSON_MORE leaves the scan where it was. */
enum ids_json_result ids_chrome_survey_element(struct ids_chrome_survey *survey, struct ids_json_scan *scan,
                                               int *ret_code, struct ids_error *err);
/* The same for one that was taken apart, where no first pass is made. */
int ids_chrome_survey_event(struct ids_chrome_survey *survey, const struct ids_chrome_event *event,
                            struct ids_text element, struct ids_error *err);
void ids_chrome_survey_done(struct ids_chrome_survey *survey);

#endif
