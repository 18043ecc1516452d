"use strict";
/* What every part of the page uses: elements, values as people read them, blocks of data. Names of a profile get into
 * the document as text nodes and nothing else. */
const ids = {};

/* An element. Attributes that are functions listen ("onclick"); null and false are left out; children are elements,
 * texts, or lists of both. */
ids.h = (tag, attributes, ...children) => ids.fill(document.createElement(tag), attributes, children);
ids.svg = (tag, attributes, ...children) =>
  ids.fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
ids.fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, part] of Object.entries(value)) element.style.setProperty(key, part);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined));
  return element;
};

/* The data of a block (packed.h), null when the page has no such block. */
ids.block = async (id) => {
  const element = document.getElementById(id);
  if (!element) return null;
  const letters = atob(element.textContent);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  element.textContent = ""; /* both would take memory */
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
};

/* ---- values, as lib/report/value.c writes them ---- */

const TIME_SCALES = [[1e12, " s"], [1e9, " ms"], [1e6, " us"], [1e3, " ns"], [1, " ps"]];
const BYTE_SCALES = [[1e15, " PB"], [1e12, " TB"], [1e9, " GB"], [1e6, " MB"], [1e3, " kB"], [1, " B"]];
const FLOPS = ["FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s", "EFLOP/s"];

/* toFixed rounds halves up, printf to even digits. */
function fixed(value, places) {
  const text = value.toFixed(places), exact = value.toFixed(Math.min(100, places + 60));
  const cut = exact.length - Math.min(100, places + 60) + places;
  const is_half = /^50*$/.test(places ? exact.slice(cut) : exact.slice(cut + 1));
  return is_half && text[text.length - 1] % 2 ? (places ? exact.slice(0, cut) : String(Math.floor(value))) : text;
}
const grouped = (whole) => String(whole).replace(/\B(?=(\d{3})+$)/g, ",");
const placesFor = (whole) => (whole >= 1000 ? 0 : whole >= 100 ? 1 : whole >= 10 ? 2 : 3);

function scaled(value, scales) {
  let at = 0;
  while (at < scales.length - 1 && value < scales[at][0]) at++;
  const unit = scales[at][0], rest = value % unit;
  let whole = Math.floor(value / unit), places = placesFor(whole), step = 10 ** places;
  if (unit < step) [places, step] = [0, 1];
  let rounded = Math.floor((rest * step + unit / 2) / unit);
  if (rounded === step) {
    whole++;
    rounded = 0;
    if (at && whole === 1000) return scaled(scales[at - 1][0], scales);
    if (places && placesFor(whole) < places) places--;
  }
  return grouped(whole) + (places ? "." + String(rounded).padStart(places, "0") : "") + scales[at][1];
}

const FORMATS = {
  s: (value) => {
    const ps = Math.round(value * 1e12);
    if (!ps) return "0 s";
    return ps < 1e6 && ps % 1000 === 0 ? ps / 1000 + " ns" : scaled(ps, TIME_SCALES);
  },
  bytes: (value) => scaled(value, BYTE_SCALES).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " "),
  count: (value) => grouped(value),
  ratio: (value) => {
    const percent = value * 100;
    if (value > 0 && percent < 0.05) return "<0.1 %";
    return value < 1 && percent >= 99.95 ? ">99.9 %" : fixed(percent, 1) + " %";
  },
  "bytes/s": (value) => {
    let at = 0;
    while (at < BYTE_SCALES.length - 1 && value < BYTE_SCALES[at][0]) at++;
    const number = value / BYTE_SCALES[at][0];
    const places = at === BYTE_SCALES.length - 1 || number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
    return fixed(number, places) + BYTE_SCALES[at][1] + "/s";
  },
  "flop/s": (value) => {
    let at = 0;
    for (; at < FLOPS.length - 1 && value >= 999.5; at++) value /= 1000;
    return fixed(value, !at || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2) + " " + FLOPS[at];
  },
  number: (value) => {
    const [digits, exponent] = value.toExponential(3).split("e");
    if (value && (exponent < -4 || exponent >= 4))
      return `${Number(digits)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
    return String(Number(fixed(value, 3 - exponent)));
  },
  truth: (value) => (value ? "yes" : "no"),
};

/* A value of the report's JSON as people read it. Integers beyond 2^53 are texts there. */
ids.format = (value, unit) => {
  if (value === null || value === undefined) return "no data";
  const write = FORMATS[unit];
  if (!write) return String(value);
  const number = Number(value);
  return (number < 0 ? "-" : "") + write(Math.abs(number));
};

/* ---- colours ---- */

/* A variable of CSS for each account (--work-compute), by the colours of `about`: light, dark, and light in print. */
ids.addColours = (accounts) => {
  const rules = (which) => ":root{" + accounts.map((a) => `${ids.variable(a.id)}:${a[which]}`).join(";") + "}";
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`${rules("light")} @media screen and (prefers-color-scheme:dark){${rules("dark")}}`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
};
ids.variable = (account) => "--" + account.replace(/[^a-z0-9]/g, "-");
ids.colour = (account) => `var(${ids.variable(account)}, var(--faint))`;
ids.swatch = (account) =>
  ids.h("span", { class: "swatch", "aria-hidden": "true", style: { background: ids.colour(account) } });

/* ---- words about words ---- */

/* A word with its definition in a tooltip, which the keyboard opens too. */
ids.term = (word, definition) => {
  if (!definition) return document.createTextNode(word);
  return ids.h("span", { class: "term", tabindex: "0", "data-definition": definition }, word);
};

/* One tooltip for the page; it follows what the pointer is on or what has the focus. */
ids.addTooltip = () => {
  const tip = ids.h("div", { id: "tip", role: "tooltip", hidden: true });
  let target = null;
  const hide = () => {
    if (target) target.removeAttribute("aria-describedby");
    target = null;
    tip.hidden = true;
  };
  const place = () => {
    if (!target) return;
    const at = target.getBoundingClientRect(), room = document.documentElement.clientWidth;
    const left = Math.max(8, Math.min(at.left, room - tip.offsetWidth - 8));
    const below = at.bottom + tip.offsetHeight + 12 < window.innerHeight;
    tip.style.left = left + "px";
    tip.style.top = (below ? at.bottom + 6 : Math.max(4, at.top - tip.offsetHeight - 6)) + "px";
  };
  const show = (element) => {
    hide();
    target = element;
    tip.textContent = element.dataset.definition;
    tip.hidden = false;
    element.setAttribute("aria-describedby", "tip");
    place();
  };
  const owner = (event) => (event.target.closest ? event.target.closest("[data-definition]") : null);
  document.body.append(tip);
  document.addEventListener("pointerover", (event) => (owner(event) ? show(owner(event)) : hide()));
  document.addEventListener("focusin", (event) => (owner(event) ? show(owner(event)) : hide()));
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", place, { passive: true, capture: true });
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
};

/* Of many things that can be chosen one is a stop of the Tab key, the one that had the focus last; arrows lead to the
 * others: left and right to the one before and behind, up and down to the nearest there. */
ids.rove = (box, what) => {
  let current = null;
  const items = () => [...box.querySelectorAll(what)];
  const renew = () => {
    const all = items();
    if (!all.includes(current)) current = all[0] || null;
    all.forEach((one) => (one.tabIndex = one === current ? 0 : -1));
  };
  const nearest = (all, from, down) => {
    const place = (one) => one.getBoundingClientRect(), at = place(from);
    const away = (one) => {
      const to = place(one), rows = down ? to.top - at.bottom : at.top - to.bottom;
      return rows < -2 ? Infinity : rows * 100 + Math.max(0, to.left - at.right, at.left - to.right) + Math.abs(to.left - at.left) / 1e3;
    };
    const found = all.map((one) => [away(one), one]).reduce((a, b) => (b[0] < a[0] ? b : a), [Infinity, null]);
    return found[1];
  };
  box.addEventListener("focusin", (event) => {
    const one = event.target.closest(what);
    if (!one || one === current || !box.contains(one)) return;
    if (current) current.tabIndex = -1;
    current = one;
    one.tabIndex = 0;
  });
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !event.target.matches(what)) return;
    const all = items(), at = all.indexOf(event.target);
    const to = { ArrowLeft: () => all[at - 1], ArrowRight: () => all[at + 1], ArrowUp: () => nearest(all, event.target, false),
      ArrowDown: () => nearest(all, event.target, true), Home: () => all[0], End: () => all[all.length - 1] }[event.key];
    if (!to) return;
    event.preventDefault();
    const next = to();
    if (next) next.focus();
  });
  new MutationObserver(renew).observe(box, { childList: true, subtree: true });
  renew();
  return box;
};

/* Says something to who cannot see what changed. */
ids.say = (text) => {
  ids.live ??= document.body.appendChild(ids.h("div", { class: "unseen", "aria-live": "polite" }));
  ids.live.textContent = text;
};
