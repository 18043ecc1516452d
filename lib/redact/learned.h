/* learned.h - what a redactor knows: its key, and the names that it has to take out of every text. */
#ifndef IDS_LIB_REDACT_LEARNED_H
#define IDS_LIB_REDACT_LEARNED_H

#include "lib/base/error.h"
#include "lib/base/intern.h"
#include "lib/redact/pseudonym.h"

struct ids_redactor {
    struct ids_pseudonym_key key;
    int names; /* words of names that are no public ones become pseudonyms too */
    int learns;
    struct ids_strings learned; /* in small letters */
    unsigned char begins[256];  /* whether a learned name begins so */
    int failed;                 /* memory ran out while it learned */
};

void ids_redactor_init(struct ids_redactor *redactor, const void *key, size_t key_length, int names);
void ids_redactor_done(struct ids_redactor *redactor);

/* Notes a name that is to be taken out of all texts; public words and short names are not. */
void ids_redactor_learn(struct ids_redactor *redactor, struct ids_text name);
/* How many bytes the longest learned name has that stands at the begin of the text; 0 none. */
size_t ids_learned_at(const struct ids_redactor *redactor, struct ids_text text);

#endif
