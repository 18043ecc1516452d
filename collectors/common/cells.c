#include "collectors/common/cells.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 512, MOST_TEXT = 4 << 20 };

struct cell {
    char *path, *text;
    size_t length;
    char called[IDS_CELL_CALLED];
};

static pthread_mutex_t using = PTHREAD_MUTEX_INITIALIZER;
static atomic_int is_changing;
static struct {
    struct cell at[CELLS]; /* a ring; those without a path are free */
    size_t count;          /* of all that were added */
    size_t length;         /* of all texts */
} cells;

static void drop(struct cell *cell) {
    cells.length -= cell->length;
    free(cell->path);
    free(cell->text);
    *cell = (struct cell){0};
}

static struct cell *find(const char *path) {
    for (size_t i = 0; i < CELLS; i++) {
        if (cells.at[i].path && !strcmp(cells.at[i].path, path)) return &cells.at[i];
    }
    return NULL;
}

static void add(struct cell *added) {
    struct cell *same = find(added->path);
    if (same) drop(same);
    /* The oldest go first. */
    for (size_t i = 0; i < CELLS && cells.length + added->length > MOST_TEXT; i++)
        drop(&cells.at[(cells.count + i) % CELLS]);
    struct cell *slot = &cells.at[cells.count++ % CELLS];
    drop(slot);
    *slot = *added;
    cells.length += added->length;
}

void ids_cells_add(const char *path, const char *called, const char *text) {
    struct cell added = {.path = strdup(path), .text = strdup(text), .length = strlen(text)};
    snprintf(added.called, sizeof added.called, "%s", called);
    if (!added.path || !added.text || added.length > MOST_TEXT) {
        free(added.path);
        free(added.text);
        return;
    }
    pthread_mutex_lock(&using);
    atomic_store(&is_changing, 1);
    add(&added);
    atomic_store(&is_changing, 0);
    pthread_mutex_unlock(&using);
}

char *ids_cells_text(const char *path, size_t *ret_length) {
    pthread_mutex_lock(&using);
    const struct cell *cell = find(path);
    char *text = cell ? strdup(cell->text) : NULL;
    *ret_length = text ? cell->length : 0;
    pthread_mutex_unlock(&using);
    return text;
}

int ids_cells_called(const char *path, char called[IDS_CELL_CALLED]) {
    pthread_mutex_lock(&using);
    const struct cell *cell = find(path);
    if (cell) memcpy(called, cell->called, IDS_CELL_CALLED);
    pthread_mutex_unlock(&using);
    return cell != NULL;
}

void ids_cells_forked(void) {
    static const pthread_mutex_t free_mutex = PTHREAD_MUTEX_INITIALIZER;
    using = free_mutex;
    if (atomic_exchange(&is_changing, 0)) memset(&cells, 0, sizeof cells); /* in its middle: left as it lies */
}
