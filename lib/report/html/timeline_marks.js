"use strict";
/* The timeline's data (timeline.c) as columns that can be searched: for each row its lanes, for each lane its marks in
 * order of time. Times are nanoseconds since the run's zero. */
const idsMarks = {};

idsMarks.lane = (columns, unit) => {
  const n = columns.gap.length;
  const lane = {
    n,
    start: new Float64Array(n),
    end: new Float64Array(n),
    what: Int32Array.from(columns.what), /* below 0: of many, or of something without a name */
    count: new Uint32Array(n).fill(1),
    busy: new Uint16Array(n),
    lead: new Uint16Array(n),
    launch: columns.launch ? new Int32Array(n).fill(-1) : null,
    launchAt: columns.launch ? new Float64Array(n) : null,
  };
  let at = 0, many = 0, merged = 0, launch = 0, ago = 0;
  for (let i = 0; i < n; i++) {
    const start = at + columns.gap[i];
    at = start + columns.time[i];
    lane.start[i] = start * unit;
    lane.end[i] = at * unit;
    if (lane.what[i] < 0) lane.count[i] = columns.count[many++];
    if (lane.count[i] > 1) {
      lane.busy[i] = columns.busy[merged];
      lane.lead[i] = columns.lead[merged++];
    } else if (columns.launch) {
      lane.launch[i] = columns.launch[launch++];
      if (lane.launch[i] >= 0) lane.launchAt[i] = (start - columns.ago[ago++]) * unit;
    }
  }
  return lane;
};

idsMarks.counter = (row, unit) => {
  const at = new Float64Array(row.at.length);
  let sum = 0;
  for (let i = 0; i < at.length; i++) at[i] = (sum += row.at[i]) * unit;
  const value = Float64Array.from(row.value);
  return { at, value, most: value.reduce((a, b) => Math.max(a, b), 0), least: value.reduce((a, b) => Math.min(a, b), 0) };
};

idsMarks.rows = (data) => {
  const unit = data.unit_ps / 1000;
  return data.rows.map((row, index) => ({
    index,
    kind: row.kind,
    label: data.texts[row.label],
    key: row.key ? data.texts[row.key] : "",
    parent: row.parent,
    deeper: row.deeper || 0,
    track: row.track || 0,
    isBytes: row.is_bytes,
    /* Of gaps many of nanoseconds would be a wall: what is narrower than a pixel is as high as it is long. */
    lanes: row.lanes.map((columns) => Object.assign(idsMarks.lane(columns, unit), { thins: row.kind === "gaps" })),
    counter: row.kind === "counter" ? idsMarks.counter(row, unit) : null,
    isFolded: false,
  }));
};

/* The first mark that ends after the moment; n when none does. */
idsMarks.after = (lane, moment, from = 0) => {
  let low = from, high = lane.n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.end[middle] <= moment) low = middle + 1;
    else high = middle;
  }
  return low;
};

/* The mark at the moment, or within `reach` of it; -1 none. */
idsMarks.at = (lane, moment, reach) => {
  const next = idsMarks.after(lane, moment);
  if (next < lane.n && lane.start[next] <= moment) return next;
  let best = -1, distance = reach;
  for (const i of [next - 1, next]) {
    if (i < 0 || i >= lane.n) continue;
    const away = Math.max(lane.start[i] - moment, moment - lane.end[i]);
    if (away <= distance) [best, distance] = [i, away];
  }
  return best;
};

/* What has the words in its name, path, source or detail. */
idsMarks.whatsWith = (data, words) => {
  const lower = data.texts.map((text) => text.toLowerCase().includes(words));
  const { name, path, source, detail } = data.what;
  return name.map((_, i) => lower[name[i]] || lower[path[i]] || lower[source[i]] || lower[detail[i]]);
};

/* The marks of these, in order of time, and how many events are merged, whose names nobody knows here. */
idsMarks.find = (data, rows, words) => {
  const found = [], has = idsMarks.whatsWith(data, words.toLowerCase());
  let hidden = 0;
  for (const row of rows) {
    row.lanes.forEach((lane, laneIndex) => {
      for (let i = 0; i < lane.n; i++) {
        if (lane.what[i] >= 0 && has[lane.what[i]]) found.push({ row: row.index, lane: laneIndex, mark: i, at: lane.start[i] });
        else if (lane.count[i] > 1) hidden += lane.count[i];
      }
    });
  }
  found.sort((a, b) => a.at - b.at || a.row - b.row);
  return { found, hidden };
};
