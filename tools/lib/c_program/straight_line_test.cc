// Tests which steps a program becomes, and what is refused.
#include "tools/lib/c_program/straight_line.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/lib/c_program/input_dims.h"
#include "vm/isa/text.h"
#include "vm/runtime/module.h"

namespace ember::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Kind = LineStep::Kind;

// A dispatch that writes all of its output, and one that writes a part.
constexpr char kDispatches[] = R"(
module "by hand" from "test"
constant two: f32[4] = [1, 2, 3, 4]
constant count: i64[1] = [3]
dispatch @add<N>(%x: f32[N], %b: f32[N]) -> (%y: f32[N]) {
  %y[i] = %x[i] + %b[i]
}
dispatch @half(%x: f32[4]) -> (%y: f32[8]) {
  for (i < 4) %y[i] = %x[i]
}
)";

StatusOr<StraightLine> LineOf(const std::string& program) {
  StatusOr<vm::ModuleDefinition> definition =
      vm::ParseModule(kDispatches + program);
  if (!definition.ok()) return definition.status();
  StatusOr<std::shared_ptr<const vm::Module>> module =
      vm::Module::FromDefinition(*std::move(definition));
  if (!module.ok()) return module.status();
  StatusOr<std::vector<std::vector<int64_t>>> dims = InputDims(**module, {});
  if (!dims.ok()) return dims.status();
  return StraightLineOf(**module, *std::move(dims));
}

std::string ErrorOf(const std::string& program) {
  const StatusOr<StraightLine> line = LineOf(program);
  EXPECT_FALSE(line.ok());
  return line.ok() ? "" : std::string(line.status().message());
}

TEST(StraightLine, ComputesIntegersAndFindsMemory) {
  const StatusOr<StraightLine> line = LineOf(R"(
program main(x: f32[4]) -> (y: f32[4]) {
  message "x: expected a row"
  i0 = input_dim x, 0
  check i0, 0
  i1 = integer 4
  check_equal i0, i1, 0
  i2 = mul i0, i1
  b0 = input x
  b1 = constant 0 (two)
  b2 = arena 128
  b3 = view b2, i2, 64
  dispatch @add(i0; b0, b1 -> b3)
  b4 = allocate i2
  dispatch @add(i0; b3, b1 -> b4)
  result y = b4 [i0]
  return
})");
  ASSERT_TRUE(line.ok()) << line.status().message();
  ASSERT_EQ(line->steps.size(), 3u);
  const LineStep& first = line->steps[0];
  EXPECT_EQ(first.kind, Kind::kDispatch);
  EXPECT_THAT(first.parameters, ElementsAre(4));
  EXPECT_EQ(first.input_count, 2u);
  EXPECT_THAT(first.operands,
              ElementsAre(MemoryRange{Memory::kInput, 0, 0, 16},
                          MemoryRange{Memory::kConstant, 0, 0, 16},
                          MemoryRange{Memory::kArena, 0, 64, 16}));
  EXPECT_THAT(first.overwrites, ElementsAre(false, false, true));
  const LineStep& second = line->steps[1];
  EXPECT_EQ(second.site, 1u);
  EXPECT_EQ(second.operands[2], (MemoryRange{Memory::kBlock, 0, 0, 16}));
  EXPECT_EQ(line->steps[2].kind, Kind::kResult);
  EXPECT_EQ(line->arena_bytes, 128);
  EXPECT_THAT(line->block_bytes, ElementsAre(16));
  EXPECT_THAT(line->result_dims, ElementsAre(ElementsAre(4)));
}

// A run sees zeros where it has written nothing (vm/runtime/memory).
TEST(StraightLine, ClearsMemoryThatIsReadBeforeItIsWritten) {
  const StatusOr<StraightLine> line = LineOf(R"(
program main(x: f32[4]) -> (y: f32[8]) {
  i0 = integer 8
  i1 = integer 32
  b0 = input x
  b1 = arena 64
  dispatch @half(b0 -> b1)
  b2 = allocate i1
  i2 = integer 7
  store_integer b2, i2, 8
  dispatch @add(i0; b1, b2 -> b1)
  result y = b1 [i0]
  return
})");
  ASSERT_TRUE(line.ok()) << line.status().message();
  std::vector<std::pair<Kind, MemoryRange>> steps;
  for (const LineStep& step : line->steps)
    steps.emplace_back(step.kind, step.operands.back());
  EXPECT_THAT(
      steps,
      ElementsAre(
          std::pair(Kind::kClear, MemoryRange{Memory::kArena, 0, 0, 32}),
          std::pair(Kind::kDispatch, MemoryRange{Memory::kArena, 0, 0, 32}),
          std::pair(Kind::kStore, MemoryRange{Memory::kBlock, 0, 8, 8}),
          std::pair(Kind::kClear, MemoryRange{Memory::kBlock, 0, 0, 8}),
          std::pair(Kind::kClear, MemoryRange{Memory::kBlock, 0, 16, 16}),
          std::pair(Kind::kDispatch, MemoryRange{Memory::kArena, 0, 0, 32}),
          std::pair(Kind::kResult, MemoryRange{Memory::kArena, 0, 0, 32})));
  EXPECT_EQ(line->steps[2].number, 7);
}

TEST(StraightLine, FollowsJumpsAheadWhoseConditionIsKnown) {
  const StatusOr<StraightLine> line = LineOf(R"(
program main(x: f32[4]) -> (y: f32[4]) {
  i0 = integer 4
  i1 = integer 16
  b0 = input x
  b1 = constant 1 (count)
  i2 = load_integer b1, i64, 0
  b2 = allocate i1
  branch_if i2, L7
  dispatch @add(i0; b0, b0 -> b2)
L7:
  dispatch @add(i0; b0, b0 -> b2)
  result y = b2 [i0]
  return
})");
  ASSERT_TRUE(line.ok()) << line.status().message();
  ASSERT_EQ(line->steps.size(), 2u);
  EXPECT_EQ(line->steps[0].site, 1u);
}

// A loop becomes the steps of its iterations. Results of a called program leave
// its arena, and a sequence grows in the memory that was allocated for it.
TEST(StraightLine, UnrollsLoopsAndCalls) {
  const StatusOr<StraightLine> line = LineOf(R"(
program main(x: f32[4]) -> (y: f32[8]) {
  i0 = integer 0
  i1 = integer 16
  i2 = integer 32
  i3 = integer 8
  b0 = input x
  b1 = allocate i2
  b2 = arena 64
L7:
  call_program body(b0 -> b3 [i5])
  append b1, i0, b3, i1
  b0 = move_buffer b3
  release b3
  i0 = add i0, i1
  i6 = less i0, i2
  branch_if i6, L7
  result y = b1 [i3]
  return
}
program body(x: f32[4]) -> (y: f32[4]) {
  i0 = integer 4
  b0 = input x
  b1 = arena 64
  dispatch @add(i0; b0, b0 -> b1)
  result y = b1 [i0]
  return
})");
  ASSERT_TRUE(line.ok()) << line.status().message();
  std::vector<std::pair<Kind, MemoryRange>> steps;
  for (const LineStep& step : line->steps)
    steps.emplace_back(step.kind, step.operands.back());
  const MemoryRange of_body{Memory::kArena, 0, 64, 16};
  EXPECT_THAT(
      steps,
      ElementsAre(
          std::pair(Kind::kDispatch, of_body),
          std::pair(Kind::kCopy, MemoryRange{Memory::kBlock, 1, 0, 16}),
          std::pair(Kind::kCopy, MemoryRange{Memory::kBlock, 0, 0, 16}),
          std::pair(Kind::kDispatch, of_body),
          std::pair(Kind::kCopy, MemoryRange{Memory::kBlock, 2, 0, 16}),
          std::pair(Kind::kCopy, MemoryRange{Memory::kBlock, 0, 16, 16}),
          std::pair(Kind::kResult, MemoryRange{Memory::kBlock, 0, 0, 32})));
  // The second iteration reads the result of the first one.
  EXPECT_EQ(line->steps[3].operands[0],
            (MemoryRange{Memory::kBlock, 1, 0, 16}));
  EXPECT_EQ(line->arena_bytes, 128);
}

TEST(InputDims, AreThoseOfTheFlagsAndOfTheirSymbols) {
  StatusOr<vm::ModuleDefinition> definition = vm::ParseModule(R"(
module "by hand" from "test"
program main<N, "?">(x: f32[N, 3], y: f32["?", N], z: f32["?"]) -> () {
  return
})");
  ASSERT_TRUE(definition.ok()) << definition.status().message();
  const auto module = vm::Module::FromDefinition(*std::move(definition));
  ASSERT_TRUE(module.ok()) << module.status().message();
  const auto dims = [&](const std::vector<std::string>& flags) {
    const StatusOr<std::vector<NamedShape>> shapes = ParseShapeFlags(flags);
    EXPECT_TRUE(shapes.ok());
    return InputDims(**module, *shapes);
  };
  using Dims = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(*dims({}), (Dims{{-1, 3}, {-1, -1}, {-1}}));
  EXPECT_EQ(*dims({"x=2x3"}), (Dims{{2, 3}, {-1, 2}, {-1}}));
  EXPECT_EQ(*dims({"y=5x?", "x=?x3"}), (Dims{{-1, 3}, {5, -1}, {-1}}));
  EXPECT_THAT(std::string(dims({"x=2x4"}).status().message()),
              HasSubstr("--shape of input 'x': expected Nx3xf32, found 2x4"));
  EXPECT_THAT(std::string(dims({"x=2x3", "y=1x4"}).status().message()),
              HasSubstr("--shape of input 'y'"));
  EXPECT_THAT(std::string(dims({"w=1"}).status().message()),
              HasSubstr("expected the name of an input, found 'w'"));
}

TEST(StraightLine, RefusesWhatNeedsARuntime) {
  EXPECT_THAT(ErrorOf(R"(
program main<N>(x: f32[N, 3]) -> (y: f32[N, 3]) {
  i0 = input_dim x, 0
  i1 = integer 3
  b0 = input x
  result y = b0 [i0, i1]
  return
})"),
              HasSubstr("input 'x': expected dims that are numbers, found "
                        "Nx3xf32; give them with, for example, "
                        "--shape=x=1x3"));
  EXPECT_THAT(ErrorOf(R"(
program main(x: f32[4]) -> (y: f32[4]) {
  i0 = integer 4
  b0 = input x
L2:
  branch L2
  result y = b0 [i0]
  return
})"),
              HasSubstr("program main: instruction 2 (branch): expected loops "
                        "that take at most 4096 steps in all, found more"));
  EXPECT_THAT(ErrorOf(R"(
program main(x: i64[1]) -> (y: i64[1]) {
  b0 = input x
  i0 = load_integer b0, i64, 0
  i1 = integer 1
  result y = b0 [i1]
  return
})"),
              HasSubstr("instruction 1 (load_integer): expected an integer "
                        "that is known before the run"));
  EXPECT_THAT(ErrorOf(R"(
program main(x: i64[1] as string) -> (y: i64[1]) {
  b0 = input x
  i1 = integer 1
  result y = b0 [i1]
  return
})"),
              HasSubstr("'x': expected numbers, found strings"));
}

TEST(StraightLine, RefusesWhatFailsInEveryRun) {
  EXPECT_EQ(ErrorOf(R"(
program main(x: f32[4]) -> (y: f32[4]) {
  message "x: expected three rows"
  i0 = integer 4
  i1 = integer 3
  check_equal i0, i1, 0
  b0 = input x
  result y = b0 [i0]
  return
})"),
            "x: expected three rows: expected 3, found 4");
  EXPECT_THAT(ErrorOf(R"(
program main(x: f32[4]) -> (y: f32[4]) {
  i0 = integer 4
  b0 = input x
  b1 = arena 8
  dispatch @add(i0; b0, b0 -> b1)
  result y = b1 [i0]
  return
})"),
              HasSubstr("dispatch @add: buffer 'y': expected at least 16 "
                        "bytes, found 8"));
  EXPECT_THAT(ErrorOf(R"(
program main(x: f32[4]) -> (y: f32[4]) {
  i0 = integer 4
  i1 = integer 16
  b0 = input x
  b1 = arena 64
  b2 = view b1, i1, 64
  result y = b2 [i0]
  return
})"),
              HasSubstr("expected a range within 64 bytes, found 16 at offset "
                        "64"));
}

}  // namespace
}  // namespace ember::tools
