/* told_files.h - how reports call a file of the program that samples saw: by its name, and with as many of its folders
 * as tell it from other files of that name, "a/loader.py". */
#ifndef IDS_LIB_MODEL_TOLD_FILES_H
#define IDS_LIB_MODEL_TOLD_FILES_H

#include "lib/model/trace.h"

/* Finds the files of the program that are called alike, for ids_told_file. 0, or -1 when memory ran out. */
int ids_told_files_find(struct ids_trace *trace);
/* The end of the path that is told. */
struct ids_text ids_told_file(const struct ids_trace *trace, struct ids_text file);

#endif
