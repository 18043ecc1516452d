/* file_server.h - one file for one browser, over HTTP on the loopback interface.
 *
 * A browser is no friend: any page in it can send requests to this machine, by a name of its own that leads here too.
 * So the address holds a random token, requests under another Host or from another origin are refused, and nothing but
 * the one file is there, and answers to one question where the caller gives them. The server ends when the file was
 * delivered, or after a time.
 */
#ifndef IDS_LIB_VIEW_FILE_SERVER_H
#define IDS_LIB_VIEW_FILE_SERVER_H

#include "lib/base/error.h"

#include <stdint.h>

struct ids_file_server;

struct ids_file_server_params {
    int fd;             /* of the file, which may have no name any more; the server closes it */
    const char *name;   /* the last part of the address; letters, digits, '.', '-' and '_' */
    const char *type;   /* "text/html; charset=utf-8" */
    const char *origin; /* pages from there may read it ("https://ui.perfetto.dev"); NULL: none */
    int port;           /* 0: any */
    /* What is asked beside the file, at "<token>/<question>?KEY=VALUE"; NULL: nothing. */
    const char *question;
    const char *const *keys; /* at most IDS_QUESTION_KEYS, and NULL behind them */
    /* The answer as allocated JSON to the values of the keys, NULL where one is missing; NULL: it cannot be given. One
     * question at a time, on the server's thread. */
    char *(*answer)(void *own, const char *const *values, size_t *ret_length);
    void *own;
};

enum { IDS_QUESTION_KEYS = 4 };

/* Begins to serve, on a thread of its own. The caller ends it with ids_file_server_stop. */
int ids_file_server_start(const struct ids_file_server_params *params, struct ids_file_server **ret_server,
                          struct ids_error *err);
/* "http://127.0.0.1:9001/<token>/<name>" */
const char *ids_file_server_address(const struct ids_file_server *server);
int ids_file_server_port(const struct ids_file_server *server);
/* 1 when the file was delivered as a whole, 0 when that did not happen in time. */
int ids_file_server_wait(struct ids_file_server *server, int64_t timeout_ns);
/* ... and then, until nobody asked anything for so long. */
void ids_file_server_wait_idle(struct ids_file_server *server, int64_t idle_ns);
void ids_file_server_stop(struct ids_file_server *server);

#endif
