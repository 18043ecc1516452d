#include "lib/cli/nearest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 64, SHOWN = 4 };

static int least(int a, int b) {
    return a < b ? a : b;
}

int ids_edit_distance(const char *a, const char *b) {
    int rows[3][LONGEST + 1]; /* of the letter before the last one, the last one, this one */
    int a_length = (int)strlen(a), b_length = (int)strlen(b);
    if (a_length > LONGEST || b_length > LONGEST) return LONGEST;
    int *before = rows[0], *last = rows[1], *here = rows[2];
    for (int j = 0; j <= b_length; j++) {
        before[j] = 0;
        last[j] = j;
    }
    for (int i = 1; i <= a_length; i++) {
        here[0] = i;
        for (int j = 1; j <= b_length; j++) {
            here[j] = least(least(last[j], here[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            int swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) here[j] = least(here[j], before[j - 2] + 1);
        }
        int *spare = before;
        before = last;
        last = here;
        here = spare;
    }
    return last[b_length];
}

/* Smaller is nearer. Somebody who types a part of a long word means it more likely than one a few letters away. */
static int rank(const char *word, const char *choice) {
    size_t length = strlen(word);
    if (length >= 3 && !strncmp(word, choice, length)) return 1;
    if (length >= 3 && strstr(choice, word)) return 2;
    int distance = ids_edit_distance(word, choice);
    int far = (int)length / 3;
    return distance <= (far < 1 ? 1 : far > 4 ? 4 : far) ? 1 + distance : -1;
}

int ids_nearest(const char *word, ids_choice_fn *choice, const char *before, char *buffer, size_t size) {
    struct {
        const char *word;
        int rank;
    } best[SHOWN];
    int count = 0;
    for (int i = 0; choice(i); i++) {
        int here = rank(word, choice(i));
        if (here < 0) continue;
        int place = count;
        while (place && best[place - 1].rank > here) place--;
        if (place == SHOWN) continue;
        if (count < SHOWN) count++;
        memmove(&best[place + 1], &best[place], (size_t)(count - 1 - place) * sizeof *best);
        best[place].word = choice(i);
        best[place].rank = here;
    }
    size_t used = 0;
    buffer[0] = '\0';
    for (int i = 0; i < count && used < size; i++) {
        const char *between = !i ? "; did you mean " : i + 1 < count ? ", " : " or ";
        const char *after = i + 1 < count ? "" : "?";
        int length = snprintf(buffer + used, size - used, "%s'%s%s'%s", between, before, best[i].word, after);
        if (length > 0) used += (size_t)length;
    }
    return count;
}
