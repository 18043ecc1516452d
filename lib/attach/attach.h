/* attach.h - profiles of programs that run already, from their profiler servers, all at the same moment.
 *
 * One poll loop: all connections are made first; what is connected by then is asked at once; then everything has one
 * deadline. The profiles are the hosts of one run: FOLDER/plugins/profile/RUN/<host>_<port>.xplane.pb.
 */
#ifndef IDS_LIB_ATTACH_ATTACH_H
#define IDS_LIB_ATTACH_ATTACH_H

#include "lib/attach/peer.h"

#include <signal.h>

struct ids_attach_plan {
    const char *folder, *run; /* of the capture; FOLDER/.idsprof is there */
    int64_t duration_ns, grace_ns;
    int64_t host_level, device_level, python_level;
    const char *no_stacks;                 /* why stacks that are asked for are not sampled; NULL: none are */
    uint64_t max_size;                     /* of a profile; 0: any */
    const volatile sig_atomic_t *stopping; /* 1: end the sessions and take what they have; 2: end now; NULL: never */
};

struct ids_clock_pair {
    int64_t realtime_ns, monotonic_ns;
};

struct ids_attach {
    struct ids_peer *peers; /* one for each host */
    size_t count;
    struct ids_clock_pair begun, asked, ended;
    int64_t asked_within_ns; /* from the first request to the last */
    int was_stopped;
    int64_t stopped_after_ns; /* since they were asked: how long the sessions were that ended then; -1: not known */
};

/* A host that fails is no error. `attach` is the caller's to end, also after one. */
int ids_attach_run(const struct ids_attach_plan *plan, const struct ids_hosts *hosts, struct ids_attach *attach,
                   struct ids_error *err);
void ids_attach_done(struct ids_attach *attach);
/* How many have this fate. */
size_t ids_attach_count(const struct ids_attach *attach, enum ids_peer_fate fate);

#endif
