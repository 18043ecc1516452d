-- The event tier of a database that `idsprof import` writes: every event and every stat of the profiles, as they were read.
-- Times are integer picoseconds. A name in the singular is a table as it is stored; its plural is the same for people.
CREATE TABLE run (            -- what was imported, one row for each run
    id INTEGER PRIMARY KEY,   -- as in the column run of other tables
    name TEXT NOT NULL,       -- for people
    path TEXT NOT NULL,       -- where it was read
    format TEXT,              -- what its files are
    complete INTEGER NOT NULL, -- 1; 0 where a file ends early
    origin_unix_ns INTEGER,   -- the wall clock at time 0 of the run; NULL where no file says
    left_out_step INTEGER,    -- the number of the first step, where idsprof's window opened with it: it is in no other table; NULL: none
    step_source TEXT          -- how steps were found: marker, a Steps line; annotation, events with step_num; period, executions of the hottest program; NULL: there are none
);
CREATE TABLE host (           -- a file of a run: the machine, or the process, that wrote it
    id INTEGER PRIMARY KEY,   -- as in plane.host
    run INTEGER NOT NULL,     -- run.id
    name TEXT,                -- the name of the file if the run has several, otherwise the name that the file states; NULL if it states none
    base_ns INTEGER NOT NULL, -- what was subtracted from the times of the file
    start_unix_ns INTEGER,    -- the wall clock at event.start_ps 0 of this host; NULL where the file does not say
    shift_ps INTEGER NOT NULL, -- event.start_ps plus this is the time of the run
    clock INTEGER,            -- only times of hosts with the same number compare; 0 is the run's clock; NULL if clocks were not compared
    clock_method TEXT,        -- how the host was brought to it: reference, collectives, recorded, apart
    offset_ps INTEGER,        -- what of shift_ps goes beyond the clocks that the files state; NULL of a host apart
    residual_ps INTEGER,      -- how far ends of the same collective are still apart at most; NULL unknown
    drift REAL,               -- how much faster its clock runs: 1e-6 is a microsecond a second; NULL unknown
    matched INTEGER           -- collectives that were found on both hosts
);
CREATE TABLE plane (          -- a device or a group of threads (XPlane; a process of a Chrome trace)
    id INTEGER PRIMARY KEY,   -- as in track.plane and name.plane
    host INTEGER NOT NULL,    -- host.id
    name TEXT NOT NULL        -- /device:GPU:0, /host:CPU
);
CREATE TABLE track (          -- a timeline: a thread, a stream (XLine); its events are event.id first_event to last_event
    id INTEGER PRIMARY KEY,   -- as in event.track
    plane INTEGER NOT NULL,   -- plane.id
    name TEXT NOT NULL,       -- the name of the thread or stream
    file_id INTEGER NOT NULL, -- the number in the file; may be negative or repeat
    origin_ps INTEGER NOT NULL, -- what the file's offsets on this line count from, since the host's base
    first_event INTEGER,      -- event.id of the earliest event; NULL where there is none
    last_event INTEGER,       -- event.id of the latest
    event_count INTEGER NOT NULL -- how many there are
);
CREATE TABLE name (           -- what events are called; stats that all events of a name share are in name_stat
    id INTEGER PRIMARY KEY,   -- as in event.name
    plane INTEGER NOT NULL,   -- plane.id
    text TEXT NOT NULL,       -- the name
    display TEXT,             -- what viewers show instead; NULL where it is the name
    file_id INTEGER NOT NULL  -- the number in the file; 0 where it has none
);
CREATE TABLE event (          -- every event, ordered by track, then start, longer ones first
    id INTEGER PRIMARY KEY,   -- the number of the row
    track INTEGER NOT NULL,   -- track.id
    start_ps INTEGER NOT NULL, -- since the host's base; view events has the time of the run
    dur_ps INTEGER NOT NULL,  -- how long it took
    name INTEGER NOT NULL,    -- name.id
    parent INTEGER,           -- event.id of the innermost event around it on its track; NULL where there is none
    depth INTEGER NOT NULL,   -- how many events are around it
    self_ps INTEGER,          -- dur_ps less that of its children; NULL where it is dur_ps
    form INTEGER,             -- NULL a slice, 1 a moment, 2 a counter, 3 4 5 an arrow that starts, passes, ends
    stat_set INTEGER,         -- stat_set.id; NULL where it has no stats in a set
    run_id INTEGER,           -- stat run_id: the execution of a program
    producer_id INTEGER,      -- stat _p: what this event hands on; events that consume it have it as consumer_id
    consumer_id INTEGER,      -- stat _c: what this event takes
    correlation_id INTEGER    -- stat correlation_id or correlation: one launch and what it launched
);
CREATE TABLE event_column (   -- which stat of a run is a column of event, for a look at the file's own names
    run INTEGER NOT NULL,     -- run.id
    name TEXT NOT NULL,       -- the column
    stat INTEGER NOT NULL     -- stat.id: its name and type in the file
);
CREATE TABLE stat (           -- what stats are called, and their types
    id INTEGER PRIMARY KEY,   -- as in the columns stat
    name TEXT NOT NULL,       -- as the file has it
    type TEXT NOT NULL        -- none, int, uint, real, text, bytes, or ref: of a text that the file lacks
);
CREATE TABLE stat_set (       -- stats that several events have in common, once; a set may be there twice
    id INTEGER NOT NULL,      -- as in event.stat_set
    ordinal INTEGER NOT NULL, -- which of the set
    stat INTEGER NOT NULL,    -- stat.id
    value,                    -- above 2^63 as two's complement; bytes, and text that is not UTF-8, are blobs
    PRIMARY KEY (id, ordinal)
) WITHOUT ROWID;
CREATE TABLE event_stat (     -- stats with other values in nearly every event
    event INTEGER NOT NULL,   -- event.id
    ordinal INTEGER NOT NULL, -- which of the event
    stat INTEGER NOT NULL,    -- stat.id
    value,                    -- as in stat_set
    PRIMARY KEY (event, ordinal)
) WITHOUT ROWID;
CREATE TABLE name_stat (      -- stats of names
    name INTEGER NOT NULL,    -- name.id
    ordinal INTEGER NOT NULL, -- which of the name
    stat INTEGER NOT NULL,    -- stat.id
    value,                    -- as in stat_set
    PRIMARY KEY (name, ordinal)
) WITHOUT ROWID;
CREATE TABLE plane_stat (     -- stats of planes
    plane INTEGER NOT NULL,   -- plane.id
    ordinal INTEGER NOT NULL, -- which of the plane
    stat INTEGER NOT NULL,    -- stat.id
    value,                    -- as in stat_set
    PRIMARY KEY (plane, ordinal)
) WITHOUT ROWID;
CREATE TABLE flow (           -- an event that made another one happen
    to_event INTEGER NOT NULL, -- event.id of what happened
    kind TEXT NOT NULL,       -- link (_p and _c), correlation, or arrow (of a Chrome trace)
    from_event INTEGER NOT NULL, -- event.id of what made it happen
    PRIMARY KEY (to_event, kind, from_event)
) WITHOUT ROWID;
