// Draws the plots: roofline, memory and timeline.

// Makes an SVG that fills the width of its parent, with margins for axes.
function newPlot(parent, height, margin) {
  parent.replaceChildren();
  const width = Math.max(480, parent.clientWidth || 1000);
  const svg = d3.select(parent).append("svg").attr("class", "plot")
    .attr("viewBox", [0, 0, width, height]).attr("height", height);
  return {svg, width, height, left: margin.left, right: width - margin.right, top: margin.top, bottom: height - margin.bottom};
}

function addAxes(plot, x, y, {xText, yText, xTicks, yTicks, xFormat, yFormat}) {
  const make = (axis, ticks, format) => {
    axis.ticks(ticks ?? 6);
    return format ? axis.tickFormat(format) : axis;
  };
  plot.svg.append("g").attr("class", "grid").attr("transform", `translate(${plot.left},0)`)
    .call(make(d3.axisLeft(y), yTicks).tickSize(plot.left - plot.right).tickFormat(""));
  plot.svg.append("g").attr("class", "axis").attr("transform", `translate(0,${plot.bottom})`)
    .call(make(d3.axisBottom(x), xTicks, xFormat));
  plot.svg.append("g").attr("class", "axis").attr("transform", `translate(${plot.left},0)`)
    .call(make(d3.axisLeft(y), yTicks, yFormat));
  plot.svg.append("text").attr("class", "label").attr("text-anchor", "middle")
    .attr("x", (plot.left + plot.right) / 2).attr("y", plot.height - 8).text(xText);
  plot.svg.append("text").attr("class", "label").attr("text-anchor", "middle")
    .attr("transform", `translate(15,${(plot.top + plot.bottom) / 2}) rotate(-90)`).text(yText);
}

const plainNumber = (value) => digits(value);
// Returns the labels of a logarithmic axis. If there are many, only the powers
// of ten are labelled.
const powerLabel = (value) => (Math.abs(Math.log10(value) % 1) < 1e-9 ? digits(value) : "");

// --- roofline

function showRoofline() {
  const s = side(), limits = s.limits;
  const points = s.sites.map((site, i) => ({site, i, intensity: site.operations / site.bytes,
    rate: site.operations / site.median / 1000})).filter((p) => p.intensity > 0 && p.rate > 0);
  const without = s.sites.length - points.length;
  byId("roofline-note").textContent = (limits
    ? `Limits of this machine, measured after the runs: ${limits.text.replace(/\.?\s*$/, "")}. A dispatch on a line is as fast as the machine allows. `
    : "The limits of this device are not measured, so the plot has no roof. ") +
    "The size of a point is its share of the time." +
    (without ? ` ${counted(without, "dispatch")} without arithmetic (copies, integer work) ${without === 1 ? "is" : "are"} not in the plot.` : "");
  const holder = byId("roofline-plot");
  if (points.length === 0) {
    holder.replaceChildren(element("p", {text: "No dispatch does arithmetic."}));
    return;
  }
  const plot = newPlot(holder, 400, {left: 70, right: 24, top: 16, bottom: 46});
  const rates = points.map((p) => p.rate).concat(limits ? [limits.gflops] : []);
  const x = d3.scaleLog([Math.min(0.1, d3.min(points, (p) => p.intensity) / 1.5),
    Math.max(100, d3.max(points, (p) => p.intensity) * 1.5)], [plot.left, plot.right]);
  const y = d3.scaleLog([d3.min(rates) / 2, d3.max(rates) * 2.2], [plot.bottom, plot.top]);
  addAxes(plot, x, y, {xText: "arithmetic intensity (FLOP per byte of operands)", yText: "speed (GFLOP/s)",
    xFormat: powerLabel, yFormat: powerLabel});
  if (limits) drawRoofs(plot, x, y, limits);
  const share = d3.scaleSqrt([0, d3.max(points, (p) => p.site.total)], [2.5, 18]);
  points.sort((a, b) => b.site.total - a.site.total);
  withTip(plot.svg.append("g").selectAll("circle").data(points).join("circle")
    .attr("class", "point").attr("cx", (p) => x(p.intensity)).attr("cy", (p) => y(p.rate))
    .attr("r", (p) => share(p.site.total)).on("click", (_, p) => selectSite(p.i)),
  (p) => `${siteTip(p.site)}\n${digits(p.rate)} GFLOP/s, ${digits(p.intensity)} FLOP per byte`);
  markPoints();
}

function drawRoofs(plot, x, y, limits) {
  const [low, high] = x.domain();
  const roofs = limits.reads.map(([size, rate]) => ({size, rate}));
  const lowest = y.domain()[0];
  for (const roof of roofs) {
    const begin = Math.max(low, lowest / roof.rate);
    const knee = limits.gflops / roof.rate;
    if (knee <= begin) continue;
    plot.svg.append("path").attr("class", "roof").attr("stroke-dasharray", roof === roofs.at(-1) ? null : "5 4")
      .attr("d", d3.line()([[x(begin), y(begin * roof.rate)], [x(Math.min(knee, high)), y(Math.min(knee, high) * roof.rate)]]));
  }
  plot.svg.append("path").attr("class", "roof").attr("d", d3.line()([
    [x(Math.max(low, limits.gflops / d3.max(roofs, (r) => r.rate))), y(limits.gflops)], [x(high), y(limits.gflops)]]));
  plot.svg.append("text").attr("class", "label").attr("text-anchor", "end").attr("x", plot.right - 6)
    .attr("y", y(limits.gflops) - 6).text(`peak ${digits(limits.gflops)} GFLOP/s`);
  // The roofs of the caches' bandwidths lie close together, so only the first
  // and the last have a label.
  const angle = -Math.atan2((y(1) - y(10)), (x(10) - x(1))) * 180 / Math.PI;
  for (const [roof, dy] of roofs.length > 1 ? [[roofs[0], -6], [roofs.at(-1), 14]] : [[roofs[0], -6]]) {
    const at = Math.max(low * 1.1, (lowest * 1.3) / roof.rate);
    plot.svg.append("text").attr("class", "label")
      .attr("transform", `translate(${x(at)},${y(at * roof.rate)}) rotate(${angle}) translate(0,${dy})`)
      .text(`${bytes(roof.size)} read at ${digits(roof.rate)} GB/s`);
  }
}

function markPoints() {
  const s = side();
  const matched = new Set(state.found.map(({node, site}) => site ?? s.nodes[node].site));
  d3.selectAll("#roofline-plot .point").classed("selected", (p) => p.i === state.site)
    .classed("match", (p) => matched.has(p.i));
}

// --- memory

function showMemory() {
  const s = side();
  const last = s.runs.at(-1);
  byId("memory-note").textContent =
    `The arena has ${bytes(s.arena_bytes)}, constants take ${bytes(s.constant_bytes)}, and ` +
    `the session's largest sum of arena and pool was ${bytes(last[4])}. ` +
    "Each rectangle is a tensor of the arena, from the step that writes it to the last one that reads it. The line is the sum of tensors that are alive.";
  showArena(s);
  showRunMemory(s);
}

function showArena(s) {
  const holder = byId("arena-plot");
  if (s.arena.length === 0) {
    holder.replaceChildren(element("p", {text: "The program keeps no tensors of known size in an arena. If dims of its inputs are open, --shape pins them."}));
    return;
  }
  const plot = newPlot(holder, 320, {left: 70, right: 24, top: 16, bottom: 46});
  const top = Math.max(s.arena_bytes, d3.max(s.arena, (range) => range[3]));
  const unit = top >= 1e6 ? [1e6, "MB"] : [1e3, "kB"];
  const x = d3.scaleLinear([0, s.nodes.length], [plot.left, plot.right]);
  const y = d3.scaleLinear([0, (top / unit[0]) * 1.12], [plot.bottom, plot.top]);
  addAxes(plot, x, y, {xText: "step of the program (inputs, dispatches, results)", yText: `offset in the arena (${unit[1]})`});
  const scaledY = (value) => y(value / unit[0]);
  withTip(plot.svg.append("g").selectAll("rect").data(s.arena).join("rect").attr("class", "range")
    .attr("x", (r) => x(r[0])).attr("width", (r) => Math.max(0.7, x(r[1] + 1) - x(r[0])))
    .attr("y", (r) => scaledY(r[3])).attr("height", (r) => Math.max(0.7, scaledY(r[2]) - scaledY(r[3])))
    .on("click", (_, r) => selectNode(r[0])),
  (r) => `${s.nodes[r[0]].name}: ${bytes(r[3] - r[2])} at ${bytes(r[2])}\nlast read by ${s.nodes[r[1]].name}`);
  const change = new Array(s.nodes.length + 2).fill(0);
  for (const [first, lastStep, begin, end] of s.arena) {
    change[first] += end - begin;
    change[lastStep + 1] -= end - begin;
  }
  const alive = d3.cumsum(change);
  plot.svg.append("path").attr("class", "live").style("stroke-width", s.nodes.length > 400 ? 0.6 : null).attr("d", d3.line().curve(d3.curveStepAfter)(
    Array.from(alive).slice(0, s.nodes.length + 1).map((value, i) => [x(i), scaledY(Math.min(value, top))])));
  const most = d3.max(alive);
  plot.svg.append("text").attr("class", "label").attr("x", plot.right - 4).attr("y", plot.top + 11).attr("text-anchor", "end")
    .text(`arena ${bytes(s.arena_bytes)}, at most ${bytes(most)} alive`);
  markRanges();
}

const markRanges = () => d3.selectAll("#arena-plot .range").classed("selected", (r) => r[0] === state.node);

function showRunMemory(s) {
  const plot = newPlot(byId("run-memory-plot"), 200, {left: 70, right: 24, top: 30, bottom: 46});
  const top = d3.max(s.runs, (run) => Math.max(run[2] + run[3], run[4])) || 1;
  const unit = top >= 1e6 ? [1e6, "MB"] : [1e3, "kB"];
  const x = d3.scaleLinear([0.5, s.runs.length + 0.5], [plot.left, plot.right]);
  const y = d3.scaleLinear([0, (top / unit[0]) * 1.1], [plot.bottom, plot.top]);
  addAxes(plot, x, y, {xText: "run (number); memory after each run", yText: `memory (${unit[1]})`, yTicks: 4,
    xTicks: Math.min(12, s.runs.length), xFormat: (value) => (Number.isInteger(value) ? String(value) : "")});
  const lines = [["arena", "var(--memory)", (run) => run[2]], ["arena and pool", "var(--compile)", (run) => run[2] + run[3]],
    ["largest so far", "var(--bad)", (run) => run[4]]];
  lines.forEach(([name, colour, value], i) => {
    const stroke = (line) => line.attr("stroke", colour).attr("stroke-width", 2).attr("stroke-dasharray", i === 2 ? "4 3" : null);
    const points = s.runs.map((run, n) => [n + 1, value(run) / unit[0]]);
    const ends = [[0.5, points[0][1]], ...points, [s.runs.length + 0.5, points.at(-1)[1]]];
    stroke(plot.svg.append("path").attr("fill", "none")
      .attr("d", d3.line((p) => x(p[0]), (p) => y(p[1])).curve(d3.curveStep)(ends)));
    const left = plot.left + 12 + 150 * i;
    stroke(plot.svg.append("line").attr("x1", left).attr("x2", left + 22).attr("y1", 14).attr("y2", 14));
    plot.svg.append("text").attr("class", "label").attr("x", left + 28).attr("y", 18).text(name);
  });
}

// --- timeline

function timelineBars(s) {
  const lanes = [], bars = [];
  const lane = (name) => {
    const found = lanes.indexOf(name);
    return found >= 0 ? found : lanes.push(name) - 1;
  };
  if (s.load) {
    bars.push({lane: lane("load"), begin: s.load.begin, end: s.load.end, kind: "load",
      name: s.load.compiled ? "import and compile the model" : "load the module"});
  }
  s.runs.forEach(([begin, end], i) => bars.push({lane: lane("runs"), begin, end, kind: "run", name: `run ${i + 1}`}));
  s.calls.forEach(([site, begin, end]) => bars.push({lane: lane("dispatches"), begin, end, kind: "call",
    name: s.sites[site].dispatch, site}));
  s.kernels.forEach((kernel) => {
    bars.push({lane: lane(`compile ${kernel.thread + 1}`), begin: kernel.begin, end: kernel.end, kind: "compile",
      name: `${kernel.dispatch} tier ${kernel.tier}`, kernel});
  });
  s.kernels.forEach((kernel) => {
    const [schedule, optimise, generate, pack] = kernel.ms;
    if (optimise + generate === 0) return;
    bars.push({lane: lane(kernel.worker ? `worker ${kernel.thread + 1}` : `LLVM ${kernel.thread + 1}`),
      begin: kernel.begin + 1000 * schedule, end: Math.max(kernel.begin + 1000 * schedule, kernel.end - 1000 * pack),
      kind: "worker", name: kernel.dispatch, kernel});
  });
  return {lanes, bars};
}

function barTip(bar) {
  const lines = [bar.name, `${micros(bar.end - bar.begin)}, from ${micros(bar.begin)} on`];
  if (bar.kernel) {
    const k = bar.kernel;
    lines.push(k.declined ? `declined: ${k.declined}` : k.origin,
      `waited ${micros(k.begin - k.requested)}; schedule ${digits(k.ms[0])} ms, passes ${digits(k.ms[1])} ms, ` +
      `code ${digits(k.ms[2])} ms, packing ${digits(k.ms[3])} ms`);
    if (k.first_call !== null) lines.push(`first used at ${micros(k.first_call)}`);
  }
  return lines.join("\n");
}

function showTimeline() {
  const s = side(), {lanes, bars} = timelineBars(s);
  const laneHeight = 28;
  const plot = newPlot(byId("timeline-plot"), lanes.length * laneHeight + 62, {left: 92, right: 24, top: 10, bottom: 46});
  const end = d3.max(bars, (bar) => bar.end);
  const x = d3.scaleLinear([0, end / 1000], [plot.left, plot.right]);
  const y = (lane) => plot.top + lane * laneHeight;
  plot.svg.append("clipPath").attr("id", "timeline-clip").append("rect").attr("x", plot.left).attr("y", 0)
    .attr("width", plot.right - plot.left).attr("height", plot.bottom);
  lanes.forEach((name, i) => plot.svg.append("text").attr("class", "label").attr("text-anchor", "end")
    .attr("x", plot.left - 8).attr("y", y(i) + 17).text(name));
  const axis = plot.svg.append("g").attr("class", "axis").attr("transform", `translate(0,${plot.bottom})`);
  plot.svg.append("text").attr("class", "label").attr("text-anchor", "middle")
    .attr("x", (plot.left + plot.right) / 2).attr("y", plot.height - 8).text("time (ms)");
  const body = plot.svg.append("g").attr("clip-path", "url(#timeline-clip)");
  const bodyBars = body.append("g"), bodyTexts = body.append("g"), bodyFlow = body.append("g");
  const colour = {load: "var(--load)", run: "var(--run)", call: "var(--call)", compile: "var(--compile)", worker: "var(--worker)"};
  let scale = x, chosen = null;
  const draw = () => {
    axis.call(d3.axisBottom(scale).ticks(8));
    // If several bars of a lane fall on the same pixel, only one is drawn.
    const taken = new Set();
    const visible = bars.filter((bar) => {
      const left = scale(bar.begin / 1000), right = scale(bar.end / 1000);
      if (right < plot.left || left > plot.right) return false;
      if (right - left >= 1) return true;
      const pixel = `${bar.lane} ${Math.round(left)}`;
      return !taken.has(pixel) && taken.add(pixel);
    });
    const left = (bar) => scale(bar.begin / 1000);
    const wide = (bar) => Math.max(0.8, scale(bar.end / 1000) - left(bar));
    withTip(bodyBars.selectAll("rect").data(visible).join("rect").attr("class", "bar")
      .attr("x", left).attr("width", wide).attr("y", (bar) => y(bar.lane) + 2).attr("height", laneHeight - 6)
      .style("stroke-width", (bar) => (wide(bar) < 3 ? 0 : null))
      .attr("fill", (bar) => bar.kernel?.declined ? "var(--bad)" : colour[bar.kind])
      .on("click", (_, bar) => {
        chosen = bar.kernel ?? null;
        if (bar.site !== undefined) selectSite(bar.site);
        draw();
      }), barTip);
    const inner = (bar) => Math.min(plot.right, left(bar) + wide(bar)) - Math.max(plot.left, left(bar));
    bodyTexts.selectAll("text").data(visible.filter((bar) => inner(bar) > 34)).join("text").attr("class", "bar-text")
      .attr("x", (bar) => Math.max(plot.left, left(bar)) + 5).attr("y", (bar) => y(bar.lane) + 17)
      .text((bar) => clipped(bar.name, Math.floor((inner(bar) - 8) / 6.6)));
    const flow = chosen !== null && chosen.first_call !== null ? [chosen] : [];
    const from = (k) => [scale(k.end / 1000), y(lanes.indexOf(`compile ${k.thread + 1}`)) + 13];
    const to = (k) => [scale(k.first_call / 1000), y(lanes.indexOf("dispatches")) + 13];
    bodyFlow.selectAll("path").data(flow).join("path").attr("class", "flow").attr("d", (k) => d3.linkHorizontal()({source: from(k), target: to(k)}));
  };
  const zoom = d3.zoom().scaleExtent([1, 1e6]).extent([[plot.left, 0], [plot.right, plot.height]])
    .translateExtent([[plot.left, 0], [plot.right, plot.height]]).on("zoom", (event) => {
      scale = event.transform.rescaleX(x);
      requestAnimationFrame(draw);
    });
  plot.svg.call(zoom);
  draw();
}

function startPlots() {
  const all = () => { showRoofline(); showMemory(); showTimeline(); };
  listeners.side.push(all);
  listeners.selection.push(() => { markPoints(); markRanges(); });
  listeners.search.push(markPoints);
  let timer = 0;
  addEventListener("resize", () => { clearTimeout(timer); timer = setTimeout(all, 150); });
}
