/* account.h - the accounts of time: each moment of a device's time belongs to exactly one of them
 * (lib/analysis/ledger.h).
 *
 * A host thread has accounts too: a device that waits for the thread is charged with what the thread did at that
 * moment. The ids are stable: JSON, SQL, the manual and users' budgets name them.
 */
#ifndef IDS_LIB_MODEL_ACCOUNT_H
#define IDS_LIB_MODEL_ACCOUNT_H

#include "lib/base/intern.h"
#include "lib/model/event_kind.h"

enum ids_account {
#define IDS_ACCOUNT(NAME, id, title, heading, meaning, of_idle) IDS_##NAME,
#include "lib/model/account.def"
    IDS_ACCOUNT_COUNT,
    IDS_NO_ACCOUNT = IDS_ACCOUNT_COUNT,
};

/* The category of slices that are accounts of a device in a file that we wrote for viewers: they are no event of the
 * run. */
#define IDS_ACCOUNT_CATEGORY "idsprof"

/* "work.compute", "host.python"; "" of no account. */
const char *ids_account_id(enum ids_account account);
/* The metrics that sum the account: "steps.host.python", "idle.host.python". NULL where there is none: a device that
 * computes or stalls is never idle. */
const char *ids_account_steps_id(enum ids_account account);
const char *ids_account_idle_id(enum ids_account account);
/* For a heading: "compute", "Python on the host". */
const char *ids_account_title(enum ids_account account);
/* When a moment belongs to it, in a sentence. */
const char *ids_account_meaning(enum ids_account account);
/* One letter for it in rows of letters (lib/analysis/strip.h): a capital where something runs, else a small one; a
 * space of no account. */
char ids_account_letter(enum ids_account account);
enum ids_account ids_account_of_letter(char letter);
/* The account of that id, IDS_NO_ACCOUNT of none. */
enum ids_account ids_account_of_id(const char *id);

/* Of a host event: a call of a GPU's runtime or driver: cudaLaunchKernel, cuMemAlloc_v2, hipMemcpyWithStream. */
int ids_is_device_call(struct ids_text name);

static inline int ids_account_is_host(enum ids_account account) {
    return account >= IDS_HOST_COMPILE && account <= IDS_HOST_UNKNOWN;
}
/* Nothing runs on the device. */
static inline int ids_account_is_idle(enum ids_account account) {
    return account >= IDS_HOST_COMPILE && account < IDS_NO_ACCOUNT;
}
static inline int ids_account_is_copy(enum ids_account account) {
    return account >= IDS_COPY_H2D && account <= IDS_COPY_OTHER;
}

/* Kinds whose events say nothing of their thread: most events of a trace of the CPU client, which so cost nothing
 * here. */
static inline int ids_kind_has_no_account(enum ids_kind kind) {
    const uint64_t without =
        (uint64_t)1 << IDS_KIND_OP | (uint64_t)1 << IDS_KIND_STALL | (uint64_t)1 << IDS_KIND_REGION |
        (uint64_t)1 << IDS_KIND_STEP_MARK | (uint64_t)1 << IDS_KIND_REGION_START | (uint64_t)1 << IDS_KIND_REGION_STOP |
        (uint64_t)1 << IDS_KIND_OP_END | (uint64_t)1 << IDS_KIND_CACHE_HIT | (uint64_t)1 << IDS_KIND_CACHE_MISS |
        (uint64_t)1 << IDS_KIND_RECOMPILE | (uint64_t)1 << IDS_KIND_OPENED;
    return without >> kind & 1;
}

/* The account of a host event of that kind and name, while nothing inside it has another one. IDS_NO_ACCOUNT for an
 * event that says nothing about its thread (a step annotation, a task of a thread pool, an op). `of_framework`: the
 * file says that it is an op or a call of a framework, so its name is not a region's. */
enum ids_account ids_account_of_host_event(enum ids_kind kind, struct ids_text name, int of_framework);

/* Whether one account goes on while something of the other begins inside it: compiling calls Python and the runtime and
 * is compiling all the same; a named region calls Python; and what Python calls is its own. */
int ids_account_holds(enum ids_account around, enum ids_account inside);

#endif
