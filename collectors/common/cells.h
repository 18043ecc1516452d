/* cells.h - the cells of a notebook: what IPython calls each, "In[3]", and its text. The code objects of a cell have
 * the name of a file that is not there, "/tmp/ipykernel_17/2519163894.py" (ipykernel's compiler.py) or
 * "<ipython-input-3-0a1b2c>" (IPython's compilerop.py), which says nothing to who wrote it. */
#ifndef IDS_COLLECTORS_COMMON_CELLS_H
#define IDS_COLLECTORS_COMMON_CELLS_H

#include <stddef.h>

enum { IDS_CELL_CALLED = 32 };

/* `path`: the file name of its code objects. The last few hundred are kept, with some megabytes of text in all; of a
 * path that was there the later one. From any thread; all texts are copied. */
void ids_cells_add(const char *path, const char *called, const char *text);
/* A copy of its text, for free(), and its length; NULL: the path is no cell's, or there is no memory. */
char *ids_cells_text(const char *path, size_t *ret_length);
/* 1, or 0: the path is no cell's. */
int ids_cells_called(const char *path, char called[IDS_CELL_CALLED]);
/* In the child of a fork: the cells are those of the parent, but for a thread that is not there and was adding one. */
void ids_cells_forked(void);

#endif
