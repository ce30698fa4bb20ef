// Defines the data, state, number formats and helpers that the page's other
// scripts share. All texts are set as text, never as HTML, because names come
// from untrusted models.

const data = JSON.parse(document.getElementById("report-data").textContent);
const byId = (id) => document.getElementById(id);

// The state of the page: `side` is the index of the session that is shown,
// `node` or `site` the selected node of its graph or row of its table of sites.
// Null: nothing is selected.
const state = {side: 0, node: null, site: null, matches: new Set(), found: [], match: -1};
const side = () => data.sides[state.side];

// For each kind of change, the functions that the page's sections want to be
// called.
const listeners = {side: [], selection: [], search: [], theme: []};
const notify = (what) => listeners[what].forEach((listener) => listener());

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") made.className = value;
    else if (key === "text") made.textContent = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

// Functions that format numbers, each for a certain unit.
const digits = (value, count = 3) => {
  if (value === null || value === undefined || !isFinite(value)) return "–";
  if (value === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(value)));
  return value.toLocaleString("en", {
    maximumFractionDigits: Math.max(0, Math.min(6, count - 1 - magnitude)),
  });
};
const scaled = (value, units) => {
  let i = 0;
  while (i + 1 < units.length && Math.abs(value) >= 999.5) {
    value /= 1000;
    ++i;
  }
  return `${digits(value)} ${units[i]}`;
};
const micros = (value) => scaled(value, ["µs", "ms", "s"]);
const bytes = (value) => scaled(value, ["B", "kB", "MB", "GB"]);
const flop = (value) => scaled(value, ["FLOP", "kFLOP", "MFLOP", "GFLOP"]);
const percent = (share) => `${digits(100 * share, share < 0.1 ? 2 : 3)} %`;
const counted = (count, word) =>
  `${count.toLocaleString("en")} ${word}${count === 1 ? "" : word.endsWith("tch") ? "es" : "s"}`;
const clipped = (text, most) => {
  const letters = Array.from(text);
  return letters.length <= most ? text : letters.slice(0, most - 1).join("") + "…";
};
const median = (values) => d3.quantile(values, 0.5);

// For each side: its total time, which several sections show.
const totals = new WeakMap();
const totalTime = (s) => {
  if (!totals.has(s)) totals.set(s, d3.sum(s.sites, (site) => site.total));
  return totals.get(s);
};
const shareOf = (site) => site.total / (totalTime(side()) || 1);
const laterRuns = (s) => (s.runs.length > s.warm_up_runs ? s.runs.slice(s.warm_up_runs) : s.runs);
const runTime = (s) => median(laterRuns(s).map((run) => run[1] - run[0]));

// --- texts that are packed (zlib in base64)

async function unpacked(text) {
  const raw = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// --- the tip beside the pointer

function showTip(event, text) {
  const tip = byId("tip");
  tip.textContent = text;
  tip.hidden = false;
  const {width, height} = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8))}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - height - 8))}px`;
}
const hideTip = () => (byId("tip").hidden = true);
const withTip = (selection, textOf) => selection
  .on("pointermove", (event, d) => showTip(event, textOf(d)))
  .on("pointerleave", hideTip);

function siteTip(site) {
  const lines = [site.dispatch, site.origin, site.computes,
    `${micros(site.median)} (median of ${counted(site.calls, "call")}), ${percent(shareOf(site))} of all time`,
    `tier ${site.tier}`];
  if (site.roof !== undefined) {
    lines.push(`${percent(site.roof / site.median)} of the roofline (${site.bound})`);
  }
  return lines.filter((line) => line).join("\n");
}

// --- selection and search

const nodeOfSite = (site) => side().nodes.findIndex((node) => node.site === site);

function selectSite(site) {
  state.site = site;
  const node = nodeOfSite(site);
  state.node = node < 0 ? null : node;
  notify("selection");
}

function selectNode(node) {
  state.node = node;
  const site = node === null ? undefined : side().nodes[node].site;
  state.site = site === undefined ? null : site;
  notify("selection");
}

// Returns the text in which the search looks: for a node, or (with null as
// node) for a dispatch that is not in the graph.
const searchedText = (node, site) =>
  [node?.name, node?.type, node?.origin, site?.dispatch, site?.origin, site?.computes, site?.program, site?.tier && `tier ${site.tier}`]
    .filter((text) => text).join(" ").toLowerCase();

// Searches. Sets state.matches to the matching nodes, and state.found to all
// matches: the nodes, and dispatches inside of loops and branches, which have
// no node.
function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word);
  const isMatch = (searched) => words.length > 0 && words.every((word) => searched.includes(word));
  const s = side(), found = [], inGraph = new Set(s.nodes.map((node) => node.site));
  s.nodes.forEach((node, i) => {
    if (isMatch(searchedText(node, s.sites[node.site]))) found.push({node: i});
  });
  s.sites.forEach((site, i) => {
    if (!inGraph.has(i) && isMatch(searchedText(null, site))) found.push({site: i});
  });
  state.found = found;
  state.matches = new Set(found.map((match) => match.node).filter((node) => node !== undefined));
  state.match = -1;
  byId("matches").textContent = words.length === 0 ? "" : counted(found.length, "match");
  notify("search");
}

function goToMatch(step) {
  const {found} = state;
  if (found.length === 0) return;
  state.match = (state.match + step + found.length + (state.match < 0 && step < 0 ? 1 : 0)) % found.length;
  byId("matches").textContent = `${state.match + 1} of ${found.length}`;
  const {node, site} = found[state.match];
  if (node !== undefined) selectNode(node); else selectSite(site);
}
