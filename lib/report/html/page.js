"use strict";
/* Puts the page together: what a run is, one sentence, what to do, steps, timeline, and each section of the report. */
{
  const { h } = ids;
  const NS = 1e9;

  ids.account = (id) => ids.about.accounts.find((account) => account.id === id) || { id, title: id, meaning: "" };
  ids.accountTitle = (id) => ids.account(id).title;

  /* ---- the timeline ---- */

  /* Seconds of the report to nanoseconds of the run's zero, which the timeline counts in. */
  const interval = (start, duration, device) => ({ from: Number(start) * NS, to: (Number(start) + Number(duration)) * NS, device });
  const toTimeline = () => document.getElementById("timeline-section").scrollIntoView({ behavior: "instant" });

  ids.show = (intervals, label) => {
    if (!ids.timeline) return;
    toTimeline();
    ids.timeline.show(intervals, label);
    ids.say(`timeline shows ${label}`);
  };
  const zoom = (table) => (row, label) => {
    if (!ids.timeline) return;
    const { from, to } = interval(table.cell(row, "start"), table.cell(row, "duration"));
    toTimeline();
    ids.timeline.zoom(from, to);
    ids.say(`timeline shows ${label}`);
  };

  /* Where a row of any table lies in time. */
  function intervalsOf(table, row) {
    if (!ids.timeline) return [];
    const cell = (id) => table.cell(row, id);
    if (table.id === "ledger" && cell("longest_at") !== null)
      return [interval(cell("longest_at"), cell("longest"), cell("longest_device"))];
    if (table.has("start") && table.has("duration") && cell("start") !== null)
      return [interval(cell("start"), cell("duration"), cell("device") ?? undefined)];
    return [];
  }

  /* The longest intervals of an account, and of a culprit where any of them has it. */
  function evidence(tables, account, culprit) {
    const table = tables.get("intervals");
    if (!table || !account) return [];
    const rows = table.rows.filter((row) => table.cell(row, "account") === account);
    const blamed = rows.filter((row) => table.cell(row, "culprit") === culprit);
    return (blamed.length ? blamed : rows).map((row) =>
      interval(table.cell(row, "start"), table.cell(row, "duration"), table.cell(row, "device")));
  }

  /* ---- head ---- */

  const metric = (id) => ids.report.metrics[id];
  const text = (id) => (metric(id) ? ids.format(metric(id).value, metric(id).unit) : "no data");
  const known = (id) => metric(id) && metric(id).value !== null;

  function head() {
    const { run, complete, program } = ids.report;
    const whole = (value) => (value && typeof value === "object" ? value.text : value);
    const facts = [["devices", whole(run.devices)], ["steps", whole(run.steps)], ["hosts", run.hosts], ["jax", run.jax_version],
      ["recorded", run.recorded_unix_ns && new Date(Number(run.recorded_unix_ns) / 1e6).toISOString().slice(0, 19).replace("T", " ") + " UTC"],
      ["window", text("run.window")], ["events", text("run.events")], ["format", run.format],
      ["file", run.path && `${run.path}${run.bytes ? `, ${ids.format(run.bytes, "bytes")}` : ""}`],
      ["written by", `${program.name} ${program.version}`]];
    const notes = [run.kept && `kept because ${run.kept}`,
      ...["kept_like", "waits", "beyond_window", "python_recorded", "not_read"].map((id) => run[id])].filter(Boolean);
    const copy = h("button", { type: "button", onclick: () => ids.copy(ids.about.command, copy) }, "copy");
    return h("header", { class: "head" }, h("h1", {}, h("bdi", {}, run.name || "run")),
      complete ? null : h("p", { class: "warning", role: "note" }, "This profile is incomplete: figures are of what was recorded."),
      h("dl", { class: "facts" }, facts.filter((fact) => fact[1] !== null && fact[1] !== undefined && fact[1] !== "").map(([name, value]) =>
        h("div", {}, h("dt", {}, name), h("dd", {}, h("bdi", {}, String(value)))))),
      notes.length ? h("ul", { class: "notes" }, notes.map((note) => h("li", {}, h("bdi", {}, note)))) : null,
      ids.about.command ? h("p", { class: "command" }, h("code", {}, ids.about.command), copy) : null);
  }

  /* What the report could not say, with reasons: figures of one reason together. */
  function unknown() {
    const by = new Map();
    for (const section of ids.about.sections) {
      for (const [id, words] of Object.entries(section.metrics)) {
        const reason = metric(id)?.value === null ? metric(id).reason : null;
        if (reason) by.set(reason, [...(by.get(reason) || []), ids.term(words.title, `${id}: ${words.definition}`)]);
      }
    }
    const diags = ids.report.diag.map((diag) => h("li", { class: diag.severity }, h("b", {}, diag.severity), " ",
      h("bdi", {}, diag.text), diag.count > 1 ? ` (${ids.format(diag.count, "count")} times)` : ""));
    const share = known("ledger.unknown_share") ? `; ${text("ledger.unknown_share")} of device time has no known cause` : "";
    const reasons = [...by].map(([reason, terms]) => h("li", {}, h("bdi", {}, reason), ": ", terms.map((term, i) => [i ? ", " : "", term])));
    const figures = [...by.values()].reduce((sum, terms) => sum + terms.length, 0);
    if (!figures && !diags.length) return null;
    const words = (figures ? `${figures} figures have no value` : "every figure has a value") + share +
      (diags.length ? `; ${diags.length} notes on the file` : "");
    return h("details", { class: "unknown", open: diags.length > 0 }, h("summary", {}, "What is unknown: ", words),
             h("ul", {}, diags), ids.rove(h("ul", {}, reasons), ".term"));
  }

  /* ---- the story ---- */

  function sentence(accounts) {
    const rows = accounts ? accounts.rows : [], share = (row) => accounts.text(row, "share");
    if (!rows.length) return "This profile has no event of a device.";
    const named = (title) => (title.includes(",") ? `\u201c${title}\u201d` : title); /* or it reads as two */
    const part = (row) => `${named(ids.accountTitle(accounts.cell(row, "account")))} (${share(row)})`;
    const work = rows.find((row) => accounts.cell(row, "account") === "work.compute");
    const others = rows.filter((row) => row !== work && accounts.cell(row, "share") >= 0.005).slice(0, 3).map(part);
    const whole = known("steps.mean")
      ? `A step takes ${text("steps.mean")} on average${known("steps.median") ? ` (median ${text("steps.median")})` : ""}`
      : `The window is ${text("run.window")} long`;
    const most = others.length ? `; the rest is mostly ${others.join(", ").replace(/, ([^,]*)$/, " and $1")}` : "";
    return `${whole}: devices compute ${work ? share(work) : "0.0 %"} of it${most}.`;
  }

  function story(tables) {
    const accounts = tables.get("accounts");
    const choose = (id) => {
      const ledger = ids.views.get("ledger"), at = evidence(tables, id);
      if (ledger) {
        ledger.search.value = id;
        ledger.find(id);
      }
      if (at.length && ids.timeline) ids.show(at, ids.accountTitle(id));
      else if (ledger) ledger.element.scrollIntoView();
      if (ledger) ledger.search.focus({ preventScroll: true });
    };
    return h("section", { id: "story" }, h("h2", {}, known("steps.mean") ? "Where a step goes" : "Where the time goes"),
      h("p", { class: "sentence" }, sentence(accounts)), accounts ? ids.charts.ledger(accounts, choose) : null, headlines());
  }

  /* The lines of the overview, with their grades. */
  function headlines() {
    const lines = ids.about.sections.flatMap((section) => section.headlines.map((line) => ({ ...line, section })))
      .filter((line) => known(line.metric));
    const definition = (line) => `${line.metric}: ${line.section.metrics[line.metric]?.definition || ""}`;
    return ids.rove(h("ul", { class: "headlines" }, lines.map((line) => h("li", { class: metric(line.metric).grade },
      ids.term(line.title, definition(line)), h("b", {}, text(line.metric)),
      metric(line.metric).grade ? h("span", { class: "grade" }, metric(line.metric).grade) : null))), ".term");
  }

  function advice(tables) {
    const { report } = ids;
    if (!report.advice.length) return null;
    const step = Number(metric("steps.mean")?.value) || Number(metric("run.window")?.value) || 0;
    const one = (item) => {
      const at = evidence(tables, item.account, item.culprit), saves = item.saves === null ? null : Number(item.saves);
      const command = ids.about.command && item.explain ? `${ids.about.command} --explain ${item.explain}` : null;
      const copy = command ? h("button", { type: "button", title: command, onclick: () => ids.copy(command, copy) }, "copy --explain") : null;
      return h("li", {},
        h("div", { class: "saves" }, saves === null ? h("span", { class: "soft" }, "saving not known")
          : [h("span", {}, "up to "), h("b", {}, ids.format(saves, "s")), h("span", { class: "soft" }, ` a ${item.per}${ids.report.run.kept && item.per === "step" ? " of this window" : ""}`),
             step ? h("div", { class: "bar thin" }, h("span", { style: { width: `${Math.min(100, saves / step * 100)}%`,
               background: ids.colour(item.account || "") } })) : null]),
        h("div", {}, h("p", {}, item.account ? ids.swatch(item.account) : null, h("bdi", {}, item.what)),
          h("p", { class: "soft" }, h("bdi", {}, item.evidence || "")),
          h("p", { class: "tools" },
            at.length && ids.timeline ? h("button", { type: "button", onclick: () => ids.show(at, item.culprit || item.account) },
              "show on the timeline") : null, copy)));
    };
    return h("section", { id: "advice" }, h("h2", {}, "What to do"), h("ol", { class: "advice" }, report.advice.map(one)));
  }

  /* ---- the sections of the report ---- */

  const MANY_FIGURES = 20; /* of a section with more than these, zeros are counted only, as in the text report */

  function figures(section) {
    const all = Object.entries(section.metrics), found = all.filter(([id]) => known(id));
    const shown = all.length > MANY_FIGURES ? found.filter(([id]) => Number(metric(id).value) !== 0) : found;
    if (!found.length) return null;
    const zeros = found.length - shown.length;
    return [ids.rove(h("dl", { class: "figures" }, shown.map(([id, words]) => h("div", { class: metric(id).grade, "data-metric": id },
      h("dt", {}, ids.term(words.title, `${id}: ${words.definition}`)),
      h("dd", {}, h("bdi", {}, text(id)), metric(id).grade ? h("span", { class: "grade" }, metric(id).grade) : null)))), ".term"),
      zeros ? h("p", { class: "soft" }, `and ${zeros} that are 0`) : null];
  }

  /* What is drawn above the table of that id. */
  const drawings = {
    steps: null, /* stands before the timeline */
    accounts: null,
    accounts_by_device: (table) => ids.charts.devices(table),
    strips: (table) => (ids.timeline ? null : ids.charts.strips(table)),
    gap_histogram: (table) => ids.charts.gaps(table),
    load_balance: (table) => ids.charts.balance(table),
    rank_steps: (table, tables) => ids.charts.ranks(table, (step) => {
      const steps = tables.get("steps"), row = steps?.rows.find((one) => steps.cell(one, "step") === step);
      if (row) zoom(steps)(row, `step ${step}`);
    }),
    layers: (table) => ids.charts.layers(table),
    computations: (table) => ids.charts.roofline(table),
    kernels: (table) => ids.charts.kernels(table),
    memory_use: (table, tables) => ids.charts.memory(table, tables.get("live_at_peak")),
    held: (table) => ids.charts.stacks(table),
    stacks: (table) => ids.charts.calls(table),
  };

  function sectionOf(section, tables) {
    const parts = [figures(section)].flat();
    for (const id of Object.keys(section.tables)) {
      const table = tables.get(id);
      if (!table || !table.rows.length) continue;
      const drawing = drawings[id] ? drawings[id](table, tables) : null;
      const view = ids.view(table, { intervals: intervalsOf });
      ids.views.set(id, view);
      parts.push(drawing, id === "strips" ? null : view.element);
    }
    if (!parts.some(Boolean)) return null;
    return h("section", { id: "section-" + section.name }, h("h2", {}, section.title), parts.filter(Boolean));
  }

  function navigation(sections) {
    const link = (section) => h("a", { href: "#" + section.id }, section.querySelector("h2").textContent);
    return ids.rove(h("nav", { "aria-label": "sections" }, sections.map(link)), "a");
  }

  /* The steps that are not a thousand times as long as the median, where one is of hours: a wrong moment makes such a
   * step, beside which nobody would see the others. */
  function besideStretched(steps) {
    const median = Number(metric("steps.median")?.value) || 0;
    if (!steps || steps.rows.length < 3 || !median) return null;
    const time = (row) => Number(steps.cell(row, "duration")), start = (row) => Number(steps.cell(row, "start"));
    const isStretched = (row) => time(row) > 3600 && time(row) > 1000 * median;
    const others = steps.rows.filter((row) => !isStretched(row)), stretched = steps.rows.filter(isStretched);
    if (!stretched.length || !others.length) return null;
    const from = Math.min(...others.map(start)), to = Math.max(...others.map((row) => start(row) + time(row)));
    const words = stretched.map((row) => `step ${steps.text(row, "step")} takes ${steps.text(row, "duration")}`).slice(0, 3).join(", ");
    return { from: from * NS, to: to * NS, note: h("p", { class: "warning", role: "note" },
      `${words[0].toUpperCase()}${words.slice(1)}: a moment in it may be wrong. The timeline begins with the other steps; \u201call\u201d shows the whole run.`) };
  }

  /* Hosts whose clocks nobody could compare stand on one axis all the same. */
  function clocksApart(table) {
    if (!table) return null;
    const by = new Map();
    for (const row of table.rows) by.set(table.cell(row, "clock"), [...(by.get(table.cell(row, "clock")) || []), table.cell(row, "host")]);
    if (by.size < 2) return null;
    const groups = [...by.values()].map((hosts) => hosts.length > 3 ? `${hosts[0]} and ${hosts.length - 1} others` : hosts.join(", "));
    return h("p", { class: "warning", role: "note" }, "The clocks of these hosts could not be compared, though they are drawn on one axis: ",
      h("bdi", {}, groups.join("; ")), ". What stands above each other there need not have happened at one moment.");
  }

  async function makeReport() {
    const timeline = await ids.block("timeline");
    const tables = ids.tables(ids.report, ids.about);
    ids.views = new Map();
    const main = h("main", { id: "main", tabindex: "-1" });
    document.body.append(h("a", { class: "skip", href: "#main" }, "to the report"), main);
    const element = h("div", { class: "timeline" });
    const place = timeline && window.idsTimeline
      ? h("section", { id: "timeline-section" }, h("h2", {}, "Timeline"), clocksApart(tables.get("clocks")), element) : null;
    if (place) {
      main.append(place); /* it measures itself */
      ids.timeline = window.idsTimeline(element, timeline);
      const beside = besideStretched(tables.get("steps"));
      if (beside && !ids.timeline.missing) {
        element.before(beside.note);
        ids.timeline.zoom(beside.from, beside.to);
      }
    }
    const steps = tables.get("steps"), bars = steps ? ids.charts.steps(steps, ids.report.metrics, zoom(steps)) : null;
    const sections = [story(tables), advice(tables), bars ? h("section", { id: "steps" }, h("h2", {}, "Step by step"), bars) : null, place,
      ...ids.about.sections.map((section) => sectionOf(section, tables))].filter(Boolean);
    main.append(head(), ...sections, unknown() ?? "");
    main.before(navigation(sections));
  }

  ids.parts = { navigation };
  ids.pages.report = makeReport;

  (async () => {
    [ids.report, ids.about] = await Promise.all([ids.block("report"), ids.block("about")]);
    ids.addColours(ids.about.accounts);
    await ids.pages[ids.about.kind]();
    ids.addTooltip();
    document.documentElement.dataset.ready = "true";
  })();
}
