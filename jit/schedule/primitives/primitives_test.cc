// Tests primitives with facts that no text of a dispatch expresses.
// tests/cases/primitives tests them on texts of dispatches.
#include "jit/schedule/primitives/primitives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "jit/loops/text/text.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/core/steps.h"
#include "jit/schedule/primitives/replay.h"
#include "tensor/text/text.h"

namespace ember::schedule {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kAdd = R"(
  dispatch @add(%x: f32[4, 6]) -> (%y: f32[4, 6]) {
    %y[i, j] = %x[i, j] + 1.0
  })";

constexpr std::string_view kBytes = R"(
  dispatch @bytes(%a: u8[4, 8], %b: i8[8, 6]) -> (%y: i32[4, 6]) {
    %y[i, j] = sum(k < 8) i32(%a[i, k]) * i32(%b[k, j])
  })";

Schedule ScheduleOf(std::string_view text) {
  auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  return Schedule(Disassemble(*dispatch, {}));
}

constexpr std::string_view kProduct = R"(
  dispatch @product(%a: f32[4, 5], %b: f32[5, 6]) -> (%y: f32[4, 6]) {
    temp %acc: f32[4, 6]
    %acc[i, j] = sum(k < 5) %a[i, k] * %b[k, j]
    %y[i, j] = max(%acc[i, j], 0.0)
  })";

// If the contents of a constant are known, so is the range of its elements. A
// pack may then name a range that contains them.
TEST(Primitives, PackKeepsRanges) {
  Computation computation = ScheduleOf(kBytes).computation();
  computation.buffers[1].values = {-3, 64};
  Schedule schedule(std::move(computation));
  ASSERT_TRUE(Apply("pack %y %b i16 -64..64 1 0 -> w", schedule).ok());
  // The recorded step contains the range, so that it can be replayed without
  // the contents.
  EXPECT_THAT(schedule.ToText(), HasSubstr("pack %y %b i16 -64..64 1 0 -> w"));
  const auto nest = Lower(schedule);
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  EXPECT_THAT(loops::ToText(*nest),
              HasSubstr("= i16(min(max(%b[p1, p0], -64), 64))"));
  EXPECT_FALSE(Apply("pack %y %b -2..64 1 0 -> v", schedule).ok());
}

TEST(Primitives, OnlineSoftmaxRounds) {
  Schedule schedule = ScheduleOf(R"(
    dispatch @attention(%x: f32[3, 8], %v: f32[8, 2]) -> (%y: f32[3, 2]) {
      temp %most: f32[3]
      temp %power: f32[3, 8]
      temp %total: f32[3]
      temp %p: f32[3, 8]
      %most[i] = maximum(k < 8) %x[i, k]
      %power[i, j] = exp(%x[i, j] - %most[i])
      %total[i] = sum(k < 8) %power[i, k]
      %p[i, j] = %power[i, j] / %total[i]
      %y[i, j] = sum(k < 8) %p[i, k] * %v[k, j]
    })");
  EXPECT_TRUE(KeepsRounding(schedule));
  ASSERT_TRUE(Apply("online_softmax %y 4 -> sum whole", schedule).ok());
  EXPECT_FALSE(KeepsRounding(schedule));
}

TEST(Primitives, MatricesRoundOnTheirWay) {
  Schedule schedule = ScheduleOf(R"(
    dispatch @halves(%a: f16[16, 24], %b: f16[24, 16]) -> (%y: f32[16, 16]) {
      %y[i, j] = sum(k < 24) f32(%a[i, k]) * f32(%b[k, j])
    })");
  constexpr std::string_view kSplit =
      "split %y i 8 -> s m\n split %y j 8 -> j0 n\n split %y k 8 -> k0 k1\n"
      "reorder %y k0 s j0 m n k1\n unroll %y j0\n";
  EXPECT_TRUE(Replay(kSplit, schedule).ok());
  EXPECT_TRUE(KeepsRounding(schedule));
  EXPECT_TRUE(Apply("multiply_matrices %y s m n k1", schedule).ok());
  EXPECT_FALSE(KeepsRounding(schedule));
}

// A schedule has the error growth of winograd if it contains that primitive,
// whatever other steps it has.
TEST(Primitives, WinogradGrowsErrors) {
  Computation computation = ScheduleOf(R"(
    dispatch @conv(%x: f32[1, 8, 8, 4], %w: f32[3, 3, 4, 4]) -> (%y: f32[1, 6, 6, 4]) {
      %y[n, h, w, o] = sum(p < 3, q < 3, c < 4) %x[n, h + p, w + q, c] * %w[p, q, c, o]
    })")
                                .computation();
  computation.buffers[1].is_constant = true;
  Schedule schedule(std::move(computation));
  const StageRef y = {"y"}, products = {"products"};
  EXPECT_EQ(schedule.ErrorGrowth(), 1);
  const Winograd winograd{.convolution = y,
                          .outputs = 4,
                          .filter = "filter",
                          .input = "input",
                          .products = products.name};
  const Status applied = Apply(winograd, schedule);
  ASSERT_TRUE(applied.ok()) << applied.ToString();
  ASSERT_TRUE(Apply(Unroll{{products, "x"}}, schedule).ok());
  EXPECT_EQ(schedule.ErrorGrowth(),
            kLargestWinogradGrowth * kLargestWinogradGrowth);
  EXPECT_FALSE(KeepsRounding(schedule));
}

// --- steps with typed operands ---

// True if a step of type S can be initialised with operands of these types.
template <typename S, typename... Operands>
concept MadeOf = requires(Operands... operands) { S{operands...}; };

// Three wrong uses of typed operands do not compile.
//
// 1. A stage in place of a loop: Split{y, 16, "j0", "j1"}.
static_assert(MadeOf<Split, LoopRef, int64_t, std::string, std::string>);
static_assert(!MadeOf<Split, StageRef, int64_t, std::string, std::string>);
static_assert(!MadeOf<Unroll, StageRef>);
// 2. A loop in place of a stage: ComputeAt{{acc, "i"}, {y, "i"}}.
static_assert(MadeOf<ComputeAt, StageRef, LoopRef>);
static_assert(!MadeOf<ComputeAt, LoopRef, LoopRef>);
static_assert(!MadeOf<Inline, LoopRef>);
// 3. A buffer in place of a stage: Inline{BufferRef{"b"}}.
static_assert(MadeOf<Inline, StageRef>);
static_assert(!MadeOf<Inline, BufferRef>);
static_assert(!MadeOf<ComputeAt, BufferRef, LoopRef>);

// A factor below 1 is refused with the same message when its text is parsed and
// when a step that contains it is applied.
TEST(Steps, FactorsAreChecked) {
  Schedule schedule = ScheduleOf(kAdd);
  const LoopRef j = {{"y"}, "j"};
  const Status typed = Apply(
      Split{.loop = j, .factor = 0, .outer = "j0", .inner = "j1"}, schedule);
  EXPECT_EQ(typed.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(typed.message(),
            "split %y j 0 -> j0 j1: expected a factor of 1 or more, found '0'");
  const Status text = Apply("split %y j 0 -> j0 j1", schedule);
  EXPECT_EQ(typed.ToString(), text.ToString());
  EXPECT_TRUE(schedule.steps().empty());
}

// All loops of a step belong to one stage. A text names the stage once, but in
// a step each loop names it, so a step may be inconsistent.
TEST(Steps, LoopsAreOfOneStage) {
  Schedule schedule = ScheduleOf(kProduct);
  const LoopRef i = {{"y"}, "i"}, j = {{"y"}, "j"}, other = {{"acc"}, "j"};
  const auto reason_of = [&](const Step& step) {
    const Status status = Apply(step, schedule);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    std::string message(status.message());
    return message.substr(message.find(": ") + 2);
  };
  constexpr std::string_view kReason =
      "expected a loop of %y, found 'j' of %acc";
  EXPECT_EQ(reason_of(Fuse{i, other, "ij"}), kReason);
  EXPECT_EQ(reason_of(Reorder{{j, i, other}}), kReason);
  EXPECT_EQ(reason_of(Tile{.i = i,
                           .j = other,
                           .rows = 2,
                           .columns = 2,
                           .outer_i = "i0",
                           .outer_j = "j0",
                           .inner_i = "i1",
                           .inner_j = "j1"}),
            kReason);
  EXPECT_EQ(reason_of(Reorder{{i}}), "expected two loops or more");
  EXPECT_TRUE(schedule.steps().empty());
}

// Steps do not refer to the schedule for which they were made: they can be
// applied to another one.
TEST(Steps, ApplyToAnotherSchedule) {
  Schedule schedule = ScheduleOf(kProduct);
  const StageRef y = {"y"}, acc = {"acc"}, copy = {"copy"};
  const Step steps[] = {
      Split{{y, "j"}, 4, "j0", "j1"},
      Reorder{{{y, "j0"}, {y, "i"}}},
      ComputeAt{acc, {y, "i"}},
      CacheRead{
          .reader = acc, .buffer = {"b"}, .dims = {1, 0}, .copy = copy.name},
      ComputeAt{copy, {acc, "i"}},
      Vectorize{{y, "j1"}},
      Parallel{{y, "j0"}},
  };
  for (const Step& step : steps) {
    const Status applied = Apply(step, schedule);
    ASSERT_TRUE(applied.ok()) << applied.ToString();
  }
  EXPECT_EQ(schedule.ToText(), R"(schedule @product {
  split %y j 4 -> j0 j1
  reorder %y j0 i
  compute_at %acc %y i
  cache_read %acc %b 1 0 -> copy
  compute_at %copy %acc i
  vectorize %y j1
  parallel %y j0
}
)");
  Schedule again = ScheduleOf(kProduct);
  for (const auto& step : schedule.steps()) {
    const Status applied = Apply(*step, again);
    ASSERT_TRUE(applied.ok()) << applied.ToString();
  }
  EXPECT_EQ(again.ToText(), schedule.ToText());
}

TEST(ScheduleText, WordsOfDoubleBuffer) {
  Schedule schedule = ScheduleOf(kAdd);
  const auto message_of = [&](std::string_view line) {
    return std::string(Apply(line, schedule).message());
  };
  EXPECT_THAT(message_of("double_buffer %y async 3 soon"),
              HasSubstr("expected 'late' or nothing behind the slots, found "
                        "'soon'"));
  EXPECT_THAT(message_of("double_buffer %y async 3 late soon"),
              HasSubstr("expected 'spare' or nothing behind 'late', found "
                        "'soon'"));
  EXPECT_THAT(message_of("double_buffer %y soon"),
              HasSubstr("expected 'registers', 'async' or nothing, found "
                        "'soon'"));
}

// For every row of the table, a line with only the primitive's name gives an
// error that shows the primitive's usage.
TEST(ScheduleText, Usage) {
  for (const PrimitiveInfo& info : Primitives()) {
    const std::string name(info.name);
    SCOPED_TRACE(name);
    Schedule schedule = ScheduleOf(kAdd);
    const Status status = Apply(name, schedule);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), name + ": expected '" + name + " " +
                                    std::string(info.usage) + "'");
    EXPECT_EQ(schedule.ToText(), "schedule @add {\n}\n");
  }
}

}  // namespace
}  // namespace ember::schedule
