#include "collectors/common/python_code.h"

#include "collectors/common/own_memory.h"

#include <stdlib.h>
#include <string.h>

/* Of PyASCIIObject, PyCompactUnicodeObject and PyBytesObject, with 64 bits. */
enum { TEXT_LENGTH = 16, TEXT_STATE = 32, BYTES_LENGTH = 16, BYTES_BEGIN = 32 };
/* co_flags of generators, coroutines and both in one. */
enum { OF_GENERATORS = 0x20 | 0x80 | 0x200 };
enum { LONGEST_TEXT = 4096, LONGEST_LINES = 1 << 20, CHECK_EVERY = 16, OBJECT_TYPE = 8 };

void ids_python_codes_done(struct ids_python_codes *codes) {
    for (uint32_t i = 0; i < codes->count; i++) {
        free(codes->at[i].file);
        free(codes->at[i].name);
        free(codes->at[i].qualified);
        free(codes->at[i].lines);
    }
    free(codes->at);
    free(codes->slots);
    *codes = (struct ids_python_codes){0};
}

/* --- texts ------------------------------------------------------------------------------------------------------ */

static size_t put_letter(char *to, uint32_t letter) {
    if (letter < 0x80) {
        to[0] = (char)letter;
        return 1;
    }
    size_t more = letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;
    static const unsigned char heads[] = {0, 0xc0, 0xe0, 0xf0};
    to[0] = (char)(heads[more] | letter >> 6 * more);
    for (size_t i = 1; i <= more; i++) to[i] = (char)(0x80 | (letter >> 6 * (more - i) & 0x3f));
    return more + 1;
}

/* In UTF-8; NULL when it is no text in one piece, or there is no memory. */
static char *copy_text(const struct ids_python_layout *layout, uint64_t object) {
    uint64_t length;
    uint32_t state;
    if (ids_own_memory((uintptr_t)object + TEXT_LENGTH, &length, sizeof length) || length > LONGEST_TEXT ||
        ids_own_memory((uintptr_t)object + TEXT_STATE, &state, sizeof state))
        return NULL;
    enum { KIND = 2, COMPACT = 5, ASCII = 6 };
    uint32_t kind = state >> KIND & 7, is_compact = state >> COMPACT & 1, is_ascii = state >> ASCII & 1;
    if (!is_compact || (kind != 1 && kind != 2 && kind != 4)) return NULL;
    size_t begin = layout->ascii_of_text + (is_ascii ? 0 : layout->ascii_of_text == 48 ? 24 : 16);
    char *text = malloc(length * 4 + 1);
    unsigned char *letters = malloc(length * kind + 1);
    if (text && letters && !ids_own_memory((uintptr_t)object + begin, letters, length * kind)) {
        size_t used = 0;
        for (size_t i = 0; i < length; i++) {
            uint32_t letter = 0;
            memcpy(&letter, letters + i * kind, kind);
            used += put_letter(text + used, letter < 0x20 ? '?' : letter);
        }
        text[used] = '\0';
    } else {
        free(text);
        text = NULL;
    }
    free(letters);
    return text;
}

static int copy_bytes(uint64_t object, unsigned char **ret_bytes, size_t *ret_size) {
    uint64_t size;
    if (ids_own_memory((uintptr_t)object + BYTES_LENGTH, &size, sizeof size) || size > LONGEST_LINES) return -1;
    *ret_bytes = malloc(size + 1);
    *ret_size = (size_t)size;
    return *ret_bytes && !ids_own_memory((uintptr_t)object + BYTES_BEGIN, *ret_bytes, (size_t)size) ? 0 : -1;
}

/* --- the table -------------------------------------------------------------------------------------------------- */

static uint32_t *slot_of(const struct ids_python_codes *codes, uintptr_t address) {
    uint32_t at = (uint32_t)((address >> 4) * 0x9E3779B97F4A7C15u >> 40) & (codes->slot_count - 1);
    while (codes->slots[at] && codes->at[codes->slots[at] - 1].address != address)
        at = (at + 1) & (codes->slot_count - 1);
    return &codes->slots[at];
}

static int grow(struct ids_python_codes *codes) {
    uint32_t room = codes->room ? 2 * codes->room : 256;
    struct ids_python_code *at = realloc(codes->at, room * sizeof *at);
    if (!at) return -1;
    codes->at = at;
    uint32_t *slots = calloc(2 * (size_t)room, sizeof *slots);
    if (!slots) return -1;
    free(codes->slots);
    codes->slots = slots;
    codes->slot_count = 2 * room;
    codes->room = room;
    for (uint32_t i = 0; i < codes->count; i++) *slot_of(codes, codes->at[i].address) = i + 1;
    return 0;
}

static uint64_t word_of(const unsigned char *object, size_t at) {
    uint64_t word;
    memcpy(&word, object + at, sizeof word);
    return word;
}

/* Reads it whole; -1 when it is no code object. */
static int read_code(const struct ids_python_layout *layout, uintptr_t address, struct ids_python_code *code) {
    unsigned char object[IDS_PYTHON_CODE];
    *code = (struct ids_python_code){.address = address};
    if (ids_own_memory(address, object, sizeof object) || word_of(object, OBJECT_TYPE) != layout->code_type) return -1;
    code->file_object = word_of(object, layout->code_filename);
    code->name_object = word_of(object, layout->code_name);
    memcpy(&code->first_line, object + layout->code_first_line, sizeof code->first_line);
    uint32_t flags;
    memcpy(&flags, object + layout->code_flags, sizeof flags);
    code->is_generator = (flags & OF_GENERATORS) != 0;
    code->file = copy_text(layout, code->file_object);
    code->name = copy_text(layout, code->name_object);
    code->qualified = layout->code_qualified ? copy_text(layout, word_of(object, layout->code_qualified)) : NULL;
    if (code->file && code->name && !copy_bytes(word_of(object, layout->code_lines), &code->lines, &code->lines_size))
        return 0;
    free(code->file);
    free(code->name);
    free(code->qualified);
    free(code->lines);
    return -1;
}

static int is_same(const struct ids_python_layout *layout, const struct ids_python_code *code) {
    unsigned char object[IDS_PYTHON_CODE];
    return !ids_own_memory(code->address, object, sizeof object) && word_of(object, OBJECT_TYPE) == layout->code_type &&
           word_of(object, layout->code_filename) == code->file_object &&
           word_of(object, layout->code_name) == code->name_object &&
           !memcmp(object + layout->code_first_line, &code->first_line, sizeof code->first_line);
}

int64_t ids_python_codes_find(struct ids_python_codes *codes, const struct ids_python_layout *layout, uintptr_t address,
                              uint32_t sample) {
    if (codes->count == codes->room && (codes->count >= IDS_PYTHON_CODES || grow(codes))) return -1;
    uint32_t *slot = slot_of(codes, address);
    if (*slot) {
        struct ids_python_code *known = &codes->at[*slot - 1];
        if (sample - known->checked < CHECK_EVERY || is_same(layout, known)) {
            if (sample - known->checked >= CHECK_EVERY) known->checked = sample;
            return *slot - 1;
        }
    }
    struct ids_python_code fresh;
    if (read_code(layout, address, &fresh)) return -1;
    fresh.checked = sample;
    codes->at[codes->count++] = fresh;
    *slot = codes->count;
    return codes->count - 1;
}

/* --- lines ------------------------------------------------------------------------------------------------------ */

/* Six bits a byte, the lowest first. */
static unsigned take_number(const unsigned char **at, const unsigned char *end) {
    unsigned number = 0, shift = 0;
    while (*at < end && shift < 30) {
        unsigned byte = *(*at)++;
        number |= (byte & 63) << shift;
        shift += 6;
        if (!(byte & 64)) break;
    }
    return number;
}

static int take_signed(const unsigned char **at, const unsigned char *end) {
    unsigned number = take_number(at, end);
    return number & 1 ? -(int)(number >> 1) : (int)(number >> 1);
}

/* 3.11 and later: entries of 1 to 8 instructions, of several forms. */
enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG_FORM = 14, NOWHERE = 15 };

static struct ids_python_location of_entry(int form, const unsigned char **at, const unsigned char *end, int *line) {
    struct ids_python_location place = {0, 0, -1, -1};
    if (form == NOWHERE) return place;
    if (form >= NO_COLUMNS) *line += take_signed(at, end);
    if (form >= ONE_LINE && form < NO_COLUMNS) *line += form - ONE_LINE;
    place.line = place.end_line = *line;
    if (form == LONG_FORM) {
        place.end_line += (int)take_number(at, end);
        place.column = (int)take_number(at, end) - 1;
        place.end_column = (int)take_number(at, end) - 1;
    } else if (form < NO_COLUMNS && end - *at >= (form < ONE_LINE ? 1 : 2)) {
        int first = *(*at)++;
        place.column = form < ONE_LINE ? form << 3 | first >> 4 : first;
        place.end_column = form < ONE_LINE ? place.column + (first & 15) : *(*at)++;
    }
    return place;
}

static struct ids_python_location location_of(const struct ids_python_code *code, uint32_t unit) {
    const unsigned char *at = code->lines, *end = at + code->lines_size;
    int line = code->first_line;
    for (uint32_t units = 0; at < end;) {
        unsigned head = *at++;
        struct ids_python_location place = of_entry(head >> 3 & 15, &at, end, &line);
        units += (head & 7) + 1;
        if (unit < units) return place;
    }
    return (struct ids_python_location){0, 0, -1, -1};
}

static int is_same_place(struct ids_python_location a, struct ids_python_location b) {
    return a.line == b.line && a.end_line == b.end_line && a.column == b.column && a.end_column == b.end_column;
}

int ids_python_code_comes_from(const struct ids_python_code *code, uint32_t at, struct ids_python_location place,
                               int line, int column) {
    const unsigned char *entry = code->lines, *end = entry + code->lines_size;
    int now = code->first_line, is_behind = 0;
    for (uint32_t units = 0; entry < end && units <= at / 2;) {
        unsigned head = *entry++;
        struct ids_python_location from = of_entry(head >> 3 & 15, &entry, end, &now);
        units += (head & 7) + 1;
        if (from.line && !is_same_place(from, place))
            is_behind = from.line > line || (from.line == line && from.column > column);
    }
    return is_behind;
}

/* Pairs of bytes and lines. 3.10: the entry's bytes, and how its line differs (-128: it has none); 3.9: the bytes up to
 * the next line. */
static int line_of_pairs(const struct ids_python_code *code, int minor, uint32_t at) {
    int line = code->first_line;
    uint32_t begin = 0;
    for (size_t i = 0; i + 1 < code->lines_size; i += 2) {
        signed char lines = (signed char)code->lines[i + 1];
        uint32_t end = begin + code->lines[i];
        if (minor >= 10 && lines != -128) line += lines;
        if (at < end) break;
        if (minor < 10) line += lines;
        begin = end;
    }
    return line;
}

struct ids_python_location ids_python_code_location(const struct ids_python_code *code, int minor, uint32_t at) {
    if (minor >= 11) return location_of(code, at / 2);
    int line = line_of_pairs(code, minor, at);
    return (struct ids_python_location){line, line, -1, -1};
}
