// Shows the graph: its layout (computed in a worker by d3-dag), drawing, zoom,
// minimap and keys.

const kNodeWidth = 196, kNodeHeight = 42;
// Largest number of rows that an edge may span for the layout to route it
// around the boxes in between, which takes long. Longer edges are drawn as a
// curve beside the boxes.
const kMostRows = 24;

// Computes the layout, in a web worker; `lib` is d3-dag. Returns the centres of
// the boxes and the points of each edge. In short graphs an algorithm makes
// edges straight. In long ones it would drift to one side, so each row is
// centred instead.
function layOut(lib, count, edges, width, height) {
  const build = lib.graph();
  const nodes = Array.from({length: count}, (_, i) => build.node(i));
  const links = edges.map(([from, to], i) => build.link(nodes[from], nodes[to], i));
  const crossings = edges.length > 4000 ? 2 : 8;
  lib.sugiyama()
    .layering(lib.layeringLongestPath())
    .decross(lib.decrossTwoLayer().order(lib.twolayerAgg()).passes(crossings))
    .coord(count > 400 ? lib.coordCenter() : lib.coordGreedy())
    .nodeSize([width, height])
    .gap([22, 30])(build);
  return {
    nodes: nodes.map((node) => [node.x, node.y]),
    links: links.map((link) => link.points),
  };
}

// Returns for each edge whether it is short enough to be routed by the layout.
function shortEdges(count, edges) {
  const row = new Array(count).fill(0);
  // Nodes are in the order in which the program runs them, so an edge leads to
  // a later node.
  for (const [from, to] of [...edges].sort((a, b) => a[0] - b[0])) {
    row[to] = Math.max(row[to], row[from] + 1);
  }
  return edges.map(([from, to]) => from < to && row[to] - row[from] <= kMostRows);
}

// Breaks a layout that is much higher than wide into columns side by side, so
// that the whole graph fits the screen. Each column continues the one before
// it. Marks each link that stays within one column.
function breakIntoColumns(layout, edges) {
  const [left, right] = d3.extent(layout.nodes, (box) => box[0]);
  const height = d3.max(layout.nodes, (box) => box[1]) ?? 0;
  const width = right - left + kNodeWidth + 70;
  const columns = Math.max(1, Math.round(Math.sqrt(height / width / 1.2)));
  const isLow = height < 8 * width || columns === 1;
  // Columns are cut between rows, so that a row is never split.
  const row = kNodeHeight + 30;
  const high = isLow ? Infinity : Math.ceil(height / columns / row) * row;
  const columnOf = (y) => (isLow ? 0 : Math.floor((y + 1 - kNodeHeight / 2) / high));
  const moved = ([x, y], column) => [x + column * width, y - column * (isLow ? 0 : high)];
  const column = layout.nodes.map((box) => columnOf(box[1]));
  return {
    nodes: layout.nodes.map((box, i) => moved(box, column[i])),
    links: layout.links.map((points, i) => column[edges[i][0]] === column[edges[i][1]]
      ? points.map((point) => moved(point, column[edges[i][0]])) : null),
  };
}

function layoutInWorker(count, edges) {
  return new Promise((resolve, reject) => {
    const source = byId("layout-library").textContent +
      `;${layOut};onmessage = (event) => postMessage(layOut(d3, ...event.data));`;
    const url = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
    const worker = new Worker(url);
    const end = () => { worker.terminate(); URL.revokeObjectURL(url); };
    worker.onmessage = (event) => { end(); resolve(event.data); };
    worker.onerror = (event) => { end(); reject(new Error(event.message)); };
    worker.postMessage([count, edges, kNodeWidth, kNodeHeight]);
  });
}

const graph = {svg: d3.select("#graph-svg"), boxes: [], width: 0, height: 0, transform: d3.zoomIdentity, drawn: 0};
graph.root = graph.svg.append("g");
graph.zoom = d3.zoom().scaleExtent([0.004, 4]).on("zoom", (event) => {
  graph.transform = event.transform;
  graph.root.attr("transform", event.transform);
  drawMinimap();
});
graph.svg.call(graph.zoom).on("dblclick.zoom", null);

async function showGraph() {
  const shown = side(), ticket = ++graph.drawn, status = byId("layout-status");
  graph.root.selectAll("*").remove();
  graph.boxes = [];
  status.textContent = `laying out ${counted(shown.nodes.length, "box").replace("boxs", "boxes")} …`;
  const isShort = shortEdges(shown.nodes.length, shown.edges);
  const edges = shown.edges.filter((_, i) => isShort[i]).map(([from, to]) => [from, to]);
  let layout;
  try {
    layout = await layoutInWorker(shown.nodes.length, edges);
  } catch (error) {
    // Some browsers do not allow a worker in a page that was opened from a
    // file. The layout then runs in the page itself.
    layout = layOut(d3, shown.nodes.length, edges, kNodeWidth, kNodeHeight);
  }
  if (ticket !== graph.drawn) return;
  status.textContent = "";
  layout = breakIntoColumns(layout, edges);
  graph.boxes = layout.nodes;
  drawGraph(shown, layout, isShort);
  goToTop();
  document.documentElement.dataset.layout = "done";
}

// Returns the path of a long edge: a curve from the right edge of a box to the
// right edge of a later box, or to the left edge of a box in another column.
function longCurve([fromX, fromY], [toX, toY]) {
  if (Math.abs(toX - fromX) > 2 * kNodeWidth) {
    return d3.linkHorizontal()({source: [fromX + kNodeWidth / 2, fromY], target: [toX - kNodeWidth / 2, toY]});
  }
  const bend = kNodeWidth * 0.75;
  return `M${fromX + kNodeWidth / 2},${fromY}C${fromX + kNodeWidth / 2 + bend},${fromY} ` +
    `${toX + kNodeWidth / 2 + bend},${toY} ${toX + kNodeWidth / 2},${toY}`;
}

function drawGraph(shown, layout, isShort) {
  const line = d3.line().curve(d3.curveMonotoneY);
  const boxes = layout.nodes;
  // Returns the path of a short edge, from the lower edge of a box to the upper
  // edge of another.
  const route = (points) => {
    const moved = points.map((p) => [...p]);
    moved[0][1] += kNodeHeight / 2;
    moved.at(-1)[1] -= kNodeHeight / 2;
    return line(moved);
  };
  let next = 0;
  const paths = shown.edges.map((edge, i) => {
    const points = isShort[i] ? layout.links[next++] : null;
    return points !== null ? {edge, path: route(points)}
      : {edge, path: longCurve(boxes[edge[0]], boxes[edge[1]]), isLong: true};
  });
  graph.width = d3.max(boxes, (box) => box[0]) + kNodeWidth;
  graph.height = d3.max(boxes, (box) => box[1]) + kNodeHeight;
  withTip(graph.root.append("g").selectAll("path").data(paths).join("path")
    .attr("class", (d) => (d.isLong ? "edge long" : "edge"))
    .attr("d", (d) => d.path),
  (d) => `${shown.nodes[d.edge[0]].name} → ${shown.nodes[d.edge[1]].name}\n${d.edge[2]}`);
  const most = d3.max(shown.sites, (site) => site.total) || 1;
  const heat = (node) => node.site === undefined ? 0 : Math.sqrt(shown.sites[node.site].total / most);
  const groups = graph.root.append("g").selectAll("g").data(shown.nodes).join("g")
    .attr("class", (node) => `node ${node.kind}${heat(node) > 0.55 ? " hot" : ""}`)
    .attr("transform", (_, i) => `translate(${boxes[i][0] - kNodeWidth / 2},${boxes[i][1] - kNodeHeight / 2})`)
    .on("click", (_, node) => selectNode(shown.nodes.indexOf(node)));
  const rect = (name) => groups.append("rect").attr("class", name).attr("rx", 6)
    .attr("width", kNodeWidth).attr("height", kNodeHeight);
  rect("ground");
  rect("heat").attr("fill-opacity", (node) => 0.9 * heat(node));
  rect("frame");
  groups.append("text").attr("x", 9).attr("y", 17).attr("font-size", 12.5)
    .text((node) => clipped(node.name, 25));
  groups.append("text").attr("class", "second").attr("x", 9).attr("y", 33).attr("font-size", 11)
    .text((node) => node.site === undefined
      ? clipped(node.kind === "call" ? "call" : `${node.kind}: ${node.type}`, 30)
      : `${micros(shown.sites[node.site].median)} · ${percent(shareOf(shown.sites[node.site]))}`);
  withTip(groups, (node) => node.site === undefined
    ? [node.kind, node.name, node.type].filter((text) => text).join("\n")
    : siteTip(shown.sites[node.site]));
  graph.heat = shown.nodes.map(heat);
  markGraph();
}

function markGraph() {
  graph.root.selectAll("g.node")
    .classed("selected", (_, i) => i === state.node)
    .classed("match", (_, i) => state.matches.has(i));
  graph.root.selectAll("path.edge")
    .classed("selected", (d) => state.node !== null && (d.edge[0] === state.node || d.edge[1] === state.node));
  drawMinimap();
}

// --- moving

const graphSize = () => {
  const box = byId("graph-svg").getBoundingClientRect();
  return [box.width, box.height];
};
const moveTo = (transform, isSlow = true) =>
  (isSlow ? graph.svg.transition().duration(250) : graph.svg).call(graph.zoom.transform, transform);

function goToTop() {
  const [width, height] = graphSize();
  const whole = Math.min(1, (width - 20) / graph.width, (height - 20) / graph.height);
  const scale = whole > 0.35 ? whole : 0.6;
  const fitsX = graph.width * scale <= width;
  // If the graph is wider than the view, the view starts at the first box of
  // the program.
  const x = fitsX ? (width - graph.width * scale) / 2 : width / 2 - (graph.boxes[0]?.[0] ?? 0) * scale;
  moveTo(d3.zoomIdentity.translate(x, 14).scale(scale), false);
}

function showWhole() {
  const [width, height] = graphSize();
  const scale = Math.min(1.5, (width - 24) / graph.width, (height - 24) / graph.height);
  moveTo(d3.zoomIdentity
    .translate((width - graph.width * scale) / 2, (height - graph.height * scale) / 2).scale(scale));
}

function goToNode(node) {
  if (graph.boxes[node] === undefined) return;
  const [width, height] = graphSize();
  const scale = Math.max(0.6, graph.transform.k);
  moveTo(d3.zoomIdentity.translate(width / 2 - graph.boxes[node][0] * scale,
    height / 2 - graph.boxes[node][1] * scale).scale(scale));
}

// --- minimap: the whole graph, stretched to the strip

function drawMinimap() {
  const canvas = byId("minimap"), context = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  context.clearRect(0, 0, canvas.width, canvas.height);
  if (graph.boxes.length === 0) return;
  const x = (value) => 3 + (value / graph.width) * (canvas.width - 6);
  const y = (value) => (value / graph.height) * canvas.height;
  const wide = Math.max(3, x(kNodeWidth) - x(0)), high = Math.max(1, y(kNodeHeight) - y(0) - 1);
  graph.boxes.forEach((box, i) => {
    const isMatch = state.matches.has(i) || i === state.node;
    context.globalAlpha = isMatch ? 1 : 0.15 + 0.85 * graph.heat[i];
    context.fillStyle = colour(i === state.node ? "--link" : isMatch ? "--match" : "--accent");
    context.fillRect(x(box[0]) - wide / 2, y(box[1]) - high / 2, wide, isMatch ? Math.max(high, 3) : high);
  });
  const [width, height] = graphSize(), {k, x: left, y: top} = graph.transform;
  context.globalAlpha = 1;
  context.strokeStyle = colour("--text");
  const clampY = (value) => Math.max(0.5, Math.min(canvas.height - 0.5, value));
  const x0 = Math.max(0.5, x(-left / k)), x1 = Math.min(canvas.width - 0.5, x((width - left) / k));
  const y0 = clampY(y(-top / k)), y1 = clampY(y((height - top) / k));
  context.strokeRect(x0, y0, Math.max(2, x1 - x0), Math.max(2, y1 - y0));
}

function goByMinimap(event) {
  if (event.type === "pointermove" && event.buttons === 0) return;
  const canvas = byId("minimap"), box = canvas.getBoundingClientRect();
  const [width, height] = graphSize(), {k} = graph.transform;
  const x = ((event.clientX - box.left) / box.width) * graph.width;
  const y = ((event.clientY - box.top) / box.height) * graph.height;
  moveTo(d3.zoomIdentity.translate(width / 2 - x * k, height / 2 - y * k).scale(k), false);
}

function startGraph() {
  byId("zoom-in").onclick = () => graph.svg.transition().duration(150).call(graph.zoom.scaleBy, 1.5);
  byId("zoom-out").onclick = () => graph.svg.transition().duration(150).call(graph.zoom.scaleBy, 1 / 1.5);
  byId("zoom-fit").onclick = showWhole;
  byId("zoom-top").onclick = goToTop;
  byId("minimap").addEventListener("pointerdown", goByMinimap);
  byId("minimap").addEventListener("pointermove", goByMinimap);
  byId("graph-svg").addEventListener("keydown", (event) => {
    const step = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[event.key];
    if (event.key === "+" || event.key === "=") byId("zoom-in").click();
    if (event.key === "-") byId("zoom-out").click();
    if (step === undefined) return;
    event.preventDefault();
    const count = side().nodes.length;
    selectNode(state.node === null ? 0 : (state.node + step + count) % count);
  });
  listeners.side.push(showGraph);
  listeners.search.push(markGraph);
  listeners.theme.push(drawMinimap);
  listeners.selection.push(() => {
    markGraph();
    if (state.node !== null) goToNode(state.node);
  });
  addEventListener("resize", drawMinimap);
}
