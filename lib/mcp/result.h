/* result.h - an answer as the result of tools/call, within its bound.
 *
 * What does not fit is cut at the end of the longest lists, and `more` says of each how much of it there is and the
 * call that gets it.
 */
#ifndef IDS_LIB_MCP_RESULT_H
#define IDS_LIB_MCP_RESULT_H

#include "lib/mcp/tool.h"

/* NULL: no memory, or `err` says why not. */
cJSON *ids_mcp_answer_result(struct ids_mcp_call *call, struct ids_error *err);
/* The same of a failure. */
cJSON *ids_mcp_failure_result(const struct ids_mcp_tool *tool, const struct ids_error *why);

#endif
