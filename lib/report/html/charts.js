"use strict";
/* Drawings of the report's tables. Each gives an element, or null where the report has nothing to draw; each is beside
 * the table that it draws, which says the same to who cannot see it. */
ids.charts = {};
{
  const { h, svg, charts } = ids;
  const HEIGHT = 180, LEFT = 78, RIGHT = 12, TOP = 12, BOTTOM = 22;
  const percent = (share) => `${Math.max(0, share * 100)}%`;

  /* A figure whose drawing is made again when its width changes. */
  function plot(title, words, draw, height = HEIGHT) {
    const box = h("div", { class: "plot" });
    let before = 0;
    const fit = () => {
      const width = Math.round(box.clientWidth);
      if (!width || width === before) return;
      before = width;
      box.replaceChildren(draw(width, height));
    };
    new ResizeObserver(fit).observe(box);
    return h("figure", {}, h("figcaption", {}, h("strong", {}, title), words ? " " + words : null), box);
  }
  const canvas = (width, height, label, ...children) =>
    svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...children);

  /* Round numbers between 0 and `most`, about `count` of them. */
  function ticks(most, count) {
    const rough = most / count, size = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((times) => times * size >= rough) * size;
    return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => i * step);
  }
  /* Powers of ten, or where there are few, 1, 2 and 5 of each. */
  const decades = (from, to) => {
    const times = to / from < 300 ? [1, 2, 5] : [1], found = [];
    for (let e = Math.floor(Math.log10(from)); e <= Math.log10(to) + 1e-9; e++) found.push(...times.map((time) => time * 10 ** e));
    const inside = found.filter((value) => value >= from * (1 - 1e-9) && value <= to * (1 + 1e-9));
    const every = Math.ceil(inside.length / 9);
    return inside.filter((_, i) => i % every === 0);
  };
  const yAxis = (width, values, at, unit) => values.map((value) => [
    svg("line", { class: "gridline", x1: LEFT, x2: width - RIGHT, y1: at(value), y2: at(value) }),
    svg("text", { class: "tick", x: LEFT - 6, y: at(value) + 4, "text-anchor": "end" }, ids.format(value, unit)),
  ]);
  const xAxis = (height, values, at, unit) => values.map((value) => [
    svg("line", { class: "gridline", x1: at(value), x2: at(value), y1: TOP, y2: height - BOTTOM }),
    svg("text", { class: "tick", x: at(value), y: height - 6, "text-anchor": "middle" }, ids.format(value, unit)),
  ]);
  const logScale = (from, to, low, high) => {
    const ratio = (high - low) / (Math.log10(to / from) || 1);
    return (value) => low + Math.log10(value / from) * ratio;
  };
  const numbers = (table, id) => table.rows.map((row) => Number(table.cell(row, id)));
  const accountsOf = (table) => ids.about.accounts.filter((account) => table.has(account.id));

  /* ---- a mean step ---- */

  charts.ledger = (table, choose) => {
    const rows = table.rows.filter((row) => table.cell(row, "share") > 0);
    if (!rows.length) return null;
    const part = (row) => {
      const id = table.cell(row, "account"), share = table.cell(row, "share");
      const words = `${ids.accountTitle(id)}: ${table.text(row, "share")}, ${table.text(row, "per_step")}`;
      return h("button", { type: "button", class: "part", "data-account": id, title: words, "aria-label": words,
                           style: { "flex-grow": String(share), background: ids.colour(id) }, onclick: () => choose(id) },
               share > 0.06 ? h("span", {}, ids.format(share, "ratio")) : null);
    };
    const entry = (row) => {
      const id = table.cell(row, "account"), about = ids.account(id);
      const alike = table.cell(row, "alike"), culprit = table.cell(row, "group");
      return h("li", {}, h("button", { type: "button", class: "entry", "data-account": id, onclick: () => choose(id),
                                       "data-definition": `${id}: ${about.meaning}` },
        ids.swatch(id), h("span", { class: "what" }, about.title), h("b", {}, table.text(row, "per_step")),
        h("span", { class: "soft" }, table.text(row, "share")),
        culprit ? h("bdi", { class: "soft mostly" }, alike ? `${culprit}, ${alike} alike` : culprit) : null));
    };
    return h("div", { class: "ledger" },
      ids.rove(h("div", { class: "bar", role: "group", "aria-label": "parts of a step" }, rows.map(part)), "button"),
      ids.rove(h("ul", { class: "legend" }, rows.map(entry)), "button"));
  };

  /* ---- steps ---- */

  /* Above this many medians a step is cut at the top, or nobody could see the others. */
  const CUT = 6;
  const WIDEST_STEP = 240;

  charts.steps = (table, metrics, zoom) => {
    const accounts = accountsOf(table), rows = table.rows;
    if (rows.length < 2) return null;
    const times = numbers(table, "duration"), median = Number(metrics["steps.median"]?.value) || 0;
    const warm = /warm-up/.test(metrics["steps.mean"]?.rule || "");
    const most = Math.max(...times.slice(warm ? 1 : 0)), top = median ? Math.min(most, CUT * median) : most;
    const is_outlier = (i) => median > 0 && times[i] > 2 * median && !(warm && !i);
    const step = (i) => table.text(rows[i], "step");
    const words = (i) => {
      const parts = accounts.map((a) => [Number(table.cell(rows[i], a.id)) || 0, a.title]).filter((p) => p[0] > 0);
      parts.sort((a, b) => b[0] - a[0]);
      const note = warm && !i ? " (warm-up)" : is_outlier(i) ? " (more than twice the median)" : "";
      return `step ${step(i)}${note}: ${ids.format(times[i], "s")} - ` +
        parts.slice(0, 4).map(([time, title]) => `${title} ${ids.format(time, "s")}`).join(", ");
    };
    let chosen = -1, mark = null, place = null;
    const line = h("p", { class: "soft steps-line", "aria-live": "polite" },
                   "Point at a step, or focus the bars and use the arrows; a click or Enter zooms the timeline.");
    const choose = (i) => {
      chosen = Math.max(0, Math.min(rows.length - 1, i));
      line.textContent = words(chosen);
      if (mark) for (const [name, value] of Object.entries(place(chosen))) mark.setAttribute(name, value);
    };
    const go = () => chosen >= 0 && zoom(rows[chosen], `step ${step(chosen)}`);
    const draw = (width, height) => {
      const wide = Math.min(WIDEST_STEP, (width - LEFT - RIGHT) / rows.length), gap = wide > 4 ? 1 : 0;
      const y = (value) => height - BOTTOM - Math.min(1, value / top) * (height - BOTTOM - TOP);
      const x = (i) => LEFT + i * wide;
      const bar = (i, from, to) =>
        `M${x(i).toFixed(2)} ${y(from).toFixed(2)}V${y(to).toFixed(2)}h${Math.max(0.5, wide - gap).toFixed(2)}V${y(from).toFixed(2)}z`;
      const paths = new Map();
      const add = (key, path) => paths.set(key, (paths.get(key) || "") + path);
      rows.forEach((row, i) => {
        let at = 0;
        if (warm && !i) return add("var(--warmup)", bar(0, 0, times[0]));
        for (const account of accounts) {
          const time = Number(table.cell(row, account.id)) || 0;
          if (time > 0) add(ids.colour(account.id), bar(i, at, at + time));
          at += time;
        }
        if (at < times[i]) add("var(--faint)", bar(i, at, times[i]));
      });
      const flags = rows.map((_, i) => (times[i] > top * 1.0001 || is_outlier(i) ? svg("path", {
        class: times[i] > top * 1.0001 ? "cut" : "outlier",
        d: `M${x(i) + wide / 2 - 4} ${y(times[i]) - 3}h8l-4 ${times[i] > top * 1.0001 ? -6 : 5}z` }) : null));
      const every = Math.max(1, Math.ceil(rows.length / Math.max(2, (width - LEFT) / 70)));
      const labels = rows.map((_, i) => (i % every ? null : svg("text", {
        class: "tick", x: x(i) + wide / 2, y: height - 6, "text-anchor": "middle" }, step(i))));
      place = (i) => ({ x: x(i) - 1, y: TOP - 6, width: Math.max(3, wide + 2), height: height - BOTTOM - TOP + 8 });
      mark = svg("rect", { class: "chosen", ...(chosen >= 0 ? place(chosen) : { width: 0, height: 0 }) });
      const at = (event) => Math.floor((event.offsetX - LEFT) / wide);
      const picture = canvas(width, height, `times of ${rows.length} steps by account`,
        yAxis(width, ticks(top, 4), y, "s"),
        median ? svg("line", { class: "median", x1: LEFT, x2: width - RIGHT, y1: y(median), y2: y(median) }) : null,
        [...paths].map(([fill, d]) => svg("path", { d, style: { fill } })), flags.filter(Boolean), labels.filter(Boolean), mark);
      picture.addEventListener("pointermove", (event) => choose(at(event)));
      picture.addEventListener("click", (event) => { choose(at(event)); go(); });
      return picture;
    };
    const moves = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };
    const figure = plot("steps", `by account, means over the devices; the line is the median${
      median ? `, triangles are steps that take more than twice as long${most > top ? ` (cut at ${CUT} medians)` : ""}` : ""}${
      warm ? "; grey: warm-up" : ""}.`, draw, 200);
    const box = figure.querySelector(".plot");
    Object.entries({ tabindex: "0", role: "slider", "aria-label": "steps", "aria-valuemin": "0",
                     "aria-valuemax": String(rows.length - 1), "aria-valuenow": "0" })
      .forEach(([name, value]) => box.setAttribute(name, value));
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") return go();
      if (!(event.key in moves)) return;
      event.preventDefault();
      choose(chosen + moves[event.key]);
      box.setAttribute("aria-valuenow", String(chosen));
      box.setAttribute("aria-valuetext", line.textContent);
    });
    figure.append(line);
    return figure;
  };

  /* ---- devices ---- */

  const DEVICES = 64;
  const moreDevices = (table) => {
    const rest = table.rows.length - DEVICES;
    return rest > 0 ? h("p", { class: "soft" }, `${ids.format(rest, "count")} more are not drawn`) : "";
  };

  /* Bars of accounts side by side, one a device, all to one scale. */
  charts.devices = (table) => {
    const accounts = accountsOf(table), times = numbers(table, "time"), most = Math.max(...times);
    if (table.rows.length < 2 || !(most > 0)) return null;
    const row = (cells, i) => h("li", {}, h("bdi", { class: "label" }, table.text(cells, "device").replace(/^.*\//, "")),
      h("div", { class: "bar thin", role: "img", "aria-label": `${table.text(cells, "device")}: ${table.text(cells, "time")}` },
        accounts.map((account) => {
          const time = Number(table.cell(cells, account.id)) || 0;
          return time > 0 ? h("span", { title: `${account.title} ${ids.format(time, "s")}`,
            style: { width: percent(time / most), background: ids.colour(account.id) } }) : null;
        })), h("span", { class: "soft" }, ids.format(times[i], "s")));
    return h("figure", {}, h("figcaption", {}, h("strong", {}, "a step of each device"), " by account."),
             h("ul", { class: "bars" }, table.rows.slice(0, DEVICES).map(row)), moreDevices(table));
  };

  /* What devices did over time, by the letters of --chart. */
  charts.strips = (table) => {
    if (!table.rows.length) return null;
    const by_letter = new Map(ids.about.accounts.map((account) => [account.letter, account]));
    const strip = (row) => {
      const letters = table.cell(row, "letters"), pieces = [];
      for (let from = 0, to; from < letters.length; from = to) {
        for (to = from + 1; letters[to] === letters[from];) to++;
        const account = by_letter.get(letters[from]);
        if (account) pieces.push(svg("rect", { x: from, width: to - from, height: 1, style: { fill: ids.colour(account.id) } },
                                     svg("title", {}, account.title)));
      }
      return h("li", {}, h("bdi", { class: "label" }, table.text(row, "device").replace(/^.*\//, "")),
        svg("svg", { class: "strip", viewBox: `0 0 ${letters.length} 1`, preserveAspectRatio: "none", role: "img",
                     "aria-label": `${table.text(row, "device")} over time` }, pieces));
    };
    const first = table.rows[0];
    return h("figure", {}, h("figcaption", {}, h("strong", {}, "over time"),
      ` ${table.text(first, "duration")} in 240 parts, each in the colour of what most of it was.`),
      h("ul", { class: "bars" }, table.rows.slice(0, DEVICES).map(strip)), moreDevices(table));
  };

  /* Steps across, ranks down: how much of a step each rank works, and beside it how much it waits for others. */
  charts.ranks = (table, choose) => {
    if (!table.rows.length) return null;
    const cell = (row, id) => table.cell(row, id);
    const devices = [...new Set(table.rows.map((row) => cell(row, "device")))];
    const parts = [...new Set(table.rows.map((row) => cell(row, "step")))];
    const line = h("p", { class: "soft", "aria-live": "polite" }, "Point at a cell; a click zooms the timeline to its step.");
    const map = (id, title, account) => {
      const at = (row) => [parts.indexOf(cell(row, "step")), devices.indexOf(cell(row, "device"))];
      const share = (row) => Math.max(0, Math.min(1, Number(cell(row, id)) / Number(cell(row, "time")) || 0));
      const most = Math.max(...table.rows.map(share));
      const words = (row) => `step ${table.text(row, "step")}${Number(cell(row, "steps")) > 1 ? ` and ${cell(row, "steps") - 1} more` : ""}, ${
        cell(row, "device")}: ${title} ${table.text(row, id)} of ${table.text(row, "time")}`;
      const board = h("canvas", { width: parts.length, height: devices.length, role: "img",
        "aria-label": `${title}: ${devices.length} ranks by ${parts.length} parts of the run` });
      const paint = () => {
        const pen = board.getContext("2d"), style = getComputedStyle(board);
        pen.clearRect(0, 0, parts.length, devices.length);
        pen.fillStyle = style.getPropertyValue(ids.variable(account)) || "#888888";
        for (const row of table.rows) {
          pen.globalAlpha = 0.04 + 0.96 * share(row) / (most || 1);
          pen.fillRect(...at(row), 1, 1);
        }
      };
      const rowAt = (event) => {
        const step = parts[Math.floor(event.offsetX / board.clientWidth * parts.length)];
        const device = devices[Math.floor(event.offsetY / board.clientHeight * devices.length)];
        return table.rows.find((row) => cell(row, "step") === step && cell(row, "device") === device);
      };
      board.addEventListener("pointermove", (event) => rowAt(event) && (line.textContent = words(rowAt(event))));
      board.addEventListener("click", (event) => rowAt(event) && choose(cell(rowAt(event), "step")));
      for (const change of [matchMedia("(prefers-color-scheme: dark)"), matchMedia("print")]) change.addEventListener("change", paint);
      board.style.height = Math.max(40, Math.min(400, devices.length * 18)) + "px";
      requestAnimationFrame(paint);
      return h("div", {}, h("p", {}, ids.swatch(account), title, h("span", { class: "soft" }, ` - full colour: ${ids.format(most, "ratio")} of a step`)), board);
    };
    const shown = devices.length > 6 ? `${devices[0]} to ${devices.at(-1)}` : devices.join(", ");
    return h("figure", { class: "ranks" }, h("figcaption", {}, h("strong", {}, "ranks by step"),
      " steps across, ranks down (", h("bdi", {}, shown), "): the fuller the colour, the more of the step."),
      map("work", "work", "work.compute"), map("wait", "waiting for others", "comm.wait"), line);
  };

  /* ---- points ---- */

  const POINTS = 1000;

  /* Circles on two axes; the largest are drawn first, so that none hides another. */
  function points(title, words, list, axes, more) {
    const kept = list.sort((a, b) => b.size - a.size).slice(0, POINTS);
    if (kept.length < 2) return null;
    const biggest = kept[0].size || 1;
    const draw = (width, height) => {
      const { x, y } = axes(width, height, kept);
      return canvas(width, height, title, xAxis(height, x.ticks, x.at, x.unit), yAxis(width, y.ticks, y.at, y.unit),
        svg("text", { class: "tick", x: width - RIGHT, y: height - BOTTOM - 4, "text-anchor": "end" }, x.title),
        svg("text", { class: "tick", x: LEFT + 4, y: TOP + 8 }, y.title), more ? more(x, y) : null,
        kept.map((point) => svg("circle", { class: "point", cx: x.at(point.x), cy: y.at(point.y),
          r: 3 + 12 * Math.sqrt(point.size / biggest), style: { fill: ids.colour(point.account) } },
          svg("title", {}, point.words))));
    };
    const rest = list.length - kept.length;
    return plot(title, words + (rest > 0 ? ` ${rest} smaller ones are not drawn.` : ""), draw, 260);
  }
  const CLASSES = { compute: "work.compute", collective: "comm.transfer", copy: "copy.d2d", memset: "copy.set" };
  const accountOf = (table, row) => CLASSES[table.cell(row, "class")] || "work.compute";
  const spread = (list, key) => {
    const values = list.map((point) => point[key]);
    return [Math.min(...values) / 1.5, Math.max(...values) * 1.5];
  };

  charts.kernels = (table) => {
    const at = (id, row) => table.cell(row, id);
    const list = table.rows.filter((row) => at("occupancy", row) !== null && at("mean", row) > 0).map((row) => ({
      x: at("mean", row), y: at("occupancy", row), size: at("total", row), account: accountOf(table, row),
      words: `${at("name", row)}\n${table.text(row, "mean")}, occupancy ${table.text(row, "occupancy")}, ${
        table.text(row, "total")} in all` }));
    const axes = (width, height, kept) => {
      const [from, to] = spread(kept, "x");
      return { x: { at: logScale(from, to, LEFT, width - RIGHT), ticks: decades(from, to), unit: "s", title: "mean duration" },
               y: { at: (v) => height - BOTTOM - v * (height - BOTTOM - TOP), ticks: [0, 0.25, 0.5, 0.75, 1], unit: "ratio",
                    title: "occupancy" } };
    };
    return points("kernels", "by mean duration and occupancy; the area is their time in all.", list, axes);
  };

  charts.roofline = (table) => {
    const at = (id, row) => table.cell(row, id);
    const list = table.rows.filter((row) => at("intensity", row) > 0 && at("flop_rate", row) > 0).map((row) => ({
      x: at("intensity", row), y: at("flop_rate", row), size: at("self", row), account: accountOf(table, row),
      words: `${at("name", row)}\n${table.text(row, "flop_rate")}, ${table.text(row, "bandwidth")}, ${
        table.text(row, "self")}` }));
    /* The peaks that the report's shares are of; of several kinds of numbers the highest. */
    const peak = (rate, share) => Math.max(0, ...table.rows.filter((row) => at(share, row) > 0).slice(0, POINTS)
      .map((row) => at(rate, row) / at(share, row)));
    const bandwidth = peak("bandwidth", "bandwidth_share"), flops = peak("flop_rate", "flops_share");
    const axes = (width, height, kept) => {
      const [from, to] = spread(kept, "x"), [low, high] = spread(kept, "y");
      const top = Math.max(high, flops ? flops * 1.5 : bandwidth ? Math.min(bandwidth * to, high * 30) : 0);
      return { x: { at: logScale(from, to, LEFT, width - RIGHT), ticks: decades(from, to), unit: "number", from, to,
                    title: "operations a byte" },
               y: { at: logScale(low, top, height - BOTTOM, TOP), ticks: decades(low, top), unit: "flop/s", title: "" } };
    };
    const roof = (x, y) => {
      if (!bandwidth) return null;
      const limit = (v) => Math.min(flops || Infinity, v * bandwidth);
      const knee = flops ? Math.min(x.to, Math.max(x.from, flops / bandwidth)) : x.to;
      const d = [x.from, knee, x.to].map((v) => `${x.at(v).toFixed(1)} ${Math.max(TOP, y.at(limit(v))).toFixed(1)}`).join("L");
      return svg("path", { class: "roof", d: "M" + d });
    };
    return points("roofline", `of ops: what they compute a second by operations a byte; the area is their time.${
      bandwidth ? " The line is the peak that the shares in the table are of." : " The device's peaks are not known."}`, list, axes, roof);
  };

  /* ---- trees ---- */

  /* Rows of boxes, each as wide as its share of what it is in; a click makes it as wide as all. Buttons, so that the
   * keyboard reaches them; what is narrower than a hair is left to the table. */
  const HAIR = 0.002;
  const HUES = ["work.compute", "copy.d2h", "comm.wait", "host.region", "stall.device", "host.sync", "copy.set"];

  charts.icicle = (title, words, root, unit) => {
    if (!root.children.length) return null;
    const box = h("div", { class: "icicle", role: "group", "aria-label": title });
    let seen = root, search = "";
    const is_found = (node) => search !== "" && node.name.toLowerCase().includes(search);
    const draw = (top, has_focus) => {
      const rows = [], path = [], buttons = new Map();
      seen = top;
      for (let node = top; node; node = node.parent) path.unshift(node);
      /* Branches have a hue each, from where there is more than one. */
      const put = (node, level, from, width, hue, parted) => {
        if (width < HAIR) return;
        const about = `${node.name}: ${ids.format(node.value, unit)}, ${ids.format(node.value / (root.value || 1), "ratio")}`;
        const button = h("button", { type: "button", title: about, "aria-label": about, class: is_found(node) ? "found" : null,
          style: { left: percent(from), width: percent(width), "--hue": ids.colour(HUES[hue % HUES.length]) },
          onclick: () => draw(node === top && node.parent ? node.parent : node, true) },
          width > 0.03 ? h("bdi", {}, node.name) : null);
        buttons.set(node, button);
        (rows[level] ??= []).push(button);
        let at = from;
        node.children.forEach((child, i) => {
          const part = node.value > 0 ? width * child.value / node.value : 0;
          put(child, level + 1, at, part, parted ? hue : i, parted || node.children.length > 1);
          at += part;
        });
      };
      path.slice(0, -1).forEach((node, level) => {
        put({ ...node, children: [] }, level, 0, 1, 0, true);
        rows[level][0].addEventListener("click", () => draw(node, true));
      });
      put(top, path.length - 1, 0, 1, 0, false);
      box.replaceChildren(...rows.map((row) => h("div", { class: "level" }, row)));
      if (has_focus) buttons.get(top).focus({ preventScroll: true });
    };
    /* A call inside one that is found is of its time. */
    const found = (node) => (is_found(node) ? [1, node.value] : node.children.map(found).reduce(([n, sum], [m, more]) => [n + m, sum + more], [0, 0]));
    const say = h("span", { class: "soft", role: "status" });
    const input = h("input", { type: "search", placeholder: "search", "aria-label": "search " + title, oninput: () => {
      search = input.value.trim().toLowerCase();
      const [n, value] = search ? found(root) : [0, 0];
      say.textContent = search ? ` ${ids.format(n, "count")} found, ${ids.format(value, unit)}, ${ids.format(value / (root.value || 1), "ratio")}` : "";
      draw(seen, false);
    } });
    draw(root, false);
    ids.rove(box, "button");
    return h("figure", {}, h("figcaption", {}, h("strong", {}, title), ` ${words} `, h("span", { class: "tools" }, input, say)), box);
  };

  /* Rows behind the one that they are in, by `depth`. */
  const treeOf = (table, column) => {
    const root = { name: "all", value: 0, children: [], parent: null }, path = [root];
    for (const row of table.rows) {
      const level = Math.max(0, Math.min(path.length - 1, Number(table.cell(row, "depth")) || 0));
      path.length = level + 1;
      const node = { name: table.cell(row, column) || "(none)", value: Number(table.cell(row, "total")) || 0, children: [],
                     parent: path[level] };
      node.parent.children.push(node);
      path.push(node);
    }
    root.value = root.children.reduce((sum, child) => sum + child.value, 0);
    return root;
  };

  charts.layers = (table) => charts.icicle("layers", "by time; a click makes one as wide as all.", treeOf(table, "scope"), "s");

  charts.calls = (table) => charts.icicle("flame graph", "of sampled stacks: threads on top, what they called below them, as " +
    "wide as their time; a click makes one as wide as all. What is narrower than a hair is in the table.", treeOf(table, "call"), "s");

  /* Frames are written innermost first: "one (a.py:3) < main (a.py:9)". */
  charts.stacks = (table) => {
    const root = { name: "all", value: 0, children: [], parent: null };
    for (const row of table.rows) {
      const bytes = Number(table.cell(row, "bytes")) || 0, stack = table.cell(row, "stack");
      let node = root;
      root.value += bytes;
      for (const name of stack ? stack.split(" < ").reverse() : ["no stack"]) {
        let next = node.children.find((child) => child.name === name);
        if (!next) node.children.push((next = { name, value: 0, children: [], parent: node }));
        next.value += bytes;
        node = next;
      }
    }
    return charts.icicle("what lives, by stack", "outermost call first; a click makes one as wide as all.", root, "bytes");
  };

  /* ---- memory ---- */

  const LINES = 8;

  charts.memory = (table, live) => {
    const by = new Map();
    for (const row of table.rows) {
      const name = table.cell(row, "allocator");
      by.set(name, [...(by.get(name) || []), row]);
    }
    const all = [...by].slice(0, LINES);
    if (!all.length) return null;
    const from = Math.min(...numbers(table, "start"));
    const to = Math.max(...table.rows.map((row) => Number(table.cell(row, "start")) + Number(table.cell(row, "duration"))));
    const most = Math.max(...numbers(table, "most"));
    if (!(to > from) || !(most > 0)) return null;
    const hues = ["copy.h2d", "host.input", "work.compute", "comm.transfer", "stall.device", "host.sync", "copy.d2h", "host.compile"];
    const draw = (width, height) => {
      const x = (v) => LEFT + (v - from) / (to - from) * (width - LEFT - RIGHT);
      const y = (v) => height - BOTTOM - v / most * (height - BOTTOM - TOP);
      const lines = all.map(([name, rows], i) => {
        const edge = (id) => rows.map((row) => {
          const start = Number(table.cell(row, "start")), end = start + Number(table.cell(row, "duration"));
          const level = y(Number(table.cell(row, id))).toFixed(1);
          return [`${x(start).toFixed(1)} ${level}`, `${x(end).toFixed(1)} ${level}`];
        }).flat();
        const style = { "--hue": ids.colour(hues[i % hues.length]) };
        return [svg("path", { class: "range", style, d: `M${[...edge("most"), ...edge("least").reverse()].join("L")}z` },
                    svg("title", {}, name)),
                svg("path", { class: "line", style, d: `M${edge("most").join("L")}` }, svg("title", {}, name))];
      });
      const times = ticks(to - Math.max(0, from), 5).filter((v) => v >= from && v <= to);
      return canvas(width, height, "memory in use over time", yAxis(width, ticks(most, 4), y, "bytes"),
                    xAxis(height, times, x, "s"), lines);
    };
    const names = all.map(([name], i) => h("span", { class: "key" }, h("span", { class: "swatch", style: {
      background: ids.colour(hues[i % hues.length]) } }), h("bdi", {}, name)));
    const figure = plot("memory in use", "the line is the most in each part of the time, the area reaches down to the least.", draw);
    figure.append(h("p", { class: "keys" }, names,
                    by.size > LINES ? h("span", { class: "soft" }, `${by.size - LINES} more are not drawn`) : null));
    if (live?.rows.length) figure.append(h("p", { class: "soft" }, "At the peak live most: ", [...live.rows].sort((a, b) =>
      Number(live.cell(b, "bytes")) - Number(live.cell(a, "bytes"))).slice(0, 3).map((row, i) =>
      [i ? "; " : "", h("bdi", {}, live.text(row, "taken_by")), " ", live.text(row, "bytes")])));
    return figure;
  };

  /* ---- simple bars ---- */

  charts.bars = (title, words, list, unit) => {
    const most = Math.max(...list.map((entry) => entry.value));
    if (list.length < 2 || !(most > 0)) return null;
    return h("figure", {}, h("figcaption", {}, h("strong", {}, title), " " + words), h("ul", { class: "bars" },
      list.slice(0, 64).map((entry) => h("li", {}, h("bdi", { class: "label" }, entry.name),
        h("div", { class: "bar thin" }, h("span", { style: { width: percent(entry.value / most),
          background: ids.colour(entry.account) } })),
        h("span", { class: "soft" }, ids.format(entry.value, unit) + (entry.note || ""))))));
  };
  charts.gaps = (table) => charts.bars("idle time", "by length of the gap.", table.rows.map((row, i) => ({
    name: i === table.rows.length - 1 && table.cell(row, "below") === null ? "longer" : "below " + table.text(row, "below"),
    value: Number(table.cell(row, "total")), note: ` in ${table.text(row, "gaps")}`, account: "device.queue" })), "s");
  charts.balance = (table) => charts.bars("waits", "that each device causes the others.", table.rows.map((row) => ({
    name: table.text(row, "device").replace(/^.*\//, ""), value: Number(table.cell(row, "wait_caused")),
    note: `; it waits ${table.text(row, "wait_suffered")} itself`, account: "comm.wait" })), "s");
}
