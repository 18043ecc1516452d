/* formats/chrome_event: an element is taken apart the same, whatever elements came before it (their keys are looked for
 * first), and wherever the window ends. */
#include "formats/chrome_event.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(char text[1024], const struct ids_json_span *key, const struct ids_json_span *value) {
    size_t used = strlen(text);
    snprintf(text + used, 1024 - used, " %.*s=%c%.*s", (int)key->length, key->at, "-sntfuoa"[value->type],
             (int)value -> length, value -> at);
}

/* All that the event says, as a text. */
static void describe(const struct ids_chrome_event *event, char text[1024]) {
    const struct ids_json_span *const spans[] = {&event->name, &event->cat, &event->id, &event->pid,
                                                 &event->tid,  &event->ts,  &event->dur};
    const struct ids_json_span number = {"123456789", 0, IDS_JSON_STRING, 0, 0};
    snprintf(text, 1024, "%c %u/%u", event->phase ? event->phase : '-', event->args_at, event->args_count);
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        struct ids_json_span key = number;
        key.at += i;
        key.length = 1;
        if (spans[i]->type != IDS_JSON_NONE) add(text, &key, spans[i]);
    }
    for (uint32_t i = 0; i < event->member_count; i++) add(text, &event->members[i].key, &event->members[i].value);
}

static const struct {
    const char *element, *said;
} table[] = {
    /* 1 name, 2 cat, 3 id, 4 pid, 5 tid, 6 ts, 7 dur; behind the '=' s for a string, n for a number */
    {"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":3.5,\"dur\":4,\"name\":\"n\",\"args\":{\"long_name\":\"a\",\"hlo_op\":"
     "\"b\"}}",
     "X 0/2 1=sn 4=n1 5=n2 6=n3.5 7=n4 long_name=sa hlo_op=sb"},
    {"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":3.5,\"dur\":4,\"name\":\"n\",\"args\":{\"long_nami\":\"a\",\"hlo_op\":"
     "\"b\"}}",
     "X 0/2 1=sn 4=n1 5=n2 6=n3.5 7=n4 long_nami=sa hlo_op=sb"}, /* another end of a key of more than eight bytes */
    {"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"args\":{\"long_names\":\"a\"}}",
     "X 0/1 4=n1 5=n2 long_names=sa"}, /* and a longer one */
    {"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"args\":{\"a_name_of_18_letter\":\"a\"}}",
     "X 0/1 4=n1 5=n2 a_name_of_18_letter=sa"},
    {"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"args\":{\"a_name_of_18_letters\":\"a\"}}",
     "X 0/1 4=n1 5=n2 a_name_of_18_letters=sa"}, /* a longer one of more than sixteen bytes */
    {"{\"ph\":\"X\",\"tid\":1,\"pid\":2,\"dur\":3.5,\"ts\":4,\"name\":\"n\",\"args\":{\"hlo_op\":\"a\"}}",
     "X 0/1 1=sn 4=n2 5=n1 6=n4 7=n3.5 hlo_op=sa"},
    {"{\"tid\":1,\"ph\":\"X\",\"pid\":2,\"durr\":3.5,\"ts\":4}", "X 0/0 4=n2 5=n1 6=n4 durr=n3.5"},
    {"{ \"tid\" : 1 , \"ph\" : \"X\" , \"pid\" : 2 , \"dur\" : 3.5 }", "X 0/0 4=n2 5=n1 7=n3.5"},
    {"{ \"tid\" : 1 , \"ph\" : \"X\" , \"pid\" : 2 , \"dur\" : 3.5 }", "X 0/0 4=n2 5=n1 7=n3.5"},
    {"{\"ph\":\"b\",\"cat\":\"c\",\"id\":7,\"id2\":8,\"args\":5}", "b 0/0 2=sc 3=n7 cat=sc id=n7 id2=n8 args=n5"},
    {"{\"ph\":\"b\",\"cat\":\"c\",\"id2\":7,\"args\":{},\"args\":{\"k\\\"\":1,\"\":2}}",
     "b 2/2 2=sc 3=n7 cat=sc id2=n7 k\\\"=n1 =n2"},
    {"{\"ph\":\"b\",\"cat\":\"c\",\"id2\":7,\"args\":{},\"args\":{\"k\\\"\":1,\"\":2}}",
     "b 2/2 2=sc 3=n7 cat=sc id2=n7 k\\\"=n1 =n2"},
    {"{\"a key that is longer than what is kept of it, and then some more\":1,\"x\":2}",
     "- 0/0 a key that is longer than what is kept of it, and then some more=n1 x=n2"},
    {"{}", "- 0/0"},
};
enum { COUNT = sizeof table / sizeof *table };

START_TEST(any_order) {
    struct ids_chrome_parser parser = {0};
    struct ids_chrome_event event;
    char said[1024], room[4096];
    int no_memory;
    /* Every pair, one behind the other; and much behind them, for near the end of a window nothing is guessed. */
    for (int round = 0; round < COUNT * COUNT * 2; round++) {
        const char *element = table[round % 2 ? round / 2 % COUNT : round / 2 / COUNT].element;
        const char *wanted = table[round % 2 ? round / 2 % COUNT : round / 2 / COUNT].said;
        int length = snprintf(room, sizeof room, "%s%*s", element, 100, "");
        struct ids_json_scan scan = {room, room + length, 0, NULL, NULL};
        ck_assert_int_eq(ids_chrome_event_read(&scan, &parser, &event, &no_memory), IDS_JSON_OK);
        ck_assert_ptr_eq(scan.at, room + strlen(element));
        describe(&event, said);
        ck_assert_str_eq(said, wanted);
    }
    ids_chrome_parser_done(&parser);
}
END_TEST

/* A window that ends inside: the scan stays where it was; with all of it the element is read, guesses or not. */
START_TEST(any_end) {
    struct ids_chrome_parser parser = {0};
    struct ids_chrome_event event;
    char said[1024];
    int no_memory;
    for (int i = 0; i < COUNT; i++) {
        size_t length = strlen(table[i].element);
        for (size_t end = 1; end <= length; end++) {
            char *window = malloc(end); /* so that a byte behind it is seen to be read */
            ck_assert_ptr_nonnull(window);
            memcpy(window, table[i].element, end);
            struct ids_json_scan scan = {window, window + end, 0, NULL, NULL};
            enum ids_json_result result = ids_chrome_event_read(&scan, &parser, &event, &no_memory);
            ck_assert_int_eq(result, end == length ? IDS_JSON_OK : IDS_JSON_MORE);
            ck_assert_ptr_eq(scan.at, end == length ? window + end : window);
            if (end == length) describe(&event, said);
            free(window);
        }
        ck_assert_str_eq(said, table[i].said);
    }
    ids_chrome_parser_done(&parser);
}
END_TEST

IDS_RUN_SUITE("chrome_event", any_order, any_end)
