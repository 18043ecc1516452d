/* python_code.h - what the code objects are that frames run: their file, name and lines, copied while they were there.
 */
#ifndef IDS_COLLECTORS_COMMON_PYTHON_CODE_H
#define IDS_COLLECTORS_COMMON_PYTHON_CODE_H

#include "collectors/common/python_layout.h"

enum { IDS_PYTHON_CODES = 1 << 16 };

struct ids_python_code {
    uintptr_t address;
    uint64_t file_object, name_object; /* by which it is known again: another one may lie there later */
    int32_t first_line;
    int is_generator;              /* a coroutine too: it gives its frame back at each turn */
    uint32_t checked;              /* the sample in which it was last looked at */
    char *file, *name, *qualified; /* qualified: "Trainer.fit.<locals>.<listcomp>"; NULL before 3.11 */
    unsigned char *lines;
    size_t lines_size;
};

struct ids_python_codes {
    struct ids_python_code *at;
    uint32_t count, room;
    uint32_t *slots; /* by address: index + 1 of the latest one there */
    uint32_t slot_count;
};

void ids_python_codes_done(struct ids_python_codes *codes);

/* The number of the code object at an address, -1: there is none, or no memory. `sample` numbers the samples. */
int64_t ids_python_codes_find(struct ids_python_codes *codes, const struct ids_python_layout *layout, uintptr_t address,
                              uint32_t sample);

/* Where in its file an instruction comes from. Columns are bytes of the line from 0, -1 unknown (before 3.11). */
struct ids_python_location {
    int line, end_line, column, end_column;
};
/* `at`: the offset of the instruction in bytes. The line is 0 where the code does not tell. */
struct ids_python_location ids_python_code_location(const struct ids_python_code *code, int minor, uint32_t at);
/* Whether the instruction `at`, which is of `place`, comes from what stands behind that line and column: the body of a
 * "with", whose end is of the same place as its begin. From Python 3.11 on. */
int ids_python_code_comes_from(const struct ids_python_code *code, uint32_t at, struct ids_python_location place,
                               int line, int column);

#endif
