"use strict";
/* The pages of `diff`, `scale`, `check` and `list`: what differs and by what causes; methods on numbers of devices;
 * limits; runs. */
ids.pages = {};
{
  const { h, svg } = ids;
  const percent = (share) => `${share * 100}%`;
  const signed = (value, unit) => (value > 0 ? "+" : "") + ids.format(value, unit);
  /* The difference of two percentages is no percentage. */
  const difference = (value, unit) => (unit === "ratio"
    ? `${value < 0 ? "-" : "+"}${fixed(Math.abs(value) * 100, 1)} points` : signed(value, unit));

  function frame(title, facts) {
    const main = h("main", { id: "main", tabindex: "-1" });
    document.body.append(h("a", { class: "skip", href: "#main" }, "to the report"), main);
    const copy = h("button", { type: "button", onclick: () => ids.copy(ids.about.command, copy) }, "copy");
    main.append(h("header", { class: "head" }, h("h1", {}, title),
      h("dl", { class: "facts" }, facts.filter((fact) => fact[1] !== null && fact[1] !== undefined).map(([name, value]) =>
        h("div", {}, h("dt", {}, name), h("dd", {}, h("bdi", {}, String(value)))))),
      ids.about.command ? h("p", { class: "command" }, h("code", {}, ids.about.command), copy) : null));
    return main;
  }

  function findings(table) {
    if (!table || !table.rows.length) return null;
    return h("ul", { class: "notes" }, table.rows.map((row) => h("li", { class: table.cell(row, "severity") },
      h("b", {}, table.cell(row, "severity")), " ", h("bdi", {}, table.cell(row, "text")))));
  }

  /* The tables that are not drawn otherwise, each a section. */
  function rest(tables, left_out) {
    return [...tables.values()].filter((table) => table.rows.length && !left_out.includes(table.id)).map((table) => {
      const view = ids.view(table);
      ids.views.set(table.id, view);
      return h("section", { id: "section-" + table.id }, h("h2", {}, table.title), view.element);
    });
  }

  /* ---- diff ---- */

  const VERDICTS = { regression: "slower", improvement: "faster", same: "the same within the noise",
                     unsure: "not sure: it may be noise", counted: "counted once each" };

  /* Where times cannot tell, because steps of one side differ, what programs and counts say is certain all the same. */
  function doubt(run, figures, changed) {
    if (run.verdict !== "unsure") return null;
    const row = figures && figures.rows.find((one) => figures.cell(one, "id") === "steps.mean");
    const [low, high] = ["low", "high"].map((end) => row && (figures.cell(row, "typical_" + end) ?? figures.cell(row, end)));
    const first = changed && changed.rows.length ? changed.cell(changed.rows[0], "text") : null;
    return h("p", {}, row && low !== null ? `Steps of a side differ so much from one another that the difference may be anything from ${
      signed(Number(low), "s")} to ${signed(Number(high), "s")}: a few slow steps, or noise. ` : "",
      first ? ["What changed for certain: ", h("bdi", {}, first), "."] : null);
  }

  /* As the terminal says it: sure causes of both signs leave little of themselves. */
  function cancelling(table, run) {
    const whole = Math.abs(Number(run.whole_b) - Number(run.whole_a));
    const first = table && table.rows.find((row) => (table.cell(row, "low") > 0 || table.cell(row, "high") < 0) &&
                                                    Math.abs(Number(table.cell(row, "change"))) > whole);
    const cell = (id) => table.cell(first, id);
    if (!first || !["same", "unsure"].includes(run.verdict)) return null;
    return h("p", {}, "But causes that are sure nearly cancel: the largest is ", h("bdi", {}, cell("cause") || cell("culprit")),
      `, ${signed(Number(cell("change")), "s")}.`);
  }

  function diffSentence(run) {
    const [a, b] = [Number(run.whole_a), Number(run.whole_b)];
    if (!(a > 0) || !(b > 0)) return null;
    const by = a === b ? "no change" : `${signed(b - a, "s")} (${signed((b - a) / a, "ratio")})`;
    return h("p", { class: "sentence" }, `A ${run.per} took ${ids.format(a, "s")} in `, h("bdi", {}, run.a),
      ` and takes ${ids.format(b, "s")} in `, h("bdi", {}, run.b), `: ${by}${
        VERDICTS[run.verdict] ? ` - ${VERDICTS[run.verdict]}` : ""}.`);
  }

  /* From before to after, cause by cause: each bar begins where the one above it ends. */
  function waterfall(table, run) {
    const a = Number(run.whole_a), b = Number(run.whole_b);
    if (!table || !table.rows.length || !(a > 0)) return null;
    let at = a;
    const bars = [{ from: 0, to: a, name: "before", words: ids.format(a, "s"), whole: true }];
    for (const row of table.rows) {
      const change = Number(table.cell(row, "change")) || 0, account = table.cell(row, "account");
      const range = table.cell(row, "low") === null ? ""
        : ` (${signed(Number(table.cell(row, "low")), "s")} to ${signed(Number(table.cell(row, "high")), "s")})`;
      bars.push({ from: at, to: at + change, account, name: table.cell(row, "cause") || table.cell(row, "culprit"),
                  words: signed(change, "s") + range, where: table.cell(row, "where"), note: table.cell(row, "note") });
      at += change;
    }
    bars.push({ from: 0, to: b, name: "after", words: ids.format(b, "s"), whole: true });
    const ends = bars.flatMap((bar) => (bar.whole ? [bar.to] : [bar.from, bar.to]));
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    /* Small changes of a long step would not be seen on an axis from 0. */
    const begin = high - low < 0.4 * high ? Math.max(0, low - (high - low) * 0.25) : 0;
    const x = (value) => (value - begin) / (high - begin || 1);
    const line = (bar) => {
      const [left, right] = [Math.min(bar.from, bar.to), Math.max(bar.from, bar.to)];
      const kind = bar.whole ? "whole" : bar.to > bar.from ? "more" : "less";
      return h("li", {}, h("div", { class: "label" }, bar.account ? ids.swatch(bar.account) : null,
          bar.account ? h("span", { class: "soft" }, ids.accountTitle(bar.account) + " ") : null, h("bdi", { title: bar.where ?? "" }, bar.name)),
        h("div", { class: "fall", role: "img", "aria-label": `${bar.name}: ${bar.words}` }, h("span", { class: kind,
          style: { left: percent(Math.max(0, x(left))), width: percent(Math.max(0.002, x(right) - Math.max(0, x(left)))) } })),
        h("span", {}, bar.words), bar.note ? h("div", { class: "soft note" }, h("bdi", {}, bar.note)) : null);
    };
    return h("figure", {}, h("figcaption", {}, h("strong", {}, "from before to after"),
      ` cause by cause; in brackets the ${ids.format(run.confidence ?? 0.99, "ratio")} interval where there is one.${
        begin > 0 ? ` The axis begins at ${ids.format(begin, "s")}.` : ""}`),
      h("ul", { class: "bars falls" }, bars.map(line)));
  }

  /* A figure a line, in the unit of the line. */
  function headline(table) {
    const rows = table ? table.rows.filter((row) => table.cell(row, "verdict") !== "no_data") : [];
    if (!rows.length) return null;
    const cell = (row, id) => ids.format(table.cell(row, id), table.cell(row, "unit"));
    const line = (row) => {
      const verdict = table.cell(row, "verdict"), better = table.cell(row, "better");
      const grade = verdict === "same" || verdict === "unsure" ? null : better === "better" ? "good" : better === "worse" ? "bad" : null;
      const unit = table.cell(row, "unit"), by = table.cell(row, "difference");
      const [low, high] = ["low", "high"].map((end) => table.cell(row, "typical_" + end) ?? table.cell(row, end));
      return h("tr", { class: grade }, h("th", { scope: "row" }, table.cell(row, "title")), h("td", { class: "number" }, cell(row, "a")),
        h("td", { class: "number" }, cell(row, "b")), h("td", { class: "number" }, by === null ? "-" : difference(by, unit)),
        h("td", { class: "number" }, low === null ? "-" : `${difference(low, unit)} to ${difference(high, unit)}`),
        h("td", {}, h("span", { class: "grade" }, grade ? better : verdict)));
    };
    return h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "figures of both sides" }, h("table", { class: "headline" },
      h("caption", { class: "unseen" }, "figures of both sides"),
      h("thead", {}, h("tr", {}, ["figure", "before", "after", "difference", "interval", ""].map((name, i) =>
        h("th", { scope: "col", class: i && i < 5 ? "number" : null }, name)))), h("tbody", {}, rows.map(line))));
  }

  function changes(table) {
    if (!table || !table.rows.length) return null;
    return h("section", { id: "changes" }, h("h2", {}, "What changed"), h("ol", { class: "advice" }, table.rows.map((row) => {
      const change = table.cell(row, "change");
      return h("li", {}, h("div", {}, change === null ? "" : h("b", {}, signed(Number(change), "s"))),
               h("div", {}, h("bdi", {}, table.cell(row, "text"))));
    })));
  }

  /* One above the other, each from its own zero and both on one scale. */
  async function twoTimelines(main, run) {
    const blocks = [await ids.block("timeline_a"), await ids.block("timeline_b")];
    if (!blocks.every(Boolean)) return null;
    const places = blocks.map(() => h("div", { class: "timeline" }));
    const section = h("section", { id: "timeline-section" }, h("h2", {}, "Timelines"),
      places.map((place, i) => [h("h3", {}, i ? "after: " : "before: ", h("bdi", {}, i ? run.b : run.a)), place]));
    main.append(section); /* they measure themselves */
    const [before, after] = ids.timelines = blocks.map((block, i) => window.idsTimeline(places[i], block));
    if (!before.missing && !after.missing) before.link(after);
    return section;
  }

  ids.pages.diff = async () => {
    const { run } = ids.report, tables = ids.tables(ids.report, ids.about);
    ids.views = new Map();
    const side = (name) => `${run[name + "_path"] || ""} (${ids.format(run[name + "_runs"], "count")} run${
      Number(run[name + "_runs"]) === 1 ? "" : "s"}, ${ids.format(run[name + "_steps"], "count")} steps)`;
    const main = frame([h("bdi", {}, run.a), " \u2192 ", h("bdi", {}, run.b)], [["before", side("a")], ["after", side("b")],
      ["comparable", run.comparable ? "yes" : "no"], ["verdict", run.verdict]]);
    const over = await twoTimelines(main, run);
    const sections = [
      h("section", { id: "story" }, h("h2", {}, "What differs"), diffSentence(run),
        cancelling(tables.get("waterfall"), run), doubt(run, tables.get("headline"), tables.get("changes")), findings(tables.get("findings")),
        waterfall(tables.get("waterfall"), run), headline(tables.get("headline"))),
      over, changes(tables.get("changes")), ...rest(tables, ["findings", "headline", "changes"])].filter(Boolean);
    main.append(...sections);
    main.before(ids.parts.navigation(sections));
  };

  /* ---- check ---- */

  const KEPT = { pass: "good", fail: "bad", inconclusive: "warn" };

  ids.pages.check = async () => {
    const { run } = ids.report, tables = ids.tables(ids.report, ids.about), checks = tables.get("checks");
    ids.views = new Map();
    const main = frame("Check", [["verdict", run.verdict], ["limits", run.checks]]);
    const counts = ["pass", "fail", "inconclusive", "skipped"].filter((name) => run[name] > 0)
      .map((name) => `${ids.format(run[name], "count")} ${name}`).join(", ");
    const words = `${run.checks === 1 ? "The limit" : `Of ${ids.format(run.checks, "count")} limits`}: ${counts || "none"}.`;
    const section = h("section", { id: "story" }, h("h2", {}, "Limits"), h("p", { class: "sentence" },
      h("b", { class: KEPT[run.verdict] }, h("span", { class: "grade" }, run.verdict)), " ", words));
    main.append(section);
    if (!checks) return;
    const view = ids.view(checks, { columns: ["verdict", "id", "value", "bound", "baseline", "low", "high", "run", "limit", "note", "accepted"], grade: (table, row) => KEPT[table.cell(row, "verdict")] ?? null });
    ids.views.set("checks", view);
    section.append(view.element);
  };

  /* ---- list ---- */

  /* What a run of the list has: id, heading, unit; details are shown with all columns. */
  const RUN = [["name", "run"], ["time", "time"], ["method", "method", null, true], ["gpus", "GPUs", "count", true],
    ["step", "step", "count", true], ["hosts", "hosts", "count"], ["devices", "devices"], ["device_count", "devices in all", "count", true],
    ["device_kind", "kind", null, true], ["steps", "steps", "count"], ["window", "window", "s"], ["events", "events", "count"],
    ["bytes", "size", "bytes"], ["state", "state"], ["reason", "why"], ["kept", "kept for"], ["path", "path"]];

  function tableOf(id, title, definition, columns, entries) {
    const report = { tables: { [id]: { columns: columns.map(([name, , unit]) => ({ id: name, unit: unit ?? undefined })),
      rows: entries.map((entry) => columns.map(([name]) => entry[name] ?? null)) } } };
    const words = { title, definition, columns: columns.map(([, heading, , detail]) => ({ title: heading, detail: Boolean(detail) })) };
    return ids.tables(report, { sections: [{ tables: { [id]: words } }] }).get(id);
  }

  ids.pages.list = async () => {
    const { runs, not_taken } = ids.report;
    ids.views = new Map();
    const main = frame("Runs", []);
    const broken = runs.filter((run) => run.state !== "whole").length;
    /* A file's own time says nothing of when it was recorded: copying changes it. */
    const told = runs.map((run) => (run.time_source === "file" ? { ...run, time: `file's time ${run.time}` } : run));
    const table = tableOf("runs", "runs", "Every run that was found, as idsprof list prints them.", RUN, told);
    const view = ids.view(table, { first: 200, grade: (all, row) => (all.cell(row, "state") === "whole" ? null : "bad") });
    ids.views.set("runs", view);
    const others = tableOf("not_taken", "files that are no run", "Files that look like profiles, and why they were not taken.",
      [["path", "path"], ["reason", "why"]], not_taken);
    main.append(h("section", { id: "story" }, h("h2", {}, "Found"), h("p", { class: "sentence" },
      `${ids.format(runs.length, "count")} run${runs.length === 1 ? "" : "s"}${broken ? `, ${ids.format(broken, "count")} of them not whole` : ""}.`),
      view.element), not_taken.length ? h("section", { id: "others" }, h("h2", {}, "Other files"), ids.view(others).element) : "");
  };

  /* ---- scale ---- */

  const HUES = ["copy.h2d", "host.input", "work.compute", "comm.transfer", "stall.device", "host.compile", "host.sync", "copy.d2h"];
  const devicesText = (count) => `${count} device${Number(count) === 1 ? "" : "s"}`;
  const methodOf = (table, row) => table.cell(row, "method") ?? "all";

  /* Methods by numbers of devices: time of a step, how many times as fast as the first method, speed-up, efficiency. */
  function grid(table) {
    const devices = [...new Set(table.rows.map((row) => Number(table.cell(row, "devices"))))].sort((a, b) => a - b);
    const methods = [...new Set(table.rows.map((row) => methodOf(table, row)))];
    const error = (row) => { /* half the interval, of the step */
      const [low, high, step] = ["low", "high", "step"].map((id) => table.cell(row, id));
      return low === null || high === null || !step ? "-" : ids.format((high - low) / 2 / step, "ratio");
    };
    const find = (method, count) => table.rows.find((row) => methodOf(table, row) === method && Number(table.cell(row, "devices")) === count);
    const figures = [["step", "step"], ["error", "± (99 %)"], ["method_speedup", "times as fast"], ["speedup", "speed-up"], ["efficiency", "efficiency"],
      ["exposed", "exposed communication"], ["bytes", "volume of communication"], ["overlap", "overlapped"], ["balance", "load balance"]]
      .filter(([id]) => table.rows.some((row) => id === "error" ? error(row) !== "-" : table.cell(row, id) !== null));
    const words = (row, id) => id === "error" ? error(row) : table.cell(row, id) !== null ? table.text(row, id)
      : id === "method_speedup" && table.cell(row, "step") !== null ? "1" : "-"; /* of the first method against itself */
    const cell = (row, id) => h("td", { class: "number" }, !row ? "-" : id === "step" && row && table.cell(row, "success") === false
      ? h("span", { class: "bad" }, table.cell(row, "why") || "failed") : words(row, id));
    return h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "methods by devices" }, h("table", { class: "headline" },
      h("caption", { class: "unseen" }, "methods by numbers of devices"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, ""), h("th", { scope: "col" }, "method"),
        devices.map((count) => h("th", { scope: "col", class: "number" }, devicesText(count))))),
      h("tbody", {}, figures.flatMap(([id, title]) => methods.map((method, i) => h("tr", {},
        h("th", { scope: "row" }, i ? "" : title), h("td", {}, h("bdi", {}, method)),
        devices.map((count) => cell(find(method, count), id))))))));
  }

  /* One curve a method over numbers of devices, both axes are logarithmic. */
  function curves(table, id, title, words, ideal) {
    const points = table.rows.filter((row) => Number(table.cell(row, id)) > 0 && Number(table.cell(row, "devices")) > 0)
      .map((row) => ({ method: methodOf(table, row), x: Number(table.cell(row, "devices")), y: Number(table.cell(row, id)),
                       words: table.text(row, id) }));
    const devices = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
    if (devices.length < 2) return null;
    const methods = [...new Set(points.map((point) => point.method))];
    const [width, height, left, bottom] = [520, 240, 78, 24];
    const all = points.map((point) => point.y).concat(ideal ? devices.map((count) => count / devices[0]) : []);
    const [low, high] = [Math.log2(Math.min(...all)) - 0.2, Math.log2(Math.max(...all)) + 0.2];
    const [first, last] = [Math.log2(devices[0]), Math.log2(devices.at(-1))];
    const x = (value) => left + 10 + (Math.log2(value) - first) / (last - first || 1) * (width - left - 30);
    const y = (value) => height - bottom - (Math.log2(value) - low) / (high - low || 1) * (height - bottom - 12);
    const unit = table.columns[table.places.get(id)].unit;
    const lines = [];
    for (let e = Math.floor(low * Math.log10(2)); 10 ** e <= 2 ** high; e++)
      lines.push(...[1, 2, 5].map((times) => times * 10 ** e).filter((value) => value >= 2 ** low && value <= 2 ** high));
    const curve = (method, i) => {
      const own = points.filter((point) => point.method === method).sort((a, b) => a.x - b.x);
      const style = { "--hue": ids.colour(HUES[i % HUES.length]) };
      return [svg("path", { class: "line", style, d: "M" + own.map((point) => `${x(point.x)} ${y(point.y)}`).join("L") }),
        own.map((point) => svg("circle", { cx: x(point.x), cy: y(point.y), r: 4, style: { fill: ids.colour(HUES[i % HUES.length]) } },
          svg("title", {}, `${method}, ${devicesText(point.x)}: ${point.words}`)))];
    };
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title },
      lines.map((value) => [svg("line", { class: "gridline", x1: left, x2: width - 10, y1: y(value), y2: y(value) }),
        svg("text", { class: "tick", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, ids.format(value, unit))]),
      devices.map((count) => svg("text", { class: "tick", x: x(count), y: height - 6, "text-anchor": "middle" }, String(count))),
      ideal ? svg("path", { class: "median", fill: "none", d: "M" + devices.map((count) => `${x(count)} ${y(count / devices[0])}`).join("L") }) : null,
      methods.map(curve));
    return h("figure", { class: "curve" }, h("figcaption", {}, h("strong", {}, title), " " + words), picture,
      methods.length > 1 ? h("p", { class: "keys" }, methods.map((method, i) => h("span", { class: "key" },
        ids.swatch(HUES[i % HUES.length]), h("bdi", {}, method)))) : null);
  }

  /* Where a step of each configuration goes, against the ideal. */
  function losses(table) {
    if (!table) return null;
    const by = new Map();
    for (const row of table.rows) {
      const key = `${methodOf(table, row) === "all" ? "" : methodOf(table, row) + ", "}${devicesText(table.cell(row, "devices"))}`;
      by.set(key, [...(by.get(key) || []), row]);
    }
    const time = (row) => Number(table.cell(row, "time")) || 0, whole = (rows) => rows.reduce((sum, row) => sum + time(row), 0);
    const most = Math.max(...[...by.values()].map(whole));
    if (!(most > 0)) return null;
    return h("figure", {}, h("figcaption", {}, h("strong", {}, "a step of each configuration"), " by account."),
      h("ul", { class: "bars" }, [...by].map(([key, rows]) => h("li", {}, h("bdi", { class: "label" }, key),
        h("div", { class: "bar thin", role: "img", "aria-label": `${key}: ${ids.format(whole(rows), "s")}` }, rows.filter(time).map((row) =>
          h("span", { title: `${ids.accountTitle(table.cell(row, "account"))} ${table.text(row, "time")}`,
                      style: { width: percent(time(row) / most), background: ids.colour(table.cell(row, "account")) } }))),
        h("span", { class: "soft" }, ids.format(whole(rows), "s"))))));
  }

  ids.pages.scale = async () => {
    const { run } = ids.report, tables = ids.tables(ids.report, ids.about), cells = tables.get("configurations");
    ids.views = new Map();
    const kinds = new Map(cells ? cells.rows.map((row) => [methodOf(cells, row), cells.cell(row, "scaling")]) : []);
    const isMixed = new Set(kinds.values()).size > 1;
    const main = frame("Scaling", [["methods", run.methods], ["scaling", isMixed ? [...kinds].map(([method, kind]) => `${method} ${kind}`).join(", ")
      : `${run.scaling} (${run.scaling_by})`]]);
    const mixed = isMixed ? h("p", { class: "warning", role: "note" },
      "Work grows with the devices in some methods and not in others: their speed-ups and efficiencies do not compare.") : null;
    const words = "over the number of devices; both axes are logarithmic.";
    const sections = [h("section", { id: "story" }, h("h2", {}, "Methods and devices"), mixed, findings(tables.get("findings")),
      cells ? grid(cells) : null, cells ? h("div", { class: "curves" }, curves(cells, "step", "step time", words),
        curves(cells, "speedup", "speed-up", words + " Dashed: the ideal.", true)) : null, losses(tables.get("losses"))),
      ...rest(tables, ["findings"])];
    main.append(...sections);
    main.before(ids.parts.navigation(sections));
  };
}
