-- What people ask for, a view a noun, a row an event. Times are integer picoseconds since the origin of the run. What the analysis found
-- is that of a report with default options; is_active marks what its figures are made of. Words are kept to what SQLite and DuckDB share.
CREATE VIEW events AS         -- every event, with its names
SELECT
    e.id AS id,               -- event.id; ordered by track, then start
    h.run AS run,             -- run.id
    h.name AS host,           -- the machine; NULL where the file does not say
    p.name AS plane,          -- the device or group of threads
    t.name AS track,          -- the thread or stream
    n.text AS name,           -- what it is called
    e.start_ps + h.shift_ps AS start_ps, -- since the origin of the run
    e.dur_ps AS dur_ps,       -- how long it took
    coalesce(e.self_ps, e.dur_ps) AS self_ps, -- without the events inside it
    e.depth AS depth,         -- how many events are around it
    e.parent AS parent,       -- id of the innermost of them; NULL where there is none
    e.form AS form,           -- as event.form
    e.run_id AS run_id,       -- the execution of a program that it belongs to; NULL where the file does not say
    e.correlation_id AS correlation_id, -- one launch and what it launched; NULL where the file does not say
    coalesce((SELECT max(f.from_event) FROM flow f WHERE f.to_event = e.id),
        (SELECT max(a.launch) FROM activity a WHERE a.event = e.id), e.parent) AS cause, -- event.id of what led to it: what handed it on or launched it, else the event around it; NULL at the beginning. From cause to cause the way leads to the program
    e.track AS track_id,      -- track.id
    e.name AS name_id         -- name.id
FROM event e
JOIN track t ON t.id = e.track
JOIN plane p ON p.id = t.plane
JOIN host h ON h.id = p.host
JOIN name n ON n.id = e.name;
CREATE VIEW stats AS          -- every stat of every event: what it has of its own, of a set, as a column and by its name
SELECT
    e.id AS event,            -- event.id
    s.name AS key,            -- what the stat is called
    s.type AS type,           -- as stat.type
    v.value AS value,         -- as stat_set.value
    0 AS of_name              -- 1: not the event's own, but of all events of its name
FROM event e JOIN stat_set v ON v.id = e.stat_set JOIN stat s ON s.id = v.stat
UNION ALL
SELECT v.event, s.name, s.type, v.value, 0
FROM event_stat v JOIN stat s ON s.id = v.stat
UNION ALL
SELECT e.id, s.name, s.type,
    CASE c.name WHEN 'run_id' THEN e.run_id WHEN 'producer_id' THEN e.producer_id
                WHEN 'consumer_id' THEN e.consumer_id ELSE e.correlation_id END, 0
FROM event e JOIN track t ON t.id = e.track JOIN plane p ON p.id = t.plane JOIN host h ON h.id = p.host
JOIN event_column c ON c.run = h.run JOIN stat s ON s.id = c.stat
WHERE CASE c.name WHEN 'run_id' THEN e.run_id WHEN 'producer_id' THEN e.producer_id
                  WHEN 'consumer_id' THEN e.consumer_id ELSE e.correlation_id END IS NOT NULL
UNION ALL
SELECT e.id, s.name, s.type, v.value, 1
FROM event e JOIN name_stat v ON v.name = e.name JOIN stat s ON s.id = v.stat;
CREATE VIEW flows AS          -- what made what happen
SELECT
    f.kind AS kind,           -- as flow.kind; launch: of an activity that the file does not tie to its launch itself, but through its program, a queue or a thread
    f.from_event AS from_event, -- event.id of the cause
    a.text AS from_name,      -- what it is called
    f.to_event AS to_event,   -- event.id of what it made happen
    b.text AS to_name,        -- what that is called
    (e.start_ps + eh.shift_ps) - (c.start_ps + ch.shift_ps) AS delay_ps -- from start to start
FROM flow f
JOIN event c ON c.id = f.from_event JOIN name a ON a.id = c.name
JOIN plane cp ON cp.id = a.plane JOIN host ch ON ch.id = cp.host
JOIN event e ON e.id = f.to_event JOIN name b ON b.id = e.name
JOIN plane ep ON ep.id = b.plane JOIN host eh ON eh.id = ep.host
UNION ALL
SELECT 'launch', w.launch, a.text, w.event, b.text, (e.start_ps + eh.shift_ps) - (c.start_ps + ch.shift_ps)
FROM activity w
JOIN event c ON c.id = w.launch JOIN name a ON a.id = c.name
JOIN plane cp ON cp.id = a.plane JOIN host ch ON ch.id = cp.host
JOIN event e ON e.id = w.event JOIN name b ON b.id = e.name
JOIN plane ep ON ep.id = b.plane JOIN host eh ON eh.id = ep.host
WHERE NOT EXISTS (SELECT 1 FROM flow f WHERE f.to_event = w.event AND f.from_event = w.launch);
CREATE VIEW activities AS     -- what devices did: every kernel, op, copy and set; kernels, ops, memcpys and collectives are parts of this
SELECT
    e.id AS id,               -- event.id
    d.run AS run,             -- run.id
    d.name AS device,         -- device.name
    t.name AS stream,         -- the track: a stream, a line of a TPU, a thread of the CPU client
    coalesce(n.display, n.text) AS name, -- what the event is called
    e.start_ps + h.shift_ps AS start_ps, -- since the origin of the run
    coalesce(a.dur_ps, e.dur_ps) AS dur_ps, -- how long it took; an op of the CPU client to its end
    coalesce(a.self_ps, a.dur_ps, e.dur_ps) AS self_ps, -- without the activity inside it
    c.kind AS kind,           -- kernel, op, copy, set
    c.class AS class,         -- compute, collective, copy, stalled
    c.rule AS rule,           -- the rule that gave the class
    c.collective AS collective, -- all-reduce and the like; NULL: not a collective
    c.direction AS direction, -- of a copy or set: H2D and the like; NULL where unknown or none
    c.bytes AS bytes,         -- of a copy or collective; NULL where unknown or none
    c.is_async AS is_async,   -- of a copy; NULL where unknown
    c.is_pinned AS is_pinned, -- of a copy: 1 pinned, 0 pageable; NULL where unknown
    c.is_beside AS is_beside, -- 1: beside the ops of the device, and no activity of its own (TPU's asynchronous ops)
    c.is_in_graph AS is_in_graph, -- 1: as part of a CUDA graph
    o.name AS op,             -- the HLO op; NULL where none is known
    o.module AS module,       -- the program; NULL where none is known
    s.number AS step,         -- the step that launched it; NULL where it belongs to none
    CASE WHEN d.is_active = 1 AND e.start_ps + h.shift_ps >= d.start_ps AND e.start_ps + h.shift_ps <= d.end_ps
        THEN 1 ELSE 0 END AS is_active, -- 1: the figures of the report count it: it begins in the window of an active device
    a.around AS around,       -- id of the innermost activity around it; NULL where there is none
    d.id AS device_id,        -- device.id
    e.track AS track_id,      -- track.id
    o.id AS op_id,            -- op.id
    c.launch_shape AS launch_shape, -- launch_shape.id
    s.id AS step_id,          -- step.id
    c.matrix_units AS matrix_units, -- of a kernel: used, not used, missed; NULL where its name does not tell
    c.begins_run AS begins_run, -- 1: the first work of a run of a framework's op
    a.launch AS launch        -- event.id of what launched it; NULL where it was not recorded
FROM activity a
JOIN activity_class c ON c.id = a.class
JOIN device d ON d.id = c.device
JOIN event e ON e.id = a.event
JOIN track t ON t.id = e.track
JOIN plane p ON p.id = t.plane
JOIN host h ON h.id = p.host
JOIN name n ON n.id = e.name
LEFT JOIN op o ON o.id = c.op
LEFT JOIN step s ON s.id = a.step
UNION ALL
SELECT e.id, d.run, d.name, t.name, coalesce(n.display, n.text), e.start_ps + h.shift_ps, a.dur_ps, a.dur_ps, c.kind,
    c.class, c.rule, c.collective, c.direction, c.bytes, c.is_async, c.is_pinned, c.is_beside, c.is_in_graph, o.name,
    o.module, s.number,
    CASE WHEN d.is_active = 1 AND e.start_ps + h.shift_ps >= d.start_ps AND e.start_ps + h.shift_ps <= d.end_ps
        THEN 1 ELSE 0 END, NULL, d.id, e.track, o.id, c.launch_shape, s.id, NULL, 0, NULL
FROM host_copy a
JOIN activity_class c ON c.id = a.class
JOIN device d ON d.id = c.device
JOIN event e ON e.id = a.event
JOIN track t ON t.id = e.track
JOIN plane p ON p.id = t.plane
JOIN host h ON h.id = p.host
JOIN name n ON n.id = e.name
LEFT JOIN op o ON o.id = c.op
LEFT JOIN step s ON s.id = a.step;
CREATE VIEW kernels AS        -- every kernel: of a GPU; of a TPU or the CPU client each op that computes or is a collective
SELECT
    a.id AS id,               -- event.id
    a.run AS run,             -- run.id
    a.device AS device,       -- device.name
    a.stream AS stream,       -- the stream, line or thread
    a.name AS name,           -- of a GPU the kernel's, else the op's
    a.start_ps AS start_ps,   -- since the origin of the run
    a.dur_ps AS dur_ps,       -- how long it took
    a.kind AS kind,           -- kernel, or op
    a.class AS class,         -- compute, collective
    a.op AS op,               -- the HLO op; NULL where none is known
    a.module AS module,       -- the program; NULL where none is known
    a.step AS step,           -- the step that launched it; NULL where it belongs to none
    l.grid_x AS grid_x,       -- blocks; NULL where unknown
    l.grid_y AS grid_y,       -- blocks
    l.grid_z AS grid_z,       -- blocks
    l.block_x AS block_x,     -- threads; NULL where unknown
    l.block_y AS block_y,     -- threads
    l.block_z AS block_z,     -- threads
    l.registers AS registers, -- of a thread; NULL where unknown
    l.static_shared_bytes AS static_shared_bytes, -- shared memory that the kernel has
    l.dynamic_shared_bytes AS dynamic_shared_bytes, -- shared memory that the launch gives
    l.occupancy AS occupancy, -- theoretical, 0 to 1; NULL where unknown
    l.achieved_occupancy AS achieved_occupancy, -- as Kineto estimates it from the size of the grid; NULL where unknown
    l.limited_by AS limited_by, -- what keeps more threads from being resident; NULL where unknown
    l.blocks_at_once AS blocks_at_once, -- of a multiprocessor; NULL where unknown
    l.waves AS waves,         -- blocks of the grid, in times of what the device holds at once; NULL where unknown
    a.matrix_units AS matrix_units, -- used, not used, or missed (the device has them for that type); NULL where the name does not tell
    a.is_in_graph AS is_in_graph, -- 1: as part of a CUDA graph
    a.is_active AS is_active  -- 1: the figures of the report count it
FROM activities a
LEFT JOIN op o ON o.id = a.op_id
LEFT JOIN launch_shape l ON l.id = a.launch_shape
WHERE a.is_beside = 0 AND (a.kind = 'kernel' OR (a.kind = 'op' AND a.class IN ('compute', 'collective')
    AND coalesce(o.is_marker, 0) = 0 AND coalesce(o.is_container, 0) = 0));
CREATE VIEW launches AS       -- every GPU kernel whose launch was recorded, without those of CUDA graphs
SELECT
    a.id AS id,               -- event.id
    a.run AS run,             -- run.id
    a.device AS device,       -- device.name
    a.name AS name,           -- the kernel's
    a.start_ps AS start_ps,   -- when it began, since the origin of the run
    a.launch AS launch,       -- event.id of the call that launched it
    e.dur_ps AS launch_dur_ps, -- how long that call took
    max(0, a.start_ps - e.start_ps - h.shift_ps - e.dur_ps) AS queue_ps, -- from its end until the kernel began
    a.class AS class,         -- compute, collective
    a.is_active AS is_active  -- 1: the figures of the report count it
FROM activities a
JOIN event e ON e.id = a.launch
JOIN track t ON t.id = e.track
JOIN plane p ON p.id = t.plane
JOIN host h ON h.id = p.host
WHERE a.kind = 'kernel' AND a.is_in_graph = 0 AND a.is_beside = 0;
CREATE VIEW ops AS            -- every execution of an op; of a GPU every kernel, copy or set that bears an HLO op or was launched by the framework's
SELECT
    a.id AS id,               -- event.id
    a.run AS run,             -- run.id
    a.device AS device,       -- device.name
    a.stream AS stream,       -- the stream, line or thread
    o.name AS op,             -- fusion.3
    o.category AS category,   -- hlo_category (TPU), else the opcode; NULL where unknown
    CASE WHEN a.class = 'collective' THEN a.class ELSE o.family END AS family, -- matrix product, convolution, collective, copy and so on; other where nothing tells
    o.module AS module,       -- the program; NULL where unknown
    o.program_id AS program_id, -- its number; NULL where unknown
    o.op_name AS op_name,     -- where it is in the program: jit(train_step)/layer0/dot_general
    o.scope AS scope,         -- the scopes and functions that the program named: layer0; NULL where there is none
    o.pass AS pass,           -- forward, backward, recomputed, custom vjp; NULL where op_name says none
    o.is_framework AS is_framework, -- 1: an op of the framework (aten::addmm), no instruction of a program
    o.source AS source,       -- file and line of the program
    a.start_ps AS start_ps,   -- since the origin of the run
    a.dur_ps AS dur_ps,       -- how long it took
    a.self_ps AS self_ps,     -- without the ops inside it
    a.class AS class,         -- compute, collective, copy, stalled
    a.direction AS direction, -- of a copy or set: H2D and the like; NULL where unknown or none
    a.step AS step,           -- the step that launched it; NULL where it belongs to none
    a.around AS around,       -- id of the loop, condition or call around it; NULL where there is none
    o.flops AS flops,         -- per execution; NULL unknown
    o.bytes_accessed AS bytes_accessed, -- per execution; NULL unknown
    o.cost_source AS cost_source, -- who counted them: file, or model (idsprof, over the program); NULL nobody
    o.deduplicated_name AS deduplicated_name, -- the op that this one is equal to
    o.text AS text,           -- the whole instruction
    o.shape AS shape,         -- of its result: f32[256,256]; NULL unknown
    o.waste AS waste,         -- what its time is wasted on, as in op.waste; NULL: nothing is known
    o.waste_why AS waste_why, -- what shows it
    a.is_beside AS is_beside, -- 1: on the line of asynchronous ops, and no activity of the device
    a.is_active AS is_active, -- 1: the figures of the report count it
    o.id AS op_id             -- op.id
FROM activities a
JOIN op o ON o.id = a.op_id;
CREATE VIEW memcpys AS        -- every copy and set of device memory, and the transfers that only the host's runtime books (TPU)
SELECT
    a.id AS id,               -- event.id
    a.run AS run,             -- run.id
    a.device AS device,       -- device.name; NULL for the runtime's
    a.stream AS stream,       -- the stream, line or thread
    a.name AS name,           -- MemcpyH2D and the like
    coalesce(a.direction, 'other') AS direction, -- H2D, D2H, D2D, P2P, H2H, memset, or other where the trace does not tell
    a.start_ps AS start_ps,   -- since the origin of the run
    a.dur_ps AS dur_ps,       -- how long it took
    a.bytes AS bytes,         -- NULL where the trace does not tell
    a.is_async AS is_async,   -- NULL where the trace does not tell
    a.is_pinned AS is_pinned, -- 1 pinned, 0 pageable; NULL where the trace does not tell
    a.op AS op,               -- the HLO op; NULL where none is known
    a.step AS step,           -- the step that launched it; NULL where it belongs to none
    a.is_beside AS is_beside, -- 1: beside the ops of the device
    a.is_active AS is_active  -- 1: the figures of the report count it
FROM activities a
WHERE a.kind IN ('copy', 'set') AND (a.is_beside = 0 OR (a.class <> 'collective' AND a.direction IS NOT NULL))
UNION ALL
SELECT e.id, h.run, NULL, t.name, coalesce(n.display, n.text), coalesce(w.direction, 'other'), e.start_ps + h.shift_ps,
    e.dur_ps, w.bytes, NULL, NULL, NULL, NULL, 1, 1
FROM transfer w
JOIN event e ON e.id = w.event
JOIN track t ON t.id = e.track
JOIN plane p ON p.id = t.plane
JOIN host h ON h.id = p.host
JOIN name n ON n.id = e.name;
CREATE VIEW collectives AS    -- every collective of every device; of an asynchronous pair the op, not its start
SELECT
    a.id AS id,               -- event.id
    a.run AS run,             -- run.id
    a.device AS device,       -- device.name
    a.stream AS stream,       -- the stream, line or thread
    a.name AS name,           -- what the event is called
    a.collective AS collective, -- all-reduce, all-gather, ...; `collective` where nothing says which
    a.start_ps AS start_ps,   -- since the origin of the run
    a.dur_ps AS dur_ps,       -- how long it took, waiting for peers included
    CASE WHEN o.is_framework = 1 THEN NULL ELSE a.op END AS op, -- the HLO op; NULL where none is known
    a.module AS module,       -- the program; NULL where none is known
    a.bytes AS bytes,         -- the message: the larger of what one device gives and gets; NULL where unknown
    coalesce(o.replica_groups, l.ranks) AS replica_groups, -- who takes part; NULL where unknown
    coalesce(o.group_size, l.group_size) AS group_size, -- how many of them there are; NULL where unknown
    CASE WHEN a.collective IN ('broadcast', 'reduce', 'send/recv', 'permute') THEN 1.0
         WHEN a.collective = 'all-reduce' THEN 2.0 * (coalesce(o.group_size, l.group_size) - 1) / coalesce(o.group_size, l.group_size)
         WHEN a.collective <> 'collective' THEN (coalesce(o.group_size, l.group_size) - 1.0) / coalesce(o.group_size, l.group_size)
         ELSE NULL END AS bus_factor, -- bus bandwidth over bytes / dur_ps, as nccl-tests has it; NULL where unknown
    a.rule AS rule,           -- how it was recognised
    a.step AS step,           -- the step that launched it; NULL where it belongs to none
    CASE WHEN a.kind = 'kernel' THEN 0 ELSE coalesce(o.is_marker, 0) * (1 - a.is_beside) END AS is_start, -- 1: only the start of an asynchronous one, which has a row of its own
    a.is_beside AS is_beside, -- 1: on the line of asynchronous ops
    a.is_active AS is_active  -- 1: the figures of the report count it
FROM activities a
LEFT JOIN op o ON o.id = a.op_id
LEFT JOIN launch_shape l ON l.id = a.launch_shape
WHERE a.class = 'collective' AND a.collective IS NOT NULL;
CREATE VIEW counter_stats AS  -- the stats of events themselves, of those in sets only where values are sampled
SELECT
    event AS event,           -- event.id
    stat AS stat,             -- stat.id
    value AS value            -- as stat_set.value
FROM event_stat
UNION ALL
SELECT e.id, w.stat, w.value FROM event e JOIN track t ON t.id = e.track JOIN stat_set w ON w.id = e.stat_set
WHERE e.form = 2 OR t.name = '_counters_' OR substr(t.name, -16) = '_profiler_range)';
CREATE VIEW counters AS       -- every value that the file sampled over time: utilization of units, clocks, power, throttling
SELECT
    e.id AS id,               -- event.id
    h.run AS run,             -- run.id
    p.name AS plane,          -- the device, or the host's threads
    n.text AS counter,        -- what was sampled
    s.name AS series,         -- which value of it
    e.start_ps + h.shift_ps AS start_ps, -- when, since the origin of the run
    CAST(v.value AS REAL) AS value -- what it was
FROM event e
JOIN track t ON t.id = e.track
JOIN plane p ON p.id = t.plane
JOIN host h ON h.id = p.host
JOIN name n ON n.id = e.name
JOIN counter_stats v ON v.event = e.id
JOIN stat s ON s.id = v.stat
WHERE (e.form = 2 OR t.name = '_counters_' OR substr(t.name, -16) = '_profiler_range)')
    AND s.name NOT IN ('cat', 'group_id', 'run_id', 'program_id', 'correlation_id', 'correlation', '_pt', '_p', '_ct', '_c',
        'step_num', 'idsprof.form')
    AND (s.type IN ('int', 'uint') OR (s.type = 'real' AND abs(v.value) < 1e280) OR (s.type = 'text'
        AND substr(v.value, 1, 1) BETWEEN '0' AND '9' AND rtrim(v.value, '0123456789.') = '' AND instr(substr(v.value, instr(v.value, '.') + 1), '.') = 0 AND CAST(v.value AS REAL) < 1e280));
CREATE VIEW gaps AS           -- every interval in which an active device did nothing, and what most of it belongs to
SELECT
    d.run AS run,             -- run.id
    d.name AS device,         -- device.name
    e.start_ps + h.shift_ps - a.idle_ps AS start_ps, -- since the origin of the run
    a.idle_ps AS dur_ps,      -- how long it took
    c.name AS account,        -- account.name of its longest part; a gap may have several, see the view ledger
    e.id AS next,             -- event.id of the activity that ends it; NULL where there is none in the window
    coalesce(n.display, n.text) AS next_name, -- what that is called
    a.launch AS launch,       -- event.id of what launched it; NULL where it was not recorded
    l.start_ps + lh.shift_ps AS launch_ps -- when that was
FROM activity a
JOIN activity_class k ON k.id = a.class
JOIN device d ON d.id = k.device
JOIN account c ON c.id = a.cause
JOIN event e ON e.id = a.event
JOIN name n ON n.id = e.name
JOIN plane p ON p.id = n.plane
JOIN host h ON h.id = p.host
LEFT JOIN event l ON l.id = a.launch
LEFT JOIN name ln ON ln.id = l.name
LEFT JOIN plane lp ON lp.id = ln.plane
LEFT JOIN host lh ON lh.id = lp.host
UNION ALL
SELECT d.run, d.name, d.end_ps - d.idle_ps, d.idle_ps, c.name, NULL, NULL, NULL, NULL
FROM device d JOIN account c ON c.id = d.cause;
CREATE VIEW steps AS          -- the steps of the program that have work on a device
SELECT
    s.id AS id,               -- step.id; in time order
    s.run AS run,             -- run.id
    s.number AS step,         -- as the program counts
    s.start_ps AS start_ps,   -- where it begins on the first of its devices, since the origin of the run
    m.dur_ps AS dur_ps,       -- how long it took: the mean over its devices
    m.slowest_ps AS slowest_ps, -- on the device where it took longest
    m.devices AS devices,     -- how many it has work on
    s.host_start_ps AS host_start_ps, -- where its annotation begins; NULL where there is none
    s.host_end_ps - s.host_start_ps AS host_dur_ps, -- how long dispatching took; NULL where there is no annotation
    r.step_source AS source   -- as run.step_source
FROM step s
JOIN run r ON r.id = s.run
JOIN (SELECT step, sum(end_ps - start_ps) / count(*) AS dur_ps, max(end_ps - start_ps) AS slowest_ps, count(*) AS devices
      FROM device_step GROUP BY step) m ON m.step = s.id;
CREATE VIEW device_steps AS   -- the steps on each device: one begins where the work of the one before has ended, or with its annotation
SELECT
    t.id AS id,               -- device_step.id
    d.run AS run,             -- run.id
    d.name AS device,         -- device.name
    s.number AS step,         -- as the program counts
    t.start_ps AS start_ps,   -- where it begins there, since the origin of the run
    t.end_ps - t.start_ps AS dur_ps, -- how long it took there
    t.device AS device_id,    -- device.id
    t.step AS step_id         -- step.id
FROM device_step t
JOIN device d ON d.id = t.device
JOIN step s ON s.id = t.step;
CREATE VIEW allocations AS    -- every time that an allocator took memory or gave it back, where the file has its events
SELECT
    s.event AS id,            -- event.id
    h.run AS run,             -- run.id
    h.name AS host,           -- the machine; NULL where the file does not say
    CASE WHEN s.torch_type IS NULL THEN coalesce(s.allocator_name, 'TPU#' || s.index_on_host)
         WHEN s.torch_type = 0 THEN 'cpu'
         ELSE CASE s.torch_type WHEN 1 THEN 'cuda:' WHEN 6 THEN 'hip:' WHEN 9 THEN 'xla:' WHEN 12 THEN 'xpu:' ELSE 'device:' END
              || max(s.torch_device, 0) END AS allocator, -- GPU_0_bfc, cuda:0; a TPU's have no name: TPU#0, the number on its host
    CASE WHEN s.torch_type IS NOT NULL THEN s.torch_type = 0
         ELSE coalesce(NOT (substr(s.allocator_name, 1, 4) = 'GPU_' AND substr(s.allocator_name, 5, 1) BETWEEN '0' AND '9') AND (instr(lower(s.allocator_name), 'host') > 0 OR s.allocator_name = 'cpu'), 0)
         END AS is_host,      -- 1: memory of the host
    e.start_ps + h.shift_ps AS start_ps, -- when, since the origin of the run
    CASE WHEN s.torch_type IS NULL THEN n.text = 'MemoryAllocation' ELSE s.torch_bytes > 0 END AS is_taken, -- 1 taken, 0 given back
    abs(coalesce(s.allocation_bytes, s.torch_bytes)) AS bytes, -- how many; NULL where the file does not say
    CASE WHEN s.torch_type IS NULL THEN coalesce(s.bytes_reserved, 0) + s.bytes_allocated
         ELSE s.torch_total END AS in_use, -- from then on, with what is reserved for stacks of programs; NULL where the file does not say
    CASE WHEN s.torch_type IS NULL THEN coalesce(s.bytes_reserved, 0) + s.bytes_allocated + s.bytes_available
         WHEN s.torch_type = 0 OR EXISTS (SELECT 1 FROM device d WHERE d.run = h.run AND d.kind = 'GPU'
              AND d.ordinal = max(s.torch_device, 0) AND d.host = coalesce(h.name, d.host))
         THEN (SELECT max(d.memory_bytes) FROM device d WHERE d.run = h.run AND d.kind = 'GPU' AND d.ordinal = max(s.torch_device, 0)
               AND d.host = coalesce(h.name, d.host))
         ELSE (SELECT CASE WHEN min(d.memory_bytes) = max(d.memory_bytes) AND count(d.memory_bytes) = sum(1) THEN max(d.memory_bytes) END
               FROM device d WHERE d.run = h.run AND d.kind <> 'CPU' AND d.host = coalesce(h.name, d.host))
         END AS capacity,     -- in use and available, or what all devices of the host have; NULL where the file does not say
    s.fragmentation AS fragmentation, -- 1 less the largest free block ÷ all that is free; NULL where the file does not say
    s.peak_bytes_in_use AS life_peak, -- the most in use since the program began; NULL where the file does not say
    s.tf_op AS op,            -- for which op; NULL where the file does not say
    s.region_type AS region,  -- what for: output, temporary; NULL where the file does not say
    s.shape AS shape,         -- of the array; NULL where the file does not say
    e.track AS track_id       -- track.id: the thread that asked
FROM (SELECT v.event AS event,
             max(CASE v.key WHEN 'allocator_name' THEN v.value END) AS allocator_name,
             max(CASE v.key WHEN 'index_on_host' THEN v.value END) AS index_on_host,
             max(CASE v.key WHEN 'bytes_reserved' THEN v.value END) AS bytes_reserved,
             max(CASE v.key WHEN 'bytes_allocated' THEN v.value END) AS bytes_allocated,
             max(CASE v.key WHEN 'bytes_available' THEN v.value END) AS bytes_available,
             max(CASE v.key WHEN 'allocation_bytes' THEN v.value END) AS allocation_bytes,
             max(CASE v.key WHEN 'fragmentation' THEN v.value END) AS fragmentation,
             max(CASE v.key WHEN 'peak_bytes_in_use' THEN v.value END) AS peak_bytes_in_use,
             max(CASE v.key WHEN 'tf_op' THEN v.value END) AS tf_op,
             max(CASE v.key WHEN 'region_type' THEN v.value END) AS region_type,
             max(CASE v.key WHEN 'shape' THEN v.value END) AS shape,
             max(CASE v.key WHEN 'Device Type' THEN v.value END) AS torch_type,
             max(CASE v.key WHEN 'Device Id' THEN v.value END) AS torch_device,
             max(CASE v.key WHEN 'Bytes' THEN v.value END) AS torch_bytes,
             max(CASE v.key WHEN 'Total Allocated' THEN v.value END) AS torch_total
      FROM stats v JOIN event m ON m.id = v.event JOIN name k ON k.id = m.name
      WHERE k.text IN ('MemoryAllocation', 'MemoryDeallocation', '[memory]') GROUP BY v.event) s
JOIN event e ON e.id = s.event
JOIN name n ON n.id = e.name
JOIN track t ON t.id = e.track
JOIN plane p ON p.id = t.plane
JOIN host h ON h.id = p.host;
CREATE VIEW compiles AS       -- every compilation that no other one encloses or caused
SELECT
    e.id AS id,               -- event.id
    h.run AS run,             -- run.id
    t.name AS thread,         -- where it ran
    coalesce(n.display, n.text) AS name, -- what the event is called
    w.function AS function,   -- the jitted function whose call led to it; NULL where unknown
    e.start_ps + h.shift_ps AS start_ps, -- since the origin of the run
    e.dur_ps AS dur_ps,       -- how long it took
    s.number AS step          -- the step that it was caused in; NULL in none
FROM compilation w
JOIN event e ON e.id = w.event
JOIN track t ON t.id = e.track
JOIN plane p ON p.id = t.plane
JOIN host h ON h.id = p.host
JOIN name n ON n.id = e.name
LEFT JOIN step s ON s.id = w.step
WHERE w.is_part = 0;
CREATE VIEW host_activities AS -- what hosts did that figures are made of: compiling, waiting, staging, feeding, marking steps
SELECT
    e.id AS id,               -- event.id
    h.run AS run,             -- run.id
    h.name AS host,           -- the machine; NULL where the file does not say
    t.name AS thread,         -- where it ran
    k.name AS kind,           -- compile, lowering, tracing, autotuning, compilation cache read, write, hit or miss, sync wait, transfer, transfer staging, input, step annotation, stall
    coalesce(n.display, n.text) AS name, -- what the event is called
    e.start_ps + h.shift_ps AS start_ps, -- since the origin of the run
    e.dur_ps AS dur_ps,       -- how long it took
    e.track AS track_id       -- track.id
FROM host_activity w
JOIN host_activity_kind k ON k.id = w.kind
JOIN event e ON e.id = w.event
JOIN track t ON t.id = e.track
JOIN plane p ON p.id = t.plane
JOIN host h ON h.id = p.host
JOIN name n ON n.id = e.name
UNION ALL
SELECT e.id, h.run, h.name, t.name, 'stall', coalesce(n.display, n.text), e.start_ps + h.shift_ps, e.dur_ps, e.track
FROM event e CROSS JOIN stall_name w
JOIN track t ON t.id = e.track
JOIN plane p ON p.id = t.plane
JOIN host h ON h.id = p.host
JOIN name n ON n.id = e.name
WHERE w.name = e.name;
CREATE VIEW devices AS        -- the devices of the runs, also those that did nothing
SELECT
    d.id AS id,               -- device.id
    d.run AS run,             -- run.id
    d.name AS device,         -- the host and its plane
    d.label AS label,         -- short: GPU:0
    d.kind AS kind,           -- GPU, TPU, CPU, CUSTOM
    d.model AS model,         -- what it is; NULL where the file does not say
    d.host AS host,           -- the machine, or the process
    d.ordinal AS ordinal,     -- its number on the host; NULL where the file does not say
    d.is_active AS is_active, -- 1: the figures of the report count it
    d.start_ps AS start_ps,   -- where the window of its figures begins; NULL where it is not active
    d.end_ps - d.start_ps AS dur_ps, -- how long that is
    d.peak_flops AS peak_flops, -- of the hardware, per second; NULL where the file does not say
    d.peak_bandwidth AS peak_bandwidth, -- bytes per second of its memory; NULL where the file does not say
    d.memory_bytes AS memory_bytes -- of its memory; NULL where the file does not say
FROM device d;
CREATE VIEW hosts AS          -- the files of the run, and how their clocks were brought together
SELECT
    h.id AS id,               -- host.id
    h.run AS run,             -- run.id
    h.name AS name,           -- the machine or rank; NULL where the file does not say
    h.start_unix_ns AS start_unix_ns, -- the wall clock at the beginning of the file; NULL where it does not say
    h.shift_ps AS shift_ps,   -- as host.shift_ps
    h.clock AS clock,         -- as host.clock
    h.clock_method AS clock_method, -- as host.clock_method
    h.offset_ps AS offset_ps, -- as host.offset_ps
    h.residual_ps AS residual_ps, -- as host.residual_ps
    h.drift AS drift,         -- as host.drift
    h.matched AS matched      -- as host.matched
FROM host h;
CREATE VIEW tracks AS         -- the timelines of the files: threads, streams, lines of devices
SELECT
    t.id AS id,               -- track.id
    h.run AS run,             -- run.id
    h.name AS host,           -- the machine; NULL where the file does not say
    p.name AS plane,          -- the device or group of threads
    t.name AS track,          -- the thread or stream
    t.event_count AS events,  -- how many there are
    f.start_ps + h.shift_ps AS start_ps, -- when the first one begins; NULL where there is none
    t.first_event AS first_event, -- event.id; its events are those from here
    t.last_event AS last_event -- to here
FROM track t
JOIN plane p ON p.id = t.plane
JOIN host h ON h.id = p.host
LEFT JOIN event f ON f.id = t.first_event;
CREATE VIEW ledger AS         -- where the time of every active device went: each moment is in one row, which has an account and a culprit
SELECT
    t.id AS id,               -- stretch.id; by device, in order of time
    d.run AS run,             -- run.id
    d.name AS device,         -- device.name
    s.number AS step,         -- the step that it is part of; NULL in none
    t.start_ps AS start_ps,   -- since the origin of the run
    t.dur_ps AS dur_ps,       -- how long
    a.name AS account,        -- account.name: work.compute, host.python
    c.culprit AS culprit,     -- an op, a function, a call, a region, a rank; NULL where it is not known
    c.place AS place,         -- file:line, the path of an op, what the rank did; NULL where it is not known
    t.event AS event,         -- event.id of the activity that it is about; NULL where it is about none
    CASE t.known WHEN 0 THEN 'recorded' WHEN 1 THEN 'inferred' WHEN 3 THEN 'place inferred' ELSE 'unknown' END AS known, -- recorded, inferred, unknown, place inferred
    t.state & 1 AS is_busy,   -- 1: the device has activity
    (t.state >> 8) & 1 AS in_window, -- 1: in the window of its figures; 0: only a step reaches there
    CASE WHEN t.step IS NOT NULL THEN 1 WHEN EXISTS (SELECT 1 FROM step x WHERE x.run = d.run) THEN 0 ELSE (t.state >> 8) & 1 END AS counts, -- 1: the report's ledger counts it: it is in a step, or, without steps, in the window
    t.state AS state,         -- as stretch.state
    t.device AS device_id,    -- device.id
    t.step AS step_id         -- step.id
FROM stretch t
JOIN device d ON d.id = t.device
JOIN culprit c ON c.id = t.culprit
JOIN account a ON a.id = c.account
LEFT JOIN step s ON s.id = t.step;
CREATE VIEW device_time AS    -- the window of every active device, cut where what it does changes: a sum over rows is a time without overlap
SELECT
    d.run AS run,             -- run.id
    d.name AS device,         -- device.name
    t.start_ps AS start_ps,   -- since the origin of the run
    t.dur_ps AS dur_ps,       -- how long it took
    t.state & 1 AS busy,      -- 1: any activity
    (t.state >> 1) & 1 AS working, -- 1: activity that is not a wait
    (t.state >> 2) & 1 AS compute, -- 1: neither a collective nor a copy nor a wait
    (t.state >> 3) & 1 AS collective, -- 1: a collective, also beside the ops
    (t.state >> 4) & 1 AS copy, -- 1: a copy or set that is activity
    (t.state >> 5) & 1 AS h2d, -- 1: a copy from the host, also beside the ops
    (t.state >> 6) & 1 AS d2h, -- 1: a copy to the host, also beside the ops
    (t.state >> 7) & 1 AS async_copy, -- 1: a copy beside the ops
    a.name AS account,        -- account.name
    s.number AS step,         -- the step that it is part of; NULL in none
    t.step AS step_id         -- step.id
FROM stretch t
JOIN device d ON d.id = t.device
JOIN culprit c ON c.id = t.culprit
JOIN account a ON a.id = c.account
LEFT JOIN step s ON s.id = t.step
WHERE t.state >= 256;
CREATE VIEW layers AS         -- the time of ops by name scope, program and pass: sums of ops
SELECT
    o.run AS run,             -- run.id
    o.module AS module,       -- the program; NULL where unknown
    o.scope AS scope,         -- transformer/layer_3/attn, without the outermost function; NULL where there is none
    o.pass AS pass,           -- forward, backward, recomputed, custom vjp; NULL where the op's name says none
    count(*) AS executions,   -- of all ops
    count(DISTINCT o.op_id) AS ops, -- distinct ops
    sum(o.self_ps) AS self_ps, -- their time without the ops inside them
    sum(o.flops) AS flops,    -- of all executions; NULL unknown
    sum(o.bytes_accessed) AS bytes -- of all executions; NULL unknown
FROM ops o
WHERE o.is_active = 1 AND o.is_beside = 0
GROUP BY o.run, o.module, o.scope, o.pass;
CREATE VIEW op_costs AS       -- what the ops that each device ran computed and moved, and how long that would take at the peaks
SELECT
    c.run AS run,             -- run.id
    c.device_id AS device_id, -- device.id
    c.op_id AS op_id,         -- op.id
    c.runs AS runs,           -- how often it ran: of a framework as its calls say; on a GPU as often as the kernel that has most of its time, or half as often, or a third, where another kernel of it says so
    c.runs_in_steps AS runs_in_steps, -- in steps
    c.untimed AS untimed,     -- of these, those of no duration, of an op that needs a microsecond or more: their time was lost
    c.self_ps AS self_ps,     -- its time
    CASE WHEN c.self_ps > coalesce(e.device_ps, 0) AND b.self_ps > b.busy_ps
        THEN coalesce(e.device_ps, 0) * 1.0 / c.self_ps ELSE 1.0 END AS device_share, -- where ops of the device run beside each other, the share of its time that the ledger books to it; else 1
    c.copied_bytes AS copied_bytes, -- of an asynchronous copy, those of the main memory, which move beside its time; NULL none
    c.copied_ps AS copied_ps, -- what these alone take; NULL unknown
    c.flops AS flops,         -- of all runs; NULL unknown
    c.bytes AS bytes,         -- of the main memory, of all runs; NULL unknown
    c.model_flops AS model_flops, -- of the model, of one run; NULL none
    c.model_ps AS model_ps,   -- what these alone take; NULL unknown
    c.flops_ps AS flops_ps,   -- what the operations of all runs alone take; NULL unknown
    c.bytes_ps AS bytes_ps,   -- what the bytes of all runs alone take; NULL unknown
    (CASE WHEN c.flops_ps > c.bytes_ps THEN c.flops_ps ELSE c.bytes_ps + 0 * c.flops_ps END) * c.timed AS roof_ps, -- the larger one, of runs that have a time; NULL where one of them is
    c.computes AS computes,   -- 1: most of its time computes; 0: it copies, exchanges or waits
    CASE WHEN c.computes = 0 OR c.flops_ps + c.bytes_ps IS NULL OR c.flops_ps + c.bytes_ps = 0 THEN NULL
        WHEN c.self_ps < 20000000 * (c.runs - c.untimed) AND c.self_ps > 3 * c.timed * c.flops_ps AND c.self_ps > 3 * c.timed * c.bytes_ps THEN 'latency'
        WHEN c.self_ps > 10 * c.timed * c.flops_ps AND c.self_ps > 10 * c.timed * c.bytes_ps THEN 'neither'
        WHEN c.flops_ps > c.bytes_ps THEN 'compute' ELSE 'memory' END AS bound -- of what computes: compute, memory, latency (short, and far above both), or neither (below a tenth of both); NULL unknown
FROM (
    SELECT b.run AS run, b.device_id AS device_id, b.op_id AS op_id, b.runs AS runs, b.runs_in_steps AS runs_in_steps,
        b.self_ps AS self_ps, b.flops AS flops, b.bytes AS bytes, b.model_flops AS model_flops, b.model_ps AS model_ps,
        b.flops_ps AS flops_ps, b.bytes_ps AS bytes_ps, b.computes AS computes, b.copied_bytes AS copied_bytes,
        b.copied_ps AS copied_ps,
        CASE WHEN b.flops_ps >= 1000000 * b.runs OR b.bytes_ps >= 1000000 * b.runs
            THEN CAST(round(b.runs * b.untimed_share) AS INTEGER) ELSE 0 END AS untimed,
        CASE WHEN b.flops_ps >= 1000000 * b.runs OR b.bytes_ps >= 1000000 * b.runs
            THEN 1 - b.untimed_share ELSE 1.0 END AS timed
    FROM (
        SELECT r.run AS run, r.device_id AS device_id, r.op_id AS op_id, max(r.runs) AS runs, max(r.runs_in_steps) AS runs_in_steps,
            sum(r.self_ps) AS self_ps, max(r.untimed_share) AS untimed_share,
            max(CASE WHEN o.is_marker = 0 THEN o.flops END) * max(r.runs) AS flops,
            max(CASE WHEN o.is_marker = 0 THEN o.memory_bytes END) * max(r.runs) AS bytes,
            max(CASE WHEN o.is_marker = 0 THEN o.model_flops END) AS model_flops,
            max(CASE WHEN o.is_marker = 0 THEN o.model_flops END) * 1e12 /
                (CASE WHEN sum(r.self_ps) > 0 AND max(o.flops) * max(r.runs) * 1e12 > max(p.flops) * sum(r.self_ps)
                THEN coalesce(max(q.flops), max(p.flops)) ELSE max(p.flops) END) AS model_ps,
            max(CASE WHEN o.is_marker = 0 THEN o.flops END) * max(r.runs) * 1e12 /
                (CASE WHEN sum(r.self_ps) > 0 AND max(o.flops) * max(r.runs) * 1e12 > max(p.flops) * sum(r.self_ps)
                THEN coalesce(max(q.flops), max(p.flops)) ELSE max(p.flops) END) AS flops_ps,
            max(CASE WHEN o.is_marker = 0 THEN o.memory_bytes END) * max(r.runs) * 1e12 / max(p.bandwidth) AS bytes_ps,
            max(CASE WHEN o.is_marker = 1 THEN o.memory_bytes END) * max(r.runs) AS copied_bytes,
            max(CASE WHEN o.is_marker = 1 THEN o.memory_bytes END) * max(r.runs) * 1e12 / max(p.bandwidth) AS copied_ps,
            CASE WHEN 2 * sum(r.compute_ps) >= sum(r.self_ps) THEN 1 ELSE 0 END AS computes
        FROM (
            SELECT m.run AS run, m.device_id AS device_id, m.op_id AS op_id, m.self_ps AS self_ps, m.compute_ps AS compute_ps,
                1.0 * m.untimed / m.times AS untimed_share,
                CASE WHEN m.begun > 0 THEN m.begun WHEN m.launches > 1 THEN m.fewest ELSE m.times END AS runs,
                CASE WHEN m.begun > 0 THEN m.begun_in_steps ELSE CAST((m.in_steps - m.in_steps % m.launches) / m.launches AS INTEGER) END AS runs_in_steps
            FROM (
                SELECT k.run AS run, k.device_id AS device_id, k.op_id AS op_id, k.self_ps AS self_ps, k.compute_ps AS compute_ps,
                    k.times AS times, k.untimed AS untimed, k.in_steps AS in_steps, k.fewest AS fewest, k.begun AS begun,
                    k.begun_in_steps AS begun_in_steps,
                    CASE WHEN k.fewest < 3 OR k.fewest_span_ps * 2 < k.span_ps OR round(1.0 * k.times / k.fewest) > 16
                        OR abs(round(1.0 * k.times / k.fewest) * k.fewest - k.times) >= round(1.0 * k.times / k.fewest) THEN 1
                        ELSE CAST(round(1.0 * k.times / k.fewest) AS INTEGER) END AS launches
                FROM (
                    SELECT n.run AS run, n.device_id AS device_id, n.op_id AS op_id, n.self_ps AS self_ps, n.compute_ps AS compute_ps,
                        first_value(n.times) OVER longest AS times, first_value(n.in_steps) OVER longest AS in_steps,
                        first_value(n.span_ps) OVER longest AS span_ps, first_value(n.untimed) OVER longest AS untimed,
                        sum(n.begun) OVER whole AS begun, sum(n.begun_in_steps) OVER whole AS begun_in_steps,
                        first_value(n.times) OVER rarest AS fewest, first_value(n.span_ps) OVER rarest AS fewest_span_ps
                    FROM (
                        SELECT run, device_id, op_id, name, sum(1) AS times, sum(self_ps) AS self_ps,
                            max(start_ps) - min(start_ps) AS span_ps, sum(CASE WHEN dur_ps = 0 THEN 1 ELSE 0 END) AS untimed,
                            sum(CASE WHEN step_id IS NULL THEN 0 ELSE 1 END) AS in_steps,
                            sum(begins_run) AS begun,
                            sum(CASE WHEN step_id IS NULL THEN 0 ELSE begins_run END) AS begun_in_steps,
                            sum(CASE WHEN class = 'compute' THEN self_ps ELSE 0 END) AS compute_ps
                        FROM activities WHERE is_active = 1 AND is_beside = 0 AND op_id IS NOT NULL
                        GROUP BY run, device_id, op_id, name
                    ) n
                    WINDOW longest AS (PARTITION BY n.run, n.device_id, n.op_id ORDER BY n.self_ps DESC, n.times),
                        rarest AS (PARTITION BY n.run, n.device_id, n.op_id ORDER BY n.times, n.span_ps DESC),
                        whole AS (PARTITION BY n.run, n.device_id, n.op_id)
                ) k
            ) m
        ) r
        JOIN op o ON o.id = r.op_id
        LEFT JOIN device_peak p ON p.device = r.device_id AND p.multiplies = o.multiplies
        LEFT JOIN device_peak q ON q.device = r.device_id AND q.multiplies = o.narrower
        WHERE o.cost_source IS NOT NULL AND o.is_container = 0
            AND (o.is_marker = 0 OR (o.cost_source = 'file' AND o.memory_bytes > 0))
        GROUP BY r.run, r.device_id, r.op_id
    ) b
) c
LEFT JOIN (
    SELECT t.device AS device_id, k.op AS op_id, sum(t.dur_ps) AS device_ps
    FROM stretch t JOIN activity a ON a.event = t.event JOIN activity_class k ON k.id = a.class
    WHERE t.state >= 256 AND t.state & 1 AND k.device = t.device
    GROUP BY t.device, k.op
) e ON e.device_id = c.device_id AND e.op_id = c.op_id
LEFT JOIN (
    SELECT s.device_id AS device_id, s.self_ps AS self_ps, sum(t.dur_ps) AS busy_ps
    FROM (
        SELECT device_id, sum(self_ps) AS self_ps FROM activities WHERE is_active = 1 AND is_beside = 0 GROUP BY device_id
    ) s JOIN stretch t ON t.device = s.device_id AND t.state >= 256 AND t.state & 1
    GROUP BY s.device_id
) b ON b.device_id = c.device_id;
