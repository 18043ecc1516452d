/* page_file.h - a page into the file that --html names. */
#ifndef IDS_CMD_PAGE_FILE_H
#define IDS_CMD_PAGE_FILE_H

#include "lib/report/html/page.h"

enum ids_page_saying { IDS_PAGE_SAID, IDS_PAGE_SILENT };

/* The file is whole or not there; "-" is standard output. An existing file is kept unless `force`. What was written is
 * said on standard output, unless something else is printed there. */
/* Remembers what was typed, for pages whose report has no command of its own that makes it again. */
void ids_page_typed(int argc, char *const *argv);

int ids_page_to_file(const struct ids_page *page, const char *path, int force, enum ids_page_saying saying,
                     struct ids_error *err);
/* Whether there may be such a file, before the work is done. */
int ids_page_file_check(const char *path, int force, struct ids_error *err);

#endif
