/* grpc_status.h - how a call of gRPC ended: its name, and what to do. */
#ifndef IDS_LIB_ATTACH_GRPC_STATUS_H
#define IDS_LIB_ATTACH_GRPC_STATUS_H

enum { IDS_GRPC_OK = 0 };

const char *ids_grpc_name(int status);
/* NULL where there is nothing better to do than to look at the program. `message` is what the server said. */
const char *ids_grpc_remedy(int status, const char *message);

#endif
