/* For every layer but cmd/, lib/cli, lib/report and lib/render: text goes to a FILE * only in the renderers. */
#ifndef IDS_POISON_STREAMS_H
#define IDS_POISON_STREAMS_H

#include <stdarg.h>
#include <stdio.h>

#include "forbid.h"

#define IDS_RENDERS "only lib/report, lib/render, lib/cli and cmd/ write text to a stream"
IDS_FORBID(fprintf, IDS_RENDERS);
IDS_FORBID(vfprintf, IDS_RENDERS);
IDS_FORBID(dprintf, IDS_RENDERS);
IDS_FORBID(fputs, IDS_RENDERS);
IDS_FORBID(fputc, IDS_RENDERS);
IDS_FORBID(putc, IDS_RENDERS);

#endif
