/* memory.h - whether memory ran out anywhere in this process.
 *
 * Who is refused memory says so here, beside what it does about it. A text that became shorter or a line that was left
 * out cannot be seen afterwards, so that the program asks once, at its end and before it keeps something for later: a
 * result that was made while memory ran out is not to be trusted, even where nobody had a failure to report. */
#ifndef IDS_LIB_BASE_MEMORY_H
#define IDS_LIB_BASE_MEMORY_H

/* From any thread. */
void ids_memory_refused(void);
/* 1 once it was called. */
int ids_memory_ran_out(void);

#endif
