"use strict";
/* The timeline: idsTimeline(element, data) builds it and gives { zoom(from, to), show(intervals, label), find(text) },
 * which other parts of the page call. All times are nanoseconds since the run's zero; intervals are { from, to, device },
 * the device as tables call it, or without. */
const idsTimeline = (element, data) => {
  if (data.missing) {
    element.append(ids.h("p", { class: "no-data" }, `No timeline: ${data.missing}.`));
    return { zoom() {}, show() {}, find() { return 0; }, missing: data.missing };
  }
  return new IdsTimeline(element, data);
};
window.idsTimeline = idsTimeline;

const LABELS = 190, NARROW = 84, LEAST_NS = 0.05, MINIMAP = 34;

class IdsTimeline {
  constructor(element, data) {
    const unit = data.unit_ps / 1000;
    this.data = data;
    this.rows = idsMarks.rows(data);
    this.details = data.details.map((d) => ({ from: d.from * unit, to: d.to * unit, why: data.texts[d.why], whole: d.whole }));
    const steps = this.rows.find((row) => row.kind === "steps"), first = steps && steps.lanes[0];
    /* A step may wait before anything runs on a device: it is seen whole. */
    const begin = first && first.n ? Math.min(data.from * unit, ...steps.lanes.map((lane) => lane.start[0])) : data.from * unit;
    this.window = { from: begin, to: data.to * unit };
    this.whole = this.extent();
    this.view = this.padded(this.window);
    this.selected = this.hovered = this.measured = this.shown = null;
    this.found = { found: [], at: -1, hidden: 0 };
    this.build(element);
    this.foldMany();
    this.readTheme();
    this.layOut();
    this.listen();
    const live = document.querySelector("meta[name=idsprof-live]");
    this.live_events = live ? new IdsLive(this, live.content) : null;
    this.say(this.summary());
    this.paint();
    this.look();
  }

  /* What is seen changed: who serves the page may have more of it. */
  look() {
    if (this.live_events) this.live_events.look();
  }

  extent() {
    let { from, to } = this.window;
    for (const row of this.rows) {
      for (const lane of row.lanes) {
        if (!lane.n) continue;
        from = Math.min(from, lane.start[0]);
        to = Math.max(to, lane.end[lane.n - 1]);
      }
    }
    /* Threads may wait for hours around a window of milliseconds, which would be a hair of the overview. */
    const span = this.window.to - this.window.from, most = 8 * span;
    if (span > 0 && to - from > most) {
      this.beyond = { from, to };
      from = Math.max(from, this.window.from - span);
      to = Math.min(to, this.window.to + span);
    }
    return this.padded({ from, to });
  }

  padded({ from, to }) {
    const pad = Math.max((to - from) * 0.005, LEAST_NS);
    return { from: from - pad, to: to + pad };
  }

  /* ---- elements ---- */

  build(element) {
    const { h } = ids, key = (title, text, act) => h("button", { type: "button", title, "aria-label": title, onclick: act }, text);
    this.element = element;
    const keys = `tl-keys-${document.querySelectorAll(".tl-keys").length}`;
    this.input = h("input", { type: "search", placeholder: "search names (press /)", "aria-label": "search the timeline" });
    this.count = h("span", { class: "tl-count" });
    this.minimap = h("canvas", { class: "tl-minimap", "aria-hidden": "true" });
    this.canvas = h("canvas", { class: "tl-canvas", "aria-hidden": "true" });
    this.labels = h("div", { class: "tl-labels" });
    this.sizer = h("div", { class: "tl-sizer" }, this.canvas, this.labels);
    this.scroller = h("div", { class: "tl-scroller", tabindex: "0", role: "group", "aria-describedby": keys,
      "aria-label": "timeline; the keys are listed below" }, this.sizer);
    this.live = h("p", { class: "tl-live", role: "status", "aria-live": "polite" });
    this.panel = h("div", { class: "tl-panel" });
    this.tip = h("div", { class: "tl-tip", hidden: true });
    element.classList.add("tl");
    element.append(
      h("div", { class: "tl-tools", role: "toolbar", "aria-label": "timeline" }, this.input,
        key("previous match", "‹", () => this.step(-1)), key("next match", "›", () => this.step(1)), this.count,
        h("span", { class: "tl-space" }), key("zoom out", "−", () => this.zoomBy(2)), key("zoom in", "+", () => this.zoomBy(0.5)),
        key("the whole run", "all", () => this.reset())),
      this.minimap, this.scroller, this.tip, this.live, this.panel,
      h("p", { class: "tl-note" }, this.whatIsNotHere()),
      h("details", { class: "tl-keys" }, h("summary", {}, "keys, mouse and touch"), h("p", { id: keys },
        "Keys, while the timeline has the focus: W and S zoom, A and D or the left and right arrows move, the up and down " +
        "arrows go to another row, comma and full stop to the mark before and after, Enter zooms to it, M measures from it, " +
        "Space folds a group, / searches, N goes to the next match, Home shows the whole run, Escape clears. " +
        "Mouse: drag moves, the wheel zooms (with Ctrl, or while the timeline has the focus), Shift and drag measures. " +
        "Touch: one finger moves, two fingers zoom.")));
  }

  whatIsNotHere() {
    const count = (number) => ids.format(number, "count");
    if (document.querySelector("meta[name=idsprof-live]"))
      return `The profile has ${count(this.data.events)} events. Where the view is narrow enough, each of those in the rows in sight is fetched and drawn.`;
    return `The profile has ${count(this.data.events)} events. Rows of devices have every op; rows of threads have what each thread did - ` +
      `a function of the program, a call, and what is innermost - and not each of their ${count(this.data.thread_events)} events. ` +
      (this.beyond ? `Threads were recorded from ${this.time(this.beyond.from)} to ${this.time(this.beyond.to)}; what is far from the devices' window is not drawn. ` : "") +
      `All of them: ${this.data.extract} -f perfetto`;
  }

  /* Of many ranks only the first are open. */
  foldMany() {
    const groups = this.rows.filter((row) => row.kind === "group");
    groups.forEach((row, i) => (row.isFolded = groups.length > 12 && i >= 4));
  }

  readTheme() {
    const style = getComputedStyle(document.documentElement);
    const read = (name, other) => style.getPropertyValue(name).trim() || other;
    const light = this.isPrinting ? new Map(((ids.about && ids.about.accounts) || []).map((a) => [a.id, a.light])) : new Map();
    this.theme = { ground: read("--ground", "#fff"), raised: read("--raised", "#f6f7f8"), text: read("--text", "#111"),
      soft: read("--soft", "#555"), faint: read("--faint", "#ddd"), line: read("--line", "#ccc"), link: read("--link", "#15c"),
      bad: read("--bad", "#b00") };
    if (this.isPrinting) Object.assign(this.theme, { ground: "#fff", raised: "#f6f7f8", text: "#111", soft: "#555", faint: "#ddd", line: "#ccc" });
    this.colours = this.data.accounts.map((id) => (id && (light.get(id) || read(ids.variable(id), ""))) || read("--line", "#ccc"));
    this.inks = new Map(this.colours.map((colour) => [colour, idsPaint.inkOn(colour)]));
    this.context = this.canvas.getContext("2d", { alpha: false });
  }

  /* The rows that are not inside a folded group, each with its place. */
  layOut() {
    const isHidden = (row) => row.parent >= 0 && (this.rows[row.parent].isFolded || isHidden(this.rows[row.parent]));
    let top = idsPaint.AXIS;
    this.visible = this.rows.filter((row) => !isHidden(row));
    for (const row of this.visible) {
      row.top = top;
      row.height = idsPaint.heightOf(row);
      top += row.height;
    }
    this.total = top + 6;
    this.sizer.style.height = `${this.total}px`;
    this.resize();
  }

  resize() {
    const width = this.scroller.clientWidth || 600, ratio = window.devicePixelRatio || 1;
    this.left = width < 560 ? NARROW : LABELS;
    this.width = Math.max(50, width - this.left);
    this.height = Math.min(this.total, Math.max(160, Math.min(720, Math.round(window.innerHeight * 0.7))));
    this.scroller.style.height = `${this.height}px`;
    for (const [canvas, high] of [[this.canvas, this.height], [this.minimap, MINIMAP]]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(high * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${high}px`;
    }
    this.ratio = ratio;
    this.labels.style.width = `${this.left}px`;
    this.labelled = "";
  }

  /* ---- what is seen ---- */

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  paint() {
    const { context, theme } = this, top = this.scroller.scrollTop, width = this.width + this.left;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = theme.ground;
    context.fillRect(0, 0, width, this.height);
    const paint = { context, theme, from: this.view.from, to: this.view.to, width: this.width, left: this.left,
      height: this.height, scale: this.width / (this.view.to - this.view.from), letter: 5.9, details: this.details,
      colourOf: (lane, mark) => this.colours[this.accountOf(lane, mark)], inkOf: (colour) => this.inks.get(colour),
      wordsOf: (lane, mark) => this.wordsOf(lane, mark) };
    context.save();
    context.beginPath();
    context.rect(this.left, 0, this.width, this.height);
    context.clip();
    idsPaint.axis(paint);
    context.beginPath();
    context.rect(this.left, idsPaint.AXIS, this.width, this.height);
    context.clip();
    for (const row of this.visible) {
      const y = row.top - top;
      if (y + row.height < idsPaint.AXIS || y > this.height) continue;
      if (row.kind === "group") {
        context.fillStyle = theme.raised;
        context.fillRect(this.left, y, this.width, row.height);
        if (row.isFolded) this.paintFolded(paint, row, y);
      }
      row.lanes.forEach((lane, i) => idsPaint.lane(paint, lane, y + i * idsPaint.LANE));
      if (row.counter) idsPaint.counter(paint, row, y);
    }
    context.restore();
    if (this.shown) this.shown.intervals.forEach((band) => idsPaint.band(paint, band, theme.link));
    if (this.measured) idsPaint.band(paint, this.measured, theme.bad);
    this.paintSelected(paint, top);
    this.paintMinimap();
    this.placeLabels(top);
  }

  /* A folded device still shows where its time goes. */
  paintFolded(paint, group, y) {
    const inside = this.rows.find((row) => row.kind === "accounts" && (row.parent === group.index ||
      (row.parent >= 0 && this.rows[row.parent].parent === group.index)));
    if (inside && inside.lanes[0]) idsPaint.lane(paint, inside.lanes[0], y + 4);
  }

  paintSelected(paint, top) {
    const { context, theme } = paint;
    for (const [one, colour] of [[this.hovered, theme.soft], [this.selected, theme.text]]) {
      if (!one) continue;
      const row = this.rows[one.row], lane = row.lanes[one.lane];
      if (!this.visible.includes(row) || !lane) continue;
      const x = this.left + (lane.start[one.mark] - paint.from) * paint.scale, y = row.top - top + one.lane * idsPaint.LANE;
      const w = Math.max(2, (lane.end[one.mark] - lane.start[one.mark]) * paint.scale);
      context.save();
      context.beginPath();
      context.rect(this.left, idsPaint.AXIS, this.width, this.height);
      context.clip();
      context.strokeStyle = colour;
      context.lineWidth = 1.5;
      context.strokeRect(x - 0.5, y - 0.5, w + 1, idsPaint.LANE - 1);
      if (lane.launch && lane.launch[one.mark] >= 0) this.paintLink(paint, lane, one.mark, x, y, top);
      context.restore();
    }
  }

  paintLink(paint, lane, mark, x, y, top) {
    const { context, theme } = paint;
    let row = this.rows[lane.launch[mark]];
    while (row && !this.visible.includes(row)) row = this.rows[row.parent];
    if (!row) return;
    const x0 = this.left + (lane.launchAt[mark] - paint.from) * paint.scale, y0 = row.top - top + idsPaint.LANE / 2;
    context.strokeStyle = theme.link;
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + 40, y0, x - 40, y + idsPaint.LANE / 2, x, y + idsPaint.LANE / 2);
    context.stroke();
  }

  paintMinimap() {
    const context = this.minimap.getContext("2d", { alpha: false }), { theme, whole } = this;
    const width = this.width, all = whole.to - whole.from, strips = this.rows.filter((row) => row.kind === "accounts").slice(0, 6);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = theme.ground;
    context.fillRect(0, 0, width + this.left, MINIMAP);
    if (!this.strip || this.strip.width !== width * this.ratio) this.strip = this.makeStrip(strips, width);
    context.drawImage(this.strip, this.left, 0, width, MINIMAP);
    const x0 = this.left + ((this.view.from - whole.from) / all) * width, x1 = this.left + ((this.view.to - whole.from) / all) * width;
    context.globalAlpha = 0.6;
    context.fillStyle = theme.ground;
    context.fillRect(this.left, 0, x0 - this.left, MINIMAP);
    context.fillRect(x1, 0, this.left + width - x1, MINIMAP);
    context.globalAlpha = 1;
    context.strokeStyle = theme.text;
    context.strokeRect(x0 + 0.5, 0.5, Math.max(2, x1 - x0 - 1), MINIMAP - 1);
  }

  makeStrip(rows, width) {
    const strip = document.createElement("canvas");
    strip.width = width * this.ratio;
    strip.height = MINIMAP * this.ratio;
    const context = strip.getContext("2d", { alpha: false }), high = (MINIMAP - 4) / Math.max(1, rows.length);
    context.scale(this.ratio, this.ratio);
    context.fillStyle = this.theme.ground;
    context.fillRect(0, 0, width, MINIMAP);
    const paint = { context, from: this.whole.from, to: this.whole.to, width, left: 0, theme: this.theme,
      scale: width / (this.whole.to - this.whole.from), letter: 1e9,
      colourOf: (lane, mark) => this.colours[this.accountOf(lane, mark)], wordsOf: () => "" };
    rows.forEach((row, i) => {
      if (!row.lanes[0]) return;
      context.save();
      context.translate(0, 2 + i * high);
      context.scale(1, high / idsPaint.LANE);
      idsPaint.lane(paint, row.lanes[0], 0);
      context.restore();
    });
    return strip;
  }

  /* Labels are elements, so that they can be read aloud and folded by keys; only those that are visible are there. */
  placeLabels(top) {
    const rows = this.visible.filter((row) => row.top + row.height > top && row.top < top + this.height);
    const key = rows.map((row) => row.index + (row.isFolded ? "f" : "")).join() + (this.selected ? this.selected.row : "");
    if (key === this.labelled) return;
    const focused = document.activeElement && this.labels.contains(document.activeElement) ? document.activeElement.dataset.row : null;
    this.labelled = key;
    this.labels.replaceChildren(...rows.map((row) => this.labelOf(row)));
    if (focused !== null) (this.labels.querySelector(`[data-row="${focused}"]`) || this.scroller).focus();
  }

  labelOf(row) {
    const depth = row.parent < 0 ? 0 : this.rows[row.parent].parent < 0 ? 1 : 2;
    const isGroup = row.kind === "group", isOn = this.selected && this.selected.row === row.index;
    const deeper = row.deeper ? ` (${ids.format(row.deeper, "count")} more lie deeper)` : "";
    const attributes = { class: `tl-label${isGroup ? " tl-group" : ""}${isOn ? " tl-on" : ""}`, title: row.label + deeper, "data-row": row.index,
      style: { top: `${row.top}px`, height: `${row.height}px`, "padding-left": `${6 + 10 * depth}px` } };
    if (!isGroup) return ids.h("div", attributes, row.label);
    return ids.h("button", { ...attributes, type: "button", "aria-expanded": String(!row.isFolded), onclick: () => this.fold(row) },
      (row.isFolded ? "▸ " : "▾ ") + row.label);
  }

  fold(row) {
    row.isFolded = !row.isFolded;
    this.layOut();
    this.look();
    this.say(`${row.label} is ${row.isFolded ? "folded" : "open"}`);
    this.draw();
  }

  /* ---- marks ---- */

  accountOf(lane, mark) {
    return lane.what[mark] < 0 ? -1 - lane.what[mark] : this.data.what.account[lane.what[mark]];
  }

  text(column, what) {
    return what < 0 ? "" : this.data.texts[this.data.what[column][what]];
  }

  /* Of what a lane's marks are merged: events of the file, or stretches of time that were found. */
  nounOf(lane) {
    const row = this.rows.find((one) => one.lanes.includes(lane));
    return row && ["accounts", "gaps", "thread", "steps"].includes(row.kind) ? "intervals" : "events";
  }

  wordsOf(lane, mark) {
    if (lane.count[mark] > 1) return `${ids.format(lane.count[mark], "count")} ${this.nounOf(lane)}`;
    const account = this.data.accounts[this.accountOf(lane, mark)];
    return this.text("name", lane.what[mark]) || (account && ids.accountTitle ? ids.accountTitle(account) : account);
  }

  time(ns) {
    return (ns < 0 ? "-" : "") + ids.format(Math.abs(ns) * 1e-9, "s");
  }

  /* The command that gives every event of a stretch, to a tenth of it. */
  extractOf(from, to) {
    const words = (ns) => (ns % 1000 ? `${ns.toFixed(0)}ns` : ns % 1e6 ? `${ns / 1e3}us` : `${ns / 1e6}ms`);
    /* Without a begin it is all from the first event on, also what lies before the devices' first. */
    const begin = from > 0 ? ` --from ${words(Math.floor(from))}` : "", end = to < this.window.to ? ` --to ${words(Math.ceil(to))}` : "";
    return `${this.data.extract} -f perfetto${begin}${end}`;
  }

  describe(one) {
    const row = this.rows[one.row], lane = row.lanes[one.lane], what = lane.what[one.mark], count = lane.count[one.mark];
    const from = lane.start[one.mark], to = lane.end[one.mark], account = this.data.accounts[this.accountOf(lane, one.mark)];
    const facts = [["in", row.label], ["begins at", this.time(from)], ["takes", this.time(to - from)]];
    if (account) facts.push([count > 1 ? "mostly" : "account", account + (count > 1 ? ` (${ids.format(lane.lead[one.mark] / 1000, "ratio")} of it)` : "")]);
    if (count > 1) {
      facts.push(["busy", ids.format(lane.busy[one.mark] / 1000, "ratio")]);
      facts.push(["every event", this.extractOf(from, to)]);
    }
    if (count === 1 && account === "comm.wait" && row.kind === "accounts") facts.push(["came last", this.wordsOf(lane, one.mark)]);
    for (const column of ["path", "source", "detail"]) if (this.text(column, what)) facts.push([column === "path" ? "where" : column, this.text(column, what)]);
    if (count === 1 && lane.launch && lane.launch[one.mark] >= 0)
      facts.push(["launched", `${this.time(from - lane.launchAt[one.mark])} before, on ${this.rows[lane.launch[one.mark]].label}`]);
    return { title: count > 1 ? `${ids.format(count, "count")} ${this.nounOf(lane)} here; zoom in, or extract the events` : this.wordsOf(lane, one.mark), facts, from, to };
  }

  select(one, isQuiet) {
    this.selected = one;
    this.labelled = "";
    this.panel.replaceChildren();
    if (one) {
      const { title, facts, from, to } = this.describe(one), { h } = ids;
      this.panel.append(h("h3", {}, title), h("dl", {}, facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
        h("button", { type: "button", onclick: () => this.zoom(from, to) }, "zoom to it"));
      if (!isQuiet) this.say(`${title}: ${facts.slice(0, 4).map((fact) => fact.join(" ")).join(", ")}`);
    }
    this.draw();
  }

  /* Makes what is selected visible. */
  reveal(one) {
    const row = this.rows[one.row], lane = row.lanes[one.lane], span = this.view.to - this.view.from;
    for (let up = row.parent; up >= 0; up = this.rows[up].parent) this.rows[up].isFolded = false;
    this.layOut();
    const y = row.top + one.lane * idsPaint.LANE, top = this.scroller.scrollTop;
    if (y < top + idsPaint.AXIS || y + idsPaint.LANE > top + this.height) this.scroller.scrollTop = y - this.height / 2;
    const from = lane.start[one.mark], to = lane.end[one.mark];
    if (to - from > span) this.setView(this.padded({ from, to }));
    else if (from < this.view.from || to > this.view.to) this.setView({ from: (from + to - span) / 2, to: (from + to + span) / 2 });
    else if ((to - from) / span < 4 / this.width) this.setView({ from: (from + to) / 2 - (to - from + LEAST_NS) * 20, to: (from + to) / 2 + (to - from + LEAST_NS) * 20 });
    this.draw();
  }

  hit(x, y) {
    const when = this.timeAt(x), at = y + this.scroller.scrollTop;
    const row = this.visible.find((candidate) => at >= candidate.top && at < candidate.top + candidate.height);
    if (!row || y < idsPaint.AXIS || x < this.left) return null;
    const lane = Math.floor((at - row.top) / idsPaint.LANE);
    if (!row.lanes[lane]) return null;
    const mark = idsMarks.at(row.lanes[lane], when, (3 * (this.view.to - this.view.from)) / this.width);
    return mark < 0 ? null : { row: row.index, lane, mark };
  }

  /* ---- moving ---- */

  timeAt(x) {
    return this.view.from + ((x - this.left) / this.width) * (this.view.to - this.view.from);
  }

  setView({ from, to }) {
    const all = this.whole.to - this.whole.from, span = Math.min(all, Math.max(LEAST_NS, to - from));
    const middle = (from + to) / 2;
    const begin = Math.min(this.whole.to - span, Math.max(this.whole.from, middle - span / 2));
    this.view = { from: begin, to: begin + span };
    this.draw();
    this.look();
    if (!this.linked) return;
    this.linked.view = { ...this.view };
    this.linked.draw();
  }

  zoomBy(factor, x) {
    const anchor = x === undefined ? (this.view.from + this.view.to) / 2 : this.timeAt(x);
    this.setView({ from: anchor - (anchor - this.view.from) * factor, to: anchor + (this.view.to - anchor) * factor });
    this.saySoon();
  }

  pan(share) {
    const by = (this.view.to - this.view.from) * share;
    this.setView({ from: this.view.from + by, to: this.view.to + by });
    this.saySoon();
  }

  reset() {
    this.setView(this.whole);
    this.saySoon();
  }

  /* The other one shows the same moments after its own zero, now and whenever one of them moves. */
  link(other) {
    const whole = { from: Math.min(this.whole.from, other.whole.from), to: Math.max(this.whole.to, other.whole.to) };
    const view = { from: Math.min(this.view.from, other.view.from), to: Math.max(this.view.to, other.view.to) };
    for (const one of [this, other]) {
      one.whole = whole;
      one.strip = null;
      one.linked = one === this ? other : this;
    }
    this.setView(view);
    other.say(other.summary());
    this.say(this.summary());
  }

  /* ---- for the rest of the page ---- */

  zoom(from, to) {
    this.setView(this.padded({ from, to }));
    this.say(this.summary());
  }

  show(intervals, label) {
    this.shown = intervals && intervals.length ? { intervals, label } : null;
    if (this.shown) {
      const from = Math.min(...intervals.map((one) => one.from)), to = Math.max(...intervals.map((one) => one.to));
      const pad = (to - from) * 0.15;
      this.setView({ from: from - pad, to: to + pad });
      this.goTo(this.rows.find((row) => row.key && row.key === intervals[0].device));
      this.element.scrollIntoView({ block: "nearest" });
      this.say(`${label || "shown"}: ${ids.format(intervals.length, "count")} interval${intervals.length === 1 ? "" : "s"}, ${this.summary()}`);
    }
    this.draw();
  }

  /* The rows of a device come to the top, and are open. */
  goTo(group) {
    if (!group) return;
    for (let row = group; row; row = this.rows[row.parent]) row.isFolded = false;
    this.layOut();
    this.scroller.scrollTop = group.top - idsPaint.AXIS;
  }

  find(words) {
    if (this.input.value !== words) this.input.value = words;
    this.found = { ...(words ? idsMarks.find(this.data, this.rows, words) : { found: [], hidden: 0 }), at: -1 };
    const n = this.found.found.length;
    const hidden = this.found.hidden ? `; names of ${ids.format(this.found.hidden, "count")} merged events are not here` : "";
    this.count.textContent = words ? `${ids.format(n, "count")} found` : "";
    if (words) this.say(`${ids.format(n, "count")} found${hidden}`);
    return n;
  }

  step(by) {
    const list = this.found.found;
    if (!list.length) return;
    const first = this.found.at < 0 && by < 0 ? 0 : this.found.at;
    this.found.at = (first + by + list.length) % list.length;
    const one = list[this.found.at];
    this.select(one);
    this.reveal(one);
    this.count.textContent = `${ids.format(this.found.at + 1, "count")} of ${ids.format(list.length, "count")}`;
  }

  /* ---- words ---- */

  say(words) {
    clearTimeout(this.saying); /* what was to be said of an earlier view */
    this.live.textContent = words;
  }

  saySoon() {
    clearTimeout(this.saying);
    this.saying = setTimeout(() => this.say(this.summary()), 250);
  }

  summary() {
    const { from, to } = this.view;
    let merged = 0, single = 0;
    /* Accounts and gaps are said of the same events again. */
    for (const row of (this.visible || []).filter((one) => ["ops", "programs", "compilations"].includes(one.kind))) {
      for (const lane of row.lanes) {
        for (let i = idsMarks.after(lane, from), seen = 0; i < lane.n && lane.start[i] < to && seen < 50000; i++, seen++) {
          if (lane.count[i] > 1) merged += lane.count[i];
          else single++;
        }
      }
    }
    const hidden = merged ? `, ${ids.format(merged, "count")} more are merged; every one: ${this.extractOf(from, to)}` : "";
    return `shown: ${this.time(from)} to ${this.time(to)} (${this.time(to - from)}), ${ids.format(single, "count")} events of devices one by one${hidden}${
      this.live_events ? this.live_events.words : ""}`;
  }

  /* ---- keys, mouse, touch ---- */

  /* To the next lane that has marks, upwards or downwards, at the moment that is selected or in the middle. */
  changeLane(by) {
    const lanes = this.visible.flatMap((row) => row.lanes.map((lane, i) => ({ row: row.index, lane: i, n: lane.n }))).filter((one) => one.n);
    if (!lanes.length) return;
    const now = this.selected ? lanes.findIndex((one) => one.row === this.selected.row && one.lane === this.selected.lane) : -1;
    const to = lanes[now < 0 ? 0 : Math.min(lanes.length - 1, Math.max(0, now + by))], lane = this.rows[to.row].lanes[to.lane];
    const chosen = now < 0 ? null : this.rows[this.selected.row].lanes[this.selected.lane].start[this.selected.mark];
    const when = chosen !== null && chosen >= this.view.from && chosen <= this.view.to ? chosen : this.view.from;
    const mark = Math.min(lane.n - 1, idsMarks.after(lane, when));
    this.moveTo({ row: to.row, lane: to.lane, mark });
  }

  changeMark(by) {
    if (!this.selected) return this.changeLane(1);
    const lane = this.rows[this.selected.row].lanes[this.selected.lane];
    const mark = Math.min(lane.n - 1, Math.max(0, this.selected.mark + by));
    return this.moveTo({ ...this.selected, mark });
  }

  moveTo(one) {
    this.select(one);
    const row = this.rows[one.row], lane = row.lanes[one.lane], y = row.top + one.lane * idsPaint.LANE, top = this.scroller.scrollTop;
    if (y < top + idsPaint.AXIS) this.scroller.scrollTop = y - idsPaint.AXIS - 4;
    if (y + idsPaint.LANE > top + this.height) this.scroller.scrollTop = y + 2 * idsPaint.LANE - this.height;
    const span = this.view.to - this.view.from, middle = (lane.start[one.mark] + lane.end[one.mark]) / 2;
    if (lane.end[one.mark] < this.view.from || lane.start[one.mark] > this.view.to) this.setView({ from: middle - span / 2, to: middle + span / 2 });
  }

  measure() {
    if (!this.selected) return;
    const lane = this.rows[this.selected.row].lanes[this.selected.lane], at = lane.start[this.selected.mark];
    if (this.from === undefined) {
      this.from = at;
      this.say(`measuring from ${this.time(at)}; go to another mark and press M again`);
      return;
    }
    this.setMeasured(this.from, at);
    this.from = undefined;
  }

  setMeasured(a, b) {
    this.measured = { from: Math.min(a, b), to: Math.max(a, b) };
    this.say(`measured: ${this.time(this.measured.to - this.measured.from)}, from ${this.time(this.measured.from)} to ${this.time(this.measured.to)}`);
    this.draw();
  }

  clear() {
    this.measured = this.shown = this.from = undefined;
    this.select(null);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const selected = () => this.selected && this.describe(this.selected);
    const group = () => this.selected && this.rows[this.rows[this.selected.row].parent];
    const acts = {
      w: () => this.zoomBy(0.7), s: () => this.zoomBy(1 / 0.7), a: () => this.pan(-0.2), d: () => this.pan(0.2),
      arrowleft: () => this.pan(-0.1), arrowright: () => this.pan(0.1), arrowup: () => this.changeLane(-1),
      arrowdown: () => this.changeLane(1), ",": () => this.changeMark(-1), ".": () => this.changeMark(1),
      enter: () => selected() && this.zoom(selected().from, selected().to), " ": () => group() && this.fold(group()),
      m: () => this.measure(), "/": () => this.input.focus(), n: () => this.step(event.shiftKey ? -1 : 1),
      home: () => this.reset(), escape: () => this.clear(), "+": () => this.zoomBy(0.5), "-": () => this.zoomBy(2),
    };
    const act = acts[event.key.toLowerCase()];
    if (!act || (event.target !== this.scroller && (event.key === "Enter" || event.key === " "))) return;
    event.preventDefault();
    act();
  }

  place(event) {
    const box = this.scroller.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  listen() {
    const on = (target, name, act, how) => target.addEventListener(name, act, how);
    on(this.scroller, "keydown", (event) => this.key(event));
    on(this.scroller, "scroll", () => {
      this.draw();
      this.look();
    }, { passive: true });
    on(this.scroller, "wheel", (event) => this.wheel(event), { passive: false });
    on(this.canvas, "pointerdown", (event) => this.down(event));
    on(this.canvas, "pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) on(this.canvas, name, (event) => this.up(event));
    on(this.canvas, "pointerleave", () => this.hover(null));
    on(this.canvas, "dblclick", (event) => {
      const { x, y } = this.place(event), one = this.hit(x, y);
      if (one) this.zoom(this.describe(one).from, this.describe(one).to);
    });
    for (const name of ["pointerdown", "pointermove"]) on(this.minimap, name, (event) => this.jump(event));
    on(this.input, "input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.find(this.input.value), 150);
    });
    on(this.input, "keydown", (event) => this.searchKey(event));
    on(document, "keydown", (event) => this.searchFromAnywhere(event));
    on(window, "resize", () => this.again());
    on(window.matchMedia("(prefers-color-scheme: dark)"), "change", () => this.again());
    on(window, "beforeprint", () => this.print(true));
    on(window, "afterprint", () => this.print(false));
    if (window.ResizeObserver) new ResizeObserver(() => this.scroller.clientWidth - this.left !== this.width && this.again()).observe(this.element);
  }

  /* At once: a canvas of another size is black until it is painted. */
  again() {
    this.strip = null;
    this.readTheme();
    this.layOut();
    this.paint();
  }

  /* Paper is light, and nobody draws between now and then. */
  print(isPrinting) {
    this.isPrinting = isPrinting;
    this.again();
  }

  /* "/" searches wherever one reads, unless one writes; of two timelines the first. */
  searchFromAnywhere(event) {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    this.input.focus();
  }

  searchKey(event) {
    if (event.key === "Escape") this.scroller.focus();
    if (event.key !== "Enter") return;
    event.preventDefault();
    clearTimeout(this.typing);
    if (this.searched !== this.input.value) this.find((this.searched = this.input.value));
    this.step(event.shiftKey ? -1 : 1);
  }

  wheel(event) {
    const { x } = this.place(event), hasFocus = document.activeElement === this.scroller;
    if (x < this.left) return; /* scrolls the rows */
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      this.pan((event.deltaX || event.deltaY) / this.width);
    } else if (event.ctrlKey || hasFocus) {
      event.preventDefault();
      this.zoomBy(Math.exp(Math.max(-1, Math.min(1, event.deltaY * (event.ctrlKey && event.deltaMode === 0 ? 0.01 : 0.002)))), x);
    }
  }

  down(event) {
    const at = this.place(event);
    this.fingers = this.fingers || new Map();
    this.fingers.set(event.pointerId, at);
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = { ...at, from: this.view.from, to: this.view.to, top: this.scroller.scrollTop, measures: event.shiftKey, moved: false };
    this.scroller.focus({ preventScroll: true });
    event.preventDefault();
  }

  move(event) {
    const at = this.place(event);
    if (!this.drag) return this.hover(this.hit(at.x, at.y), at);
    if (this.fingers.size > 1) return this.pinch(event.pointerId, at);
    const dx = at.x - this.drag.x, dy = at.y - this.drag.y;
    if (Math.abs(dx) + Math.abs(dy) > 3) this.drag.moved = true;
    if (!this.drag.moved) return undefined;
    if (this.drag.measures) return this.setMeasured(this.timeAt(this.drag.x), this.timeAt(at.x));
    const by = (dx / this.width) * (this.drag.to - this.drag.from);
    this.setView({ from: this.drag.from - by, to: this.drag.to - by });
    this.scroller.scrollTop = this.drag.top - dy;
    return undefined;
  }

  /* The moments under two fingers stay there. */
  pinch(id, at) {
    const [a, b] = [...this.fingers.keys()], other = this.fingers.get(id === a ? b : a), before = this.fingers.get(id);
    const was = Math.max(20, Math.abs(before.x - other.x)), is = Math.max(20, Math.abs(at.x - other.x));
    this.fingers.set(id, at);
    this.drag.moved = true;
    this.zoomBy(was / is, (at.x + other.x) / 2);
    Object.assign(this.drag, at, { from: this.view.from, to: this.view.to, top: this.scroller.scrollTop });
  }

  up(event) {
    const at = this.place(event), { drag } = this;
    if (this.fingers) this.fingers.delete(event.pointerId);
    if (this.fingers && this.fingers.size) {
      Object.assign(this.drag, [...this.fingers.values()][0], { from: this.view.from, to: this.view.to });
      return;
    }
    this.drag = null;
    if (drag && !drag.moved && event.type === "pointerup") this.select(this.hit(at.x, at.y));
    else if (drag && drag.moved && !drag.measures) this.saySoon();
  }

  hover(one, at) {
    const same = one && this.hovered && one.mark === this.hovered.mark && one.row === this.hovered.row && one.lane === this.hovered.lane;
    this.tip.hidden = !one;
    if (one && at) {
      const box = this.scroller.getBoundingClientRect(), outer = this.element.getBoundingClientRect();
      if (!same) {
        const { title, from, to } = this.describe(one);
        this.tip.replaceChildren(ids.h("b", {}, title), ` ${this.time(to - from)}`);
      }
      this.tip.style.left = `${Math.min(at.x + 12, box.width - 40)}px`;
      this.tip.style.top = `${at.y + 16 + box.top - outer.top}px`;
    }
    if (same || (!one && !this.hovered)) return;
    this.hovered = one;
    this.draw();
  }

  jump(event) {
    if (event.type === "pointermove" && !event.buttons) return;
    const box = this.minimap.getBoundingClientRect(), share = (event.clientX - box.left - this.left) / this.width;
    const at = this.whole.from + share * (this.whole.to - this.whole.from), half = (this.view.to - this.view.from) / 2;
    this.setView({ from: at - half, to: at + half });
    this.saySoon();
  }
}
