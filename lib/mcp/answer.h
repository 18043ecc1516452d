/* answer.h - what a tool answers, while it is made: structured content and the same as text. */
#ifndef IDS_LIB_MCP_ANSWER_H
#define IDS_LIB_MCP_ANSWER_H

#include "lib/base/error.h"

#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdio.h>

enum { IDS_MCP_PARTS_MOST = 96, IDS_MCP_NOTES_MOST = 6 };

/* A list that may be cut. */
struct ids_mcp_part {
    cJSON *rows;
    char what[48];       /* its name in the answer */
    const char *section; /* of the report that has it whole, or NULL */
    const char *table;   /* of the report, or NULL */
    int64_t total;       /* rows that there are */
    cJSON *table_object; /* that the rows are in, or NULL */
};

struct ids_mcp_answer {
    cJSON *data; /* an object */
    FILE *out;   /* the text */
    char *text;
    size_t text_length;
    struct ids_mcp_part parts[IDS_MCP_PARTS_MOST];
    size_t part_count;
    cJSON *notes; /* what the engine left out, and why */
};

/* 0, or IDS_NOMEM. To be ended with ids_mcp_answer_done in any case. */
int ids_mcp_answer_begin(struct ids_mcp_answer *answer, struct ids_error *err);
void ids_mcp_answer_done(struct ids_mcp_answer *answer);

/* Says of the list that was named last that it is the rows of this table. */
void ids_mcp_answer_part_in(struct ids_mcp_answer *answer, const cJSON *rows, cJSON *table_object);
/* Names a list as one that may be cut. `section` and `table` are static or live as long as the answer. */
void ids_mcp_answer_part(struct ids_mcp_answer *answer, cJSON *rows, const char *what, const char *section,
                         const char *table, int64_t total);
void ids_mcp_answer_note(struct ids_mcp_answer *answer, const char *text);

#endif
