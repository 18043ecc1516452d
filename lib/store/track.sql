-- Figures of many runs over weeks, without their traces: a row of `value` for each run and figure that it has.
CREATE TABLE track (            -- one row
    schema INTEGER NOT NULL,    -- of this file: 1
    program TEXT NOT NULL       -- which idsprof wrote it last
);
CREATE TABLE run (
    run INTEGER PRIMARY KEY,    -- from 1, in the order of time
    unix_s INTEGER NOT NULL,    -- when it was recorded
    name TEXT NOT NULL,
    path TEXT NOT NULL,         -- where it was when it was added
    devices TEXT NOT NULL,      -- as `report` calls them
    program TEXT NOT NULL       -- which idsprof read it
);
CREATE TABLE label (
    run INTEGER NOT NULL,
    key TEXT NOT NULL,          -- "commit"
    value TEXT NOT NULL
);
CREATE TABLE figure (
    figure INTEGER PRIMARY KEY, -- from 1
    kind TEXT NOT NULL,         -- metric, account, scope, op, kernel, host
    name TEXT NOT NULL,         -- of metrics as in idsprof-metrics(7)
    unit INTEGER NOT NULL,      -- 1 count, 2 picoseconds, 3 bytes, 4 ratio, 5 bytes per second, 6 number, 8 FLOP/s
    better INTEGER NOT NULL     -- 0 neither, 1 lower, 2 higher
);
CREATE TABLE value (            -- times per step (without steps in the window) and device
    run INTEGER NOT NULL,
    figure INTEGER NOT NULL,
    value REAL NOT NULL
);
