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
    begins_run INTEGER NOT NULL, -- 1: the first work of a run of a framework's op whose cost is known
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
CREATE TABLE stretch (        -- the time of every active device, cut where its account, its culprit or what it does changes
    id INTEGER PRIMARY KEY,   -- by device, in order of time
    device INTEGER NOT NULL,  -- device.id
    start_ps INTEGER NOT NULL, -- since the origin of the run
    dur_ps INTEGER NOT NULL,  -- how long
    culprit INTEGER NOT NULL, -- culprit.id
    known INTEGER NOT NULL,   -- 0 recorded, 1 inferred, 2 unknown, 3 place inferred
    state INTEGER NOT NULL,   -- what the device did: 1 busy, 2 working, 4 compute, 8 collective, 16 copy, 32 H2D, 64 D2H, 128 copy beside the ops, 256 in the window of its figures
    step INTEGER,             -- step.id; NULL in none
    event INTEGER             -- event.id of the activity that it is about; NULL where it is about none
);
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
