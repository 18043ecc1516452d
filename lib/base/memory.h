/* memory.h - whether memory ran out anywhere in this process.
 *
 * Code that is refused memory reports it here, besides its own handling. A shortened text or a missing line cannot
 * be seen afterwards. So the program asks once, at its end and before it stores a result: a result that was made
 * while memory ran out cannot be trusted, even if no function failed. */
#ifndef IDS_LIB_BASE_MEMORY_H
#define IDS_LIB_BASE_MEMORY_H

/* From any thread. */
void ids_memory_refused(void);
/* 1 once it was called. */
int ids_memory_ran_out(void);

/* Freed memory goes back to the system: allocators keep it for the thread that had it, and others take new memory. */
void ids_memory_give_back(void);
/* From now on large arrays go back as soon as they are freed. Allocators keep the more the larger those were that came
 * before, and by a hundred hosts that is worth more than the page faults that it costs. Of the whole process. */
void ids_memory_give_back_large(void);

#endif
