/* terminal.h - what the terminal on standard output can do. */
#ifndef IDS_LIB_CLI_TERMINAL_H
#define IDS_LIB_CLI_TERMINAL_H

#include <stdint.h>

enum ids_colour { IDS_COLOUR_AUTO, IDS_COLOUR_ALWAYS, IDS_COLOUR_NEVER };
const char *ids_colour_choice(int i);

enum { IDS_WIDTH_ELSEWHERE = 120, IDS_WIDTH_LEAST = 40 };

/* What was asked for (0: nothing), else COLUMNS, else the terminal's, else IDS_WIDTH_ELSEWHERE; at least
 * IDS_WIDTH_LEAST. */
int ids_terminal_width(int64_t asked);
/* auto: on a terminal, unless NO_COLOR is set to something or TERM is "dumb". */
int ids_terminal_colour(enum ids_colour asked);

#endif
