/* For every layer but cmd/ and lib/cli: a library reports through `struct ids_error` and never prints, ends the
 * process, depends on the locale, or writes past a buffer. */
#ifndef IDS_POISON_LIBRARY_H
#define IDS_POISON_LIBRARY_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "forbid.h"

#define IDS_PRINTS "only cmd/ and lib/cli print: return an ids_error, or write to the FILE * the caller gave"
IDS_FORBID(printf, IDS_PRINTS);
IDS_FORBID(vprintf, IDS_PRINTS);
IDS_FORBID(puts, IDS_PRINTS);
IDS_FORBID(putchar, IDS_PRINTS);
IDS_FORBID(perror, IDS_PRINTS);
IDS_FORBID(stdout, IDS_PRINTS);
IDS_FORBID(stderr, IDS_PRINTS);

#define IDS_ENDS "only cmd/ and lib/cli end the process: return an ids_error"
IDS_FORBID(exit, IDS_ENDS);
IDS_FORBID(_exit, IDS_ENDS);
IDS_FORBID(_Exit, IDS_ENDS);
IDS_FORBID(quick_exit, IDS_ENDS);
IDS_FORBID(abort, IDS_ENDS);

#define IDS_SHELL "no layer starts a shell"
IDS_FORBID(system, IDS_SHELL);
IDS_FORBID(popen, IDS_SHELL);

#define IDS_LOCALE "depends on the locale or hides errors: parse exact decimals with lib/base"
IDS_FORBID(setlocale, IDS_LOCALE);
IDS_FORBID(atof, IDS_LOCALE);
IDS_FORBID(atoi, IDS_LOCALE);
IDS_FORBID(atol, IDS_LOCALE);
IDS_FORBID(atoll, IDS_LOCALE);
IDS_FORBID(strtod, IDS_LOCALE);
IDS_FORBID(strtof, IDS_LOCALE);
IDS_FORBID(strtold, IDS_LOCALE);

#define IDS_UNBOUNDED "writes without a bound: use lib/base/str, snprintf or memcpy"
IDS_FORBID(strcpy, IDS_UNBOUNDED);
IDS_FORBID(strcat, IDS_UNBOUNDED);
IDS_FORBID(sprintf, IDS_UNBOUNDED);
IDS_FORBID(vsprintf, IDS_UNBOUNDED);

#endif
