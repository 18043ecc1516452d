"use strict";
/* Tables of the report: sorted by a click on a heading, searched, copied as CSV, shown in parts. A tree stays one when
 * it is sorted (siblings among themselves) and searched (with what a match is in). */
{
  const { h } = ids;
  const FIRST = 20, MORE = 500, LONG_TEXT = 90;

  /* A table of the JSON with what `about` says of it; cells by the id of their column. */
  class Table {
    constructor(id, table, about) {
      const columns = table.columns.map((column, at) => ({ ...column, ...about.columns[at], at }));
      Object.assign(this, { id, columns, rows: table.rows, left_out: table.rows_left_out || 0 });
      this.title = about.title || table.title;
      this.definition = about.definition;
      this.tree = about.tree;
      this.places = new Map(columns.map((column) => [column.id, column.at]));
    }
    has(id) {
      return this.places.has(id);
    }
    cell(row, id) {
      const at = this.places.get(id);
      return at === undefined ? null : row[at];
    }
    text(row, id) {
      return this.format(row, this.columns[this.places.get(id)]);
    }
    /* Where rows are figures of different units, a column says which. */
    format(row, column) {
      const unit = column.unit === "number" && column.id !== "ratio" && this.has("unit") ? this.cell(row, "unit") : column.unit;
      return ids.format(row[column.at], unit);
    }
    /* The column that says what a row is about. */
    get name() {
      return this.columns.find((column) => column.long) || this.columns.find((column) => !column.unit);
    }
  }

  /* The tables that a report has, by id. */
  ids.tables = (report, about) => {
    const tables = new Map();
    for (const section of about.sections) {
      for (const [id, words] of Object.entries(section.tables)) {
        if (report.tables[id]) tables.set(id, new Table(id, report.tables[id], words));
      }
    }
    return tables;
  };

  /* No value is less than any other; numbers that are texts in JSON (beyond 2^53) are compared as numbers. */
  function compare(column, a, b) {
    if (a === null || b === null) return (a === null) - (b === null);
    if (column.unit) return Number(b) - Number(a);
    return String(a).localeCompare(String(b), "en", { numeric: true });
  }

  /* Rows as a tree by their depth; a table that is none is a tree of one level. */
  function nodesOf(table) {
    const depth = table.tree ? table.places.get("depth") : undefined;
    const root = { children: [], level: 0 }, path = [root];
    for (const row of table.rows) {
      const level = depth === undefined ? 1 : Math.max(1, Math.min(path.length, Number(row[depth]) + 1));
      const node = { row, level, children: [], closed: false, parent: path[level - 1] };
      path.length = level;
      path.push(node);
      node.parent.children.push(node);
    }
    return root;
  }

  const csvCell = (value) => {
    const text = value === null ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };

  /* Puts a text on the clipboard, and says so on the button. */
  ids.copy = async (text, button) => {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = h("textarea", { readonly: true, class: "unseen" });
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
      button.focus();
    }
    const before = button.textContent;
    ids.say(done ? "copied" : "the browser allows no copying");
    button.textContent = done ? "copied" : "not allowed";
    setTimeout(() => (button.textContent = before), 1500);
  };

  const value = (table, row, column) => {
    if (row[column.at] === null) return h("span", { class: "none" }, "-");
    const text = table.format(row, column);
    if (!column.unit && text.length > LONG_TEXT)
      return h("span", { class: "long", title: text.length > 4000 ? text.slice(0, 4000) + "\u2026" : text },
               text.slice(0, LONG_TEXT / 2) + "\u2026" + text.slice(-LONG_TEXT / 2));
    return column.unit ? text : h("bdi", {}, text);
  };

  /* What is seen of a table, and how it answers. */
  class View {
    constructor(table, options) {
      this.table = table;
      this.options = options;
      this.root = nodesOf(table);
      this.all = false;
      this.room = options.first || FIRST;
      this.sorted = null;
      this.words = [];
      this.element = this.make();
      this.draw();
    }
    get columns() {
      const used = (column) => this.table.rows.some((row) => row[column.at] !== null && row[column.at] !== "");
      const first = this.options.columns; /* those that matter, in this order, where they are not the table's own */
      if (first && !this.all)
        return first.map((id) => this.table.columns[this.table.places.get(id)]).filter((column) => column && used(column));
      return this.table.columns.filter((column) => this.all || (!column.detail && used(column)));
    }
    make() {
      const { table } = this;
      this.head = h("thead");
      this.body = h("tbody");
      this.foot = h("div", { class: "foot" });
      this.grid = h("table", {}, h("caption", { class: "unseen" }, table.title), this.head, this.body);
      const scroller = ids.rove(h("div", { class: "scroller", role: "region", "aria-label": table.title }, this.grid), "button");
      const title = h("h3", {}, ids.term(table.title, table.definition));
      return h("div", { class: "table", "data-table": table.id }, ids.rove(h("div", { class: "over" }, title, this.tools()), ".term, button"),
               scroller, this.foot);
    }
    tools() {
      const { table } = this;
      this.search = h("input", { type: "search", placeholder: "search", "aria-label": "search " + table.title,
                                 oninput: () => this.find(this.search.value) });
      const copy = h("button", { type: "button", onclick: () => ids.copy(this.csv(), copy) }, "copy CSV");
      const every = h("button", { type: "button", "aria-pressed": "false", onclick: () => {
        this.all = !this.all;
        every.setAttribute("aria-pressed", String(this.all));
        this.draw();
      } }, "all columns");
      const detailed = this.options.columns || table.columns.some((column) => column.detail);
      return h("div", { class: "tools" }, table.rows.length > 5 ? this.search : null, detailed ? every : null,
               table.rows.length ? copy : null);
    }
    find(words) {
      this.words = words.toLowerCase().split(/\s+/).filter(Boolean);
      this.draw();
      ids.say(`${this.nodes().filter((node) => this.matches(node)).length} rows`);
    }
    matches(node) {
      node.searched ??= node.row.map((cell, at) =>
        cell === null ? "" : this.table.format(node.row, this.table.columns[at])).join("\n").toLowerCase();
      return this.words.every((word) => node.searched.includes(word));
    }
    /* The nodes to show, in order. */
    nodes() {
      const found = [];
      const walk = (node, is_open) => {
        for (const child of this.order(node.children)) {
          const at = found.length;
          found.push(child);
          walk(child, is_open && !child.closed);
          const wanted = this.words.length ? found.length > at + 1 || this.matches(child) : is_open;
          if (!wanted) found.length = at;
        }
      };
      walk(this.root, true);
      return found;
    }
    order(nodes) {
      if (!this.sorted) return nodes;
      const { column, turned } = this.sorted;
      const sign = turned ? -1 : 1;
      return [...nodes].sort((a, b) => {
        const [x, y] = [a.row[column.at], b.row[column.at]];
        return (x === null || y === null ? 1 : sign) * compare(column, x, y);
      });
    }
    sort(column) {
      const before = this.sorted;
      if (before && before.column.at === column.at) this.sorted = before.turned ? null : { column, turned: true };
      else this.sorted = { column, turned: false };
      this.draw();
      const button = this.head.querySelectorAll("button")[this.columns.findIndex((c) => c.at === column.at)];
      if (button) button.focus();
    }
    drawHead() {
      const heading = (column) => {
        const is_sorted = this.sorted && this.sorted.column.at === column.at;
        const falls = is_sorted && Boolean(column.unit) !== this.sorted.turned;
        const mark = is_sorted ? (falls ? " \u25be" : " \u25b4") : "";
        return h("th", { scope: "col", class: column.unit ? "number" : "name",
                         "aria-sort": is_sorted ? (falls ? "descending" : "ascending") : null },
                 h("button", { type: "button", title: column.id, onclick: () => this.sort(column) }, column.title + mark));
      };
      this.head.replaceChildren(h("tr", {}, this.columns.map(heading)));
    }
    /* In the column of the name stand what opens a branch, the account's colour, and what leads to the timeline. */
    nameCell(node, column) {
      const { table, options } = this;
      const account = column.id === "account" ? node.row[column.at] : null;
      const steps = table.tree ? { style: { "padding-left": `${(node.level - 1) * 1.1}em` } } : {};
      const toggle = node.children.length && table.tree ? h("button", {
        type: "button", class: "toggle", "aria-expanded": String(!node.closed), "aria-label": "branches",
        onclick: () => { node.closed = !node.closed; this.draw(); },
      }, node.closed ? "\u25b8" : "\u25be") : null;
      const at = options.intervals && column === this.link ? options.intervals(table, node.row) : null;
      const show = at && at.length ? h("button", { type: "button", class: "show", title: "show on the timeline",
        "aria-label": "show on the timeline", onclick: () => ids.show(at, this.label(node.row)) }, "\u25c9") : null;
      return h("span", steps, toggle, account ? ids.swatch(account) : null, value(table, node.row, column), show);
    }
    label(row) {
      const { name } = this.table;
      return `${this.table.title}: ${name ? ids.format(row[name.at], name.unit) : ""}`;
    }
    drawRow(node) {
      const { columns, table } = this;
      const cells = columns.map((column) => {
        const is_name = column === this.link || column.id === "account" || (table.tree && column.id === table.name.id);
        return h("td", { class: column.unit ? "number" : "name" },
                 is_name ? this.nameCell(node, column) : value(table, node.row, column));
      });
      return h("tr", { "data-account": node.row[table.places.get("account")] ?? null,
                       class: this.options.grade ? this.options.grade(table, node.row) : null }, cells);
    }
    draw() {
      const nodes = this.nodes(), shown = nodes.slice(0, this.room), { table } = this;
      this.link = this.columns.find((column) => !column.unit) || this.columns[0];
      this.drawHead();
      this.body.replaceChildren(...shown.map((node) => this.drawRow(node)));
      const words = [];
      if (!table.rows.length) words.push("no rows");
      else if (this.words.length) words.push(`${ids.format(nodes.length, "count")} of ${ids.format(table.rows.length, "count")} rows`);
      if (table.left_out) words.push(`${ids.format(table.left_out, "count")} more were not kept`);
      const rest = nodes.length - shown.length;
      const more = rest > 0 ? h("button", { type: "button", onclick: () => {
        this.room += MORE;
        this.draw();
      } }, `${ids.format(Math.min(rest, MORE), "count")} more of ${ids.format(nodes.length, "count")}`) : null;
      this.foot.replaceChildren(words.join("; "), more ?? "");
    }
    csv() {
      const { columns } = this.table;
      const lines = [columns.map((column) => csvCell(column.id)).join(",")];
      for (const node of this.nodes()) lines.push(node.row.map(csvCell).join(","));
      return lines.join("\r\n") + "\r\n";
    }
  }

  ids.view = (table, options = {}) => new View(table, options);
}
