/* idle_names.h - who idle time is blamed on, in texts: the culprit, its place, and what was recorded there.
 *
 * Names are numbers, so that a culprit is looked up once: first nobody, what ran before, and graphs, then each doing in
 * all manners, then programs, names of events, and ops that call the host back.
 */
#ifndef IDS_LIB_ANALYSIS_IDLE_NAMES_H
#define IDS_LIB_ANALYSIS_IDLE_NAMES_H

#include "lib/analysis/ledger.h"
#include "lib/analysis/sampled_places.h"
#include "lib/base/arena.h"
#include "lib/model/account.h"
#include "lib/model/trace.h"

/* The culprit of account profiler where the host's profiler was not open yet, or not any more, while another host's
 * was. */
#define IDS_NOT_RECORDING "recording not open"

/* ... and where idsprof's Python hook was at work. */
#define IDS_OWN_HOOK "idsprof's hook"

/* Ends of `where`: a call on a CPU that took more than fifty times as long as it usually does, though nothing inside it
 * did; an op that computes on the host and launches nothing; and what a program called back (jax.pure_callback,
 * io_callback). */
#define IDS_HELD_UP "held up"
#define IDS_COMPUTING "on the host"
#define IDS_CALLED_BACK "in a callback"
#define IDS_AWAITED "in another thread"
#define IDS_POLLED "polled for " IDS_AWAITED
#define IDS_POLLING "again and again"
#define IDS_HAVING_GIL "which has Python's lock"
#define IDS_LACKING_GIL "waiting for Python's lock"

struct ids_idle_names {
    const struct ids_trace *trace;
    struct ids_arena texts;
    struct ids_text *where; /* by doing: "train.py:12 step"; at NULL: not asked yet */
    struct ids_sampled_places sampled;
    int is_lent; /* `sampled` is another one's */
};

/* 0, or -1 when memory ran out; the caller ends it in both cases. */
int ids_idle_names_init(struct ids_idle_names *names, const struct ids_trace *trace);
void ids_idle_names_done(struct ids_idle_names *names);
/* Some that another thread of this program asks: 0, or -1 when memory ran out. The first ones have to stay. */
int ids_idle_names_lend(const struct ids_idle_names *names, struct ids_idle_names *ret_lent);

enum { IDS_NAME_OF_NOBODY, IDS_NAME_OF_EARLIER_WORK, IDS_NAME_OF_GRAPH_WORK, IDS_NAMES_OF_DOINGS };
/* A doing as it is, as the call of a runtime, as one that is held up, as an op that computes on the host, as called
 * back by a program, as what it calls and what waits there, as that of another thread which is waited for, or for which
 * a thread polls, as the sleep again and again of one that does, as that of another thread which has Python's lock, as
 * one that waits for that lock, whatever it called, and as what makes a stream wait for work from before the
 * recording. */
enum ids_manner {
    IDS_AS_IT_IS,
    IDS_AS_CALL,
    IDS_AS_HELD_UP,
    IDS_AS_COMPUTING,
    IDS_AS_CALLED_BACK,
    IDS_AS_CALLED,
    IDS_AS_AWAITED,
    IDS_AS_POLLED,
    IDS_AS_POLLING,
    IDS_AS_HAVING_GIL,
    IDS_AS_LACKING_GIL,
    IDS_AS_BEHIND_EARLIER,
    IDS_MANNERS
};
uint32_t ids_name_of_doing(uint32_t doing, enum ids_manner manner);
uint32_t ids_name_of_module(const struct ids_idle_names *names, uint32_t module);
uint32_t ids_name_of_name(const struct ids_idle_names *names, uint32_t name);
uint32_t ids_name_of_callback(const struct ids_idle_names *names, uint32_t op);
/* All are below this. */
size_t ids_idle_names_count(const struct ids_idle_names *names);

/* The texts of a name: the culprit (length 0: unknown), its place, and the innermost activity that shows it, as the
 * file names it. They live as long as the trace and the names do. Parts of one account and name have the same texts. */
void ids_idle_name(struct ids_idle_names *names, enum ids_account account, uint32_t name, struct ids_text *ret_culprit,
                   struct ids_text *ret_where, struct ids_text *ret_recorded);
/* The line of the program that called it, with its function, whatever that calls there: "train.py:7 upload"; length 0:
 * unknown. Of a doing. */
struct ids_text ids_idle_name_line(struct ids_idle_names *names, uint32_t name);
/* The function of the program whose own doing it is, with its file, and its first line where that is recorded: "load
 * (src/train.py:80)"; length 0: unknown, or another
 * one's doing: what the function waits for, what holds it up, or what it calls and is told beside it. */
struct ids_text ids_idle_name_function(struct ids_idle_names *names, enum ids_account account, uint32_t name);
/* The frame of the program that did it, or called what did: a text of the trace, 0 unknown; and whether that is another
 * thread's, which is waited for. */
uint32_t ids_idle_name_frame(const struct ids_idle_names *names, uint32_t name, uint8_t *ret_is_other);
/* Which lines of that frame's function are its own, and the function's key; none where samples saw none. */
enum ids_lines ids_idle_name_lines(const struct ids_idle_names *names, uint32_t name, uint64_t *ret_function);
/* Whether no sample saw who called it: the place is where other calls of the same were seen. */
int ids_idle_name_is_guess(const struct ids_idle_names *names, uint32_t name);
/* Whether the culprit or its place is a function of the program that is known from sampled stacks. */
int ids_idle_name_is_sampled(const struct ids_idle_names *names, uint32_t name);
/* What the host event of that name is called for a person: the f of PjitFunction(f). */
struct ids_text ids_call_name(const struct ids_trace *trace, uint32_t name);

#endif
