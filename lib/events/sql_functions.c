#include "lib/events/sql_functions.h"

#include "lib/store/db.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* ---- aggregates ---- */

enum aggregate { MEDIAN, PERCENTILE, STDDEV };

/* The values of a group, or of a window's frame: rows leave a frame in the order in which they came. SQLite zeroes it,
 * and its memory counts to the limit of the database. */
struct values {
    double *at;
    sqlite3_uint64 first, count, room;
    double percent;
    int has_percent;
};

static int is_percent(sqlite3_value *value, double *ret_percent) {
    int type = sqlite3_value_numeric_type(value);
    *ret_percent = sqlite3_value_double(value);
    return (type == SQLITE_INTEGER || type == SQLITE_FLOAT) && *ret_percent >= 0 && *ret_percent <= 100;
}

static int make_room(struct values *values) {
    if (values->count < values->room) return 0;
    if (values->first) { /* of what has left the frame */
        values->count -= values->first;
        memmove(values->at, values->at + values->first, values->count * sizeof *values->at);
        values->first = 0;
        if (values->count < values->room / 2) return 0;
    }
    sqlite3_uint64 room = values->room ? values->room * 2 : 64;
    double *grown = sqlite3_realloc64(values->at, room * sizeof *grown);
    if (!grown) return -1;
    values->at = grown;
    values->room = room;
    return 0;
}

static void add_value(sqlite3_context *context, int argument_count, sqlite3_value **arguments) {
    struct values *values = sqlite3_aggregate_context(context, sizeof *values);
    double percent = 50;
    if (!values) return sqlite3_result_error_nomem(context);
    if (argument_count == 2 && !is_percent(arguments[1], &percent))
        return sqlite3_result_error(context, "percentile(x, p): p is not a number from 0 to 100", -1);
    if (values->has_percent && values->percent != percent)
        return sqlite3_result_error(context, "percentile(x, p): p differs from row to row", -1);
    values->percent = percent;
    values->has_percent = 1;
    if (sqlite3_value_type(arguments[0]) == SQLITE_NULL) return;
    int type = sqlite3_value_numeric_type(arguments[0]);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        return sqlite3_result_error(context, "median, percentile and stddev take numbers", -1);
    if (make_room(values)) return sqlite3_result_error_nomem(context);
    values->at[values->count++] = sqlite3_value_double(arguments[0]);
}

static void leave_value(sqlite3_context *context, int argument_count, sqlite3_value **arguments) {
    (void)argument_count;
    struct values *values = sqlite3_aggregate_context(context, sizeof *values);
    if (values && sqlite3_value_type(arguments[0]) != SQLITE_NULL && values->first < values->count) values->first++;
}

static int by_size(const void *a, const void *b) {
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Between the two values around the place, in proportion. */
static double at_percent(const double *sorted, sqlite3_uint64 count, double percent) {
    const double place = percent * (double)(count - 1) / 100;
    const sqlite3_uint64 below = (sqlite3_uint64)place;
    if (below + 1 >= count) return sorted[count - 1];
    return sorted[below] + (place - (double)below) * (sorted[below + 1] - sorted[below]);
}

static double deviation_of(const double *values, sqlite3_uint64 count) {
    double mean = 0, squares = 0;
    for (sqlite3_uint64 i = 0; i < count; i++) mean += (values[i] - mean) / (double)(i + 1);
    for (sqlite3_uint64 i = 0; i < count; i++) squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)(count - 1));
}

static void give_value(sqlite3_context *context) {
    const struct values *values = sqlite3_aggregate_context(context, 0);
    const enum aggregate aggregate = (enum aggregate)(intptr_t)sqlite3_user_data(context);
    const sqlite3_uint64 count = values ? values->count - values->first : 0;
    if (!count || (aggregate == STDDEV && count == 1)) return sqlite3_result_null(context);
    if (aggregate == STDDEV) return sqlite3_result_double(context, deviation_of(values->at + values->first, count));
    double *sorted = sqlite3_malloc64(count * sizeof *sorted); /* the frame goes on */
    if (!sorted) return sqlite3_result_error_nomem(context);
    memcpy(sorted, values->at + values->first, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_size);
    sqlite3_result_double(context, at_percent(sorted, count, values->percent));
    sqlite3_free(sorted);
}

static void end_values(sqlite3_context *context) {
    struct values *values = sqlite3_aggregate_context(context, 0);
    give_value(context);
    if (values) sqlite3_free(values->at);
}

/* ---- regular expressions ---- */

enum { PATTERN_BYTES = 1000, REPEATS_MOST = 1000 };

static void free_pattern(void *pattern) {
    regfree(pattern);
    sqlite3_free(pattern);
}

/* A counted repeat is compiled as so many copies, one within another as their product; a back reference may take
 * for ever to match. */
static const char *too_costly(const char *pattern) {
    unsigned long product = 1;
    int in_brackets = 0;
    if (strlen(pattern) > PATTERN_BYTES) return "regexp: a pattern of more than 1000 bytes";
    for (const char *c = pattern; *c; c++) {
        if (in_brackets) {
            in_brackets = *c != ']' || c[-1] == '[' || (c[-1] == '^' && c[-2] == '[');
            continue;
        }
        in_brackets = *c == '[';
        if (*c == '\\' && c[1] && *++c >= '1' && *c <= '9') return "regexp: back references are not supported";
        if (*c != '{') continue;
        char *end;
        unsigned long times = strtoul(c + 1, &end, 10), most = *end == ',' ? strtoul(end + 1, NULL, 10) : 0;
        if (most > times) times = most;
        product *= times > REPEATS_MOST ? REPEATS_MOST + 1 : times ? times : 1;
        if (product > REPEATS_MOST) return "regexp: repeats multiply to more than 1000";
    }
    return NULL;
}

static regex_t *compile(sqlite3_context *context, const char *text) {
    const char *why = too_costly(text);
    regex_t *pattern = why ? NULL : sqlite3_malloc(sizeof *pattern);
    char message[128] = "regexp: ";
    if (why) {
        sqlite3_result_error(context, why, -1);
        return NULL;
    }
    if (!pattern) {
        sqlite3_result_error_nomem(context);
        return NULL;
    }
    int failed = regcomp(pattern, text, REG_EXTENDED | REG_NOSUB);
    if (!failed) return pattern;
    regerror(failed, pattern, message + strlen(message), sizeof message - strlen(message));
    sqlite3_result_error(context, message, -1);
    sqlite3_free(pattern);
    return NULL;
}

static void match(sqlite3_context *context, int argument_count, sqlite3_value **arguments) {
    (void)argument_count;
    const char *pattern_text = (const char *)sqlite3_value_text(arguments[0]);
    const char *text = (const char *)sqlite3_value_text(arguments[1]);
    if (!pattern_text || !text) return; /* NULL */
    regex_t *pattern = sqlite3_get_auxdata(context, 0);
    const int is_new = !pattern;
    if (is_new) pattern = compile(context, pattern_text);
    if (!pattern) return;
    sqlite3_result_int(context, !regexec(pattern, text, 0, NULL, 0));
    if (is_new) sqlite3_set_auxdata(context, 0, pattern, free_pattern); /* last: it may free it at once */
}

/* ---- all ---- */

int ids_sql_functions_add(sqlite3 *db, struct ids_error *err) {
    static const struct {
        const char *name;
        int arguments;
        enum aggregate aggregate;
    } aggregates[] = {{"median", 1, MEDIAN}, {"percentile", 2, PERCENTILE}, {"stddev", 1, STDDEV}};
    int result = SQLITE_OK;
    for (size_t i = 0; i < sizeof aggregates / sizeof *aggregates && result == SQLITE_OK; i++)
        result = sqlite3_create_window_function(
            db, aggregates[i].name, aggregates[i].arguments, SQLITE_UTF8 | SQLITE_INNOCUOUS,
            (void *)(intptr_t)aggregates[i].aggregate, add_value, end_values, give_value, leave_value, NULL);
    /* A view of a foreign file has no business with patterns. */
    if (result == SQLITE_OK)
        result = sqlite3_create_function(db, "regexp", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
                                         match, NULL, NULL);
    return result == SQLITE_OK ? 0 : ids_db_fail(db, err);
}
