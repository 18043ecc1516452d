/* manual.h - the manual page idsprof-metrics(7), written from the definitions that the program itself uses. */
#ifndef IDS_CMD_MANUAL_H
#define IDS_CMD_MANUAL_H

#include <stdio.h>

/* The mdoc source. man/idsprof-metrics.7 is this text; tests/cli/test_manual.py holds the two together. */
void ids_manual_metrics(FILE *out);

#endif
