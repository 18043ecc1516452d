/* redactor.h - takes what names people, machines, folders and arguments out of texts.
 *
 * A redactor first learns: it is shown every text of a run, and notes the names of hosts and of users that it finds (of
 * users in paths of home folders). Then it rewrites texts: learned names wherever they stand, and by their form paths,
 * names of the program's files, addresses, what follows an option or a variable of the environment. The same name
 * becomes the same word everywhere (pseudonym.h). What is public stays: names of the files of known libraries, by which
 * a report knows whose code runs, and the words of public_words.def.
 */
#ifndef IDS_LIB_REDACT_REDACTOR_H
#define IDS_LIB_REDACT_REDACTOR_H

#include "lib/base/buffer.h"
#include "lib/redact/learned.h"

/* What a text is. */
enum ids_redacted_kind {
    IDS_REDACT_TEXT,   /* anything: only what its form gives away, and learned names */
    IDS_REDACT_NAME,   /* of an event, an op, a function, a thread: with `names` its words too */
    IDS_REDACT_VALUE,  /* of a stat: as a name; one that begins as a path is a path to its end */
    IDS_REDACT_PATH,   /* of a file */
    IDS_REDACT_SOURCE, /* of a file, with ":12" behind it */
    IDS_REDACT_HOST,   /* of a machine, a user, or a file that is called as they are: a pseudonym as a whole */
    IDS_REDACT_SAID,   /* a sentence of idsprof about texts that are taken out already: options in it are its own */
    IDS_REDACT_LIST,   /* of arguments: numbers stay, and words such as True; of others nobody knows what they say */
    IDS_REDACT_WHOLE,  /* nobody knows what it says: a pseudonym as a whole unless it has no letters */
    IDS_REDACT_KINDS
};

/* Appends the text to `out` as others may see it. While the redactor learns, what is appended is not to be used. */
void ids_redact(struct ids_redactor *redactor, struct ids_text text, enum ids_redacted_kind kind,
                struct ids_buffer *out);

#endif
