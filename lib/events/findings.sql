-- What the report found of single events, with default options; the views are made of these and of the tables of events.
CREATE TABLE device (         -- what runs programs; a thread pool of the CPU client is one too
    id INTEGER PRIMARY KEY,   -- as in activity_class.device
    run INTEGER NOT NULL,     -- run.id
    name TEXT NOT NULL,       -- the host and its plane, vm:/device:GPU:0; of a CPU with its number behind
    label TEXT NOT NULL,      -- short: GPU:0
    kind TEXT NOT NULL,       -- GPU, TPU, CPU, CUSTOM
    model TEXT,               -- what it is; NULL where the file does not say
    host TEXT NOT NULL,       -- the machine, or the process
    ordinal INTEGER,          -- its number on the host; NULL where the file does not say
    is_active INTEGER NOT NULL, -- 1: it takes part in the figures of the report
    start_ps INTEGER,         -- where the window of its figures begins; NULL where it is not active
    end_ps INTEGER,           -- where it ends
    idle_ps INTEGER,          -- how long it did nothing after its last activity in the window; NULL where it did not
    cause INTEGER,            -- of that: account.id of its longest part; NULL where there is none
    peak_flops REAL,          -- of the hardware, per second; NULL where the file does not say
    peak_bandwidth REAL,      -- bytes per second of its memory; NULL where the file does not say
    memory_bytes INTEGER      -- of its memory; NULL where the file does not say
);
CREATE TABLE device_peak (    -- what an active device can do at most, by the profile or its data sheet
    device INTEGER NOT NULL,  -- device.id
    multiplies TEXT NOT NULL, -- the unit, as op.multiplies
    flops REAL,               -- operations per second; NULL unknown
    bandwidth REAL            -- bytes per second of its main memory, the same for all; NULL unknown
);
CREATE TABLE op (             -- an instruction of a compiled program (HLO), or an op of the framework by its place in the program
    id INTEGER PRIMARY KEY,   -- as in activity_class.op
    run INTEGER NOT NULL,     -- run.id
    name TEXT NOT NULL,       -- fusion.3
    module TEXT,              -- the program: jit_train_step
    program_id INTEGER,       -- its number, two's complement above 2^63; NULL where the file does not say
    category TEXT,            -- hlo_category (TPU), else the opcode; NULL where neither is known
    opcode TEXT,              -- of the HLO proto or text; NULL where the file has none
    op_name TEXT,             -- where it is in the program: jit(train_step)/layer0/dot_general, MLP_0/Linear_1/aten::linear/aten::addmm
    scope TEXT,               -- of that the scopes and functions that the program named: layer0; NULL where there is none
    pass TEXT,                -- of that: forward, backward, recomputed, custom vjp; NULL where it says none
    family TEXT NOT NULL,     -- matrix product, convolution, collective, copy and so on; other where its names do not tell
    source TEXT,              -- file and line of the program
    text TEXT,                -- the whole instruction
    shape TEXT,               -- of its result: f32[256,256]; NULL unknown
    deduplicated_name TEXT,   -- the op that this one is equal to
    replica_groups TEXT,      -- of a collective: which devices take part
    group_size INTEGER,       -- of a collective: how many devices a group has; NULL where unknown
    flops INTEGER,            -- per execution; NULL unknown
    bytes_accessed INTEGER,   -- per execution; NULL unknown
    memory_bytes INTEGER,     -- of these, what is in the main memory of the device; NULL unknown
    model_flops INTEGER,      -- per execution, of the model: without what is computed again; NULL unknown
    multiplies TEXT,          -- the unit that computes it: bf16, f32 and the like multiply matrices, else vector
    narrower TEXT,            -- of a kernel that multiplies two types: the unit for the one of fewer bits; NULL: it does not
    cost_source TEXT,         -- who counted its flops and bytes: file, or model (idsprof, over the program); NULL nobody
    is_framework INTEGER NOT NULL, -- 1: no instruction but an op of the framework, which launched kernels: aten::addmm
    is_marker INTEGER NOT NULL, -- 1: only begins or ends something asynchronous
    is_container INTEGER NOT NULL, -- 1: a loop, condition or call: its time is that of the ops inside
    waste TEXT,               -- what its time is wasted on: recomputed, repeated, constant, invariant, replicated, gathered, reduced, layout, convert, padding, attention, serial; NULL: nothing is known
    waste_why TEXT            -- what shows it; NULL where nothing more is known
);
CREATE TABLE launch_shape (   -- how kernels were launched
    id INTEGER PRIMARY KEY,   -- as in activity_class.launch_shape
    registers INTEGER,        -- of a thread; NULL in every column: unknown
    static_shared_bytes INTEGER, -- shared memory that the kernel has
    dynamic_shared_bytes INTEGER, -- shared memory that the launch gives
    grid_x INTEGER,           -- blocks
    grid_y INTEGER,           -- blocks
    grid_z INTEGER,           -- blocks
    block_x INTEGER,          -- threads
    block_y INTEGER,          -- threads
    block_z INTEGER,          -- threads
    occupancy REAL,           -- theoretical, 0 to 1: as the file says, else computed from the launch and the device
    achieved_occupancy REAL,  -- as Kineto estimates it from the size of the grid, 0 to 1
    limited_by TEXT,          -- what keeps the occupancy from being higher: registers, shared memory, block size, blocks; nothing; grid where it is not known and the grid is small
    blocks_at_once INTEGER,   -- of a multiprocessor
    waves REAL,               -- blocks of the grid, in times of what the device holds at once
    ranks TEXT,               -- of a collective: which ranks take part
    group_size INTEGER        -- of a collective: how many; NULL where unknown
);
CREATE TABLE activity_class ( -- what many activities have in common
    id INTEGER PRIMARY KEY,   -- as in activity.class
    device INTEGER NOT NULL,  -- device.id
    kind TEXT NOT NULL,       -- kernel, op, copy, set
    class TEXT NOT NULL,      -- compute, collective, copy, stalled
    rule TEXT NOT NULL,       -- the rule that gave the class
    collective TEXT,          -- all-reduce and the like; NULL: not a collective
    direction TEXT,           -- of a copy or set: H2D and the like; NULL where unknown or none
    bytes INTEGER,            -- of a copy, or the message of a collective; NULL where unknown or none
    is_async INTEGER,         -- of a copy; NULL where unknown
    is_pinned INTEGER,        -- of a copy: 1 pinned, 0 pageable; NULL where unknown
    is_beside INTEGER NOT NULL, -- 1: beside the ops of the device, and no activity of its own (TPU's asynchronous ops)
    is_in_graph INTEGER NOT NULL, -- 1: as part of a CUDA graph
    matrix_units TEXT,        -- of a kernel: used, not used, or missed (not used, though the device has them for that type); NULL where its name does not tell
    begins_run INTEGER NOT NULL, -- 1: the first work of a run of a framework's op
    op INTEGER,               -- op.id; NULL where no op is known
    launch_shape INTEGER      -- launch_shape.id; NULL where none is known
);
CREATE TABLE activity (       -- what devices did: each kernel, op, copy and set, and the gap that ended with it
    event INTEGER PRIMARY KEY, -- event.id
    class INTEGER NOT NULL,   -- activity_class.id
    step INTEGER,             -- step.id; NULL where it belongs to none
    around INTEGER,           -- event of the innermost activity around it on its track; NULL where there is none
    dur_ps INTEGER,           -- how long it took where that is not event.dur_ps: an op of the CPU client ends with its `end:`
    self_ps INTEGER,          -- without the activity inside it; NULL where it is the whole time
    idle_ps INTEGER,          -- how long the device had done nothing when it began; NULL where it had not
    cause INTEGER,            -- why: account.id of its longest part; NULL where there was no gap
    launch INTEGER            -- event.id of what launched it on the host; NULL where it was not recorded
);
CREATE TABLE host_copy (      -- copies through host memory that a TPU books as ops: from one op to the end of another
    event INTEGER PRIMARY KEY, -- event.id of the op that began it, which is an activity too
    class INTEGER NOT NULL,   -- activity_class.id
    step INTEGER,             -- step.id; NULL where it belongs to none
    dur_ps INTEGER NOT NULL   -- how long it took
);
CREATE TABLE account (        -- the accounts of time
    id INTEGER PRIMARY KEY,   -- in the order of the report
    name TEXT NOT NULL,       -- work.compute, host.python
    meaning TEXT NOT NULL     -- when a moment belongs to it
);
CREATE TABLE culprit (        -- an account and its culprit
    id INTEGER PRIMARY KEY,   -- as in stretch.culprit
    run INTEGER NOT NULL,     -- run.id
    account INTEGER NOT NULL, -- account.id
    culprit TEXT,             -- an op, a function, a call, a region, a rank; NULL where it is not known
    place TEXT                -- file:line, the path of an op, what the rank did; NULL where it is not known
);
CREATE TABLE stretch_block (  -- up to 16 stretches of a device, one behind the other; the view stretch has a row for each
    id INTEGER PRIMARY KEY,   -- stretch.id of the first
    device INTEGER NOT NULL,  -- device.id
    step INTEGER,             -- step.id of all; NULL in none
    start_ps INTEGER NOT NULL, -- where the first begins, since the origin of the run
    unit_ps INTEGER NOT NULL, -- what end1 and the others count
    event INTEGER,            -- event.id that event1 and the others count from; NULL where no stretch is about an event
    end1 INTEGER NOT NULL,    -- where the first ends, after start_ps
    end2 INTEGER,             -- where stretch 2 ends; NULL where there are fewer
    end3 INTEGER,             -- where stretch 3 ends; NULL where there are fewer
    end4 INTEGER,             -- where stretch 4 ends; NULL where there are fewer
    end5 INTEGER,             -- where stretch 5 ends; NULL where there are fewer
    end6 INTEGER,             -- where stretch 6 ends; NULL where there are fewer
    end7 INTEGER,             -- where stretch 7 ends; NULL where there are fewer
    end8 INTEGER,             -- where stretch 8 ends; NULL where there are fewer
    end9 INTEGER,             -- where stretch 9 ends; NULL where there are fewer
    end10 INTEGER,            -- where stretch 10 ends; NULL where there are fewer
    end11 INTEGER,            -- where stretch 11 ends; NULL where there are fewer
    end12 INTEGER,            -- where stretch 12 ends; NULL where there are fewer
    end13 INTEGER,            -- where stretch 13 ends; NULL where there are fewer
    end14 INTEGER,            -- where stretch 14 ends; NULL where there are fewer
    end15 INTEGER,            -- where stretch 15 ends; NULL where there are fewer
    end16 INTEGER,            -- where stretch 16 ends; NULL where there are fewer
    kind1 INTEGER NOT NULL,   -- stretch_kind.id of the first
    kind2 INTEGER,            -- of stretch 2
    kind3 INTEGER,            -- of stretch 3
    kind4 INTEGER,            -- of stretch 4
    kind5 INTEGER,            -- of stretch 5
    kind6 INTEGER,            -- of stretch 6
    kind7 INTEGER,            -- of stretch 7
    kind8 INTEGER,            -- of stretch 8
    kind9 INTEGER,            -- of stretch 9
    kind10 INTEGER,           -- of stretch 10
    kind11 INTEGER,           -- of stretch 11
    kind12 INTEGER,           -- of stretch 12
    kind13 INTEGER,           -- of stretch 13
    kind14 INTEGER,           -- of stretch 14
    kind15 INTEGER,           -- of stretch 15
    kind16 INTEGER,           -- of stretch 16
    event1 INTEGER,           -- what stretch 1 is about: this many events behind `event`; NULL where it is about none
    event2 INTEGER,           -- what stretch 2 is about: this many events behind `event`; NULL where it is about none
    event3 INTEGER,           -- what stretch 3 is about: this many events behind `event`; NULL where it is about none
    event4 INTEGER,           -- what stretch 4 is about: this many events behind `event`; NULL where it is about none
    event5 INTEGER,           -- what stretch 5 is about: this many events behind `event`; NULL where it is about none
    event6 INTEGER,           -- what stretch 6 is about: this many events behind `event`; NULL where it is about none
    event7 INTEGER,           -- what stretch 7 is about: this many events behind `event`; NULL where it is about none
    event8 INTEGER,           -- what stretch 8 is about: this many events behind `event`; NULL where it is about none
    event9 INTEGER,           -- what stretch 9 is about: this many events behind `event`; NULL where it is about none
    event10 INTEGER,          -- what stretch 10 is about: this many events behind `event`; NULL where it is about none
    event11 INTEGER,          -- what stretch 11 is about: this many events behind `event`; NULL where it is about none
    event12 INTEGER,          -- what stretch 12 is about: this many events behind `event`; NULL where it is about none
    event13 INTEGER,          -- what stretch 13 is about: this many events behind `event`; NULL where it is about none
    event14 INTEGER,          -- what stretch 14 is about: this many events behind `event`; NULL where it is about none
    event15 INTEGER,          -- what stretch 15 is about: this many events behind `event`; NULL where it is about none
    event16 INTEGER           -- what stretch 16 is about: this many events behind `event`; NULL where it is about none
);
CREATE TABLE stretch_kind (   -- what many stretches have in common
    id INTEGER PRIMARY KEY,   -- as in stretch_block.kind1
    culprit INTEGER NOT NULL, -- culprit.id
    known INTEGER NOT NULL,   -- 0 recorded, 1 inferred, 2 unknown, 3 place inferred
    state INTEGER NOT NULL    -- as stretch.state
);
CREATE TABLE stretch_place (  -- the places of a stretch_block
    id INTEGER PRIMARY KEY    -- 1 to 16
);
INSERT INTO stretch_place VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15), (16);
CREATE VIEW stretch AS        -- the time of every active device, cut where its account, its culprit or what it does changes
SELECT
    b.id + p.id - 1 AS id,    -- by device, in order of time
    b.device AS device,       -- device.id
    b.start_ps + b.unit_ps * CASE p.id WHEN 1 THEN 0 WHEN 2 THEN b.end1 WHEN 3 THEN b.end2 WHEN 4 THEN b.end3 WHEN 5 THEN b.end4 WHEN 6 THEN b.end5 WHEN 7 THEN b.end6 WHEN 8 THEN b.end7 WHEN 9 THEN b.end8 WHEN 10 THEN b.end9 WHEN 11 THEN b.end10 WHEN 12 THEN b.end11 WHEN 13 THEN b.end12 WHEN 14 THEN b.end13 WHEN 15 THEN b.end14 WHEN 16 THEN b.end15 END AS start_ps, -- since the origin of the run
    b.unit_ps * CASE p.id WHEN 1 THEN b.end1 WHEN 2 THEN b.end2 - b.end1 WHEN 3 THEN b.end3 - b.end2 WHEN 4 THEN b.end4 - b.end3 WHEN 5 THEN b.end5 - b.end4 WHEN 6 THEN b.end6 - b.end5 WHEN 7 THEN b.end7 - b.end6 WHEN 8 THEN b.end8 - b.end7 WHEN 9 THEN b.end9 - b.end8 WHEN 10 THEN b.end10 - b.end9 WHEN 11 THEN b.end11 - b.end10 WHEN 12 THEN b.end12 - b.end11 WHEN 13 THEN b.end13 - b.end12 WHEN 14 THEN b.end14 - b.end13 WHEN 15 THEN b.end15 - b.end14 WHEN 16 THEN b.end16 - b.end15 END AS dur_ps, -- how long
    k.culprit AS culprit,     -- culprit.id
    k.known AS known,         -- 0 recorded, 1 inferred, 2 unknown, 3 place inferred
    k.state AS state,         -- what the device did: 1 busy, 2 working, 4 compute, 8 collective, 16 copy, 32 H2D, 64 D2H, 128 copy beside the ops, 256 in the window of its figures
    b.step AS step,           -- step.id; NULL in none
    b.event + CASE p.id WHEN 1 THEN b.event1 WHEN 2 THEN b.event2 WHEN 3 THEN b.event3 WHEN 4 THEN b.event4 WHEN 5 THEN b.event5 WHEN 6 THEN b.event6 WHEN 7 THEN b.event7 WHEN 8 THEN b.event8 WHEN 9 THEN b.event9 WHEN 10 THEN b.event10 WHEN 11 THEN b.event11 WHEN 12 THEN b.event12 WHEN 13 THEN b.event13 WHEN 14 THEN b.event14 WHEN 15 THEN b.event15 WHEN 16 THEN b.event16 END AS event -- event.id of the activity that it is about; NULL where it is about none
FROM stretch_block b
CROSS JOIN stretch_place p
JOIN stretch_kind k ON k.id = CASE p.id WHEN 1 THEN b.kind1 WHEN 2 THEN b.kind2 WHEN 3 THEN b.kind3 WHEN 4 THEN b.kind4 WHEN 5 THEN b.kind5 WHEN 6 THEN b.kind6 WHEN 7 THEN b.kind7 WHEN 8 THEN b.kind8 WHEN 9 THEN b.kind9 WHEN 10 THEN b.kind10 WHEN 11 THEN b.kind11 WHEN 12 THEN b.kind12 WHEN 13 THEN b.kind13 WHEN 14 THEN b.kind14 WHEN 15 THEN b.kind15 WHEN 16 THEN b.kind16 END;
CREATE TABLE device_step (    -- steps on each device
    id INTEGER PRIMARY KEY,   -- by device, in order of time
    device INTEGER NOT NULL,  -- device.id
    step INTEGER NOT NULL,    -- step.id
    start_ps INTEGER NOT NULL, -- where it begins there, since the origin of the run
    end_ps INTEGER NOT NULL   -- where it ends
);
CREATE TABLE host_activity_kind ( -- kinds of what hosts do
    id INTEGER PRIMARY KEY,   -- as in host_activity.kind
    name TEXT NOT NULL        -- compile, lowering, tracing, sync wait and so on
);
CREATE TABLE host_activity (  -- what hosts did that figures are made of; stalls are the events of stall_name
    event INTEGER PRIMARY KEY, -- event.id
    kind INTEGER NOT NULL     -- host_activity_kind.id
);
CREATE TABLE stall_name (     -- names of events in which an op only waits (CPU client: Rendezvous and the like)
    name INTEGER PRIMARY KEY  -- name.id
);
CREATE TABLE compilation (    -- what is known of the host activities that are compilations
    event INTEGER PRIMARY KEY, -- host_activity.event
    step INTEGER,             -- step.id that it was caused in; NULL in none
    function TEXT,            -- the jitted function whose call led to it; NULL where unknown
    is_part INTEGER NOT NULL  -- 1 where another one encloses or caused it
);
CREATE TABLE transfer (       -- what is known of the host activities that are transfers
    event INTEGER PRIMARY KEY, -- host_activity.event
    direction TEXT,           -- H2D or D2H
    bytes INTEGER             -- NULL where unknown
);
CREATE TABLE step (           -- steps of the program
    id INTEGER PRIMARY KEY,   -- in time order within the run
    run INTEGER NOT NULL,     -- run.id
    number INTEGER NOT NULL,  -- as the program counts
    start_ps INTEGER NOT NULL, -- where it begins on the first of its devices, since the origin of the run
    end_ps INTEGER NOT NULL,  -- where it ends on the last one
    host_start_ps INTEGER,    -- where its annotation begins; NULL where there is none
    host_end_ps INTEGER       -- where it ends
);
