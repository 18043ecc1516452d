/* record.h - what the interposer saw of the program's calls in a window: records of fixed size in memory that was there
 * before.
 *
 * A wrapped call asks ids_record_begin, which is a few loads outside a window, and puts its record when it is over.
 * Nothing here allocates, locks or waits while the program's calls run; when the memory is full a record is counted and
 * lost.
 */
#ifndef IDS_COLLECTORS_PJRT_RECORD_H
#define IDS_COLLECTORS_PJRT_RECORD_H

#include <stdint.h>

enum ids_record_kind {
    IDS_RECORD_INITIALIZE,
    IDS_RECORD_CLIENT,
    IDS_RECORD_COMPILE,
    IDS_RECORD_LOAD,    /* an executable out of a cache */
    IDS_RECORD_EXECUTE, /* the call, which enqueues; its completion is told later */
    IDS_RECORD_AWAIT,
    IDS_RECORD_FROM_HOST,
    IDS_RECORD_TO_HOST,
    IDS_RECORD_COPY,
    IDS_RECORD_KINDS
};

enum { IDS_RECORDS = 1 << 17, IDS_NO_PROGRAM = 0 };

struct ids_record {
    int64_t start_ns, end_ns; /* CLOCK_REALTIME */
    int64_t complete_ns;      /* of executions: when all devices had done it; 0: not known */
    int64_t bytes;            /* moved; of programs: what was given to the compiler or read; -1: not known */
    int64_t number;           /* of executions: which one of its program, from 0 */
    uint32_t program;         /* programs.h */
    uint32_t thread;
    uint16_t kind, devices;
    uint8_t failed;
    uint8_t is_step;  /* the agent counted it as one */
    uint8_t is_whole; /* it was written to its end */
};
enum { IDS_NO_RECORD = -1 };

/* Gets the memory, once, without touching it. 0, or -1. */
int ids_record_prepare(void);
/* The time when a window is open, else 0: then there is nothing to put. */
int64_t ids_record_begin(void);
/* The same in a call that the agent counted into the window, whose end has begun by now perhaps and waits for this
 * call. */
int64_t ids_record_begin_counted(void);
int64_t ids_record_now(void);
/* Puts a record, with thread and is_whole filled in here. Where it lies, or IDS_NO_RECORD. */
int64_t ids_record_put(struct ids_record record);
/* The record at that place is complete now, if it is still the one that began at start_ns. */
void ids_record_complete(int64_t place, int64_t start_ns, int failed);

/* Ends the recording and lends all there is; `drops`: how many had no room. To be followed by ids_record_done, until
 * which nothing is recorded. */
const struct ids_record *ids_record_take(uint32_t *ret_count, int64_t *ret_drops);
void ids_record_done(void);
/* In the child of a fork. */
void ids_record_forget(void);

#endif
