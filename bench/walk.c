/* walk.c - the limit: reads an XSpace once and visits every field of every event and stat, and stores nothing. Prints
 * the seconds that took, the file already being in memory, and the counts. No reader of this file can be faster on one
 * core. cc -O3 -I. bench/walk.c -o walk; walk FILE */
#include "lib/wire/pb_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t events, stats, sum;

static void visit(struct ids_pb pb, int depth) {
    /* XSpace.planes, XPlane.lines, XLine.events, XEvent.stats: one message inside the other (xplane.proto) */
    static const uint32_t inner[] = {1, 3, 4, 4};
    struct ids_pb_field field;
    while (ids_pb_next(&pb, &field) > 0) {
        sum += field.value;
        if (depth == 4 || field.number != inner[depth] || field.wire != IDS_PB_BYTES) continue;
        events += depth == 2;
        stats += depth == 3;
        visit(ids_pb_inside(&field), depth + 1);
    }
}

int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!file) return 2;
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(size);
    if (!bytes || fread(bytes, 1, size, file) != size) return 2;
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    visit((struct ids_pb){bytes, bytes + size}, 0);
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%.4f %llu %llu %llu\n", (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec),
           (unsigned long long)events, (unsigned long long)stats, (unsigned long long)sum);
    return 0;
}
