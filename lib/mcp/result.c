#include "lib/mcp/result.h"

#include "lib/mcp/message.h"

#include <stdlib.h>
#include <string.h>

/* ---- how long it is ---- */

static size_t printed(const cJSON *tree) {
    char *text = cJSON_PrintUnformatted(tree);
    size_t length = text ? strlen(text) : 0;
    cJSON_free(text);
    return length;
}

/* Texts of a profile may be a megabyte long. */
static int shorten(cJSON *tree, size_t most) {
    for (cJSON *item = tree; item; item = item->next) {
        if (item->child && shorten(item->child, most)) return -1;
        if (!cJSON_IsString(item) || strlen(item->valuestring) <= most) continue;
        if (item->string && !strcmp(item->string, "sql")) continue; /* ours, and to be run as it is */
        char *cut = ids_mcp_clean(item->valuestring, strlen(item->valuestring), most);
        const char *put = cut ? cJSON_SetValuestring(item, cut) : NULL;
        free(cut);
        if (!put) return -1;
    }
    return 0;
}

/* Takes rows from the ends of the lists that are the longest, until `excess` bytes are gone. */
static void cut_rows(struct ids_mcp_answer *answer, size_t excess) {
    size_t sizes[IDS_MCP_PARTS_MOST];
    for (size_t i = 0; i < answer->part_count; i++) sizes[i] = printed(answer->parts[i].rows);
    for (size_t gone = 0; gone < excess;) {
        size_t longest = 0;
        for (size_t i = 1; i < answer->part_count; i++) {
            if (sizes[i] > sizes[longest]) longest = i;
        }
        cJSON *rows = answer->part_count ? answer->parts[longest].rows : NULL;
        cJSON *last = rows && rows->child ? rows->child->prev : NULL; /* of the first it is the last one */
        if (!last) return;
        size_t size = printed(last) + 1;
        cJSON_Delete(cJSON_DetachItemViaPointer(rows, last));
        sizes[longest] -= size < sizes[longest] ? size : sizes[longest];
        gone += size;
    }
}

/* ---- what was cut, and the call that gets it ---- */

static void set_number(cJSON *object, const char *key, int64_t value) {
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    cJSON_AddNumberToObject(object, key, (double)value);
}

static int64_t most_of(const struct ids_mcp_tool *tool, const char *name, int64_t wanted) {
    for (int i = 0; i < tool->argument_count; i++) {
        const struct ids_mcp_argument *argument = &tool->arguments[i];
        if (!strcmp(argument->name, name)) return wanted < argument->most ? wanted : argument->most;
    }
    return wanted;
}

/* The same call with more room; from the most on the rows of the database, in pieces. */
static cJSON *call_of(const struct ids_mcp_call *call, const struct ids_mcp_part *part, int shown) {
    enum { WIDER = 5 };
    cJSON *again = cJSON_CreateObject(), *arguments = NULL;
    int64_t room = call->values.max_chars;
    if (room == IDS_MCP_CHARS_MOST && part->table) {
        char sql[128];
        cJSON_AddStringToObject(again, "tool", "query");
        arguments = cJSON_AddObjectToObject(again, "arguments");
        cJSON_AddStringToObject(arguments, "path", call->values.path);
        if (call->values.run) cJSON_AddStringToObject(arguments, "run", call->values.run);
        snprintf(sql, sizeof sql, "SELECT * FROM report_%s LIMIT 100 OFFSET %d", part->table, shown);
        cJSON_AddStringToObject(arguments, "sql", sql);
        return again;
    }
    cJSON_AddStringToObject(again, "tool", call->tool->name);
    arguments = call->given ? cJSON_Duplicate(call->given, 1) : cJSON_CreateObject();
    if (call->tool->limit) {
        int64_t all = strcmp(call->tool->limit, "top") ? part->total : 0; /* of which 0 is all */
        set_number(arguments, call->tool->limit, most_of(call->tool, call->tool->limit, all));
    }
    if (part->section) {
        const char *const names[] = {part->section};
        cJSON_DeleteItemFromObjectCaseSensitive(arguments, "sections");
        ids_mcp_put(arguments, "sections", cJSON_CreateStringArray(names, 1));
    }
    set_number(arguments, "max_chars", room * WIDER < IDS_MCP_CHARS_MOST ? room * WIDER : IDS_MCP_CHARS_MOST);
    ids_mcp_put(again, "arguments", arguments);
    return again;
}

/* Arguments may be as long as a message; then in words. A call that is the one of the entry before is left out. */
static void put_call(const struct ids_mcp_call *call, const struct ids_mcp_part *part, int shown, char **before,
                     cJSON *entry) {
    enum { CALL_MOST = 1000 };
    char words[160];
    cJSON *again = call_of(call, part, shown);
    char *text = cJSON_PrintUnformatted(again);
    int is_same = text && *before && !strcmp(text, *before);
    if (text && strlen(text) > CALL_MOST) {
        snprintf(words, sizeof words, "the same with a larger max_chars%s%s", call->tool->limit ? " and " : "",
                 call->tool->limit ? call->tool->limit : "");
        cJSON_AddStringToObject(entry, "call", words);
    } else if (!is_same) {
        ids_mcp_put(entry, "call", again);
        again = NULL;
    }
    cJSON_Delete(again);
    cJSON_free(*before);
    *before = text;
}

static void put_more(struct ids_mcp_call *call) {
    struct ids_mcp_answer *answer = &call->answer;
    cJSON_DeleteItemFromObjectCaseSensitive(answer->data, "more");
    cJSON *more = NULL;
    char *before = NULL;
    for (size_t i = 0; i < answer->part_count; i++) {
        const struct ids_mcp_part *part = &answer->parts[i];
        int shown = cJSON_GetArraySize(part->rows);
        if (shown >= part->total) continue;
        if (!more) more = cJSON_AddArrayToObject(answer->data, "more");
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddStringToObject(entry, "of", part->what);
        cJSON_AddNumberToObject(entry, "shown", shown);
        cJSON_AddNumberToObject(entry, "total", (double)part->total);
        put_call(call, part, shown, &before, entry);
        ids_mcp_add(more, entry);
    }
    cJSON_free(before);
}

/* Columns of tables that have no rows left, the last tables first. */
static void cut_columns(struct ids_mcp_answer *answer, size_t excess) {
    static const char *const wordy[] = {"columns", "units", "title", NULL};
    size_t gone = 0;
    for (size_t i = answer->part_count; i-- && gone < excess;) {
        const struct ids_mcp_part *part = &answer->parts[i];
        if (!part->table_object || cJSON_GetArraySize(part->rows)) continue;
        size_t before = printed(part->table_object);
        for (const char *const *key = wordy; *key; key++)
            cJSON_DeleteItemFromObjectCaseSensitive(part->table_object, *key);
        gone += before - printed(part->table_object);
    }
}

static int fit(struct ids_mcp_call *call, struct ids_error *err) {
    enum { TRIES = 12 };
    static const size_t lengths[] = {1000, 300, 100};
    struct ids_mcp_answer *answer = &call->answer;
    size_t room = (size_t)call->values.max_chars, size = 0;
    for (int i = 0; i < TRIES; i++) {
        put_more(call);
        size = printed(answer->data);
        if (size <= room) return 0;
        size_t most = lengths[i < 3 ? i : 2];
        if (shorten(answer->data, most)) return ids_no_memory(err);
        put_more(call); /* the calls in it stay whole: they are made anew */
        size = printed(answer->data);
        if (size > room) cut_rows(answer, size - room);
        if (size > room && i > 2) cut_columns(answer, size - room);
    }
    return ids_fail(err, IDS_LIMIT,
                    "the answer takes %zu bytes without any row, and max_chars allows %zu; ask for "
                    "less, or raise max_chars",
                    size, room);
}

/* ---- the text ---- */

/* Up to the last line that fits. */
static void cut_text(struct ids_mcp_call *call) {
    struct ids_mcp_answer *answer = &call->answer;
    enum { TAIL = 96 };
    size_t room = (size_t)call->values.max_chars;
    if (answer->text_length <= room) return;
    size_t keep = room - TAIL;
    for (size_t i = keep; i > keep / 2; i--) {
        if (answer->text[i - 1] != '\n') continue;
        keep = i;
        break;
    }
    while (keep && ((unsigned char)answer->text[keep] & 0xc0) == 0x80) keep--;
    size_t left = answer->text_length - keep;
    snprintf(answer->text + keep, TAIL, "... %zu more bytes; 'max_chars' %s\n", left,
             answer->text_length < IDS_MCP_CHARS_MOST ? "raises the bound" : "is at most 100000, so ask for a part");
}

static cJSON *text_content(const char *text) {
    cJSON *content = cJSON_CreateArray(), *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "type", "text");
    cJSON_AddStringToObject(item, "text", text);
    ids_mcp_add(content, item);
    return content;
}

/* ---- */

cJSON *ids_mcp_answer_result(struct ids_mcp_call *call, struct ids_error *err) {
    struct ids_mcp_answer *answer = &call->answer;
    int failed = fclose(answer->out);
    answer->out = NULL;
    if (failed || !answer->text) { /* glibc leaves none where it cannot make it shorter */
        ids_no_memory(err);
        return NULL;
    }
    if (cJSON_GetArraySize(answer->notes)) {
        ids_mcp_put(answer->data, "notes", answer->notes);
        answer->notes = NULL;
    }
    if (fit(call, err)) return NULL;
    cut_text(call);
    char *text = ids_mcp_clean(answer->text, strlen(answer->text), (size_t)IDS_MCP_CHARS_MOST);
    cJSON *result = cJSON_CreateObject();
    ids_mcp_put(result, "content", text ? text_content(text) : NULL);
    ids_mcp_put(result, "structuredContent", answer->data);
    cJSON_AddFalseToObject(result, "isError");
    answer->data = NULL;
    free(text);
    return result;
}

cJSON *ids_mcp_failure_result(const struct ids_mcp_tool *tool, const struct ids_error *why) {
    char whole[IDS_ERROR_WHOLE];
    char *words = ids_mcp_own_words(tool, ids_error_whole(why, whole));
    char *text = words ? ids_mcp_clean(words, strlen(words), sizeof whole) : NULL;
    cJSON *result = cJSON_CreateObject();
    ids_mcp_put(result, "content", text_content(text ? text : "out of memory"));
    cJSON_AddTrueToObject(result, "isError");
    free(text);
    free(words);
    return result;
}
