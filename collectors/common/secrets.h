/* secrets.h - masks everything in a command line that looks like a secret, before it is written.
 *
 * Masked are values of names with a word such as token, key, secret, password (`--api-key=x`, `--token x`,
 * `WANDB_API_KEY=x`, `"password": "x"`, `?sig_key=x`), what follows Authorization or Bearer, passwords in URLs and
 * behind -u user:, and words that begin as the tokens of well-known services do. A name that ends with a word such as
 * file or size tells of no secret.
 */
#ifndef IDS_COLLECTORS_COMMON_SECRETS_H
#define IDS_COLLECTORS_COMMON_SECRETS_H

#include <stddef.h>

/* What the arguments before say of the next one. Zero for the first. */
struct ids_secrets {
    int next_is_value;  /* behind "--token" */
    int next_is_user;   /* behind "-u" */
    int next_is_script; /* behind "-c" */
};

/* An argument with secrets replaced by "***"; as much as fits. `size` twice that of the argument and 8 more is
 * always enough. */
void ids_secrets_mask(struct ids_secrets *secrets, const char *argument, char *masked, size_t size);
/* 1 when a name is that of a secret. */
int ids_secrets_is_name(const char *name, size_t length);

#endif
