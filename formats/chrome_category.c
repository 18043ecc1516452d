#include "formats/chrome_category.h"

#include "lib/model/account.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A category, or with a star what ends in the word behind it. */
static const struct {
    const char *word;
    enum ids_chrome_family family;
} known[] = {
    /* PyTorch since 1.10, and the same of 1.8 and 1.9: "Kernel", "Memcpy" */
    {"kernel", IDS_CHROME_WORK},
    {"*_kernel", IDS_CHROME_WORK},
    {"memcpy", IDS_CHROME_WORK},
    {"*_memcpy", IDS_CHROME_WORK},
    {"memset", IDS_CHROME_WORK},
    {"*_memset", IDS_CHROME_WORK},
    {"*_ccp_events", IDS_CHROME_WORK}, /* MTIA: what its command processor ran */
    {"*_profiler_range", IDS_CHROME_RANGE},
    {"", IDS_CHROME_AROUND},
    {"operator", IDS_CHROME_AROUND},
    {"cpu_op", IDS_CHROME_AROUND},
    {"hpu_op", IDS_CHROME_AROUND},
    {"python_function", IDS_CHROME_AROUND},
    {"user_annotation", IDS_CHROME_AROUND},
    {"*_user_annotation", IDS_CHROME_AROUND},
    {"*_instant_event", IDS_CHROME_AROUND},
    {"runtime", IDS_CHROME_AROUND},
    {"*_runtime", IDS_CHROME_AROUND},
    {"driver", IDS_CHROME_AROUND},
    {"*_driver", IDS_CHROME_AROUND},
    {"*_sync", IDS_CHROME_AROUND},
    {"*_event", IDS_CHROME_AROUND},
    {"*_insight", IDS_CHROME_AROUND},
    {"*_counters", IDS_CHROME_AROUND},
    {"overhead", IDS_CHROME_AROUND},
    {"trace", IDS_CHROME_AROUND},
    {"external_correlation", IDS_CHROME_AROUND},
    {"collective_comm", IDS_CHROME_AROUND},
    {"ac2g", IDS_CHROME_AROUND}, /* arrows, by their names of several years */
    {"async_cpu_to_gpu", IDS_CHROME_AROUND},
    {"async", IDS_CHROME_AROUND},
    {"fwdbwd", IDS_CHROME_AROUND},
    {"forward_backward", IDS_CHROME_AROUND},
    {IDS_ACCOUNT_CATEGORY, IDS_CHROME_ACCOUNT},
};

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int is_word(struct ids_text text, const char *word) {
    size_t length = strlen(word);
    if (text.length != length) return 0;
    for (size_t i = 0; i < length; i++) {
        if (lower(text.at[i]) != word[i]) return 0;
    }
    return 1;
}

static enum ids_chrome_family classify(struct ids_text category) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *word = known[i].word;
        struct ids_text text = category;
        if (*word == '*') {
            size_t length = strlen(++word);
            if (text.length <= length) continue;
            text.at += text.length - length;
            text.length = (uint32_t)length;
        }
        if (is_word(text, word)) return known[i].family;
    }
    return IDS_CHROME_UNKNOWN;
}

/* The place of the category in the list of unknown ones, from 1; 0 where the list is full. */
static uint8_t note_unknown(struct ids_chrome_categories *categories, struct ids_text category) {
    char text[sizeof categories->unknown->text];
    snprintf(text, sizeof text, "%.*s", (int)category.length, category.at);
    size_t i = 0;
    while (i < categories->unknown_count && strcmp(categories->unknown[i].text, text) != 0) i++;
    if (i == IDS_CHROME_CATEGORIES_SHOWN) return 0;
    if (i == categories->unknown_count) {
        categories->unknown_count++;
        memcpy(categories->unknown[i].text, text, sizeof text);
    }
    return (uint8_t)(i + 1);
}

enum ids_chrome_family ids_chrome_family_of(struct ids_chrome_categories *categories, struct ids_text category,
                                            int counts) {
    if (!category.length) return IDS_CHROME_AROUND;
    const unsigned first = (unsigned char)category.at[0], last = (unsigned char)category.at[category.length - 1];
    struct ids_chrome_recent *recent =
        &categories->recent[(first * 7 + last * 3 + category.length) % IDS_CHROME_CATEGORY_PLACES];
    struct ids_chrome_recent fresh = {.length = 0};
    if (recent->length != category.length || memcmp(recent->text, category.at, category.length) != 0) {
        fresh.family = (uint8_t)classify(category);
        if (category.length < IDS_CHROME_CATEGORY_BYTES) {
            memcpy(fresh.text, category.at, category.length);
            fresh.length = (uint8_t)category.length;
            *recent = fresh;
        } else {
            recent = &fresh;
        }
    }
    if (counts && recent->family == IDS_CHROME_UNKNOWN) {
        if (!recent->unknown) recent->unknown = note_unknown(categories, category);
        ++*(recent->unknown ? &categories->unknown[recent->unknown - 1].count : &categories->others);
    }
    return (enum ids_chrome_family)recent->family;
}

uint64_t ids_chrome_unknown(const struct ids_chrome_categories *categories, char *text, size_t size) {
    uint64_t all = categories->others;
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < categories->unknown_count; i++) {
        all += categories->unknown[i].count;
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "%s'%s' %" PRIu64, i ? ", " : "",
                                     categories->unknown[i].text, categories->unknown[i].count);
    }
    if (categories->others && used < size) snprintf(text + used, size - used, ", others %" PRIu64, categories->others);
    return all;
}
