/* account_look.h - the colours of accounts, wherever something draws them: a terminal, a page. */
#ifndef IDS_LIB_MODEL_ACCOUNT_LOOK_H
#define IDS_LIB_MODEL_ACCOUNT_LOOK_H

#include "lib/model/account.h"

struct ids_account_look {
    const char *light, *dark; /* on a page: "#rrggbb", on a light ground and on a dark one */
    const char *escape;       /* on a terminal: the escape sequence that begins the colour */
};

/* Never NULL: what has no account is grey. */
const struct ids_account_look *ids_account_look(enum ids_account account);

#endif
