/* lib/redact: what is a machine's name, a user's, a path. */
#include "lib/redact/domains.h"
#include "lib/redact/redactor.h"
#include "tests/support/suite.h"

#include <string.h>

static struct ids_text text_of(const char *chars) {
    return (struct ids_text){chars, (uint32_t)strlen(chars)};
}

START_TEST(machines) {
    static const char *const hosts[] = {"node7.example.org", "hushx9.slurm",   "node.cluster.local", "walrus.ac.uk",
                                        "walrus.lab.de",     "walrus.lab.gg",  "walrus.com.br",      "walrus.co.id",
                                        "walrus.edu.my",     "walrus.lab.site"};
    static const char *const others[] = {"",
                                         "walrus",
                                         "1.2.3",
                                         "0.10.2.dev1",
                                         "fusion.12",
                                         "aten.mm",
                                         "walrus.mm",
                                         "walrus.lib.to",
                                         "walrus.lib.is",
                                         "jax.numpy.at",
                                         "model.to.is",
                                         "while.1.clone",
                                         "walrus.ops.gelu",
                                         "org",
                                         ".org"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        ck_assert_msg(ids_is_domain(text_of(hosts[i])), "%s", hosts[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!ids_is_domain(text_of(others[i])), "%s", others[i]);
}
END_TEST

/* What a text becomes once the names are known, with each pseudonym as "?". */
static const char *redacted(const char *text, int names, const char *const *learned) {
    static char shown[1024];
    struct ids_redactor redactor;
    struct ids_buffer out = {0};
    size_t used = 0;
    ids_redactor_init(&redactor, "key", 3, names);
    redactor.learns = 1;
    for (; *learned; learned++) ids_redactor_learn(&redactor, text_of(*learned));
    redactor.learns = 0;
    ids_redact(&redactor, text_of(text), IDS_REDACT_NAME, &out);
    ck_assert(!out.failed && out.length < sizeof shown);
    for (size_t at = 0; at < out.length;) {
        size_t rest = out.length - at, length = IDS_PSEUDONYM_LENGTH;
        int is_word = rest >= length && ids_is_pseudonym(out.at + at, length);
        shown[used++] = is_word ? '?' : out.at[at];
        at += is_word ? length : 1;
    }
    shown[used] = '\0';
    ids_buffer_done(&out);
    ids_redactor_done(&redactor);
    return shown;
}

START_TEST(users) {
    static const char *const known[] = {"tom", "lena", "helena", NULL};
    static const struct {
        const char *text, *redacted, *with_names;
    } rows[] = {
        {"atomic tom", "atomic tom", "? ?"},
        {"user=tom", "user=?", "user=?"},
        {"tom@there", "?", "?"},
        {"lena loads", "? loads", "? loads"},
        {"lena_step", "lena_step", "?_step"},
        {"load_helena", "load_?", "load_?"},
        {"helenaloader", "?", "?"},
        {"xhelenaBig", "?", "?Big"},
        {"/usr/lib/site-packages/torch/tom/a.py", "/usr/lib/site-packages/torch/?/a.py",
         "/usr/lib/site-packages/torch/?/a.py"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_str_eq(redacted(rows[i].text, 0, known), rows[i].redacted);
        ck_assert_str_eq(redacted(rows[i].text, 1, known), rows[i].with_names);
    }
}
END_TEST

START_TEST(paths) {
    static const char *const none[] = {NULL};
    ck_assert_str_eq(redacted("/usr/lib/site-packages/torch/nn/m.py", 0, none), "/usr/lib/site-packages/torch/nn/m.py");
    ck_assert_str_eq(redacted("/usr/lib/site-packages/torch/nn/home/walrus/m.py", 0, none),
                     "/usr/lib/site-packages/torch/nn/home/?/?.py");
    ck_assert_str_eq(redacted("open \"/usr/lib/site-packages/torch/a b/walrus/m.py\"", 0, none),
                     "open \"/usr/lib/site-packages/torch/?/?/?.py\"");
    ck_assert_str_eq(redacted("{\\\"token\\\":\\\"walrus\\\"}", 0, none), "{\\\"token\\\":\\\"?\\\"}");
}
END_TEST

IDS_RUN_SUITE("redactor", machines, users, paths)
