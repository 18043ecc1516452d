#include "lib/model/doings.h"

#include "lib/base/vec.h"
#include "lib/model/python_frame.h"

#include <stdlib.h>
#include <string.h>

static struct ids_text text_of(const struct ids_trace *trace, uint32_t name) {
    return ids_strings_text(&trace->strings, trace->names[name].text);
}

static enum ids_frame_owner owner_of(struct ids_trace *trace, uint32_t name) {
    struct ids_name *known = &trace->names[name];
    if (!known->frame) known->frame = (uint8_t)ids_python_frame_owner(text_of(trace, name));
    return (enum ids_frame_owner)known->frame;
}

int ids_doing_sleeps(const struct ids_trace *trace, uint32_t doing) {
    uint32_t called = trace->doings[doing].called;
    return called != IDS_NONE && ids_python_sleeps(text_of(trace, called));
}

/* A frame of our hook. It also calls the functions that it replaced; their frames belong to the program. */
static int is_hook(struct ids_doing doing) {
    return doing.account == IDS_PROFILER && doing.library;
}

/* The thread would go on if another one did not have Python's lock: no device is waited for, nothing is launched. What
 * is compiled or read stays what it is, because its own threads may have the lock. */
static struct ids_doing awaiting_gil(struct ids_doing around, uint32_t name) {
    struct ids_doing doing = around;
    if (around.account == IDS_HOST_COMPILE) return around;
    doing.waits = IDS_WAITS_FOR_GIL;
    if (around.account == IDS_HOST_INPUT || around.account == IDS_PROFILER) return doing;
    doing.account = IDS_HOST_PYTHON;
    doing.name = doing.around = around.caller == IDS_NONE ? name : around.caller;
    return doing;
}

/* The thread would go on if it had a core: what it would do is not what takes the time. A callback stays one, because
 * the device waits for it. */
static struct ids_doing awaiting_core(struct ids_doing around, uint32_t name) {
    if (around.account == IDS_HOST_COMPILE || around.account == IDS_PROFILER || around.in_callback) return around;
    return (struct ids_doing){name, name, IDS_NONE, IDS_NONE, .account = IDS_HOST_PYTHON, .waits = IDS_WAITS_FOR_CORE};
}

/* The frame of JAX in which a compiled program calls a function of Python. */
static int is_callback(struct ids_text name) {
    return ids_text_contains(name, "-packages/jax/_src/callback.py:") && ids_text_ends(name, "_wrapped_callback");
}

/* What waits for processes uses the selectors of event loops. */
static int awaits_process(struct ids_text called) {
    return ids_text_contains(called, "/subprocess.py:") || ids_text_contains(called, "/multiprocessing/");
}

/* It calls what is no function of Python's, nor one of those that Python has built in: it may be a jitted one. */
static int may_call_back(const struct ids_trace *trace, struct ids_doing around) {
    struct ids_python_frame frame;
    if (around.called == IDS_NONE || !trace->names[around.called].is_sampled) return 0;
    struct ids_text called = text_of(trace, around.called);
    return ids_python_frame_of(called, &frame) && !frame.file.length && !ids_text_begins(called, "$builtins ");
}

/* A frame of the program says what its thread does, and calls everything inside. A library's frame is a detail of its
 * caller. */
static void frame_inside(struct ids_trace *trace, struct ids_doing around, uint32_t name,
                         const struct ids_doing_place *place, struct ids_doing *ret_doing) {
    enum ids_frame_owner owner = owner_of(trace, name);
    int is_built_in = owner == IDS_FRAME_WAITS || owner == IDS_FRAME_BLOCKS;
    int of_library = owner == IDS_FRAME_OF_LIBRARY || is_built_in || (owner == IDS_FRAME_OF_EITHER && around.library);
    struct ids_doing doing = around;
    /* Inside a wait for a device, or a compilation, a lock is a detail. */
    int is_free = around.account == IDS_HOST_PYTHON || around.account == IDS_HOST_INPUT;
    doing.waits = !is_built_in || !is_free   ? IDS_WAITS_NOT
                  : owner == IDS_FRAME_WAITS ? IDS_WAITS_FOR_LOCK
                                             : IDS_WAITS_OUTSIDE;
    if (owner == IDS_FRAME_AWAITS_GIL) {
        *ret_doing = awaiting_gil(around, name);
        return;
    }
    if (owner == IDS_FRAME_AWAITS_CORE) {
        *ret_doing = awaiting_core(around, name);
        return;
    }
    if (owner == IDS_FRAME_OF_HOOK) {
        int shows =
            around.account == IDS_NO_ACCOUNT || !ids_account_holds((enum ids_account)around.account, IDS_HOST_PYTHON);
        *ret_doing =
            shows ? (struct ids_doing){name, name, IDS_NONE, IDS_NONE, .account = IDS_PROFILER, .library = 1} : around;
        if (is_hook(around)) ret_doing->waits = IDS_WAITS_NOT;
        return;
    }
    /* The hook tells the agent of a step, and the agent is opening a window, for which it needs Python's lock. */
    if (is_hook(around) && ids_text_is(text_of(trace, name), "$self.agent step")) {
        doing.waits = IDS_WAITS_FOR_GIL;
        *ret_doing = doing;
        return;
    }
    doing.library = (uint8_t)of_library;
    /* What called the program is no part of what it is called back for. */
    if (of_library && trace->names[name].is_sampled && !around.in_callback && is_callback(text_of(trace, name))) {
        *ret_doing = (struct ids_doing){
            name, name, IDS_NONE, IDS_NONE, .account = IDS_HOST_PYTHON, .library = 1, .in_callback = 1};
        return;
    }
    if (!of_library) {
        if (may_call_back(trace, around)) doing.inside = around.called + 1;
        doing.caller = name;
        doing.called = IDS_NONE;
    } else if (trace->names[name].is_sampled && around.caller != IDS_NONE &&
               (around.called == IDS_NONE || ids_python_is_loop(text_of(trace, name)) ||
                (ids_python_is_selector(text_of(trace, name)) && !awaits_process(text_of(trace, around.called))))) {
        doing.called = name; /* an event loop, and that it waits, says more than by which call the program runs it */
    }
    if (place->is_errand && of_library && around.caller != IDS_NONE && around.account == IDS_HOST_PYTHON)
        doing.called = name;
    int shows =
        (around.account == IDS_NO_ACCOUNT && !(of_library && place->is_program)) ||
        (!of_library && (is_hook(around) || !ids_account_holds((enum ids_account)around.account, IDS_HOST_PYTHON)));
    if (shows) {
        doing.account = IDS_HOST_PYTHON;
        doing.name = doing.around = name;
    }
    *ret_doing = doing;
}

/* A library's frame with an account of its own, such as block_until_ready: its calls belong to the library too. */
static int is_of_library(struct ids_trace *trace, struct ids_doing around, uint32_t name) {
    struct ids_python_frame frame;
    if (!ids_python_frame_of(text_of(trace, name), &frame)) return 0;
    enum ids_frame_owner owner = owner_of(trace, name);
    return owner == IDS_FRAME_OF_LIBRARY || (owner == IDS_FRAME_OF_EITHER && around.library);
}

/* A part of a step that launches its work is the program itself: events inside it say more, and time without events
 * inside is unknown. */
static int is_part_of_step(struct ids_text name, const struct ids_event *event) {
    static const char *const words[] = {"step",  "train", "iter",   "forward", "backward",
                                        "epoch", "optim", "update", "model",   "grad"};
    if (!event || !event->launches) return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (ids_text_contains(name, words[i])) return 1;
    }
    return 0;
}

/* What PyTorch itself marks as a program does: "DistributedDataParallel.forward", "Optimizer.step#SGD.step". A method
 * of the program has a name of the same kind: "Trainer.save". */
static int is_of_framework(struct ids_text name) {
    static const char *const heads[] = {
        "Optimizer.",       "DataParallel.",           "DistributedDataParallel.", "FullyShardedDataParallel.",
        "DeepSpeedEngine.", "## Call CompiledFxGraph "};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        if (ids_text_begins(name, heads[i])) return 1;
    }
    return 0;
}

/* "input" may be the name of a layer: where the program launches work in it, an annotation is input only if its words
 * say that something is fetched. */
static enum ids_account account_of(struct ids_trace *trace, const struct ids_doing_place *place, uint32_t name,
                                   const struct ids_event *event) {
    struct ids_name *known = &trace->names[name];
    enum ids_kind kind = event ? (enum ids_kind)event->kind : (enum ids_kind)known->kind;
    struct ids_text text = text_of(trace, name);
    enum ids_account account = known->account && kind == (enum ids_kind)known->kind
                                   ? (enum ids_account)(known->account - 1)
                                   : ids_account_of_host_event(kind, text, known->of_framework);
    if (kind == (enum ids_kind)known->kind) known->account = (uint8_t)(account + 1);
    if (account == IDS_HOST_DISPATCH && event && event->compiles && kind == IDS_KIND_DISPATCH) return IDS_HOST_COMPILE;
    if (account == IDS_HOST_INPUT && event && event->launches && !ids_is_reader(text) && !ids_says_fetching(text))
        account = IDS_HOST_REGION;
    if (account == IDS_HOST_REGION && is_of_framework(text)) return IDS_HOST_DISPATCH;
    int is_program = place->is_program || known->is_block || is_part_of_step(text, event);
    return account == IDS_HOST_REGION && is_program ? IDS_NO_ACCOUNT : account;
}

/* "$numpy asarray", called by the program's own function. */
static int is_builtin_call(const struct ids_trace *trace, struct ids_doing around, uint32_t called) {
    struct ids_python_frame frame;
    if (called == IDS_NONE || around.account != IDS_HOST_PYTHON || around.name != around.caller) return 0;
    if (trace->names[called].is_sampled && around.called != called) return 0; /* a library calls it */
    struct ids_text text = text_of(trace, called);
    return text.length && text.at[0] == '$' && ids_python_frame_of(text, &frame) && !frame.file.length;
}

/* jax tells of its own that an array's values were taken: a call beside it that needs none, as `max` of the array that
 * numpy has then, is another one. */
static int may_take_values(const struct ids_trace *trace, uint32_t event, uint32_t called) {
    return !ids_text_is(text_of(trace, event), "np.asarray(jax.Array)") ||
           ids_python_call_needs_values(text_of(trace, called));
}

static struct ids_doing doing_inside(struct ids_trace *trace, const struct ids_doing_place *place, uint32_t name,
                                     const struct ids_event *event) {
    const struct ids_doing around = trace->doings[place->around];
    enum ids_account account = account_of(trace, place, name, event);
    struct ids_doing doing = around;
    if (account == IDS_NO_ACCOUNT) return around;
    if (account == IDS_HOST_PYTHON) {
        frame_inside(trace, around, name, place, &doing);
        return doing;
    }
    if (!is_hook(around) && ids_account_holds((enum ids_account)around.account, account)) return around;
    int goes_on = around.account == account || (account == IDS_HOST_COMPILE && around.account == IDS_HOST_DISPATCH);
    doing.account = (uint8_t)account;
    doing.launches = account == IDS_HOST_REGION && event && event->launches;
    doing.waits = 0;
    doing.name = name;
    doing.around = goes_on ? around.around : name;
    if (account == IDS_HOST_SYNC && is_builtin_call(trace, around, place->called)) doing.around = place->called;
    doing.library = (uint8_t)is_of_library(trace, around, name);
    return doing;
}

int64_t ids_doing_number(struct ids_trace *trace, const struct ids_doing *doing) {
    uint64_t key = ids_key_of(
        ids_key_of((uint64_t)doing->name << 32 | doing->around, (uint64_t)doing->called << 32 | doing->caller),
        (uint64_t)doing->is_guess << 33 | (uint64_t)doing->launches << 32 | (uint64_t)doing->in_callback << 24 |
            (uint64_t)doing->account << 16 | (uint64_t)doing->waits << 8 | doing->library);
    if (doing->inside) key = ids_key_of(key, doing->inside);
    uint64_t *number = ids_keymap_at(&trace->doing_numbers, key);
    if (!number) return -1;
    if (*number) return (int64_t)*number - 1;
    struct ids_doing *fresh = IDS_PUSH(trace->doings, trace->doing_count, trace->doing_room);
    if (!fresh) return -1;
    *fresh = *doing;
    *number = trace->doing_count;
    return (int64_t)trace->doing_count - 1;
}

/* The same event inside the same doing comes again and again: what was found the last time, by place of a hash. */
struct ids_doing_change {
    uint32_t around, name, called, to;
    uint8_t kind, flags, is_set;
};
enum { CHANGES = 1 << 12 };

int64_t ids_doing_inside(struct ids_trace *trace, const struct ids_doing_place *place, uint32_t name,
                         const struct ids_event *event) {
    static const struct ids_doing nothing = {
        .name = IDS_NONE, .around = IDS_NONE, .caller = IDS_NONE, .called = IDS_NONE, .account = IDS_NO_ACCOUNT};
    if (!trace->doing_changes) {
        trace->doing_changes = calloc(CHANGES, sizeof *trace->doing_changes);
        if (!trace->doing_changes || ids_doing_number(trace, &nothing) != IDS_NO_DOING) return -1;
    }
    uint8_t kind = event ? event->kind : trace->names[name].kind;
    uint8_t flags = (uint8_t)((event ? 1 | event->launches << 1 | event->compiles << 2 : 0) | place->is_errand << 3 |
                              place->is_program << 4);
    uint32_t around = place->around, called = place->called;
    struct ids_doing_change *change =
        &trace->doing_changes[(around * 0x9e3779b1u ^ name * 0x85ebca6bu) >> 8 & (CHANGES - 1)];
    if (kind != IDS_KIND_SYNC) called = IDS_NONE; /* it tells nothing of others */
    if (change->is_set && change->around == around && change->name == name && change->called == called &&
        change->kind == kind && change->flags == flags)
        return change->to;
    struct ids_doing doing = doing_inside(trace, place, name, event);
    int64_t number = ids_doing_number(trace, &doing);
    if (number >= 0) *change = (struct ids_doing_change){around, name, called, (uint32_t)number, kind, flags, 1};
    return number;
}

/* Who called it, and whether that call of a library launches. */
static void take_caller(struct ids_doing *doing, const struct ids_doing *caller) {
    doing->caller = caller->caller;
    doing->called = caller->called;
    if (doing->account == IDS_HOST_DISPATCH || doing->account == IDS_HOST_PYTHON)
        doing->launches = caller->launches && caller->account != IDS_HOST_REGION;
}

int64_t ids_doing_called_by(struct ids_trace *trace, uint32_t recorded, uint32_t caller) {
    struct ids_doing doing = trace->doings[recorded];
    if (doing.caller != IDS_NONE) return recorded;
    take_caller(&doing, &trace->doings[caller]);
    return ids_doing_number(trace, &doing);
}

int64_t ids_doing_guessed(struct ids_trace *trace, uint32_t recorded, uint32_t caller) {
    struct ids_doing doing = trace->doings[recorded];
    if (doing.caller != IDS_NONE || trace->doings[caller].caller == IDS_NONE) return recorded;
    take_caller(&doing, &trace->doings[caller]);
    doing.is_guess = 1;
    return ids_doing_number(trace, &doing);
}

int64_t ids_doing_called_back(struct ids_trace *trace, uint32_t recorded, uint32_t sampled) {
    struct ids_doing doing = trace->doings[recorded];
    if (doing.account == IDS_NO_ACCOUNT) return sampled;
    doing.caller = trace->doings[sampled].caller;
    doing.called = trace->doings[sampled].called;
    doing.in_callback = 1;
    return ids_doing_number(trace, &doing);
}

int64_t ids_doing_without_call(struct ids_trace *trace, uint32_t doing) {
    struct ids_doing alone = trace->doings[doing];
    alone.called = IDS_NONE;
    alone.launches = 0;
    if (alone.account == IDS_HOST_SYNC && alone.caller != IDS_NONE) {
        alone.account = IDS_HOST_PYTHON;
        alone.name = alone.around = alone.caller;
    }
    return ids_doing_number(trace, &alone);
}

int64_t ids_doing_wherever(struct ids_trace *trace, uint32_t sampled) {
    struct ids_doing alone = trace->doings[sampled];
    if (!alone.inside) return sampled;
    alone.inside = 0;
    return ids_doing_number(trace, &alone);
}

int64_t ids_doing_beside(struct ids_trace *trace, uint32_t recorded, uint32_t sampled) {
    struct ids_doing exact = trace->doings[recorded], frames = trace->doings[sampled];
    if (exact.account == IDS_NO_ACCOUNT) return sampled;
    if (frames.account == IDS_NO_ACCOUNT || exact.account == IDS_PROFILER) return recorded;
    /* Samples see the line that made the object too many. */
    if (exact.account == IDS_HOST_PYTHON &&
        ids_python_is_garbage(ids_strings_text(&trace->strings, trace->names[exact.name].text)))
        return recorded;
    int is_held = frames.waits == IDS_WAITS_FOR_GIL || frames.waits == IDS_WAITS_FOR_CORE;
    if (is_held && exact.account != IDS_HOST_COMPILE) return sampled;
    /* "epoch", or the block that was recorded, would be blamed for whatever is done in it. A call's region begins and
     * ends with its function's frame, of which the stacks know the line and what it calls. */
    int says_less = exact.account == IDS_HOST_REGION && (exact.launches || trace->names[exact.name].is_wrapped);
    if (says_less && frames.account == IDS_HOST_PYTHON) return sampled;
    int is_outside = exact.account == IDS_HOST_REGION || exact.account == IDS_HOST_INPUT;
    if (is_outside && frames.account != exact.account &&
        !ids_account_holds((enum ids_account)exact.account, (enum ids_account)frames.account))
        return sampled;
    if (!is_outside && !is_hook(frames) &&
        ids_account_holds((enum ids_account)frames.account, (enum ids_account)exact.account))
        return sampled;
    if (exact.account == frames.account && exact.account != IDS_HOST_DISPATCH && !is_outside)
        exact.around = frames.around;
    else if (exact.account == IDS_HOST_SYNC && is_builtin_call(trace, frames, frames.called) &&
             may_take_values(trace, exact.name, frames.called))
        exact.around = frames.called;
    if (exact.caller == IDS_NONE) take_caller(&exact, &frames);
    return ids_doing_number(trace, &exact);
}
