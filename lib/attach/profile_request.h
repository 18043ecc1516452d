/* profile_request.h - the messages that the profiler service of XLA and TensorFlow takes.
 *
 * A server of today gives the profile in its answer, because the request asks for that (emit_xspace). An older one does
 * not know the question: it writes the profile on its own disk, below `root`, and its answer holds nothing. Where the
 * file systems are one, the profile is in place then.
 */
#ifndef IDS_LIB_ATTACH_PROFILE_REQUEST_H
#define IDS_LIB_ATTACH_PROFILE_REQUEST_H

#include "lib/base/buffer.h"

#include <stdint.h>

#define IDS_PROFILE_METHOD "/tensorflow.ProfilerService/Profile"
#define IDS_TERMINATE_METHOD "/tensorflow.ProfilerService/Terminate"

struct ids_profile_request {
    uint64_t duration_ms;
    uint64_t host_level, device_level, python_level;
    const char *root, *session, *host; /* an older server writes ROOT/SESSION/HOST.xplane.pb */
};

/* Each with the prefix of gRPC: a byte that says it is not compressed, and the length. */
void ids_profile_request_put(struct ids_buffer *buffer, const struct ids_profile_request *request);
/* Ends the session of this name before its time; what it recorded comes as the answer to its own request. */
void ids_terminate_request_put(struct ids_buffer *buffer, const char *session);

#endif
