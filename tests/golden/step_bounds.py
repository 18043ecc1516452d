"""Where steps begin and end, as the ledger defines it: independent of the program, for the tests that hold it to that."""


def step_bounds(work, marks, others=()):
    """(number, from, to) of the steps of one device. work, marks: number -> (begin, end) of its work there and of its annotation; others:
    (begin, end) of work there that belongs to no step: what of it comes before the work of all steps delays the first one."""
    first = min(start for start, _ in work.values())
    before = [end for start, end in others if start < first]
    bounds, done = [], min(first, max(before)) if before else None
    for number in sorted(work, key=lambda number: work[number]):
        start, end = work[number]
        begin = marks[number][0] if done is None else max(done, marks[number][0])
        bounds.append([number, begin, None])
        done = end if done is None else max(done, end)
    for this, after in zip(bounds, bounds[1:]):
        this[2] = after[1]
    bounds[-1][2] = max(done, marks[bounds[-1][0]][1])
    return bounds
