#include "tools/lib/report/graph_drawing.h"

#include <algorithm>
#include <cstdio>

#include "base/shortened.h"

namespace ember::tools {
namespace {

// --- text
// ----------------------------------------------------------------------------------------

// Returns the lines of text that a node's box shows.
std::vector<std::string> Label(const GraphNode& node) {
  std::vector<std::string> lines = {Shortened(node.name, 40)};
  if (!node.type.empty()) lines.push_back(Shortened(node.type, 44));
  if (!node.origin.empty()) lines.push_back(Shortened(node.origin, 44));
  return lines;
}

std::string_view Color(GraphNode::Kind kind) {
  switch (kind) {
    case GraphNode::Kind::kInput:
      return "#d5e8d4";
    case GraphNode::Kind::kDispatch:
      return "#dae8fc";
    case GraphNode::Kind::kLibraryCall:
      return "#ffe6cc";
    default:
      return "#f8cecc";
  }
}

std::string DotString(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string XmlText(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

// --- layout
// --------------------------------------------------------------------------------------

// Returns the mean position of the node's neighbours in another row. If it has
// none there, returns `own`, the node's own position, so that the node stays
// where it is.
double Barycenter(size_t node, double own,
                  const std::vector<std::vector<size_t>>& neighbours,
                  const std::vector<double>& position) {
  if (neighbours[node].empty()) return own;
  double sum = 0;
  for (const size_t neighbour : neighbours[node]) sum += position[neighbour];
  return sum / static_cast<double>(neighbours[node].size());
}

void OrderRow(std::vector<size_t>& row,
              const std::vector<std::vector<size_t>>& neighbours,
              std::vector<double>& position) {
  std::vector<std::pair<double, size_t>> keyed;
  for (const size_t node : row) {
    keyed.emplace_back(Barycenter(node, position[node], neighbours, position),
                       node);
  }
  std::stable_sort(
      keyed.begin(), keyed.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < row.size(); ++i) {
    row[i] = keyed[i].second;
    // A position is the distance from the middle of the row, so that rows with
    // different numbers of nodes can be compared.
    position[row[i]] =
        static_cast<double>(i) - 0.5 * static_cast<double>(row.size() - 1);
  }
}

// --- SVG
// -----------------------------------------------------------------------------------------

constexpr int kBoxWidth = 300, kLineHeight = 15, kGapX = 30, kGapY = 36;
// Width of the empty margin, in which edges that go around boxes are drawn.
constexpr int kMarginX = 80, kMarginY = 20;

struct Box {
  int x = 0, y = 0, height = 0;
};

std::vector<Box> PlaceBoxes(const ModuleGraph& graph, const GraphLayout& layout,
                            int& width, int& height) {
  size_t widest = 1;
  for (const std::vector<size_t>& row : layout.rows)
    widest = std::max(widest, row.size());
  width = static_cast<int>(widest) * (kBoxWidth + kGapX) - kGapX + 2 * kMarginX;
  std::vector<Box> boxes(graph.nodes.size());
  height = kMarginY;
  for (const std::vector<size_t>& row : layout.rows) {
    const int row_width =
        static_cast<int>(row.size()) * (kBoxWidth + kGapX) - kGapX;
    int x = (width - row_width) / 2, tallest = 0;
    for (const size_t node : row) {
      const int lines = static_cast<int>(Label(graph.nodes[node]).size());
      boxes[node] = {x, height, lines * kLineHeight + 12};
      tallest = std::max(tallest, boxes[node].height);
      x += kBoxWidth + kGapX;
    }
    height += tallest + kGapY;
  }
  height += kMarginY - kGapY;
  return boxes;
}

std::string SvgEdge(const GraphEdge& edge, const Box& from, const Box& to) {
  const int x1 = from.x + kBoxWidth / 2, y1 = from.y + from.height;
  const int x2 = to.x + kBoxWidth / 2, y2 = to.y;
  // An edge that spans several rows, between boxes in one column, is bent to
  // the side, so that the boxes in between do not hide it.
  const int bow = y2 - y1 > 2 * kGapY && x1 == x2 ? kBoxWidth * 3 / 4 + 30 : 0;
  const int reach = std::max(kGapY, (y2 - y1) / 3);
  char text[256];
  std::snprintf(text, sizeof(text),
                "<path d=\"M%d %d C%d %d %d %d %d %d\" "
                "marker-end=\"url(#arrow)\"><title>",
                x1, y1, x1 + bow, y1 + reach, x2 + bow, y2 - reach, x2, y2);
  return text + XmlText(edge.type) + "</title></path>\n";
}

std::string SvgBox(const GraphNode& node, const Box& box) {
  char text[256];
  std::snprintf(text, sizeof(text),
                "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\" "
                "fill=\"%s\"/>\n",
                box.x, box.y, kBoxWidth, box.height,
                std::string(Color(node.kind)).c_str());
  std::string svg = "<g><title>" +
                    XmlText(node.name + "\n" + node.type + "\n" + node.origin) +
                    "</title>" + text;
  int y = box.y + 6 + kLineHeight - 4;
  for (const std::string& line : Label(node)) {
    const char* style =
        y == box.y + 6 + kLineHeight - 4 ? " class=\"name\"" : "";
    std::snprintf(text, sizeof(text), "<text x=\"%d\" y=\"%d\"%s>",
                  box.x + kBoxWidth / 2, y, style);
    svg += text + XmlText(line) + "</text>\n";
    y += kLineHeight;
  }
  return svg + "</g>\n";
}

}  // namespace

GraphLayout LayOut(const ModuleGraph& graph) {
  GraphLayout layout;
  const size_t count = graph.nodes.size();
  layout.row.resize(count);
  std::vector<std::vector<size_t>> above(count), below(count);
  // The nodes are in the order of the program, so each edge leads from a node
  // to a later one.
  std::vector<GraphEdge> edges = graph.edges;
  std::stable_sort(
      edges.begin(), edges.end(),
      [](const GraphEdge& a, const GraphEdge& b) { return a.to < b.to; });
  for (const GraphEdge& edge : edges) {
    above[edge.to].push_back(edge.from);
    below[edge.from].push_back(edge.to);
    layout.row[edge.to] =
        std::max(layout.row[edge.to], layout.row[edge.from] + 1);
  }
  std::vector<double> position(count);
  for (size_t node = 0; node < count; ++node) {
    layout.rows.resize(std::max(layout.rows.size(), layout.row[node] + 1));
    std::vector<size_t>& row = layout.rows[layout.row[node]];
    position[node] = static_cast<double>(row.size());
    row.push_back(node);
  }
  for (int sweep = 0; sweep < 4; ++sweep) {
    for (std::vector<size_t>& row : layout.rows) OrderRow(row, above, position);
    for (size_t i = layout.rows.size(); i-- > 0;)
      OrderRow(layout.rows[i], below, position);
  }
  return layout;
}

std::string PrintDot(const ModuleGraph& graph) {
  std::string text = "digraph " + DotString(graph.name) +
                     " {\n  node [shape=box, style=\"rounded,filled\", "
                     "fontname=\"sans-serif\"];\n";
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    std::string label;
    for (const std::string& line : Label(graph.nodes[i])) {
      // The text already contains dot's escape "\n" for line breaks, so its
      // backslash must not be escaped again.
      const std::string quoted = DotString(line);
      label +=
          (label.empty() ? "" : "\\n") + quoted.substr(1, quoted.size() - 2);
    }
    text += "  n" + std::to_string(i) + " [label=\"" + label +
            "\", fillcolor=\"" + std::string(Color(graph.nodes[i].kind)) +
            "\"];\n";
  }
  for (const GraphEdge& edge : graph.edges) {
    text += "  n" + std::to_string(edge.from) + " -> n" +
            std::to_string(edge.to) + " [label=" + DotString(edge.type) +
            "];\n";
  }
  return text + "}\n";
}

std::string PrintSvg(const ModuleGraph& graph) {
  const GraphLayout layout = LayOut(graph);
  int width = 0, height = 0;
  const std::vector<Box> boxes = PlaceBoxes(graph, layout, width, height);
  char head[512];
  std::snprintf(
      head, sizeof(head),
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "viewBox=\"0 0 %d %d\">\n",
      width, height, width, height);
  std::string svg = head;
  svg +=
      "<style>text{font:11px "
      "sans-serif;text-anchor:middle}.name{font-weight:bold}"
      "rect{stroke:#555}path{fill:none;stroke:#555}</style>\n"
      "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" "
      "markerWidth=\"7\" "
      "markerHeight=\"7\" orient=\"auto\"><polygon points=\"0,0 8,4 0,8\" "
      "fill=\"#555\"/></marker>"
      "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\" "
      "style=\"stroke:none\"/>\n";
  for (const GraphEdge& edge : graph.edges) {
    svg += SvgEdge(edge, boxes[edge.from], boxes[edge.to]);
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    svg += SvgBox(graph.nodes[i], boxes[i]);
  return svg + "</svg>\n";
}

}  // namespace ember::tools
