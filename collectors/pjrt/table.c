#include "collectors/pjrt/table.h"

struct ids_pjrt ids_pjrt;

int ids_table_has(const struct pjrt_table *table, enum pjrt_entry entry) {
    return table->size >= offsetof(struct pjrt_table, functions) + ((size_t)entry + 1) * sizeof(pjrt_function *) &&
           table->functions[entry];
}

int ids_pjrt_has(enum pjrt_entry entry) {
    return ids_table_has(ids_pjrt.real, entry);
}

void *ids_pjrt_call(enum pjrt_entry entry, void *arguments) {
    return ids_pjrt.real->functions[entry](arguments);
}

void ids_pjrt_destroy_error(void *error) {
    struct pjrt_error_destroy destroy = {.size = sizeof destroy, .error = error};
    if (ids_pjrt_has(PJRT_ERROR_DESTROY)) ids_pjrt_call(PJRT_ERROR_DESTROY, &destroy);
}

int ids_pjrt_try(enum pjrt_entry entry, void *arguments) {
    if (!ids_pjrt_has(entry)) return -1;
    void *error = ids_pjrt_call(entry, arguments);
    if (error) ids_pjrt_destroy_error(error);
    return error ? -1 : 0;
}
