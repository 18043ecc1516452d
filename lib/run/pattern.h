/* pattern.h - what a pattern may have that names runs: *, ?, [a-z], {a,b} and ~. */
#ifndef IDS_RUN_PATTERN_H
#define IDS_RUN_PATTERN_H

#include <glob.h>

/* musl has no {a,b}: there such a pattern finds nothing. */
#ifndef GLOB_BRACE
#define GLOB_BRACE 0
#endif
enum { IDS_PATTERN = GLOB_BRACE | GLOB_TILDE };

#endif
