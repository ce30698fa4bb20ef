#include "compiler/passes/fold_constants.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "base/concat.h"
#include "base/dtype.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/text/text.h"
#include "gtest/gtest.h"

namespace ember::compiler {
namespace {

graph::Graph Parse(std::string_view text) {
  auto graph = graph::Parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return *std::move(graph);
}

int CountOf(const graph::Graph& graph, std::string_view name) {
  int count = 0;
  for (const graph::Operation* operation : graph.Operations()) {
    if (operation->name() == name) ++count;
    for (const auto& region : operation->regions())
      count += CountOf(*region, name);
  }
  return count;
}

int64_t ConstantBytes(const graph::Graph& graph) {
  int64_t bytes = 0;
  for (const graph::Operation* operation : graph.Operations()) {
    for (const auto& region : operation->regions())
      bytes += ConstantBytes(*region);
    if (operation->name() != "constant") continue;
    const auto& type = operation->result()->type();
    bytes += ElementCount(type.shape).constant() * DTypeByteSize(type.dtype);
  }
  return bytes;
}

TEST(FoldConstants, ComputesInRegionsToo) {
  graph::Graph graph = Parse(R"(graph @g(%c: bool[]) -> (%y) {
    %y: f32[2] = if(%c) {defines = [], shapes = [2]} then graph @then() -> (%s) {
      %a: f32[2] = constant() {value = [1.0, 2.0]}
      %s: f32[2] = add(%a, %a)
    } else graph @else() -> (%d) {
      %b: f32[2] = constant() {value = [3.0, 5.0]}
      %d: f32[2] = neg(%b)
    }
  })");
  ASSERT_TRUE(FoldConstants(graph).ok());
  EXPECT_EQ(CountOf(graph, "add"), 0);
  EXPECT_EQ(CountOf(graph, "neg"), 0);
}

// Each byte of the constant holds two 4-bit weights. The unpacked weights would
// take twice as many bytes, so unpacking is not folded.
TEST(FoldConstants, BitsStayPacked) {
  graph::Graph graph = Parse(R"(graph @g() -> (%y) {
    %c: u8[] = constant() {value = [18]}
    %s: u8[2] = constant() {value = [0, 4]}
    %a: u8[65536] = broadcast(%c) {shape = [65536]}
    %b: u8[131072] = concat(%a, %a) {axis = 0}
    %d: u8[262144] = concat(%b, %b) {axis = 0}
    %q: u8[262144, 1] = reshape(%d) {shape = [262144, 1]}
    %y: u8[262144, 2] = shift_right(%q, %s)
  })");
  ASSERT_TRUE(FoldConstants(graph).ok());
  EXPECT_EQ(CountOf(graph, "concat"), 0);
  EXPECT_EQ(CountOf(graph, "shift_right"), 1);
}

// The blocks of packed weights stay whole: neither their scales nor their codes
// become constants. Other slices of bytes are folded.
TEST(FoldConstants, BlocksOfWeightsStayPacked) {
  graph::Graph graph = Parse(R"(graph @g() -> (%y, %z) {
    %c: u8[] = constant() {value = [18]}
    %w: u8[64, 4, 18] = broadcast(%c) {shape = [64, 4, 18]}
    %q: u8[64, 4, 16] = slice(%w) {starts = [0, 0, 2], steps = [1, 1, 1], sizes = [64, 4, 16]}
    %y: f32[64, 4, 16] = cast(%q) {dtype = f32}
    %z: u8[32, 4, 18] = slice(%w) {starts = [0, 0, 0], steps = [1, 1, 1], sizes = [32, 4, 18]}
  })");
  ASSERT_TRUE(FoldConstants(graph).ok());
  EXPECT_EQ(CountOf(graph, "broadcast"), 0);
  EXPECT_EQ(CountOf(graph, "slice"), 1);
  EXPECT_EQ(CountOf(graph, "cast"), 1);
}

// A contraction can read large weights in the order of the model's file, so
// their transpose is not folded.
TEST(FoldConstants, LargeTransposesOfContractionsStay) {
  for (const int64_t rows : {512, 16}) {
    std::string text = "graph @g(%x: f32[1, 1024]) -> (%y) {\n";
    text +=
        Concat({"  %c: f32[] = constant() {value = [1.5]}\n"
                "  %r: f32[16, 1024] = broadcast(%c) {shape = [16, 1024]}\n"});
    int64_t count = 16;
    std::string last = "%r";
    for (; count < rows; count *= 2) {
      const std::string next = Concat({"%r", 2 * count});
      text += Concat({"  ", next, ": f32[", 2 * count, ", 1024] = concat(",
                      last, ", ", last, ") {axis = 0}\n"});
      last = next;
    }
    text += Concat({"  %t: f32[1024, ", rows, "] = transpose(", last,
                    ") {permutation = [1, 0]}\n  %y: f32[1, ", rows,
                    "] = contract(%x, %t) {spec = \"mk,kn->mn\"}\n}"});
    graph::Graph graph = Parse(text);
    ASSERT_TRUE(FoldConstants(graph).ok());
    EXPECT_EQ(CountOf(graph, "concat"), 0);
    EXPECT_EQ(CountOf(graph, "transpose"), rows == 512 ? 1 : 0);
  }
}

// The operands have only 64 KiB each and the result is one number, but the
// contraction takes 2^30 products, so it is not folded.
TEST(FoldConstants, LeavesWhatTakesLong) {
  graph::Graph graph = Parse(R"(graph @g() -> (%y, %z) {
    %c: f16[] = constant() {value = [1.0]}
    %a: f16[32768] = broadcast(%c) {shape = [32768]}
    %b: f16[32768] = add(%a, %a)
    %y: f32[] = contract(%a, %b) {spec = "i,j->"}
    %z: f32[] = contract(%a, %b) {spec = "i,i->"}
  })");
  ASSERT_TRUE(FoldConstants(graph).ok());
  // %y has more products than the limit and is not folded. %z has only as many
  // products as an operand has elements, and is folded.
  EXPECT_EQ(CountOf(graph, "contract"), 1);
  EXPECT_EQ(CountOf(graph, "add"), 0);
}

// Each branch has a chain of operations that doubles a constant 24 times. The
// limit on growth must hold for all branches together.
TEST(FoldConstants, AllRegionsHaveOneLimitOnGrowth) {
  std::string text = "graph @g(%c: bool[]) -> (";
  constexpr int kCount = 8;
  for (int i = 0; i < kCount; ++i)
    text += Concat({i == 0 ? "" : ", ", "%y", i});
  text += ") {\n";
  std::string branch = "  %x0: f32[2] = constant() {value = [1.0, 2.0]}\n";
  for (int64_t i = 1, size = 4; i <= 24; ++i, size *= 2) {
    branch += Concat({"  %x", i, ": f32[", size, "] = concat(%x", i - 1, ", %x",
                      i - 1, ") {axis = 0}\n"});
  }
  branch +=
      "  %r: f32[1] = slice(%x24) {starts = [0], sizes = [1], steps = [1]}\n";
  for (int i = 0; i < kCount; ++i) {
    text +=
        Concat({"%y", i,
                ": f32[1] = if(%c) {defines = [], shapes = [1]} then graph @t",
                i, "() -> (%r) {\n", branch, "} else graph @e", i,
                "() -> (%r) {\n", branch, "}\n"});
  }
  graph::Graph graph = Parse(text + "}\n");
  ASSERT_TRUE(FoldConstants(graph).ok());
  EXPECT_GT(CountOf(graph, "concat"), 0);
  EXPECT_LT(CountOf(graph, "concat"), 2 * kCount * 24);
  EXPECT_LE(ConstantBytes(graph), 24 << 20);
}

}  // namespace
}  // namespace ember::compiler
