/* What is masked in command lines, and what is not. */
#include "collectors/common/secrets.h"

#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

/* The arguments, separated by '|', masked one after another. */
static const char *mask(const char *command) {
    static char line[1024];
    char arguments[512], masked[1024];
    struct ids_secrets secrets = {0};
    line[0] = '\0';
    snprintf(arguments, sizeof arguments, "%s", command);
    for (char *rest = arguments, *argument; (argument = strsep(&rest, "|"));) {
        ids_secrets_mask(&secrets, argument, masked, sizeof masked);
        if (line[0]) strcat(line, "|");
        strcat(line, masked);
    }
    return line;
}

START_TEST(test_masked) {
    static const struct {
        const char *command, *masked;
    } cases[] = {
        {"train.py|--token=abc", "train.py|--token=***"},
        {"--token|abc|--steps|3", "--token|***|--steps|3"},
        {"-token|abc", "-token|***"},
        {"--token|-", "--token|***"},
        {"--hf_token=abc def", "--hf_token=***"},
        {"--api-key=abc", "--api-key=***"},
        {"--api-key|abc", "--api-key|***"},
        {"--apiKey=abc", "--apiKey=***"},
        {"--apikey|abc", "--apikey|***"},
        {"--OpenAIApiKey|abc", "--OpenAIApiKey|***"},
        {"env|WANDB_API_KEY=abc|python", "env|WANDB_API_KEY=***|python"},
        {"AWS_SECRET_ACCESS_KEY=a/b+c=", "AWS_SECRET_ACCESS_KEY=***"},
        {"CLIENT_SECRET=abc", "CLIENT_SECRET=***"},
        {"PGPASSWORD=abc", "PGPASSWORD=***"},
        {"MY_PASSWORD_OLD=abc def", "MY_PASSWORD_OLD=***"},
        {"--db.password=abc", "--db.password=***"},
        {"+wandb.api_key=abc", "+wandb.api_key=***"},
        {"--pass-word|abc", "--pass-word|***"},
        {"sh|-c|TOKEN=abc python x.py --token def --steps 3", "sh|-c|TOKEN=*** python x.py --token *** --steps 3"},
        {"sh|-ec|export API_KEY='a b' && run", "sh|-ec|export API_KEY='***' && run"},
        {"python|-c|os.environ[\"HF_TOKEN\"] = \"abc\"; main()",
         "python|-c|os.environ[\"HF_TOKEN\"] = \"***\"; main()"},
        {"--config={\"lr\": 1, \"api_key\": \"a\\\"b\", \"n\": 2}",
         "--config={\"lr\": 1, \"api_key\": \"***\", \"n\": 2}"},
        {"curl|-H|Authorization: Bearer abc.def-ghi", "curl|-H|Authorization: Bearer ***"},
        {"-H|authorization: Basic YTpi", "-H|authorization: Basic ***"},
        {"-H|X-Api-Key: abc", "-H|X-Api-Key: ***"},
        {"bearer abc", "bearer ***"},
        {"https://user:pass@host/x", "https://user:***@host/x"},
        {"postgres://u:p@ss@h:5432/db", "postgres://u:***@h:5432/db"},
        {"--url=https://abcdef@github.com/a.git", "--url=https://***@github.com/a.git"},
        {"https://h/x?token=abc&n=3", "https://h/x?token=***&n=3"},
        {"https://h/x?a=1&X-Amz-Signature-Key=abc", "https://h/x?a=1&X-Amz-Signature-Key=***"},
        {"curl|-u|me:abc|https://h", "curl|-u|me:***|https://h"},
        {"login|hf_abcdefghijklmnopqrst", "login|***"},
        {"sk-proj-abcdefghijklmnopqrst", "***"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) ck_assert_str_eq(mask(cases[i].command), cases[i].masked);
}
END_TEST

START_TEST(test_kept) { /* what a user needs to see again */
    static const char *const cases[] = {
        "python|-u|train.py|--steps|3",
        "--max-tokens=4096|--tokenizer=gpt2|--num_tokens|8",
        "--token-file=/run/secret.txt",
        "--key-size|128",
        "--token|--steps|3",
        "--monkey=banana",
        "git|clone|ssh://git@host/x.git",
        "https://host:8080/a@b",
        "torchrun|--nproc-per-node=8|-m|pkg.train",
        "XLA_FLAGS=--xla_dump_to=/tmp/x",
        "a == b, time 12:30",
        "--token=",
        "",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) ck_assert_str_eq(mask(cases[i]), cases[i]);
}
END_TEST

START_TEST(test_room) { /* no secret shows where the room ends */
    struct ids_secrets secrets = {0};
    char masked[32];
    for (size_t size = 1; size < sizeof masked; size++) {
        memset(masked, '#', sizeof masked);
        ids_secrets_mask(&secrets, "--token=abc", masked, size);
        ck_assert_int_eq(masked[size], '#');
        ck_assert_int_eq(strncmp(masked, "--token=***", strlen(masked)), 0);
    }
}
END_TEST

IDS_RUN_SUITE("secrets", test_masked, test_kept, test_room)
