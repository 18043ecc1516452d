#include "formats/chrome_list.h"

enum ids_json_result ids_chrome_list_next(struct ids_chrome_list *list) {
    struct ids_json_scan *scan = list->scan;
    for (;;) {
        enum ids_json_result result = ids_json_space(scan);
        if (result != IDS_JSON_OK) return result;
        if (*scan->at == ',' && list->after_element) {
            scan->at++;
            list->after_element = 0;
            continue;
        }
        if (*scan->at == ']') {
            scan->at++;
            return IDS_JSON_END;
        }
        if (list->after_element || *scan->at == ',') {
            scan->why = list->after_element ? "',' or ']'" : "an event";
            return IDS_JSON_BAD;
        }
        if (*scan->at == '{') return IDS_JSON_OK;
        struct ids_json_span stray;
        result = ids_json_value(scan, &stray);
        if (result != IDS_JSON_OK) return result;
        list->after_element = 1;
        list->strays++;
    }
}

enum ids_json_result ids_chrome_list_take(struct ids_chrome_list *list, struct ids_chrome_parser *parser,
                                          struct ids_chrome_element *ret_element, int *ret_no_memory) {
    struct ids_json_scan *scan = list->scan;
    const char *start = scan->at;
    scan->broken = NULL;
    enum ids_json_result result = ids_chrome_event_read(scan, parser, &ret_element->event, ret_no_memory);
    if (result != IDS_JSON_OK) return result;
    ret_element->text = (struct ids_text){start, (uint32_t)(scan->at - start)};
    ret_element->broken = scan->broken;
    list->after_element = 1;
    return IDS_JSON_OK;
}
