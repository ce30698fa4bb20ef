// Draws the tiles with totals, the details of a dispatch, the tables and the
// comparison of two sides.

// Makes a table that can be sorted by its columns. A column is {head, title,
// value, text, kind}: `value` returns what is sorted by, `text` what is shown
// (default: the value).
function sortableTable(holder, columns, rows, {onRow, isSelected, first} = {}) {
  const sort = {column: first ?? -1, isUp: false};
  const table = element("table"), head = element("tr"), body = element("tbody");
  const kindOf = (column) => column.kind ?? "";
  columns.forEach((column, i) => {
    const button = element("button", {type: "button", title: column.title ?? `Sort by ${column.head}`, text: column.head,
      onclick: () => {
        sort.isUp = sort.column === i ? !sort.isUp : kindOf(column) !== "number";
        sort.column = i;
        fill();
      }});
    head.append(element("th", {class: kindOf(column), scope: "col"}, button));
  });
  const fill = () => {
    const sorted = [...rows];
    if (sort.column >= 0) {
      const {value} = columns[sort.column];
      sorted.sort((a, b) => (sort.isUp ? d3.ascending : d3.descending)(value(a), value(b)));
    }
    [...head.children].forEach((cell, i) =>
      cell.setAttribute("aria-sort", i !== sort.column ? "none" : sort.isUp ? "ascending" : "descending"));
    [...head.children].forEach((cell, i) => (cell.firstChild.textContent =
      columns[i].head + (i !== sort.column ? "" : sort.isUp ? " ▲" : " ▼")));
    body.replaceChildren(...sorted.map((row) => {
      const line = element("tr", onRow ? {class: "clickable", onclick: () => onRow(row)} : {});
      line.row = row;
      for (const column of columns) {
        const text = column.text ? column.text(row) : column.value(row);
        const mark = column.mark ? ` ${column.mark(row)}` : "";
        line.append(element("td", {class: kindOf(column) + mark, text: text ?? "–"}));
      }
      return line;
    }));
    mark();
  };
  const mark = () => {
    if (!isSelected) return;
    for (const line of body.children) line.classList.toggle("selected", isSelected(line.row));
  };
  table.append(element("thead", {}, head), body);
  holder.replaceChildren(table);
  fill();
  return {mark};
}

// --- overview

function showOverview() {
  const s = side();
  document.title = `vm-report: ${data.sides.map((each) => each.model).join(" and ")}`;
  byId("title").textContent = s.model;
  byId("subtitle").textContent = [`tier ${s.tier}`, s.device, counted(s.threads, "thread"), s.inputs && `inputs ${s.inputs}`]
    .filter((text) => text).join(" · ");
  const tiles = [];
  const tile = (text, value, note) => tiles.push(element("div", {class: "tile"},
    element("span", {text}), element("b", {text: value}), element("span", {text: note})));
  const later = laterRuns(s);
  const [low, high] = d3.extent(later, (run) => run[1] - run[0]);
  if (s.runs.length > 1) tile("a run (median)", micros(runTime(s)), `${micros(low)} to ${micros(high)} in ${counted(later.length, "run")}`);
  tile("the first run", micros(s.runs[0][1] - s.runs[0][0]), s.kernels.some((k) => k.begin < s.runs[0][1]) ? "kernels were made in it" : "no kernel was made in it");
  if (s.load) tile("loading", micros(s.load.end - s.load.begin), s.load.compiled ? "with import and compilation" : "a compiled module");
  const inKernels = d3.sum(s.sites.filter((site) => !site.tier.startsWith("0")), (site) => site.total) / (totalTime(s) || 1);
  tile("dispatches that ran", s.sites.length.toLocaleString("en"), `${percent(inKernels)} of their time in kernels`);
  const made = s.kernels.filter((k) => !k.declined);
  tile("kernels made", made.length.toLocaleString("en"), `${micros(1000 * d3.sum(s.kernels, (k) => d3.sum(k.ms)))} of work, ${s.kernels.length - made.length} declined`);
  if (s.limits) {
    const calls = d3.sum(s.sites, (site) => site.roof * site.calls);
    tile("of the roofline", percent(calls / (totalTime(s) || 1)), "least time of this machine by time taken");
  }
  tile("arithmetic", flop(d3.sum(s.sites, (site) => site.operations)), "all dispatches once");
  tile("memory", bytes(s.runs.at(-1)[4]), `arena ${bytes(s.arena_bytes)}, constants ${bytes(s.constant_bytes)}`);
  byId("tiles").replaceChildren(...tiles);
}

// --- details of the selected node

const kTexts = [["expression", "Expression"], ["schedule", "Schedule"], ["nest", "Loop nest"], ["code", "Assembly"]];
let shownText = "expression", detailsTicket = 0;

async function showDetails() {
  const holder = byId("details"), s = side(), ticket = ++detailsTicket;
  const site = state.site === null ? null : s.sites[state.site];
  const node = state.node === null ? null : s.nodes[state.node];
  if (site === null && node === null) {
    holder.replaceChildren(element("p", {class: "note",
      text: "Select a dispatch to see its expression, schedule, loop nest and assembly."}));
    return;
  }
  const parts = [element("h3", {text: site ? site.dispatch : node.name})];
  const list = element("dl");
  const fact = (name, value) => {
    if (value !== undefined && value !== null && value !== "") list.append(element("dt", {text: name}), element("dd", {text: value}));
  };
  if (node) fact("kind", {input: "input", dispatch: "dispatch", call: "library call or program", result: "result"}[node.kind]);
  if (node) fact("type", node.type);
  if (site) {
    fact("computes", site.computes);
    fact("nodes", site.origin);
    fact("time", `${micros(site.median)} median, first call ${micros(site.first)}, ${percent(shareOf(site))} of all`);
    fact("calls", `${site.calls} (tiers 0, 1, 2: ${site.tiers.join(", ")})`);
    fact("tier", site.tier);
    if (site.roof !== undefined) fact("roofline", `${micros(site.roof)} at least, bound by ${site.bound}: ${percent(site.roof / site.median)}`);
    fact("work", `${flop(site.operations)}, ${bytes(site.bytes)} of operands`);
    if (node === null) fact("program", `${site.program}, which is not in the graph`);
    fact("parameters", site.parameters.join(", "));
    fact("how", site.plan);
  } else if (node.kind === "dispatch") {
    parts.push(element("p", {class: "note", text: "This dispatch did not run, or its work cannot be counted."}));
  }
  parts.push(list);
  holder.replaceChildren(...parts);
  if (site) await showTexts(holder, s, site, ticket);
}

async function showTexts(holder, s, site, ticket) {
  const texts = site.text === undefined ? {} : await unpacked(s.texts[site.text]);
  if (site.code !== undefined) texts.code = await unpacked(s.code[site.code]);
  // While the texts were unpacked, the user may have selected something else,
  // so nothing is shown then.
  if (ticket !== detailsTicket) return;
  const present = kTexts.filter(([key]) => texts[key]);
  const pre = element("pre", {tabindex: "0"}), buttons = element("div", {class: "texts", role: "group", "aria-label": "Texts"});
  if (texts.reasons?.length) holder.append(element("p", {class: "note", text: `There is no kernel: ${texts.reasons.join("; ")}`}));
  if (present.length === 0) {
    holder.append(element("p", {class: "note", text: "The page has no texts of this dispatch: it keeps those of the dispatches that take the most time. vm-dump --part=dispatches and vm-run --dump-kernels print them."}));
    return;
  }
  const show = (key) => {
    shownText = key;
    pre.textContent = texts[key];
    for (const button of buttons.children) button.setAttribute("aria-pressed", String(button.dataset.key === key));
  };
  for (const [key, name] of present) {
    buttons.append(element("button", {type: "button", text: name, "data-key": key, onclick: () => show(key)}));
  }
  holder.append(buttons, pre);
  show(present.some(([key]) => key === shownText) ? shownText : present[0][0]);
}

// --- tables

let dispatchTable = null;

function showDispatches() {
  const s = side();
  const columns = [
    {head: "share", kind: "number", title: "Share of the time of all calls", value: (r) => r.total, text: (r) => percent(shareOf(r))},
    {head: "median", kind: "number", value: (r) => r.median, text: (r) => micros(r.median)},
    {head: "calls", kind: "number", value: (r) => r.calls},
    {head: "tier", kind: "word", value: (r) => r.tier},
    {head: "dispatch", kind: "wide", value: (r) => r.dispatch},
    {head: "computes", kind: "wide", value: (r) => r.computes},
    {head: "work", kind: "number", value: (r) => r.operations, text: (r) => flop(r.operations)},
    {head: "operands", kind: "number", value: (r) => r.bytes, text: (r) => bytes(r.bytes)},
    {head: "GFLOP/s", kind: "number", value: (r) => r.operations / r.median / 1000, text: (r) => digits(r.operations / r.median / 1000)},
    {head: "nodes of the model", kind: "wide", value: (r) => r.origin},
  ];
  if (s.limits) {
    columns.splice(2, 0,
      {head: "roofline", kind: "number", title: "Least time of this machine by the median time", value: (r) => r.roof / r.median, text: (r) => percent(r.roof / r.median)},
      {head: "bound", kind: "word", value: (r) => r.bound});
  }
  dispatchTable = sortableTable(byId("dispatch-table"), columns, s.sites,
    {onRow: (row) => selectSite(s.sites.indexOf(row)), isSelected: (row) => s.sites[state.site] === row, first: 0});
}

function showKernels() {
  const s = side();
  byId("kernels-note").textContent = s.kernels.length === 0
    ? "No kernel was requested: the interpreter ran all dispatches, or the kernels came with the module."
    : `${counted(s.kernels.length, "request")} in the order of their answers. Passes and code generation are ${
      s.kernels.some((k) => k.worker) ? "the compile worker's" : "LLVM's, or the driver's"}.`;
  byId("kernels-text").textContent = s.kernels_text;
  byId("kernel-table").hidden = s.kernels.length === 0;
  if (s.kernels.length === 0) return;
  const ms = (i) => ({kind: "number", value: (k) => k.ms[i], text: (k) => micros(1000 * k.ms[i])});
  sortableTable(byId("kernel-table"), [
    {head: "dispatch", kind: "wide", value: (k) => k.dispatch},
    {head: "tier", kind: "number", value: (k) => k.tier},
    {head: "outcome", kind: "wide", value: (k) => k.declined || k.origin, mark: (k) => (k.declined ? "worse" : "")},
    {head: "requested at", kind: "number", value: (k) => k.requested, text: (k) => micros(k.requested)},
    {head: "waited", kind: "number", value: (k) => k.begin - k.requested, text: (k) => micros(k.begin - k.requested)},
    {head: "schedule and nest", ...ms(0)},
    {head: "passes", ...ms(1)},
    {head: "code generation", ...ms(2)},
    {head: "packing", ...ms(3)},
    {head: "code", kind: "number", value: (k) => k.bytes, text: (k) => bytes(k.bytes)},
    {head: "first used at", kind: "number", value: (k) => k.first_call ?? Infinity, text: (k) => (k.first_call === null ? "–" : micros(k.first_call))},
    {head: "for parameters", kind: "wide", value: (k) => k.parameters.join(", ") || "all"},
  ], s.kernels);
}

// --- comparison of two sides

// Pairs the sites of both sides. Two sites are a pair if they compute the same
// nodes of the model, or else have the same name without its number. If several
// sites match, they are paired in order.
function pairs(a, b) {
  const keyOf = (site) => site.origin ? `o ${site.origin}` : `n ${site.dispatch.replace(/_?\d+$/, "")}`;
  const waiting = d3.group(b.sites.map((site, i) => ({site, i})), (entry) => keyOf(entry.site));
  const found = a.sites.map((site, i) => {
    const other = waiting.get(keyOf(site))?.shift();
    return {a: site, aRow: i, b: other?.site, bRow: other?.i};
  });
  for (const rest of waiting.values()) for (const {site, i} of rest) found.push({b: site, bRow: i});
  return found;
}

function showComparison() {
  byId("comparison").hidden = data.sides.length < 2;
  if (data.sides.length < 2) return;
  const [a, b] = data.sides, [ta, tb] = [runTime(a), runTime(b)];
  const rows = pairs(a, b);
  const matched = rows.filter((row) => row.a && row.b).length;
  const word = tb <= ta ? "faster" : "slower";
  byId("comparison-note").textContent =
    `A is ${a.model} (tier ${a.tier}, ${counted(a.threads, "thread")}), B is ${b.model} (tier ${b.tier}, ${counted(b.threads, "thread")}). ` +
    `The median run takes ${micros(ta)} in A and ${micros(tb)} in B: B is ${digits(Math.max(ta, tb) / Math.min(ta, tb))} times ${word === "faster" ? "as fast" : "as slow"}. ` +
    `${matched} dispatches are in both (the same nodes of the model, or the same name), ${rows.length - matched} in one only. ` +
    "The runs were not interleaved, so small differences may be noise; vm-bench and tools/compare_builds.py measure them.";
  const perRun = (site, s) => site ? site.total / laterRuns(s).length : 0;
  const difference = (row) => perRun(row.b, b) - perRun(row.a, a);
  const ratio = (row) => row.a && row.b ? row.b.median / row.a.median : null;
  const markOf = (value, limit) => (value > limit ? "worse" : value < -limit ? "better" : "");
  sortableTable(byId("comparison-table"), [
    {head: "B − A per run", kind: "number", value: (r) => Math.abs(difference(r)),
      text: (r) => (difference(r) > 0 ? "+" : "") + micros(difference(r)), mark: (r) => markOf(difference(r), 0.01 * ta)},
    {head: "B / A", kind: "number", value: (r) => ratio(r) ?? 0, text: (r) => (ratio(r) === null ? "–" : digits(ratio(r))),
      mark: (r) => markOf((ratio(r) ?? 1) - 1, 0.1)},
    {head: "A median", kind: "number", value: (r) => r.a?.median ?? 0, text: (r) => (r.a ? micros(r.a.median) : "–")},
    {head: "B median", kind: "number", value: (r) => r.b?.median ?? 0, text: (r) => (r.b ? micros(r.b.median) : "–")},
    {head: "A tier", kind: "word", value: (r) => r.a?.tier ?? "–"},
    {head: "B tier", kind: "word", value: (r) => r.b?.tier ?? "–"},
    {head: "dispatch", kind: "wide", value: (r) => (r.a ?? r.b).dispatch,
      text: (r) => (r.a && r.b && r.a.dispatch !== r.b.dispatch ? `${r.a.dispatch} | ${r.b.dispatch}` : (r.a ?? r.b).dispatch)},
    {head: "computes", kind: "wide", value: (r) => (r.a ?? r.b).computes},
    {head: "nodes of the model", kind: "wide", value: (r) => (r.a ?? r.b).origin},
  ], rows, {first: 0, onRow: (row) => {
    const shown = state.side === 0 ? row.aRow : row.bRow;
    if (shown === undefined) chooseSide(1 - state.side);
    selectSite(shown ?? (state.side === 0 ? row.aRow : row.bRow));
  }});
}

function startTables() {
  listeners.side.push(showOverview, showDispatches, showKernels, showDetails);
  listeners.selection.push(showDetails, () => dispatchTable.mark());
}
