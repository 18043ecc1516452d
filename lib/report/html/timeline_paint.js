"use strict";
/* Paints the rows of a timeline that are visible: one mark in each column of pixels at most, found by binary search, so
 * that a frame costs as much as the screen is large, and not as the run is. */
const idsPaint = { LANE: 17, COUNTER: 40, GROUP: 24, STEPS: 20, SPACE: 5, AXIS: 26 };

idsPaint.heightOf = (row) => {
  if (row.kind === "group") return idsPaint.GROUP;
  if (row.counter) return idsPaint.COUNTER + idsPaint.SPACE;
  return Math.max(1, row.lanes.length) * idsPaint.LANE + idsPaint.SPACE;
};

/* Of the marks that lie in one column of pixels, the longest of a few. */
idsPaint.longest = (lane, from, to) => {
  const stride = Math.max(1, Math.floor((to - from) / 8));
  let best = from;
  for (let i = from; i < to; i += stride) if (lane.end[i] - lane.start[i] > lane.end[best] - lane.start[best]) best = i;
  return best;
};

/* How long the marks between two last together, out of a few. */
idsPaint.covered = (lane, from, to) => {
  const stride = Math.max(1, Math.floor((to - from) / 8));
  let sum = 0;
  for (let i = from; i < to; i += stride) sum += (lane.end[i] - lane.start[i]) * (lane.count[i] > 1 ? lane.busy[i] / 1000 : 1);
  return sum * stride;
};

/* A stretch of neighbouring columns of one colour and height is one rectangle. */
idsPaint.run = (context) => {
  let colour = null, from = 0, to = 0, top = 0, height = 0;
  const flush = () => {
    if (colour !== null && to > from) {
      context.fillStyle = colour;
      context.fillRect(from, top, to - from, height);
    }
    colour = null;
  };
  const add = (x0, x1, y, h, fill) => {
    if (fill === colour && y === top && h === height && x0 === to) {
      to = Math.max(to, x1);
      return;
    }
    flush();
    [colour, from, to, top, height] = [fill, x0, x1, y, h];
  };
  return { add, flush };
};

idsPaint.lane = (paint, lane, y) => {
  const { context, from, to, width, left, scale } = paint;
  const run = idsPaint.run(context), texts = [], high = idsPaint.LANE - 2;
  let i = idsMarks.after(lane, from);
  while (i < lane.n && lane.start[i] < to) {
    const x0 = (lane.start[i] - from) * scale;
    let x1 = (lane.end[i] - from) * scale, mark = i, thin = 1;
    if (x1 - x0 < 1) {
      const next = idsMarks.after(lane, from + (Math.floor(x0) + 1) / scale, i + 1);
      if (next > i + 1) mark = idsPaint.longest(lane, i, next);
      if (lane.thins) thin = idsPaint.covered(lane, i, next) * scale;
      i = next;
      x1 = x0 + 1;
    } else i++;
    const a = Math.max(0, Math.floor(x0)), b = Math.min(width, Math.max(a + 1, Math.round(x1)));
    const share = lane.count[mark] > 1 ? Math.max(lane.thins ? 0.06 : 0.3, lane.busy[mark] / 1000) : 1;
    const h = Math.max(lane.thins ? 1 : 3, Math.round(high * share * Math.min(1, thin)));
    const seam = b - a > 4 ? 1 : 0; /* between neighbours of one colour */
    run.add(left + a, left + b - seam, y + high - h, h, paint.colourOf(lane, mark));
    if (b - a > 34) texts.push(mark, left + a, b - a);
  }
  run.flush();
  for (let t = 0; t < texts.length; t += 3) idsPaint.text(paint, paint.wordsOf(lane, texts[t]), texts[t + 1], y, texts[t + 2], lane, texts[t]);
};

/* Dark or light letters, whichever can be read on the colour. */
idsPaint.inkOn = (colour) => {
  const hex = /^#(..)(..)(..)$/.exec(colour.trim());
  if (!hex) return "#000";
  const [r, g, b] = hex.slice(1).map((part) => parseInt(part, 16) / 255);
  return 0.299 * r + 0.587 * g + 0.114 * b > 0.55 ? "#16191c" : "#ffffff";
};

idsPaint.text = (paint, words, x, y, width, lane, mark) => {
  const { context } = paint, fits = Math.floor((width - 6) / paint.letter);
  if (!words || fits < 3) return;
  const shown = words.length > fits ? words.slice(0, fits - 1) + "…" : words;
  const isLow = lane.count[mark] > 1 && lane.busy[mark] < 700;
  context.fillStyle = isLow ? paint.theme.text : paint.inkOf(paint.colourOf(lane, mark));
  context.fillText(shown, x + 3, y + idsPaint.LANE - 6);
};

idsPaint.counter = (paint, row, y) => {
  const { context, from, to, width, left, scale, theme } = paint, { at, value, least, most } = row.counter;
  const range = most - least || 1, high = idsPaint.COUNTER - 4, yOf = (v) => y + 2 + high * (1 - (v - least) / range);
  let low = 0, up = at.length;
  while (low < up) {
    const middle = (low + up) >> 1;
    if (at[middle] <= from) low = middle + 1;
    else up = middle;
  }
  context.beginPath();
  let i = Math.max(0, low - 1), started = false;
  for (; i < at.length; i++) {
    const x = left + Math.max(0, Math.min(width, (at[i] - from) * scale));
    if (!started) context.moveTo(x, yOf(value[i]));
    else context.lineTo(x, yOf(value[i - 1]));
    context.lineTo(x, yOf(value[i]));
    started = true;
    if (at[i] > to) break;
  }
  if (started && i >= at.length) context.lineTo(left + Math.max(0, Math.min(width, (to - from) * scale)), yOf(value[at.length - 1]));
  context.strokeStyle = theme.link;
  context.lineWidth = 1.25;
  context.stroke();
};

/* Round moments: 1, 2 or 5 times a power of ten, at least so many pixels apart. */
idsPaint.ticks = (from, to, width, apart) => {
  const least = ((to - from) * apart) / width, power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= least);
  const ticks = [];
  for (let tick = Math.ceil(from / step) * step; tick < to && ticks.length < 100; tick += step) ticks.push(tick);
  return { ticks, step };
};

/* A moment with as many places as neighbouring ticks need. */
idsPaint.moment = (ns, step) => {
  const size = Math.max(Math.abs(ns), step);
  const [unit, name] = size >= 1e9 ? [1e9, "s"] : size >= 1e6 ? [1e6, "ms"] : size >= 1e3 ? [1e3, "us"] : [1, "ns"];
  const places = Math.max(0, Math.min(12, Math.ceil(-Math.log10(step / unit) - 1e-9)));
  return `${(ns / unit).toFixed(places)} ${name}`;
};

idsPaint.axis = (paint) => {
  const { context, from, to, width, left, scale, theme, height } = paint;
  const { ticks, step } = idsPaint.ticks(from, to, width, 110);
  context.fillStyle = theme.raised;
  context.fillRect(left, 0, width, idsPaint.AXIS);
  for (const tick of ticks) {
    const x = Math.round(left + (tick - from) * scale);
    context.fillStyle = theme.faint;
    context.fillRect(x, idsPaint.AXIS, 1, height);
    context.fillStyle = theme.soft;
    context.fillRect(x, 14, 1, 8);
    context.fillText(idsPaint.moment(tick, step), x + 4, 15);
  }
  for (const detail of paint.details) {
    const x0 = Math.max(0, (detail.from - from) * scale), x1 = Math.min(width, (detail.to - from) * scale);
    if (x1 <= 0 || x0 >= width) continue;
    context.fillStyle = theme.link;
    context.fillRect(left + x0, idsPaint.AXIS - 4, Math.max(2, x1 - x0), 3);
  }
};

/* A band over all rows: what was measured, or what another part of the page shows. */
idsPaint.band = (paint, band, colour) => {
  const { context, from, width, left, scale, height } = paint;
  const x0 = Math.max(0, (band.from - from) * scale), x1 = Math.min(width, (band.to - from) * scale);
  if (x1 < 0 || x0 > width) return;
  context.globalAlpha = 0.16;
  context.fillStyle = colour;
  context.fillRect(left + x0, idsPaint.AXIS, Math.max(1, x1 - x0), height);
  context.globalAlpha = 1;
  context.fillRect(left + x0, 0, 1, height);
  context.fillRect(left + Math.max(x0, x1 - 1), 0, 1, height);
};
