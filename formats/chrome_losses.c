/* chrome_losses.c - what of a Chrome trace could not be kept, as diagnostics: nothing is lost unsaid. */
#include "formats/chrome_reader.h"

#include "lib/model/account.h"

#include <inttypes.h>
#include <stdio.h>

static int say(struct ids_chrome_reader *reader, enum ids_severity severity, const char *id, const char *text,
               int64_t offset, uint64_t count, struct ids_error *err) {
    if (!count) return 0;
    struct ids_diag diag = {severity, id, text, offset, count};
    return reader->sink->ops->diag(reader->sink, &diag, err);
}

/* JAX's converter writes the earliest events up to a limit and says nothing of the rest (docs/trace_facts.md). */
static int say_cap(struct ids_chrome_reader *reader, struct ids_error *err) {
    if (reader->slices != 1000000 && reader->slices != 5000000) return 0;
    char text[256];
    int64_t covered_ps = 0;
    if (reader->last_ps > reader->first_ps && __builtin_sub_overflow(reader->last_ps, reader->first_ps, &covered_ps))
        covered_ps = 0;
    snprintf(text, sizeof text,
             "exactly %" PRIu64
             " events, a limit of the writer: probably only the earliest of them; they cover %" PRId64
             ".%03d s, and the xplane.pb of the run has all",
             reader->slices, covered_ps / 1000000000000, (int)(covered_ps / 1000000000 % 1000));
    return say(reader, IDS_WARNING, "chrome.capped", text, -1, 1, err);
}

/* What nobody here has heard of may be a new device's: it is named, loudly unless the devices are known without it. */
static int say_categories(struct ids_chrome_reader *reader, struct ids_error *err) {
    char names[700], text[900];
    uint64_t count = ids_chrome_unknown(&reader->categories, names, sizeof names);
    int has_device = 0;
    for (size_t i = 0; i < reader->places.process_count; i++)
        has_device |= reader->places.processes[i].opened && reader->places.processes[i].gpu;
    snprintf(text, sizeof text, "events of categories that idsprof does not know: %s", names);
    return say(reader, has_device && !reader->strange_on_device ? IDS_NOTE : IDS_WARNING, "chrome.category", text, -1,
               count, err);
}

int ids_chrome_say_losses(struct ids_chrome_reader *reader, struct ids_error *err) {
    const struct ids_chrome_losses *losses = &reader->losses;
    const struct {
        enum ids_severity severity;
        const char *id, *text;
        uint64_t count;
    } all[] = {
        {IDS_WARNING, "chrome.without_time", "events whose time (ts) is missing, or no number, were left out",
         losses->without_time},
        {IDS_WARNING, "chrome.without_duration",
         "complete events (X) whose duration (dur) is missing, or no number, were taken as moments",
         losses->without_duration},
        {IDS_DAMAGE, "chrome.time_range", "events more than 106 days from the first one were left out",
         losses->out_of_range},
        {IDS_WARNING, "chrome.end_without_begin", "end events (E, e) without a begin were left out",
         losses->without_begin},
        {IDS_WARNING, "chrome.begin_without_end",
         "begun events without an end were taken to last as long as their timeline", losses->without_end},
        {IDS_NOTE, "chrome.phase", "events of an unknown kind (ph) were left out", losses->unknown_phases},
        {IDS_NOTE, "chrome.accounts",
         "events of the category '" IDS_ACCOUNT_CATEGORY
         "' were left out: idsprof gives it to accounts that it adds for viewers, which are not events of the run",
         losses->foreign_accounts},
        {IDS_NOTE, "chrome.metadata", "metadata events (M) of an unknown kind were left out",
         reader->survey.unknown_metadata},
        {IDS_WARNING, "chrome.stray", "elements of traceEvents that are not objects were left out",
         reader->list.strays},
        {IDS_WARNING, "chrome.trailing",
         "something follows the end of the JSON and was not read: of several files in one, each must be read by itself",
         losses->trailing},
        {IDS_NOTE, "chrome.property", "members beside traceEvents that are too large or not JSON were not read",
         reader->properties.unread},
    };
    int code = say_cap(reader, err);
    if (!code) code = say_categories(reader, err);
    if (!code)
        code = say(reader, IDS_DAMAGE, "chrome.broken_value",
                   "elements hold values that are not JSON (a word, a number, an escape or a control character), which "
                   "were taken as they are written",
                   losses->broken_at, losses->broken, err);
    for (size_t i = 0; i < sizeof all / sizeof *all && !code; i++)
        code = say(reader, all[i].severity, all[i].id, all[i].text, -1, all[i].count, err);
    return code;
}

int ids_chrome_say_cut(struct ids_chrome_reader *reader, int64_t cut, struct ids_error *err) {
    const uint64_t length = ids_json_window_offset(&reader->window, reader->scan->end);
    char text[160];
    if ((uint64_t)cut < length)
        snprintf(text, sizeof text,
                 "the file is cut at %" PRIu64 " bytes inside the event at %" PRId64 "; what comes before it was kept",
                 length, cut);
    else
        snprintf(text, sizeof text,
                 "the file is cut at %" PRIu64 " bytes: its JSON is not closed; everything before was kept", length);
    return say(reader, IDS_DAMAGE, "chrome.truncated", text, cut, 1, err);
}
