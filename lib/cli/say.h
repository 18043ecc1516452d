/* say.h - the only way to standard error for a message (progress.c draws its line itself).
 *
 * Messages quote paths, members of archives, schemas and what programs said: all of it is made clean here
 * (lib/wire/clean.h). contract.messages refuses another way.
 */
#ifndef IDS_LIB_CLI_SAY_H
#define IDS_LIB_CLI_SAY_H

/* "idsprof: COMMAND: message", and a new line; "idsprof: message" where command is NULL. */
void ids_say(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with `indent` spaces instead of "idsprof: ...". */
void ids_say_below(int indent, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "idsprof: WHAT     message", wrapped below itself. */
void ids_say_wrapped(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
