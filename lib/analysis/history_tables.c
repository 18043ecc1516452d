#include "lib/analysis/history_tables.h"

static const struct ids_column_def history_columns[IDS_HISTORY_COLUMNS] = {
    {"process", "process", IDS_UNIT_NONE, IDS_COLUMN_NAME},
    {"first", "first", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"last", "last", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"steps", "steps", IDS_UNIT_COUNT, 0},
    {"time", "in", IDS_UNIT_TIME, 0},
    {"median", "median", IDS_UNIT_TIME, 0},
    {"slowest", "slowest", IDS_UNIT_TIME, 0},
    {"slow", "slow", IDS_UNIT_COUNT, 0},
    {"compilations", "compiled", IDS_UNIT_COUNT, 0},
    {"collectives", "collectives", IDS_UNIT_COUNT, IDS_COLUMN_SPARE},
    {"line", "slowest of each part: █ is 8 medians", IDS_UNIT_NONE, 0},
};

const struct ids_table_def ids_history_table = {
    "history",
    "history",
    history_columns,
    IDS_HISTORY_COLUMNS,
    "What the agent saw of a process under capture: its latest steps, at most 10,000, whether or not a window was "
    "open. A step takes from its beginning to that of the next one, without the time for which the program stood still "
    "for a window. Slow are steps that took longer than --when says, without it more than twice the running median of "
    "101 steps (of the first ones that of the first 101), and recorded ones also more than twice the median of these; "
    "the first ten, those in which a window "
    "opened or closed, and those half of which is the first compilation of a function or more, are not judged. None is "
    "slow, and empty is how many are, but by --when, where a quarter of the steps of the window or more were called in "
    "less than half of their time, and others too: a program that launches steps and does not wait for them is told by "
    "its calls alone. `line` has a character "
    "for each part of the steps: ▁ is below 1.25 medians, then ▂ below 1.5, ▃ 2, ▄ 3, ▅ 4, ▆ 6, ▇ 8, and █; of such "
    "calls it is how long the part takes, against as many steps of the window, and c is a part of first compilations "
    "alone. When another program takes over for good, as the loop does after what initialises, the history begins "
    "anew, with the step at which it got further than the other: the report's first line says which. "
    "`compilations` are those of the whole process. "
    "`collectives` is how many stand in the programs that the usual step executes (the median; one in a loop counts "
    "once, and one of several devices counts for all); empty where no collector sees the programs: the PJRT "
    "interposer does.",
    IDS_TABLE_TOP | IDS_TABLE_WHOLE,
};

static const struct ids_column_def slow_columns[IDS_SLOW_STEPS_COLUMNS] = {
    {"process", "process", IDS_UNIT_NONE, IDS_COLUMN_NAME},
    {"step", "step", IDS_UNIT_COUNT, 0},
    {"at", "at", IDS_UNIT_TIME, 0},
    {"time", "took", IDS_UNIT_TIME, 0},
    {"medians", "× median", IDS_UNIT_NUMBER, 0},
    {"collectives", "collectives", IDS_UNIT_COUNT, IDS_COLUMN_DETAIL},
    {"what", "in it", IDS_UNIT_NONE, IDS_COLUMN_LONG},
};

const struct ids_table_def ids_slow_steps_table = {
    "slow_steps",
    "slow steps",
    slow_columns,
    IDS_SLOW_STEPS_COLUMNS,
    "The slow steps of the history, the slowest first, and no more than 20 of a process. `at` is "
    "since the first step of the history; `what` is what the agent knows of it: compilations (the longest one's "
    "function), "
    "a window, collections of Python's garbage (those of a millisecond and more), another number of collectives than "
    "the usual "
    "step has.",
    IDS_TABLE_TOP,
};
