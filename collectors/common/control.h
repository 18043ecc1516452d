/* control.h - the socket at which a profiled process answers `idsprof trigger`.
 *
 * A unix stream socket ${XDG_RUNTIME_DIR:-/tmp}/idsprof-<uid>/<pid>.sock in a folder of mode 0700 that must belong to
 * the user; who connects must be the same user or root. One request a connection: a line "who", "start" or "stop"; the
 * answer is one line of JSON:
 * {"pid":1,"launcher":2,"session":"...","state":"waiting","window":0,"opened":0,"step":17,"command":"python train.py"},
 * with "ok":false and "why" where a start or stop was not possible.
 */
#ifndef IDS_COLLECTORS_COMMON_CONTROL_H
#define IDS_COLLECTORS_COMMON_CONTROL_H

#include <stddef.h>
#include <stdint.h>

enum { IDS_CONTROL_PATH = 108, IDS_CONTROL_LINE = 4096, IDS_CONTROL_TIMEOUT_MS = 2000 };
enum { IDS_WISH_NAME = 32, IDS_WISH_TEXT = 160 };

/* What a "start" asks of the window: "start steps=3;duration_ns=1000000000;name=checkpoint", each part of it only where
 * it was given. */
struct ids_control_wish {
    int64_t steps, duration_ns; /* -1: as the capture's options say */
    int is_block;               /* the program itself asks, where a block begins that it wants recorded */
    char name[IDS_WISH_NAME];   /* of the run's folder, behind the rest; "": none */
};

/* Whether a name can stand in that of a folder. */
int ids_control_name_valid(const char *name);
/* 0, or -1 when the request is no start; parts that are not understood are passed over. */
int ids_control_read_wish(const char *request, struct ids_control_wish *ret_wish);
void ids_control_write_wish(const struct ids_control_wish *wish, char request[IDS_WISH_TEXT]);

/* The folder of the sockets, made when it is not there. 0, or -1 with the reason. */
int ids_control_folder(char *path, size_t size, char *why, size_t why_size);
/* Listens for this process. The descriptor, or -1 with the reason. */
int ids_control_listen(char *ret_path, size_t size, char *why, size_t why_size);
/* Takes one connection and reads its request, without its newline, within IDS_CONTROL_TIMEOUT_MS: the descriptor to
 * answer at, or -1 when there is nothing to answer. */
int ids_control_accept(int listener, char *request, size_t size);
/* Writes the answer and ends the connection. */
void ids_control_answer(int connection, const char *text, size_t length);
/* The other side: asks the process at `path` and waits for its answer, without its newline. 0, or -1 with the reason;
 * -2 when nobody listens there any more. */
int ids_control_ask(const char *path, const char *request, char *answer, size_t size, char *why, size_t why_size);

#endif
