/* cause_programs.c - what a program that one side alone has, and those that do its work op by op, are one cause of. */
#include "lib/compare/cause_groups.h"

#include <string.h>

/* What waits for a program, or launches it, bears its name; in other accounts a function of the program may. */
static int is_named_after_programs(const struct ids_cause *cause) {
    return !strcmp(cause->account, ids_account_id(IDS_DEVICE_QUEUE)) ||
           !strcmp(cause->account, ids_account_id(IDS_DEVICE_IN_PROGRAM)) ||
           !strcmp(cause->account, ids_account_id(IDS_HOST_DISPATCH));
}

static const struct ids_program_change *change_of_op(const struct ids_programs *programs,
                                                     const struct ids_entry *entry) {
    const struct ids_cause *cause = &entry->cause;
    if (cause->match) return ids_programs_change_of_match(programs, cause->match);
    return cause->is_in_a == cause->is_in_b ? NULL : ids_programs_change_of(programs, cause->is_in_b, entry->module);
}

/* Of the time that is no op's, that of what runs op by op: a program that is new is one name there already. */
static const struct ids_program_change *change_named(const struct ids_entries *entries, const char *culprit) {
    const char *names[] = {culprit, ids_report_text(entries->texts, "jit_%s", culprit)};
    for (size_t n = 0; n < 4; n++) {
        const struct ids_program_change *change =
            ids_programs_change_of(&entries->structure->programs, n & 1, names[n / 2]);
        if (change && change->part_count) return change;
    }
    return NULL;
}

static const struct ids_program_change *change_of(const struct ids_entries *entries, const struct ids_entry *entry) {
    const struct ids_cause *cause = &entry->cause;
    if (entry->is_gone || !cause->culprit) return NULL;
    if (cause->kind == IDS_CAUSE_OP) return change_of_op(&entries->structure->programs, entry);
    int is_named = cause->kind == IDS_CAUSE_CULPRIT && is_named_after_programs(cause);
    return is_named ? change_named(entries, cause->culprit) : NULL;
}

static void begin(struct ids_cause *cause, const struct ids_program_change *change) {
    cause->kind = IDS_CAUSE_PROGRAM;
    cause->program = change;
    cause->culprit = change->part_count ? change->function : change->name;
    cause->where = change->where;
    cause->source = cause->call_before = cause->name_before = cause->file_before = NULL;
    cause->match = NULL;
    cause->is_place_before = 0;
}

int ids_group_programs(struct ids_entries *entries) {
    const struct ids_programs *programs = &entries->structure->programs;
    struct ids_keymap wholes = {0};
    int failed = 0;
    for (size_t i = 0; i < entries->count && programs->count && !failed; i++) {
        struct ids_entry *entry = &entries->at[i];
        const struct ids_program_change *change = change_of(entries, entry);
        if (!change) continue;
        uint64_t *number = ids_keymap_at(
            &wholes, ids_key_of(ids_entry_key(entry->cause.account, NULL, NULL), (uint64_t)(change - programs->at)));
        failed = !number;
        if (failed) break;
        begin(&entry->cause, change);
        if (!*number) {
            *number = i + 1;
            continue;
        }
        struct ids_entry *whole = &entries->at[*number - 1];
        whole->cause.is_in_a |= entry->cause.is_in_a;
        whole->cause.is_in_b |= entry->cause.is_in_b;
        ids_entry_put_into(entries, whole, entry);
    }
    ids_keymap_done(&wholes);
    return failed;
}
