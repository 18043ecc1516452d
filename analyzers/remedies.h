/* remedies.h - the sentences of advice for an account of time and its culprit, and the conditions under which they are
 * true.
 *
 * A row of the table in remedies.c is a sentence with its condition. Among an account's rows, the first one whose
 * condition holds is used; the last row has no condition. tests/unit/test_remedies.c has a case on either side of each
 * condition.
 */
#ifndef IDS_ANALYZERS_REMEDIES_H
#define IDS_ANALYZERS_REMEDIES_H

#include "analyzers/framework.h"
#include "lib/model/account.h"
#include "lib/model/trace.h"

/* What a sentence stands over. */
struct ids_circumstances {
    enum ids_account account;
    enum ids_framework framework;
    enum ids_device_kind platform;
    const char *culprit;  /* NULL: nobody is known */
    const char *where;    /* of the culprit; NULL unknown */
    const char *recorded; /* what was recorded there, as the file calls it; NULL unknown */
    int has_loader;       /* of host.input: who makes batches is in the recording, or a library of loaders */
    int maker_has_gil;    /* of host.input: samples saw who makes batches with Python's lock, which others waited for */
    int has_python;       /* Python's functions were recorded */
    size_t devices;       /* that were recorded */
    int lacks_ranks;      /* the job has more ranks than were read */
    int64_t time_ps;      /* the account's, of the device that decides the step */
    int64_t mean_ps;      /* of the intervals of that culprit; 0 unknown */
    uint64_t a_step;      /* so many of them in a step of a device; 0 unknown */
    int64_t work_ps;      /* the same of what runs there: compute, collectives, copies */
    int both_ways;        /* of copy.h2d: copies to the host run at the same time */
    const char *reason;   /* of host.compile: why the culprit was compiled again; NULL unknown */
    int only_moves;       /* of work.compute: the op copies or transposes, and computes nothing */
    int fetches_mostly;   /* of host.sync: more of it is the fetch of values than the wait for them */
    int is_round_trip;    /* of host.sync and host.staging: the same data goes to the host and comes back */
    int is_mixed;         /* of work.compute: ops of one name in several programs, which compute different things */
    int is_even;          /* of comm.wait: all devices do the same work */
    int lacks_cores;      /* the threads that are a CPU's devices often waited for a core */
    int is_uneven;        /* few steps have most of it */
    int is_compiled;      /* of PyTorch: what runs was made by torch.compile */
    int has_ops;          /* of PyTorch: its ops were recorded on the host */
    int infers;           /* neither a backward pass nor an optimizer is in the recording */
    int launches_graphs;  /* the program launches CUDA graphs already */
    int is_at_start;      /* its longest interval began before the first activity of a device */
    int donates;          /* results of the program take the memory of its arguments already */
};

struct ids_remedy {
    const char *problem, *remedy;
};

/* NULL problem: nothing can be said of the account. */
struct ids_remedy ids_remedy_of(const struct ids_circumstances *about);

/* The culprit is no function: the thread was ready to run, and had no core. */
int ids_waits_for_core(const char *culprit);

/* A culprit of host.staging that gets data from the device, where the others put it there. */
int ids_remedy_is_fetch(const char *culprit);

/* A culprit of host.sync that waits for values, or of host.staging that gets them: float, asarray, device_get. */
int ids_remedy_takes_values(const char *culprit);

/* Of host.sync: no wait, but a look at hundreds of arrays that are ready, one after another: in so many intervals a
 * step, of less than so many picoseconds in the mean. */
enum { IDS_REMEDY_MANY = 100, IDS_REMEDY_SHORT_PS = 10000000 };
int ids_remedy_goes_through_many(const struct ids_circumstances *about);

/* Of dispatch and of the queue on a CPU: each launch is small, and fewer of them are what helps. */
int ids_remedy_is_fewer_launches(const struct ids_circumstances *about);

/* Not what the program does, but what keeps it from going on: it has no core, or another thread has what it needs. */
int ids_remedy_is_for_hold_up(const struct ids_circumstances *about);

/* What one remedy is for, and one piece: a culprit, or a whole account, where the remedy does not depend on the
 * culprit. Being held up in a call is apart from the rest of its account; a callback is one cause, whatever of it has a
 * name (the program's function, and the op that calls it where no sample saw it). A function that holds the device up
 * in several ways is mended as one, see joint_causes.h. */
enum ids_remedy_scope {
    IDS_REMEDY_OF_CULPRIT,
    IDS_REMEDY_OF_ACCOUNT,
    IDS_REMEDY_OF_HELD_UP,
    IDS_REMEDY_OF_CALLBACKS,
    IDS_REMEDY_OF_FUNCTION,
    IDS_REMEDY_SCOPES
};
enum ids_remedy_scope ids_remedy_scope(enum ids_account account, const char *where);

#endif
