"""Where steps begin and end, as the ledger defines it: independent of the program, for the tests that hold it to that."""


def step_bounds(work, marks):
    """(number, from, to) of the steps of one device. work, marks: number -> (begin, end) of its work there and of its annotation."""
    bounds, done = [], None
    for number in sorted(work, key=lambda number: work[number]):
        start, end = work[number]
        begin = marks[number][0] if done is None else max(done, marks[number][0])
        bounds.append([number, begin, None])
        done = end if done is None else max(done, end)
    for this, after in zip(bounds, bounds[1:]):
        this[2] = after[1]
    bounds[-1][2] = max(done, marks[bounds[-1][0]][1])
    return bounds
