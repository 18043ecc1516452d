-- What people ask for, as views over the tables of events.sql. Times are integer picoseconds since the origin of the run.
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
    v.value AS value          -- as stat_set.value
FROM event e JOIN stat_set v ON v.id = e.stat_set JOIN stat s ON s.id = v.stat
UNION ALL
SELECT v.event, s.name, s.type, v.value
FROM event_stat v JOIN stat s ON s.id = v.stat
UNION ALL
SELECT e.id, s.name, s.type,
    CASE c.name WHEN 'run_id' THEN e.run_id WHEN 'producer_id' THEN e.producer_id
                WHEN 'consumer_id' THEN e.consumer_id ELSE e.correlation_id END
FROM event e JOIN track t ON t.id = e.track JOIN plane p ON p.id = t.plane JOIN host h ON h.id = p.host
JOIN event_column c ON c.run = h.run JOIN stat s ON s.id = c.stat
WHERE CASE c.name WHEN 'run_id' THEN e.run_id WHEN 'producer_id' THEN e.producer_id
                  WHEN 'consumer_id' THEN e.consumer_id ELSE e.correlation_id END IS NOT NULL
UNION ALL
SELECT e.id, s.name, s.type, v.value
FROM event e JOIN name_stat v ON v.name = e.name JOIN stat s ON s.id = v.stat;
CREATE VIEW flows AS          -- what made what happen
SELECT
    f.kind AS kind,           -- as flow.kind
    f.from_event AS from_event, -- event.id of the cause
    a.text AS from_name,      -- what it is called
    f.to_event AS to_event,   -- event.id of what it made happen
    b.text AS to_name,        -- what that is called
    (e.start_ps + eh.shift_ps) - (c.start_ps + ch.shift_ps) AS delay_ps -- from start to start
FROM flow f
JOIN event c ON c.id = f.from_event JOIN name a ON a.id = c.name
JOIN plane cp ON cp.id = a.plane JOIN host ch ON ch.id = cp.host
JOIN event e ON e.id = f.to_event JOIN name b ON b.id = e.name
JOIN plane ep ON ep.id = b.plane JOIN host eh ON eh.id = ep.host;
CREATE VIEW copies AS         -- every single copy and set of device memory (GPU), with its details
SELECT
    e.id AS id,               -- event.id
    h.run AS run,             -- run.id
    p.name AS device,         -- the plane
    t.name AS stream,         -- the track
    n.text AS name,           -- MemcpyH2D and the like
    e.start_ps + h.shift_ps AS start_ps, -- since the origin of the run
    e.dur_ps AS dur_ps,       -- how long it took
    (SELECT v.value FROM stat_set v JOIN stat s ON s.id = v.stat
     WHERE v.id = e.stat_set AND s.name IN ('memcpy_details', 'memset_details', 'bytes')
     UNION ALL
     SELECT v.value FROM event_stat v JOIN stat s ON s.id = v.stat
     WHERE v.event = e.id AND s.name IN ('memcpy_details', 'memset_details', 'bytes') LIMIT 1) AS details -- as the file has it
FROM name n
JOIN plane p ON p.id = n.plane AND p.name LIKE '/device:%'
JOIN host h ON h.id = p.host
JOIN track t ON t.plane = p.id
JOIN event e ON e.track = t.id AND e.name = n.id
WHERE n.text LIKE 'Memcpy%' OR n.text LIKE 'Memset%';
