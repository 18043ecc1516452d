/* remedies.h - the sentences of advice for an account of time and its culprit, and the conditions under which they are
 * true.
 *
 * A row of the table in remedies.c is a sentence with its condition. Among an account's rows, the first one whose
 * condition holds is used; the last row has no condition. tests/unit/test_remedies.c has a case on either side of each
 * condition.
 */
#ifndef IDS_ANALYZERS_REMEDIES_H
#define IDS_ANALYZERS_REMEDIES_H

#include "analyzers/circumstances.h"

struct ids_remedy {
    const char *problem, *remedy;
};

/* NULL problem: nothing can be said of the account. */
struct ids_remedy ids_remedy_of(const struct ids_circumstances *about);

/* The culprit is no function: the thread was ready to run, and had no core. */
int ids_waits_for_core(const char *culprit);

/* A culprit of host.staging that gets data from the device, where the others put it there. */
int ids_remedy_is_fetch(const char *culprit);

/* A culprit of host.sync that waits for values, or of host.staging that gets them: float, asarray, device_get. */
int ids_remedy_takes_values(const char *culprit);

/* Of host.sync: no wait, but a look at hundreds of arrays that are ready, one after another: in so many intervals a
 * step, of less than so many picoseconds in the mean. */
enum { IDS_REMEDY_MANY = 100, IDS_REMEDY_SHORT_PS = 10000000 };
int ids_remedy_goes_through_many(const struct ids_circumstances *about);

/* Of dispatch and of the queue on a CPU: each launch is small, and fewer of them are what helps. */
int ids_remedy_is_fewer_launches(const struct ids_circumstances *about);

/* Not what the program does, but what keeps it from going on: it has no core, or another thread has what it needs. */
int ids_remedy_is_for_hold_up(const struct ids_circumstances *about);

/* What one remedy is for, and one piece: a culprit, or a whole account, where the remedy does not depend on the
 * culprit. Being held up in a call is apart from the rest of its account; a callback is one cause, whatever of it has a
 * name (the program's function, and the op that calls it where no sample saw it). A function that holds the device up
 * in several ways is mended as one, see joint_causes.h. */
enum ids_remedy_scope {
    IDS_REMEDY_OF_CULPRIT,
    IDS_REMEDY_OF_ACCOUNT,
    IDS_REMEDY_OF_HELD_UP,
    IDS_REMEDY_OF_CALLBACKS,
    IDS_REMEDY_OF_FUNCTION,
    IDS_REMEDY_SCOPES
};
enum ids_remedy_scope ids_remedy_scope(enum ids_account account, const char *where);

/* By its name it evaluates a model: "evaluate", "EvalStep.run", "run_validation". */
int ids_is_evaluation(const char *function);

#endif
