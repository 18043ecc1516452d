"""Where steps begin and end, as the ledger defines it: independent of the program, for the tests that hold it to that."""


def queued_before(first, streams):
    """streams: of each, (begin, end, step or None) of its work in time order. The end of what the stream that the step `first` does most on
    does before that; None where it does nothing before."""
    most, queued = -1, None
    for events in streams:
        owned = [step for _, _, step in events if step is not None]
        of_first = sum(end - begin for begin, end, step in events if step == first)
        if not owned or owned[0] != first or of_first <= most:
            continue
        ahead = [end for _, end, _ in events[:[step for _, _, step in events].index(first)]]
        most, queued = of_first, max(ahead) if ahead else None
    return queued


def step_bounds(work, marks, others=(), queued=None):
    """(number, from, to) of the steps of one device. work, marks: number -> (begin, end) of its work there and of its annotation; others:
    (begin, end) of work there that belongs to no step: what of it comes before the work of all steps delays the first one; queued: queued_before of the first step, which delays it, too."""
    first = min(start for start, _ in work.values())
    before = [end for start, end in others if start < first]
    bounds, done = [], min(first, max(before)) if before else None
    if queued is not None:
        done = queued if done is None else max(done, queued)
    for number in sorted(work, key=lambda number: work[number]):
        start, end = work[number]
        begin = marks[number][0] if done is None else max(done, marks[number][0])
        bounds.append([number, begin, None])
        done = end if done is None else max(done, end)
    for this, after in zip(bounds, bounds[1:]):
        this[2] = after[1]
    bounds[-1][2] = max(done, marks[bounds[-1][0]][1])
    return bounds
