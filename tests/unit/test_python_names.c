/* What sampled functions are called: with their class, and what has no name of its own as the function around it. */
#include "collectors/common/cells.h"
#include "collectors/common/python_names.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct named {
    const char *qualified, *name;
};

START_TEST(out_of_qualified_names) {
    static const struct named table[] = {
        {"main", "main"},
        {"Trainer.fit", "Trainer.fit"},
        {"Outer.Inner.fit", "Outer.Inner.fit"},
        {"<module>", "<module>"},
        {"f.<locals>.g", "g"},
        {"f.<locals>.Hook.write", "Hook.write"},
        {"f.<locals>.g.<locals>.h", "h"},
        {"Trainer.fit.<locals>.<listcomp>", "Trainer.fit"},
        {"Trainer.fit.<locals>.<lambda>", "Trainer.fit"},
        {"f.<locals>.<dictcomp>.<setcomp>", "f"},
        {"f.<locals>.<genexpr>.<locals>.<lambda>", "f"},
        {"f.<locals>.g.<locals>.<lambda>.<locals>.<listcomp>", "g"},
        {"<listcomp>", "<module>"},
        {"<genexpr>.<listcomp>", "<module>"},
        {"Trainer.<listcomp>", "Trainer"}, /* of a class's body */
        {"<lambda>", "<lambda>"},          /* others call it */
        {"Trainer.<lambda>", "Trainer.<lambda>"},
        {"<lambda>.<locals>.<listcomp>", "<lambda>"},
        {"", "<module>"},
        {".<locals>.", ""}, /* none of Python's */
        {".<locals>.<listcomp>", "<module>"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char name[IDS_PYTHON_NAME];
        ids_python_short_name(table[i].qualified, name);
        ck_assert_msg(!strcmp(name, table[i].name), "%s: '%s'", table[i].qualified, name);
    }
}
END_TEST

START_TEST(names_of_any_length) {
    char qualified[1000], name[IDS_PYTHON_NAME];
    memset(qualified, 'x', sizeof qualified);
    qualified[sizeof qualified - 1] = '\0';
    ids_python_short_name(qualified, name);
    ck_assert_uint_eq(strlen(name), IDS_PYTHON_NAME - 1);
    for (size_t i = 0; i + 11 < sizeof qualified; i += 11) memcpy(qualified + i, "<listcomp>.", 11);
    ids_python_short_name(qualified, name);
    ck_assert_uint_lt(strlen(name), IDS_PYTHON_NAME);
    /* of a character of 1 to 4 bytes only the whole one is in the last places */
    const char *const letters[] = {"x", "\u00d7", "\u2192", "\U0001f600"};
    for (size_t l = 0; l < 4; l++) {
        size_t size = strlen(letters[l]);
        for (size_t fits = 1; fits <= size; fits++) {
            memset(qualified, 'y', IDS_PYTHON_NAME - 1 - fits);
            memcpy(qualified + IDS_PYTHON_NAME - 1 - fits, letters[l], size + 1);
            ids_python_short_name(qualified, name);
            ck_assert_uint_eq(strlen(name), IDS_PYTHON_NAME - 1 - (fits < size ? fits : 0));
        }
    }
}
END_TEST

START_TEST(what_is_a_part) {
    ck_assert_int_eq(ids_python_is_inline("<listcomp>"), 1);
    ck_assert_int_eq(ids_python_is_inline("<genexpr>"), 1);
    ck_assert_int_eq(ids_python_is_inline("<lambda>"), 1);
    ck_assert_int_eq(ids_python_is_inline("<module>"), 0);
    ck_assert_int_eq(ids_python_is_inline("listcomp"), 0);
}
END_TEST

/* --- Python before 3.11: by the source -------------------------------------------------------------------------- */

static const char source[] = "import os\n"                            /* 1 */
                             "class Trainer(Base):\n"                 /* 2 */
                             "    def __init__(self,\n"               /* 3 */
                             "                 more\n"                /* 4 */
                             "    ):\n"                               /* 5 */
                             "        self.more = more\n"             /* 6 */
                             "\n"                                     /* 7 */
                             "# a comment far left\n"                 /* 8 */
                             "    async def fit(self):\n"             /* 9 */
                             "        if self.more:\n"                /* 10 */
                             "            return [x for x in y]\n"    /* 11 */
                             "        def inner():\n"                 /* 12 */
                             "            class Hook:\n"              /* 13 */
                             "                @staticmethod\n"        /* 14 */
                             "                def write(): pass\n"    /* 15 */
                             "            return lambda: 1\n"         /* 16 */
                             "        return inner\n"                 /* 17 */
                             "def classic(): return {a for a in b}\n" /* 18 */
                             "rows = [x for x in y]\n";               /* 19: of the module */

static void check_name(struct ids_python_sources *sources, char *path, const char *own, int line, const char *wanted) {
    struct ids_python_code code = {.first_line = line, .file = path, .name = (char *)(uintptr_t)own};
    char name[IDS_PYTHON_NAME];
    ids_python_name(sources, &code, name);
    ck_assert_msg(!strcmp(name, wanted), "%s of line %d: '%s', not '%s'", own, line, name, wanted);
}

START_TEST(out_of_the_source) {
    char path[] = "/tmp/idsprof-names-XXXXXX", missing[] = "/nowhere/train.py";
    int file = mkstemp(path);
    ck_assert_int_eq(write(file, source, sizeof source - 1), sizeof source - 1);
    close(file);
    struct ids_python_sources sources = {0};
    check_name(&sources, path, "<module>", 1, "<module>");
    check_name(&sources, path, "__init__", 3, "Trainer.__init__");
    check_name(&sources, path, "fit", 9, "Trainer.fit");
    check_name(&sources, path, "<listcomp>", 11, "Trainer.fit");
    check_name(&sources, path, "inner", 12, "inner");
    check_name(&sources, path, "write", 14, "Hook.write");
    check_name(&sources, path, "<lambda>", 16, "inner");
    check_name(&sources, path, "classic", 18, "classic");
    check_name(&sources, path, "<setcomp>", 18, "classic");
    check_name(&sources, path, "<listcomp>", 19, "<module>");
    check_name(&sources, path, "late", 1000, "late"); /* the file was changed */
    check_name(&sources, missing, "fit", 9, "fit");
    check_name(&sources, missing, "<listcomp>", 9, "<module>");
    ids_python_sources_done(&sources);
    unlink(path);
}
END_TEST

START_TEST(qualified_before_the_source) {
    struct ids_python_sources sources = {0};
    char file[] = "/nowhere/train.py", own[] = "fit", qualified[] = "f.<locals>.Trainer.fit";
    struct ids_python_code code = {.first_line = 3, .file = file, .name = own, .qualified = qualified};
    char name[IDS_PYTHON_NAME];
    ids_python_name(&sources, &code, name);
    ck_assert_str_eq(name, "Trainer.fit");
    ck_assert_uint_eq(sources.count, 0);
    ids_python_sources_done(&sources);
}
END_TEST

/* A cell's text is in no file; the cell of the last run counts. */
START_TEST(out_of_a_cell) {
    char path[] = "/tmp/ipykernel_17/2519163894.py", called[IDS_CELL_CALLED];
    struct ids_python_sources sources = {0};
    ids_cells_add(path, "In[3]", "x = 1\n");
    ids_cells_add(path, "In[4]", source);
    check_name(&sources, path, "fit", 9, "Trainer.fit");
    ids_python_sources_done(&sources);
    ck_assert(ids_cells_called(path, called));
    ck_assert_str_eq(called, "In[4]");
    ck_assert(!ids_cells_called("/tmp/ipykernel_17/other.py", called));
    ids_cells_forked();
    ck_assert(ids_cells_called(path, called));
}
END_TEST

/* Neither many cells nor long ones fill the memory: the oldest go. */
START_TEST(cells_that_are_kept) {
    enum { MEGABYTE = 1 << 20 };
    char path[32], called[IDS_CELL_CALLED], *text = malloc(5 * MEGABYTE + 1);
    size_t length;
    memset(text, 'x', 5 * MEGABYTE);
    text[5 * MEGABYTE] = '\0';
    ids_cells_add("too long", "In[1]", text);
    ck_assert(!ids_cells_called("too long", called));
    text[MEGABYTE] = '\0';
    for (int i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "long %d", i);
        ids_cells_add(path, "In[2]", text);
    }
    ck_assert(!ids_cells_called("long 1", called));
    char *kept = ids_cells_text("long 2", &length);
    ck_assert_ptr_nonnull(kept);
    ck_assert_uint_eq(length, MEGABYTE);
    ck_assert_str_eq(kept, text);
    free(kept);
    for (int i = 0; i < 513; i++) {
        snprintf(path, sizeof path, "cell %d", i);
        ids_cells_add(path, "In[3]", "pass");
    }
    ck_assert(!ids_cells_called("long 5", called));
    ck_assert(!ids_cells_called("cell 0", called));
    ck_assert(ids_cells_called("cell 1", called) && ids_cells_called("cell 512", called));
    for (int i = 0; i < 512; i++) ids_cells_add(path, "In[4]", "pass");
    ck_assert(ids_cells_called(path, called));
    ck_assert_str_eq(called, "In[4]");
    ck_assert_ptr_null(ids_cells_text("cell 0", &length));
    ck_assert_uint_eq(length, 0);
    free(text);
}
END_TEST

IDS_RUN_SUITE("python_names", out_of_qualified_names, names_of_any_length, what_is_a_part, out_of_the_source,
              qualified_before_the_source, out_of_a_cell, cells_that_are_kept)
