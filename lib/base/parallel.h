/* parallel.h - the same work on many things, by several threads. */
#ifndef IDS_LIB_BASE_PARALLEL_H
#define IDS_LIB_BASE_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

/* How many threads work at a time in this process: what was set, at least 1. Set it before the first work, once. */
unsigned ids_jobs(void);
/* How many bytes of a file are worth a thread. */
size_t ids_jobs_least(void);
/* How many events are: what a file has of one in as many bytes. */
size_t ids_jobs_least_events(void);
void ids_jobs_set(unsigned jobs, size_t least);
enum { IDS_JOBS_MAX = 1024 };

/* Calls work(context, i) once for each i below `count`, lower ones begun first, on at most ids_jobs() threads with the
 * caller's among them, and returns when all are done. Threads that the system refuses are done without. */
void ids_parallel(size_t count, void (*work)(void *context, size_t i), void *context);
/* Until as many calls of let_go, threads that were made for work wait for more of it: between stages that follow one
 * another. Else they end with it, as a program that only calls in here expects it. */
void ids_workers_keep(void);
void ids_workers_let_go(void);
/* The same of things that have so many events together, of which few are worth no thread. */
void ids_parallel_events(uint64_t events, size_t count, void (*work)(void *context, size_t i), void *context);

#endif
