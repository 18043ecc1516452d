/* ledger.h - the ledger of time: each moment of each device belongs to exactly one account, and has a culprit.
 *
 * A device's time is the window of its figures, and the parts of its steps before and after that window. It is swept
 * once. A visitor gets the single intervals as they are found (ids_ledger_visitor); the ledger keeps only sums: by
 * device, step and account, and by entry, which is an account with one culprit. All figures of time come from these
 * sums (idle.*, steps.*, advice, compare).
 *
 * Rules: a moment with work is the work's (compute before collectives before copies before stalls); a moment without
 * work is divided by the launch of the next work. Before the launch it belongs to the host, by what the launching
 * thread or the thread that fed it did (host_time.c); after the launch it belongs to the device.
 */
#ifndef IDS_LIB_ANALYSIS_LEDGER_H
#define IDS_LIB_ANALYSIS_LEDGER_H

#include "lib/analysis/meetings.h"
#include "lib/analysis/recurrence.h"
#include "lib/base/intern.h"
#include "lib/base/keymap.h"
#include "lib/model/account.h"
#include "lib/model/trace.h"

/* How the account of a moment is known, and with it the place that is told. All that is said of it anywhere is this. */
enum ids_known {
    IDS_RECORDED, /* an event covers that very time, or both its ends are events' */
    IDS_INFERRED, /* by order or adjacency */
    IDS_UNKNOWN,
    IDS_PLACE_INFERRED, /* an event covers it; that it was called there, samples saw of other calls of the same alone */
    IDS_KNOWN_COUNT
};
const char *ids_known_name(enum ids_known known);

/* What a device did at a moment, whatever account it belongs to. */
enum ids_device_state {
    IDS_IS_BUSY = 1, /* any activity */
    IDS_IS_WORKING = 2,
    IDS_IS_COMPUTE = 4,
    IDS_IS_COLLECTIVE = 8, /* with its waiting */
    IDS_IS_COPY = 16,
    IDS_IS_H2D = 32,
    IDS_IS_D2H = 64,
    IDS_IS_ASYNC_COPY = 128, /* beside the ops */
    IDS_IS_IN_WINDOW = 256,  /* of the device's figures; 0: only a step reaches there */
};

/* Whose lines are an entry's own, of those of its function that samples saw in its intervals. */
enum ids_lines {
    IDS_NO_LINES, /* no samples show its function */
    IDS_ALL_LINES,
    IDS_LINES_ASLEEP, /* where it sleeps; what else it does is an entry of its own */
    IDS_LINES_AWAKE,
};

/* An account with one culprit. Texts are ids of ids_ledger.texts, 0 none. */
struct ids_ledger_entry {
    uint8_t account;  /* enum ids_account */
    uint8_t is_mixed; /* of work: ops of one name and place that compute different things, of several programs */
    uint32_t culprit; /* an op, a function, a call, a region, a rank */
    uint32_t where;   /* file:line, the op's path, what the rank did */
    uint32_t op;      /* of work: an op that it is the time of, index + 1 of trace->ops; 0 none */
    uint32_t
        cause; /* for comm.wait: the entry of what the last device to come did meanwhile; IDS_NONE: unknown, or none */
    uint32_t awaited; /* of comm.wait: who came last, index of analysis->busy; IDS_NONE unknown, or none */
    uint64_t intervals;
    int64_t time_ps[IDS_KNOWN_COUNT]; /* over all devices: in the steps, where there are steps, else in the windows */
    int64_t in_window_ps;
    int64_t longest_ps, longest_at_ps; /* its longest interval, and when it begins */
    uint32_t longest_device;           /* index of analysis->busy */
    double squares;                    /* Σ over steps of its time there in s, squared: see ids_ledger_entry_sd */
    struct ids_recurrence recurs;      /* in which steps, over all devices */
    uint32_t evidence, evidence_op; /* an event of the longest interval: its name and its op, each index + 1; 0 none */
    uint8_t is_sampled;             /* its function or line is known from sampled stacks */
    uint32_t function;              /* of the program, whose own doing it is: "load (src/train.py)", of all its lines;
                                     * 0: unknown, or what holds that function up */
    uint32_t frame;                 /* of that function, or of the one that waits: a text of the trace, 0 unknown */
    uint8_t is_of_other_thread;     /* that function is another thread's, which is waited for */
    uint8_t lines;                  /* enum ids_lines */
    uint64_t lines_of;              /* with these, ids_python_function_key of `frame` */
    uint32_t recorded;              /* of the host's accounts: what was recorded there, as the file calls it */
    uint32_t meanwhile;             /* of device.queue: what the host did for most of the longest interval, "host.sync
                                     * hipMemcpyWithStream" */
};

struct ids_ledger_interval {
    int64_t from_ps, to_ps;
    const struct ids_event *event; /* that covers it, or whose launch it waits for; NULL */
    uint32_t busy;                 /* index of analysis->busy */
    uint32_t step;                 /* index of analysis->steps.at; IDS_NONE in none */
    uint32_t entry;                /* index of ids_ledger.entries; IDS_NONE: ids_ledger_visitor.entry will tell */
    uint16_t state;                /* of enum ids_device_state */
    uint8_t account, known;
};

/* The longest intervals of an account, of those that its entries count. */
enum { IDS_LEDGER_LONGEST = 10 };
struct ids_ledger_longest {
    struct ids_ledger_interval at[IDS_LEDGER_LONGEST]; /* the longest first, of equals the one that was met first */
    size_t count;
};

/* Called in order of time for one device after the other; with `renumber`, for several at once, from their threads. 0,
 * or a code with *err set. */
struct ids_ledger_visitor {
    int (*interval)(void *context, const struct ids_ledger_interval *interval, struct ids_error *err);
    /* The entry of an interval that the visitor got with IDS_NONE, by its number in the order of the calls. What the
     * awaited device did is known only when all devices are swept. */
    void (*entry)(void *context, uint32_t busy, size_t interval, uint32_t entry);
    /* Devices [from, to) of analysis->busy were swept by themselves: entry e of their intervals is numbers[e] of the
     * ledger. Intervals have no number in the order of the calls then. 0, or -1 when memory ran out. May be NULL. */
    int (*renumber)(void *context, uint32_t from, uint32_t to, const uint32_t *numbers, size_t count);
    /* With `renumber`: what came of a device is void, it is swept again. */
    void (*forget)(void *context, uint32_t busy);
    void *context;
};

/* Whether a device comes late to collectives alone, or with all of its host: see late.h. */
enum ids_late_how { IDS_LATE_ALONE, IDS_LATE_ALIKE, IDS_LATE_IN_TURN };
struct ids_late {
    uint32_t as; /* index of analysis->busy: the device of its host that was waited for longest; alone: itself */
    uint8_t how; /* enum ids_late_how */
};

/* Times of one step on one device, or of a device's window, by account. */
struct ids_account_times {
    int64_t ps[IDS_ACCOUNT_COUNT];
};

/* Why a device has nothing to do when work is launched that does not begin at once: behind work that runs, nobody would
 * see how late it begins. */
enum ids_dried { IDS_DRIED_BY_WAIT, IDS_DRIED_BY_LAUNCHES, IDS_DRIED_COUNT };

struct ids_ledger {
    struct ids_strings texts;
    struct ids_ledger_entry *entries;
    size_t entry_count, entry_room, count_of[IDS_ACCOUNT_COUNT];
    struct ids_keymap entry_numbers; /* account, culprit, where -> index */
    /* How long samples saw a line of its function in an entry's intervals, of all devices. */
    struct ids_entry_line {
        uint32_t entry, frame; /* a text of the trace */
        int64_t ps;
    } * lines;
    size_t line_count, line_room;
    struct ids_keymap line_numbers; /* entry and frame -> index + 1 */
    /* By active device (analysis->busy). */
    struct ids_account_times *in_window; /* of the device's window, busy or not */
    struct ids_account_times *idle;      /* of its window, where nothing is booked as activity */
    int64_t *both_ways_ps; /* of copy.h2d, what copies to the host run beside: in the steps, where there are steps, else
                            * in the window */
    /* By step of a device, in the order of ids_device_steps.at: first_step[device] + place there. */
    struct ids_account_times *in_step;
    size_t *first_step;
    /* What each entry has on each device in its steps (without steps: in its window): by device, and in it by entry. */
    struct ids_entry_share {
        uint32_t device, entry;
        int64_t ps;
        int64_t queued_ps[IDS_DRIED_COUNT]; /* of host.sync and host.dispatch: how much of device.queue comes because
                                             * of it; of device.queue: how much of it comes because of either */
        int64_t longest_queued_ps[IDS_DRIED_COUNT]; /* the longest interval of that */
        int64_t behind_ps; /* of host.python: what comes in a gap behind a wait for the device */
        uint32_t behind;   /* the entry of that wait, + 1; 0 none */
    } * shares;
    size_t *first_share; /* by device; one more for the end */
    size_t share_count, share_room;
    struct ids_ledger_longest longest[IDS_ACCOUNT_COUNT];
    /* By active device, of the run's window: IDS_STRIP_CELLS letters and a NUL each (strip.h). */
    char *strips;
    /* Who was waited for in a step (IDS_NONE: without steps, in the windows), by all others together. */
    struct ids_awaited {
        uint32_t step, device;
        int64_t ps;
    } * awaited;
    size_t awaited_count, awaited_room;
    /* By step of the run (at 0 without steps, in the windows): the longest that one device waited for others that
     * computed for longer. NULL: nobody waited. */
    int64_t *uneven_ps;
    uint8_t lacking;       /* enum ids_lacking: who takes part in collectives and was not read */
    struct ids_late *late; /* by active device; NULL where nobody waits */
    /* While devices are swept: which collectives of theirs are one. */
    struct ids_meetings meetings;
};

void ids_ledger_done(struct ids_ledger *ledger);

/* So many entries of an account have a culprit of their own; what comes after them is blamed on IDS_LEDGER_OTHERS. */
enum { IDS_LEDGER_ENTRIES = 12000 };
#define IDS_LEDGER_OTHERS "(others)"

/* The entry's index; -1 when memory ran out. The texts may be NULL. */
int64_t ids_ledger_entry_of(struct ids_ledger *ledger, enum ids_account account, struct ids_text culprit,
                            struct ids_text where);
/* 0, or -1 when memory ran out. */
int ids_ledger_add_line(struct ids_ledger *ledger, uint32_t entry, uint32_t frame, int64_t ps);
/* An op whose time the entry is; in any order of ops the entry becomes the same, but for which of equal ones it
 * names. */
void ids_ledger_entry_note_op(struct ids_ledger_entry *entry, const struct ids_trace *trace, uint32_t op);
/* Adds what other devices have of the same account, culprit and place, in a ledger of theirs: 0, or -1 when memory ran
 * out. */
int ids_ledger_entry_take(struct ids_ledger *ledger, struct ids_ledger_entry *entry, const struct ids_ledger *theirs,
                          const struct ids_ledger_entry *other, const struct ids_trace *trace);
static inline int64_t ids_ledger_entry_time(const struct ids_ledger_entry *entry) {
    int64_t time_ps = 0;
    for (int known = 0; known < IDS_KNOWN_COUNT; known++) time_ps += entry->time_ps[known];
    return time_ps;
}
/* What events cover of it. */
static inline int64_t ids_ledger_entry_recorded(const struct ids_ledger_entry *entry) {
    return entry->time_ps[IDS_RECORDED] + entry->time_ps[IDS_PLACE_INFERRED];
}
/* How most of it is known. */
enum ids_known ids_ledger_entry_known(const struct ids_ledger_entry *entry);

#endif
