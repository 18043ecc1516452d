#include "lib/model/programs.h"

#include "lib/base/vec.h"

int ids_program_memory_add(struct ids_trace *trace, uint32_t host, const struct ids_program_memory_info *info) {
    if (trace->program_count == IDS_PROGRAMS_MOST) return 0;
    struct ids_program_memory *program = IDS_PUSH(trace->programs, trace->program_count, trace->program_room);
    if (!program) return -1;
    *program = (struct ids_program_memory){.host = host,
                                           .info = *info,
                                           .first_value = trace->program_value_count,
                                           .first_kept = trace->kept_argument_count};
    program->info.values = NULL;
    program->info.kept = NULL;
    program->info.value_count = program->info.kept_count = 0;
    for (size_t i = 0; i < info->value_count && trace->program_value_count < IDS_PROGRAM_VALUES_MOST; i++) {
        struct ids_program_value *value =
            IDS_PUSH(trace->program_values, trace->program_value_count, trace->program_value_room);
        if (!value) return -1;
        *value = info->values[i];
        program->info.value_count++;
    }
    for (size_t i = 0; i < info->kept_count; i++) {
        struct ids_kept_argument *kept =
            IDS_PUSH(trace->kept_arguments, trace->kept_argument_count, trace->kept_argument_room);
        if (!kept) return -1;
        *kept = info->kept[i];
        program->info.kept_count++;
    }
    return 0;
}
