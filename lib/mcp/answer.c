#include "lib/mcp/answer.h"

#include "lib/mcp/message.h"

#include <stdlib.h>
#include <string.h>

int ids_mcp_answer_begin(struct ids_mcp_answer *answer, struct ids_error *err) {
    *answer = (struct ids_mcp_answer){.data = cJSON_CreateObject(), .notes = cJSON_CreateArray()};
    answer->out = open_memstream(&answer->text, &answer->text_length);
    return answer->data && answer->notes && answer->out ? 0 : ids_no_memory(err);
}

void ids_mcp_answer_done(struct ids_mcp_answer *answer) {
    if (answer->out) fclose(answer->out);
    free(answer->text);
    cJSON_Delete(answer->data);
    cJSON_Delete(answer->notes);
    *answer = (struct ids_mcp_answer){0};
}

void ids_mcp_answer_part(struct ids_mcp_answer *answer, cJSON *rows, const char *what, const char *section,
                         const char *table, int64_t total) {
    if (!rows || answer->part_count == IDS_MCP_PARTS_MOST) return;
    struct ids_mcp_part *part = &answer->parts[answer->part_count++];
    *part = (struct ids_mcp_part){.rows = rows, .section = section, .table = table, .total = total};
    snprintf(part->what, sizeof part->what, "%s", what);
}

void ids_mcp_answer_part_in(struct ids_mcp_answer *answer, const cJSON *rows, cJSON *table_object) {
    struct ids_mcp_part *last = answer->part_count ? &answer->parts[answer->part_count - 1] : NULL;
    if (last && last->rows == rows) last->table_object = table_object;
}

void ids_mcp_answer_note(struct ids_mcp_answer *answer, const char *text) {
    enum { NOTE_MOST = 400 };
    if (!answer->notes || cJSON_GetArraySize(answer->notes) >= IDS_MCP_NOTES_MOST) return;
    char *clean = ids_mcp_clean(text, strlen(text), NOTE_MOST);
    if (clean) ids_mcp_add(answer->notes, cJSON_CreateString(clean));
    free(clean);
}
