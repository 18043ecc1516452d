"use strict";
/* Each event of what is seen, from the server of `idsprof view --live` (cmd/view_events.h), where the page itself has
 * events only merged, or of a thread only what it did. While the view is inside the stretch that was fetched, rows have
 * lanes of events; outside they have those of the page. */
class IdsLive {
  constructor(timeline, question) {
    Object.assign(this, { timeline, question, held: null, most: Infinity, words: "" });
    const { data } = timeline;
    this.texts = data.texts.length;
    this.whats = data.what.name.length;
    this.alive = setInterval(() => fetch(question).catch(() => this.end()), 30000);
  }

  end() {
    clearInterval(this.alive);
    this.letGo();
    this.hasEnded = true;
    this.words = "; the server of view --live has ended: start it again for every event";
    this.timeline.say(this.timeline.summary());
  }

  covers() {
    const { view } = this.timeline, { held } = this;
    return held && held.from <= view.from && held.to >= view.to;
  }

  /* The view changed. */
  look() {
    if (this.held && !this.covers()) this.letGo();
    clearTimeout(this.waiting);
    if (!this.hasEnded) this.waiting = setTimeout(() => this.ask(), 100);
  }

  async ask() {
    const { timeline } = this, { view, data } = timeline, span = view.to - view.from;
    const top = timeline.scroller.scrollTop;
    const rows = timeline.visible.filter((row) => row.track && row.top + row.height > top && row.top < top + timeline.height).slice(0, 64);
    if (!rows.length || span > this.most || (this.covers() && rows.every((row) => this.held.rows.has(row)))) return;
    if (this.asking) this.asking.abort();
    const asking = (this.asking = new AbortController());
    const [from, to] = [view.from - span / 2, view.to + span / 2];
    const ps = (ns) => Math.round(ns * 1000 + data.zero_ps);
    const words = `from=${ps(from)}&to=${ps(to)}&tracks=${rows.map((row) => row.track).join()}`;
    try {
      const answer = await (await fetch(`${this.question}?${words}`, { signal: asking.signal })).json();
      if (asking !== this.asking || this.hasEnded) return;
      if (answer.too_many) {
        this.most = span * 0.8;
        this.words = `; ${ids.format(answer.too_many, "count")} events are around here, more than are fetched at once: zoom in for each of them`;
        timeline.say(timeline.summary());
      } else if (view.from >= from && timeline.view.from >= from && timeline.view.to <= to) this.take(answer, rows, from, to);
    } catch (error) {
      if (error.name !== "AbortError") this.end();
    }
  }

  /* Of what a thread did only the page knows the account: that of the innermost lane that has one there. */
  accountAt(lanes, moment) {
    for (let i = lanes.length - 1; i >= 0; i--) {
      const mark = idsMarks.at(lanes[i], moment, 0);
      if (mark >= 0) return this.timeline.accountOf(lanes[i], mark);
    }
    return this.timeline.data.accounts.length - 1;
  }

  take(answer, rows, from, to) {
    this.restore();
    this.most = Infinity;
    const { timeline } = this, { data } = timeline, { what, texts } = data, known = new Map();
    const text = new Map(texts.map((one, i) => [one, i]));
    const textOf = (words) => {
      if (!text.has(words)) text.set(words, texts.push(words) - 1);
      return text.get(words);
    };
    const whatOf = (w, account) => {
      const key = w * 1000 + account;
      if (!known.has(key)) {
        known.set(key, what.name.push(textOf(answer.name[w])) - 1);
        what.path.push(textOf(answer.path[w]));
        what.source.push(textOf(""));
        what.detail.push(textOf(""));
        what.account.push(account);
      }
      return known.get(key);
    };
    const accounts = answer.account.map((id) => (id === null ? -1 : data.accounts.indexOf(id)));
    this.held = { from, to, rows: new Set(rows) };
    this.words = "; each event of the rows in sight";
    this.swap(() => {
      for (const one of answer.rows) {
        const row = rows.find((candidate) => candidate.track === one.track);
        if (!one.lanes.length) continue;
        const lanes = one.lanes.map((columns) => idsMarks.lane(columns, 0.001));
        for (const lane of lanes) {
          for (let i = 0; i < lane.n; i++) {
            lane.start[i] -= data.zero_ps / 1000;
            lane.end[i] -= data.zero_ps / 1000;
            const account = accounts[lane.what[i]];
            lane.what[i] = whatOf(lane.what[i], account >= 0 ? account : this.accountAt(row.lanes, (lane.start[i] + lane.end[i]) / 2));
          }
        }
        row.base = { lanes: row.lanes, deeper: row.deeper };
        row.lanes = lanes;
        row.deeper = one.deeper;
      }
    });
    timeline.say(timeline.summary());
  }

  letGo() {
    this.words = "";
    this.restore();
  }

  restore() {
    if (!this.held) return;
    const { data } = this.timeline;
    this.held = null;
    this.swap(() => {
      for (const row of this.timeline.rows) {
        if (row.base) Object.assign(row, row.base);
        row.base = null;
      }
    });
    data.texts.length = this.texts;
    for (const column of Object.values(data.what)) column.length = this.whats;
  }

  /* Rows get other lanes: what is selected stays so where it is there still, and what is seen stays where it is. */
  swap(change) {
    const { timeline } = this, { selected, found } = timeline, top = timeline.scroller.scrollTop;
    const first = timeline.visible.find((row) => row.top + row.height > top + idsPaint.AXIS), offset = first ? top - first.top : 0;
    const lane = selected && timeline.rows[selected.row].lanes[selected.lane];
    const start = lane && lane.start[selected.mark], name = lane && timeline.wordsOf(lane, selected.mark);
    change();
    timeline.hovered = null;
    if (selected) {
      timeline.selected = null;
      timeline.rows[selected.row].lanes.forEach((other, i) => {
        const mark = idsMarks.after(other, start);
        if (mark < other.n && Math.abs(other.start[mark] - start) < 1 && timeline.wordsOf(other, mark) === name)
          timeline.selected = { row: selected.row, lane: i, mark };
      });
    }
    if (timeline.searched !== undefined && found.found.length) {
      const at = found.at < 0 ? null : found.found[found.at];
      const next = idsMarks.find(timeline.data, timeline.rows, timeline.input.value);
      timeline.found = { ...next, at: at ? next.found.findIndex((one) => one.at >= at.at && one.row === at.row) : -1 };
    }
    timeline.layOut();
    if (first && timeline.visible.includes(first)) timeline.scroller.scrollTop = first.top + offset;
    timeline.draw();
  }
}
