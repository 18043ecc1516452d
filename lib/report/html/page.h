/* page.h - a report as one HTML file that asks nobody for anything: style, scripts and data are in it.
 *
 * The page is head, style, blocks of data and scripts; the scripts build everything that is seen, with text nodes only,
 * so no name of a profile becomes HTML. A policy in the head allows these scripts by their hashes and forbids requests.
 *
 * A block is <script type="text/plain" id="ID">, gzip in base64 (packed.h): `report` is what --json prints, with the
 * hidden tables that the page draws; `about` is what its ids mean, from the definitions that the manual is made of.
 * page.js gives them to the others: await idsBlock("report").
 */
#ifndef IDS_LIB_REPORT_HTML_PAGE_H
#define IDS_LIB_REPORT_HTML_PAGE_H

#include "lib/report/render.h"

/* One more block of data. `write` writes JSON to the stream, which packs it; it may be called once. */
struct ids_page_block {
    const char *id; /* "timeline" */
    int (*write)(void *own, FILE *out, struct ids_error *err);
    void *own;
};

struct ids_page {
    const char *kind;                /* "report", "diff", ...: which page the scripts make */
    const struct ids_report *report; /* NULL: a block of that id is among the blocks, and there are no sections */
    const struct ids_render *render; /* its sections and its command */
    const struct ids_page_block *blocks;
    size_t block_count;
};

/* With these words a page begins its policy. One that is served may ask who serves it: words that come instead of them,
 * and say so to its scripts. */
extern const char ids_page_policy[], ids_page_live_policy[];

/* Fails only when memory runs out, or a block does; errors of `out` are the caller's to look at. */
int ids_page_write(const struct ids_page *page, FILE *out, struct ids_error *err);

#endif
