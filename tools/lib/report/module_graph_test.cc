#include "tools/lib/report/module_graph.h"

#include <array>
#include <set>

#include "gtest/gtest.h"
#include "tools/lib/report/graph_drawing.h"
#include "vm/isa/text.h"

namespace ember::tools {
namespace {

// Returns the graph of an example program. @a reads x and writes bytes 0..16 of
// the arena; @b reads x and writes bytes 64..80; @join reads the results of @a
// and @b and writes from byte 128 on. Then @a runs again: it reads the result
// of @join and overwrites the arena's first bytes, which are the program's
// result.
ModuleGraph Example() {
  StatusOr<vm::ModuleDefinition> module = vm::ParseModule(R"(
module "by hand" from "example"

constant bias: f32[4] = [1, 2, 3, 4]

origin "Relu_0 <a & b>"
dispatch @a(%x: f32[4]) -> (%y: f32[4]) {
  %y[i] = max(%x[i], 0)
}
dispatch @b(%x: f32[4], %c: f32[4]) -> (%y: f32[4]) {
  %y[i] = %x[i] + %c[i]
}
dispatch @join(%x: f32[4], %y: f32[4]) -> (%z: f32[4]) {
  %z[i] = %x[i] + %y[i]
}

program main(x: f32[4]) -> (y: f32[4]) {
  i0 = integer 16
  i1 = integer 4
  b0 = input x
  b1 = constant 0 (bias)
  b2 = arena 192
  b3 = view b2, i0, 0
  b4 = view b2, i0, 64
  b5 = view b2, i0, 128
  dispatch @a(b0 -> b3)
  dispatch @b(b0, b1 -> b4)
  dispatch @join(b3, b4 -> b5)
  b6 = view b2, i0, 0
  dispatch @a(b5 -> b6)
  result y = b6 [i1]
  return
}
)");
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  return MakeModuleGraph(*module);
}

TEST(ModuleGraphTest, TensorsOfTheArenaLiveUntilTheirLastReader) {
  const ModuleGraph graph = Example();
  std::vector<std::array<int64_t, 4>> ranges;
  for (const ArenaRange& range : graph.arena) {
    ranges.push_back({static_cast<int64_t>(range.first_node),
                      static_cast<int64_t>(range.last_node), range.begin,
                      range.end});
  }
  // The results of @a and @b must live until @join has read them, that of @join
  // until @a has run again, and the last one until it is returned.
  const std::vector<std::array<int64_t, 4>> want = {
      {1, 3, 0, 16}, {2, 3, 64, 80}, {3, 4, 128, 144}, {4, 5, 0, 16}};
  EXPECT_EQ(ranges, want);
  EXPECT_EQ(graph.nodes[0].instruction, -1);
  EXPECT_EQ(graph.nodes[1].instruction, 8);
}

TEST(ModuleGraphTest, FollowsMemoryThroughTheArena) {
  const ModuleGraph graph = Example();
  // The graph's nodes are, in order: input x, @a, @b, @join, @a again, and
  // result y.
  ASSERT_EQ(graph.nodes.size(), 6u);
  std::set<std::pair<size_t, size_t>> edges;
  for (const GraphEdge& edge : graph.edges) edges.emplace(edge.from, edge.to);
  EXPECT_EQ(edges, (std::set<std::pair<size_t, size_t>>{
                       {0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 5}}));
  EXPECT_EQ(graph.nodes[2].constants, std::vector<size_t>{0});
  EXPECT_EQ(graph.nodes[3].type, "f32[4]");
  EXPECT_EQ(graph.nodes[5].kind, GraphNode::Kind::kResult);
}

TEST(ModuleGraphTest, LayoutPutsReadersBelowWriters) {
  const ModuleGraph graph = Example();
  const GraphLayout layout = LayOut(graph);
  for (const GraphEdge& edge : graph.edges) {
    EXPECT_LT(layout.row[edge.from], layout.row[edge.to]);
  }
  size_t placed = 0;
  for (const std::vector<size_t>& row : layout.rows) placed += row.size();
  EXPECT_EQ(placed, graph.nodes.size());
  EXPECT_EQ(layout.rows[1].size(), 2u);  // the drawing has nodes @a and @b in
                                         // the same row
}

TEST(ModuleGraphTest, DrawingsHoldEveryNodeAndAreEscaped) {
  const ModuleGraph graph = Example();
  const std::string svg = PrintSvg(graph);
  EXPECT_NE(svg.find("Relu_0 &lt;a &amp; b&gt;"), std::string::npos);
  EXPECT_EQ(svg.find("<a & b>"), std::string::npos);
  const std::string dot = PrintDot(graph);
  EXPECT_NE(dot.find("n3 [label=\"join\\nf32[4]\""), std::string::npos) << dot;
  EXPECT_NE(dot.find("n1 -> n3 [label=\"f32[4]\"]"), std::string::npos) << dot;
}

}  // namespace
}  // namespace ember::tools
