#include "lib/base/counted.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *plural_ending(const char *noun) {
    size_t length = strlen(noun);
    char last = length ? noun[length - 1] : ' ', before = length > 1 ? noun[length - 2] : ' ';
    if (last == 'y' && !strchr("aeiou", before)) return "ies";
    if (strchr("sx", last) || (last == 'h' && strchr("cs", before))) return "es";
    return "s";
}

char *ids_counted(uint64_t count, const char *noun, char buffer[IDS_COUNTED_ROOM]) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    size_t used = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) buffer[used++] = ',';
        buffer[used++] = digits[i];
    }
    const char *ending = count == 1 ? "" : plural_ending(noun);
    int stem = (int)strlen(noun) - (*ending == 'i');
    snprintf(buffer + used, IDS_COUNTED_ROOM - used, " %.*s%s", stem, noun, ending);
    return buffer;
}
