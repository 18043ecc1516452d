#include "collectors/common/spells.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { SPELLS = 32 };

struct spell {
    uint64_t pthread;
    int64_t begin_ns, end_ns;
    char name[IDS_SPELL_NAME];
};

static pthread_mutex_t using = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct spell at[SPELLS];
    uint32_t count; /* of all that were added; the last ones are kept */
} spells;

void ids_spells_add(uint64_t pthread, int64_t begin_ns, int64_t end_ns, const char *name) {
    pthread_mutex_lock(&using);
    struct spell *spell = &spells.at[spells.count++ % SPELLS];
    spell->pthread = pthread;
    spell->begin_ns = begin_ns;
    spell->end_ns = end_ns;
    snprintf(spell->name, sizeof spell->name, "%s", name);
    pthread_mutex_unlock(&using);
}

static int holds(const struct spell *spell, uint64_t pthread, const struct ids_sample_run *run) {
    int64_t from_ns = spell->begin_ns > run->first_ns ? spell->begin_ns : run->first_ns,
            to_ns = spell->end_ns < run->last_ns ? spell->end_ns : run->last_ns;
    return spell->pthread == pthread && from_ns <= to_ns && to_ns - from_ns >= (run->last_ns - run->first_ns) / 2;
}

uint32_t ids_spells_of(uint64_t pthread, const struct ids_sample_run *run,
                       char names[IDS_SPELLS_AT_ONCE][IDS_SPELL_NAME]) {
    uint32_t found = 0;
    pthread_mutex_lock(&using);
    for (uint32_t i = spells.count > SPELLS ? spells.count - SPELLS : 0; i < spells.count; i++) {
        const struct spell *spell = &spells.at[i % SPELLS];
        if (found == IDS_SPELLS_AT_ONCE || !holds(spell, pthread, run)) continue;
        if (found && !strcmp(names[found - 1], spell->name)) continue;
        memcpy(names[found++], spell->name, sizeof spell->name);
    }
    pthread_mutex_unlock(&using);
    return found;
}

void ids_spells_forget(void) {
    static const pthread_mutex_t free_mutex = PTHREAD_MUTEX_INITIALIZER;
    using = free_mutex;
    spells.count = 0;
}
