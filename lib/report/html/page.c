#include "lib/report/html/page.h"

#include "lib/report/html/about.h"
#include "lib/report/html/base.js.h"
#include "lib/report/html/charts.js.h"
#include "lib/report/html/compare.js.h"
#include "lib/report/html/packed.h"
#include "lib/report/html/page.css.h"
#include "lib/report/html/page.js.h"
#include "lib/report/html/table.js.h"
#include "lib/report/html/timeline.css.h"
#include "lib/report/html/timeline.js.h"
#include "lib/report/html/timeline_live.js.h"
#include "lib/report/html/timeline_marks.js.h"
#include "lib/report/html/timeline_paint.js.h"
#include "lib/wire/utf8.h"

#include <string.h>

enum { HASH_BYTES = 32 };

struct text {
    const char *at, *sha256; /* in hexadecimal */
};

/* In the order in which they run: the last one makes the page. */
static const struct text scripts[] = {
    {ids_base_js, ids_base_js_sha256},
    {ids_table_js, ids_table_js_sha256},
    {ids_charts_js, ids_charts_js_sha256},
    {ids_compare_js, ids_compare_js_sha256},
    {ids_timeline_marks_js, ids_timeline_marks_js_sha256},
    {ids_timeline_paint_js, ids_timeline_paint_js_sha256},
    {ids_timeline_js, ids_timeline_js_sha256},
    {ids_timeline_live_js, ids_timeline_live_js_sha256},
    {ids_page_js, ids_page_js_sha256},
};
enum { SCRIPTS = sizeof scripts / sizeof *scripts };

static const struct text styles[] = {
    {ids_page_css, ids_page_css_sha256},
    {ids_timeline_css, ids_timeline_css_sha256},
};
enum { STYLES = sizeof styles / sizeof *styles };

/* What is not in the report's default output, but is drawn. */
static const char *const drawn[] = {
    "accounts_by_device", "strips",         "intervals",      "rank_steps", "memory_use",
    "time_by_module",     "time_by_source", "time_by_family", "stacks",     NULL};

static void put_hash(const struct text *text, FILE *out) {
    unsigned char hash[HASH_BYTES] = {0};
    for (size_t i = 0; i < HASH_BYTES; i++) {
        unsigned byte = 0;
        sscanf(text->sha256 + 2 * i, "%2x", &byte);
        hash[i] = (unsigned char)byte;
    }
    fputs(" 'sha256-", out);
    ids_base64_write(hash, sizeof hash, out);
    fputc('\'', out);
}

static void put_elements(const char *name, const struct text *texts, int count, FILE *out) {
    for (int i = 0; i < count; i++) fprintf(out, "<%s>%s</%s>\n", name, texts[i].at, name);
}

const char ids_page_policy[] = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ";
const char ids_page_live_policy[] =
    "<meta name=\"idsprof-live\" content=\"events\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; connect-src 'self'; ";

static void put_policy(FILE *out) {
    fputs(ids_page_policy, out);
    fputs("base-uri 'none'; form-action 'none'; script-src", out);
    for (int i = 0; i < SCRIPTS; i++) put_hash(&scripts[i], out);
    fputs("; style-src", out);
    for (int i = 0; i < STYLES; i++) put_hash(&styles[i], out);
    fputs("\">\n", out);
}

/* The only text of a profile that stands outside of a block. */
static void put_escaped(const char *text, FILE *out) {
    size_t length = strlen(text);
    for (size_t at = 0; at < length;) {
        uint32_t character;
        int valid;
        at += ids_utf8_next(text + at, length - at, &character, &valid);
        if (character >= '0' && character < 0x7f && character != '<' && character != '>')
            fputc((int)character, out);
        else
            fprintf(out, "&#%u;", character < ' ' || character == 0x7f ? (unsigned)'?' : (unsigned)character);
    }
}

static const char *name_of(const struct ids_page *page, const char *property) {
    const struct ids_value *name = page->report ? ids_report_find_property(page->report, property) : NULL;
    return name && !name->missing && name->unit == IDS_UNIT_NONE ? name->text : NULL;
}

/* What the page is of, for a window's title: a run, or two. */
static void put_title(const struct ids_page *page, FILE *out) {
    const char *name = name_of(page, "name"), *a = name_of(page, "a"), *b = name_of(page, "b");
    fputs("<title>", out);
    if (name) {
        put_escaped(name, out);
        fputs(" - ", out);
    } else if (a && b) {
        put_escaped(a, out);
        fputs(" &#8594; ", out);
        put_escaped(b, out);
        fputs(" - ", out);
    }
    fprintf(out, "idsprof %s</title>\n", page->kind);
}

static void begin_block(const char *id, FILE *out) {
    fprintf(out, "<script type=\"text/plain\" id=\"%s\">", id);
}

static void end_block(FILE *out) {
    fputs("</script>\n", out);
}

static int put_report(const struct ids_page *page, FILE *out, struct ids_error *err) {
    begin_block("report", out);
    FILE *packed = ids_packed_open(out);
    int code = packed ? ids_render_json(page->report, page->render, packed, err) : 0;
    int end = ids_packed_close(packed, err);
    end_block(out);
    return code ? code : end;
}

static int put_about(const struct ids_page *page, FILE *out, struct ids_error *err) {
    begin_block("about", out);
    FILE *packed = ids_packed_open(out);
    if (packed) ids_page_about(page->kind, page->report, page->render, packed);
    int code = ids_packed_close(packed, err);
    end_block(out);
    return code;
}

static int put_block(const struct ids_page_block *block, FILE *out, struct ids_error *err) {
    begin_block(block->id, out);
    FILE *packed = ids_packed_open(out);
    int code = packed ? block->write(block->own, packed, err) : 0;
    int end = ids_packed_close(packed, err);
    end_block(out);
    return code ? code : end;
}

int ids_page_write(const struct ids_page *page, FILE *out, struct ids_error *err) {
    struct ids_page whole = *page;
    struct ids_render render = *page->render;
    render.also = drawn;
    whole.render = &render;
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", out);
    put_policy(out);
    fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"generator\" content=\"idsprof " IDS_VERSION "\">\n",
          out);
    put_title(page, out);
    put_elements("style", styles, STYLES, out);
    fputs("</head>\n<body>\n<noscript>This page draws its report with JavaScript, which is switched off."
          "</noscript>\n",
          out);
    int code = page->report ? put_report(&whole, out, err) : 0;
    if (!code) code = put_about(&whole, out, err);
    for (size_t i = 0; i < page->block_count && !code; i++) code = put_block(&page->blocks[i], out, err);
    put_elements("script", scripts, SCRIPTS, out);
    fputs("</body>\n</html>\n", out);
    return code;
}
