/* ascii.h - text for a terminal that shows ASCII only. */
#ifndef IDS_LIB_CLI_ASCII_H
#define IDS_LIB_CLI_ASCII_H

/* Whether the environment asks for ASCII: the first of LC_ALL, LC_CTYPE and LANG that is set names a locale that is not
 * UTF-8. Where none is set, texts stay UTF-8, which terminals of today show. */
int ids_ascii_wanted(void);

/* Replaces standard error, and standard output when `and_stdout`, by streams that write ASCII: dots, dashes and arrows
 * become their likes of the same width, other characters a question mark. */
void ids_ascii_output(int and_stdout);

#endif
