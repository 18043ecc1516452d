-- A baseline: the figures of runs under a name, without their traces. The schema is its own, older than the
-- program that reads it or not: what a reader does not know it passes over.
CREATE TABLE baseline (      -- one row
    name TEXT NOT NULL,      -- as it was saved
    saved_unix_s INTEGER NOT NULL, -- when
    program TEXT NOT NULL    -- which idsprof saved it
);
CREATE TABLE property (      -- of each run: name, path, hosts, devices, format, versions
    run INTEGER NOT NULL,    -- from 1
    id TEXT NOT NULL,        -- which
    unit INTEGER NOT NULL,   -- 0 text, 1 count, 2 picoseconds, 3 bytes, 4 ratio, 5 bytes per second, 6 number
    value
);
CREATE TABLE metric (        -- over all devices
    run INTEGER NOT NULL,
    id TEXT NOT NULL,        -- as in idsprof-metrics(7)
    unit INTEGER NOT NULL,
    value,                   -- NULL: no data, and reason says why
    reason TEXT,
    rule TEXT
);
CREATE TABLE cell (          -- of the tables that a comparison reads (steps, ledger, ops, ...), by row from 0
    run INTEGER NOT NULL,
    table_id TEXT NOT NULL,
    place INTEGER NOT NULL,  -- the row
    column_id TEXT NOT NULL,
    unit INTEGER NOT NULL,
    value
);
CREATE TABLE event (         -- what was done to the baseline, the oldest first
    unix_s INTEGER NOT NULL, -- when
    program TEXT NOT NULL,   -- with which idsprof
    runs INTEGER NOT NULL,   -- that were saved, or that the accepted value is from
    id TEXT,                 -- the figure: of a save steps.mean, of an acceptance what was accepted
    unit INTEGER NOT NULL,
    value,
    before,                  -- of an acceptance: the level that it replaced
    reason TEXT              -- of an acceptance; NULL: the baseline was saved
);
