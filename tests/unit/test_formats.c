/* lib/run/format_names.c and the registry: texts about formats come from the formats. */
#include "lib/run/format_names.h"
#include "tests/support/suite.h"

#include <string.h>

START_TEST(a_format_says_all_that_texts_need) {
    ck_assert_int_ge(ids_format_count, 3);
    for (int i = 0; i < ids_format_count; i++) {
        const struct ids_format *format = ids_formats[i];
        ck_assert_msg(format->name && format->title && format->form && format->suffixes && format->bid && format->read,
                      "format %d: %s", i, format->name ? format->name : "without a name");
        /* What is looked for in folders is something that a user may be told to give. */
        ck_assert_msg(!format->suffixes[0] || format->expected, "%s has no `expected`", format->name);
        for (int k = 0; k < i; k++) ck_assert_str_ne(format->form, ids_formats[k]->form);
    }
}
END_TEST

START_TEST(the_message_names_them) {
    char text[512];
    ids_formats_expected(text, sizeof text);
    ck_assert_str_eq(text, "an XSpace profile, *.xplane.pb, a Chrome trace of JAX or PyTorch, *.trace.json, a "
                           "device memory profile of JAX, "
                           "pprof, or a partial, *.idspart (not packed again)");
}
END_TEST

START_TEST(what_names_end_with) {
    static const struct {
        const char *name, *stem, *form; /* form NULL: of no format */
    } table[] = {
        {"host.xplane.pb", "host", "xplane"},
        {"host.xplane.pb.gz", "host", "xplane"},
        {"w.1700.pt.trace.json.gz", "w.1700", "json"},
        {"rank-0.json", "rank-0", "json"},
        {"idle.mini", "idle", NULL},
        {"notes.txt", "notes.txt", NULL},
        {".json", ".json", "json"},
        {"a.b.pb", "a.b", NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *name = table[i].name;
        const struct ids_format *format = ids_format_named(name, 1);
        ck_assert_msg(ids_length_without_format(name, strlen(name)) == strlen(table[i].stem), "%s", name);
        ck_assert_msg(table[i].form ? format && !strcmp(format->form, table[i].form) : !format, "%s", name);
    }
    ck_assert_ptr_nonnull(ids_format_named("a.json", 1));
    ck_assert_ptr_null(ids_format_named("a.json", 0)); /* others use it too */
    ck_assert_ptr_nonnull(ids_format_named("a.trace.json", 0));
}
END_TEST

/* What a comparison says of two formats, and a report of the form that it did not read. */
START_TEST(what_a_format_lacks) {
    size_t said = 0;
    for (int i = 0; i < ids_format_count; i++) {
        const char *lacks = ids_format_lacks(ids_formats[i]->title);
        ck_assert_ptr_eq(lacks, ids_formats[i]->lacks);
        said += lacks && strstr(lacks, " lacks ");
        ck_assert_msg(!lacks || strstr(lacks, " lacks "), "%s: a sentence, not \"%s\"", ids_formats[i]->name, lacks);
    }
    ck_assert_uint_gt(said, 0);
    ck_assert_ptr_null(ids_format_lacks("no such format"));
    ck_assert_ptr_null(ids_format_lacks(""));
}
END_TEST

START_TEST(words_of_endings) {
    static const char *const words[] = {"pb", "XPLANE", "json", "pt", "trace", "gz", "tgz", "zst", "tar", "zip"};
    static const char *const others[] = {"mini", "chrome", "fsdp", "", "p", "pbx"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ck_assert_msg(ids_is_ending_word(words[i], strlen(words[i])), "%s", words[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!ids_is_ending_word(others[i], strlen(others[i])), "%s", others[i]);
}
END_TEST

IDS_RUN_SUITE("formats", a_format_says_all_that_texts_need, the_message_names_them, what_names_end_with,
              what_a_format_lacks, words_of_endings)
