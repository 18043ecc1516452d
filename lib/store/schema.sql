-- The fixed tables of a summary (see summary.h). Beside them every table x of the report is a table report_x.
-- Times are integer picoseconds. Rows are in the order of the report: ORDER BY rowid. NULL is "no data".
CREATE TABLE meta (         -- what this file is
    run INTEGER NOT NULL,   -- run.id; 1 in the cache
    id TEXT NOT NULL,       -- key (identity of the input), program, complete, checksum (last: the file is whole)
    value                   -- complete: 1, or 0 where the input ended early
);
CREATE TABLE property (     -- the run: name, hosts, devices, format, versions, window
    run INTEGER NOT NULL,   -- run.id; 1 in the cache
    id TEXT NOT NULL,       -- which property
    unit TEXT NOT NULL,     -- text, count, time_ps, bytes, ratio, bytes_per_s, flop_per_s, number
    value                   -- of the type that the unit says
);
CREATE TABLE metric (       -- one row per metric and device
    run INTEGER NOT NULL,   -- run.id; 1 in the cache
    id TEXT NOT NULL,       -- as in idsprof-metrics(7)
    device TEXT,            -- NULL: over all devices
    unit TEXT NOT NULL,     -- as of property
    value,                  -- NULL: no data, and reason says why
    reason TEXT,            -- why there is no value
    rule TEXT,              -- by which rule it was found in this run
    grade TEXT              -- good, warn, bad; NULL: not graded
);
CREATE TABLE report_table ( -- the other tables, in the order of the report
    run INTEGER NOT NULL,   -- run.id; 1 in the cache
    id TEXT NOT NULL,       -- the table's name
    title TEXT NOT NULL,    -- as the report has it
    row_count INTEGER NOT NULL, -- of this run
    rows_left_out INTEGER NOT NULL -- that a cap of the analyzer dropped
);
CREATE TABLE advice (       -- what to do, most saving first
    run INTEGER NOT NULL,   -- run.id; 1 in the cache
    saves_ps INTEGER,       -- at most; NULL: unknown
    chance_ps INTEGER,      -- of that, what may be chance: it stands behind what is not
    takes_ps INTEGER,       -- where that is unknown: how long a step takes for it, 0: nothing is known
    per_step INTEGER,       -- 1: saves_ps is per step, 0: in the window
    account TEXT,           -- of the ledger; NULL where it is about none
    culprit TEXT,           -- who is to blame; NULL where that is not known
    "where" TEXT,           -- file:line, the path of an op, what a rank did; NULL where that is not known
    what TEXT,              -- the advice
    evidence TEXT,          -- the figures behind it
    explain TEXT,           -- the metric behind it
    accounts TEXT           -- '{"host.sync":0.6,"host.dispatch":0.4}', shares of saves_ps; NULL: it is of `account` alone
);
CREATE TABLE diag (         -- what was capped, clipped, unmatched, repaired or lost
    run INTEGER NOT NULL,   -- run.id; 1 in the cache
    severity TEXT NOT NULL, -- note, warning, damage
    id TEXT NOT NULL,       -- stable, for scripts
    text TEXT,              -- for people
    offset INTEGER,         -- in the input file; NULL where it makes no sense
    count INTEGER NOT NULL  -- of events, bytes or records; two's complement above 2^63
);
