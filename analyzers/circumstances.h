/* circumstances.h - an account of time, its culprit, and what else is known where advice on them is chosen. */
#ifndef IDS_ANALYZERS_CIRCUMSTANCES_H
#define IDS_ANALYZERS_CIRCUMSTANCES_H

#include "analyzers/framework.h"
#include "lib/analysis/participants.h"
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
    enum ids_lacking lacking; /* who takes part in collectives and was not read */
    int64_t time_ps;          /* the account's, of the device that decides the step */
    int64_t mean_ps;          /* of the intervals of that culprit; 0 unknown */
    uint64_t a_step;          /* so many of them in a step of a device; 0 unknown */
    int64_t gap_ps;       /* of device.queue: the mean of its intervals, where they are many, short and none stands out;
                           * else 0 */
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
    int is_of_first_uses; /* of several calls of a runtime, each slow because it is the first one */
    int is_at_start;      /* its longest interval began before the first activity of a device */
    int donates;          /* results of the program take the memory of its arguments already */
};

#endif
