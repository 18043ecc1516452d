/* chrome_category.h - what the categories (cat) of a Chrome trace mean, in any case: PyTorch's Kineto has called the
 * same thing by several names, and each maker of devices adds its own. */
#ifndef IDS_FORMATS_CHROME_CATEGORY_H
#define IDS_FORMATS_CHROME_CATEGORY_H

#include "lib/base/intern.h"

#include <stddef.h>
#include <stdint.h>

enum ids_chrome_family {
    IDS_CHROME_AROUND,  /* the host's, or what lies around a device's work: operators, runtime calls, annotations,
                         * waits; or no category */
    IDS_CHROME_WORK,    /* what a device does: kernels, copies, sets */
    IDS_CHROME_RANGE,   /* counters of a hardware profiler by kernel; their times are made up (lib/model/counters.h) */
    IDS_CHROME_ACCOUNT, /* none of the run's: what idsprof found out of it, and wrote for viewers */
    IDS_CHROME_UNKNOWN,
};

enum { IDS_CHROME_CATEGORIES_SHOWN = 8, IDS_CHROME_CATEGORY_BYTES = 32, IDS_CHROME_CATEGORY_PLACES = 32 };

struct ids_chrome_recent {
    char text[IDS_CHROME_CATEGORY_BYTES];
    uint8_t length, family, unknown; /* unknown: index + 1 of the list of these */
};

/* Categories met before, and how many events are of those that are not known. */
struct ids_chrome_categories {
    struct ids_chrome_recent recent[IDS_CHROME_CATEGORY_PLACES];
    struct {
        char text[IDS_CHROME_CATEGORY_BYTES * 2]; /* cut where it is longer */
        uint64_t count;
    } unknown[IDS_CHROME_CATEGORIES_SHOWN];
    size_t unknown_count;
    uint64_t others; /* of unknown categories beyond these */
};

/* `counts`: 1 for an event that is read now, 0 for a look. */
enum ids_chrome_family ids_chrome_family_of(struct ids_chrome_categories *categories, struct ids_text category,
                                            int counts);
/* How many events were counted that are of no known category, and "foo 12, bar 3" of them. */
uint64_t ids_chrome_unknown(const struct ids_chrome_categories *categories, char *text, size_t size);

#endif
